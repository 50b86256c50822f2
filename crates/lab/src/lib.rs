//! Does it hold? The synthetic web on real sockets ([`serve`]), the demo, benchmarks, plots, and
//! the laboratories of orders and revisits. A crawl never needs anything of this crate.

pub mod bench;
pub mod demo;
pub mod hostile;
pub mod order;
pub mod plot;
pub mod refresh;
pub mod serve;
pub mod topic;

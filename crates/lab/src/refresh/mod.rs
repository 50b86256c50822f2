//! Experiments with refresh policies: what visits buy, on paper and on the real past of real pages.
//!
//! [`rates`] and [`table`] answer for pages of known rates in closed form. [`histories`] holds the
//! change times of real pages; [`replay`] runs any policy over them and [`score`] judges it. The
//! engine's own scheduler is [`learned`], with its calendar in a [`wheel`]; estimators and known
//! rates are placed anew in [`epochs`]; [`peers`] are the rules of other crawlers. [`made`] makes
//! up histories by known rules, and [`cross`] compares on set after set.
//! [`learning`] is the scheduler on pages whose rates are known to us and not to it; [`whole`] is
//! the whole engine on a synthetic web that changes, and [`whole_score`] what it bought.

pub mod cross;
pub mod epochs;
pub mod histories;
pub mod learned;
pub mod learning;
pub mod made;
pub mod normal;
pub mod peers;
pub mod rates;
pub mod replay;
pub mod score;
pub mod table;
pub mod wheel;
pub mod whole;
pub mod whole_score;

//! Extraction: pages from files and archives, and while crawling.
//!
//! `row`: what is written of a page. `corpus`: JSON lines or WARC records in, JSON lines out, in
//! order, on several threads. `body`: a fetched body's row, with what recurs on its host, which
//! `templates` remembers. `recorded`: pages out of WARC records. `rows_file` and `while_crawling`:
//! the rows of a crawl. `headings`: those of a page.
//! `contained`: documents that are read in a process of their own.

mod body;
pub mod contained;
mod corpus;
mod headings;
mod recorded;
mod row;
mod rows_file;
mod templates;
mod while_crawling;

pub use body::ExtractBody;
pub use corpus::{CorpusDone, CorpusRun, run_lines, run_records};
pub use headings::headings;
pub use recorded::{Recorded, is_requisite};
pub use row::{ExtractedRow, Wish, thread_cpu_us};
pub use rows_file::{EXTRACT_FILE, RowsFile, RowsMark};
pub use while_crawling::{MadeRow, RowsWanted, WhileCrawling};

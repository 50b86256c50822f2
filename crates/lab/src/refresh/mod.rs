//! Experiments with refresh policies: what visits buy, on paper and on the real past of real pages.
//!
//! [`policy`] says how often to visit pages of known rates (one a file), [`allocate`] and
//! [`host_caps`] at which price the budget is spent, [`closed`] what that buys; [`rates`] and
//! [`table`] make tables of it. [`estimate`] are the estimators of the literature.
//!
//! [`histories`] holds the change times of real pages; [`replay`] runs any policy over them and
//! [`score`] judges it. The engine's own scheduler is [`learned`], with its calendar in a
//! [`wheel`]; estimators and known rates are placed anew in [`epochs`]; [`peers`] are the rules of
//! other crawlers. [`made`] makes up histories by known rules, and [`cross`] compares on set after
//! set. [`rhythm`] tells the policy of hours and weekdays, to see what that would bring.
//! [`learning`] is the scheduler on pages whose rates are known to us and not to it; [`whole`] is
//! the whole engine on a synthetic web that changes, and [`whole_score`] what it bought.

pub mod allocate;
pub mod closed;
pub mod cross;
pub mod epochs;
pub mod estimate;
pub mod histories;
pub mod host_caps;
pub mod learned;
pub mod learning;
pub mod made;
pub mod normal;
pub mod peers;
pub mod policy;
pub mod rates;
pub mod replay;
pub mod rhythm;
pub mod score;
pub mod table;
pub mod wheel;
pub mod whole;
pub mod whole_score;

//! CPU time of single threads, as the kernel accounts for it.

use std::path::PathBuf;

/// The account of one thread; it may be read from any other.
pub struct Account {
    schedstat: PathBuf,
}

impl Account {
    /// None where the kernel keeps no such account.
    pub fn of_this_thread() -> Option<Account> {
        let task = std::fs::read_link("/proc/thread-self").ok()?;
        let schedstat = PathBuf::from("/proc").join(task).join("schedstat");
        schedstat.exists().then_some(Account { schedstat })
    }

    /// Microseconds on a CPU so far; 0 once the thread is gone.
    pub fn used_us(&self) -> u64 {
        let text = std::fs::read_to_string(&self.schedstat).unwrap_or_default();
        let nanoseconds = text.split_whitespace().next().and_then(|first| first.parse().ok());
        nanoseconds.unwrap_or(0u64) / 1_000
    }
}

//! Logs, on standard error. Quiet unless asked: the progress display and the summary say what the
//! owner of a crawl wants to know.

use std::io::{self, IsTerminal};

use clap::{ArgAction, Args};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Filters in the usual syntax, such as `rhumb_fetch=trace`; wins over the flags.
const VARIABLE: &str = "RHUMB_LOG";

#[derive(Args)]
pub struct LoggingFlags {
    /// Log more: changes of the crawl's state (-v), every page (-vv), every step of the loop (-vvv)
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    #[arg(help_heading = "Logging")]
    verbose: u8,

    /// Log errors only, and draw no progress
    #[arg(short, long, global = true, help_heading = "Logging")]
    pub quiet: bool,
}

impl LoggingFlags {
    pub fn start(&self) {
        let level = match (self.quiet, self.verbose) {
            (true, _) => LevelFilter::ERROR,
            (false, 0) => LevelFilter::WARN,
            (false, 1) => LevelFilter::INFO,
            (false, 2) => LevelFilter::DEBUG,
            (false, _) => LevelFilter::TRACE,
        };
        // The libraries below us speak of what is nobody's business at our levels.
        // What the store has to say comes to us as errors, and is told once.
        let others = if self.quiet { "error" } else { "warn" };
        let ours = format!(
            "{others},fjall=off,lsm_tree=off,rhumb={level},rhumb_engine={level},\
             rhumb_state={level},rhumb_archive={level}"
        );
        let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(ours));
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            // It would tell of a standard error that cannot be written to, there, and panic.
            .log_internal_errors(false)
            .with_ansi(io::stderr().is_terminal())
            .init();
    }
}

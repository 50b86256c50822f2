//! One crawl over the hostile web: [`crate::hostile`] in a directory of its own.

use std::path::PathBuf;
use std::time::Duration;

use rhumb_engine::error::Error;

use super::scratch::Scratch;
use super::trouble;
use crate::hostile::run::{HostileOptions, HostileOutcome, run};

#[derive(Clone, Debug)]
pub struct HostileBenchOptions {
    /// `--max-time` of the crawl.
    pub time: Duration,
    /// These kinds beside the healthy one; all if empty.
    pub only: Vec<String>,
    /// Where the crawl is written; a scratch directory if none is named.
    pub keep: Option<PathBuf>,
    /// Where the scratch directory is made.
    pub tmp: PathBuf,
    /// Flags of `rhumb crawl` besides.
    pub crawl_flags: Vec<String>,
}

/// Crawls with this very program.
pub fn outcome(options: &HostileBenchOptions) -> Result<HostileOutcome, Error> {
    let program = std::env::current_exe().map_err(|e| trouble("this program", &e))?;
    let scratch;
    let dir = match &options.keep {
        Some(dir) => {
            std::fs::create_dir(dir).map_err(|e| trouble("directory to keep", &e))?;
            dir.clone()
        }
        None => {
            scratch = Scratch::create(&options.tmp).map_err(|e| trouble("scratch", &e))?;
            scratch.fresh("hostile").map_err(|e| trouble("scratch", &e))?
        }
    };
    run(&HostileOptions {
        program,
        dir,
        time: options.time,
        only: options.only.clone(),
        flags: options.crawl_flags.clone(),
    })
}

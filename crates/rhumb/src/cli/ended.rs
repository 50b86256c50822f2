//! How a verb ends, and what the shell is told.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind as Parsing;
use rhumb_engine::error::Error;

use rhumb_node::settings::SettingsError;
use rhumb_node::watch::printable;

use super::notice::notice;

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const FENCED: u8 = 3;
/// As shells do for a process that SIGINT ended.
pub const INTERRUPTED: u8 = 130;

/// A verb that said all it had to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// The answer is out, and it is that the job failed.
    Failed,
    Interrupted,
    /// A node was given up by the others.
    Fenced,
}

/// A verb that could not.
#[derive(Debug)]
pub enum Trouble {
    /// Nothing was begun: the user is to write something else.
    Usage(String),
    Failed(String),
    /// The reader of our output went away, as `head` does: no fault of anybody.
    Unread,
}

impl From<SettingsError> for Trouble {
    fn from(error: SettingsError) -> Trouble {
        Trouble::Usage(error.to_string())
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Failed(error.what)
    }
}

/// Of standard output: input has its own words.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Trouble::Unread,
            _ => Trouble::Failed(format!("standard output: {error}")),
        }
    }
}

pub fn exit(result: Result<Ended, Trouble>) -> ExitCode {
    match result {
        Ok(Ended::Done) | Err(Trouble::Unread) => ExitCode::SUCCESS,
        Ok(Ended::Failed) => ExitCode::from(FAILED),
        Ok(Ended::Fenced) => ExitCode::from(FENCED),
        Ok(Ended::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(Trouble::Failed(what)) => {
            notice(format_args!("error: {}", printable(&what)));
            ExitCode::from(FAILED)
        }
        Err(Trouble::Usage(what)) => {
            notice(format_args!("error: {}", printable(&what)));
            ExitCode::from(USAGE)
        }
    }
}

/// Help and version are answers; anything else becomes one line.
pub fn of_parsing(error: &clap::Error) -> ExitCode {
    match error.kind() {
        Parsing::DisplayHelp
        | Parsing::DisplayVersion
        | Parsing::DisplayHelpOnMissingArgumentOrSubcommand => {
            exit(error.print().map(|()| Ended::Done).map_err(Into::into))
        }
        _ => {
            notice(one_line(&error.render().to_string()));
            ExitCode::from(USAGE)
        }
    }
}

/// What is wrong and the hint, without the usage that follows.
fn one_line(rendered: &str) -> String {
    let wrong = rendered.split("\nUsage:").next().unwrap_or(rendered);
    let wrong = wrong.split("\nFor more information").next().unwrap_or(wrong);
    let lines: Vec<&str> = wrong.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

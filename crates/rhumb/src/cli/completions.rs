//! `rhumb completions`: what a shell needs to complete our commands and flags.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use super::ended::{Ended, Trouble};

/// Print a shell's completion script.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb completions bash > /etc/bash_completion.d/rhumb
  rhumb completions zsh > \"${fpath[1]}/_rhumb\"
  rhumb completions fish > ~/.config/fish/completions/rhumb.fish")]
pub struct CompletionsFlags {
    /// The shell to print for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(
    flags: &CompletionsFlags,
    mut command: Command,
    out: &mut impl Write,
) -> Result<Ended, Trouble> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut command, "rhumb", &mut script);
    out.write_all(&script)?;
    Ok(Ended::Done)
}

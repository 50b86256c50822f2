//! `rhumb man`: manual pages, made from the same definitions as `--help`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};

use super::ended::{Ended, Trouble};

/// Write manual pages: one for rhumb and one for each of its commands.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb man | man -l -
  rhumb man --out /usr/local/share/man/man1
  rhumb man --configuration > docs/guide/configuration.md")]
pub struct ManFlags {
    /// Write rhumb.1, rhumb-crawl.1, … into this directory; without it the first goes to standard
    /// output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print the reference of all settings instead, as Markdown
    #[arg(long, conflicts_with = "out")]
    configuration: bool,
}

pub fn run(flags: &ManFlags, mut command: Command, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.configuration {
        out.write_all(rhumb_node::settings::reference().as_bytes())?;
        return Ok(Ended::Done);
    }
    command.build();
    let Some(dir) = &flags.out else {
        clap_mangen::Man::new(command).render(out)?;
        return Ok(Ended::Done);
    };
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    pages(&command, "rhumb", dir)?;
    Ok(Ended::Done)
}

fn failed(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble::Failed(format!("cannot write {}: {error}", path.display()))
}

/// One page for the command, and one for each below it: `rhumb-sim-run.1`.
fn pages(command: &Command, name: &str, dir: &Path) -> Result<(), Trouble> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    let path = dir.join(format!("{name}.1"));
    std::fs::write(&path, page).map_err(|error| failed(&path, &error))?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        pages(below, &format!("{name}-{}", below.get_name()), dir)?;
    }
    Ok(())
}

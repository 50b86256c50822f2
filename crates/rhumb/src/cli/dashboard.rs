//! `rhumb dashboard`: a crawl in a browser.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use rhumb_node::watch::{at_rest, status};
use rhumb_web::{DashboardPort, Rights, Serving};

use super::ended::{Ended, Trouble};
use super::notice::notice;

/// A token is a line of a file; a longer file holds something else.
const TOKEN_BYTES_MAX: u64 = 1 << 10;

/// Show a crawl in a browser, running or not.
///
/// Pages answer questions: what it does, why it is not faster, what comes next, what became of a
/// URL, what repeats what, what an exclusion would refuse. Each works without scripts and has its
/// data as JSON at the same path with .json. Copies of pages are served on the next port. Nothing
/// is changed by looking; --dashboard-control adds forms that change what runs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb dashboard rhumb-crawl
  rhumb dashboard rhumb-crawl --listen 127.0.0.1:8080
  rhumb dashboard rhumb-crawl --dashboard-control
  rhumb dashboard rhumb-crawl --listen 192.0.2.7:8080 --dashboard-token token.txt")]
pub struct DashboardFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Where to listen; auto is a free port on loopback
    #[arg(long, value_name = "ADDR|auto", default_value = "auto")]
    listen: Listen,

    #[command(flatten)]
    rights: RightsFlags,
}

#[derive(Args)]
pub struct RightsFlags {
    /// The token that viewers of an address other than loopback must name, in a file
    #[arg(long, value_name = "FILE", help_heading = "Watching")]
    dashboard_token: Option<PathBuf>,

    /// Another name by which viewers know this machine, without its port; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Watching")]
    dashboard_host: Vec<String>,

    /// Let viewers pause, resume and stop the crawl, add seeds, exclude, rest hosts, fetch now
    #[arg(long, help_heading = "Watching")]
    dashboard_control: bool,
}

/// `127.0.0.1:8080`, a port alone, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen(SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let on_loopback = |port| Listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        if text == "auto" {
            return Ok(on_loopback(0));
        }
        if let Ok(port) = text.parse() {
            return Ok(on_loopback(port));
        }
        text.parse()
            .map(Listen)
            .map_err(|_| format!("{text:?} is no address: write 127.0.0.1:8080"))
    }
}

pub fn run(flags: &DashboardFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    status::of_dir(&flags.dir)?;
    let door = Door::take(flags.listen, &flags.rights)?;
    writeln!(out, "{}", door.address())?;
    out.flush()?;
    if !quiet {
        notice(format_args!("the dashboard of {} is there; Ctrl-C ends it", flags.dir.display()));
    }
    at_rest::keep_open(&flags.dir);
    door.open(&flags.dir)?.wait();
    Ok(Ended::Done)
}

impl RightsFlags {
    fn rights(&self, token: Option<String>) -> Rights {
        let names = self.dashboard_host.clone();
        Rights { names, token, may_control: self.dashboard_control }
    }
}

/// A dashboard's address, taken before a crawl begins.
pub struct Door {
    bound: DashboardPort,
    rights: Rights,
}

impl Door {
    pub fn take(listen: Listen, flag: &RightsFlags) -> Result<Door, Trouble> {
        let Listen(addr) = listen;
        let is_name = |name: &String| !name.is_empty() && !name.contains(['/', ':', ' ']);
        if let Some(wrong) = flag.dashboard_host.iter().find(|name| !is_name(name)) {
            return Err(Trouble::Usage(format!("{wrong:?} is no name of a machine")));
        }
        let token = flag.dashboard_token.as_deref().map(read_token).transpose()?;
        if !addr.ip().is_loopback() && token.is_none() {
            return Err(Trouble::Usage(format!(
                "{addr} can be reached from other machines: name a file with a token, \
                 --dashboard-token FILE"
            )));
        }
        let bound = rhumb_web::bind(addr).map_err(|error| Trouble::Failed(error.to_string()))?;
        Ok(Door { bound, rights: flag.rights(token) })
    }

    /// What to open, with the token where there is one.
    pub fn address(&self) -> String {
        let addr = self.bound.addr();
        match &self.rights.token {
            Some(token) => format!("http://{addr}/?token={token}"),
            None => format!("http://{addr}/"),
        }
    }

    pub fn open(self, dir: &Path) -> Result<Serving, Trouble> {
        let failed = |error| Trouble::Failed(format!("no thread for the dashboard: {error}"));
        self.bound.serve(dir, self.rights).map_err(failed)
    }
}

fn read_token(path: &Path) -> Result<String, Trouble> {
    let wrong = |what: String| Trouble::Usage(format!("{}: {what}", path.display()));
    let bytes = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if bytes > TOKEN_BYTES_MAX {
        return Err(wrong(format!("{bytes} bytes are too many for a token")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let token = text.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if token.len() < 16 || !token.bytes().all(is_plain) {
        return Err(wrong("a token is 16 or more letters, digits, - or _".to_owned()));
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Listen>().map(|Listen(addr)| addr.to_string());
        assert_eq!(read("auto").as_deref(), Ok("127.0.0.1:0"));
        assert_eq!(read("8080").as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(read("[::1]:9").as_deref(), Ok("[::1]:9"));
        assert!(read("localhost").is_err() && read("1.2.3.4").is_err());
    }
}

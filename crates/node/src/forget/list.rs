//! `forgotten.jsonl`: what was taken down of a crawl, one line each, and when. It is what every
//! later run refuses.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use rhumb_archive::warc_date;
use rhumb_disk::{Durable, replace};
use rhumb_engine::admit::Forgotten;
use rhumb_engine::error::Error;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};

use super::at;
use crate::settings::SettingsError;

/// The file in a crawl's directory.
pub const FORGOTTEN_FILE: &str = "forgotten.jsonl";

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakedownTarget {
    Url(Url),
    /// By name, whatever the scheme and port.
    Host(String),
}

impl FromStr for TakedownTarget {
    type Err = String;

    /// What has a scheme is a URL, and what has neither that nor a path is a host.
    fn from_str(text: &str) -> Result<TakedownTarget, String> {
        if text.contains("://") {
            let url = Url::parse(text).map_err(|error| format!("{text:?} is no URL: {error}"))?;
            return Ok(TakedownTarget::Url(url));
        }
        let wrong = || format!("{text:?} is neither a URL (https://…) nor a host (example.org)");
        if text.contains(['/', '?', '#', '@']) || text.is_empty() {
            return Err(wrong());
        }
        let url = Url::parse(&format!("http://{text}/")).map_err(|_| wrong())?;
        Ok(TakedownTarget::Host(url.host().to_owned()))
    }
}

impl fmt::Display for TakedownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TakedownTarget::Url(url) => f.write_str(url.as_str()),
            TakedownTarget::Host(host) => f.write_str(host),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
}

/// What was taken down; nothing, if there is no such file.
pub fn read(dir: &Path) -> Result<Forgotten, SettingsError> {
    let mut forgotten = Forgotten::default();
    // Pages that are fetched at once have no directory.
    if dir.as_os_str().is_empty() {
        return Ok(forgotten);
    }
    let path = dir.join(FORGOTTEN_FILE);
    let wrong =
        |what: &dyn fmt::Display| SettingsError::usage(format!("{}: {what}", path.display()));
    for line in lines(&path).map_err(|error| wrong(&error))? {
        if let Some(host) = &line.host {
            forgotten.add_host(host);
        }
        if let Some(url) = &line.url {
            forgotten.add_url(&Url::parse(url).map_err(|error| wrong(&error))?);
        }
    }
    Ok(forgotten)
}

fn lines(path: &Path) -> io::Result<Vec<Line>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other)).collect()
}

/// Adds targets that are not there yet; the file is replaced whole.
pub(super) fn add(dir: &Path, targets: &[TakedownTarget], now_us: u64) -> Result<(), Error> {
    let path = dir.join(FORGOTTEN_FILE);
    let mut all = lines(&path).map_err(|error| at(&path, &error))?;
    for target in targets {
        let at = warc_date(now_us);
        let line = match target {
            TakedownTarget::Url(url) => Line { at, url: Some(url.as_str().to_owned()), host: None },
            TakedownTarget::Host(host) => Line { at, url: None, host: Some(host.clone()) },
        };
        let is_known = all.iter().any(|known| known.url == line.url && known.host == line.host);
        if !is_known {
            all.push(line);
        }
    }
    let written = replace(&path, Durable::Name, |file| {
        for line in &all {
            serde_json::to_writer(&mut *file, line)?;
            file.write_all(b"\n")?;
        }
        Ok(())
    });
    written.map_err(|error| at(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_url_by_its_scheme_or_else_a_host() {
        let target =
            |text: &str| text.parse::<TakedownTarget>().map(|target| format!("{target:?}"));
        assert!(target("https://a.test/x").unwrap().starts_with("Url("));
        assert_eq!(target("A.test").unwrap(), "Host(\"a.test\")");
        assert_eq!("a.test:8080".parse(), Ok(TakedownTarget::Host("a.test".to_owned())));
        for wrong in ["", "a.test/x", "mailto:x@a.test", "https://", "a b"] {
            assert!(target(wrong).is_err(), "{wrong:?}: {:?}", target(wrong));
        }
    }
}

//! `crawl.toml` in the object store: what a crawl on many machines is, for ever. What may change
//! stands in its orders.

use crate::settings::{Settings, SettingsError, WrittenSettings};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_state::local::{FORMAT, PARTITIONS_MAX};
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;
use std::path::PathBuf;

/// Of the objects of a crawl and of what nodes tell each other.
pub const OBJECTS_FORMAT: u32 = 1;

const HEAD: &str = "\
# A crawl of rhumb on many machines. This file never changes; `rhumb cluster set` changes settings.

";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrawlFile {
    pub format: u32,
    /// Of the rows in partitions' databases.
    pub state: String,
    /// Which rhumb made it.
    pub version: String,
    pub partitions: u32,
    /// Of filters and digests: what is hashed by several is compared.
    pub seed: String,
    /// What nodes show each other.
    pub token: String,
    /// Seconds since 1970.
    pub created: u64,
    pub settings: WrittenSettings,
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

/// What nobody guesses.
fn drawn() -> u64 {
    std::hash::RandomState::new().hash_one(std::process::id())
}

impl CrawlFile {
    /// Of a new crawl; refused if the settings make no sense.
    pub fn new(
        settings: WrittenSettings,
        partitions: u32,
        now_s: u64,
    ) -> Result<CrawlFile, SettingsError> {
        if partitions > PARTITIONS_MAX {
            let most = format!("partitions are at most {PARTITIONS_MAX}, not {partitions}");
            return Err(SettingsError::usage(most));
        }
        settings.clone().decide_shared(PathBuf::new(), partitions)?;
        Ok(CrawlFile {
            format: OBJECTS_FORMAT,
            state: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            partitions,
            seed: format!("{:016x}", drawn()),
            token: format!("{:016x}{:016x}", drawn(), drawn()),
            created: now_s,
            settings,
        })
    }

    pub fn to_toml(&self) -> String {
        format!("{HEAD}{}", toml::to_string(self).expect("settings are plain data"))
    }

    /// Reads what stands at `address`.
    pub fn parse(bytes: &[u8], address: &str) -> Result<CrawlFile, Error> {
        let unreadable = |why: String| {
            invalid(format!(
                "{address}/crawl.toml cannot be read: {why}; run the version of rhumb that the \
                 crawl's other nodes run, or restore a backup"
            ))
        };
        let text = std::str::from_utf8(bytes).map_err(|e| unreadable(e.to_string()))?;
        let table: toml::Table =
            toml::from_str(text).map_err(|e| unreadable(e.message().into()))?;
        // The versions first: of another one the rest may look otherwise.
        let format = table.get("format").and_then(toml::Value::as_integer);
        if format != Some(i64::from(OBJECTS_FORMAT)) {
            let format = format.map_or("none".to_owned(), |format| format.to_string());
            return Err(unreadable(format!("it is of format {format}, this is {OBJECTS_FORMAT}")));
        }
        let state = table.get("state").and_then(toml::Value::as_str).unwrap_or("none");
        if state != FORMAT {
            return Err(unreadable(format!("its rows are of {state:?}, not {FORMAT:?}")));
        }
        let file: CrawlFile = toml::from_str(text).map_err(|e| unreadable(e.message().into()))?;
        if file.partitions < 2 || file.partitions > PARTITIONS_MAX {
            return Err(unreadable(format!("{} partitions", file.partitions)));
        }
        file.filter_seed().map(|_| file.clone()).ok_or_else(|| unreadable("its seed".to_owned()))
    }

    pub fn filter_seed(&self) -> Option<u64> {
        u64::from_str_radix(&self.seed, 16).ok()
    }

    /// The settings in force, by a node with this directory.
    pub fn settings(&self, written: &WrittenSettings, dir: PathBuf) -> Result<Settings, Error> {
        let decided = written.clone().decide_shared(dir, self.partitions);
        decided.map_err(|error| invalid(format!("the crawl's settings: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_is_read_as_it_was_made_and_another_format_is_refused() {
        let settings =
            WrittenSettings::parse("scope = \"any\"\nmax_pages = 10\n", "c.toml").unwrap();
        let made = CrawlFile::new(settings, 4, 1_700_000_000).unwrap();
        let text = made.to_toml();
        assert_eq!(CrawlFile::parse(text.as_bytes(), "s3://a/b").unwrap(), made);
        for (from, to) in [("format = 1", "format = 2"), (FORMAT, "rhumb state 1")] {
            let error = CrawlFile::parse(text.replace(from, to).as_bytes(), "s3://a/b");
            let what = error.unwrap_err().what;
            assert!(what.contains("s3://a/b/crawl.toml"), "{what}");
            assert!(what.contains("run the version of rhumb"), "{what}");
        }
    }

    #[test]
    fn what_only_one_machine_has_is_refused() {
        for text in ["header = [\"X: y\"]", "extract = true", "metrics = \"127.0.0.1:1\""] {
            let settings = WrittenSettings::parse(text, "c.toml").unwrap();
            let error = CrawlFile::new(settings, 4, 0).unwrap_err().to_string();
            assert!(error.contains("on many machines"), "{error}");
        }
        assert!(CrawlFile::new(WrittenSettings::default(), 1, 0).is_err());
    }
}

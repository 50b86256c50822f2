//! Settings of a crawl on many machines: they stand in the object store, and every node has the
//! same. What only one machine has, such as files with secrets, cannot be among them.

use std::path::{Path, PathBuf};

use super::written::WrittenSettings;
use super::{ArchiveKind, SeedLine, Settings, SettingsError, document, seeds};

/// Each engine is told of the others; with one there are none.
const PARTITIONS_MIN: u32 = 2;

impl WrittenSettings {
    /// The settings in a file.
    pub fn read(path: &Path) -> Result<WrittenSettings, SettingsError> {
        Ok(document::read(path)?)
    }

    /// The settings in a text, which `name` tells where it is from.
    pub fn parse(text: &str, name: &str) -> Result<WrittenSettings, SettingsError> {
        Ok(document::parse(text, Path::new(name))?)
    }

    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain data")
    }

    /// What is written, for a node with this directory; refused if many machines cannot have it.
    pub fn decide_shared(self, dir: PathBuf, partitions: u32) -> Result<Settings, SettingsError> {
        self.check_shared(partitions)?;
        let settings =
            WrittenSettings { partitions: Some(partitions), ..self }.effective(dir, false);
        settings.check_all_but_seeds()?;
        Ok(settings)
    }

    fn check_shared(&self, partitions: u32) -> Result<(), SettingsError> {
        let is_set = |is: Option<bool>| is == Some(true);
        let wrong = match () {
            () if partitions < PARTITIONS_MIN => {
                return Err(SettingsError::usage(format!(
                    "a crawl on many machines has {PARTITIONS_MIN} partitions at least, not \
                     {partitions}"
                )));
            }
            () if self.partitions.is_some_and(|other| other != partitions) => {
                return Err(SettingsError::usage(format!(
                    "partitions = {} in the settings, and --partitions {partitions}",
                    self.partitions.unwrap_or_default()
                )));
            }
            () if is_set(self.extract) => "extract: run `rhumb extract` on what is exported",
            () if is_set(self.index) => "index: run `rhumb index` on what is exported",
            () if self.topic.as_ref().is_some_and(|topic| !topic.is_empty()) => "topic",
            () if self.metrics.is_some_and(|bound| bound.0.is_some()) => {
                "metrics: every node serves its own, at its --listen address"
            }
            () if self.header.is_some() => "header",
            () if self.cookies.is_some() => "cookies",
            () if self.cookie_jar.is_some() => "cookie_jar",
            () if self.auth.is_some() => "auth",
            () if self.ca_file.is_some() => "ca_file",
            () if self.bind.is_some() => "bind",
            () if self.archive.is_some_and(|word| word.0 == ArchiveKind::None) => {
                "archive = \"none\": pages of machines that are lost must be somewhere"
            }
            () => return Ok(()),
        };
        Err(SettingsError::usage(format!("a crawl on many machines cannot have {wrong}")))
    }
}

/// Seeds as they are typed, and those of files, in order.
pub fn read_seeds(typed: &[String], files: &[PathBuf]) -> Result<Vec<SeedLine>, SettingsError> {
    let parse = |text: &String| text.trim().parse().map_err(SettingsError::Usage);
    let mut seeds: Vec<SeedLine> = typed.iter().map(parse).collect::<Result<_, _>>()?;
    for path in files {
        seeds::read_file(path, &mut seeds)?;
    }
    Ok(seeds)
}

//! The schemes a crawl can know; every other one is refused when a URL is parsed.

use serde::{Deserialize, Serialize};

/// How a URL is fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
    /// `ftp`
    Ftp,
    /// `file`
    File,
}

impl Scheme {
    /// The scheme of this name, in small letters.
    pub fn from_name(name: &str) -> Option<Scheme> {
        Some(match name {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ftp" => Scheme::Ftp,
            "file" => Scheme::File,
            _ => return None,
        })
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        let prefix = self.prefix();
        &prefix[..prefix.len() - "://".len()]
    }

    /// What a canonical URL of this scheme begins with.
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::Http => "http://",
            Scheme::Https => "https://",
            Scheme::Ftp => "ftp://",
            Scheme::File => "file://",
        }
    }

    /// The port nobody writes; 0 for `file`, which has none.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
            Scheme::Ftp => 21,
            Scheme::File => 0,
        }
    }
}

impl std::fmt::Display for Scheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

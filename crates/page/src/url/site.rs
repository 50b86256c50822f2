//! The site: the registrable domain by the public suffix list, private suffixes included, so that
//! two users of one hosting provider are two sites. Unit of budget and of partition.

use serde::{Deserialize, Serialize};

use super::host_key::ip_of;

/// A registered domain, or a host where there is none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site(Box<str>);

impl Site {
    /// An address, a single label and a public suffix itself are their own site.
    pub(super) fn of_host(host: &str) -> Site {
        if ip_of(host).is_some() {
            return Site(host.into());
        }
        Site(psl::domain_str(host).unwrap_or(host).into())
    }

    /// Whether no one owner has all below this name: `org`, `co.uk`, a single label.
    pub fn is_public_suffix(host: &str) -> bool {
        ip_of(host).is_none() && psl::domain_str(host).is_none()
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Site({})", self.0)
    }
}

//! The kinds of misbehaviour, by what they misuse.

mod close;
mod content;
mod encoding;
mod framing;
mod header;
mod healthy;
mod maze;
mod names;
mod odd;
mod redirect;
mod robots;
mod slow;
mod status;
mod tls;
mod trap;

use super::kind::HostileKind;

pub use header::FORGED_HOST;
pub use healthy::{HEALTHY_PAGES, path_of};

/// What a group of kinds misuses, and the kinds.
pub type KindGroup = (&'static str, &'static [HostileKind]);

pub const GROUPS: &[KindGroup] = &[
    ("healthy", healthy::KINDS),
    ("trap", trap::KINDS),
    ("maze", maze::KINDS),
    ("odd", odd::KINDS),
    ("redirect", redirect::KINDS),
    ("slow", slow::KINDS),
    ("close", close::KINDS),
    ("framing", framing::KINDS),
    ("encoding", encoding::KINDS),
    ("header", header::KINDS),
    ("content", content::KINDS),
    ("robots", robots::KINDS),
    ("status", status::KINDS),
    ("names", names::KINDS),
    ("tls", tls::KINDS),
];

/// All kinds, the healthy one first.
pub fn all() -> Vec<HostileKind> {
    GROUPS.iter().flat_map(|(_, kinds)| kinds.iter().copied()).collect()
}

/// Makes what takes long to make, before anybody asks for it.
pub fn prepare() {
    encoding::prepare();
    robots::prepare();
    trap::prepare();
}

/// The group of a kind.
pub fn group_of(name: &str) -> &'static str {
    let has = |(_, kinds): &&KindGroup| kinds.iter().any(|kind| kind.name == name);
    GROUPS.iter().find(has).map_or("", |(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::HEALTHY;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_name_of_its_own_and_the_healthy_one_comes_first() {
        let kinds = all();
        let names: BTreeSet<&str> = kinds.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), kinds.len());
        assert_eq!(kinds[0].name, HEALTHY);
        assert!(kinds.iter().all(|kind| !kind.does.is_empty() && !kind.good.is_empty()));
    }
}

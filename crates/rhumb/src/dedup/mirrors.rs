//! Mirrors among the documents' hosts, and among the paths of hosts.
//!
//! Two pages that are near-duplicates and lie under the same names within two collections,
//! `a.test/docs/v2/x/y.html` and `b.test/manual/x/y.html`, speak for the roots that are left when
//! the common end of their paths is taken away: `a.test/docs/v2/` and `b.test/manual/`.

use std::collections::{BTreeMap, HashMap};

use rhumb_neardup::batch::{DocumentId, Mirrors, TextCopies, TextId};

use super::output::DedupOutputs;
use super::table::RowTable;
use super::{DedupFailure, DedupReport};

/// Smaller collections say little, and lesser shares are chance.
const PAGES_MIN: u32 = 20;
const SHARE_MIN: f64 = 0.3;

pub struct MirrorHosts<'a> {
    table: &'a RowTable,
    mirrors: Mirrors,
    /// Pages under the first root that have their like under the second.
    roots: HashMap<(Root<'a>, Root<'a>), u32>,
}

/// A host and the beginning of a path, up to a slash.
type Root<'a> = (u32, &'a str);

impl<'a> MirrorHosts<'a> {
    pub fn new(table: &'a RowTable) -> MirrorHosts<'a> {
        let mirrors = Mirrors::new(table.hosts().to_vec());
        MirrorHosts { table, mirrors, roots: HashMap::new() }
    }

    pub fn pair(&mut self, copies: &TextCopies, a: TextId, b: TextId) {
        let MirrorHosts { table, mirrors, roots } = self;
        mirrors.pair(copies, a, b, |one, other| {
            if let Some(pair) = roots_of(table, one, other) {
                *roots.entry(pair).or_insert(0) += 1;
            }
        });
    }

    pub fn write(
        &self,
        outputs: &mut DedupOutputs,
        report: &mut DedupReport,
    ) -> Result<(), DedupFailure> {
        if let Some(mut out) = outputs.mirrors.take() {
            let found = self.mirrors.found(PAGES_MIN, SHARE_MIN);
            for mirror in &found {
                let [a, b] = [mirror.a, mirror.b].map(|host| self.table.host_name(host));
                let (a, b) = (a.min(b), a.max(b));
                out.line(&[a, b, &format!("{:.4}", mirror.share)])?;
            }
            out.finish()?;
            report.mirrors = Some(found.len());
        }
        if let Some(mut out) = outputs.collections.take() {
            let found = self.collections();
            for ((a, b), share) in &found {
                out.line(&[a, b, &format!("{share:.4}")])?;
            }
            out.finish()?;
            report.collections = Some(found.len());
        }
        Ok(())
    }

    /// Pairs of roots, by name.
    fn collections(&self) -> BTreeMap<(String, String), f64> {
        let sizes = self.pages_under();
        let mut found = BTreeMap::new();
        for ((a, b), matched) in &self.roots {
            let [size_a, size_b] = [a, b].map(|root| sizes.get(root).copied().unwrap_or(0));
            let share = f64::from(*matched) / f64::from(size_a.max(1));
            if size_a <= size_b && size_a >= PAGES_MIN && share >= SHARE_MIN {
                let [a, b] =
                    [a, b].map(|(host, path)| self.table.host_name(*host).to_owned() + path);
                let best = found.entry((a.clone().min(b.clone()), a.max(b))).or_insert(share);
                *best = share.max(*best);
            }
        }
        found
    }

    /// How many pages lie under each root that matters.
    fn pages_under(&self) -> HashMap<Root<'a>, u32> {
        let mut sizes: HashMap<Root<'a>, u32> = HashMap::new();
        for (a, b) in self.roots.keys() {
            sizes.insert(*a, 0);
            sizes.insert(*b, 0);
        }
        for (document, host) in self.table.hosts().iter().enumerate() {
            let Some(host) = host else { continue };
            let path = self.table.path(document as DocumentId);
            for end in path.match_indices('/').map(|(at, _)| at + 1) {
                if let Some(size) = sizes.get_mut(&(*host, &path[..end])) {
                    *size += 1;
                }
            }
        }
        sizes
    }
}

/// What is left of two paths without their common end; none if not even the last name is common.
fn roots_of(table: &RowTable, a: DocumentId, b: DocumentId) -> Option<(Root<'_>, Root<'_>)> {
    let hosts = table.hosts();
    let [host_a, host_b] = [hosts[a as usize]?, hosts[b as usize]?];
    let [path_a, path_b] = [table.path(a), table.path(b)];
    let names = path_a.rsplit('/').zip(path_b.rsplit('/'));
    let same: usize = names.take_while(|(a, b)| a == b).map(|(name, _)| name.len() + 1).sum();
    let root = |path: &'_ str| path.len().checked_sub(same).map_or(0, |left| left + 1);
    (same > 0).then(|| ((host_a, &path_a[..root(path_a)]), (host_b, &path_b[..root(path_b)])))
}

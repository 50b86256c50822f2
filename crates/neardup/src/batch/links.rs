//! Which texts are connected by near-duplicate pairs, without finding all the pairs.
//!
//! A bucket of n near-identical texts has n²/2 pairs and needs n - 1 of them. So a text is compared
//! with those of the bucket that it is not yet joined with, cluster by cluster, and with a few
//! members of each at most.

use super::compare::Comparer;
use super::corpus::{Corpus, TextId};
use super::error::Error;
use super::pairs::each_bucket;
use super::runs::PARTS;
use super::union::Union;
use super::workers::share;

/// Members of a cluster that a text is compared with in one bucket. A text may fail with one end of
/// a chain and fit the other; beyond this many it has to meet its like in another bucket.
const HUBS_MAX: usize = 64;
/// Clusters of a bucket that a text is compared with.
const CLUSTERS_MAX: usize = 1024;

impl Corpus {
    /// Joins all texts that are connected by pairs of near-duplicates. Linear in the number of
    /// texts even if all of them are alike.
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before: the keys are used up by it.
    pub fn links(&mut self) -> Result<Union, Error> {
        let keys = self.take_keys();
        let union = Union::new(self.texts());
        share(self.settings.threads, PARTS, |part| {
            let mut comparer = Comparer::new(self);
            each_bucket(keys.part(part)?, |_, texts| link_bucket(&mut comparer, texts, &union))
        })?;
        Ok(union)
    }
}

fn link_bucket(comparer: &mut Comparer<'_>, texts: &[TextId], union: &Union) -> Result<(), Error> {
    // The clusters met in this bucket, by a first member, with those to compare with.
    let mut clusters: Vec<Vec<TextId>> = Vec::new();
    for &text in texts {
        let mut home = None;
        for (at, hubs) in clusters.iter().enumerate() {
            if union.joined(text, hubs[0]) || fits(comparer, text, hubs)? {
                union.join(text, hubs[0]);
                home.get_or_insert(at);
            }
        }
        match home {
            Some(at) if clusters[at].len() < HUBS_MAX => clusters[at].push(text),
            Some(_) => {}
            None if clusters.len() < CLUSTERS_MAX => clusters.push(vec![text]),
            None => {}
        }
    }
    Ok(())
}

fn fits(comparer: &mut Comparer<'_>, text: TextId, hubs: &[TextId]) -> Result<bool, Error> {
    for &hub in hubs {
        if comparer.worth_comparing(text, hub) && comparer.compare(text, hub)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

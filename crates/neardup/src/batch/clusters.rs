//! Clusters of documents, and what can be said of each: its size, a sample, how far apart its ends
//! are, and whether it is a chain.

use super::corpus::{Corpus, DocumentId, TextCopies, TextId};
use super::union::Union;
use crate::estimate::SlotBits;

/// Documents named of a cluster.
const SAMPLE_MAX: usize = 5;

/// The cluster of every text, as its least text.
pub struct Clusters(Vec<TextId>);

/// What is worth knowing of all clusters of two documents or more.
#[derive(Clone, Debug)]
pub struct Portraits {
    /// How many clusters there are.
    pub clusters: usize,
    /// Documents in them.
    pub documents: usize,
    /// Clusters that are chains, of all of them.
    pub chains: usize,
    /// The largest, by size.
    pub largest: Vec<Portrait>,
}

/// What is worth knowing of a cluster.
#[derive(Clone, Debug)]
pub struct Portrait {
    /// Documents of the cluster.
    pub documents: usize,
    /// Distinct texts of the cluster.
    pub texts: usize,
    /// The first few, and the two ends.
    pub sample: Vec<DocumentId>,
    /// Estimated resemblance of the two members that are farthest apart, as far as two sweeps
    /// tell: from any member to the farthest, and from there to the farthest again.
    pub resemblance_min: f64,
    /// The ends resemble each other less than two texts can that are both near-duplicates of one
    /// leader: they are joined by steps in between.
    pub chain: bool,
}

impl Clusters {
    /// Clusters by single linkage: whoever is linked belongs together.
    pub fn single_link(union: &Union, corpus: &Corpus) -> Clusters {
        Clusters((0..corpus.texts() as TextId).map(|text| union.root(text)).collect())
    }

    /// Of the leader of each text.
    pub fn leader(leaders: Vec<TextId>) -> Clusters {
        Clusters(leaders)
    }

    /// The least text of its cluster.
    pub fn of_text(&self, text: TextId) -> TextId {
        self.0[text as usize]
    }

    /// The texts of each cluster, ascending, by its least text.
    fn members(&self) -> Vec<(TextId, TextId)> {
        let mut members: Vec<(TextId, TextId)> =
            self.0.iter().enumerate().map(|(text, cluster)| (*cluster, text as TextId)).collect();
        members.sort_unstable();
        members
    }

    /// All clusters of two documents or more, with the portraits of the `portraits_max` largest.
    pub fn portraits(
        &self,
        corpus: &Corpus,
        copies: &TextCopies,
        portraits_max: usize,
    ) -> Portraits {
        let members = self.members();
        let mut sized: Vec<(usize, &[(TextId, TextId)])> = members
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of| (of.iter().map(|(_, text)| copies.of_text(*text).len()).sum(), of))
            .filter(|(documents, _)| *documents > 1)
            .collect();
        sized.sort_by_key(|(documents, of)| (usize::MAX - documents, of[0].0));
        let documents = sized.iter().map(|(documents, _)| documents).sum();
        let chains = sized.iter().filter(|(_, of)| Ends::of(corpus, of).chain).count();
        let largest = sized.iter().take(portraits_max);
        let largest = largest.map(|(count, of)| portrait(corpus, copies, *count, of)).collect();
        Portraits { clusters: sized.len(), documents, chains, largest }
    }
}

fn portrait(
    corpus: &Corpus,
    copies: &TextCopies,
    documents: usize,
    members: &[(TextId, TextId)],
) -> Portrait {
    let texts = || members.iter().map(|(_, text)| *text);
    let Ends { one, other, resemblance_min, chain } = Ends::of(corpus, members);
    let first = |text: TextId| copies.of_text(text)[0];
    let ends = [one, other].map(first);
    let mut sample: Vec<DocumentId> =
        texts().flat_map(|text| copies.of_text(text).iter().copied()).take(SAMPLE_MAX).collect();
    sample.extend(ends.iter().filter(|end| !sample.contains(end)).collect::<Vec<_>>());
    sample.sort_unstable();
    sample.dedup();
    Portrait { documents, texts: members.len(), sample, resemblance_min, chain }
}

/// Two members of a cluster that are as far apart as two sweeps tell.
struct Ends {
    one: TextId,
    other: TextId,
    resemblance_min: f64,
    chain: bool,
}

impl Ends {
    fn of(corpus: &Corpus, members: &[(TextId, TextId)]) -> Ends {
        let texts = || members.iter().map(|(_, text)| *text);
        let one = farthest(corpus, members[0].1, texts()).0;
        let (other, resemblance_min) = farthest(corpus, one, texts());
        let error = SlotBits::PAIRS_OF_BYTES.estimate(64).error;
        // Two standard errors, so that no cluster is called a chain by bad luck alone.
        let chain = resemblance_min + 2.0 * error < 2.0 * corpus.settings.threshold - 1.0;
        Ends { one, other, resemblance_min, chain }
    }
}

/// The text farthest from this one, and how much they resemble.
fn farthest(corpus: &Corpus, from: TextId, texts: impl Iterator<Item = TextId>) -> (TextId, f64) {
    let sketch = &corpus.sketches[from as usize];
    let agreeing = |text: TextId| sketch.agreement(&corpus.sketches[text as usize]).count_ones();
    let (least, text) = texts.map(|text| (agreeing(text), text)).min().unwrap_or((128, from));
    (text, SlotBits::PAIRS_OF_BYTES.estimate(least).resemblance)
}

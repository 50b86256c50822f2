//! Results as files: pairs, clusters, mirrors.

use rhumb_neardup::batch::{Clusters, DocumentId, Match, Portraits, TextCopies, Union};

use super::gather::GatheredTexts;
use super::kept::RunJournal;
use super::mirrors::MirrorHosts;
use super::output::{DedupOutputs, Output};
use super::table::RowTable;
use super::{
    ClusterReport, Clustering, DedupFailure, DedupJob, DedupReport, DedupStage, PORTRAITS_MAX,
    Watch, described, led,
};

/// Finds all pairs, writes them and the mirrors; the clusters that follow from them.
pub fn pairs(
    job: &DedupJob,
    gathered: &mut GatheredTexts,
    (kept, outputs): (&RunJournal, &mut DedupOutputs),
    watch: &Watch,
    report: &mut DedupReport,
) -> Result<Clusters, DedupFailure> {
    let matches = gathered.corpus.matches_after(kept.steps(), |step| kept.found(step))?;
    watch.stage(DedupStage::Pairs);
    let GatheredTexts { corpus, table, .. } = &*gathered;
    let copies = corpus.copies();
    report.compared = Some(matches.compared);
    report.spilled_bytes += matches.spilled_bytes();
    let mut out = outputs.pairs.take();
    let mut hosts = job.asks_hosts().then(|| MirrorHosts::new(table));
    let union = Union::new(corpus.texts());
    let mut count = 0;
    for text in 0..corpus.texts() as u32 {
        let documents = copies.of_text(text);
        if documents.len() > 1 {
            count += same(documents, table, out.as_mut())?;
            if let Some(hosts) = &mut hosts {
                hosts.pair(&copies, text, text);
            }
        }
    }
    matches.each(|found| {
        union.join(found.a, found.b);
        if let Some(hosts) = &mut hosts {
            hosts.pair(&copies, found.a, found.b);
        }
        count += alike(&found, &copies, table, out.as_mut())?;
        Ok::<(), DedupFailure>(())
    })?;
    out.map_or(Ok(()), Output::finish)?;
    report.pairs = Some(count);
    if let Some(hosts) = hosts {
        hosts.write(outputs, report)?;
    }
    Ok(match job.clustering {
        Clustering::SingleLink => Clusters::single_link(&union, corpus),
        Clustering::Leader => {
            watch.stage(DedupStage::Comparing);
            led(corpus, report)?
        }
    })
}

/// All pairs of copies of one text.
fn same(
    documents: &[DocumentId],
    table: &RowTable,
    out: Option<&mut Output>,
) -> Result<u64, DedupFailure> {
    if let Some(out) = out {
        for (at, a) in documents.iter().enumerate() {
            for b in &documents[at + 1..] {
                out.line(&[table.id(*a), table.id(*b), "1.000000"])?;
            }
        }
    }
    let count = documents.len() as u64;
    Ok(count * (count - 1) / 2)
}

/// All pairs of a copy of one text and a copy of the other.
fn alike(
    found: &Match,
    copies: &TextCopies,
    table: &RowTable,
    out: Option<&mut Output>,
) -> Result<u64, DedupFailure> {
    let [of_a, of_b] = [copies.of_text(found.a), copies.of_text(found.b)];
    if let Some(out) = out {
        let resemblance = format!("{:.6}", found.resemblance());
        for a in of_a {
            for b in of_b {
                let (a, b) = (a.min(b), a.max(b));
                out.line(&[table.id(*a), table.id(*b), &resemblance])?;
            }
        }
    }
    Ok(of_a.len() as u64 * of_b.len() as u64)
}

/// Writes the cluster of every document, by the name of its first one, and describes the largest.
pub fn clusters(
    gathered: &GatheredTexts,
    clusters: &Clusters,
    out: Option<Output>,
    report: &mut DedupReport,
) -> Result<(), DedupFailure> {
    let GatheredTexts { corpus, table, .. } = gathered;
    let copies = corpus.copies();
    if let Some(mut out) = out {
        for document in 0..corpus.len() as DocumentId {
            let cluster = corpus.text_of(document).map(|text| clusters.of_text(text));
            let first = cluster.map_or(document, |text| copies.of_text(text)[0]);
            out.line(&[table.id(document), table.id(first)])?;
        }
        out.finish()?;
    }
    let Portraits { clusters: count, documents, chains, largest } =
        clusters.portraits(corpus, &copies, PORTRAITS_MAX);
    let largest = largest.into_iter().map(|portrait| described(portrait, table)).collect();
    report.clusters = Some(ClusterReport { count, documents, chains, largest });
    Ok(())
}

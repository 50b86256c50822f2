//! `rhumb dedup`: near-duplicates, clusters and mirrors of what a file or a crawl holds.
//!
//! [`input`] is read by all threads into a corpus ([`gather`]); the crate `rhumb-neardup` finds
//! pairs or clusters; [`tell`] writes what was asked for. Files appear whole or not at all
//! ([`output`]). A run that keeps a [`journal`] can be interrupted and goes on.

mod gather;
pub(crate) mod input;
mod journal;
mod kept;
mod mirrors;
mod output;
mod portion;
mod row;
mod table;
mod tell;
pub mod text;
mod watching;

use std::path::PathBuf;
use std::time::Instant;

use rhumb_neardup::batch::{self, Clusters, Common, Corpus, Led, PairLinks, Portrait};
use serde::Serialize;

use gather::GatheredTexts;
use input::Input;
use kept::RunJournal;
use output::DedupOutputs;
use rhumb_node::watch::memory;
use table::RowTable;
pub use watching::{DedupStage, Watch};

/// Clusters that are described.
const PORTRAITS_MAX: usize = 20;

/// What is asked for.
pub struct DedupJob {
    pub input: PathBuf,
    pub settings: batch::BatchSettings,
    pub pairs: Option<PathBuf>,
    pub clusters: Option<PathBuf>,
    pub clustering: Clustering,
    pub mirrors: Option<PathBuf>,
    pub collections: Option<PathBuf>,
    /// Shingles in more than this share of the texts are left out.
    pub common_shingles: Option<f64>,
    /// Where is kept what was done, so that an interrupted run can go on.
    pub journal: Option<PathBuf>,
}

impl DedupJob {
    fn asks_hosts(&self) -> bool {
        self.mirrors.is_some() || self.collections.is_some()
    }

    /// Clusters alone can be had without finding all pairs.
    fn needs_pairs(&self) -> bool {
        self.pairs.is_some() || self.asks_hosts()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clustering {
    SingleLink,
    Leader,
}

/// Why it could not be done, for people.
#[derive(Debug)]
pub struct DedupFailure(pub String);

impl From<batch::BatchError> for DedupFailure {
    fn from(error: batch::BatchError) -> DedupFailure {
        let hint = match error.kind() {
            batch::BatchErrorKind::Full => "; name a directory with more room (--tmp)",
            batch::BatchErrorKind::Io | batch::BatchErrorKind::TooMany => "",
        };
        DedupFailure(format!("{error}{hint}"))
    }
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct DedupReport {
    pub documents: usize,
    pub texts: usize,
    pub exact_duplicates: usize,
    pub empty: usize,
    pub skipped: u64,
    pub recaptures: u64,
    /// Of the documents, those that an interrupted run had read.
    pub documents_kept: usize,
    pub bytes: u64,
    pub threshold: f64,
    pub shingle: usize,
    pub bands: [usize; 2],
    /// None if pairs were not asked for, nor needed.
    pub pairs: Option<u64>,
    pub compared: Option<u64>,
    /// What was left out, which changes the similarity; none if not asked for.
    pub common_shingles: Option<CommonReport>,
    /// Comparisons that bounds of clustering cut short: links that may be missing.
    pub cut_short: u64,
    pub clustering: Clustering,
    pub clusters: Option<ClusterReport>,
    pub mirrors: Option<usize>,
    pub collections: Option<usize>,
    pub threads: usize,
    pub seconds: f64,
    pub cpu_s: f64,
    pub read_cpu_s: f64,
    /// Of text, per second, and per second of CPU without reading and parsing.
    pub mb_per_s: f64,
    pub mb_per_cpu_s: f64,
    pub spilled_bytes: u64,
    pub peak_rss_bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct CommonReport {
    pub share: f64,
    /// Different shingles left out, and how often they stood in a text.
    pub shingles: usize,
    pub occurrences: u64,
    /// Texts that have none left and resemble nothing.
    pub emptied: usize,
}

#[derive(Debug, Serialize)]
pub struct ClusterReport {
    /// Of two documents or more.
    pub count: usize,
    pub documents: usize,
    /// Clusters whose ends differ, of all of them.
    pub chains: usize,
    pub largest: Vec<DedupCluster>,
}

#[derive(Debug, Serialize)]
pub struct DedupCluster {
    pub documents: usize,
    pub texts: usize,
    pub resemblance_min: f64,
    pub chain: bool,
    pub sample: Vec<String>,
}

/// Does the job; `complain` hears of every document that is left out.
pub fn run(
    job: &DedupJob,
    watch: &Watch,
    complain: &mut (dyn FnMut(&str) + Send),
) -> Result<DedupReport, DedupFailure> {
    let began = Instant::now();
    let input = Input::open(&job.input)
        .map_err(|error| DedupFailure(format!("{}: {error}", job.input.display())))?;
    let mut outputs = DedupOutputs::create(job)?;
    let kept = RunJournal::open(job)?;
    let mut gathered = gather::gather(job, input, &kept, watch, complain)?;
    gathered.table.close();
    let mut report = begun(job, &gathered);
    watch.progress(gathered.corpus.progress());
    if let Some(share) = job.common_shingles {
        watch.stage(DedupStage::Common);
        let Common { shingles, occurrences, emptied } = gathered.corpus.leave_out_common(share)?;
        report.common_shingles = Some(CommonReport { share, shingles, occurrences, emptied });
    }
    watch.stage(DedupStage::Comparing);
    let clusters = if job.needs_pairs() {
        tell::pairs(job, &mut gathered, (&kept, &mut outputs), watch, &mut report)?
    } else {
        clusters_alone(job, &mut gathered, &kept, &mut report)?
    };
    watch.stage(DedupStage::Clusters);
    tell::clusters(&gathered, &clusters, outputs.clusters.take(), &mut report)?;
    finish(&mut report, began, &gathered);
    kept.remove()?;
    Ok(report)
}

fn clusters_alone(
    job: &DedupJob,
    gathered: &mut GatheredTexts,
    kept: &RunJournal,
    report: &mut DedupReport,
) -> Result<Clusters, DedupFailure> {
    Ok(match job.clustering {
        Clustering::SingleLink => {
            let PairLinks { union, cut_short } =
                gathered.corpus.links_after(kept.steps(), |step| kept.found(step))?;
            report.cut_short = cut_short;
            Clusters::single_link(&union, &gathered.corpus)
        }
        Clustering::Leader => led(&gathered.corpus, report)?,
    })
}

fn led(corpus: &Corpus, report: &mut DedupReport) -> Result<Clusters, DedupFailure> {
    let Led { leaders, cut_short } = corpus.leaders()?;
    report.cut_short = cut_short;
    Ok(Clusters::leader(leaders))
}

fn begun(job: &DedupJob, gathered: &GatheredTexts) -> DedupReport {
    let GatheredTexts { corpus, counts, .. } = gathered;
    DedupReport {
        documents: corpus.len(),
        texts: corpus.texts(),
        exact_duplicates: corpus.len() - corpus.texts() - corpus.wordless(),
        empty: corpus.wordless(),
        skipped: counts.skipped,
        recaptures: counts.recaptures,
        documents_kept: gathered.documents_kept,
        bytes: counts.bytes,
        threshold: job.settings.threshold,
        shingle: job.settings.words,
        bands: corpus.bands(),
        pairs: None,
        compared: None,
        common_shingles: None,
        cut_short: 0,
        clustering: job.clustering,
        clusters: None,
        mirrors: None,
        collections: None,
        threads: job.settings.threads,
        seconds: 0.0,
        cpu_s: 0.0,
        read_cpu_s: counts.read_cpu.as_secs_f64(),
        mb_per_s: 0.0,
        mb_per_cpu_s: 0.0,
        spilled_bytes: 0,
        peak_rss_bytes: 0,
    }
}

fn finish(report: &mut DedupReport, began: Instant, gathered: &GatheredTexts) {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    report.seconds = began.elapsed().as_secs_f64();
    report.cpu_s = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    let megabytes = report.bytes as f64 / 1e6;
    report.mb_per_s = megabytes / report.seconds.max(1e-9);
    report.mb_per_cpu_s = megabytes / (report.cpu_s - report.read_cpu_s).max(1e-9);
    report.spilled_bytes += gathered.corpus.spilled_bytes();
    report.peak_rss_bytes = memory::of_this_process().peak_rss_bytes;
}

fn described(portrait: Portrait, table: &RowTable) -> DedupCluster {
    let Portrait { documents, texts, sample, resemblance_min, chain } = portrait;
    let sample = sample.into_iter().map(|document| table.id(document).to_owned()).collect();
    DedupCluster { documents, texts, resemblance_min, chain, sample }
}

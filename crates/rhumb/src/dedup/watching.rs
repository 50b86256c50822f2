//! How far a job is, for whoever watches from another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rhumb_neardup::batch::BatchProgress;

use super::gather::GatheredTexts;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DedupStage {
    #[default]
    Reading,
    Common,
    Comparing,
    Pairs,
    Clusters,
}

#[derive(Default)]
pub struct Watch {
    pub documents: AtomicU64,
    pub bytes: AtomicU64,
    pub done: AtomicBool,
    later: Mutex<(DedupStage, Option<Arc<BatchProgress>>)>,
}

impl Watch {
    pub(super) fn gathered(&self, gathered: &GatheredTexts) {
        self.documents.store(gathered.corpus.len() as u64, Ordering::Relaxed);
        self.bytes.store(gathered.counts.bytes, Ordering::Relaxed);
    }

    pub(super) fn stage(&self, stage: DedupStage) {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).0 = stage;
    }

    pub(super) fn progress(&self, progress: Arc<BatchProgress>) {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(progress);
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, of) = later.1.as_ref().map_or((0, 0), |progress| progress.steps());
        let percent = 100 * done / of.max(1);
        let bytes = self.bytes.load(Ordering::Relaxed) as f64 / 1e6;
        let documents = self.documents.load(Ordering::Relaxed);
        match later.0 {
            DedupStage::Reading => format!("reading: {documents} documents, {bytes:.0} MB of text"),
            DedupStage::Common => format!("leaving out common shingles: {percent} %"),
            DedupStage::Comparing => format!("comparing {documents} documents: {percent} %"),
            DedupStage::Pairs => "writing pairs".to_owned(),
            DedupStage::Clusters => "writing clusters".to_owned(),
        }
    }
}

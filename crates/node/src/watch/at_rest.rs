//! The store of a crawl at rest, for those who look at it.
//!
//! An opening takes longer than an answer, and while it lasts no crawl can begin. So whoever looks
//! through a dashboard shares one opening, which is closed a moment after the last question.

use super::status::STATE_DIR;
use rhumb_engine::error::Error;
use rhumb_state::local::LocalReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The store stays open so long after a question: a crawl that begins waits a little longer for
/// whoever is just closing it.
const KEPT_FOR: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_millis(50);

static KEPT: Mutex<KeptOpen> = Mutex::new(KeptOpen { dir: None, open: None });

struct KeptOpen {
    /// The crawl whose store is kept open between questions.
    dir: Option<PathBuf>,
    open: Option<(Arc<LocalReader>, Instant)>,
}

/// From now on questions about this crawl share an opening if they follow each other.
pub fn keep_open(dir: &Path) {
    lock().dir = Some(dir.to_owned());
}

/// The store of the crawl in `dir`.
pub fn open(dir: &Path) -> Result<Arc<LocalReader>, Error> {
    let mut kept = lock();
    let is_kept = kept.dir.as_deref() == Some(dir);
    if let Some((reader, used)) = kept.open.as_mut().filter(|_| is_kept) {
        *used = Instant::now();
        return Ok(Arc::clone(reader));
    }
    let reader = Arc::new(LocalReader::open(&dir.join(STATE_DIR))?);
    if is_kept {
        let closer = thread::Builder::new().name("rhumb-at-rest".to_owned());
        // Without one it is closed when this question is answered.
        if closer.spawn(close_when_idle).is_ok() {
            kept.open = Some((Arc::clone(&reader), Instant::now()));
        }
    }
    Ok(reader)
}

fn close_when_idle() {
    loop {
        thread::sleep(LOOK_EVERY);
        let mut kept = lock();
        let Some((reader, used)) = &kept.open else { return };
        // What is being answered still needs it: opened twice, it would be in use by another.
        if used.elapsed() >= KEPT_FOR && Arc::strong_count(reader) == 1 {
            kept.open = None;
            return;
        }
    }
}

fn lock() -> MutexGuard<'static, KeptOpen> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

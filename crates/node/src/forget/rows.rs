//! The rest of a takedown: rows of extracted text, the search index, and the state.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rhumb_disk::{sync_dir, sync_tree};
use rhumb_engine::admit::Forgotten;
use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::forget::Takedown;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_search::remove_index;
use rhumb_state::local::{Home, LocalState};
use rhumb_state::snapshot::StateSnapshot;
use serde::Deserialize;

use super::{TakedownDone, at, is_forgotten};
use crate::extract::{EXTRACT_FILE, RowsFile, RowsWanted, WhileCrawling};
use crate::index::{INDEX_DIR, weigh};
use crate::settings::{ArchiveKind, Settings};

/// Where rows are written that stay, until they take the place of all.
const UNFINISHED_DIR: &str = "forgetting.new";

/// What a row of extracted text is about.
#[derive(Deserialize)]
struct About {
    id: Option<String>,
    url: Option<String>,
}

/// Leaves out the rows of forgotten pages.
pub(super) fn filter_rows(
    dir: &Path,
    forgotten: &Forgotten,
    done: &mut TakedownDone,
) -> Result<(), Error> {
    let path = dir.join(EXTRACT_FILE);
    if !path.exists() {
        return Ok(());
    }
    let filter = || -> io::Result<u64> {
        // What a crash left torn is cut first.
        let mark = RowsFile::open(dir)?.mark();
        if path.metadata()?.len() == 0 {
            return Ok(0);
        }
        let unfinished = dir.join(UNFINISHED_DIR);
        std::fs::create_dir_all(&unfinished)?;
        let new = unfinished.join(EXTRACT_FILE);
        let _ = std::fs::remove_file(&new);
        let mut kept = RowsFile::open(&unfinished)?;
        let mut removed = 0;
        let mut rows = BufReader::new(zstd::Decoder::new(File::open(&path)?)?);
        let mut line = Vec::new();
        while rows.read_until(b'\n', &mut line)? > 0 {
            let about: Option<About> = serde_json::from_slice(&line).ok();
            let named = about.and_then(|about| about.url.or(about.id));
            match is_forgotten(forgotten, named.as_deref()) {
                true => removed += 1,
                false => kept.push(&line, Some(mark))?,
            }
            line.clear();
        }
        kept.flush()?;
        drop(kept);
        // On the disk before it has its name, and its name before the takedown is finished.
        sync_tree(&new)?;
        std::fs::rename(&new, &path)?;
        sync_dir(dir)?;
        std::fs::remove_dir(&unfinished)?;
        Ok(removed)
    };
    done.rows = filter().map_err(|error| at(&path, &error))?;
    Ok(())
}

/// Makes the search index anew from the archive. Without an archive it goes: its files hold texts
/// of pages, and nothing that they could be made from is left.
pub(super) fn remake_search(dir: &Path, settings: &Settings) -> Result<(), Error> {
    let index = dir.join(INDEX_DIR);
    if !index.exists() {
        return Ok(());
    }
    let remake = || -> io::Result<()> {
        remove_index(&index).map_err(|error| io::Error::other(error.to_string()))?;
        if settings.archive == ArchiveKind::None {
            return Ok(());
        }
        let token = settings.user_agent.token.clone();
        let asked = RowsWanted { rows: false, index: true, token };
        WhileCrawling::open(dir, true, asked)?.finish()
    };
    remake().map_err(|error| at(&index, &error))
}

/// Takes the rows of the state down. The archive ends at `end`.
pub(super) fn take_down(
    (dir, home): (&Path, Home),
    end: ArchivePosition,
    forgotten: &Forgotten,
    done: &mut TakedownDone,
) -> Result<(), Error> {
    let (mut state, opening) = LocalState::open(home, 0, end)?;
    let reader = state.reader();
    let mut takedown = Takedown::new(forgotten, opening.counters, opening.requisites);
    let mut rows = Vec::new();
    for url in reader.urls() {
        let (key, record) = url?;
        if let Some(digest) = takedown.take_url(&key, &record, &mut rows) {
            let twin = reader.snapshot().twin(&digest)?;
            if twin.is_some_and(|twin| forgotten.has(&twin.url)) {
                rows.push(Row::ContentGone { digest });
            }
        }
    }
    for host in reader.hosts() {
        let (key, record) = host?;
        takedown.take_host(&key, &record, &mut rows);
    }
    if let Some(mut scheduler) = reader.scheduler()?.filter(|_| !takedown.left_calendar.is_empty())
    {
        takedown.left_calendar.iter().for_each(|id| scheduler.left(*id));
        rows.push(Row::Refresh(Box::new(scheduler)));
    }
    done.urls = takedown.urls;
    takedown.finish(&mut rows);
    if !rows.is_empty() {
        // All or none: the counters are what the rows say.
        state.commit(&mut rows, end)?;
    }
    state.sync()?;
    if dir.join(INDEX_DIR).exists() {
        let left_out = weigh(dir, &reader)?;
        left_out.iter().for_each(|what| tracing::warn!("{what}"));
    }
    Ok(())
}

//! `forgetting.jsonl`: that a takedown is under way, and which records it is about to overwrite.
//! The file is there from before the first change until after the last.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rhumb_archive::takedown::RecordPlace;
use rhumb_disk::{Durable, replace, sync_dir};
use rhumb_engine::error::Error;
use serde::{Deserialize, Serialize};

use super::at;

const PLAN_FILE: &str = "forgetting.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    file: String,
    offset: u64,
    length: u64,
}

fn path(dir: &Path) -> PathBuf {
    dir.join(PLAN_FILE)
}

pub(super) fn is_under_way(dir: &Path) -> bool {
    path(dir).exists()
}

/// From here on no run begins.
pub(super) fn begin(dir: &Path) -> Result<(), Error> {
    if is_under_way(dir) { Ok(()) } else { write(dir, &[]) }
}

/// The places that an earlier takedown was about to overwrite.
pub(super) fn read(dir: &Path) -> Result<Vec<RecordPlace>, Error> {
    let path = path(dir);
    let read = || -> io::Result<Vec<RecordPlace>> {
        let text = std::fs::read_to_string(&path)?;
        let lines = text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other));
        lines
            .map(|line| {
                line.map(|Line { file, offset, length }| RecordPlace { file, offset, length })
            })
            .collect()
    };
    read().map_err(|error| at(&path, &error))
}

/// These are overwritten next.
pub(super) fn write(dir: &Path, places: &[RecordPlace]) -> Result<(), Error> {
    let path = path(dir);
    let written = replace(&path, Durable::Name, |file| {
        for RecordPlace { file: name, offset, length } in places {
            let line = Line { file: name.clone(), offset: *offset, length: *length };
            serde_json::to_writer(&mut *file, &line)?;
            file.write_all(b"\n")?;
        }
        Ok(())
    });
    written.map_err(|error| at(&path, &error))
}

pub(super) fn finish(dir: &Path) -> Result<(), Error> {
    let path = path(dir);
    std::fs::remove_file(&path).and_then(|()| sync_dir(dir)).map_err(|error| at(&path, &error))
}

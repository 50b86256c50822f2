//! Which files of a directory are an index's? No others are ever removed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use crate::beside;
use crate::error::SearchError;
use crate::writer::{TERMS_DIR, VERSION_FILE};

/// Names of tantivy's files but for those of segments.
const TERMS_FILES: [&str; 4] =
    ["meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock"];
/// What tantivy begins the names of unfinished files with.
const UNFINISHED_PREFIX: &str = ".tmp";
/// Hexadecimal digits in the name of a segment.
const SEGMENT_DIGITS: usize = 32;

/// Checks that an index may be made in a directory: it is absent, empty or an index, and nothing
/// else is in it.
pub fn check_place(dir: &Path) -> Result<(), SearchError> {
    let taken = |what: &str| {
        Err(SearchError::Taken(format!(
            "{}: holds something else than an index ({what}); name another directory",
            dir.display()
        )))
    };
    let names = match names_in(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return taken("it is a file"),
        Err(error) => return Err(SearchError::at(dir, &error)),
    };
    if let Some(other) = names.iter().find(|name| !is_of_index(name)) {
        return taken(&other.to_string_lossy());
    }
    let terms = match names_in(&dir.join(TERMS_DIR)) {
        Ok(terms) => terms,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(_) => return taken(TERMS_DIR),
    };
    if let Some(other) = terms.iter().find(|name| !is_of_terms(name)) {
        return taken(&format!("{TERMS_DIR}/{}", other.to_string_lossy()));
    }
    // Files that are only called like ours have no version and no terms beside them.
    let version = fs::read_to_string(dir.join(VERSION_FILE)).unwrap_or_default();
    let is_index = version.trim().parse::<u32>().is_ok() && dir.join(TERMS_DIR).is_dir();
    match names.iter().find(|name| *name != TERMS_DIR) {
        Some(file) if !is_index => taken(&file.to_string_lossy()),
        _ => Ok(()),
    }
}

/// Removes the files of an index, and its directory unless something else is in it.
pub fn remove_index(dir: &Path) -> Result<(), SearchError> {
    clear_index(dir)?;
    match fs::remove_dir(dir) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Err(SearchError::at(dir, &error))
        }
        _ => Ok(()),
    }
}

/// Removes the files of an index.
pub fn clear_index(dir: &Path) -> Result<(), SearchError> {
    let failed = |error: io::Error| SearchError::at(dir, &error);
    let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let names = match names_in(dir) {
        Err(error) if is_absent(&error) => return Ok(()),
        names => names.map_err(failed)?,
    };
    // The version before the terms: whatever is left by a kill is seen to be ours.
    let is_file = |name: &&OsString| is_of_index(name) && *name != TERMS_DIR;
    let (version, files): (Vec<_>, Vec<_>) =
        names.iter().filter(is_file).partition(|name| *name == VERSION_FILE);
    for name in files.into_iter().chain(version) {
        fs::remove_file(dir.join(name)).map_err(failed)?;
    }
    let terms = dir.join(TERMS_DIR);
    if !terms.is_dir() {
        return Ok(());
    }
    for name in names_in(&terms).map_err(failed)?.iter().filter(|name| is_of_terms(name)) {
        fs::remove_file(terms.join(name)).map_err(failed)?;
    }
    match fs::remove_dir(&terms) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(failed(error)),
        _ => Ok(()),
    }
}

fn names_in(dir: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name())).collect()
}

fn is_of_index(name: &OsStr) -> bool {
    name == TERMS_DIR || name == VERSION_FILE || beside::FILES.iter().any(|file| name == *file)
}

fn is_of_terms(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let segment = name.split('.').next().unwrap_or_default();
    let is_segment =
        segment.len() == SEGMENT_DIGITS && segment.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_segment || name.starts_with(UNFINISHED_PREFIX) || TERMS_FILES.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexMark, Indexer, SearchPage};

    #[test]
    fn an_index_is_removed_and_files_of_others_in_its_directory_are_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("index");
        let make = || {
            let mut writer = Indexer::open(&path).expect("opened");
            let page = SearchPage { id: "a".to_owned(), ..SearchPage::default() };
            writer.add(page).expect("taken");
            writer.finish(IndexMark::default()).expect("finished");
        };
        assert!(check_place(&path).is_ok(), "absent");
        make();
        assert!(check_place(&path).is_ok());
        remove_index(&path).expect("removed");
        assert!(!path.exists());
        make();
        for other in ["mine", "terms/mine"] {
            fs::write(path.join(other), "mine").expect("written");
            let error = check_place(&path).expect_err("taken").to_string();
            assert!(error.contains(&format!("({other})")), "{error}");
            remove_index(&path).expect("removed");
            assert_eq!(fs::read_to_string(path.join(other)).expect("kept"), "mine");
            fs::remove_file(path.join(other)).expect("removed");
            make();
        }
        remove_index(&path).expect("removed");
        fs::create_dir(&path).expect("made");
        for (name, text) in [("rows", "mine"), ("version", "1.2 of mine"), ("version", "1")] {
            fs::write(path.join(name), text).expect("written");
            assert!(check_place(&path).is_err(), "called like ours");
        }
        assert!(check_place(&path.join("rows")).is_err(), "a file");
    }
}

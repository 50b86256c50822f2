//! Texts of examples: files, and folders of files, HTML by its main text and all else as it stands.

use rhumb_extract::{Options, extract};
use rhumb_page::charset;
use rhumb_page::media::{self, Kind};
use rhumb_page::url::Url;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one folder, those of its folders included.
const FILES_MAX: usize = 20_000;
/// Folders within each other.
const DEPTH_MAX: usize = 16;
/// A larger file is read so far.
const FILE_BYTES_MAX: usize = 8 << 20;

/// The texts of a file or a folder, each with its path, in the order of their names.
pub fn texts(path: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let mut files = Vec::new();
    gather(path, 0, &mut files)?;
    files.sort();
    let read = |file: PathBuf| text(&file).map(|text| (file, text));
    files.into_iter().map(read).collect()
}

fn gather(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    if !fs::metadata(path).map_err(wrong)?.is_dir() {
        files.push(path.to_owned());
    } else if depth < DEPTH_MAX {
        for entry in fs::read_dir(path).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !is_hidden && !entry.file_type().map_err(wrong)?.is_symlink() {
                gather(&entry.path(), depth + 1, files)?;
            }
        }
    }
    match files.len() {
        0..=FILES_MAX => Ok(()),
        n => Err(format!("{}: {n} files are too many: {FILES_MAX} at most", path.display())),
    }
}

/// What a file says.
pub fn text(path: &Path) -> Result<String, String> {
    let mut bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    bytes.truncate(FILE_BYTES_MAX);
    let decoded = charset::decode(&bytes, None, None).text;
    if media::kind(None, &bytes) != Kind::Html {
        return Ok(decoded.into_owned());
    }
    let url = Url::parse("http://example.invalid/").map_err(|error| error.to_string())?;
    let page = extract(&decoded, &url, &Options::default());
    Ok(if page.main.is_empty() { page.all } else { page.main })
}

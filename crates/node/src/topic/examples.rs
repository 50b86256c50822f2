//! Texts of examples: files, folders of files and pages by their address; HTML by its main text and
//! all else as it stands.

use crate::run::{self, GetOutcome, Got, Rendering};
use crate::settings::{SeedLine, Settings};
use rhumb_extract::{ExtractOptions, extract};
use rhumb_page::charset;
use rhumb_page::media::{self, ContentType, MediaKind};
use rhumb_page::url::Url;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let url = Url::parse("http://example.invalid/").map_err(|error| error.to_string())?;
    Ok(text_of(&bytes, None, &url))
}

fn text_of(bytes: &[u8], content_type: Option<&str>, url: &Url) -> String {
    let declared = ContentType::parse(content_type.unwrap_or_default()).charset;
    let decoded = charset::decode(bytes, declared, None).text;
    if media::kind(content_type, bytes) != MediaKind::Html {
        return decoded.into_owned();
    }
    let page = extract(&decoded, url, &ExtractOptions::default());
    if page.main.is_empty() { page.all } else { page.main }
}

/// Waiting for an example ends at some time.
const FETCH_MAX: Duration = Duration::from_secs(60);

/// What the page at an address says, fetched by the rules of these settings.
pub fn text_at(settings: &Settings, url: &str) -> Result<String, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let alone = Settings {
        seeds: vec![SeedLine { url, weight: 1.0 }],
        topic: Vec::new(),
        max_time: Some(FETCH_MAX),
        ..settings.clone()
    };
    let render = |got: &Got<'_>| {
        let head = got.response.head();
        let bytes = got.response.decoded().bytes;
        let text = text_of(&bytes, head.content_type().as_deref(), got.url);
        Ok(Rendering { bytes: text.into_bytes(), lack: None })
    };
    let mut came = Err("it did not come in time".to_owned());
    let mut hand_over = |_: &Url, outcome: GetOutcome<'_>| {
        came = match outcome {
            GetOutcome::Rendered(bytes, _) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            GetOutcome::Failed { why, .. } => Err(why.to_owned()),
        };
        Ok(())
    };
    run::get(&alone, &render, &mut hand_over).map_err(|error| error.to_string())?;
    came
}

//! file: URLs, to crawl a tree on disk as if it were served.
//!
//! Off unless a root is configured; nothing outside the root is read, whatever links lead there. So
//! that the rest of the crawl sees no difference, the response gets the head a plain server would
//! send: type by the name's ending, Last-Modified by the file's date. A directory is the list of
//! its entries as links.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use super::failure::{FailureKind, FetchFailure};
use super::response::{Response, Truncation};
use super::{ConfigError, Fetch, FetchRequest, date};

/// A directory with more entries than this is listed up to here.
const ENTRIES_MAX: usize = 100_000;

#[derive(Clone, Debug)]
pub struct FileConfig {
    pub root: PathBuf,
    pub list_directories: bool,
}

pub struct File {
    root: PathBuf,
    list_directories: bool,
}

/// What is at a path: a status and, if it is 200, something to read.
struct Content {
    status: u16,
    media_type: &'static str,
    modified: Option<u64>,
    body: Vec<u8>,
    truncated: bool,
}

impl File {
    pub fn new(config: FileConfig) -> Result<File, ConfigError> {
        let root = config
            .root
            .canonicalize()
            .map_err(|error| ConfigError(format!("{}: {error}", config.root.display())))?;
        Ok(File { root, list_directories: config.list_directories })
    }

    fn read(&self, path: &str, body_bytes_max: usize) -> io::Result<Content> {
        // Resolved first and judged after, so that neither `..` nor a symbolic link leads out.
        let path = unescaped(path).canonicalize()?;
        if !path.starts_with(&self.root) {
            return Ok(Content::empty(403));
        }
        let metadata = path.metadata()?;
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let mut content = if metadata.is_dir() {
            match self.list_directories {
                true => list(&path)?,
                false => Content::empty(403),
            }
        } else if metadata.is_file() {
            Content { media_type: media_type(&path), ..read_file(&path, body_bytes_max)? }
        } else {
            // A pipe or a device may never end.
            Content::empty(403)
        };
        content.modified = modified.map(|since| since.as_secs());
        Ok(content)
    }
}

impl Fetch for File {
    async fn fetch(&self, request: &FetchRequest) -> Result<Response, FetchFailure> {
        let started = Instant::now();
        if !matches!(request.url.host(), "" | "localhost") {
            return Err(FetchFailure::new(FailureKind::UnsupportedScheme, "file on another host"));
        }
        // Files are read in place: the disk answers quickly, and `body_bytes_max` bounds it.
        let content = match self.read(request.url.path(), request.limits.body_bytes_max) {
            Ok(content) => content,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Content::empty(404),
                io::ErrorKind::PermissionDenied => Content::empty(403),
                _ => return Err(FetchFailure::new(FailureKind::Local, error.to_string())),
            },
        };
        Ok(content.into_response(request, started))
    }
}

impl Content {
    fn empty(status: u16) -> Content {
        Content {
            status,
            media_type: "text/plain",
            modified: None,
            body: Vec::new(),
            truncated: false,
        }
    }

    fn into_response(mut self, request: &FetchRequest, started: Instant) -> Response {
        let last_modified = self.modified.filter(|_| self.status == 200).map(date::format);
        let known = request.validators.last_modified.as_deref();
        if known.is_some() && known == last_modified.as_deref().map(str::as_bytes) {
            (self.status, self.truncated) = (304, false);
            self.body.clear();
        }
        let mut raw = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        if let Some(date) = last_modified {
            raw.extend_from_slice(format!("Last-Modified: {date}\r\n").as_bytes());
        }
        if self.status != 304 {
            let (media_type, length) = (self.media_type, self.body.len());
            let about = format!("Content-Type: {media_type}\r\nContent-Length: {length}\r\n");
            raw.extend_from_slice(about.as_bytes());
        }
        raw.extend_from_slice(b"\r\n");
        let head_len = raw.len();
        let payload_len = self.body.len();
        raw.append(&mut self.body);
        let took = started.elapsed();
        Response {
            is_http2: false,
            status: self.status,
            raw_request: Vec::new(),
            raw,
            head_len,
            truncated: self.truncated.then_some(Truncation::Length),
            media_type: Some(self.media_type),
            address: None,
            first_byte: took,
            took,
            oddities: Vec::new(),
            payload_len,
            is_chunked: false,
            _room: None,
            limits: request.limits.clone(),
        }
    }
}

fn read_file(path: &Path, body_bytes_max: usize) -> io::Result<Content> {
    let mut content = Content::empty(200);
    let file = std::fs::File::open(path)?;
    file.take(body_bytes_max as u64 + 1).read_to_end(&mut content.body)?;
    content.truncated = content.body.len() > body_bytes_max;
    content.body.truncate(body_bytes_max);
    Ok(content)
}

fn list(path: &Path) -> io::Result<Content> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)?.take(ENTRIES_MAX) {
        let entry = entry?;
        let slash = if entry.path().is_dir() { "/" } else { "" };
        // A name that is no UTF-8 cannot be written as a link we would find again.
        if let Some(name) = entry.file_name().to_str() {
            names.push(format!("{}{slash}", escaped(name)));
        }
    }
    names.sort_unstable();
    let mut body = String::from("<!doctype html>\n<meta charset=utf-8>\n<ul>\n");
    for name in &names {
        body.push_str(&format!("<li><a href=\"./{name}\">{name}</a>\n"));
    }
    body.push_str("</ul>\n");
    Ok(Content { media_type: "text/html", body: body.into_bytes(), ..Content::empty(200) })
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The path with percent-escapes undone. What makes no path of this system fails when opened.
fn unescaped(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let bytes = path.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = path.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let (byte, length) = match escape.map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => (byte, 3),
            _ => (bytes[at], 1),
        };
        plain.push(byte);
        at += length;
    }
    PathBuf::from(std::ffi::OsString::from_vec(plain))
}

fn media_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "xml" => "application/xml",
        "txt" | "md" => "text/plain",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        403 => "Forbidden",
        _ => "Not Found",
    }
}

//! Media types that are wanted, as a person lists them, and those of archives.

use std::fmt;

/// Types by name; all types, if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaList {
    patterns: Vec<MediaPattern>,
}

/// `text/html`, or `text/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MediaPattern {
    kind: String,
    /// Any, if there is none.
    subtype: Option<String>,
}

/// Words for types that have several names, or a long one.
const WORDS: [(&str, &[&str]); 7] = [
    ("html", &["text/html", "application/xhtml+xml"]),
    ("pdf", &["application/pdf"]),
    ("text", &["text/*"]),
    ("image", &["image/*"]),
    ("audio", &["audio/*"]),
    ("video", &["video/*"]),
    ("epub", &["application/epub+zip"]),
];

impl MediaList {
    /// Reads types with commas between them; what is wrong with the first that is none.
    pub fn parse(text: &str) -> Result<MediaList, String> {
        let mut patterns = Vec::new();
        for word in text.split(',').map(|word| word.trim().to_ascii_lowercase()) {
            match WORDS.iter().find(|(name, _)| *name == word) {
                Some((_, types)) => patterns.extend(types.iter().flat_map(|t| pattern(t))),
                None => patterns.push(pattern(&word).ok_or_else(|| {
                    let words: Vec<&str> = WORDS.iter().map(|(name, _)| *name).collect();
                    let words = words.join(", ");
                    format!("{word:?} is no media type: text/html, image/*, or one of {words}")
                })?),
            }
        }
        Ok(MediaList { patterns })
    }

    /// Whether no type is named, so that all are wanted.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a type is wanted; what says nothing of its type is.
    pub fn admits(&self, essence: Option<&str>) -> bool {
        let Some(essence) = essence.filter(|essence| !essence.is_empty()) else { return true };
        let (kind, subtype) = essence.split_once('/').unwrap_or((essence, ""));
        let is_wanted = |p: &MediaPattern| {
            p.kind == kind && p.subtype.as_deref().is_none_or(|wanted| wanted == subtype)
        };
        self.is_empty() || self.patterns.iter().any(is_wanted)
    }

    /// Whether the type of an archive is named in full.
    pub fn names_archives(&self) -> bool {
        self.patterns.iter().any(|pattern| is_archive_type(&pattern.to_string()))
    }
}

fn pattern(text: &str) -> Option<MediaPattern> {
    let is_token = |part: &str| {
        let is_of_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
        !part.is_empty() && part.bytes().all(is_of_token)
    };
    let (kind, subtype) = text.split_once('/')?;
    let is_good = is_token(kind) && (subtype == "*" || is_token(subtype));
    let subtype = (subtype != "*").then(|| subtype.to_owned());
    is_good.then(|| MediaPattern { kind: kind.to_owned(), subtype })
}

impl fmt::Display for MediaPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.subtype.as_deref().unwrap_or("*"))
    }
}

impl fmt::Display for MediaList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, pattern) in self.patterns.iter().enumerate() {
            write!(f, "{}{pattern}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// Types of archives, packages of software and images of disks.
const ARCHIVE_TYPES: [&str; 28] = [
    "application/java-archive",
    "application/vnd.android.package-archive",
    "application/vnd.debian.binary-package",
    "application/vnd.ms-cab-compressed",
    "application/vnd.rar",
    "application/x-7z-compressed",
    "application/x-apple-diskimage",
    "application/x-bzip",
    "application/x-bzip2",
    "application/x-compressed-tar",
    "application/x-cpio",
    "application/x-deb",
    "application/x-debian-package",
    "application/x-gtar",
    "application/x-iso9660-image",
    "application/x-java-archive",
    "application/x-lzip",
    "application/x-lzma",
    "application/x-msdownload",
    "application/x-msi",
    "application/x-rar-compressed",
    "application/x-redhat-package-manager",
    "application/x-rpm",
    "application/x-tar",
    "application/x-xz",
    "application/x-zip-compressed",
    "application/zip",
    "application/zstd",
];

/// Endings of their names. Not `gz`, since texts come so, nor `exe`, since pages are called so.
const ARCHIVE_ENDINGS: [&str; 46] = [
    "7z", "apk", "appimage", "bz2", "cab", "cpio", "crx", "deb", "dmg", "ear", "egg", "flatpak",
    "gem", "img", "iso", "jar", "lz", "lz4", "lzma", "msi", "nupkg", "ova", "pkg", "qcow2", "rar",
    "rpm", "snap", "tar", "tbz", "tbz2", "tgz", "tlz", "txz", "tzst", "udeb", "vdi", "vhd", "vmdk",
    "war", "whl", "xpi", "xz", "z01", "zip", "zipx", "zst",
];

/// Whether a type, in lower case and without parameters, is that of an archive.
pub fn is_archive_type(essence: &str) -> bool {
    ARCHIVE_TYPES.binary_search(&essence).is_ok()
}

/// Whether the last segment of a path is the name of an archive.
pub fn is_archive_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    // Wikis have pages about files: `File:Tides.zip`.
    let Some((stem, ending)) = name.rsplit_once('.').filter(|_| !name.contains(':')) else {
        return false;
    };
    let is_packed_tar = ending == "gz" && (stem.ends_with(".tar") || stem.ends_with(".cpio"));
    is_packed_tar || ARCHIVE_ENDINGS.binary_search(&ending).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_by_name_by_family_and_by_word() {
        let list = MediaList::parse("html, Application/PDF,image/*").unwrap();
        for (essence, is_wanted) in [
            ("text/html", true),
            ("application/xhtml+xml", true),
            ("application/pdf", true),
            ("image/png", true),
            ("text/plain", false),
            ("application/zip", false),
            ("", true),
        ] {
            assert_eq!(list.admits(Some(essence)), is_wanted, "{essence}");
        }
        assert!(list.admits(None) && MediaList::default().admits(Some("x/y")));
        assert_eq!(MediaList::parse(&list.to_string()), Ok(list));
        for wrong in ["", "htm", "text", "text/", "/html", "te xt/html", "text/html,,"] {
            let read = MediaList::parse(wrong);
            assert_eq!(read.is_err(), wrong != "text", "{wrong:?}: {read:?}");
        }
    }

    #[test]
    fn archives_are_known_by_their_names_and_types() {
        assert!(ARCHIVE_TYPES.is_sorted() && ARCHIVE_ENDINGS.is_sorted());
        for name in ["/a/b.zip", "/x.TAR.GZ", "/y.tgz", "/debian.iso", "/lib-1.2.jar", "/p.deb"] {
            assert!(is_archive_name(name), "{name}");
        }
        for name in ["/zip", "/a.zip/", "/rfc.txt.gz", "/b.epub", "/wiki/File:A.zip", "/s.xml.gz"] {
            assert!(!is_archive_name(name), "{name}");
        }
        assert!(is_archive_type("application/zip") && !is_archive_type("application/epub+zip"));
        assert!(MediaList::parse("html,application/zip").unwrap().names_archives());
    }
}

//! The record a WARC file begins with: who made it, how, and under which rules.

use crate::date::warc_date;
use crate::pack::{Block, Headers, Packer, RecordKind, hashed_id, one_line};

/// Filled in by the caller once a run.
#[derive(Clone, Debug, Default)]
pub struct Warcinfo {
    /// Distinguishes the files of several machines: letters, digits and `-`, at most 32 of them.
    pub id: String,
    /// `rhumb/0.1.0 (https://…)`
    pub software: String,
    pub user_agent: String,
    /// `obey`, as in other crawlers' files.
    pub robots: String,
    /// Further fields, in order: `description`, `isPartOf`, `operator`, …
    pub fields: Vec<(String, String)>,
}

const ID_BYTES_MAX: usize = 32;
const ID_DEFAULT: &str = "local";

impl Warcinfo {
    /// The identifier as it may stand in a file's name.
    pub(crate) fn file_id(&self) -> String {
        let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
        let id: String = self.id.chars().filter(fits).take(ID_BYTES_MAX).collect();
        if id.is_empty() { ID_DEFAULT.to_string() } else { id }
    }

    pub(crate) fn pack(&self, packer: &mut Packer, file_name: &str, time_us: u64) -> Vec<u8> {
        let mut block = String::new();
        let own = [
            ("software", self.software.as_str()),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("robots", &self.robots),
            ("http-header-user-agent", &self.user_agent),
        ];
        let given = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.into_iter().chain(given).filter(|(_, value)| !value.is_empty()) {
            block.push_str(&format!("{}: {}\r\n", one_line(name), one_line(value)));
        }
        let id = hashed_id(&[b"warcinfo", file_name.as_bytes(), &time_us.to_le_bytes()]);
        let mut headers = Headers::new(RecordKind::Warcinfo, &id, &warc_date(time_us));
        headers.add("WARC-Filename", file_name);
        packer.single(headers, &Block::new("application/warc-fields", block.as_bytes()))
    }
}

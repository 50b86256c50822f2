//! A page as it is indexed.

use serde::{Deserialize, Serialize};

/// What is indexed of a page and kept of it. All but `id` may be empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchPage {
    /// Two pages of one id are two versions of one page: the later one is found.
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Texts of links that lead to it, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<String>,
    #[serde(default)]
    pub text: String,
    /// As declared (`en`, `de-AT`); detected where this is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// `html`, `pdf`, …
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The day it was published or last changed, `2024-05-01`, where it says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub day: String,
    /// When it was fetched, in seconds since 1970; 0 if it is not known.
    #[serde(default)]
    pub fetched: u32,
}

impl SearchPage {
    /// Bytes of text of one page that are indexed and kept; what follows is left out.
    pub const TEXT_BYTES_MAX: usize = 4 << 20;
    /// Texts of incoming links that are indexed.
    pub const ANCHORS_MAX: usize = 32;

    /// Cut to its limits.
    pub fn within_limits(mut self) -> SearchPage {
        if self.text.len() > Self::TEXT_BYTES_MAX {
            let end = self.text.floor_char_boundary(Self::TEXT_BYTES_MAX);
            self.text.truncate(end);
        }
        self.anchors.truncate(Self::ANCHORS_MAX);
        self
    }
}

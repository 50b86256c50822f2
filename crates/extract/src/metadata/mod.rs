//! What a page says about itself: title, author, dates, language, and so on, each with where it
//! was found and how far that can be trusted.
//!
//! Pages say the same thing in many places and rarely agree. Every place has a confidence, the
//! same for all pages; the most trusted one wins, and the earlier one among equals.

mod byline;
mod gather;
mod json_ld;
mod kind;
mod stated;
mod title;
mod written_day;

use serde::Serialize;

pub use kind::PageKind;
pub use stated::{Stated, StatedWhere};

pub(super) use gather::Gather;
pub(super) use kind::{Hints, kind_of};
pub(super) use stated::prefer;
pub(super) use title::settle as settle_title;

use rhumb_page::calendar::Date;
use rhumb_page::date::UnixSeconds;

/// Values kept of Open Graph and its like, of hreflang, and of JSON-LD types.
pub const VALUES_MAX: usize = 64;
/// Bytes kept of a value.
pub const VALUE_BYTES_MAX: usize = 2048;

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// The page's title, without the site's name if it is plain where that begins.
    pub title: Option<Stated<String>>,
    /// Who wrote it; several are separated by commas.
    pub author: Option<Stated<String>>,
    /// When it was first published.
    pub published: Option<Stated<StatedDate>>,
    /// When it was changed last.
    pub modified: Option<Stated<StatedDate>>,
    /// The language it declares.
    pub language: Option<Stated<String>>,
    /// The language its main text is in, as BCP 47 names it, if that can be told.
    pub language_detected: Option<Stated<String>>,
    /// The address it wants to be known by, as written.
    pub canonical: Option<String>,
    /// Its other languages: tag and address, as written.
    pub hreflang: Vec<(String, String)>,
    /// What it is about, in its own words.
    pub description: Option<Stated<String>>,
    /// The site's name.
    pub site_name: Option<Stated<String>>,
    /// `og:`, `article:`, `product:` and `twitter:` properties, as written.
    pub open_graph: Vec<(String, String)>,
    /// The types that its JSON-LD names.
    pub json_ld_types: Vec<String>,
    /// What `meta name=robots` says.
    pub robots: Option<String>,
    /// The feeds it declares, as written.
    pub feeds: Vec<String>,
    /// Its licence, as an address or a name.
    pub license: Option<String>,
    /// Words of its main text; a CJK character is one.
    pub words: u32,
    /// What kind of page it is.
    pub kind: PageKind,
}

/// A date, as written and as a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatedDate {
    /// As the page writes it.
    pub text: String,
    /// Seconds since 1970.
    pub unix_seconds: i64,
}

impl StatedDate {
    /// Reads a date, if it is one that a page may have: after the web began, before 2100.
    pub fn parse(text: &str) -> Option<StatedDate> {
        const WEB_BEGAN: i64 = 631_152_000;
        const YEAR_2100: i64 = 4_102_444_800;
        let text = text.trim();
        let written = || UnixSeconds::parse(&written_day::day_in(text)?);
        let seconds = UnixSeconds::parse(text)
            .or_else(|| UnixSeconds::parse(text.get(..10)?))
            .or_else(written)?
            .0;
        (WEB_BEGAN..YEAR_2100)
            .contains(&seconds)
            .then(|| StatedDate { text: text.to_owned(), unix_seconds: seconds })
    }

    /// The day in a text that names one in passing, `2024-05-01`.
    pub(super) fn within(text: &str) -> Option<StatedDate> {
        written_day::day_in(text).and_then(|day| StatedDate::parse(&day))
    }

    /// `2024-05-01`: where it was written if that is told, else in Greenwich.
    pub fn day(&self) -> String {
        if let Some(day) = self.text.get(..10)
            && day.bytes().zip(*b"dddd-dd-dd").all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                _ => byte == form,
            })
        {
            return day.to_owned();
        }
        Date::of_days(self.unix_seconds.div_euclid(86_400)).to_string()
    }
}

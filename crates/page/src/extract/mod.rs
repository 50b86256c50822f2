//! Main content: what a page is about, apart from what surrounds it.
//!
//! One pass over the tokens that also give the links, no tree: text is cut into `blocks` where
//! markup separates it, over an `outline` of the boxes they stand in. `features` say what is known
//! of a block in some hundred bytes; a compiled-in table of boosted trees (`forest`) makes odds of
//! them, a second look (`context`) weighs them against the neighbours', and `decode` takes the set
//! of blocks with the best F1 to be expected. When nothing is found there are `fallback`s.
//!
//! No rule here knows a language. The table was made by `examples/train_extract`.

mod blocks;
mod context;
mod decode;
mod extracted;
mod fallback;
mod features;
mod forest;
mod hints;
mod language;
pub mod lesson;
mod markdown;
pub mod metadata;
mod outline;
mod plateau;
mod reading;
mod surroundings;
mod table;
mod tally;
mod template;
mod titles;
mod words;

#[cfg(test)]
mod tests;

pub use extracted::{Extracted, MainText, Method, Options};
pub use metadata::{Date, Metadata, PageKind, Source, Stated};
pub use template::HostTemplate;

use reading::Reading;

use crate::charset;
use crate::html::{self, Limits};
use crate::url::Url;

/// Extracts from a page whose text is at hand.
///
/// ```
/// use rhumb_page::extract::{Options, extract};
/// use rhumb_page::url::Url;
///
/// let url = Url::parse("https://example.org/a").unwrap();
/// let html = "<title>Tides</title><nav><a href=/>Home</a></nav><article><h1>Tides</h1><p>The sea \
///             rises and falls twice a day, drawn by the moon, and by the sun a little.</article>";
/// let page = extract(html, &url, &Options::default());
/// assert!(page.main.contains("drawn by the moon"));
/// assert!(page.all.contains("Home"));
/// ```
pub fn extract(html: &str, url: &Url, options: &Options<'_>) -> Extracted {
    Reading::of(html).extracted(url, options)
}

/// Reads a page for its links and its main content in one pass.
pub fn read(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &Limits,
    options: &Options<'_>,
) -> (html::Page, Extracted) {
    observed(body, declared_charset, url, limits, |reading, url| reading.extracted(url, options))
}

/// Reads a page for its links and its main text in one pass, without what it says about itself:
/// the least that change detection and near-duplicates need.
///
/// ```
/// use rhumb_page::extract::read_main;
/// use rhumb_page::html::Limits;
/// use rhumb_page::url::Url;
///
/// let url = Url::parse("https://example.org/a").unwrap();
/// let before = "<article><h1>Tides</h1><p>The sea rises and falls twice a day, drawn by the \
///               moon, and by the sun a little.</article><footer>Seen by 7 people</footer>";
/// let after = before.replace("7 people", "8 people");
/// let main = |html: &str| read_main(html.as_bytes(), None, &url, &Limits::default(), None).1;
/// assert_eq!(main(before).fingerprint(), main(&after).fingerprint());
/// ```
pub fn read_main(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &Limits,
    template: Option<&HostTemplate>,
) -> (html::Page, MainText) {
    observed(body, declared_charset, url, limits, |reading, url| reading.main_text(url, template))
}

/// Reads a page for its links, and then asks its blocks for more.
fn observed<T>(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &Limits,
    then: impl FnOnce(Reading<'_>, &Url) -> T,
) -> (html::Page, T) {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let mut reading = Reading::new(decoded.text.len());
    let page = html::read_observed(&decoded.text, decoded.encoding, url, limits, &mut reading);
    reading.finish();
    let base = page.base.as_ref().unwrap_or(url);
    let more = then(reading, base);
    (page, more)
}

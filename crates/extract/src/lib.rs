//! Main content: what a page is about, apart from what surrounds it.
//!
//! One pass over the tokens that also give the links, no tree: text is cut into `blocks` where
//! markup separates it, over an `outline` of the boxes they stand in. `features` say what is known
//! of a block in some hundred bytes; a compiled-in table of boosted trees (`forest`) makes odds of
//! them, a second look (`context`) weighs them against the neighbours', and `decode` takes the set
//! of blocks with the best F1 to be expected. When nothing is found there are `fallback`s.
//!
//! No rule here knows a language. The table was made by `examples/train_extract`.

#![warn(missing_docs)]

mod anchors;
mod asides;
mod blocks;
mod code;
mod context;
mod decode;
pub mod document;
mod extracted;
mod fallback;
mod features;
mod forest;
mod hints;
pub mod language;
pub mod lesson;
mod markdown;
pub mod metadata;
mod one_pass;
mod outline;
mod plateau;
mod reading;
mod repeats;
mod surroundings;
mod table;
mod tally;
mod template;
mod titles;
mod words;

#[cfg(test)]
mod tests;

pub use extracted::{ExtractOptions, Extracted, MainText, Method};
pub use metadata::{Metadata, PageKind, Stated, StatedDate, StatedWhere};
pub use one_pass::{PageWanted, Told, read, read_main, read_wanted};
pub use template::HostTemplate;

use reading::Reading;
use rhumb_page::url::Url;

/// Extracts from a page whose text is at hand.
///
/// ```
/// use rhumb_extract::{ExtractOptions, extract};
/// use rhumb_page::url::Url;
///
/// let url = Url::parse("https://example.org/a").unwrap();
/// let html = "<title>Tides</title><nav><a href=/>Home</a></nav><article><h1>Tides</h1><p>The sea \
///             rises and falls twice a day, drawn by the moon, and by the sun a little.</article>";
/// let page = extract(html, &url, &ExtractOptions::default());
/// assert!(page.main.contains("drawn by the moon"));
/// assert!(page.all.contains("Home"));
/// ```
pub fn extract(html: &str, url: &Url, options: &ExtractOptions<'_>) -> Extracted {
    let mut reading = Reading::of(html);
    let weighed = reading.weighed(url);
    reading.extracted(&weighed, url, options)
}

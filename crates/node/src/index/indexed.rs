//! What is indexed of a page.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhumb_archive::Record;
use rhumb_extract::{ExtractOptions, Extracted, PageWanted, Told};
use rhumb_fetch::head::HeadBytes;
use rhumb_page::html::Anchor;
use rhumb_page::media::MediaKind;
use rhumb_page::robots::Directives;
use rhumb_page::url::Url;
use rhumb_search::SearchPage;
use rhumb_search::beside::day_of;

use crate::extract::{ExtractBody, ExtractedRow, Recorded, Wish, headings, is_requisite};

/// Main text that is less certain than this and shorter is none: a list of links must be found by
/// what it lists, so that all its text is indexed.
const MAIN_SURE: f32 = 0.5;
const MAIN_BYTES_MIN: usize = 200;
const WISH: Wish = Wish { keeps_all: false, markdown: false };
/// Letters of a file's ending that tells its type.
const ENDING_LETTERS_MAX: usize = 5;

/// What is to be found of a page from a record on.
#[derive(Debug, PartialEq)]
pub enum IndexedVersion {
    Page(Box<SearchPage>),
    /// It says nothing, is not to be found, or repeats another page: an earlier version of it is
    /// not found any more, either.
    Nothing,
    /// What was found before, fetched again at this second since 1970.
    Unchanged {
        fetched: u32,
    },
}

/// What a record brings into the index.
pub struct IndexedPage {
    /// The page's URL.
    pub id: String,
    pub version: IndexedVersion,
    /// Where its links lead, and what they say.
    pub anchors: Vec<Anchor>,
}

impl IndexedPage {
    fn nothing(body: &ExtractBody<'_>) -> IndexedPage {
        let id = body.url.as_str().to_owned();
        IndexedPage { id, version: IndexedVersion::Nothing, anchors: Vec::new() }
    }

    /// An HTML page, and whatever else is wanted of it, in one pass. No template of its host is
    /// used: it depends on what was read before.
    pub fn of_html(body: &ExtractBody<'_>, wanted: &PageWanted<'_>) -> (Told, IndexedPage) {
        let options = ExtractOptions { markdown: true, ..ExtractOptions::default() };
        let with_text = PageWanted { extracted: Some(options), anchors: true, ..*wanted };
        // The extractor has no state that a panic could leave half changed.
        let Ok(mut told) = catch_unwind(AssertUnwindSafe(|| body.told(&with_text))) else {
            let links = PageWanted { main_text: false, ..*wanted };
            return (body.told(&links), IndexedPage::nothing(body));
        };
        let mut indexed = IndexedPage::nothing(body);
        let directives = told.page.robots_for(body.token).merge(body.asks);
        // Who wants them besides keeps them: a topic goes by what links say.
        let anchors = match wanted.anchors {
            true => told.anchors.clone(),
            false => std::mem::take(&mut told.anchors),
        };
        if !directives.nofollow {
            indexed.anchors = anchors;
        }
        if let Some(found) = told.extracted.take()
            && !directives.noindex
        {
            let page = page_of(body, found, told.page.title.as_deref());
            indexed.version = IndexedVersion::Page(Box::new(page));
        }
        (told, indexed)
    }

    /// A document of another format, from its row.
    pub fn of_row(body: &ExtractBody<'_>, row: Option<&ExtractedRow>) -> IndexedPage {
        let mut indexed = IndexedPage::nothing(body);
        let is_list = body.kind() == MediaKind::Sitemap;
        let Some(row) = row.filter(|row| row.error.is_none() && !is_list && !body.asks.noindex)
        else {
            return indexed;
        };
        let or_nothing = |text: &Option<String>| text.clone().unwrap_or_default();
        indexed.version = IndexedVersion::Page(Box::new(SearchPage {
            title: or_nothing(&row.title),
            text: row.text.clone(),
            language: or_nothing(&row.language),
            day: or_nothing(if row.modified.is_some() { &row.modified } else { &row.published }),
            ..bare(body)
        }));
        indexed
    }

    /// A page whose payload is that of `original`, so that it was not kept again: itself,
    /// unchanged, or a copy of another page, which is found instead.
    pub fn revisited(url: &Url, original: &Url, fetched: u32) -> IndexedPage {
        let is_itself = url == original;
        let version =
            if is_itself { IndexedVersion::Unchanged { fetched } } else { IndexedVersion::Nothing };
        IndexedPage { id: url.as_str().to_owned(), version, anchors: Vec::new() }
    }

    /// What a record of an archive holds; none if that is no page.
    pub fn of_record(record: &Record, token: &str) -> Option<IndexedPage> {
        if record.kind() == "revisit" {
            let url = |name: &str| Url::parse(record.field(name)?).ok();
            let original = url("WARC-Refers-To-Target-URI")?;
            let fetched = seconds(record.field("WARC-Date").unwrap_or_default());
            return Some(IndexedPage::revisited(&url("WARC-Target-URI")?, &original, fetched));
        }
        let recorded = Recorded::of(record).filter(|_| !is_requisite(record))?;
        let url = Url::parse(record.target()?).ok()?;
        let body = ExtractBody {
            url: &url,
            fetched: record.field("WARC-Date").unwrap_or_default(),
            content_type: recorded.content_type.as_deref(),
            asks: Directives::of_headers(HeadBytes::new(record.http_head()).x_robots_tags(), token),
            token,
            bytes: &recorded.body,
            is_cut: recorded.is_cut,
        };
        IndexedPage::of_body(&body)
    }

    /// What a body is to the index; none of robots.txt.
    pub fn of_body(body: &ExtractBody<'_>) -> Option<IndexedPage> {
        if !body.has_row() {
            return None;
        }
        Some(match body.kind() {
            MediaKind::Html => IndexedPage::of_html(body, &PageWanted::default()).1,
            _ => IndexedPage::of_row(body, body.row(None, WISH).as_ref()),
        })
    }
}

fn page_of(body: &ExtractBody<'_>, found: Extracted, title: Option<&str>) -> SearchPage {
    let is_sure = found.confidence >= MAIN_SURE || found.main.len() >= MAIN_BYTES_MIN;
    let metadata = found.metadata;
    let language = metadata.language.or(metadata.language_detected);
    let day = metadata.modified.or(metadata.published);
    let stated = metadata.title.map(|said| said.value);
    SearchPage {
        title: stated.or(title.map(str::to_owned)).unwrap_or_default(),
        headings: headings(found.markdown.as_deref().unwrap_or_default()),
        text: if is_sure { found.main } else { found.all },
        language: language.map(|said| said.value).unwrap_or_default(),
        day: day.map(|said| said.value.day()).unwrap_or_default(),
        ..bare(body)
    }
}

/// What is known of a page before it is read.
fn bare(body: &ExtractBody<'_>) -> SearchPage {
    SearchPage {
        id: body.url.as_str().to_owned(),
        url: body.url.as_str().to_owned(),
        kind: kind(body),
        fetched: seconds(body.fetched),
        ..SearchPage::default()
    }
}

/// The type of a page in a word, as `type:` has it.
fn kind(body: &ExtractBody<'_>) -> String {
    match body.kind() {
        MediaKind::Html => "html",
        MediaKind::Pdf => "pdf",
        MediaKind::Feed => "feed",
        MediaKind::Text => "text",
        MediaKind::Xml => "xml",
        _ => {
            let ending = body.url.path().rsplit('.').next().unwrap_or_default();
            let is_one = (1..=ENDING_LETTERS_MAX).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return if is_one { ending.to_ascii_lowercase() } else { "document".to_owned() };
        }
    }
    .to_owned()
}

/// Seconds since 1970 of a WARC date; 0 if it is none.
fn seconds(date: &str) -> u32 {
    let number = |from: usize| date.get(from..from + 2).and_then(|two| two.parse::<i64>().ok());
    let (Some(hour), Some(minute), Some(second)) = (number(11), number(14), number(17)) else {
        return 0;
    };
    let seconds = i64::from(day_of(date)) * 86_400 + hour * 3600 + minute * 60 + second;
    u32::try_from(seconds).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str, noindex: bool) -> IndexedPage {
        let url = Url::parse("https://e.org/a").expect("a URL");
        let body = ExtractBody {
            url: &url,
            fetched: "2024-05-01T10:00:01.5Z",
            content_type: Some("text/html"),
            asks: Directives { noindex, ..Directives::default() },
            token: "rhumb",
            bytes: html.as_bytes(),
            is_cut: false,
        };
        IndexedPage::of_body(&body).expect("a page")
    }

    #[test]
    fn a_page_is_indexed_with_what_its_links_say_unless_it_asks_not_to_be() {
        let html = "<title>Tides</title><h1>Tides</h1><p>The sea rises and falls twice a day, \
                    drawn by the moon, and by the sun a little. <a href=/moon>The moon</a></p>";
        let indexed = of(html, false);
        let IndexedVersion::Page(page) = indexed.version else { panic!("no page") };
        assert_eq!((page.id.as_str(), page.kind.as_str()), ("https://e.org/a", "html"));
        assert!(page.text.contains("drawn by the moon") && page.title == "Tides");
        assert_eq!(page.fetched, 1_714_557_601);
        assert_eq!(indexed.anchors[0].text, "The moon");
        assert_eq!(of(html, true).version, IndexedVersion::Nothing);
        let asking = |what: &str| of(&format!("<meta name=robots content={what}>{html}"), false);
        let noindex = asking("noindex");
        assert!(noindex.version == IndexedVersion::Nothing && !noindex.anchors.is_empty());
        let nofollow = asking("nofollow");
        assert!(matches!(nofollow.version, IndexedVersion::Page(_)) && nofollow.anchors.is_empty());
    }
}

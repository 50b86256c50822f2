//! What must hold for any bytes. The fuzz targets run these on libFuzzer's input, and the page
//! crate's `tests/mutations.rs` runs them on seeded mutations under `cargo test`.
//!
//! `cargo +nightly fuzz run html -- -max_total_time=60` in the folder above this one; the targets
//! are url, robots, html, html_differential, css, sitemap, feed, extract, charset and
//! document.

use rhumb_extract::document;
use rhumb_extract::{ExtractOptions, HostTemplate, PageWanted};
use rhumb_page::html::{self, PageLimits, Token, Tokenizer};
use rhumb_page::robots::Robots;
use rhumb_page::url::Url;
use rhumb_page::{charset, css, feed, media, sitemap};

fn base() -> Url {
    Url::parse("https://a.test/dir/page?q").expect("a URL")
}

/// A URL is canonical: parsing its text gives the same one, and its key leads back to it.
pub fn url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (left, right) = text.split_once('\n').unwrap_or((&text, ""));
    let from = Url::parse(left).unwrap_or_else(|_| base());
    for url in [Url::parse(left), from.join(right), from.join(left)].into_iter().flatten() {
        assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url));
        assert_eq!(url.key().url(), url);
        assert_eq!(url.join("").as_ref(), Ok(&url));
        let _ = (url.host_key().site(), url.surt());
    }
}

/// Any robots.txt answers for any URL.
pub fn robots(data: &[u8]) {
    let robots = Robots::parse(data, "rhumb");
    let text = String::from_utf8_lossy(data);
    let line = text.lines().next().unwrap_or_default();
    let _ = robots.allows(&base());
    let _ = robots.verdict_of_text(line);
    let _ = (robots.crawl_delay(), robots.sitemaps().len());
}

/// Both ways of reading agree, the fingerprint is that of the text, and the text is folded.
pub fn html(data: &[u8]) {
    let limits = PageLimits { links_max: 50 };
    let page = html::read(data, None, &base(), &limits);
    let (with_text, text) = html::read_with_text(data, None, &base(), &limits);
    assert_eq!(page.text, with_text.text);
    assert_eq!(page.text.hash, xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
    assert_eq!(page.text.bytes, text.len() as u64);
    assert_eq!(page.links, with_text.links);
    let alone =
        rhumb_extract::read_wanted(data, None, &base(), &limits, &PageWanted::default()).page;
    assert_eq!(page.links, alone.links);
    assert_eq!((&page.title, &page.canonical), (&alone.title, &alone.canonical));
    assert_eq!(page.robots, alone.robots);
    assert!(page.links.len() <= limits.links_max);
    assert!(!text.starts_with([' ', '\n']) && !text.ends_with([' ', '\n']));
    for unfolded in ["  ", " \n", "\n ", "\n\n", "\t", "\r", "\0"] {
        assert!(!text.contains(unfolded));
    }
    for (i, link) in page.links.iter().enumerate() {
        assert!(page.links[..i].iter().all(|earlier| earlier.url != link.url));
    }
    let decoded = charset::decode(data, None, Some("a.test"));
    let mut tokens = Tokenizer::new(&decoded.text);
    let mut position = 0;
    while let Some(token) = tokens.next() {
        assert!(tokens.position() > position, "every token takes some of the page");
        position = tokens.position();
        if let Token::Start(start) = token {
            let _ = start.attributes().map(|attribute| attribute.value().len()).sum::<usize>();
        }
    }
}

/// A stylesheet of any bytes stays within its bound, and names each URL once; what a page is shown
/// with is found beside its links, which are the same.
pub fn css(data: &[u8]) {
    let (found, _) = css::read(data, None, &base(), 50);
    assert!(found.len() <= 50);
    for (i, requisite) in found.iter().enumerate() {
        assert!(found[..i].iter().all(|earlier| earlier.url != requisite.url));
    }
    let limits = PageLimits { links_max: 50 };
    let wanted = PageWanted { requisites_max: Some(50), ..PageWanted::default() };
    let told = rhumb_extract::read_wanted(data, None, &base(), &limits, &wanted);
    assert!(told.requisites.0.len() <= 50);
    assert_eq!(told.page.links, html::read(data, None, &base(), &limits).links);
}

/// A sitemap of any bytes stays within its limits.
pub fn sitemap(data: &[u8]) {
    let sitemap = sitemap::read(data, None, &base());
    assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= sitemap::ENTRIES_MAX);
}

/// A feed of any bytes stays within its limits, and the kind of any body can be told.
pub fn feed(data: &[u8]) {
    let feed = feed::read(data, None, &base());
    assert!(feed.entries.len() <= feed::ENTRIES_MAX);
    let text = String::from_utf8_lossy(data);
    let _ = media::kind(text.lines().next(), data);
}

/// Links and the text that is a page's own are what they are without extraction, its main text is
/// the same with and without the rest, and a page with words has some.
pub fn extract(data: &[u8]) {
    let limits = PageLimits { links_max: 50 };
    let options = ExtractOptions { markdown: true, ..ExtractOptions::default() };
    let extracted = Some(options);
    let wanted = PageWanted {
        own_text: true,
        main_text: true,
        extracted,
        fingerprint: true,
        anchors: true,
        surroundings: true,
        requisites_max: Some(50),
        scripts: true,
    };
    let told = rhumb_extract::read_wanted(data, None, &base(), &limits, &wanted);
    let (page, own_text) = html::read_with_own_text(data, None, &base(), &limits);
    assert_eq!(told.page.links, page.links);
    assert_eq!((told.page.text, told.own_text), (page.text, Some(own_text)));
    let found = told.extracted.expect("it was wanted");
    assert_eq!(told.main_text.map(|main| main.text).as_ref(), Some(&found.main));
    assert!((0.0..=1.0).contains(&found.confidence));
    let has_words = found.all.contains(char::is_alphanumeric);
    assert!(!has_words || !found.main.is_empty(), "a page with text has a main text");
    // Whoever wants less of a page is told the same of its scripts.
    let scripts = PageWanted { scripts: true, ..PageWanted::default() };
    let alone = rhumb_extract::read_wanted(data, None, &base(), &limits, &scripts);
    assert_eq!(alone.scripts.is_scripted, found.is_scripted);
    assert_eq!((alone.scripts.links, alone.page.links), (told.scripts.links, told.page.links));
    let mut template = HostTemplate::new();
    template.learn(&found.blocks);
    let known = ExtractOptions { template: Some(&template), ..ExtractOptions::default() };
    let _ = rhumb_extract::extract(&charset::decode(data, None, None).text, &base(), &known);
}

/// Any bytes under any label become text.
pub fn charset(data: &[u8]) {
    let label = data.first().map(|byte| match byte % 8 {
        0 => "utf-8",
        1 => "utf-16",
        2 => "shift_jis",
        3 => "gb18030",
        4 => "iso-2022-jp",
        5 => "windows-1252",
        6 => "replacement",
        _ => "no such label",
    });
    let decoded = charset::decode(data, label, Some("a.test"));
    assert!(decoded.text.len() <= data.len() * 3 + 3);
    let _ = charset::decode(data, None, None);
}

/// A document of any format and any bytes is read, or not, but never more than it may be.
pub fn document(data: &[u8]) {
    let office = "application/vnd.openxmlformats-officedocument.";
    let office =
        ["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"]
            .map(|kind| format!("{office}{kind}"));
    let others = [
        "application/pdf",
        "application/json",
        "text/plain",
        "text/html",
        "",
        "application/vnd.oasis.opendocument.text",
    ];
    for media in others.into_iter().chain(office.iter().map(String::as_str)) {
        if let Some(read) = document::read(Some(media), data, &base()) {
            assert!(read.text.len() <= document::TEXT_BYTES_MAX);
            assert!(read.links.len() <= document::LINKS_MAX);
        }
    }
}

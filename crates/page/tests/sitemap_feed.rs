//! Sitemaps and feeds as the web writes them, whole and broken.

use std::io::Write;

use rhumb_page::sitemap::{self, ChangeFrequency, ENTRIES_MAX, Sitemap, SitemapForm};
use rhumb_page::url::Url;
use rhumb_page::{date::UnixSeconds, feed};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn read_sitemap(body: &[u8]) -> Sitemap {
    sitemap::read(body, None, &url("https://a.test/sitemap.xml"))
}

fn pages(sitemap: &Sitemap) -> Vec<&str> {
    sitemap.pages.iter().map(|entry| entry.url.as_str()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const URLSET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
    <url><loc> https://a.test/1?a=1&amp;b=&#50; </loc><lastmod>2024-05-01</lastmod>
         <changefreq>Weekly</changefreq>
         <image:image><image:loc>https://a.test/i.png</image:loc></image:image></url>
    <url><loc><![CDATA[https://a.test/2]]></loc><lastmod>soon</lastmod></url>
    <url><lastmod>2024-05-01</lastmod></url><url><loc>http://[</loc></url>
    </urlset>"#;

#[test]
fn a_urlset_gives_its_pages_and_what_they_say_of_themselves() {
    let sitemap = read_sitemap(URLSET.as_bytes());
    assert_eq!(pages(&sitemap), ["https://a.test/1?a=1&b=2", "https://a.test/2"]);
    assert_eq!(sitemap.pages[0].modified, Some(UnixSeconds(1_714_521_600)));
    assert_eq!(sitemap.pages[0].changes, Some(ChangeFrequency::Weekly));
    assert_eq!((sitemap.pages[1].modified, sitemap.entries_refused), (None, 2));
    assert_eq!(sitemap.broken, None);
    assert_eq!(read_sitemap(&gzip(URLSET.as_bytes())), sitemap);
}

#[test]
fn an_index_gives_further_sitemaps_whatever_its_prefix() {
    let index = "\u{FEFF}<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>/s1.xml.gz</sm:loc>\
        <sm:lastmod>2024</sm:lastmod></sm:sitemap></sm:sitemapindex>";
    let sitemap = read_sitemap(index.as_bytes());
    assert_eq!(sitemap.sitemaps[0].url, url("https://a.test/s1.xml.gz"));
    assert!(sitemap.pages.is_empty() && sitemap.broken.is_none());
}

#[test]
fn plain_lines_and_feeds_serve_as_sitemaps() {
    let lines = read_sitemap(b"https://a.test/1\r\n\r\n  https://a.test/2\nhttp://[\n");
    assert_eq!(pages(&lines), ["https://a.test/1", "https://a.test/2"]);
    assert_eq!(lines.entries_refused, 1);
    let feed = read_sitemap(b"<rss><channel><item><link>/3</link></item></channel></rss>");
    assert_eq!(pages(&feed), ["https://a.test/3"]);
    assert_eq!((lines.form, feed.form), (Some(SitemapForm::Lines), Some(SitemapForm::Feed)));
    assert_eq!(read_sitemap(&gzip(b"HTTPS://a.test/1\n")).form, Some(SitemapForm::Lines));
}

#[test]
fn prose_and_pages_are_no_sitemaps_and_their_lines_no_urls() {
    for body in [
        "Our site map\nThe shop\nhttps://a.test/shop\n",
        "{\"error\": \"not found\"}",
        "<!DOCTYPE html><html><p>There is no sitemap here.</html>",
        "<p>404",
        "",
    ] {
        let sitemap = read_sitemap(body.as_bytes());
        assert_eq!(sitemap.form, None, "{body}");
        assert!(sitemap.sitemaps.is_empty() && sitemap.pages.len() < 2, "{sitemap:?}");
    }
    let index = read_sitemap(b"<sitemapindex></sitemapindex>");
    assert_eq!((index.form, index.broken), (Some(SitemapForm::Xml), None), "empty, and a sitemap");
}

#[test]
fn a_broken_sitemap_gives_what_came_before_the_break() {
    let cut = URLSET.find("<url><lastmod>").unwrap();
    let mut torn_markup = URLSET[..cut].to_owned();
    torn_markup.push_str("</loc></url><url><loc>https://a.test/late</loc></url>");
    let whole_gzip = gzip(&URLSET.as_bytes()[..cut]);
    for body in [
        URLSET.as_bytes()[..cut].to_vec(),
        torn_markup.into_bytes(),
        whole_gzip[..whole_gzip.len() - 4].to_vec(),
    ] {
        let sitemap = read_sitemap(&body);
        assert_eq!(sitemap.pages.len(), 2, "{sitemap:?}");
        assert!(sitemap.broken.is_some());
    }
    assert!(read_sitemap(b"<html></html>").broken.is_some());
    assert!(read_sitemap(&gzip(b"")[..5]).broken.is_some());
}

#[test]
fn bombs_and_endless_lists_stay_within_their_limits() {
    let bomb = read_sitemap(&gzip(&vec![b' '; sitemap::UNPACKED_BYTES_MAX + 1]));
    assert!(bomb.broken.unwrap().contains("unpacks to more than"));
    let entities = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\
        <urlset><url><loc>/&b;</loc></url></urlset>";
    assert_eq!(pages(&read_sitemap(entities.as_bytes())), ["https://a.test/&b;"]);
    let many = read_sitemap("https://a.test/\n".repeat(ENTRIES_MAX + 3).as_bytes());
    assert_eq!((many.pages.len(), many.entries_beyond), (ENTRIES_MAX, 3));
    assert!(read_sitemap("<a>".repeat(100_000).as_bytes()).broken.unwrap().contains("nested"));
}

fn entries(body: &str) -> Vec<(String, Option<i64>, Option<i64>)> {
    let feed = feed::read(body.as_bytes(), None, &url("https://a.test/feed/"));
    assert_eq!(feed.broken, None);
    let seconds = |time: Option<UnixSeconds>| time.map(|time| time.0);
    let row =
        |e: &feed::FeedEntry| (e.url.as_str().to_owned(), seconds(e.published), seconds(e.updated));
    feed.entries.iter().map(row).collect()
}

#[test]
fn the_four_kinds_of_feed_give_links_with_dates() {
    let may_first = Some(1_714_550_400);
    let rss = r#"<rss version="2.0" xmlns:atom="x"><channel><link>https://a.test/</link>
        <atom:link rel="self" href="https://a.test/feed/"/>
        <item><title>1 &nbsp; & 2</title><link>https://a.test/1?x&amp;y</link>
            <pubDate>Wed, 01 May 2024 08:00:00 GMT</pubDate><guid>https://a.test/other</guid></item>
        <item><guid isPermaLink="false">tag:1</guid></item>
        <item><guid>https://a.test/2</guid></item></channel></rss>"#;
    assert_eq!(
        entries(rss),
        [("https://a.test/1?x&y".into(), may_first, None), ("https://a.test/2".into(), None, None)]
    );
    let rdf = r#"<rdf:RDF xmlns:rdf="x" xmlns:dc="y"><channel><link>/</link></channel>
        <item rdf:about="/1"><link>/1</link>
            <dc:date>2024-05-01T10:00:00+02:00</dc:date></item></rdf:RDF>"#;
    assert_eq!(entries(rdf), [("https://a.test/1".into(), may_first, None)]);
    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.test/x/">
        <link href="/"/>
        <entry><link rel="edit" href="/edit"/><link href="1"/><link rel="alternate" href="2"/>
            <updated>2024-05-01T08:00:00Z</updated>
            <published>2024-05-01T08:00:00Z</published></entry>
        <entry xml:base="y/"><link rel="alternate" href="3"/></entry></feed>"#;
    assert_eq!(
        entries(atom),
        [
            ("https://b.test/x/1".into(), may_first, may_first),
            ("https://b.test/x/y/3".into(), None, None)
        ]
    );
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "items": [
        {"id": "1", "url": "/1", "date_published": "2024-05-01T08:00:00Z"}, {"id": 2}]}"#;
    assert_eq!(entries(json), [("https://a.test/1".into(), may_first, None)]);
}

#[test]
fn a_broken_feed_gives_what_came_before_the_break() {
    let url = url("https://a.test/");
    let torn = "<rss><channel><item><link>/1</link></item><item><link>/2</li";
    let feed = feed::read(torn.as_bytes(), None, &url);
    assert_eq!((feed.entries.len(), feed.broken.is_some()), (1, true));
    assert!(feed::read(b"{\"items\": [", None, &url).broken.is_some());
    assert!(feed::read(b"<html><item><link>/</link></item></html>", None, &url).entries.is_empty());
}

#[test]
fn a_feed_in_another_charset_is_read_by_its_declaration() {
    let body = b"<?xml version='1.0' encoding='windows-1251'?>\
        <rss><channel><item><link>/\xCF</link></item></channel></rss>";
    let feed = feed::read(body, None, &url("https://a.test/"));
    assert_eq!(feed.entries[0].url, url("https://a.test/\u{41F}"));
}

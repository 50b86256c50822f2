//! What `read` makes of small pages; the big ones are compared with html5ever in
//! `tests/html_differential.rs`.

use super::*;
use crate::url::Url;

fn page(html: &str) -> Page {
    read(html.as_bytes(), None, &url("http://a.test/dir/page"), &PageLimits::default())
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn links(html: &str) -> Vec<String> {
    page(html).links.iter().map(|link| format!("{:?} {}", link.kind, link.url.as_str())).collect()
}

fn visible(html: &str) -> String {
    let url = url("http://a.test/");
    let (page, text) = read_with_text(html.as_bytes(), None, &url, &PageLimits::default());
    assert_eq!(page.text.hash, xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
    text
}

#[test]
fn every_kind_of_link_is_found_in_order_and_once() {
    let html = r##"<!DOCTYPE html><html lang="de-AT"><head><title> A
        &amp; B </title><meta name=ROBOTS content="noindex"><meta name="rhumb" content="nofollow">
        <link rel="Canonical" href="/canonical"><link rel=stylesheet href=/style.css>
        <link rel="alternate stylesheet" href=/other.css><link rel=icon href=/icon.png>
        <link rel=alternate hreflang=fr href=/fr>
        <link rel=alternate type=application/rss+xml href=/rss>
        <link rel=next href=?p=2><link rel=prev href=?p=0>
        <meta http-equiv=refresh content="3; url=/refreshed"></head>
        <body><a href=one>1</a><a href='one#part'>1</a><area href="two&amp;x=&copy=1">
        <iframe src=//b.test/f></iframe>
        <a href="#top"></a><a href="mailto:x@y"></a><a href=" /three "></a><a>no</a><a href></a>
        <svg><a xlink:href="/svg"><title>Not the title</title></a></svg>
        <noscript><a href=/noscript></a></noscript><template><a href=/template></a></template>
        <script>"<a href=/script>"</script><textarea><a href=/textarea></textarea>
        <!-- <a href=/comment> -->
        </body></html>"##;
    expect_test(
        &links(html),
        "Canonical http://a.test/canonical
         Alternate http://a.test/fr
         Feed http://a.test/rss
         Next http://a.test/dir/page?p=2
         Previous http://a.test/dir/page?p=0
         Refresh http://a.test/refreshed
         Anchor http://a.test/dir/one
         Area http://a.test/dir/two&x=&copy=1
         Frame http://b.test/f
         Anchor http://a.test/three
         Anchor http://a.test/svg
         Anchor http://a.test/noscript",
    );
    let page = page(html);
    assert_eq!(page.title.as_deref(), Some("A & B"));
    assert_eq!(page.language.as_deref(), Some("de-AT"));
    assert_eq!(page.canonical, Some(url("http://a.test/canonical")));
    assert_eq!(page.feeds, [url("http://a.test/rss")]);
    assert!(page.robots.noindex && !page.robots.nofollow && page.robots_for("Rhumb").nofollow);
}

fn expect_test(got: &[String], expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(got, expected);
}

#[test]
fn the_first_base_counts_for_links_before_it_too() {
    let html = "<a href=x>1</a><base target=_top><base href='/b/'><base href=/c/><a href=y>2</a>";
    assert_eq!(links(html), ["Anchor http://a.test/b/x", "Anchor http://a.test/b/y"]);
    assert_eq!(page(html).base, Some(url("http://a.test/b/")));
    assert_eq!(links("<base href='http://['><a href=x>"), ["Anchor http://a.test/dir/x"]);
}

#[test]
fn a_url_is_nofollow_only_if_all_links_to_it_are() {
    let html = "<a rel='x NoFollow' href=a></a><a rel=nofollow href=b></a><a href=./b></a>";
    let nofollow: Vec<bool> = page(html).links.iter().map(|link| link.nofollow).collect();
    assert_eq!(nofollow, [true, false]);
}

#[test]
fn links_beyond_the_limit_are_counted() {
    let html = "<a href=a></a><a href=b></a><a href=b></a><a href=c></a>";
    let limits = PageLimits { links_max: 2 };
    let page = read(html.as_bytes(), None, &url("http://a.test/"), &limits);
    assert_eq!((page.links.len(), page.links_beyond), (2, 2));
}

#[test]
fn visible_text_is_folded_and_leaves_out_what_is_not_shown() {
    let html = "<title>no</title><style>no</style><p> One&nbsp;<b>two</b>three\n\n four<br>five</p>\
        <script>no</script><div>six<!-- no -->seven</div>\
        <svg><style>no</style><text>eight</text></svg>\
        <template>no</template><iframe>no</iframe>a < b &lt; c";
    assert_eq!(visible(html), "One\u{a0}twothree four\nfive\nsixseven\neight\na < b < c");
    assert_eq!(visible("<p>a<p>b"), visible("<DIV>\n a\n</DIV><!-- x --><p class=y>b</p>"));
    assert_ne!(visible("<p>a<p>b"), visible("<p>ab"));
}

#[test]
fn svg_and_math_change_the_rules_until_they_end() {
    let cdata = "<svg><![CDATA[<a href=/x>]]></svg><![CDATA[<a href=/y>]]>";
    assert_eq!(visible(cdata), "<a href=/x>\n]]>");
    assert_eq!(links("<svg><style><a href=/in></style></svg>"), ["Anchor http://a.test/in"]);
    assert_eq!(
        links("<svg><style/><a href=/a></svg><style><a href=/b>"),
        ["Anchor http://a.test/a"]
    );
    let object = "<svg><foreignObject><style><a href=/a></style></foreignObject><a href=/b>";
    assert_eq!(links(object), ["Anchor http://a.test/b"]);
    assert_eq!(links("<svg><div><style><a href=/a></style>"), Vec::<String>::new());
    assert_eq!(page("<svg><title>icon</title></svg><title>page</title>").title.unwrap(), "page");
}

#[test]
fn a_page_in_another_charset_is_read_as_it_was_meant() {
    let html = b"<meta charset=windows-1251><title>\xCF\xF0\xE8\xE2\xE5\xF2</title>";
    let page = read(html, None, &url("http://a.test/"), &PageLimits::default());
    assert_eq!((page.title.as_deref(), page.charset), (Some("Привет"), "windows-1251"));
}

#[test]
fn links_of_a_page_in_another_charset_have_their_queries_in_it() {
    let html = b"<meta charset=windows-1252><a href='/\xE9?q=\xE9'><a href='?p=&eacute;&#8364;'>\
        <link rel=canonical href='/c?\xE9'><meta http-equiv=refresh content='5; url=/r?\xE9'>";
    let page = read(html, None, &url("http://a.test/"), &PageLimits::default());
    let links: Vec<&str> = page.links.iter().map(|link| link.url.path_and_query()).collect();
    assert_eq!(links, ["/%C3%A9?q=%E9", "/?p=%E9%80", "/c?%E9", "/r?%E9"]);
    assert_eq!(page.canonical, Some(url("http://a.test/c?%E9")));
}

#[test]
fn hostile_pages_take_linear_time() {
    // Would take minutes if anything here were quadratic.
    const BYTES: usize = 2_000_000;
    let repeated = |piece: &str| piece.repeat(BYTES / piece.len());
    for piece in [
        "<",
        "<!--",
        "<!-- >",
        "<div>",
        "<div ",
        "<a href=\"",
        "<a href='x' ",
        "&",
        "&#",
        "&a",
        "</",
        "<![CDATA[",
        "&CounterClockwiseContourIntegra",
        "<svg>",
        "<svg><![CDATA[",
        "<template>",
        "<script>",
        "<script><!--",
        "<script><!--<script>",
        "</script",
        "<title>",
        "-->",
        "=",
        "<a a=\"=\"",
        " ",
        "<base href=x>",
        "<x y",
        "\0",
        "<svg><foreignObject>",
        "<textarea></textare",
        "<a href=/x>",
        "<meta name=x content=noindex>",
    ] {
        page(&repeated(piece));
        page(&format!("<script>{}", repeated(piece)));
        page(&format!("<title>{}", repeated(piece)));
        page(&format!("<a href=\"{}", repeated(piece)));
        page(&format!("<svg>{}", repeated(piece)));
    }
}

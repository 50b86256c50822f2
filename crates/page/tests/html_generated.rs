//! Our one pass against html5ever's tree, on generated pages: hostile markup from a small grammar.
//!
//! Left out of the grammar is what only a tree can tell, and what we read differently on purpose:
//! `frame` and `frameset` (a tree builder drops either one outside the other; we take the link),
//! and `svg` or `math` left unclosed with end tags after them (what these close depends on which
//! elements are open outside; we take them to be open).

mod html_truth;

use html_truth::truth;
use proptest::prelude::*;
use rhumb_extract::{PageWanted, read_wanted};
use rhumb_page::html::{Link, PageLimits, read_with_text};
use rhumb_page::url::Url;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn generated_pages_give_the_links_and_text_that_html5ever_gives(pieces in page()) {
        let html: String = pieces.concat();
        let url = Url::parse("http://page.test/a/b").unwrap();
        let expected = truth(&html);
        let (page, text) = read_with_text(html.as_bytes(), Some("utf-8"), &url, &PageLimits::default());
        let base = expected.base.as_ref().and_then(|base| url.join(base).ok());
        prop_assert_eq!(&page.base, &base, "base of {}", html);
        let resolver = base.as_ref().unwrap_or(&url);
        let mut links: Vec<String> = Vec::new();
        for (kind, reference) in &expected.references {
            let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
            let Ok(url) = resolver.join(reference) else { continue };
            let link = format!("{kind} {}", url.as_str());
            let is_elsewhere = !trimmed.is_empty() && !trimmed.starts_with('#');
            let is_repeat = links.iter().any(|seen| seen.split(' ').nth(1) == Some(url.as_str()));
            if is_elsewhere && !is_repeat {
                links.push(link);
            }
        }
        let shown = |link: &Link| format!("{:?} {}", link.kind, link.url.as_str());
        let ours: Vec<String> = page.links.iter().map(shown).collect();
        prop_assert_eq!(ours, links, "links of {}", html);
        let shown: String = text.chars().filter(|c| *c > ' ').collect();
        prop_assert_eq!(shown, expected.text, "text of {}", html);
        // Where nobody wants the text, text and end tags are passed over: with the same outcome.
        let (limits, wanted) = (PageLimits::default(), PageWanted::default());
        let alone = read_wanted(html.as_bytes(), Some("utf-8"), &url, &limits, &wanted).page;
        prop_assert_eq!(alone.links, page.links, "links alone of {}", html);
        prop_assert_eq!((alone.title, alone.base), (page.title, page.base), "head of {}", html);
        prop_assert_eq!((alone.robots, alone.feeds), (page.robots, page.feeds), "of {}", html);
        prop_assert_eq!((alone.language, alone.canonical), (page.language, page.canonical));
    }
}

#[test]
fn a_byte_order_mark_within_a_page_is_text_and_one_before_it_is_not() {
    let html = "\u{FEFF}<p>a</p><script></script>\u{FEFF}b";
    let url = Url::parse("http://page.test/").unwrap();
    let (_, text) = read_with_text(html.as_bytes(), Some("utf-8"), &url, &PageLimits::default());
    let shown: String = text.chars().filter(|c| *c > ' ').collect();
    assert_eq!(shown, "a\u{FEFF}b");
    assert_eq!(truth(html).text, shown);
}

fn page() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(piece(), 0..24)
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => text(),
        6 => start_tag(),
        4 => tag_name().prop_map(|name| format!("</{name}>")),
        2 => raw_element(),
        2 => foreign_element(),
        1 => odd_markup(),
    ]
}

fn start_tag() -> impl Strategy<Value = String> {
    (tag_name(), attributes()).prop_map(|(name, attributes)| format!("<{name}{attributes}>"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z &;<>\"'=/!-]{0,12}",
        Just("&amp;&lt;x&notit;&#128;&copy".to_owned()),
        Just(" é\u{a0}漢 ".to_owned()),
    ]
}

fn tag_name() -> impl Strategy<Value = String> {
    let names = [
        "a", "A", "div", "p", "b", "i", "span", "table", "tr", "td", "li", "ul", "br", "em",
        "base", "link", "meta", "area", "noscript", "form", "h1", "x-y", "aB", "font", "button",
        "template", "select", "option", "title", "style", "script", "textarea", "head", "body",
        "html", "caption", "col",
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn attributes() -> impl Strategy<Value = String> {
    prop::collection::vec(attribute(), 0..4).prop_map(|attributes| attributes.concat())
}

fn attribute() -> impl Strategy<Value = String> {
    let name =
        prop::sample::select(&["href", "HREF", "rel", "class", "src", "=", "x\"", "a<b", "/"][..]);
    let value = prop_oneof![
        Just("/x".to_owned()),
        Just("y?a=1&b=2&copy=3&amp;d".to_owned()),
        Just("canonical next".to_owned()),
        Just("//other.test/>".to_owned()),
        "[a-z/ >='\"&#;]{0,6}",
    ];
    let space = prop::sample::select(&[" ", "\n", "/", " / ", "\t\r\n"][..]);
    (space, name, value, 0..5).prop_map(|(space, name, value, form)| match form {
        0 => format!("{space}{name}"),
        1 => format!("{space}{name}=\"{}\"", value.replace('"', "")),
        2 => format!("{space}{name} = '{}'", value.replace('\'', "")),
        3 => format!("{space}{name}={}", value.replace(['>', ' '], "")),
        _ => format!("{space}{name}=\"{}\"", value.replace('"', "<")),
    })
}

fn raw_element() -> impl Strategy<Value = String> {
    let name = prop::sample::select(
        &["script", "style", "title", "textarea", "iframe", "xmp", "noembed"][..],
    );
    let content = prop_oneof![
        "[a-z<>!/ -]{0,12}",
        Just("<!--<script></script>--></script>".to_owned()),
        Just("<!-- <script> -->".to_owned()),
        Just("<a href=/raw>&amp;</a>".to_owned()),
        Just("</scriptx></titles></style".to_owned()),
    ];
    (name, content, any::<bool>()).prop_map(|(name, content, slash)| {
        format!("<{name}>{content}</{name}{}>", if slash { " /" } else { "" })
    })
}

fn foreign_element() -> impl Strategy<Value = String> {
    let content = prop::sample::select(
        &[
            "<![CDATA[<a href=/cdata>]]>",
            "<style><a href=/style></a></style>",
            "<title>t<a href=/t>x</a></title>",
            "<foreignObject><style><a href=/hidden></style><p>x</p></foreignObject>",
            "<a xlink:href=/svg>x</a>",
            "<path/><g><desc>d</desc></g>",
            "<mi><style>x</style></mi>",
            "<script/>x",
            "text",
        ][..],
    );
    let root = prop::sample::select(&["svg", "math"][..]);
    (root, prop::collection::vec(content, 0..4))
        .prop_map(|(root, contents)| format!("<{root}>{}</{root}>", contents.concat()))
}

fn odd_markup() -> impl Strategy<Value = String> {
    let odd = [
        "<!-- <a href=/comment> -->",
        "<!-->",
        "<!--->",
        "<!--x--!>",
        "<!doctype html>",
        "<!x>",
        "<?php >",
        "</>",
        "</ x>",
        "<![CDATA[x]]>",
        "<3",
        "<",
        "<template><a href=/inert>x</template>",
        "\0",
    ];
    prop::sample::select(odd.map(str::to_owned).to_vec())
}

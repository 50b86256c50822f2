//! Extraction of small pages of our own: what is kept, in several languages, and what hostile pages
//! cost.

use super::markdown::Base;
use super::surroundings::Surroundings;
use super::*;
use rhumb_page::html::PageLimits;

fn url() -> Url {
    Url::parse("https://news.test/2024/05/01/tides").expect("a URL")
}

/// A page as content systems write them, around the paragraphs given.
fn page(title: &str, paragraphs: &[&str]) -> String {
    let menu: String = ["News", "Sport", "Culture", "Weather", "Contact"]
        .map(|entry| format!("<li class=menu-item><a href=/{entry}>{entry}</a></li>"))
        .concat();
    let teasers: String = (0..6)
        .map(|n| format!("<li><a href=/r{n}><h4>Another story, number {n}</h4></a></li>"))
        .collect();
    let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!(
        "<!DOCTYPE html><html><head><title>{title} | The Daily</title></head><body>\
         <header class=site-header><nav><ul>{menu}</ul></nav></header>\
         <main><article class=post><h1>{title}</h1><div class=byline>by <a href=/x>A. Writer</a></div>\
         <div class=article-body>{body}</div></article>\
         <aside class=related-posts><h3>Read on</h3><ul>{teasers}</ul></aside></main>\
         <footer class=site-footer><p>© 2024 The Daily. <a href=/imprint>Imprint</a> \
         <a href=/privacy>Privacy</a></p></footer></body></html>"
    )
}

#[test]
fn an_article_is_told_from_what_surrounds_it_in_any_language() {
    let cases: [(&str, [&str; 3]); 4] = [
        (
            "Tides",
            [
                "The sea rises and falls twice a day, drawn by the moon and a little by the sun.",
                "Sailors have known this for as long as there were boats, and wrote it in tables.",
                "In narrow bays the water piles up, and the difference may be fifteen metres.",
            ],
        ),
        (
            "Gezeiten",
            [
                "Das Meer steigt und fällt zweimal am Tag, gezogen vom Mond und etwas von der Sonne.",
                "Seeleute wissen das, seit es Boote gibt, und haben es in Tafeln aufgeschrieben.",
                "In engen Buchten staut sich das Wasser, der Unterschied kann fünfzehn Meter betragen.",
            ],
        ),
        (
            "Приливы",
            [
                "Море поднимается и опускается дважды в день, его притягивает луна и немного солнце.",
                "Моряки знали это с тех пор, как появились лодки, и записывали в таблицы приливов.",
                "В узких заливах вода накапливается, и разница может достигать пятнадцати метров.",
            ],
        ),
        (
            "潮汐的故事",
            [
                "海水每天涨落两次，主要受月球的引力影响，太阳的影响较小。古人很早就注意到了这种现象。",
                "自从有了船只以来，水手们就知道这一点，并把它记录在表格里，供后来的人们查阅和使用。",
                "在狭窄的海湾里，海水会堆积起来，高潮和低潮之间的差距有时可以达到十五米之多。",
            ],
        ),
    ];
    for (title, paragraphs) in cases {
        let found = extract(&page(title, &paragraphs), &url(), &ExtractOptions::default());
        for paragraph in paragraphs {
            assert!(found.main.contains(paragraph), "{title}: {}", found.main);
        }
        assert!(!found.main.contains("Weather"), "{title}: {}", found.main);
        assert!(!found.main.contains("Privacy"), "{title}: {}", found.main);
        assert!(found.all.contains("Weather") && found.all.contains("Privacy"));
        assert_eq!(found.metadata.title.as_ref().map(|t| t.value.as_str()), Some(title));
        assert_eq!(found.metadata.kind, PageKind::Article);
        assert!(found.confidence > 0.5, "{title}: {}", found.confidence);
    }
}

#[test]
fn markdown_keeps_headings_lists_tables_code_quotes_and_links() {
    let html = "<body><main><article><h1>Tides &amp; moons</h1>\
        <p>The sea <b>rises</b> and <i>falls</i> twice a day, see <a href=/m?a=1&amp;b>the \
        moon</a>, drawn by it and a little by the sun, as everybody knows.</p>\
        <h2>In order</h2><ol><li>The first tide of the day is the high one.</li><li>The second \
        one follows it after half a day.<ul><li>It may be late by an hour or so.</li></ul></li></ol>\
        <pre>let x = 1;\n  let y = *x;</pre>\
        <blockquote><p>Time and tide wait for no man, as the old saying has it.</p></blockquote>\
        <table><tr><th>Place</th><th>Metres</th></tr><tr><td>Fundy</td><td>15</td></tr></table>\
        <p>After the table there is one more paragraph, which says that this is the end.</p>\
        </article></main></body>";
    let options = ExtractOptions { markdown: true, ..ExtractOptions::default() };
    let mut reading = Reading::of(html);
    let _ = reading.features(&url());
    let taken = vec![true; reading.blocks.blocks.len()];
    let expected = "\
# Tides & moons

The sea **rises** and *falls* twice a day, see [the moon](https://news.test/m?a=1&b), drawn by it \
and a little by the sun, as everybody knows.

## In order

1. The first tide of the day is the high one.
2. The second one follows it after half a day.
  - It may be late by an hour or so.

```
let x = 1;
  let y = *x;
```

> Time and tide wait for no man, as the old saying has it.

| Place | Metres |
| --- | --- |
| Fundy | 15 |

After the table there is one more paragraph, which says that this is the end.";
    assert_eq!(markdown::write(&reading.blocks, &taken, Base::Known(&url())), expected);
    assert!(extract(html, &url(), &options).markdown.is_some());
}

#[test]
fn metadata_names_its_sources_and_the_most_trusted_wins() {
    let html = r#"<html lang=de-AT><head><title>Ein Titel - Die Zeitung</title>
        <meta property="og:title" content="Ein Titel &amp; mehr"><meta name=author content="B. Autor">
        <meta property=og:site_name content="Die Zeitung"><link rel=canonical href="/kanon">
        <link rel=alternate hreflang=fr href=/fr><meta name=robots content=noarchive>
        <link rel=alternate type=application/rss+xml href=/feed>
        <meta name=description content="Worum es geht">
        <script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","headline":"Der Titel",
          "author":[{"name":"A. Autorin"},{"name":"C. Autor"}],"datePublished":"2024-05-02T10:00:00Z",
          "dateModified":"2024-05-03","license":"https://l.test/by"}]}</script>
        <script type="application/ld+json">{broken</script></head>
        <body><time datetime=2020-01-01>neulich</time><h1>Der Titel</h1><p>Text.</body>"#;
    let found = extract(html, &url(), &ExtractOptions::default());
    let metadata = &found.metadata;
    let text = |said: &Option<Stated<String>>| {
        said.as_ref().map(|said| (said.value.clone(), said.source)).expect("it is said")
    };
    assert_eq!(text(&metadata.title), ("Der Titel".to_owned(), StatedWhere::JsonLd));
    assert_eq!(text(&metadata.author), ("A. Autorin, C. Autor".to_owned(), StatedWhere::JsonLd));
    assert_eq!(text(&metadata.language), ("de-AT".to_owned(), StatedWhere::Element));
    assert_eq!(text(&metadata.description), ("Worum es geht".to_owned(), StatedWhere::Meta));
    assert_eq!(text(&metadata.site_name), ("Die Zeitung".to_owned(), StatedWhere::OpenGraph));
    let day = |said: &Option<Stated<StatedDate>>| said.as_ref().map(|said| said.value.day());
    assert_eq!(day(&metadata.published).as_deref(), Some("2024-05-02"));
    assert_eq!(day(&metadata.modified).as_deref(), Some("2024-05-03"));
    assert_eq!(metadata.canonical.as_deref(), Some("/kanon"));
    assert_eq!(metadata.hreflang, [("fr".to_owned(), "/fr".to_owned())]);
    assert_eq!(metadata.feeds, ["/feed"]);
    assert_eq!(metadata.license.as_deref(), Some("https://l.test/by"));
    assert_eq!(metadata.robots.as_deref(), Some("noarchive"));
    assert_eq!(metadata.json_ld_types, ["NewsArticle"]);
    assert_eq!(found.oddities, ["JSON-LD that is no JSON"]);
    let bare = extract("<p>A text without a head.", &url(), &ExtractOptions::default());
    let published = bare.metadata.published.expect("the address has a date");
    assert_eq!(
        (published.value.day().as_str(), published.source),
        ("2024-05-01", StatedWhere::Address)
    );
}

#[test]
fn a_template_turns_the_odds_against_what_recurs() {
    let notice = "We would like to tell you that our shop is open on all days of the week, from \
                  nine in the morning, and that everybody is welcome there at any time.";
    let story = |n: usize| {
        format!(
            "This is story number {n}, which is told on no other page, and which goes on for a \
             while, as stories do, until it comes to an end like this one."
        )
    };
    let html = |n| format!("<body><div><p>{}</p><p>{notice}</p></div></body>", story(n));
    let mut template = HostTemplate::new();
    for n in 0..5 {
        template.learn(&extract(&html(n), &url(), &ExtractOptions::default()).blocks);
    }
    let with = ExtractOptions { template: Some(&template), ..ExtractOptions::default() };
    let alone = extract(&html(9), &url(), &ExtractOptions::default());
    let found = extract(&html(9), &url(), &with);
    assert!(found.main.contains(&story(9)));
    assert!(alone.main.contains(notice) && !found.main.contains(notice), "{}", found.main);
}

#[test]
fn links_and_main_text_come_from_one_pass() {
    let html = page("Tides", &["The sea rises and falls twice a day, as everybody knows by now."]);
    let limits = PageLimits::default();
    let (read_page, found) =
        read(html.as_bytes(), None, &url(), &limits, &ExtractOptions::default());
    let plain = rhumb_page::html::read(html.as_bytes(), None, &url(), &limits);
    assert_eq!(read_page.links, plain.links);
    assert_eq!(read_page.text, plain.text);
    let alone = extract(&html, &url(), &ExtractOptions::default());
    assert_eq!(found.fingerprint(), alone.fingerprint());
}

#[test]
fn hostile_pages_end_and_pages_with_text_are_never_empty() {
    let piece = |piece: &str| piece.repeat(300_000 / piece.len());
    for hostile in [
        piece("<div>"),
        piece("<"),
        piece("<p>a"),
        piece("<table><tr><td>"),
        piece("<a href=x>"),
        piece("</div>"),
        piece("<b>x"),
        piece("<li><ul>"),
        piece("<div class='content nav'>x "),
        format!("<select>{}", piece("<option>x")),
        format!("<script type=application/ld+json>{}</script>", piece("[")),
    ] {
        let found = extract(
            &hostile,
            &url(),
            &ExtractOptions { markdown: true, ..ExtractOptions::default() },
        );
        assert!(found.main.len() <= hostile.len());
    }
    for (html, text) in [
        ("<p>x", "x"),
        ("<nav><a href=/>Home</a></nav>", "Home"),
        ("just text", "just text"),
        ("<select><option>a<div>Unclosed select</div>", "Unclosed select"),
        ("<div hidden>Hidden text</div>", "Hidden text"),
    ] {
        assert_eq!(extract(html, &url(), &ExtractOptions::default()).main, text, "{html}");
    }
    assert_eq!(extract("", &url(), &ExtractOptions::default()).main, "");
}

/// Counted in steps and not in seconds: a page ten times as long makes ten times the work. What
/// looks through open elements is bounded for each tag (`outline`); what walks outwards over the
/// elements of a page is counted here.
#[test]
fn work_grows_as_the_page_does() {
    let pieces = [
        "<div>",
        "<",
        "</div>",
        "<p>x",
        "<li>x<ul>",
        "<td>x",
        "<div>x</p></div>",
        "<div><div><div>x</div></div></section></div>",
        "<a href=/>x<b>",
    ];
    for piece in pieces {
        let (less, more) = (steps(piece, 40_000), steps(piece, 400_000));
        assert!(more <= 11 * less, "{piece}: {less} steps, then {more}");
        assert!(more <= 2 * 400_000, "{piece}: {more} steps");
    }
}

/// Elements, blocks, and elements on the way from each to the larger one around it.
fn steps(piece: &str, bytes: usize) -> usize {
    let html = piece.repeat(bytes / piece.len());
    let reading = Reading::of(&html);
    let elements = &reading.blocks.outline.elements;
    let around = Surroundings::of(&reading.blocks);
    let outwards = |at: usize| {
        let mut outer = elements[at].parent;
        let outer = std::iter::from_fn(move || {
            let here = outer;
            outer = elements[here as usize].parent;
            Some(here)
        });
        outer.take_while(|outer| *outer != around.larger[at]).count()
    };
    let walked: usize = (1..elements.len()).map(outwards).sum();
    walked + elements.len() + reading.blocks.blocks.len()
}

/// The page's headings and definitions as publishing systems write them.
#[test]
fn signs_that_link_a_heading_to_itself_and_edit_links_are_no_text() {
    let html = "<title>Tides</title><main><article>\
        <h1>Tides<a class=headerlink href=#tides title='Link here'>¶</a></h1>\
        <p>The sea rises and falls twice a day, drawn by the moon, as everybody knows by now.</p>\
        <h2><a class=doc-anchor href=#m>§</a>Moons</h2>\
        <p>There is one moon, and it draws the sea after it wherever it goes around the Earth.</p>\
        <h2><span class=mw-headline id=x>In history</span><span class=mw-editsection>\
        <span class=mw-editsection-bracket>[</span><a href='/w/index.php?title=T&amp;action=edit'>\
        <span>edit</span></a><span class=mw-editsection-bracket>]</span></span></h2>\
        <dl><dt><code>tide(moon)</code><a href='page.html#tide'>&#xf0c1;</a></dt>\
        <dd>Gives the height of the tide in metres, for the moon that is given to it, see \
        <a href='#n4'>§ 4</a>.</dd></dl></article></main>";
    let options = ExtractOptions { markdown: true, ..ExtractOptions::default() };
    let found = extract(html, &url(), &options);
    let markdown = found.markdown.expect("it was asked for");
    for text in [&found.main, &found.all, &markdown] {
        assert!(!text.contains(['¶', '\u{f0c1}']) && !text.contains("edit"), "{text}");
    }
    for line in ["# Tides", "## Moons", "## In history"] {
        assert!(markdown.lines().any(|other| other == line), "{line}: {markdown}");
    }
    assert!(found.main.contains("see § 4"), "{}", found.main);
    assert_eq!(found.metadata.title.expect("a title").value, "Tides");
}

/// All blocks of a page as Markdown.
fn markdown_of(html: &str) -> String {
    let mut reading = Reading::of(html);
    let _ = reading.features(&url());
    reading.blocks.order_spans();
    let taken = vec![true; reading.blocks.blocks.len()];
    markdown::write(&reading.blocks, &taken, Base::Known(&url()))
}

#[test]
fn code_in_markdown_has_no_escapes() {
    for (html, markdown) in [
        ("<p>Call <code>a_b(*c, [d])</code> now", "Call `a_b(*c, [d])` now"),
        ("<p>Call <a href=/f><code>a_b</code></a>", "Call [`a_b`](https://news.test/f)"),
        ("<p>Call <code>f(<a href=/x>x_y</a>, <b>z_</b>)</code>", "Call `f(x_y, z_)`"),
        ("<p><code>a_</code><code>_b</code> is one", "`a__b` is one"),
        ("<p>In <code>a`b</code> and <code>`</code>", "In ``a`b`` and `` ` ``"),
        ("<p><b>Use <code>a_b</code></b> and a_b", "**Use `a_b`** and a\\_b"),
        ("<p>A *star*, a [b] and 2 < 3", "A \\*star\\*, a \\[b\\] and 2 \\< 3"),
        ("<pre>a_b *c*\n```\n[d]</pre>", "````\na_b *c*\n```\n[d]\n````"),
        ("<pre><div>a_b = 1</div><div>c_d = 2</div></pre>", "```\na_b = 1\nc_d = 2\n```"),
        ("<ul><li>One <pre>a_b\n  c_d</pre></ul>", "- One\n  ```\n  a_b\n    c_d\n  ```"),
        ("<blockquote><pre>a_b\nc_d</pre></blockquote>", "> ```\n> a_b\n> c_d\n> ```"),
        (
            "<table><tr><td><pre>1\n2</pre><td><pre>a_b\nc</pre></table>",
            "```\n1\n2\n```\n\n```\na_b\nc\n```",
        ),
        ("<table><tr><td>f<td><pre>a_b|c</pre></table>", "| f | `a_b\\|c` |\n| --- | --- |"),
    ] {
        assert_eq!(markdown_of(html).trim_end(), markdown, "{html}");
    }
}

#[test]
fn links_of_a_page_without_an_address_stay_as_written() {
    let html = "<p>See <a href='/m?a=1&amp;b'>the moon</a>, <a href=sun.html>the sun</a> and \
                <a href=https://Tide.test/a/../b>tides</a> for more, as they all say and know.";
    let nowhere = Url::parse("http://page.invalid/").expect("a URL");
    let options =
        ExtractOptions { markdown: true, address_is_unknown: true, ..ExtractOptions::default() };
    let markdown = extract(html, &nowhere, &options).markdown.expect("it was asked for");
    assert!(!markdown.contains("page.invalid"), "{markdown}");
    assert!(markdown.contains("[the moon](/m?a=1&b), [the sun](sun.html)"), "{markdown}");
    assert!(markdown.contains("[tides](https://tide.test/b)"), "{markdown}");
    let based = format!("<base href=https://b.test/c/>{html}");
    let markdown = extract(&based, &nowhere, &options).markdown.expect("it was asked for");
    assert!(markdown.contains("[the sun](https://b.test/c/sun.html)"), "{markdown}");
}

#[test]
fn the_synopsis_of_a_reference_page_is_part_of_it() {
    let page = |synopsis: &str| {
        let menu = "<a href=a.html>Prev</a> <a href=b.html>Up</a> <a href=c.html>Next</a>";
        format!(
            "<title>MEASURE</title><body><div class=navheader><table><tr><td>{menu}</td></tr>\
             </table></div><div class=refentry><div class=refnamediv><h2>MEASURE</h2>\
             <p>MEASURE — tell the height of the sea</p></div><div class=refsynopsisdiv>\
             <h2>Synopsis</h2>{synopsis}</div><div class=refsect1><h2>Description</h2><p>\
             <code>MEASURE</code> tells how high the sea stands at a place, in metres above the \
             lowest tide that astronomy predicts, and when it was measured there.</p><p>Without \
             a place, all places that are known are measured, one after another.</p></div></div>\
             <div class=navfooter><table><tr><td>{menu}</td></tr></table></div>"
        )
    };
    for (synopsis, line) in [
        (
            "<pre class=synopsis>\nMEASURE [ ( [, ...] ) ] [ place ]\n</pre>",
            "MEASURE [ ( [, ...] ) ] [ place ]",
        ),
        (
            "<div class=cmdsynopsis><p><code>measure</code> [<em><code>option</code></em>...]</p></div>",
            "measure [option...]",
        ),
    ] {
        let main = extract(&page(synopsis), &url(), &ExtractOptions::default()).main;
        assert!(main.contains("in metres above"), "{main}");
        assert!(main.contains(line), "{line}: {main}");
        assert!(!main.contains("Prev"), "{main}");
    }
}

//! An archived page as a static one: nothing in it runs, and what it refers to is looked for among
//! the copies.
//!
//! Tags are written anew from tokens, so that nothing of the page's own markup is passed on
//! unread; text is passed on as it stands. The policy of the answer (`default-src 'none'`, sandbox)
//! holds whatever is missed here.

use super::css;
use rhumb_page::html::{Attribute, StartTag, Tag, Token, Tokenizer};
use rhumb_page::url::Url;
use std::fmt::Write;

/// Elements that are left out with all that is in them.
const DROPPED: [&str; 8] =
    ["script", "iframe", "frame", "object", "embed", "applet", "template", "base"];
/// Of these the end tag is all that must go with them, or there is none.
const VOID: [&str; 3] = ["base", "frame", "embed"];
/// Attributes that are URLs of what is shown or followed.
const URLS: [&str; 6] = ["href", "src", "poster", "background", "data-src", "xlink:href"];

/// A browser asks for no icon of its own accord.
const HEAD: &str = "<!doctype html>\n<link rel=\"icon\" href=\"data:,\">\n";

/// Rewrites the links of one page.
pub struct Rewriting<'a> {
    /// Whose relative links are resolved; `base` may change it.
    pub base: Url,
    /// Digits of the time that copies are looked for near to.
    pub time: &'a str,
    /// HTML put before everything that is shown.
    pub bar: &'a str,
}

impl Rewriting<'_> {
    /// Where a reference is to be had among the copies.
    pub fn place(&self, reference: &str) -> Option<String> {
        let reference = reference.trim();
        if reference.is_empty() || reference.starts_with('#') {
            return Some(reference.to_owned());
        }
        if reference.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            return reference.get(5..11).filter(|kind| *kind == "image/").map(|_| reference.into());
        }
        let url = self.base.join(reference).ok()?;
        let is_web = url.as_str().starts_with("http://") || url.as_str().starts_with("https://");
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let hash = if fragment.is_empty() { "" } else { "#" };
        is_web.then(|| format!("/copy/{}/{}{hash}{fragment}", self.time, url.as_str()))
    }

    pub fn html(&mut self, html: &str) -> String {
        let mut out = String::with_capacity(html.len() + self.bar.len() + 1024);
        out.push_str(HEAD);
        let mut tokens = Tokenizer::new(html);
        let mut dropping: Option<(String, u32)> = None;
        let mut has_bar = false;
        while let Some(token) = tokens.advance() {
            if let Some((name, depth)) = &mut dropping {
                match token {
                    Token::Start(start) if start.name.eq_ignore_ascii_case(name) => *depth += 1,
                    Token::End(end) if end.name.eq_ignore_ascii_case(name) => *depth -= 1,
                    _ => {}
                }
                dropping = dropping.filter(|(_, depth)| *depth > 0);
                continue;
            }
            match token {
                Token::Start(start) => {
                    let name = start.name.to_ascii_lowercase();
                    if DROPPED.contains(&name.as_str()) {
                        self.take_base(&start);
                        let is_void = VOID.contains(&name.as_str()) || start.self_closing;
                        dropping = (!is_void).then_some((name, 1));
                        continue;
                    }
                    self.start(&start, &name, &mut out);
                    if name == "body" && !has_bar {
                        has_bar = true;
                        out.push_str(self.bar);
                    }
                }
                Token::End(end) => {
                    let name = end.name.to_ascii_lowercase();
                    if !DROPPED.contains(&name.as_str()) && is_name(&name) {
                        let _ = write!(out, "</{name}>");
                    }
                }
                Token::Text(text) if text.owner == Tag::Style => {
                    out.push_str(&css::rewritten(text.raw, &mut |at| self.place(at)));
                }
                Token::Text(text) => out.push_str(text.raw),
            }
        }
        if !has_bar {
            out.push_str(self.bar);
        }
        out
    }

    fn take_base(&mut self, start: &StartTag<'_>) {
        if !start.name.eq_ignore_ascii_case("base") {
            return;
        }
        let href = start.attribute("href");
        if let Some(url) = href.and_then(|href| self.base.join(href.trim()).ok()) {
            self.base = url;
        }
    }

    fn start(&self, start: &StartTag<'_>, name: &str, out: &mut String) {
        if !is_name(name) || self.is_meta_that_acts(start, name) {
            return;
        }
        let _ = write!(out, "<{name}");
        for attribute in start.attributes() {
            self.attribute(name, &attribute, out);
        }
        out.push_str(if start.self_closing { "/>" } else { ">" });
    }

    /// Charsets, policies and refreshes are ours to say; links to scripts are none.
    fn is_meta_that_acts(&self, start: &StartTag<'_>, name: &str) -> bool {
        match name {
            "meta" => start.attributes().any(|a| a.is("http-equiv") || a.is("charset")),
            "link" => {
                let rel = start.attribute("rel").unwrap_or_default().to_ascii_lowercase();
                !rel.split_ascii_whitespace().any(|word| matches!(word, "stylesheet" | "icon"))
            }
            _ => false,
        }
    }

    fn attribute(&self, element: &str, attribute: &Attribute<'_>, out: &mut String) {
        let name = attribute.name.to_ascii_lowercase();
        let is_event = name.starts_with("on");
        let acts = matches!(
            name.as_str(),
            "target" | "ping" | "srcdoc" | "formaction" | "integrity" | "crossorigin" | "nonce"
        );
        if is_event || acts || !is_name(&name) {
            return;
        }
        let value = attribute.value();
        let value = match name.as_str() {
            "action" => Some(String::new()),
            "srcset" | "imagesrcset" => Some(self.source_set(&value)),
            "style" => Some(css::rewritten(&value, &mut |at| self.place(at))),
            "data" if element == "object" => None,
            name if URLS.contains(&name) => self.place(&value),
            _ => Some(value.into_owned()),
        };
        if let Some(value) = value {
            let _ = write!(out, " {name}=\"");
            escape_into(&value, out);
            out.push('"');
        }
    }

    /// `a.png 1x, b.png 2x`
    fn source_set(&self, value: &str) -> String {
        let sources = value.split(", ").filter_map(|source| {
            let mut words = source.split_ascii_whitespace();
            let place = self.place(words.next()?.trim_end_matches(','))?;
            Some(words.fold(place, |text, word| text + " " + word))
        });
        sources.collect::<Vec<_>>().join(", ")
    }
}

/// Of elements and attributes: anything else would not be read as it was meant.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'_');
    name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && name.bytes().all(is_plain)
}

/// Text as HTML, also within quotes.
pub fn escape_into(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str) -> String {
        let base = Url::parse("https://e.org/a/b").expect("a URL");
        let mut rewriting = Rewriting { base, time: "2026", bar: "[bar]" };
        rewriting.html(html).trim_start_matches(HEAD).to_owned()
    }

    fn check(html: &str, expected: &str) {
        assert_eq!(of(html), expected, "{html}");
    }

    #[test]
    fn links_and_resources_lead_to_copies() {
        check(
            "<body><a href=c?x=1&y#z>t</a>",
            "<body>[bar]<a href=\"/copy/2026/https://e.org/a/c?x=1&amp;y#z\">t</a>",
        );
        check(
            "<img src=/i.png srcset='/i.png 1x, j.png 2x'>",
            "<img src=\"/copy/2026/https://e.org/i.png\" srcset=\"/copy/2026/https://e.org/i.png 1x, /copy/2026/https://e.org/a/j.png 2x\">[bar]",
        );
        check("<base href=/x/><a href=y>", "<a href=\"/copy/2026/https://e.org/x/y\">[bar]");
        check("<a href='#top'>", "<a href=\"#top\">[bar]");
        check(
            "<style>p{background:url(i.png)}</style>",
            "<style>p{background:url(\"/copy/2026/https://e.org/a/i.png\")}</style>[bar]",
        );
        check(
            "<link rel=stylesheet href=s.css><link rel=preload href=p.js>",
            "<link rel=\"stylesheet\" href=\"/copy/2026/https://e.org/a/s.css\">[bar]",
        );
    }

    #[test]
    fn nothing_runs_and_nothing_leaves() {
        for html in [
            "<script>alert(1)</script>",
            "<script src=x></script>",
            "<iframe src=https://evil.example/></iframe>",
            "<object data=x><embed src=y></object>",
            "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
            "<svg><script>alert(1)</script></svg>",
            "<script>alert(1)",
        ] {
            let shown = of(html);
            assert!(!shown.contains("alert") && !shown.contains("evil"), "{html}: {shown}");
        }
        check("<p onclick=alert(1) class=a>", "<p class=\"a\">[bar]");
        check("<a href='javascript:alert(1)'>t</a>", "<a>t</a>[bar]");
        check("<a href='data:text/html,x'>t</a>", "<a>t</a>[bar]");
        check(
            "<form action=https://e.org/ method=post>",
            "<form action=\"\" method=\"post\">[bar]",
        );
        check("<a target=_top href=c>", "<a href=\"/copy/2026/https://e.org/a/c\">[bar]");
        check("<p title='\"><script>'>", "<p title=\"&quot;&gt;&lt;script&gt;\">[bar]");
    }
}

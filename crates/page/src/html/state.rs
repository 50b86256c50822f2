//! Embedded state: the data that a page's scripts make it of, where they came with the page.
//!
//! `__NEXT_DATA__`, `__NUXT__`, JSON-LD and other scripts of JSON differ in shape and agree in one
//! thing: what a reader would see stands in double quotes. So no tree is built and no shape known:
//! string literals are taken one after the other, whether in JSON, in what Nuxt calls with its
//! values, or in JSON that stands in a string itself. What reads like prose is text, also what is
//! markup; what reads like a path, or an address within the site, is a link.

use std::collections::HashSet;

use memchr::{memchr, memchr2};
use xxhash_rust::xxh3::xxh3_64;

use super::read::{PageLimits, read_with_text};
use super::shell::words_of;
use crate::url::Url;

/// Strings that are looked at in all scripts of a page.
const STRINGS_MAX: usize = 100_000;
/// Bytes kept of the prose.
const PROSE_BYTES_MAX: usize = 1 << 20;
/// Links kept.
const LINKS_MAX: usize = 1_000;
/// A longer string is no address.
const REFERENCE_BYTES_MAX: usize = 2_000;
/// JSON in a string, and JSON in a string of that.
const DEPTH_MAX: u32 = 2;
/// Words of a string at least that reads like prose.
const WORDS_MIN: u32 = 4;

/// Names of values that are many words and no prose.
const NOT_PROSE: [&str; 6] = ["class", "className", "style", "css", "query", "sizes"];
/// Endings of what is shown with a page, or run by it: no links.
const NOT_LINKS: [&str; 19] = [
    "js", "mjs", "css", "json", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico",
    "woff", "woff2", "ttf", "mp3", "mp4", "webm",
];

/// What the embedded state of a page says.
#[derive(Default)]
pub(super) struct EmbeddedState {
    /// A line for each string.
    pub prose: String,
    pub words: u32,
    /// Each once, none of them the page itself.
    pub links: Vec<Url>,
}

/// Reads the scripts that hold the state of the page at `url`.
pub(super) fn read(scripts: &[&str], url: &Url) -> EmbeddedState {
    let mut gathering = Gathering {
        url,
        site: url.site(),
        found: EmbeddedState::default(),
        met: HashSet::new(),
        linked: HashSet::new(),
        left: STRINGS_MAX,
    };
    for script in scripts {
        gathering.script(script, 0);
    }
    let mut found = gathering.found;
    found.prose.truncate(found.prose.trim_end().len());
    found
}

struct Gathering<'u> {
    url: &'u Url,
    site: crate::url::Site,
    found: EmbeddedState,
    /// Hashes of the strings that were taken: state says many things twice.
    met: HashSet<u64>,
    linked: HashSet<Url>,
    left: usize,
}

impl Gathering<'_> {
    fn script(&mut self, script: &str, depth: u32) {
        let mut at = 0;
        while let Some((start, end)) = next_string(script, at) {
            at = end + 1;
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let is_key = script[at..].trim_ascii_start().starts_with(':');
            if is_key || end == start || !self.met.insert(xxh3_64(&script.as_bytes()[start..end])) {
                continue;
            }
            let Ok(value) = serde_json::from_str::<String>(&script[start - 1..=end]) else {
                continue;
            };
            self.value(value.trim(), key_before(script, start - 1), depth);
        }
    }

    fn value(&mut self, value: &str, key: &str, depth: u32) {
        if ["{\"", "[\"", "[{", "[["].iter().any(|start| value.starts_with(start)) {
            if depth < DEPTH_MAX {
                self.script(value, depth + 1);
            }
        } else if is_reference(value) {
            self.link(value);
        } else if NOT_PROSE.contains(&key) {
            // Many words, and nobody reads them.
        } else if value.contains("</") {
            self.markup(value);
        } else {
            self.prose(value);
        }
    }

    fn prose(&mut self, text: &str) {
        let words = words_of(text);
        let has_room = self.found.prose.len() + text.len() < PROSE_BYTES_MAX;
        if words >= WORDS_MIN && has_room {
            self.found.prose.push_str(text);
            self.found.prose.push('\n');
            self.found.words += words;
        }
    }

    /// A piece of a page: its text and its links. State within it is not looked for.
    fn markup(&mut self, html: &str) {
        let limits = PageLimits { links_max: LINKS_MAX };
        let (page, text) = read_with_text(html.as_bytes(), Some("utf-8"), self.url, &limits);
        self.prose(&text);
        for link in page.links.into_iter().filter(|link| !link.nofollow) {
            self.take(link.url);
        }
    }

    fn link(&mut self, reference: &str) {
        if let Ok(url) = self.url.join(reference) {
            self.take(url);
        }
    }

    fn take(&mut self, url: Url) {
        let (_, ending) = url.path().rsplit_once('.').unwrap_or_default();
        let is_page = !NOT_LINKS.iter().any(|known| ending.eq_ignore_ascii_case(known));
        let is_within = url.site() == self.site && url != *self.url;
        if is_page
            && is_within
            && self.found.links.len() < LINKS_MAX
            && self.linked.insert(url.clone())
        {
            self.found.links.push(url);
        }
    }
}

/// Where the next string literal stands, without its quotes.
fn next_string(script: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = script.as_bytes();
    let start = from + memchr(b'"', bytes.get(from..)?)? + 1;
    let mut at = start;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes[at] {
            b'"' => return Some((start, at)),
            _ => at += 2,
        }
    }
}

/// The name of the value whose opening quote stands at `quote`; empty within a list.
fn key_before(script: &str, quote: usize) -> &str {
    let Some(before) = script[..quote].trim_ascii_end().strip_suffix(':') else { return "" };
    let before = before.trim_ascii_end();
    let before = before.strip_suffix('"').unwrap_or(before);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    &before[before.trim_end_matches(is_name).len()..]
}

/// A path from the root, or a whole address; no pattern of a route (`/posts/[id]`, `/user/:id`) and
/// nothing of a framework's own (`/_next/…`).
fn is_reference(value: &str) -> bool {
    let has_start = value.starts_with('/') || value.starts_with("http");
    let is_whole = (value.starts_with('/') && value != "/") || value.contains("://");
    let is_odd = |c: char| c.is_whitespace() || "<>{}[]*\\\"'()|^`".contains(c);
    has_start
        && is_whole
        && value.len() <= REFERENCE_BYTES_MAX
        && !value.contains(is_odd)
        && !value.contains("/:")
        && !value.starts_with("/_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(scripts: &[&str]) -> (String, Vec<String>) {
        let url = Url::parse("https://www.a.test/dir/page").unwrap();
        let found = read(scripts, &url);
        let links = found.links.iter().map(|link| link.as_str().to_owned()).collect();
        (found.prose, links)
    }

    #[test]
    fn prose_and_links_are_found_in_each_form() {
        for script in [
            r#"{"props":{"a":"The tide rises twice a day","n":1,"to":"/next"}}"#,
            r#"window.__NUXT__={data:[{a:"The tide rises twice a day",to:"/next"}],state:null}"#,
            r#"window.__NUXT__=(function(a,b){return {data:[{x:a,y:b}]}}("The tide rises twice a day","\u002Fnext"));"#,
            r#"[["Reactive",1],{"data":2},{"a":3},"The tide rises twice a day","/next"]"#,
            r#"window.__INITIAL_STATE__ = JSON.parse("{\"a\":\"The tide rises twice a day\",\"b\":\"/next\"}")"#,
            r#"{"html":"<p class=\"x\">The tide rises <b>twice</b> a day <a href=\"/next\"></a></p>"}"#,
            r#"{"html":"\u003Cp>The tide rises twice a day\u003C/p>","u":"https://a.test/next"}"#,
        ] {
            let (prose, links) = state(&[script]);
            assert_eq!(prose, "The tide rises twice a day", "{script}");
            assert!(links.len() == 1 && links[0].ends_with("a.test/next"), "{links:?} of {script}");
        }
    }

    #[test]
    fn what_is_no_prose_and_no_link_of_the_site_is_left_out() {
        let (prose, links) = state(&[
            r#"{"a key of many more words":1,"className":"flex items-center p-4 m-2","t":"Two words"}"#,
            r#"{"page":"/posts/[id]","route":"/user/:id","own":"/dir/page","base":"/","asset":"/logo.PNG"}"#,
            r#"{"chunk":"/_next/static/x","other":"https://b.test/x","date":"2024-05-01","q":"a/b"}"#,
            r#"{"twice":"/once","again":"https://www.a.test/once","space":"/a b","bad":"http//x"}"#,
        ]);
        assert_eq!((prose.as_str(), links), ("", vec!["https://www.a.test/once".to_owned()]));
    }

    #[test]
    fn any_script_ends_and_stays_within_its_bounds() {
        for odd in
            ["\"", "\"\\", "\"\\\"", "{\"a\":\"\\uD800\"}", "\"é\":", ":\"", "\"\"\"\"", "\\\""]
        {
            assert_eq!(state(&[odd]), (String::new(), Vec::new()), "{odd}");
        }
        let many: String = (0..5_000).map(|n| format!("\"/p{n}\",")).collect();
        assert_eq!(state(&[&many]).1.len(), LINKS_MAX);
        let long: String = (0..200_000).map(|n| format!("\"a line of prose {n}\",")).collect();
        let (prose, _) = state(&[&long]);
        assert!(prose.len() <= PROSE_BYTES_MAX && prose.lines().count() <= STRINGS_MAX);
        // JSON in JSON in JSON, each with its quotes escaped once more.
        let mut nested = "a line of prose".to_owned();
        for _ in 0..12 {
            nested = format!("[{}]", serde_json::to_string(&nested).unwrap());
        }
        assert_eq!(state(&[&nested]).0, "");
    }
}

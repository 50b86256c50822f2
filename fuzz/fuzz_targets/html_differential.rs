//! Our reading of any page against html5ever's: links in order, and text.
#![no_main]

#[path = "../../crates/page/tests/html_truth/mod.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod html_truth;

use rhumb_page::html::{PageLimits, LinkKind, read_with_text};
use rhumb_page::url::Url;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(html) = std::str::from_utf8(data) else { return };
    // What only a tree can tell: see crates/page/tests/html_generated.rs.
    let lower = html.to_ascii_lowercase();
    if ["<svg", "<math", "<frame"].iter().any(|tag| lower.contains(tag)) {
        return;
    }
    let url = Url::parse("http://page.test/a/b").expect("a URL");
    let truth = html_truth::truth(html);
    let (page, text) = read_with_text(data, Some("utf-8"), &url, &PageLimits::default());
    let base = truth.base.as_ref().and_then(|base| url.join(base).ok());
    assert_eq!(page.base, base);
    let mut expected: Vec<Url> = Vec::new();
    for (_, reference) in truth.references.iter().filter(|(kind, _)| *kind != "Refresh") {
        let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
        if !trimmed.is_empty()
            && !trimmed.starts_with('#')
            && let Ok(link) = base.as_ref().unwrap_or(&url).join(reference)
            && !expected.contains(&link)
        {
            expected.push(link);
        }
    }
    // The truth reads a refresh too simply for any bytes at all.
    if !page.links.iter().any(|link| link.kind == LinkKind::Refresh) {
        let links: Vec<&Url> = page.links.iter().map(|link| &link.url).collect();
        assert_eq!(links, expected.iter().collect::<Vec<_>>());
    }
    let shown: String = text.chars().filter(|c| *c > ' ').collect();
    assert_eq!(shown, truth.text);
});

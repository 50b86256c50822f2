//! What the names in the markup hint at.
//!
//! Authors and content systems name their boxes: `post-content`, `sidebar`, `related`. The names
//! are English whatever the page's language is, as the markup is. Each group below is one hint; how
//! much a hint is worth is learned, not said here.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// One hint, by its place in [`WORDS`].
pub(super) const HINTS: usize = WORDS.len();

/// The words of each hint, as parts of `class`, `id`, `role` and `itemprop` in any case. One that
/// begins with `=` has no letter next to it.
const WORDS: [&[&str]; 30] = [
    &["content", "body", "text", "prose", "markdown", "richtext", "copy"],
    &["article", "story", "entry", "blog", "news"],
    &["main", "primary", "center"],
    &["comment", "disqus", "discuss", "respond", "respons"],
    &["nav", "menu", "crumb", "toolbar", "tablist", "sitemap", "skip", "megamenu", "dropdown"],
    &["pagin", "pager", "page-num", "load-more", "next", "prev"],
    &["foot", "copyright", "legal", "colophon", "bottom", "contentinfo"],
    &["header", "masthead", "topbar", "top-bar", "top_", "banner", "logo", "brand"],
    &["side", "aside", "widget", "rail", "column", "complementary", "secondary"],
    &[
        "relat",
        "recommend",
        "more-",
        "also",
        "trending",
        "popular",
        "latest",
        "recent",
        "similar",
        "upsell",
        "cross-sell",
        "viewed",
    ],
    &["teaser", "promo", "outbrain", "taboola", "marketing", "campaign"],
    &[
        "share",
        "sharing",
        "social",
        "follow",
        "facebook",
        "twitter",
        "tweet",
        "pinterest",
        "whatsapp",
    ],
    &["meta", "byline", "author", "date", "time", "publish"],
    &["tag", "categor", "label", "badge", "info", "stats", "count"],
    &["=ad", "=ads", "advert", "sponsor", "dfp", "gpt", "adslot", "adunit"],
    &[
        "cookie",
        "consent",
        "gdpr",
        "newsletter",
        "subscri",
        "signup",
        "sign-up",
        "modal",
        "popup",
        "overlay",
        "login",
        "dialog",
        "paywall",
        "alert",
    ],
    &["item", "card", "tile", "grid"],
    &["list", "row", "result", "feed", "stream", "collection", "catalog", "archive"],
    &["post", "message", "thread", "topic", "reply", "quote", "forum", "answer", "question"],
    &["product", "price", "sku", "shop", "stock", "amount"],
    &["cart", "buy", "checkout", "wishlist", "drawer", "=bag", "qty", "quantity"],
    &["variant", "swatch", "option", "size", "color", "colour", "selector"],
    &["shipping", "return", "delivery", "policy", "warranty", "payment", "guarantee"],
    &["descri", "detail", "spec", "feature", "summary", "overview", "attribute"],
    &["review", "rating", "testimonial", "star"],
    &["filter", "facet", "sort", "refine", "search"],
    &[
        "hidden",
        "hide",
        "sr-only",
        "visually",
        "screen-reader",
        "screenreader",
        "d-none",
        "collaps",
        "print",
        "noprint",
        "offscreen",
    ],
    &["title", "headline", "heading", "=h1", "=h2", "=h3", "=h4", "=h5", "=h6", "name"],
    &[
        "caption", "credit", "photo", "image", "gallery", "figure", "carousel", "slide", "swiper",
        "video", "player", "media",
    ],
    &["signature", "user", "profile", "member", "avatar", "poster", "=sig"],
];

/// All words in one automaton: names are read once, whatever they hint at.
struct Patterns {
    automaton: AhoCorasick,
    /// For each pattern its hint, and whether it must stand alone.
    hints: Vec<(u32, bool)>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let words = || (0..).zip(WORDS).flat_map(|(hint, words)| words.iter().map(move |w| (hint, w)));
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words().map(|(_, word)| word.trim_start_matches('=')))
        .expect("words that are constants, built by a test");
    Patterns { automaton, hints: words().map(|(hint, w)| (hint, w.starts_with('='))).collect() }
});

/// Bytes of an attribute that are looked at: names come first, machines' endless lists later.
const NAMES_BYTES_MAX: usize = 256;

/// The hints in a name, one bit each.
pub(super) fn hints_in(names: &str) -> u32 {
    let names = &names.as_bytes()[..names.len().min(NAMES_BYTES_MAX)];
    let is_letter = |at: usize| names.get(at).is_some_and(u8::is_ascii_alphabetic);
    let mut bits = 0;
    for found in PATTERNS.automaton.find_overlapping_iter(names) {
        let (hint, is_whole) = PATTERNS.hints[found.pattern().as_usize()];
        let stands_alone = || !is_letter(found.start().wrapping_sub(1)) && !is_letter(found.end());
        if !is_whole || stands_alone() {
            bits |= 1 << hint;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_within_names_and_whole_ones_only_by_themselves() {
        let is = |names: &str, hints: &[u32]| {
            let bits = hints.iter().fold(0, |bits, hint| bits | 1 << hint);
            assert_eq!(hints_in(names), bits, "{names}");
        };
        is("Post-Content", &[0, 18]);
        is("ad ads-top", &[14]);
        is("header_shadow", &[7]);
        is("h2 h20", &[27]);
        is("path2", &[]);
        is("colour", &[21]);
    }
}

//! What the names in the markup hint at.
//!
//! Authors and content systems name their boxes: `post-content`, `sidebar`, `related`. The names
//! are English whatever the page's language is, as the markup is. Each group below is one hint; how
//! much a hint is worth is learned, not said here.

use std::sync::LazyLock;

use regex::bytes::RegexSet;

/// One hint, by its place in [`WORDS`].
pub(super) const HINTS: usize = WORDS.len();

/// The words of each hint, as patterns on the lower-cased `class`, `id`, `role` and `itemprop`.
const WORDS: [&str; 30] = [
    r"content|body|text|prose|markdown|richtext|copy",
    r"article|story|entry|blog|news",
    r"main|primary|center",
    r"comment|disqus|discuss|respon[ds]",
    r"nav|menu|crumb|toolbar|tablist|sitemap|skip|megamenu|dropdown",
    r"pagin|pager|page-num|load-more|next|prev",
    r"foot|copyright|legal|colophon|bottom|contentinfo",
    r"header|masthead|topbar|top-bar|top_|banner|logo|brand",
    r"side|aside|widget|rail|column|complementary|secondary",
    r"relat|recommend|more-|also|trending|popular|latest|recent|similar|upsell|cross-sell|viewed",
    r"teaser|promo|outbrain|taboola|marketing|campaign",
    r"share|sharing|social|follow|facebook|twitter|tweet|pinterest|whatsapp",
    r"meta|byline|author|date|time|publish",
    r"tag|categor|label|badge|info|stats|count",
    r"(^|[^a-z])ads?([^a-z]|$)|advert|sponsor|dfp|gpt|adslot|adunit",
    "cookie|consent|gdpr|newsletter|subscri|signup|sign-up|modal|popup|overlay|login|dialog|\
     paywall|alert",
    r"item|card|tile|grid",
    r"list|row|result|feed|stream|collection|catalog|archive",
    r"post|message|thread|topic|reply|quote|forum|answer|question",
    r"product|price|sku|shop|stock|amount",
    r"cart|buy|checkout|wishlist|drawer|(^|[^a-z])bag([^a-z]|$)|qty|quantity",
    r"variant|swatch|option|size|colou?r|selector",
    r"shipping|return|delivery|policy|warranty|payment|guarantee",
    r"descri|detail|spec|feature|summary|overview|attribute",
    r"review|rating|testimonial|star",
    r"filter|facet|sort|refine|search",
    "hidden|hide|sr-only|visually|screen-reader|screenreader|d-none|collaps|print|noprint|\
     offscreen",
    r"title|headline|heading|(^|[^a-z])h[1-6]([^a-z]|$)|name",
    r"caption|credit|photo|image|gallery|figure|carousel|slide|swiper|video|player|media",
    r"signature|user|profile|member|avatar|poster|(^|[^a-z])sig([^a-z]|$)",
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(WORDS).expect("patterns that are constants, compiled by a test")
});

/// Bytes of an attribute that are looked at: names come first, machines' endless lists later.
const NAMES_BYTES_MAX: usize = 256;

/// The hints in a name, one bit each.
pub(super) fn hints_in(names: &str) -> u32 {
    let names = &names.as_bytes()[..names.len().min(NAMES_BYTES_MAX)];
    let lower = names.to_ascii_lowercase();
    PATTERNS.matches(&lower).iter().fold(0, |bits, hint| bits | 1 << hint)
}

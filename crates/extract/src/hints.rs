//! What the names in the markup hint at.
//!
//! Authors and content systems name their boxes: `post-content`, `sidebar`, `related`. The names
//! are English whatever the page's language is, as the markup is. Each group below is one hint; how
//! much a hint is worth is learned, not said here.

use std::collections::VecDeque;
use std::sync::LazyLock;

/// One hint, by its place in [`WORDS`].
pub(super) const HINTS: usize = WORDS.len();
/// The hint of captions and what they stand under.
pub(super) const CAPTION: usize = 28;

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

/// All words in one automaton, so that names are read once, whatever they hint at.
///
/// A. Aho, M. Corasick, "Efficient string matching" (1975), with every step in a table: a general
/// one would stop at each word it finds, and names are made of these words.
struct Automaton {
    /// The column of each byte, whatever its case; 0 if it is in no word.
    column_of: [u8; 256],
    /// For each state, by where its columns begin, and each column: where those of the next begin.
    next: Vec<u16>,
    /// Where a state's columns begin: the hints of the words that end there.
    ends: Vec<u32>,
    /// Words that must stand alone: the state they end in, their length and hint.
    alone: Vec<(u16, usize, u32)>,
}

/// Among the hints of a state: a word ends there that must stand alone.
const ALONE: u32 = 1 << 31;

static AUTOMATON: LazyLock<Automaton> = LazyLock::new(Automaton::of_words);

impl Automaton {
    fn of_words() -> Automaton {
        let words = || (0..).zip(WORDS).flat_map(|(hint, all)| all.iter().map(move |w| (hint, *w)));
        let mut column_of = [0; 256];
        let mut columns = 1;
        for byte in words().flat_map(|(_, word)| word.trim_start_matches('=').bytes()) {
            if column_of[usize::from(byte)] == 0 {
                column_of[usize::from(byte)] = columns as u8;
                column_of[usize::from(byte.to_ascii_uppercase())] = columns as u8;
                columns += 1;
            }
        }
        let mut automaton = Automaton {
            column_of,
            next: vec![0; columns],
            ends: vec![0; columns],
            alone: Vec::new(),
        };
        words().for_each(|(hint, word)| automaton.add(word, hint, columns));
        automaton.lead_back(columns);
        automaton
    }

    /// Adds a word; states are numbered by where their columns begin.
    fn add(&mut self, word: &str, hint: u32, columns: usize) {
        let plain = word.trim_start_matches('=');
        let mut state = 0;
        for byte in plain.bytes() {
            let step = state + usize::from(self.column_of[usize::from(byte)]);
            if self.next[step] == 0 {
                let new = u16::try_from(self.next.len()).expect("the words are few");
                self.next[step] = new;
                self.next.resize(self.next.len() + columns, 0);
                self.ends.resize(self.next.len(), 0);
            }
            state = usize::from(self.next[step]);
        }
        if plain.len() < word.len() {
            self.ends[state] |= ALONE;
            self.alone.push((state as u16, plain.len(), hint));
        } else {
            self.ends[state] |= 1 << hint;
        }
    }

    /// Fills in where to go on when a word does not: at the longest end of it that begins another.
    fn lead_back(&mut self, columns: usize) {
        let mut back = vec![0_usize; self.next.len()];
        let children = |next: &[u16], state: usize| {
            let all = next[state..state + columns].to_vec();
            (0..columns).zip(all).filter(|(_, child)| *child != 0)
        };
        let mut queue: VecDeque<usize> =
            children(&self.next, 0).map(|(_, child)| usize::from(child)).collect();
        while let Some(state) = queue.pop_front() {
            let behind = back[state];
            self.ends[state] |= self.ends[behind];
            let inherited: Vec<_> =
                self.alone.iter().filter(|a| usize::from(a.0) == behind).copied().collect();
            self.alone
                .extend(inherited.iter().map(|(_, length, hint)| (state as u16, *length, *hint)));
            for (column, child) in children(&self.next, state) {
                back[usize::from(child)] = usize::from(self.next[behind + column]);
                queue.push_back(usize::from(child));
            }
            for column in 0..columns {
                if self.next[state + column] == 0 {
                    self.next[state + column] = self.next[behind + column];
                }
            }
        }
    }
}

/// Bytes of an attribute that are looked at: names come first, machines' endless lists later.
const NAMES_BYTES_MAX: usize = 256;

/// The hints in a name, one bit each.
pub(super) fn hints_in(names: &str) -> u32 {
    let names = &names.as_bytes()[..names.len().min(NAMES_BYTES_MAX)];
    let is_letter = |at: usize| names.get(at).is_some_and(u8::is_ascii_alphabetic);
    let automaton = &*AUTOMATON;
    let (mut state, mut bits) = (0, 0);
    for (at, byte) in names.iter().enumerate() {
        let column = usize::from(automaton.column_of[usize::from(*byte)]);
        state = usize::from(automaton.next[state + column]);
        let ends = automaton.ends[state];
        bits |= ends;
        if ends & ALONE != 0 {
            for (_, length, hint) in automaton.alone.iter().filter(|a| usize::from(a.0) == state) {
                let start = at + 1 - length;
                if !is_letter(start.wrapping_sub(1)) && !is_letter(at + 1) {
                    bits |= 1 << hint;
                }
            }
        }
    }
    bits & !ALONE
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
        is("img-caption", &[CAPTION as u32]);
        // Words that end and begin in each other, and one within a longer one.
        is("commentopicture", &[3, 18]);
        is("SUBSCRIPTION", &[15]);
        is("xh1x h1", &[27]);
    }
}

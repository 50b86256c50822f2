//! Links: gathered as written, resolved at the end.
//!
//! A `base` counts for links before it too, so references are kept (borrowed) until the page is
//! read. Then each different one is resolved once, in order, and repeats of a URL are merged.
//! Repeats are found in a table of hashes with a bounded search: a page whose links all meet in one
//! place keeps some repeats, and takes no more time.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use crate::url::{QueryCharset, Url};

/// How a page refers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `a`, also in `svg`.
    Anchor,
    /// `area` of an image map.
    Area,
    /// `frame` or `iframe`.
    Frame,
    /// `link rel=canonical`.
    Canonical,
    /// `link rel=alternate`: another language, medium or format of the page.
    Alternate,
    /// `link rel=alternate` with the type of a feed.
    Feed,
    /// `link rel=next`.
    Next,
    /// `link rel=prev`.
    Previous,
    /// `meta http-equiv=refresh`.
    Refresh,
}

/// A link, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: Url,
    /// How it was written; of several links to one URL the first counts.
    pub kind: LinkKind,
    /// Whether every link to this URL says `rel=nofollow`.
    pub nofollow: bool,
}

/// Links that room is made for at once.
const LINKS_LIKELY: usize = 32;
/// Bytes of all links of a page, resolved: a long base makes a long URL of each short reference. A
/// page of 50,000 ordinary links has less.
const LINK_BYTES_MAX: usize = 8 << 20;
/// Places that are looked at for a link's like.
const STEPS_MAX: usize = 32;

/// Links as the page writes them, until its base is known.
pub(super) struct RawLinks<'a> {
    found: Vec<RawLink<'a>>,
    links_max: usize,
    beyond: u64,
}

struct RawLink<'a> {
    reference: Cow<'a, str>,
    kind: LinkKind,
    nofollow: bool,
}

impl<'a> RawLinks<'a> {
    pub(super) fn new(links_max: usize) -> RawLinks<'a> {
        RawLinks { found: Vec::with_capacity(LINKS_LIKELY), links_max, beyond: 0 }
    }

    /// Takes a link in, unless it leads nowhere we go or there are too many.
    #[inline]
    pub(super) fn push(&mut self, reference: Cow<'a, str>, kind: LinkKind, nofollow: bool) {
        if !leads_elsewhere(&reference) {
            return;
        }
        if self.found.len() < self.links_max {
            self.found.push(RawLink { reference, kind, nofollow });
        } else {
            self.beyond += 1;
        }
    }

    /// The links, each URL once, in order of first appearance; and how many were beyond a limit.
    pub(super) fn resolve(mut self, base: &Url, charset: QueryCharset) -> (Vec<Link>, u64) {
        merge_repeats(&mut self.found, |link| &link.reference, |link| &mut link.nofollow);
        let mut links = Vec::with_capacity(self.found.len());
        let mut bytes = 0;
        for RawLink { reference, kind, nofollow } in self.found {
            if bytes > LINK_BYTES_MAX {
                self.beyond += 1;
                continue;
            }
            if let Ok(url) = base.join_in(&reference, charset) {
                bytes += url.as_str().len();
                links.push(Link { url, kind, nofollow });
            }
        }
        merge_repeats(&mut links, |link| link.url.as_str(), |link| &mut link.nofollow);
        (links, self.beyond)
    }
}

/// Removes items whose text an earlier item has; the earlier one keeps `nofollow` only if all have
/// it.
fn merge_repeats<T>(
    items: &mut Vec<T>,
    text: impl Fn(&T) -> &str,
    nofollow: impl Fn(&mut T) -> &mut bool,
) {
    // A hash's upper half, and the number of the item counted from one. A quarter of the places is
    // taken at most, so that only made-up hashes ever meet as often as the search allows.
    let mut places = vec![(0_u32, 0_u32); (items.len() * 4).next_power_of_two()];
    let mask = places.len() - 1;
    let mut repeats = 0;
    let mut is_repeat = vec![false; items.len()];
    for at in 0..items.len() {
        let hash = xxh3_64(text(&items[at]).as_bytes());
        let (from, mark) = (hash as usize, (hash >> 32) as u32);
        for place in (0..STEPS_MAX).map(|step| from.wrapping_add(step) & mask) {
            match places[place] {
                (_, 0) => {
                    places[place] = (mark, at as u32 + 1);
                    break;
                }
                (other, number)
                    if other == mark && text(&items[number as usize - 1]) == text(&items[at]) =>
                {
                    let first = number as usize - 1;
                    let both = *nofollow(&mut items[first]) && *nofollow(&mut items[at]);
                    *nofollow(&mut items[first]) = both;
                    is_repeat[at] = true;
                    repeats += 1;
                    break;
                }
                _ => (),
            }
        }
    }
    if repeats > 0 {
        let mut is_repeat = is_repeat.into_iter();
        items.retain(|_| !is_repeat.next().unwrap_or(false));
    }
}

/// Whether a reference can lead to another page: not empty, not only a fragment, not of a scheme
/// like `mailto:`. Schemes that are not told apart here are refused when the reference is resolved.
#[inline]
pub(super) fn leads_elsewhere(reference: &str) -> bool {
    let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
    let bytes = trimmed.as_bytes();
    match bytes.first() {
        None | Some(b'#') => return false,
        Some(first) if first.is_ascii_alphabetic() => (),
        Some(_) => return true,
    }
    let scheme_end = bytes.iter().position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(b));
    match scheme_end {
        Some(end) if bytes[end] == b':' => {
            let scheme = &trimmed[..end];
            ["https", "http", "ftp", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        }
        _ => true,
    }
}

/// The URL in the content of `meta http-equiv=refresh`: `5; url=/next`.
pub(super) fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_ascii_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let after_gap = after_time.trim_ascii_start();
    let target = match after_gap.strip_prefix([';', ',']) {
        Some(after) => after.trim_ascii_start(),
        None if after_gap.len() < after_time.len() => after_gap,
        None => return None,
    };
    if target.is_empty() {
        return None;
    }
    let target = after_url_word(target).unwrap_or(target);
    let Some(quote) = target.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Some(target);
    };
    let quoted = &target[1..];
    Some(quoted.find(quote).map_or(quoted, |end| &quoted[..end]))
}

/// What follows `url =`.
fn after_url_word(text: &str) -> Option<&str> {
    let word = text.get(..3).filter(|word| word.eq_ignore_ascii_case("url"))?;
    let after = text[word.len()..].trim_ascii_start().strip_prefix('=')?;
    Some(after.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_is_read_as_leniently_as_browsers_read_it() {
        for (content, target) in [
            ("0; url=/a", Some("/a")),
            (" 5;URL = '/b'; x", Some("/b")),
            ("1.5,/c", Some("/c")),
            ("3 url=\"/d", Some("/d")),
            ("2;urls/e", Some("urls/e")),
            ("10", None),
            ("5;", None),
            ("x; url=/f", None),
            ("5x; url=/g", None),
            ("1; 'é", Some("é")),
        ] {
            assert_eq!(refresh_target(content), target, "{content}");
        }
    }

    #[test]
    fn references_that_lead_nowhere_are_refused_before_they_are_parsed() {
        for nowhere in
            ["", " \n", "#top", " #", "javascript:void(0)", "MAILTO:a@b", "tel:1", "data:,x"]
        {
            assert!(!leads_elsewhere(nowhere), "{nowhere}");
        }
        for somewhere in ["/", "?q", "a", "a/b:c", "HTTP://x", "//x", "é", "https:a", "1:2"] {
            assert!(leads_elsewhere(somewhere), "{somewhere}");
        }
    }
}

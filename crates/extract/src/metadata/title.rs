//! The page's title: what its markup says, checked against the heading it shows.

use super::Metadata;
use super::stated::{Stated, StatedWhere, prefer};

/// What sites put between a page's title and their own name.
const SEPARATORS: [&str; 9] = [" | ", " - ", " – ", " — ", " :: ", " · ", " » ", " • ", "｜"];
/// Characters of a title at least; shorter parts are names.
const TITLE_CHARS_MIN: usize = 4;

/// Settles the title from the `title` element and the heading, if there are.
pub(crate) fn settle(metadata: &mut Metadata, document: &str, heading: Option<&str>) {
    if let Some(heading) = heading {
        let is_in_title = !heading.is_empty() && document.contains(heading);
        let trust = if is_in_title { 0.9 } else { 0.6 };
        prefer(&mut metadata.title, Stated::new(heading.to_owned(), StatedWhere::Text, trust));
    }
    if document.is_empty() {
        return;
    }
    let site = metadata.site_name.as_ref().map(|said| said.value.as_str());
    let bare = without_site(document, site);
    prefer(&mut metadata.title, Stated::new(bare.to_owned(), StatedWhere::Element, 0.7));
    if let Some(title) = &mut metadata.title {
        let site = metadata.site_name.as_ref().map(|said| said.value.as_str());
        title.value = without_site(&title.value, site).to_owned();
    }
}

/// A title without the site's name at its end: the part after the last separator, if it is that
/// name, or is much shorter than what stands before it.
fn without_site<'t>(title: &'t str, site: Option<&str>) -> &'t str {
    let last = SEPARATORS.iter().filter_map(|s| title.rfind(s).map(|at| (at, s.len()))).max();
    let Some((at, length)) = last else { return title };
    let (before, after) = (title[..at].trim(), title[at + length..].trim());
    let (own, other) = (before.chars().count(), after.chars().count());
    let is_site = site.is_some_and(|site| site.eq_ignore_ascii_case(after));
    let is_short = other * 3 <= own && after.split_whitespace().count() <= 4;
    if own >= TITLE_CHARS_MIN && (is_site || is_short) { before } else { title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sites_name_is_taken_off_and_a_dash_within_a_title_is_not() {
        for (title, site, bare) in [
            ("How rivers bend in the plains | The Daily", None, "How rivers bend in the plains"),
            ("Café - Wikipédia", Some("Wikipédia"), "Café"),
            ("Paris - Berlin", None, "Paris - Berlin"),
            ("One word", None, "One word"),
        ] {
            assert_eq!(without_site(title, site), bare);
        }
    }
}

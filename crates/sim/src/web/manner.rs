//! The manner of a page: the one thing, if any, that makes it unusual.
//!
//! Manners that hide links (private, not HTML, nofollow, refresh) are for leaves of the tree only,
//! so that a crawler that obeys them still reaches all the others.

use super::chance::{Purpose, Stream};
use super::config::WebConfig;
use super::site::{Site, page_draw};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Usual,
    /// Lives under /private/.
    Private,
    Media(Media),
    NoIndex,
    NoFollowByMeta,
    NoFollowByHeader,
    /// Has a meta refresh to another page of the site.
    Refresh,
    /// Some of its links are frames and image-map areas.
    Framed,
    /// Has a base element, and links that are wrong without it.
    Based,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Text,
    Pdf,
    Png,
}

impl Media {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Media::Text => "txt",
            Media::Pdf => "pdf",
            Media::Png => "png",
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Media::Text => "text/plain; charset=utf-8",
            Media::Pdf => "application/pdf",
            Media::Png => "image/png",
        }
    }
}

pub(crate) fn manner(config: &WebConfig, site: &Site, number: u32, n: u32) -> Manner {
    let odd = &config.oddities;
    if n == 0 || odd.private + odd.media + odd.directives == 0 {
        return Manner::Usual;
    }
    let mut chance = Stream::new(page_draw(config.seed, Purpose::Trait, number, n));
    let slot = chance.below(1000);
    let leaf = site.is_leaf(n);
    if slot < odd.private && leaf {
        Manner::Private
    } else if slot < odd.private + odd.media && leaf {
        Manner::Media([Media::Text, Media::Pdf, Media::Png][chance.below(3) as usize])
    } else if slot < odd.private + odd.media + odd.directives {
        directive(chance.below(6), leaf)
    } else {
        Manner::Usual
    }
}

fn directive(choice: u32, leaf: bool) -> Manner {
    match choice {
        0 if leaf => Manner::NoFollowByMeta,
        1 if leaf => Manner::NoFollowByHeader,
        2 if leaf => Manner::Refresh,
        3 => Manner::NoIndex,
        4 => Manner::Framed,
        _ => Manner::Based,
    }
}

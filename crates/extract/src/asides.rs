//! What stands between the paragraphs of prose and is none of it: teasers and captions.
//!
//! A block that is nothing but a link is an entry of a listing and belongs to it; between
//! paragraphs it leads to another page. The table knows links and captions too, but it learned
//! them on pages of all kinds at once, and few trees ask for both the page's kind and the block's.

use super::blocks::{Block, Blocks};
use super::hints::CAPTION;
use super::outline::{NEAR, ROLES, Role};

/// Log-odds that such a block loses. Chosen by cross-validation, as are the limits below.
const LOSS: f32 = 1.0;
/// Of the likely mass of a page of prose, the hundredths that are links.
const LINKS_MAX: u64 = 15;
/// Mass, in half words, of a teaser; shorter links are names and numbers.
const TEASER_MASS_MIN: u32 = 8;
/// Mass of a caption. What its names call one and is longer is a text in a box for pictures.
const CAPTION_MASS_MAX: u32 = 120;

pub(super) struct Asides<'p, 'a> {
    page: &'p Blocks<'a>,
    is_prose: bool,
}

impl<'p, 'a> Asides<'p, 'a> {
    /// Those of a page whose blocks have these log-odds.
    pub(super) fn of(page: &'p Blocks<'a>, scores: &[f32]) -> Asides<'p, 'a> {
        let likely = page.blocks.iter().zip(scores).filter(|(_, score)| **score > 0.0);
        let (mass, link_mass) = likely.fold((0_u64, 0_u64), |(mass, links), (block, _)| {
            (mass + u64::from(block.count.mass), links + u64::from(block.link_mass))
        });
        Asides { page, is_prose: link_mass * 100 < mass * LINKS_MAX }
    }

    /// The log-odds that a block loses.
    pub(super) fn loss(&self, block: &Block) -> f32 {
        if !self.is_prose {
            return 0.0;
        }
        let near = &self.page.outline.elements[block.element as usize].near;
        let mass = block.count.mass;
        let is_caption = near[ROLES + CAPTION] >= NEAR && mass <= CAPTION_MASS_MAX;
        // Headings of documentation often link to themselves.
        let is_teaser = mass >= TEASER_MASS_MIN
            && near[Role::Heading as usize] < NEAR
            && u64::from(block.link_mass) * 10 >= u64::from(mass) * 9;
        LOSS * f32::from(u8::from(is_caption) + u8::from(is_teaser))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;

    /// What each block of a page loses if all are likely.
    fn losses(html: &str) -> Vec<f32> {
        let page = Reading::of(html).blocks;
        let asides = Asides::of(&page, &vec![1.0; page.blocks.len()]);
        page.blocks.iter().map(|block| asides.loss(block)).collect()
    }

    #[test]
    fn a_link_between_paragraphs_is_a_teaser_and_one_in_a_listing_is_not() {
        let paragraph = format!("<p>{}</p>", "潮水每天涨落两次，由月亮牵引。".repeat(20));
        let link = "<p><a href=/b>Ebbe und Flut im Wattenmeer erklärt</a></p>";
        let caption = "<div class=photo-caption>Bei Ebbe am Strand</div>";
        let name = "<p><a href=/c>Ada King</a></p>";
        assert_eq!(losses(&[&paragraph, link, &paragraph].concat()), [0.0, LOSS, 0.0]);
        assert_eq!(losses(&[&paragraph, caption, name].concat()), [0.0, LOSS, 0.0]);
        assert_eq!(losses(&[link, link, caption].concat()), [0.0; 3]);
        let heading = "<h2><a href=#ebbe>Ebbe und Flut im Wattenmeer erklärt</a></h2>";
        let boxed = format!("<div class=media-body>{paragraph}</div>");
        assert_eq!(losses(&[&paragraph, heading, &boxed].concat()), [0.0; 3]);
    }
}

//! What is taken when the learned choice is next to nothing: what JSON-LD gives as the article's
//! text, the prose of its embedded state where that is more than the page shows, the plateau, or
//! all text outside of menus, in this order.

use super::decode::Taken;
use super::extracted::Method;
use super::outline::Role;
use super::reading::Reading;
use super::surroundings::Surroundings;

/// Words of a main text at least; with fewer, another way is tried.
const WORDS_MIN: u32 = 8;
/// Words of an article in JSON-LD that are worth more than what the page shows of it.
const BODY_WORDS_MIN: u32 = 100;
/// Confidence in each way, as far as it was measured: the plateau's mean F1, and guesses below it.
const PLATEAU_CONFIDENCE: f32 = 0.5;
const BODY_CONFIDENCE: f32 = 0.7;
const STATE_CONFIDENCE: f32 = 0.5;
const REST_CONFIDENCE: f32 = 0.2;

/// Which blocks are taken, and why; or a text that is no block of the page.
pub(super) struct Choice {
    pub taken: Vec<bool>,
    pub body: Option<String>,
    pub confidence: f32,
    pub method: Method,
}

pub(super) fn settle(reading: &Reading<'_>, around: &Surroundings, taken: Taken) -> Choice {
    let blocks = &reading.blocks.blocks;
    let words_of = |taken: &[bool]| {
        let chosen = blocks.iter().zip(taken).filter(|(_, taken)| **taken);
        chosen.map(|(block, _)| block.count.words).sum::<u32>()
    };
    let words = words_of(&taken.is_taken);
    let choice = |taken, confidence, method| Choice { taken, body: None, confidence, method };
    if let Some(body) = &reading.gathered.article_body {
        let body_words = super::words::count(body).words;
        if body_words >= BODY_WORDS_MIN && words < body_words / 3 {
            let body = Some(body.clone());
            let taken = vec![false; blocks.len()];
            return Choice { body, ..choice(taken, BODY_CONFIDENCE, Method::ArticleBody) };
        }
    }
    if let Some(prose) = &reading.scripts.prose {
        let body = Some(prose.clone());
        let taken = vec![false; blocks.len()];
        return Choice { body, ..choice(taken, STATE_CONFIDENCE, Method::EmbeddedState) };
    }
    if words >= WORDS_MIN {
        return choice(taken.is_taken, taken.confidence, Method::Learned);
    }
    let plateau: Vec<bool> = (0..blocks.len()).map(|at| around.plateau.contains(&at)).collect();
    if words_of(&plateau) > words.max(WORDS_MIN) {
        return choice(plateau, PLATEAU_CONFIDENCE * taken.confidence.max(0.5), Method::Plateau);
    }
    let is_rest = |role| move |near: &[u8]| near[role as usize] == 0;
    let rest: Vec<bool> = blocks
        .iter()
        .map(|block| {
            let near = &reading.blocks.outline.elements[block.element as usize].near;
            [Role::Nav, Role::Footer, Role::Hidden].iter().all(|role| is_rest(*role)(near))
        })
        .collect();
    if words_of(&rest) > words {
        return choice(rest, REST_CONFIDENCE, Method::Rest);
    }
    if words == 0 {
        return choice(vec![true; blocks.len()], REST_CONFIDENCE / 2.0, Method::Rest);
    }
    choice(taken.is_taken, taken.confidence, Method::Learned)
}

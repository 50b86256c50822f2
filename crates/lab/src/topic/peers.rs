//! Orders that the engine does not have: the usual best-first crawl, and one that knows the answer.

use super::Setting;

/// The page whose best parent is most relevant first, the first found among equals (Chakrabarti,
/// van den Berg, Dom, WWW8, 1999: soft focus).
pub fn best_parent(setting: &Setting<'_>, limit: usize) -> Vec<u32> {
    best_first(setting, limit, |setting, parent, _| (setting.relevance(parent) * 1e6) as u64)
}

/// Pages of the subject first, wherever one is linked to; else the first found.
pub fn oracle(setting: &Setting<'_>, limit: usize) -> Vec<u32> {
    best_first(setting, limit, |setting, _, page| u64::from(setting.is_wanted[page as usize]))
}

fn best_first(
    setting: &Setting<'_>,
    limit: usize,
    score: impl Fn(&Setting<'_>, u32, u32) -> u64,
) -> Vec<u32> {
    let pages = &setting.collection.pages;
    // By page: the best score so far, and when it was found; and whether it was fetched.
    let mut best: Vec<Option<(u64, u64)>> = vec![None; pages.len()];
    let mut is_fetched = vec![false; pages.len()];
    let mut found = 0u64;
    for &seed in setting.seeds {
        best[seed as usize] = Some((u64::MAX, u64::MAX - found));
        found += 1;
    }
    let mut order = Vec::new();
    while order.len() < limit {
        let waiting = (0..pages.len() as u32).filter(|page| !is_fetched[*page as usize]);
        let next = waiting.filter_map(|page| Some((best[page as usize]?, page)));
        let Some((_, page)) = next.max() else { break };
        is_fetched[page as usize] = true;
        order.push(page);
        for &to in &pages[page as usize].links {
            let score = score(setting, page, to);
            let at = best[to as usize].map_or(u64::MAX - found, |(_, at)| at);
            found += u64::from(best[to as usize].is_none());
            let before = best[to as usize].map_or(0, |(score, _)| score);
            best[to as usize] = Some((before.max(score), at));
        }
    }
    order
}

//! The order of what was found: BM25, then four more terms, each of them shown on demand.
//!
//! score = bm25 + a·importance + b·closeness + c·words in the URL − d·depth of the path.

/// Pages that are weighed again.
pub const DEPTH: usize = 1000;

/// What each term counts.
///
/// b was chosen by cross-validation on SciFact and Cranfield (docs/search.md). No judged data here
/// have links or URLs: the others are constants. A page a hundred times as important as the average
/// gains about as much as a word of the title brings (`a`), and the words of a query that are all
/// in the host and path bring as much again (`c`), so that a site is found by its name; the depth
/// only decides between equals (`d`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    pub importance: f32,
    pub closeness: f32,
    pub url: f32,
    pub depth: f32,
}

impl Default for Coefficients {
    fn default() -> Coefficients {
        Coefficients { importance: 1.5, closeness: 0.1, url: 1.5, depth: 0.02 }
    }
}

/// What is known of one page for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankingFeatures {
    pub bm25: f32,
    /// 0 to 1.
    pub importance: f32,
    pub closeness: f32,
    /// 0 to 1: share of the query's weight that is in host and path.
    pub url: f32,
    /// Segments of the path.
    pub depth: f32,
}

/// Segments of a path beyond which depth says nothing.
const DEPTH_OF_PATH_MAX: usize = 10;
/// Times the average importance that count half of all that can be gained.
const IMPORTANCE_HALF: f32 = 10.0;

impl RankingFeatures {
    pub fn score(&self, by: &Coefficients) -> f32 {
        self.bm25
            + by.importance * self.importance
            + by.closeness * self.closeness
            + by.url * self.url
            - by.depth * self.depth
    }
}

/// Importance between 0 and 1, of a share of all importance among so many pages.
pub fn saturated_importance(share: f32, pages: u32) -> f32 {
    let times = share.max(0.0) * pages as f32;
    times / (times + IMPORTANCE_HALF)
}

/// Segments of a URL's path.
pub fn path_depth(url: &str) -> f32 {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let segments = after_scheme.split('/').skip(1).filter(|segment| !segment.is_empty());
    segments.count().min(DEPTH_OF_PATH_MAX) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_is_between_nothing_and_one_and_paths_have_depths() {
        assert_eq!(saturated_importance(0.0, 1000), 0.0);
        assert_eq!(saturated_importance(0.01, 1000), 0.5);
        assert!(saturated_importance(1.0, u32::MAX) <= 1.0);
        assert_eq!(path_depth("https://a.org/"), 0.0);
        assert_eq!(path_depth("https://a.org/b/c.html"), 2.0);
    }
}

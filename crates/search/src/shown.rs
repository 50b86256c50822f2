//! What is shown of what was found.

use serde::Serialize;

use crate::ranking::{Coefficients, RankingFeatures};

/// How much is wanted.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    pub limit: usize,
    /// Near-duplicates and crowds of one host, too.
    pub all: bool,
    pub snippets: bool,
    pub explain: bool,
    /// List the pages left out for each that is shown.
    pub unfold: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { limit: 10, all: false, snippets: true, explain: false, unfold: false }
    }
}

/// The answer to a query.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SearchAnswer {
    pub query: String,
    /// What the query was taken to say.
    pub understood: String,
    /// Pages that match, near-duplicates included.
    pub total: usize,
    pub results: Vec<Shown>,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shown {
    pub id: String,
    pub url: String,
    pub title: String,
    pub snippet: String,
    pub score: f32,
    /// Pages that match and are nearly the same.
    pub omitted: usize,
    /// More pages of its host among those looked at.
    pub crowded: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// As the page says, else as it was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// When it was fetched last, changed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<String>,
    /// To the page that others are to be like, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<Omitted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<ScoreTerms>,
}

/// A page that is nearly the same as one that is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Omitted {
    pub id: String,
    pub url: String,
    /// Of the texts, by their shingles.
    pub similarity: f64,
    /// Words that only this one has, and only the one shown, the first few.
    pub added: Vec<String>,
    pub missing: Vec<String>,
}

/// Terms of a score: each as it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ScoreTerms {
    pub bm25: f32,
    pub importance: f32,
    pub closeness: f32,
    pub url: f32,
    pub depth: f32,
}

impl ScoreTerms {
    pub fn of(features: &RankingFeatures, by: &Coefficients) -> ScoreTerms {
        ScoreTerms {
            bm25: features.bm25,
            importance: by.importance * features.importance,
            closeness: by.closeness * features.closeness,
            url: by.url * features.url,
            depth: -by.depth * features.depth,
        }
    }
}

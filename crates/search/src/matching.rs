//! From what a query says to what tantivy looks for.

use std::sync::Arc;

use tantivy::query::{
    AllQuery, BitSetDocSet, BooleanQuery, ConstScoreQuery, ConstScorer, EnableScoring, Explanation,
    Occur, PhraseQuery, Query as Matched, Scorer, TermQuery, Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocId, Score, Searcher, SegmentReader, TantivyError, Term};

use crate::beside::Beside;
use crate::query::{Atom, Query, QueryItem};
use crate::schema::{Fields, PageTag};
use crate::stemming::Stems;

/// Words in more pages than this share only order what others found: reading their postings would
/// cost most and tell least.
const COMMON_SHARE: f32 = 0.25;
/// In smaller indexes no word is common.
const COMMON_PAGES_MIN: u64 = 10_000;
/// Pairs that a single character without spaces stands for.
const PREFIXED_MAX: usize = 32;
const SECONDS_A_DAY: i32 = 86_400;

/// A word that is looked for.
pub struct SoughtWord {
    pub word: String,
    /// Its stems in the languages of the index, those that are there.
    pub stems: Vec<String>,
    pub terms: Vec<Term>,
    pub idf: f32,
    /// In too many pages to be looked for if others are.
    is_common: bool,
}

/// What is looked for.
pub struct Plan {
    pub matched: Box<dyn Matched>,
    pub words: Vec<SoughtWord>,
    /// Words that no page has.
    pub absent: Vec<String>,
}

/// What a plan is made with.
pub struct Planner<'a> {
    pub fields: Fields,
    pub searcher: &'a Searcher,
    pub beside: &'a Arc<Beside>,
    /// Languages of the index, the most frequent first.
    pub languages: Vec<&'static str>,
    pub stems: &'a mut Stems,
}

type Clause = (Occur, Box<dyn Matched>);

impl Planner<'_> {
    /// `like` is the number of the page that others are to be like, and the words that are its own.
    pub fn plan(
        mut self,
        query: &Query,
        like: Option<(u32, Vec<String>)>,
    ) -> tantivy::Result<Plan> {
        let mut plan = Plan { matched: Box::new(AllQuery), words: Vec::new(), absent: Vec::new() };
        let mut clauses: Vec<Clause> = Vec::new();
        let (mut has_required, mut first_plain) = (false, Vec::new());
        for group in &query.groups {
            if let [QueryItem { atom: Atom::Word(word), is_excluded: false }] = group.as_slice() {
                self.word(word, &mut plan)?.into_iter().for_each(|at| first_plain.push(at));
                continue;
            }
            if let [item] = group.as_slice() {
                if matches!(item.atom, Atom::Similar(_)) && !item.is_excluded && like.is_some() {
                    continue;
                }
                let occur = if item.is_excluded { Occur::MustNot } else { Occur::Must };
                has_required |= matches!(item.atom, Atom::Phrase(_)) && !item.is_excluded;
                clauses.push((occur, self.atom(&item.atom, !item.is_excluded, &mut plan)?));
                continue;
            }
            has_required = true;
            clauses.push((Occur::Must, self.any_of(group, &mut plan)?));
        }
        if let Some((number, words)) = like {
            if words.is_empty() {
                // It shares no word with any other page.
                clauses.push((Occur::Must, Box::new(tantivy::query::EmptyQuery)));
            }
            for word in words {
                self.word(&word, &mut plan)?.into_iter().for_each(|at| first_plain.push(at));
            }
            let term = Term::from_field_u64(self.fields.number, number.into());
            clauses.push((Occur::MustNot, Box::new(basic(term))));
        }
        let asked = !first_plain.is_empty() || !plan.absent.is_empty();
        self.add_words(&plan, &first_plain, has_required, &mut clauses);
        let has_words = !plan.words.is_empty();
        if clauses.is_empty() && (asked || query.groups.is_empty()) {
            plan.matched = Box::new(tantivy::query::EmptyQuery);
            return Ok(plan);
        }
        if asked && !has_words && !has_required {
            // All words are absent: filters alone must not answer for them.
            plan.matched = Box::new(tantivy::query::EmptyQuery);
            return Ok(plan);
        }
        plan.matched = joined(clauses, has_words);
        Ok(plan)
    }

    /// Words order what is required by others, or are required themselves, one of them at least.
    fn add_words(&self, plan: &Plan, plain: &[usize], required: bool, clauses: &mut Vec<Clause>) {
        let terms = |at: &mut dyn Iterator<Item = usize>| -> Vec<Clause> {
            let terms = at.flat_map(|at| plan.words[at].terms.iter());
            terms.map(|term| (Occur::Should, scored(term.clone()))).collect()
        };
        if required {
            clauses.extend(terms(&mut (0..plan.words.len())));
            return;
        }
        if plain.is_empty() {
            return;
        }
        let rare = plain.iter().filter(|at| !plan.words[**at].is_common);
        let mut wanted: Vec<usize> = rare.copied().collect();
        if wanted.is_empty() {
            wanted = plain.to_vec();
        }
        let union = terms(&mut wanted.into_iter());
        clauses.push((Occur::Must, Box::new(BooleanQuery::new(union))));
    }

    fn any_of(
        &mut self,
        group: &[QueryItem],
        plan: &mut Plan,
    ) -> tantivy::Result<Box<dyn Matched>> {
        let mut any: Vec<Clause> = Vec::new();
        for item in group {
            let matched = self.atom(&item.atom, !item.is_excluded, plan)?;
            any.push((Occur::Should, if item.is_excluded { without(matched) } else { matched }));
        }
        Ok(unscored(Box::new(BooleanQuery::new(any))))
    }

    /// One thing that is asked for, as a filter. Words in it score if they are `wanted`.
    fn atom(
        &mut self,
        atom: &Atom,
        wanted: bool,
        plan: &mut Plan,
    ) -> tantivy::Result<Box<dyn Matched>> {
        let fields = self.fields;
        let tagged = |tag, value: &str| -> Box<dyn Matched> {
            unscored(Box::new(basic(fields.tagged(tag, value))))
        };
        Ok(match atom {
            Atom::Word(word) => {
                let words = self.terms_of(word)?;
                if wanted {
                    self.word(word, plan)?;
                }
                any_term(words.into_iter().map(|(_, term, _)| term))
            }
            Atom::Phrase(words) => {
                if wanted {
                    for word in words {
                        self.word(word, plan)?;
                    }
                }
                unscored(self.phrase(words))
            }
            Atom::Site(site) => tagged(PageTag::Site, site),
            Atom::Host(host) => tagged(PageTag::Host, host),
            Atom::Language(language) => tagged(PageTag::Language, language),
            Atom::Kind(kind) => tagged(PageTag::Kind, kind),
            Atom::InUrl(words) => {
                all_of(words.iter().map(|word| tagged(PageTag::InUrl, word)).collect())
            }
            Atom::InTitle(words) => all_of(words.iter().map(|word| self.in_title(word)).collect()),
            Atom::Before(day) => self.days(i32::MIN, *day),
            Atom::After(day) => self.days(*day, i32::MAX),
            Atom::Similar(_) => Box::new(tantivy::query::EmptyQuery),
        })
    }

    /// Pages with a word in their title, stemmed as any language has it.
    fn in_title(&mut self, word: &str) -> Box<dyn Matched> {
        let mut stems: Vec<String> =
            self.languages.iter().map(|tag| self.stems.stem(word, tag)).collect();
        stems.push(word.to_owned());
        any_term(stems.iter().map(|stem| self.fields.tagged(PageTag::InTitle, stem)))
    }

    fn days(&self, from: i32, to: i32) -> Box<dyn Matched> {
        Box::new(Days { beside: Arc::clone(self.beside), from, to })
    }

    fn phrase(&self, words: &[String]) -> Box<dyn Matched> {
        let term = |word: &String| Term::from_field_text(self.fields.exact, word);
        match words {
            [] => Box::new(tantivy::query::EmptyQuery),
            [word] => Box::new(basic(term(word))),
            _ => Box::new(PhraseQuery::new(words.iter().map(term).collect())),
        }
    }

    /// Adds a word to the plan; its place there, unless no page has it. One that is there already
    /// is not added again.
    fn word(&mut self, word: &str, plan: &mut Plan) -> tantivy::Result<Option<usize>> {
        if plan.words.iter().any(|known| known.word == word) {
            return Ok(None);
        }
        let found = self.terms_of(word)?;
        let pages = self.searcher.num_docs();
        let Some(frequency) = found.iter().map(|(_, _, frequency)| *frequency).max() else {
            plan.absent.push(word.to_owned());
            return Ok(None);
        };
        let (count, frequency) = (pages.max(frequency) as f32, frequency as f32);
        let mut added = SoughtWord {
            word: word.to_owned(),
            stems: Vec::new(),
            terms: Vec::new(),
            idf: (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln(),
            is_common: pages >= COMMON_PAGES_MIN && frequency > COMMON_SHARE * count,
        };
        for (stem, term, _) in found {
            if plan.words.iter().any(|other| other.terms.contains(&term)) {
                continue;
            }
            added.stems.push(stem);
            added.terms.push(term);
        }
        if added.terms.is_empty() {
            return Ok(None);
        }
        plan.words.push(added);
        Ok(Some(plan.words.len() - 1))
    }

    /// Stems of a word that are in the index, as terms, with the number of pages.
    fn terms_of(&mut self, word: &str) -> tantivy::Result<Vec<(String, Term, u64)>> {
        let mut stems: Vec<String> = Vec::new();
        let mut add = |stem: String| {
            if !stems.contains(&stem) {
                stems.push(stem);
            }
        };
        if is_lone_character(word) {
            self.prefixed(word)?.into_iter().for_each(&mut add);
        }
        for tag in &self.languages {
            add(self.stems.stem(word, tag));
        }
        add(self.stems.stem(word, ""));
        let mut found = Vec::new();
        for stem in stems {
            let term = Term::from_field_text(self.fields.words, &stem);
            let frequency = self.searcher.doc_freq(&term)?;
            if frequency > 0 {
                found.push((stem, term, frequency));
            }
        }
        Ok(found)
    }

    /// Pairs that begin with a character.
    fn prefixed(&self, character: &str) -> tantivy::Result<Vec<String>> {
        let mut found = Vec::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.words)?;
            let mut stream = index.terms().range().ge(character).into_stream()?;
            while stream.advance() && found.len() < PREFIXED_MAX {
                match std::str::from_utf8(stream.key()) {
                    Ok(term) if term.starts_with(character) => found.push(term.to_owned()),
                    _ => break,
                }
            }
        }
        Ok(found)
    }
}

/// A single character of a script without spaces.
fn is_lone_character(word: &str) -> bool {
    let mut is_pair = false;
    crate::tokens::each_token(word, |token| is_pair |= token.is_pair);
    is_pair && word.chars().count() == 1
}

fn basic(term: Term) -> TermQuery {
    TermQuery::new(term, IndexRecordOption::Basic)
}

fn scored(term: Term) -> Box<dyn Matched> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

fn unscored(query: Box<dyn Matched>) -> Box<dyn Matched> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

/// Pages that all filters let through.
fn all_of(mut filters: Vec<Box<dyn Matched>>) -> Box<dyn Matched> {
    if filters.len() == 1 {
        return filters.remove(0);
    }
    let all = filters.into_iter().map(|filter| (Occur::Must, filter));
    unscored(Box::new(BooleanQuery::new(all.collect())))
}

fn without(query: Box<dyn Matched>) -> Box<dyn Matched> {
    let all: Clause = (Occur::Must, Box::new(AllQuery));
    Box::new(BooleanQuery::new(vec![all, (Occur::MustNot, query)]))
}

fn any_term(terms: impl Iterator<Item = Term>) -> Box<dyn Matched> {
    let terms: Vec<Clause> =
        terms.map(|term| (Occur::Should, Box::new(basic(term)) as Box<dyn Matched>)).collect();
    if terms.is_empty() {
        return Box::new(tantivy::query::EmptyQuery);
    }
    unscored(Box::new(BooleanQuery::new(terms)))
}

/// All clauses together; a single one as it is, so that its scorer may skip what cannot win.
fn joined(mut clauses: Vec<Clause>, has_words: bool) -> Box<dyn Matched> {
    if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
        clauses.push((Occur::Must, unscored(Box::new(AllQuery))));
    }
    if clauses.len() == 1 && has_words {
        return clauses.remove(0).1;
    }
    Box::new(BooleanQuery::new(clauses))
}

/// Pages whose day is in a range: as they say, else as they were fetched.
#[derive(Clone)]
struct Days {
    beside: Arc<Beside>,
    from: i32,
    to: i32,
}

impl std::fmt::Debug for Days {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "days {} to {}", self.from, self.to)
    }
}

impl Matched for Days {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Days {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let numbers = reader.fast_fields().u64("number")?;
        let mut days = BitSet::with_max_value(reader.max_doc());
        for document in 0..reader.max_doc() {
            let number = numbers.first(document).unwrap_or(u64::MAX);
            let day =
                u32::try_from(number).ok().and_then(|number| day_of_page(&self.beside, number));
            if day.is_some_and(|day| (self.from..self.to).contains(&day)) {
                days.insert(document);
            }
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(days), 0.0)))
    }

    fn explain(&self, _: &SegmentReader, document: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument(format!("days do not score document {document}")))
    }
}

/// The day of a page.
pub fn day_of_page(beside: &Beside, number: u32) -> Option<i32> {
    let stated = beside.entry(number)?.day;
    if stated != 0 {
        return Some(stated);
    }
    let fetched = beside.changing(number).fetched;
    (fetched != 0).then(|| (i64::from(fetched) / i64::from(SECONDS_A_DAY)) as i32)
}

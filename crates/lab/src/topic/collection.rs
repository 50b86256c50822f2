//! Pages with texts, links and subjects, as they are given: JSON lines and one JSON value.

use rhumb_page::html::AROUND_BYTES;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

pub struct JudgedPage {
    pub title: String,
    pub text: String,
    /// Places in the list of pages, sorted and distinct.
    pub links: Vec<u32>,
    /// What stands beside each link: in the text, around the first place that has the title of the
    /// page that it leads to. Nothing where it has none.
    pub around: Vec<String>,
}

pub struct TopicSubject {
    pub pages: Vec<u32>,
    /// Several draws.
    pub seeds: Vec<Vec<u32>>,
}

pub struct JudgedPages {
    pub pages: Vec<JudgedPage>,
    pub subjects: BTreeMap<String, TopicSubject>,
}

#[derive(Deserialize)]
struct GivenPage {
    id: u64,
    #[serde(default)]
    title: String,
    text: String,
    links: Vec<u64>,
}

#[derive(Deserialize)]
struct GivenSubject {
    pages: Vec<u64>,
    seeds: Vec<Vec<u64>>,
}

impl JudgedPages {
    /// Reads both; what is wrong with which line otherwise.
    pub fn read(pages: impl BufRead, subjects: impl BufRead) -> Result<JudgedPages, String> {
        let mut given = Vec::new();
        for (at, line) in pages.lines().enumerate() {
            let line = line.map_err(|error| format!("pages: line {}: {error}", at + 1))?;
            if line.trim().is_empty() {
                continue;
            }
            let page = serde_json::from_str::<GivenPage>(&line)
                .map_err(|error| format!("pages: line {}: {error}", at + 1))?;
            given.push(page);
        }
        let subjects: BTreeMap<String, GivenSubject> =
            serde_json::from_reader(subjects).map_err(|error| format!("subjects: {error}"))?;
        let numbers: HashMap<u64, u32> =
            given.iter().enumerate().map(|(at, page)| (page.id, at as u32)).collect();
        if numbers.len() < given.len() {
            return Err("pages: two have the same id".to_owned());
        }
        let known = |ids: Vec<u64>, of: &str| {
            let find = |id: u64| numbers.get(&id).copied().ok_or(id);
            let found = ids.into_iter().map(find).collect::<Result<Vec<u32>, u64>>();
            found.map_err(|id| format!("subjects: {of}: no page has the id {id}"))
        };
        let labels: Vec<Vec<String>> = subjects.keys().map(|name| label(name)).collect();
        let mut collection = JudgedPages { pages: Vec::new(), subjects: BTreeMap::new() };
        for (name, subject) in subjects {
            let seeds = subject.seeds.into_iter().map(|seeds| known(seeds, &name));
            let seeds = seeds.collect::<Result<Vec<_>, String>>()?;
            let pages = known(subject.pages, &name)?;
            collection.subjects.insert(name, TopicSubject { pages, seeds });
        }
        for page in given {
            let mut links: Vec<u32> =
                page.links.iter().filter_map(|id| numbers.get(id).copied()).collect();
            links.sort_unstable();
            links.dedup();
            let text = without_labels(&page.text, &labels).to_owned();
            let around = vec![String::new(); links.len()];
            collection.pages.push(JudgedPage { title: page.title, text, links, around });
        }
        collection.look_around();
        Ok(collection)
    }

    fn look_around(&mut self) {
        let titles: Vec<String> = self.pages.iter().map(|page| page.title.to_lowercase()).collect();
        for page in &mut self.pages {
            let text = page.text.to_lowercase();
            for (to, around) in page.links.iter().zip(&mut page.around) {
                *around = beside(&text, &titles[*to as usize]).unwrap_or_default();
            }
        }
    }
}

/// What stands before and after a title in a text, as a crawl keeps it of a link.
fn beside(text: &str, title: &str) -> Option<String> {
    let start = text.find(title).filter(|_| !title.is_empty())?;
    let end = start + title.len();
    let before = text.ceil_char_boundary(start.saturating_sub(AROUND_BYTES))..start;
    let after = end..text.floor_char_boundary(end.saturating_add(AROUND_BYTES));
    Some([&text[before], &text[after]].join(" "))
}

/// The words of a subject's own name, the last part of a dotted one.
fn label(name: &str) -> Vec<String> {
    let last = name.rsplit('.').next().unwrap_or(name);
    words(last).map(str::to_lowercase).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A text that begins with the names of its subjects gives them away: they are cut.
fn without_labels<'a>(mut text: &'a str, labels: &[Vec<String>]) -> &'a str {
    while let Some(rest) =
        labels.iter().filter_map(|label| after(text, label)).min_by_key(|r| r.len())
    {
        text = rest;
    }
    text
}

/// What follows these words at the head of a text.
fn after<'a>(text: &'a str, label: &[String]) -> Option<&'a str> {
    let mut found = words(text);
    let mut end = 0;
    for wanted in label {
        let word = found.next().filter(|word| word.to_lowercase() == *wanted)?;
        end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
    }
    (end > 0).then(|| text[end..].trim_start_matches(|c: char| !c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_does_not_begin_with_the_name_of_its_subject() {
        let labels = ["a.British_History_1500_and_before", "b.Birds"].map(label);
        let cut = |text| without_labels(text, &labels);
        assert_eq!(cut("British History 1500 and before; Birds The heron"), "The heron");
        assert_eq!(cut("Birds iNightingale"), "iNightingale");
        assert_eq!(cut("British birds"), "British birds");
        assert_eq!(cut(""), "");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let page = r#"{"id": 4, "title": "T", "text": "t", "links": [9, 4]}"#;
        let read =
            |pages: &str, subjects: &str| JudgedPages::read(pages.as_bytes(), subjects.as_bytes());
        let ok = read(page, r#"{"s": {"pages": [4], "seeds": [[4]]}}"#).unwrap();
        assert_eq!(ok.pages[0].links, [0]);
        let wrong = |p: &str, s: &str| read(p, s).err().unwrap();
        assert!(wrong("{}", "{}").contains("line 1"));
        assert!(wrong(&format!("{page}\n{page}"), "{}").contains("same id"));
        assert!(
            wrong(page, r#"{"s": {"pages": [5], "seeds": []}}"#).contains("no page has the id 5")
        );
    }
}

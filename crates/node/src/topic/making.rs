//! Making a topic of what its owner names: `--topic`, `--topic-against`, `rhumb topic train`.

use super::examples;
use crate::settings::TopicSpec;
use rhumb_extract::language;
use rhumb_topic::features::{Feature, TextFeatures};
use rhumb_topic::training::{AGAINST_MAX, EXAMPLES_MAX, LearntModel, learn, learn_alone};
use rhumb_topic::{Spec, Topic, TopicPart, background, fasttext, file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A topic, and what its owner should know of it.
#[derive(Debug)]
pub struct MadeTopic {
    pub topic: Topic,
    pub warnings: Vec<String>,
}

/// Held-out examples and other texts are told apart this well, or somebody is told.
const AUC_MIN: f32 = 0.8;
/// Examples with fewer words say little.
const WORDS_MIN: usize = 20;

/// The text of a page that is named by its address, or why there is none.
pub type TextAt<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// Makes one topic of all specs: what is of one of them is of the topic.
pub fn made(
    specs: &[TopicSpec],
    against: Option<&Path>,
    text_at: &TextAt<'_>,
) -> Result<MadeTopic, String> {
    let mut made = MadeTopic { topic: Topic::default(), warnings: Vec::new() };
    let mut examples: Vec<Example> = Vec::new();
    for spec in specs {
        match spec.0.parse::<Spec>()? {
            Spec::Words(words) => {
                let is_one = words.phrases.len() == 1;
                if is_one {
                    made.warnings.push(format!(
                        "{}: one word or phrase finds only pages that use it; name others that the \
                         same pages use, or examples with like:",
                        spec.0
                    ));
                }
                made.topic.parts.push(TopicPart::Words(words));
            }
            Spec::Pattern(pattern) => made.topic.parts.push(TopicPart::Pattern(pattern)),
            Spec::Model(path) => made.topic.parts.extend(read(&path)?.parts),
            Spec::Like(place) if place.contains("://") => examples.push(Example::At(place)),
            Spec::Like(path) => examples.push(Example::File(PathBuf::from(path))),
        }
    }
    if !examples.is_empty() {
        let (learnt, warnings) = trained(&examples, against, text_at)?;
        made.topic.parts.push(TopicPart::Learnt(Box::new(learnt.model)));
        made.warnings.extend(warnings);
    }
    Ok(made)
}

/// A topic that `rhumb topic train` or a crawl has written, or a model of fastText: FILE#LABEL.
fn read(named: &str) -> Result<Topic, String> {
    let whole = |path: &str| std::fs::read(path).map_err(|error| format!("{path}: {error}"));
    let (path, label) = match named.rsplit_once('#') {
        Some((path, label)) if !Path::new(named).exists() => (path, label),
        _ => (named, ""),
    };
    let bytes = whole(path)?;
    if fasttext::is_model(&bytes) {
        return file::fast_text(bytes, label).map_err(|why| format!("{path}: {why}"));
    }
    file::read(&bytes).map_err(|why| {
        format!("{path}: {why}: rhumb topic train --like DIR --against DIR -o MODEL makes one")
    })
}

/// Where examples are.
#[derive(Clone, Debug)]
pub enum Example {
    /// A file, or a folder of files.
    File(PathBuf),
    /// A page, by its address.
    At(String),
}

/// Learns a model from examples, and from files that are none: without such, from short texts on
/// everyday subjects.
pub fn trained(
    examples: &[Example],
    against: Option<&Path>,
    text_at: &TextAt<'_>,
) -> Result<(LearntModel, Vec<String>), String> {
    let mut warnings = Vec::new();
    let mut others = LearntFrom::default();
    match against {
        Some(against) => {
            others.take(examples::texts(against)?, against, AGAINST_MAX, &mut warnings);
        }
        None => {
            let texts = background::texts().map(|text| (PathBuf::new(), text.to_owned()));
            others.take(texts.collect(), Path::new(""), AGAINST_MAX, &mut warnings);
            warnings.push(format!(
                "held against {} short texts on everyday subjects: a few hundred pages that are \
                 not of the topic tell more (--topic-against DIR; --against DIR for rhumb topic \
                 train)",
                others.features.len()
            ));
        }
    }
    let mut of_topic = LearntFrom::default();
    for example in examples {
        let (texts, path) = match example {
            Example::File(path) => (examples::texts(path)?, path.clone()),
            Example::At(url) => {
                let text = text_at(url).map_err(|why| format!("like:{url}: {why}"))?;
                (vec![(PathBuf::from(url), text)], PathBuf::from(url))
            }
        };
        of_topic.take(texts, &path, EXAMPLES_MAX, &mut warnings);
    }
    if of_topic.features.is_empty() {
        return Err("no example has any text: name pages of HTML or plain text".to_owned());
    }
    let (examples, other_texts) = (of_topic.slices(), others.slices());
    let learnt = match against {
        Some(path) => learn(&examples, &other_texts).ok_or_else(|| {
            let path = path.display();
            format!("{path}: at least five texts are needed to tell the topic from")
        })?,
        None => learn_alone(&examples, &other_texts).ok_or("no text to tell the topic from")?,
    };
    warnings.extend(of_topic.foreign(&others));
    let is_low = |auc: &f32| *auc < AUC_MIN;
    if learnt.is_blurred || learnt.auc.as_ref().is_some_and(is_low) {
        warnings.push(format!(
            "the examples can hardly be told from the other texts (AUC {}, where 0.5 is chance): \
             are they of one subject, and the others of none of it? name more of both",
            learnt.auc.map_or("unknown".to_owned(), |auc| format!("{auc:.2}"))
        ));
    }
    Ok((learnt, warnings))
}

/// Texts that are learnt from.
#[derive(Default)]
struct LearntFrom {
    features: Vec<Vec<Feature>>,
    /// How many are in each language, where that is plain.
    languages: BTreeMap<&'static str, usize>,
}

impl LearntFrom {
    fn take(
        &mut self,
        texts: Vec<(PathBuf, String)>,
        path: &Path,
        max: usize,
        warnings: &mut Vec<String>,
    ) {
        if texts.len() > max {
            warnings.push(format!(
                "{}: of {} files the first {max} are read",
                path.display(),
                texts.len()
            ));
        }
        let mut features = TextFeatures::default();
        for (file, text) in texts.into_iter().take(max) {
            let found = features.of(&text);
            if found.len() < WORDS_MIN {
                warnings.push(format!("{}: hardly any text, left out", file.display()));
                continue;
            }
            self.features.push(found.to_vec());
            if let Some(language) = language::of_text(&text) {
                *self.languages.entry(language).or_default() += 1;
            }
        }
    }

    fn slices(&self) -> Vec<&[Feature]> {
        self.features.iter().map(Vec::as_slice).collect()
    }

    /// Examples in a language that no other text is in teach the language, not the topic.
    fn foreign(&self, others: &LearntFrom) -> Option<String> {
        let is_alone = |language: &&str| !others.languages.contains_key(*language);
        let alone: Vec<&str> = self.languages.keys().copied().filter(is_alone).collect();
        let has_others = !others.languages.is_empty() && !alone.is_empty();
        has_others.then(|| {
            let those: Vec<&str> = others.languages.keys().copied().collect();
            format!(
                "examples are in a language ({}) that none of the other texts is in ({}): the \
                 model will tell languages apart, not topics; name other pages in the language of \
                 the examples, and examples in that of the pages that are crawled",
                alone.join(", "),
                those.join(", ")
            )
        })
    }
}

/// What a page or text in a file says.
pub fn text(path: &Path) -> Result<String, String> {
    examples::text(path)
}

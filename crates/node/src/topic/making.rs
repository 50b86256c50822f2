//! Making a topic of what its owner names: `--topic`, `--topic-against`, `rhumb topic train`.

use super::examples;
use crate::settings::TopicSpec;
use rhumb_topic::features::{Feature, Features};
use rhumb_topic::training::{AGAINST_MAX, EXAMPLES_MAX, Learnt, learn};
use rhumb_topic::{Part, Spec, Topic, file};
use std::path::{Path, PathBuf};

/// A topic, and what its owner should know of it.
#[derive(Debug)]
pub struct Made {
    pub topic: Topic,
    pub warnings: Vec<String>,
}

/// Held-out examples and other texts are told apart this well, or somebody is told.
const AUC_MIN: f32 = 0.8;
/// Examples with fewer words say little.
const WORDS_MIN: usize = 20;

/// Makes one topic of all specs: what is of one of them is of the topic.
pub fn made(specs: &[TopicSpec], against: Option<&Path>) -> Result<Made, String> {
    let mut made = Made { topic: Topic::default(), warnings: Vec::new() };
    let mut examples: Vec<PathBuf> = Vec::new();
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
                made.topic.parts.push(Part::Words(words));
            }
            Spec::Pattern(pattern) => made.topic.parts.push(Part::Pattern(pattern)),
            Spec::Model(path) => made.topic.parts.extend(read(Path::new(&path))?.parts),
            Spec::Like(path) if path.contains("://") => {
                return Err(format!(
                    "like:{path}: examples are files: save the page, and say like:FILE"
                ));
            }
            Spec::Like(path) => examples.push(PathBuf::from(path)),
        }
    }
    if !examples.is_empty() {
        let (learnt, warnings) = trained(&examples, against)?;
        made.topic.parts.push(Part::Learnt(Box::new(learnt.model)));
        made.warnings.extend(warnings);
    }
    Ok(made)
}

/// A topic that `rhumb topic train`, or a crawl, has written.
pub fn read(path: &Path) -> Result<Topic, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    file::read(&bytes).map_err(|why| {
        format!(
            "{}: {why}: rhumb topic train --like DIR --against DIR -o MODEL makes one",
            path.display()
        )
    })
}

/// Learns a model from the examples in these files and folders.
pub fn trained(
    examples: &[PathBuf],
    against: Option<&Path>,
) -> Result<(Learnt, Vec<String>), String> {
    let Some(against) = against else {
        return Err(
            "examples alone do not say what the topic is not: name a folder of other pages \
                    (--topic-against DIR; --against DIR for rhumb topic train), the more of the \
                    same language the better"
                .to_owned(),
        );
    };
    let mut warnings = Vec::new();
    let mut of_topic = Vec::new();
    for path in examples {
        of_topic.extend(features(path, EXAMPLES_MAX, &mut warnings)?);
    }
    if of_topic.is_empty() {
        return Err("no example has any text: name files of HTML or plain text".to_owned());
    }
    let others = features(against, AGAINST_MAX, &mut warnings)?;
    let learnt = learn(&slices(&of_topic), &slices(&others)).ok_or_else(|| {
        format!("{}: at least five texts are needed to tell the topic from", against.display())
    })?;
    if learnt.is_blurred || learnt.auc < AUC_MIN {
        warnings.push(format!(
            "the examples can hardly be told from the other texts (AUC {:.2}, where 0.5 is \
             chance): are they of one subject, and the others of none of it? name more of both",
            learnt.auc
        ));
    }
    Ok((learnt, warnings))
}

fn features(
    path: &Path,
    max: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<Vec<Feature>>, String> {
    let texts = examples::texts(path)?;
    if texts.len() > max {
        warnings.push(format!(
            "{}: of {} files the first {max} are read",
            path.display(),
            texts.len()
        ));
    }
    let mut features = Features::default();
    let mut all = Vec::new();
    for (file, text) in texts.into_iter().take(max) {
        let found = features.of(&text);
        if found.len() < WORDS_MIN {
            warnings.push(format!("{}: hardly any text, left out", file.display()));
        } else {
            all.push(found.to_vec());
        }
    }
    Ok(all)
}

fn slices(texts: &[Vec<Feature>]) -> Vec<&[Feature]> {
    texts.iter().map(Vec::as_slice).collect()
}

/// What a page or text in a file says.
pub fn text(path: &Path) -> Result<String, String> {
    examples::text(path)
}

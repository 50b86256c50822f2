//! `rhumb topic train|test`: models of topics, and why a page is of a topic or not.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rhumb_disk::Durable;
use rhumb_node::settings::{TopicSpec, Typed};
use rhumb_node::topic::examples;
use rhumb_node::topic::making::{self, Example};
use rhumb_topic::explain::{PartExplained, explain};
use rhumb_topic::features::TextFeatures;
use rhumb_topic::{Topic, TopicPart, file};
use serde_json::{Value, json};

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;

/// Words that made a score which are told.
const REASONS: usize = 12;

/// Make models of topics, and see what they say of pages.
#[derive(Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rhumb topic train --like tides/ --against other-pages/ -o tides.topic
  rhumb topic test --topic model:tides.topic page.html
  rhumb crawl https://example.org/ --topic model:tides.topic")]
pub struct TopicVerbFlags {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Train(TrainFlags),
    Test(TestFlags),
}

/// Learn a topic from examples, for --topic model:FILE.
///
/// Files are HTML, read by their main text, or plain text. Five examples are enough to begin with;
/// a few hundred other pages say what the topic is not; without --against, short texts on everyday
/// subjects do, less well. AUC is the probability that an example that was held out scores above
/// another page that was.
#[derive(Args)]
#[command(after_help = "\
Example:
  rhumb topic train --like tides/ --like moon.html --against other-pages/ -o tides.topic")]
struct TrainFlags {
    /// Examples: a file, or a folder of them; repeatable
    #[arg(long, value_name = "DIR|FILE", required = true)]
    like: Vec<PathBuf>,

    /// Pages that are not of the topic [short texts on everyday subjects]
    #[arg(long, value_name = "DIR|FILE")]
    against: Option<PathBuf>,

    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// Say how much pages have to do with a topic, and which words made it so.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb topic test --topic words:tides,moon page.html
  rhumb topic test --topic model:tides.topic pages/*.html --json")]
struct TestFlags {
    /// words:a,b c · like:URL|FILE|DIR · model:FILE · regex:RE; repeatable, joined by "or"
    #[arg(long = "topic", value_name = "SPEC", required = true)]
    topics: Vec<TopicSpec>,

    /// Pages that are not of the topic, for like:
    #[arg(long, value_name = "DIR|FILE")]
    topic_against: Option<PathBuf>,

    /// Files of HTML or plain text
    #[arg(value_name = "PAGE", required = true)]
    pages: Vec<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &TopicVerbFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    match &flags.what {
        What::Train(flags) => train(flags, out),
        What::Test(flags) => test(flags, out),
    }
}

fn train(flags: &TrainFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let examples: Vec<Example> = flags.like.iter().cloned().map(Example::File).collect();
    let trained = making::trained(&examples, flags.against.as_deref(), &text_at);
    let (learnt, warnings) = trained.map_err(Trouble::Usage)?;
    warnings.iter().for_each(|warning| notice(format_args!("warning: {warning}")));
    let auc = learnt.auc;
    let bytes = file::write(&Topic::of(TopicPart::Learnt(Box::new(learnt.model))));
    let path = flags.out.display();
    let written = rhumb_disk::replace_with(&flags.out, Durable::Name, &bytes);
    written.map_err(|e| Trouble::Failed(format!("{path}: {e}")))?;
    if flags.json {
        json::print(out, &json!({ "model": path.to_string(), "bytes": bytes.len(), "auc": auc }))?;
    } else {
        let told = match auc {
            Some(auc) => format!("AUC {auc:.3} on held-out texts"),
            None => "AUC unknown: a single example cannot be held out".to_owned(),
        };
        writeln!(out, "{path}: {} bytes, {told}", bytes.len())?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn test(flags: &TestFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let topic = made(&flags.topics, flags.topic_against.as_deref())?;
    let mut features = TextFeatures::default();
    let mut values = Vec::new();
    for page in &flags.pages {
        let text = making::text(page).map_err(Trouble::Failed)?;
        let relevance = topic.score(&text, &mut features).relevance;
        let explained = explain(&topic, &text, REASONS);
        if flags.json {
            values.push(as_json(&page.display().to_string(), relevance, &explained));
            continue;
        }
        writeln!(out, "{}: relevance {relevance:.3}", page.display())?;
        for part in &explained {
            let words = part.reasons.iter().map(|r| format!("{} {:+.2}", r.words, r.weight));
            let words: Vec<String> = words.collect();
            writeln!(out, "  {} {:.3}: {}", part.part, part.relevance, words.join(", "))?;
        }
    }
    if flags.json {
        json::print(out, &Value::Array(values))?;
    }
    out.flush()?;
    Ok(Ended::Done)
}

/// The topic that is named, after what its owner should know of it.
pub(super) fn made(specs: &[TopicSpec], against: Option<&Path>) -> Result<Topic, Trouble> {
    let made = making::made(specs, against, &text_at).map_err(Trouble::Usage)?;
    made.warnings.iter().for_each(|warning| notice(format_args!("warning: {warning}")));
    Ok(made.topic)
}

/// A page by its address, fetched as rhumb get does.
fn text_at(url: &str) -> Result<String, String> {
    let typed = Typed { seeds: vec![url.to_owned()], ..Typed::default() };
    let settings = typed.settings_of_get().map_err(|error| error.to_string())?;
    examples::text_at(&settings, url)
}

fn as_json(page: &str, relevance: f32, explained: &[PartExplained]) -> Value {
    let part = |part: &PartExplained| {
        let words = part.reasons.iter();
        let words = words.map(|r| json!({ "words": r.words, "weight": r.weight }));
        json!({
            "part": part.part,
            "relevance": part.relevance,
            "words": words.collect::<Vec<_>>(),
        })
    };
    json!({
        "page": page,
        "relevance": relevance,
        "parts": explained.iter().map(part).collect::<Vec<_>>(),
    })
}

//! The topic of a crawl: made of what the owner names, kept beside the crawl, and asked by those
//! who read pages.
//!
//! A topic is made once, when a crawl begins, and kept in its directory ([`TOPIC_FILE`]): the books
//! of the biased surfer rest on what it said of pages that were fetched, so it may not change.

pub mod examples;
pub mod making;
pub mod scoring;

use crate::settings::{CRAWL_TOML, Settings};
use rhumb_disk::Durable;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_topic::{Topic, file};
use std::fs;
use std::sync::Arc;

/// The topic of a crawl, in its directory.
pub const TOPIC_FILE: &str = "topic";

/// The topic of a crawl: as its first run made it. None without one.
pub fn open(settings: &Settings) -> Result<Option<Arc<Topic>>, Error> {
    if settings.topic.is_empty() {
        return Ok(None);
    }
    let path = settings.dir.join(TOPIC_FILE);
    let shown = path.display();
    // The settings are written after the topic: with them the crawl has begun.
    let topic = if settings.dir.join(CRAWL_TOML).exists() {
        let lost = |why: String| {
            let what = format!(
                "{shown}: {why}: the crawl cannot go on without the topic that it began with; put \
                 it back from a copy"
            );
            Error::new(ErrorKind::Corrupt, what)
        };
        let bytes = fs::read(&path).map_err(|error| lost(error.to_string()))?;
        file::read(&bytes).map_err(|why| lost(why.to_owned()))?
    } else {
        let text_at = |url: &str| examples::text_at(settings, url);
        let made = making::made(&settings.topic, settings.topic_against.as_deref(), &text_at);
        let made = made.map_err(invalid)?;
        made.warnings.iter().for_each(|warning| tracing::warn!("topic: {warning}"));
        rhumb_disk::replace_with(&path, Durable::Name, &file::write(&made.topic))
            .map_err(|error| invalid(format!("{shown}: {error}")))?;
        made.topic
    };
    Ok(Some(Arc::new(topic)))
}

fn invalid(what: String) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

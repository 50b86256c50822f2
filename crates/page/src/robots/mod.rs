//! robots.txt by RFC 9309: may this crawler fetch this URL?
//!
//! A file is read once, for one product token: [`lines`] cuts it into keys and values, [`parse`]
//! keeps the rules of the groups that apply, [`rules`] holds them so that asking is quick, and
//! [`pattern`] says what one rule matches. The longest matching rule decides, and `Allow` wins a
//! draw. [`directives`] reads what a page says of itself: meta robots and X-Robots-Tag.
//!
//! Everything is bounded: bytes read, bytes of a line, rules with wildcards, sitemaps. Matching
//! takes time linear in rule and path, so that no pattern can be built to be slow.

mod directives;
mod lines;
mod parse;
mod pattern;
mod rules;

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::url::Url;

pub use directives::Directives;
pub use lines::{LINE_BYTES_MAX, ROBOTS_BYTES_MAX};
pub use parse::{CRAWL_DELAY_MAX, SITEMAPS_MAX};
pub use rules::WILDCARD_RULES_MAX;

use rules::Rules;

/// How the text of rules and URLs is compared.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub enum RobotsReading {
    /// By the letter of RFC 9309: different escapes of one text are the same text, `%2A` and `%24`
    /// stand for the characters, /robots.txt itself is always allowed. A group named by more than
    /// letters, `-` and `_` is still found, since its author means that crawler.
    #[default]
    Rfc,
    /// What a crawl obeys: as Google's own parser answers, which compares octet by octet, but with
    /// escapes of unreserved characters decoded (docs/decisions/0004-reading-of-robots.md).
    Google,
}

/// A crawler, as robots.txt files tell crawlers apart: a hash of its product token, in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Agent(u64);

impl Agent {
    /// Who owns a site, and is bound by none of its rules.
    pub const OWNER: Agent = Agent(0);

    /// A crawler that differs from this one by what else decides about robots.txt.
    pub fn with(self, more: &str) -> Agent {
        Agent(xxh3_64(format!("{} {more}", self.0).as_bytes()))
    }

    /// `name/1.0` counts as `name`.
    pub fn of(agent: &str) -> Agent {
        Agent(xxh3_64(parse::token(agent).to_ascii_lowercase().as_bytes()))
    }
}

/// The rules of one robots.txt for one crawler.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Robots {
    reading: RobotsReading,
    /// The crawler whose rules these are; none if they are everybody's.
    agent: Option<Agent>,
    rules: Rules,
    crawl_delay_ms: Option<u32>,
    sitemaps: Box<[String]>,
}

/// An answer, and the line it comes from: its number from 1, and the rule in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// The line that decided, by its number from 1; none if no rule matches.
    pub line: Option<(usize, String)>,
}

impl Robots {
    /// Reads the first [`ROBOTS_BYTES_MAX`] bytes for the crawler whose product token is `agent`
    /// (`name/1.0` counts as `name`). Any bytes give an answer.
    pub fn parse(body: &[u8], agent: &str) -> Robots {
        Robots::parse_as(body, agent, RobotsReading::Rfc)
    }

    /// As [`Robots::parse`], by a reading of one's choice.
    pub fn parse_as(body: &[u8], agent: &str, reading: RobotsReading) -> Robots {
        parse::parse(body, agent, reading)
    }

    /// What a missing robots.txt means.
    pub fn allow_all() -> Robots {
        Robots::default()
    }

    /// What a robots.txt that cannot be had for now means.
    pub fn deny_all() -> Robots {
        Robots { rules: Rules::build([rules::Line::deny_all()]), ..Robots::default() }
    }

    /// Whether these are the rules for a crawler, and not those for another.
    pub fn are_for(&self, agent: Agent) -> bool {
        match self.agent {
            None => agent != Agent::OWNER,
            Some(own) => own == agent,
        }
    }

    /// What this file means to its site's owner: where the sitemaps are, and no rules.
    pub fn for_owner(self) -> Robots {
        Robots { agent: Some(Agent::OWNER), sitemaps: self.sitemaps, ..Robots::default() }
    }

    /// Whether a URL may be fetched.
    pub fn allows(&self, url: &Url) -> bool {
        self.allows_path(url.path_and_query())
    }

    /// Whether a URL may be fetched, and which line says so.
    pub fn verdict(&self, url: &Url) -> Verdict {
        self.verdict_of_path(url.path_and_query())
    }

    /// The verdict on a URL as text, however odd, or on a path alone: what `url` means once
    /// parsed does not matter, only the octets from its first `/`, `?` or `;` after the host.
    pub fn verdict_of_text(&self, url: &str) -> Verdict {
        self.verdict_of_path(&pattern::path_of_text(url))
    }

    /// The time to leave between requests, if the group asks for one.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay_ms.map(|ms| Duration::from_millis(u64::from(ms)))
    }

    /// The sitemaps named, whoever they are named for; as written.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Bytes that it holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let sitemaps: usize = self.sitemaps.iter().map(String::capacity).sum();
        self.rules.heap_bytes() + std::mem::size_of_val(&*self.sitemaps) + sitemaps
    }

    fn allows_path(&self, path: &str) -> bool {
        if self.rules.is_empty() || self.is_always_allowed(path) {
            return true;
        }
        let path = pattern::comparable_path(path, self.reading);
        self.rules.decide(&path).is_none_or(|rule| rule.allow)
    }

    fn verdict_of_path(&self, path: &str) -> Verdict {
        if self.is_always_allowed(path) {
            return Verdict { allowed: true, line: None };
        }
        match self.rules.decide(&pattern::comparable_path(path, self.reading)) {
            None => Verdict { allowed: true, line: None },
            Some(rule) => {
                let line = (rule.line > 0).then(|| (rule.line as usize, self.rules.text_of(rule)));
                Verdict { allowed: rule.allow, line }
            }
        }
    }

    fn is_always_allowed(&self, path: &str) -> bool {
        self.reading == RobotsReading::Rfc && path == "/robots.txt"
    }
}

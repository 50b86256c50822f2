//! Which lines are for us: the groups that name our product token, else those for `*`.
//!
//! A group is one or more user-agent lines and the rules after them; other lines neither begin
//! nor end one. Groups for the same crawler are one group, wherever they stand.

use std::time::Duration;

use super::lines::{Key, lines};
use super::pattern;
use super::rules::{Line, Rules};
use super::{Agent, Robots, RobotsReading};
use crate::url::URL_BYTES_MAX;

/// Sitemaps kept of one file; a site with more has an index of them.
pub const SITEMAPS_MAX: usize = 256;

/// Longest delay kept; a greater one is taken as this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The rules of our groups, or of the groups for everybody.
#[derive(Default)]
struct Group {
    lines: Vec<Line>,
    crawl_delay_ms: Option<u32>,
}

/// Where the reader stands.
#[derive(Default)]
struct Reader {
    ours: Group,
    everybody: Group,
    /// Whether any user-agent line so far was ours: then `*` does not matter.
    named: bool,
    in_ours: bool,
    in_everybody: bool,
    /// Whether the group has a rule already, so that a user-agent line begins the next one.
    in_rules: bool,
}

/// The product token of a user agent.
pub(super) fn token(agent: &str) -> &str {
    agent.split('/').next().unwrap_or("").trim()
}

pub(super) fn parse(body: &[u8], agent: &str, reading: RobotsReading) -> Robots {
    let agent = token(agent);
    let mut reader = Reader::default();
    let mut sitemaps = Vec::new();
    for (number, key, value) in lines(body) {
        match key {
            Key::UserAgent => reader.user_agent(value, agent, reading),
            Key::Allow => reader.rule(true, number, value, reading),
            Key::Disallow => reader.rule(false, number, value, reading),
            Key::CrawlDelay => reader.crawl_delay(value),
            Key::Sitemap if sitemaps.len() < SITEMAPS_MAX => sitemaps.extend(sitemap(value)),
            Key::Sitemap => {}
        }
    }
    let group = if reader.named { reader.ours } else { reader.everybody };
    Robots {
        reading,
        agent: Some(Agent::of(agent)),
        rules: Rules::build(group.lines),
        crawl_delay_ms: group.crawl_delay_ms,
        sitemaps: sitemaps.into_boxed_slice(),
    }
}

impl Reader {
    fn user_agent(&mut self, value: &[u8], agent: &str, reading: RobotsReading) {
        if self.in_rules {
            self.in_ours = false;
            self.in_everybody = false;
            self.in_rules = false;
        }
        if matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..]) {
            self.in_everybody = true;
        } else if names(value, agent.as_bytes(), reading) {
            self.in_ours = true;
            self.named = true;
        }
    }

    fn rule(&mut self, allow: bool, number: u32, value: &[u8], reading: RobotsReading) {
        if self.in_ours || self.in_everybody {
            self.in_rules = true;
        }
        let Some(group) = self.group() else {
            return;
        };
        let pattern = pattern::of_value(value, reading);
        // As Google reads: who allows /a/index.html also allows /a/.
        let directory =
            pattern.rfind('/').filter(|slash| allow && pattern[*slash..].starts_with("/index.htm"));
        let directory = directory.map(|slash| format!("{}$", &pattern[..=slash]));
        for pattern in directory.into_iter().chain([pattern]) {
            let as_urls_have_it = pattern::as_urls_have_it(&pattern);
            let patterns = [pattern].into_iter().chain(as_urls_have_it);
            group.lines.extend(patterns.map(|pattern| Line { allow, number, pattern }));
        }
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        let Some(group) = self.group() else {
            return;
        };
        let seconds = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
        let Some(seconds) = seconds.filter(|seconds| *seconds >= 0.0) else {
            return;
        };
        let ms = (seconds.min(CRAWL_DELAY_MAX.as_secs_f64()) * 1000.0).ceil() as u32;
        group.crawl_delay_ms = group.crawl_delay_ms.max(Some(ms));
    }

    /// The group that the present line belongs to; ours if it is for us and for everybody.
    fn group(&mut self) -> Option<&mut Group> {
        match (self.in_ours, self.in_everybody) {
            (true, _) => Some(&mut self.ours),
            (false, true) => Some(&mut self.everybody),
            (false, false) => None,
        }
    }
}

/// Whether the value of a user-agent line is our product token, whatever follows it.
fn names(value: &[u8], agent: &[u8], reading: RobotsReading) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let token_end = value.iter().position(|byte| !is_token(byte)).unwrap_or(value.len());
    if value[..token_end].eq_ignore_ascii_case(agent) {
        return true;
    }
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let word_end = value.iter().position(is_end).unwrap_or(value.len());
    reading == RobotsReading::Rfc && value[..word_end].eq_ignore_ascii_case(agent)
}

fn sitemap(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    (!text.is_empty() && text.len() <= URL_BYTES_MAX).then(|| text.to_owned())
}

//! The rules of a group, held so that asking is quick however many there are.
//!
//! All patterns lie in one text. Rules that are plain prefixes (most are; a final `*` changes
//! nothing but the rule's length) are sorted, and each knows the longest other that it begins
//! with: those that a path begins with are found by one binary search and a walk up. Rules with
//! other wildcards are tried from the longest down, until none can win.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pattern;

/// Rules with wildcards that are matched as such. A file with more is out to cost time: of the
/// rest, `Disallow` is kept up to its first wildcard, which forbids more, and `Allow` not at all.
pub const WILDCARD_RULES_MAX: usize = 2048;

/// A rule as read: the pattern in the form that paths are compared in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "(bool, u32, String)", from = "(bool, u32, String)")]
pub(super) struct Line {
    pub allow: bool,
    /// From 1; 0 for a rule that no file has.
    pub number: u32,
    pub pattern: String,
}

impl Line {
    pub fn deny_all() -> Line {
        Line { allow: false, number: 0, pattern: "/".to_owned() }
    }

    fn prefix(&self) -> &str {
        self.pattern.trim_end_matches('*')
    }

    /// The greater wins: the longer pattern, then `Allow`.
    fn strength(&self) -> (usize, bool) {
        (self.pattern.len(), self.allow)
    }
}

/// Rows hold many of these, so they are written without their field names.
impl From<Line> for (bool, u32, String) {
    fn from(line: Line) -> Self {
        (line.allow, line.number, line.pattern)
    }
}

impl From<(bool, u32, String)> for Line {
    fn from((allow, number, pattern): (bool, u32, String)) -> Self {
        Line { allow, number, pattern }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Rules {
    text: Box<str>,
    /// Sorted by prefix; among equal ones, the rule that wins comes first and is alone.
    prefixes: Box<[Rule]>,
    /// Sorted by strength, the strongest first.
    wildcards: Box<[Rule]>,
}

/// One rule; its pattern is in the text of its `Rules`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rule {
    start: u32,
    /// Length of the pattern: the longer rule wins.
    length: u16,
    /// Length of the prefix that the pattern is without its final stars.
    prefix_length: u16,
    pub line: u32,
    /// The longest other prefix that this prefix begins with, or `NO_PARENT`.
    parent: u32,
    pub allow: bool,
}

const NO_PARENT: u32 = u32::MAX;

impl Rule {
    /// As [`Line::strength`].
    fn strength(&self) -> (u16, bool) {
        (self.length, self.allow)
    }
}

impl Rules {
    pub fn build(lines: impl IntoIterator<Item = Line>) -> Rules {
        let mut lines: Vec<Line> =
            lines.into_iter().filter(|line| can_match(&line.pattern)).collect();
        bound_wildcards(&mut lines);
        let (mut prefixes, mut wildcards): (Vec<Line>, Vec<Line>) =
            lines.into_iter().partition(|line| is_prefix(line.prefix()));
        prefixes.sort_by(|a, b| a.prefix().cmp(b.prefix()).then(b.strength().cmp(&a.strength())));
        prefixes.dedup_by(|later, kept| later.prefix() == kept.prefix());
        wildcards.sort_by(|a, b| b.strength().cmp(&a.strength()).then(a.pattern.cmp(&b.pattern)));
        wildcards.dedup_by(|later, kept| later.pattern == kept.pattern);

        let mut text = String::new();
        let mut rule = |line: Line| {
            let start = text.len() as u32;
            text.push_str(&line.pattern);
            Rule {
                start,
                length: line.pattern.len() as u16,
                prefix_length: line.prefix().len() as u16,
                line: line.number,
                parent: NO_PARENT,
                allow: line.allow,
            }
        };
        let prefixes = prefixes.into_iter().map(&mut rule).collect();
        let wildcards = wildcards.into_iter().map(&mut rule).collect();
        let mut rules = Rules { text: text.into(), prefixes, wildcards };
        rules.link_parents();
        rules
    }

    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty() && self.wildcards.is_empty()
    }

    /// The rule that decides on a path in the common form; none means allowed.
    pub fn decide(&self, path: &str) -> Option<&Rule> {
        let best = self.strongest_prefix(path);
        let least = best.map_or((0, false), Rule::strength);
        self.wildcards
            .iter()
            .take_while(|rule| rule.strength() > least)
            .find(|rule| pattern::matches(self.pattern_of(rule), path))
            .or(best)
    }

    /// The rule as a line would have it.
    pub fn text_of(&self, rule: &Rule) -> String {
        let key = if rule.allow { "Allow" } else { "Disallow" };
        format!("{key}: {}", self.pattern_of(rule))
    }

    pub fn heap_bytes(&self) -> usize {
        self.text.len()
            + std::mem::size_of_val(&*self.prefixes)
            + std::mem::size_of_val(&*self.wildcards)
    }

    /// Every prefix of the path is sorted before it, and what is sorted between the two begins
    /// with that prefix too: so the last rule before the path leads up to all of them.
    fn strongest_prefix(&self, path: &str) -> Option<&Rule> {
        let path = path.as_bytes();
        let end = self.prefixes.partition_point(|rule| self.prefix_of(rule) <= path);
        let mut next = self.prefixes.get(end.checked_sub(1)?);
        let shared = next.map_or(0, |rule| shared_length(self.prefix_of(rule), path));
        let mut best: Option<&Rule> = None;
        while let Some(rule) = next {
            if usize::from(rule.prefix_length) <= shared
                && best.is_none_or(|best| best.strength() < rule.strength())
            {
                best = Some(rule);
            }
            next = self.prefixes.get(rule.parent as usize);
        }
        best
    }

    fn link_parents(&mut self) {
        let mut open: Vec<u32> = Vec::new();
        for index in 0..self.prefixes.len() {
            let prefix = self.prefix_of(&self.prefixes[index]);
            while let Some(last) = open.last() {
                if prefix.starts_with(self.prefix_of(&self.prefixes[*last as usize])) {
                    break;
                }
                open.pop();
            }
            self.prefixes[index].parent = open.last().copied().unwrap_or(NO_PARENT);
            open.push(index as u32);
        }
    }

    fn pattern_of(&self, rule: &Rule) -> &str {
        let start = rule.start as usize;
        &self.text[start..start + rule.length as usize]
    }

    fn prefix_of(&self, rule: &Rule) -> &[u8] {
        let start = rule.start as usize;
        &self.text.as_bytes()[start..start + rule.prefix_length as usize]
    }

    fn lines(&self) -> Vec<Line> {
        let line = |rule: &Rule| Line {
            allow: rule.allow,
            number: rule.line,
            pattern: self.pattern_of(rule).to_owned(),
        };
        self.prefixes.iter().chain(&self.wildcards).map(line).collect()
    }
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.lines().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
        Vec::<Line>::deserialize(deserializer).map(Rules::build)
    }
}

fn shared_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Paths begin with `/`, so other patterns match none; an empty one is no rule at all.
fn can_match(pattern: &str) -> bool {
    pattern.starts_with(['/', '*']) && pattern.len() <= usize::from(u16::MAX)
}

fn is_prefix(pattern: &str) -> bool {
    !pattern.contains('*') && !pattern.ends_with('$')
}

fn bound_wildcards(lines: &mut Vec<Line>) {
    let mut wildcards = 0;
    lines.retain_mut(|line| {
        let pattern = line.prefix();
        if is_prefix(pattern) {
            return true;
        }
        wildcards += 1;
        if wildcards > WILDCARD_RULES_MAX && !line.allow {
            let prefix = pattern.find(['*', '$']).unwrap_or(pattern.len());
            // Final stars match anything and keep the rule as strong as it was.
            let stars = "*".repeat(line.pattern.len() - prefix);
            line.pattern.replace_range(prefix.., &stars);
        }
        wildcards <= WILDCARD_RULES_MAX || !line.allow
    });
}

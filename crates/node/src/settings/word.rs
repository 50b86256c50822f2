//! Settings that are one word of a few, or a text with a form of its own. Each is checked where it
//! is read, flag or configuration, so that the error can point at it.

use std::fmt;
use std::str::FromStr;

use regex::RegexBuilder;
use rhumb_engine::admit::Reach;
use rhumb_engine::config::{Lifted, MinorChanges, NearPolicy, NoArchive, Order};
use rhumb_engine::record::Refusal;
use rhumb_engine::refresh::index::Objective;
use rhumb_page::media_list::MediaList;
use rhumb_page::robots::RobotsReading;
use rhumb_page::url::{PATTERNS_BYTES_MAX, StripParams};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::nearest::did_you_mean;
use super::quantity::from_text;

/// A type whose values have names.
pub trait NamedValues: Copy + PartialEq + 'static {
    const WHAT: &'static str;
    const WORDS: &'static [(&'static str, Self)];
}

/// A value that is written as one of its type's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedValue<T>(pub T);

impl NamedValues for RobotsReading {
    const WHAT: &'static str = "reading";
    const WORDS: &'static [(&'static str, RobotsReading)] =
        &[("google", RobotsReading::Google), ("rfc", RobotsReading::Rfc)];
}

impl NamedValues for Objective {
    const WHAT: &'static str = "objective";
    const WORDS: &'static [(&'static str, Objective)] = &[
        ("harmonic", Objective::Harmonic),
        ("freshness", Objective::Freshness),
        ("age", Objective::Age),
        ("delay", Objective::Delay),
    ];
}

/// Whether what was fetched is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Warc,
    None,
}

impl NamedValues for ArchiveKind {
    const WHAT: &'static str = "archive";
    const WORDS: &'static [(&'static str, ArchiveKind)] =
        &[("warc", ArchiveKind::Warc), ("none", ArchiveKind::None)];
}

/// Whether the cookies that sites set are kept and sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieJar {
    On,
    Off,
}

impl NamedValues for CookieJar {
    const WHAT: &'static str = "cookie_jar";
    const WORDS: &'static [(&'static str, CookieJar)] =
        &[("on", CookieJar::On), ("off", CookieJar::Off)];
}

impl NamedValues for NearPolicy {
    const WHAT: &'static str = "near_duplicates";
    const WORDS: &'static [(&'static str, NearPolicy)] =
        &[("keep", NearPolicy::Keep), ("skip", NearPolicy::Skip), ("off", NearPolicy::Off)];
}

impl NamedValues for NoArchive {
    const WHAT: &'static str = "noarchive";
    const WORDS: &'static [(&'static str, NoArchive)] =
        &[("obey", NoArchive::Obey), ("ignore", NoArchive::Ignore)];
}

impl NamedValues for MinorChanges {
    const WHAT: &'static str = "minor_changes";
    const WORDS: &'static [(&'static str, MinorChanges)] =
        &[("count", MinorChanges::Count), ("ignore", MinorChanges::Ignore)];
}

impl NamedValues for Reach {
    const WHAT: &'static str = "scope";
    const WORDS: &'static [(&'static str, Reach)] =
        &[("host", Reach::Host), ("site", Reach::Site), ("any", Reach::Any)];
}

impl NamedValues for Order {
    const WHAT: &'static str = "order";
    const WORDS: &'static [(&'static str, Order)] = &[
        ("settled", Order::Settled),
        ("rankmass", Order::RankMass),
        ("windowed", Order::Windowed),
        ("lneighbor", Order::LNeighbor),
        ("opic", Order::Opic),
        ("backlink", Order::Backlink),
        ("partialpr", Order::PartialPr),
        ("bfs", Order::Bfs),
        ("dfs", Order::Dfs),
        ("random", Order::Random),
        ("focused", Order::Focused),
        ("focused-proven", Order::FocusedProven),
    ];
}

impl<T: NamedValues> FromStr for NamedValue<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedValue<T>, String> {
        let found = T::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| NamedValue(*value)).ok_or_else(|| {
            let names: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
            let guess = did_you_mean(text, names.iter().copied());
            format!("no {} {text:?}: use {}{guess}", T::WHAT, either(&names))
        })
    }
}

impl<T: NamedValues> fmt::Display for NamedValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = T::WORDS.iter().find(|(_, value)| *value == self.0).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

fn either(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A regular expression on URLs; the text is kept, since the engine compiles whole lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern(pub String);

impl FromStr for UrlPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<UrlPattern, String> {
        let built = RegexBuilder::new(text).size_limit(PATTERNS_BYTES_MAX).build();
        match built {
            Ok(_) => Ok(UrlPattern(text.to_owned())),
            // The last line has the reason, the others a drawing.
            Err(error) => {
                let error = error.to_string();
                let reason = error.lines().last().unwrap_or("").trim_start_matches("error: ");
                Err(format!("{text:?} is no regular expression: {reason}"))
            }
        }
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which parameters are removed from URLs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum StripList {
    /// Campaign and session parameters of well-known systems.
    #[default]
    Default,
    None,
    These(Vec<String>),
}

impl StripList {
    pub fn strip_params(&self) -> StripParams {
        match self {
            StripList::Default => StripParams::default_list(),
            StripList::None => StripParams::default(),
            StripList::These(names) => {
                StripParams::new(names).expect("names were checked when they were read")
            }
        }
    }
}

impl FromStr for StripList {
    type Err = String;

    fn from_str(text: &str) -> Result<StripList, String> {
        match text {
            "default" => Ok(StripList::Default),
            "none" => Ok(StripList::None),
            _ => {
                let names: Vec<String> = text.split(',').map(|n| n.trim().to_owned()).collect();
                StripParams::new(&names).map_err(|error| error.to_string())?;
                Ok(StripList::These(names))
            }
        }
    }
}

impl fmt::Display for StripList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StripList::Default => f.write_str("default"),
            StripList::None => f.write_str("none"),
            StripList::These(names) => f.write_str(&names.join(",")),
        }
    }
}

/// What a crawl is about, as it was written: `words:…`, `like:…`, `model:…`, `regex:…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec(pub String);

impl FromStr for TopicSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<TopicSpec, String> {
        text.parse::<rhumb_topic::Spec>().map(|_| TopicSpec(text.to_owned()))
    }
}

impl fmt::Display for TopicSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Types of pages that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaTypes(pub MediaList);

impl FromStr for MediaTypes {
    type Err = String;

    fn from_str(text: &str) -> Result<MediaTypes, String> {
        MediaList::parse(text).map(MediaTypes)
    }
}

impl fmt::Display for MediaTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What robots.txt and pages call us, unless the owner says otherwise.
pub const TOKEN_DEFAULT: &str = "rhumb";

/// Rules against traps and junk that the owner does without, by the names of their causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiftList(pub Lifted);

impl LiftList {
    /// Every rule that can be.
    pub fn all() -> LiftList {
        let rules = Refusal::ALL.into_iter().filter(|rule| rule.is_liftable());
        LiftList(rules.fold(Lifted::default(), Lifted::with))
    }
}

impl FromStr for LiftList {
    type Err = String;

    fn from_str(text: &str) -> Result<LiftList, String> {
        let rules = || Refusal::ALL.into_iter().filter(|rule| rule.is_liftable());
        let mut lifted = Lifted::default();
        for name in text.split(',').map(str::trim).filter(|name| *name != "none") {
            let wanted: Vec<Refusal> =
                rules().filter(|rule| name == "all" || rule.word() == name).collect();
            if wanted.is_empty() {
                let names: Vec<&str> = rules().map(Refusal::word).collect();
                return Err(format!("no rule {name:?}: use none, all, or {}", names.join(", ")));
            }
            lifted = wanted.into_iter().fold(lifted, Lifted::with);
        }
        Ok(LiftList(lifted))
    }
}

impl fmt::Display for LiftList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.rules().map(Refusal::word).collect();
        match names.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&names.join(",")),
        }
    }
}

/// A header beyond this is cut off or refused by some servers.
const USER_AGENT_BYTES_MAX: usize = 256;

/// Who we say we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent {
    /// Sent with every request, as given.
    pub header: String,
    /// The product token: what robots.txt calls us.
    pub token: String,
}

impl Default for UserAgent {
    fn default() -> UserAgent {
        UserAgent {
            header: concat!("rhumb/", env!("CARGO_PKG_VERSION")).to_owned(),
            token: TOKEN_DEFAULT.to_owned(),
        }
    }
}

impl FromStr for UserAgent {
    type Err = String;

    fn from_str(text: &str) -> Result<UserAgent, String> {
        let is_token = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
        let token = &text[..text.find(|c| !is_token(c)).unwrap_or(text.len())];
        let after = text[token.len()..].chars().next();
        if token.is_empty() || after.is_some_and(|c| c != '/' && c != ' ') {
            return Err(format!(
                "{text:?} does not begin with a product token of letters, - and _, as in \
                 \"mybot/1.0 (+https://example.org/bot)\""
            ));
        }
        if text.len() > USER_AGENT_BYTES_MAX || !text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
            return Err(format!(
                "a user agent has at most {USER_AGENT_BYTES_MAX} characters, all of ASCII"
            ));
        }
        Ok(UserAgent { header: text.to_owned(), token: token.to_owned() })
    }
}

impl fmt::Display for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header)
    }
}

impl<T: NamedValues> Serialize for NamedValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: NamedValues> Deserialize<'de> for NamedValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedValue<T>, D::Error> {
        from_text(deserializer, T::WHAT)
    }
}

macro_rules! written_as_text {
    ($type:ty, $expecting:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                from_text(deserializer, $expecting)
            }
        }
    };
}

written_as_text!(UrlPattern, "a regular expression");
written_as_text!(StripList, "\"default\", \"none\" or names of parameters");
written_as_text!(LiftList, "\"none\", \"all\" or names of rules");
written_as_text!(MediaTypes, "media types");
written_as_text!(TopicSpec, "a topic");
written_as_text!(UserAgent, "a user agent");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_misspelt_says_what_to_use() {
        let error = "setled".parse::<NamedValue<Order>>().unwrap_err();
        assert!(error.ends_with("did you mean \"settled\"?"), "{error}");
        let error = "hosts".parse::<NamedValue<Reach>>().unwrap_err();
        assert_eq!(error, "no scope \"hosts\": use host, site or any; did you mean \"host\"?");
        assert_eq!("dfs".parse(), Ok(NamedValue(Order::Dfs)));
    }

    #[test]
    fn robots_are_matched_by_the_leading_token_of_the_user_agent() {
        let agent: UserAgent = "my-bot/2.1 (+https://example.org/bot)".parse().unwrap();
        assert_eq!(agent.token, "my-bot");
        assert_eq!(agent.header, "my-bot/2.1 (+https://example.org/bot)");
        for wrong in ["", "7bot", "b\u{f6}t", "bot\r\nHost: x", "bot9"] {
            assert!(wrong.parse::<UserAgent>().is_err(), "{wrong:?}");
        }
        let error = "(b".parse::<UrlPattern>().unwrap_err();
        assert_eq!(error, "\"(b\" is no regular expression: unclosed group");
    }
}

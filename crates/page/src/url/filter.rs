//! What the crawl's owner says about URLs: which to take, and which of their parameters mean
//! nothing.
//!
//! [`Rules`] are regexes on the canonical text, matched in time linear in it. [`StripParams`]
//! removes parameters that name a visitor or a campaign, so that one page is not found under many
//! URLs; the other parameters keep their order and their bytes.

use std::fmt;

use regex::{RegexSet, RegexSetBuilder};

use super::Url;

/// Memory that all regexes of one list may take once compiled.
pub const PATTERNS_BYTES_MAX: usize = 32 << 20;

/// Parameters that never change what a page says. Short names such as `sid` or `ref` are not here:
/// on some sites they choose the page.
const MEANINGLESS: &[&str] = &[
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "_ga",
    "_gl",
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "cfid",
    "cftoken",
    ";jsessionid",
    ";phpsessid",
];

/// Include and exclude filters: a URL is taken if an include pattern matches it, or there is none,
/// and no exclude pattern does.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    include: RegexSet,
    exclude: RegexSet,
}

impl Rules {
    /// Rules of these patterns: a URL must match one of the first, if there are any, and none of
    /// the second.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Rules, FilterError> {
        Ok(Rules { include: compile(include)?, exclude: compile(exclude)? })
    }

    /// The patterns as they were given, those to include first.
    pub fn patterns(&self) -> [&[String]; 2] {
        [self.include.patterns(), self.exclude.patterns()]
    }

    /// The pattern that excludes a URL; none if none does.
    pub fn excluding(&self, url: &Url) -> Option<&str> {
        let first = self.exclude.matches(url.as_str()).iter().next();
        first.map(|at| self.exclude.patterns()[at].as_str())
    }

    /// Whether a URL may pass.
    pub fn admits(&self, url: &Url) -> bool {
        (self.include.is_empty() || self.include.is_match(url.as_str()))
            && (self.exclude.is_empty() || !self.exclude.is_match(url.as_str()))
    }
}

fn compile(patterns: &[String]) -> Result<RegexSet, FilterError> {
    RegexSetBuilder::new(patterns).size_limit(PATTERNS_BYTES_MAX).build().map_err(|error| {
        // Which one it is; none by itself if only all together are too large.
        let wrong = patterns.iter().find(|pattern| regex::Regex::new(pattern).is_err());
        let text = wrong.cloned().unwrap_or_else(|| patterns.join(", "));
        FilterError { text, reason: error.to_string() }
    })
}

/// Parameters to remove from URLs. A name is compared without regard to case; with a final `*` it
/// is the beginning of names; with a `;` before it, it is a path parameter
/// (`/cart;jsessionid=1F`), and else one of the query.
#[derive(Clone, Debug, Default)]
pub struct StripParams {
    query: Vec<Name>,
    path: Vec<Name>,
}

#[derive(Clone, Debug)]
struct Name {
    text: String,
    is_beginning: bool,
}

impl StripParams {
    /// Campaign and session parameters of well-known systems.
    pub fn default_list() -> StripParams {
        let names: Vec<String> = MEANINGLESS.iter().map(|name| name.to_string()).collect();
        StripParams::new(&names).expect("the constant names are well-formed")
    }

    /// Parameters of these names: a final `*` stands for any ending, a `;` before for the path.
    pub fn new(names: &[String]) -> Result<StripParams, FilterError> {
        let mut strip = StripParams::default();
        for given in names {
            let (list, text) = match given.strip_prefix(';') {
                Some(text) => (&mut strip.path, text),
                None => (&mut strip.query, given.as_str()),
            };
            let (text, is_beginning) = match text.strip_suffix('*') {
                Some(text) => (text, true),
                None => (text, false),
            };
            if text.is_empty() || text.contains(['&', '=', '#', '?', '/', ';', '*', ' ']) {
                let reason = "not a parameter's name: letters, at most a ; before and a * after";
                return Err(FilterError { text: given.clone(), reason: reason.to_owned() });
            }
            list.push(Name { text: text.to_owned(), is_beginning });
        }
        Ok(strip)
    }

    /// The URL without those parameters.
    pub fn apply(&self, url: Url) -> Url {
        let url = match url.query() {
            Some(query) if query.split('&').any(|one| is_named(&self.query, one)) => {
                self.without_query_parameters(&url)
            }
            _ => url,
        };
        if self.path.is_empty() || memchr::memchr(b';', url.path().as_bytes()).is_none() {
            return url;
        }
        self.without_path_parameters(&url).unwrap_or(url)
    }

    fn without_query_parameters(&self, url: &Url) -> Url {
        let mut text = String::with_capacity(url.text.len());
        text.push_str(&url.text[..url.path_end as usize]);
        let mut mark = '?';
        let kept = |one: &&str| !is_named(&self.query, one);
        for one in url.query().unwrap_or("").split('&').filter(kept) {
            text.push(mark);
            text.push_str(one);
            mark = '&';
        }
        // One empty parameter is left of `?a&`: an empty query, which a canonical URL has not.
        if text.len() == url.path_end as usize + 1 {
            text.pop();
        }
        Url { text: text.into_boxed_str(), ..*url }
    }

    /// `None` if there is nothing to remove. The rest is parsed again, since a segment such as
    /// `..;jsessionid=1` leaves a dot segment.
    fn without_path_parameters(&self, url: &Url) -> Option<Url> {
        let mut text = url.text[..url.path_start as usize].to_owned();
        for segment in url.path().split('/').skip(1) {
            text.push('/');
            let mut parts = segment.split(';');
            text.push_str(parts.next().unwrap_or(""));
            for part in parts.filter(|part| !is_named(&self.path, part)) {
                text.push(';');
                text.push_str(part);
            }
        }
        text.push_str(&url.text[url.path_end as usize..]);
        if text.len() == url.text.len() { None } else { Url::parse(&text).ok() }
    }
}

/// Whether the name of `parameter` (`name=value` or `name`) is one of `names`.
fn is_named(names: &[Name], parameter: &str) -> bool {
    let name = &parameter.as_bytes()
        [..memchr::memchr(b'=', parameter.as_bytes()).unwrap_or(parameter.len())];
    names.iter().any(|one| {
        let wanted = one.text.as_bytes();
        let same_length =
            name.len() == wanted.len() || (one.is_beginning && name.len() > wanted.len());
        same_length && name[..wanted.len()].eq_ignore_ascii_case(wanted)
    })
}

/// A pattern or a name that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// The pattern as it was given.
    pub text: String,
    /// Why it is none.
    pub reason: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.text, self.reason)
    }
}

impl std::error::Error for FilterError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    fn patterns(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn an_exclude_pattern_wins_over_an_include_pattern() {
        let rules = Rules::new(&patterns(&["/news/", r"\.html$"]), &patterns(&["print"])).unwrap();
        assert!(rules.admits(&url("http://a.com/news/1")));
        assert!(rules.admits(&url("http://a.com/x.html")));
        assert!(!rules.admits(&url("http://a.com/news/print")));
        assert!(!rules.admits(&url("http://a.com/x")));
        assert!(Rules::default().admits(&url("http://a.com/x")));
        let error = Rules::new(&patterns(&["a", "(b"]), &[]).unwrap_err();
        assert_eq!(error.text, "(b");
    }

    #[test]
    fn meaningless_parameters_go_and_the_others_keep_order_and_bytes() {
        let strip = StripParams::default_list();
        for (given, stripped) in [
            ("http://a.com/p?z=1&utm_source=x&a=%2F&&UTM_x&z=0", "http://a.com/p?z=1&a=%2F&&z=0"),
            ("http://a.com/p?fbclid=1", "http://a.com/p"),
            ("http://a.com/p?fbclid=1&", "http://a.com/p"),
            ("http://a.com/p?sid=1&utmost=2", "http://a.com/p?sid=1&utmost=2"),
            (
                "http://a.com/p;v=1;JSESSIONID=AF0/q;x?y;jsessionid=1",
                "http://a.com/p;v=1/q;x?y;jsessionid=1",
            ),
            ("http://a.com/b/..;jsessionid=1/c", "http://a.com/c"),
            ("http://a.com:81/", "http://a.com:81/"),
        ] {
            assert_eq!(strip.apply(url(given)), url(stripped), "{given}");
        }
        assert!(StripParams::new(&patterns(&["a=b"])).is_err());
        assert!(StripParams::new(&patterns(&["*"])).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_is_left_is_canonical_and_has_nothing_to_remove(
            rest in "(/[.a;]{0,3}(;jsessionid=[a.%]{0,2})?){1,3}(\\?([&a=%]|gclid|&utm_a=b){0,6})?",
        ) {
            let strip = StripParams::default_list();
            let once = strip.apply(url(&format!("http://a.com{rest}")));
            prop_assert_eq!(Url::parse(once.as_str()), Ok(once.clone()));
            prop_assert_eq!(strip.apply(once.clone()), once);
        }
    }
}

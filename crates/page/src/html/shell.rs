//! Shells: pages that say next to nothing until their scripts have run.
//!
//! An observer of tokens gathers *signs*, and a linear score of them decides: a root that
//! frameworks fill and that is empty, nothing shown at all, a `noscript` that asks for JavaScript,
//! scripts of the page's own, against words and links. The number of scripts is no sign: finished
//! pages have as many. Once a page has shown [`WORDS_ENOUGH`] words it is none, and nothing more is
//! looked at.
//!
//! Scripts that hold state are remembered on the way, as they stand, and read for prose and links
//! where the page itself has next to none: see [`EmbeddedState`].

use super::links::leads_elsewhere;
use super::read::Observer;
use super::state::{self, EmbeddedState};
use super::{EndTag, StartTag, Tag, TextRunToken};
use crate::url::Url;

/// Words with which a page speaks for itself, whatever else it has.
const WORDS_ENOUGH: u32 = 200;
/// Words in `noscript` that are no excuse any more, but the page itself for those without scripts.
const NOSCRIPT_WORDS_ENOUGH: u32 = 100;
/// With fewer words a page's embedded state is read even if it is no shell for certain.
const WORDS_THIN: u32 = 20;
/// Words of embedded state at least that are prose of a page.
const STATE_WORDS_MIN: u32 = 20;
/// Words (`Loading …`), and links, in a root that is empty all the same.
const ROOT_WORDS_MAX: u32 = 8;
const ROOT_LINKS_MAX: u32 = 1;
/// Of one piece of text: enough for [`WORDS_ENOUGH`], or for the word JavaScript.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Bytes of a text whose words are counted at once.
const COUNTED_AT_ONCE: usize = 256;
/// Scripts with state that are remembered, and bytes of all of them.
const SCRIPTS_MAX: usize = 32;
const SCRIPTS_BYTES_MAX: usize = 4 << 20;

/// Where frameworks put what their scripts make: values of `id`, and names of elements.
const ROOT_IDS: [&str; 12] = [
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "svelte",
    "react-root",
    "app-root",
    "app-mount",
    "q-app",
    "ember-app",
    "main-app",
];
const ROOT_NAMES: [&str; 3] = ["app-root", "my-app", "app"];
/// What scripts that hold state assign it to.
const STATE_NAMES: [&str; 5] =
    ["__NUXT__", "__NEXT_DATA__", "__INITIAL_STATE__", "__PRELOADED_STATE__", "__APOLLO_STATE__"];
/// Bytes before that name: `window.`, `var `, a line of comment.
const NAME_AT_MAX: usize = 120;

/// The score at which a page is a shell, and what adds to it and takes from it. Chosen on the
/// shells of frameworks and the real pages of `crates/extract/tests/shells.rs`.
const SCORE_MIN: i32 = 6;
const EMPTY_ROOT: i32 = 8;
const NOTHING_SHOWN: i32 = 6;
const ASKS_FOR_JAVASCRIPT: i32 = 3;
const OWN_SCRIPT: i32 = 2;
const WORDS_A_POINT: u32 = 8;
const LINKS_A_POINT: u32 = 2;

/// What was found of a page's need for scripts.
#[derive(Clone, Debug, Default)]
pub struct ScriptNeed {
    /// It says next to nothing without its scripts, and no state that came along says more.
    pub is_scripted: bool,
    /// The prose of its embedded state, where that is more than the page's own.
    pub prose: Option<String>,
    /// Where its embedded state leads, each URL once, within its site; none where the page speaks
    /// for itself.
    pub links: Vec<Url>,
}

/// Gathers from a page's tokens whether it is a shell.
#[derive(Default)]
pub struct Shell<'a> {
    words: u32,
    links: u32,
    /// An image, a control: something that is seen without a word.
    shows: bool,
    /// It leads elsewhere by itself.
    refreshes: bool,
    runs_scripts: bool,
    runs_own: bool,
    in_noscript: bool,
    noscript_words: u32,
    asks: bool,
    root: Option<Root<'a>>,
    has_empty_root: bool,
    script: ScriptKind,
    state: Vec<&'a str>,
    state_bytes: usize,
}

/// A root that is open.
struct Root<'a> {
    name: &'a str,
    /// Elements of its name open within it, itself included.
    depth: u32,
    words_before: u32,
    links_before: u32,
}

/// What the script is whose text comes next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ScriptKind {
    Code,
    Json,
    #[default]
    Other,
}

impl<'a> Observer<'a> for Shell<'a> {
    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        if self.words < WORDS_ENOUGH {
            self.take(text);
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        if self.words < WORDS_ENOUGH && !start.foreign {
            self.started(start);
        }
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        if end.tag == Tag::Noscript {
            self.in_noscript = false;
        }
        if let Some(root) = &mut self.root
            && end.name.eq_ignore_ascii_case(root.name)
        {
            root.depth -= 1;
            if root.depth == 0 {
                self.root_ended();
            }
        }
    }
}

impl<'a> Shell<'a> {
    /// What came of a page at `url`, once it has ended.
    pub fn finish(mut self, url: &Url) -> ScriptNeed {
        self.root_ended();
        let is_shell = self.runs_scripts && !self.refreshes && self.score() >= SCORE_MIN;
        if self.state.is_empty() || !(is_shell || self.words < WORDS_THIN) {
            return ScriptNeed { is_scripted: is_shell, ..ScriptNeed::default() };
        }
        let EmbeddedState { prose, words, links } = state::read(&self.state, url);
        let says_more = words >= STATE_WORDS_MIN && words > 2 * self.words;
        ScriptNeed { is_scripted: is_shell && !says_more, prose: says_more.then_some(prose), links }
    }

    fn score(&self) -> i32 {
        let shows_nothing = self.words == 0 && self.links == 0 && !self.shows;
        let signs = [
            (self.has_empty_root, EMPTY_ROOT),
            (shows_nothing, NOTHING_SHOWN),
            (self.asks, ASKS_FOR_JAVASCRIPT),
            (self.runs_own, OWN_SCRIPT),
        ];
        let points: i32 = signs.iter().filter(|(is_there, _)| *is_there).map(|(_, p)| p).sum();
        points - (self.words / WORDS_A_POINT + self.links / LINKS_A_POINT) as i32
    }

    fn take(&mut self, text: &TextRunToken<'a>) {
        match text.owner {
            Tag::Other | Tag::Textarea | Tag::Xmp | Tag::Plaintext if !self.in_noscript => {
                let said = text.beginning(TEXT_BYTES_MAX).decoded();
                self.words += words_up_to(&said, WORDS_ENOUGH);
            }
            Tag::Other => {
                let said = text.beginning(TEXT_BYTES_MAX).decoded();
                self.asks |= said.to_ascii_lowercase().contains("javascript");
                self.noscript_words += words_of(&said);
                if self.noscript_words >= NOSCRIPT_WORDS_ENOUGH {
                    self.words = WORDS_ENOUGH;
                }
            }
            Tag::Script => self.script_text(text.raw),
            _ => (),
        }
    }

    fn script_text(&mut self, raw: &'a str) {
        let holds_state = match self.script {
            ScriptKind::Json => true,
            ScriptKind::Code => {
                let beginning = &raw[..raw.floor_char_boundary(TEXT_BYTES_MAX)];
                self.runs_own |= beginning.contains("import(");
                let head = &raw[..raw.floor_char_boundary(NAME_AT_MAX)];
                STATE_NAMES.iter().any(|name| head.contains(name))
            }
            ScriptKind::Other => false,
        };
        let has_room =
            self.state.len() < SCRIPTS_MAX && self.state_bytes + raw.len() <= SCRIPTS_BYTES_MAX;
        if holds_state && has_room {
            self.state.push(raw);
            self.state_bytes += raw.len();
        }
    }

    fn started(&mut self, start: &StartTag<'a>) {
        if start.tag == Tag::Script {
            return self.script_started(start);
        }
        if self.in_noscript {
            return;
        }
        if let Some(root) = &mut self.root {
            root.depth += u32::from(start.name.eq_ignore_ascii_case(root.name));
        }
        match start.tag {
            Tag::Noscript => self.in_noscript = true,
            Tag::A | Tag::Area => self.link(start, "href"),
            Tag::Frame | Tag::Iframe => self.link(start, "src"),
            Tag::Img | Tag::Video | Tag::Audio | Tag::Object | Tag::Embed => self.shows = true,
            Tag::Select | Tag::Textarea | Tag::Button => self.shows = true,
            Tag::Input => {
                let kind = start.attribute("type");
                self.shows |= !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
            }
            Tag::Meta => {
                let header = start.attribute("http-equiv");
                self.refreshes |= header.is_some_and(|it| it.eq_ignore_ascii_case("refresh"));
            }
            Tag::Div | Tag::Main | Tag::Section | Tag::Other
                if self.root.is_none() && is_root(start) =>
            {
                let (words_before, links_before) = (self.words, self.links);
                let name = start.name;
                self.root = Some(Root { name, depth: 1, words_before, links_before });
            }
            _ => (),
        }
    }

    fn link(&mut self, start: &StartTag<'a>, attribute: &str) {
        let leads = start.attribute(attribute).is_some_and(|it| leads_elsewhere(&it));
        self.links += u32::from(leads);
    }

    fn script_started(&mut self, start: &StartTag<'a>) {
        let kind = start.attribute("type").unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        self.script = match kind.as_str() {
            "" | "module" => ScriptKind::Code,
            "application/json" | "application/ld+json" => ScriptKind::Json,
            other if other.ends_with("javascript") => ScriptKind::Code,
            _ => ScriptKind::Other,
        };
        if self.script != ScriptKind::Code {
            return;
        }
        self.runs_scripts = true;
        if let Some(source) = start.attribute("src") {
            // What others offer, to count visits and the like, is loaded from them, and aside.
            let is_elsewhere = source.contains("//");
            let is_aside = start.attributes().any(|attribute| attribute.is("async"));
            self.runs_own |= !is_elsewhere || !is_aside;
        } else {
            self.runs_own |= kind == "module";
        }
    }

    fn root_ended(&mut self) {
        if let Some(root) = self.root.take() {
            self.has_empty_root |= self.words - root.words_before <= ROOT_WORDS_MAX
                && self.links - root.links_before <= ROOT_LINKS_MAX;
        }
    }
}

fn is_root(start: &StartTag<'_>) -> bool {
    let is_any = |known: &[&str], name: &str| known.iter().any(|it| it.eq_ignore_ascii_case(name));
    (start.tag == Tag::Other && is_any(&ROOT_NAMES, start.name))
        || start.attribute("id").is_some_and(|id| is_any(&ROOT_IDS, id.trim()))
}

/// Words of a text; of scripts without spaces, two characters are one.
pub(super) fn words_of(text: &str) -> u32 {
    words_up_to(text, u32::MAX)
}

/// The same, counted not much further than to this.
fn words_up_to(text: &str, most: u32) -> u32 {
    let mut count = WordCount::default();
    let mut rest = text;
    while !rest.is_empty() && count.words() < most {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(COUNTED_AT_ONCE));
        match piece.is_ascii() {
            true => count.take_ascii(piece.as_bytes()),
            false => count.take(piece),
        }
        rest = behind;
    }
    count.words()
}

#[derive(Default)]
struct WordCount {
    halves: u32,
    in_word: bool,
}

impl WordCount {
    fn words(&self) -> u32 {
        self.halves / 2
    }

    fn take_ascii(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_letter = byte.is_ascii_alphanumeric();
            self.halves += 2 * u32::from(is_letter & !self.in_word);
            self.in_word = is_letter | (self.in_word & !byte.is_ascii_whitespace());
        }
    }

    fn take(&mut self, text: &str) {
        for character in text.chars() {
            if character.is_ascii() {
                self.take_ascii(&[character as u8]);
            } else if is_sign(character) {
                self.halves += 1;
                self.in_word = false;
            } else if character.is_alphanumeric() {
                self.halves += if self.in_word { 0 } else { 2 };
                self.in_word = true;
            } else if character.is_whitespace() {
                self.in_word = false;
            }
        }
    }
}

/// A character of scripts that put no space between words.
fn is_sign(character: char) -> bool {
    matches!(character, '\u{0E00}'..='\u{0EFF}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7A3}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{PageLimits, read_observed};

    fn need(html: &str) -> ScriptNeed {
        let url = Url::parse("https://a.test/dir/page").unwrap();
        let mut shell = Shell::default();
        read_observed(html, "UTF-8", &url, &PageLimits::default(), &mut shell);
        shell.finish(&url)
    }

    fn is_scripted(html: &str) -> bool {
        need(html).is_scripted
    }

    #[test]
    fn a_shell_with_a_header_or_a_long_noscript_is_still_a_shell() {
        assert!(is_scripted(
            "<header><a href=/>Home</a></header><div id=app></div><script src=/app.js></script>"
        ));
        let excuse = "We are sorry, but this application does not work without JavaScript. ";
        assert!(is_scripted(&format!(
            "<noscript><p>{}</p></noscript><div id=root></div><script src=/main.js></script>",
            excuse.repeat(6)
        )));
        assert!(is_scripted("<body><div id=app><p>Loading …</p></div><script src=a.js></script>"));
    }

    #[test]
    fn a_finished_page_is_none_whatever_scripts_it_has() {
        for finished in [
            "<p>Short note.</p><script>track()</script>",
            "<p>Short note.</p><script src=/site.js></script><noscript>JavaScript, please: \
             comments need it</noscript>",
            "<meta http-equiv=refresh content='0; url=/new'><script>location='/new'</script>",
            "<img src=/map.png><script src=/zoom.js></script>",
            "<form><input name=q><input type=submit></form><script src=/search.js></script>",
            "<frameset><frame src=/a><frame src=/b></frameset><script src=/frames.js></script>",
            "<p></p>",
        ] {
            assert!(!is_scripted(finished), "{finished}");
        }
        // What the server has filled is no empty root, though a widget may be.
        let words = "The tide rises and falls twice a day. ".repeat(20);
        for html in [
            format!("<div id=__next><main><p>{words}</main></div><script src=/m.js></script>"),
            format!("<main><p>{words}</main><div id=root></div><script src=/m.js></script>"),
        ] {
            assert!(!is_scripted(&html), "{html}");
        }
    }

    /// Forums whose scripts make what people see, and whose servers write it for all others.
    #[test]
    fn a_page_that_stands_in_its_noscript_speaks_for_itself() {
        let said = "The tide comes in twice a day, they say. ".repeat(12);
        let html = format!(
            "<div id=root></div><noscript>{said}<p>Best viewed with JavaScript</noscript><script \
             src=/m.js></script><script type=application/ld+json>{{\"text\":\"{said} {said} {said}\"}}\
             </script>"
        );
        let found = need(&html);
        assert!(!found.is_scripted && found.prose.is_none());
    }

    #[test]
    fn what_nobody_closes_ends_with_the_page() {
        assert!(is_scripted("<div id=root><div><script src=/m.js></script>"));
        assert!(is_scripted("<script src=/m.js></script><noscript>JavaScript"));
        let words = "tide ".repeat(300);
        assert!(!is_scripted(&format!("<div id=root><div>{words}<script src=/m.js></script>")));
    }

    #[test]
    fn state_that_says_more_than_its_page_is_taken_and_says_that_no_browser_is_needed() {
        let prose = "The sea rises and falls twice a day, drawn by the moon. ".repeat(3);
        let html = format!(
            "<div id=__next></div><script src=/m.js></script><script id=__NEXT_DATA__ \
             type=application/json>{{\"props\":{{\"text\":\"{prose}\",\"next\":\"/tides/2\"}},\
             \"page\":\"/tides/[n]\"}}</script>"
        );
        let found = need(&html);
        assert!(!found.is_scripted);
        assert_eq!(found.prose.as_deref(), Some(prose.trim()));
        let links: Vec<&str> = found.links.iter().map(Url::as_str).collect();
        assert_eq!(links, ["https://a.test/tides/2"]);
        let full = html.replace("</div>", &format!("{}</div>", "word ".repeat(250)));
        assert!(need(&full).prose.is_none() && need(&full).links.is_empty());
        assert!(is_scripted(&html.replace(&prose, "none")), "links alone are no text");
    }

    #[test]
    fn words_are_counted_in_any_script() {
        for (text, words) in [
            ("", 0),
            (" — … ", 0),
            ("It's up-to-date, isn't it?", 4),
            ("Größe über alles", 3),
            ("潮の満ち引き", 3),
        ] {
            assert_eq!(words_of(text), words, "{text}");
        }
    }
}

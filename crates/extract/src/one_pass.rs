//! A page's links and its text in one pass over its tokens, whatever is wanted of them.

use super::extracted::{ExtractOptions, Extracted, MainText};
use super::reading::Reading;
use super::template::HostTemplate;
use rhumb_page::charset::{self, DecodedText};
use rhumb_page::html::{
    Anchor, AnchorTexts, LinksAlone, Observer, OwnText, Page, PageLimits, Requisite,
    RequisiteGatherer, ScriptNeed, Shell, TextFingerprint, read_observed,
};
use rhumb_page::url::Url;

/// What is wanted of a page besides its links.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageWanted<'t> {
    /// The text that is its own: [`read_with_own_text`](rhumb_page::html::read_with_own_text).
    pub own_text: bool,
    /// The main text, whatever its host's other pages say: it changes only if the page does.
    pub main_text: bool,
    /// The main content, and what the page says about itself.
    pub extracted: Option<ExtractOptions<'t>>,
    /// The fingerprint of its visible text, or of its own text if that is wanted. Without this it
    /// is a blank one, if that is less work.
    pub fingerprint: bool,
    /// The texts of its links; with `main_text` or `extracted` alone.
    pub anchors: bool,
    /// And what stands beside each link, in its block.
    pub surroundings: bool,
    /// What it is shown with: so many at most.
    pub requisites_max: Option<usize>,
    /// Whether its scripts make it, and where the state that came along leads.
    pub scripts: bool,
}

/// What a page was found to say.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its links; the fingerprint is that of its own text if that was wanted.
    pub page: Page,
    /// The page's own text, if it was asked for.
    pub own_text: Option<String>,
    /// The main text, if it was asked for.
    pub main_text: Option<MainText>,
    /// All that is to be known of the page, if it was asked for.
    pub extracted: Option<Extracted>,
    /// Where its links lead and what they say.
    pub anchors: Vec<Anchor>,
    /// What it is shown with, if that was asked for, and how many there are beyond the bound.
    pub requisites: (Vec<Requisite>, u64),
    /// Whether its scripts make it, if that was asked for.
    pub scripts: ScriptNeed,
}

/// Reads a page for its links and all that is wanted, in one pass.
pub fn read_wanted(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
    wanted: &PageWanted<'_>,
) -> Told {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let bytes = decoded.text.len();
    let wants_main = wanted.main_text || wanted.extracted.is_some();
    match (wants_main, wanted.own_text) {
        (false, false) if wanted.scripts => {
            let mut shell = Shell::default();
            let page = match wanted.fingerprint {
                true => page_with((&decoded, url, limits, wanted), &mut shell),
                false => page_with((&decoded, url, limits, wanted), &mut (LinksAlone, &mut shell)),
            };
            Told { scripts: shell.finish(url), ..told(page, None, None, url, wanted) }
        }
        (false, false) => {
            let page = match wanted.fingerprint {
                true => page_with((&decoded, url, limits, wanted), &mut ()),
                false => page_with((&decoded, url, limits, wanted), &mut LinksAlone),
            };
            told(page, None, None, url, wanted)
        }
        (false, true) => {
            let mut both = (OwnText::new(bytes), wanted.scripts.then(Shell::default));
            let page = page_with((&decoded, url, limits, wanted), &mut both);
            let (own, shell) = both;
            let scripts = shell.map(|shell| shell.finish(url)).unwrap_or_default();
            Told { scripts, ..told(page, Some(own), None, url, wanted) }
        }
        _ if wanted.anchors => {
            let own = wanted.own_text.then(|| OwnText::new(bytes));
            let anchors = match wanted.surroundings {
                true => AnchorTexts::with_surroundings(),
                false => AnchorTexts::default(),
            };
            let mut all = (Reading::new(bytes), (own, anchors));
            let page = page_with((&decoded, url, limits, wanted), &mut all);
            let (reading, (own, anchors)) = all;
            let anchors = anchors.finish(&page.0, url);
            Told { anchors, ..told(page, own, Some(reading), url, wanted) }
        }
        (true, false) => {
            let mut reading = Reading::new(bytes);
            let page = page_with((&decoded, url, limits, wanted), &mut reading);
            told(page, None, Some(reading), url, wanted)
        }
        (true, true) => {
            let mut both = (Reading::new(bytes), OwnText::new(bytes));
            let page = page_with((&decoded, url, limits, wanted), &mut both);
            told(page, Some(both.1), Some(both.0), url, wanted)
        }
    }
}

/// Reads a page for its links and its main content in one pass.
pub fn read(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
    options: &ExtractOptions<'_>,
) -> (Page, Extracted) {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let mut reading = Reading::new(decoded.text.len());
    let page = page_of(&decoded, url, limits, &mut reading);
    let weighed = reading.finished(url);
    let extracted = reading.extracted(&weighed, url, options);
    (page, extracted)
}

/// Reads a page for its links and its main text in one pass, without what it says about itself:
/// the least that change detection and near-duplicates need.
///
/// ```
/// use rhumb_extract::read_main;
/// use rhumb_page::html::PageLimits;
/// use rhumb_page::url::Url;
///
/// let url = Url::parse("https://example.org/a").unwrap();
/// let before = "<article><h1>Tides</h1><p>The sea rises and falls twice a day, drawn by the \
///               moon, and by the sun a little.</article><footer>Seen by 7 people</footer>";
/// let after = before.replace("7 people", "8 people");
/// let main = |html: &str| read_main(html.as_bytes(), None, &url, &PageLimits::default(), None).1;
/// assert_eq!(main(before).fingerprint(), main(&after).fingerprint());
/// ```
pub fn read_main(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
    template: Option<&HostTemplate>,
) -> (Page, MainText) {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let mut reading = Reading::new(decoded.text.len());
    let page = page_of(&decoded, url, limits, &mut reading);
    let weighed = reading.finished(url);
    (page, reading.main_text(&weighed, template))
}

/// A page, and what it is shown with.
type Shown = (Page, (Vec<Requisite>, u64));

/// As [`page_of`], with requisites if they are wanted: those who do not want them pay nothing.
fn page_with<'a>(
    (decoded, url, limits, wanted): (&'a DecodedText<'_>, &Url, &PageLimits, &PageWanted<'_>),
    observer: &mut impl Observer<'a>,
) -> Shown {
    let Some(requisites_max) = wanted.requisites_max else {
        return (page_of(decoded, url, limits, observer), Default::default());
    };
    let mut both = (observer, RequisiteGatherer::default());
    let page = page_of(decoded, url, limits, &mut both);
    let requisites = both.1.finish(&page, url, requisites_max);
    (page, requisites)
}

fn page_of<'a>(
    decoded: &'a DecodedText<'_>,
    url: &Url,
    limits: &PageLimits,
    observer: &mut impl Observer<'a>,
) -> Page {
    read_observed(&decoded.text, decoded.encoding, url, limits, observer)
}

/// Asks those who saw the tokens for what is wanted.
fn told(
    (page, requisites): Shown,
    own: Option<OwnText>,
    reading: Option<Reading<'_>>,
    url: &Url,
    wanted: &PageWanted<'_>,
) -> Told {
    let mut told = Told {
        page,
        own_text: None,
        main_text: None,
        extracted: None,
        anchors: Vec::new(),
        requisites,
        scripts: ScriptNeed::default(),
    };
    if let Some(own) = own {
        let own = own.finish();
        if wanted.fingerprint {
            told.page.text = TextFingerprint::of(&own);
        }
        told.own_text = Some(own);
    }
    if let Some(mut reading) = reading {
        let weighed = reading.finished(url);
        told.scripts = reading.scripts.clone();
        told.main_text = wanted.main_text.then(|| reading.main_text(&weighed, None));
        told.extracted =
            wanted.extracted.as_ref().map(|options| reading.extracted(&weighed, url, options));
    }
    told
}

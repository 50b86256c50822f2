//! A place is what a URL of this web means; URLs and places map onto each other exactly.
//!
//! `Web::place` guesses a place from the numbers in a URL and then prints it again: only if the
//! result is the very same text was the guess right. So no two URLs mean one place, and whatever
//! is not of this web has no place.

use std::fmt::Write;

use rhumb_page::url::{Scheme, Url};

use super::Web;
use super::chance::{Purpose, draw, mix};
use super::manner::{Manner, manner};
use super::site::{BRANCHING, PathStyle, page_draw};

/// Where something is: a host of a site, and what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebPlace {
    pub site: u32,
    pub face: Face,
    pub what: What,
}

/// The hosts of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Face {
    Www,
    /// A second host with a part of the site's pages.
    Blog,
    /// A host that answers exactly as the www host does.
    Mirror,
    /// The naked domain: all of it redirects to the www host.
    Bare,
    /// No host of a site at all: a name or an address that fails. The site is its number.
    Ghost(Ghost),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ghost {
    /// The name does not exist.
    Lost,
    /// The name server fails for it.
    Faulty,
    /// The name resolves; nobody listens at the port.
    Shut,
    /// It accepts connections and never says a word.
    Mute,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    Page(u32),
    /// An exact copy of a page under /print/.
    Print(u32),
    /// An exact copy of a page with a session parameter.
    Session(u32, u8),
    /// A redirect that leads to a page after so many further hops.
    Moved(u32, u8),
    /// One step of a circle of redirects.
    Circle(u8),
    Robots,
    /// Where a moved robots.txt is.
    RobotsMoved,
    Sitemap,
    /// A part of the sitemap, compressed.
    SitemapPart(u16),
    Feed,
    /// A trap: one month of a calendar without end.
    Month(u32),
    /// A trap: a path that goes ever deeper.
    Deep(u16),
    /// A trap: a page under a fresh session token that links to fresher ones.
    Visit(u32),
    Gone(u16),
    Missing(u16),
    /// Answers 500 for ever.
    Broken(u16),
    /// What pages are shown with.
    Picture(u16),
    Sheet(u16),
}

/// How many session copies of a page are linked to.
pub(crate) const SESSIONS: u8 = 3;
/// The redirect circle has this many steps.
pub(crate) const CIRCLE: u8 = 3;
/// The longest chain of redirects before a page.
pub(crate) const HOPS_MAX: u8 = 4;
/// A path of `/deep/on/on…` ends here, long after any crawler should have given up.
pub(crate) const DEEP_MAX: u16 = 500;
/// Nobody listens here: what the hosts that refuse connections have as their port.
const SHUT_PORT: u16 = 1;

impl Web {
    /// The URL of a place.
    pub fn url(&self, place: WebPlace) -> Url {
        self.url_by(place, &mut String::with_capacity(80))
    }

    /// The same, for whoever needs many: written first where there is room for any.
    pub(crate) fn url_by(&self, place: WebPlace, text: &mut String) -> Url {
        text.clear();
        text.push_str("http://");
        self.write_authority(place, text);
        self.write_path(place, text);
        Url::from_canonical(text.as_str().into()).expect("the web writes canonical URLs")
    }

    /// What a URL means; nothing if it is not of this web.
    pub fn place(&self, url: &Url) -> Option<WebPlace> {
        if url.scheme() != Scheme::Http {
            return None;
        }
        let (site, face) = self.face(url.host())?;
        let guess = match face {
            Face::Ghost(_) => What::Page(0),
            _ => guess(url.path_and_query())?,
        };
        let place = WebPlace { site, face, what: guess };
        if !self.exists(place) {
            return None;
        }
        let mut text = String::with_capacity(80);
        self.write_path(place, &mut text);
        let same_port = url.port() == Some(self.port_of(place));
        (same_port && text == url.path_and_query()).then_some(place)
    }

    /// The site and the face behind a host name.
    pub(crate) fn face(&self, host: &str) -> Option<(u32, Face)> {
        let name = host.strip_suffix(".test")?;
        let number: u32 = name.rsplit_once('-')?.1.parse().ok()?;
        let (prefix, domain) = match host.split_once('.') {
            Some((prefix, rest)) if rest != "test" => (prefix, rest),
            _ => ("", host),
        };
        let face = match prefix {
            "www" => Face::Www,
            "blog" => Face::Blog,
            "mirror" => Face::Mirror,
            "" => Face::Bare,
            "ghost" => return self.ghost(domain, number),
            _ => return None,
        };
        let site = self.sites.get(number as usize)?;
        let there = match face {
            Face::Blog => site.blog,
            Face::Mirror => site.mirror,
            _ => true,
        };
        (there && &*site.domain == domain).then_some((number, face))
    }

    fn ghost(&self, domain: &str, number: u32) -> Option<(u32, Face)> {
        let face = Face::Ghost(ghost_kind(number));
        let mut expected = String::new();
        self.write_host(number, face, &mut expected);
        let real = number < self.config.ghosts && expected.strip_prefix("ghost.") == Some(domain);
        real.then_some((number, face))
    }

    /// The host a page of a site lives on.
    pub(crate) fn home(&self, site: u32, n: u32) -> Face {
        // The root and the pages next to it stay on the www host, so that every site has a front.
        let blog = self.sites[site as usize].blog && n > BRANCHING && n % 4 == 1;
        if blog { Face::Blog } else { Face::Www }
    }

    pub(crate) fn page_place(&self, site: u32, n: u32) -> WebPlace {
        WebPlace { site, face: self.home(site, n), what: What::Page(n) }
    }

    /// A hash of a place and one more number.
    pub(crate) fn place_hash(&self, place: WebPlace, more: u64) -> u64 {
        let (kind, number) = match place.what {
            What::Page(n) => (0, n),
            What::Print(n) => (1, n),
            What::Session(n, k) => (2 + 256 * u64::from(k), n),
            What::Moved(n, k) => (3 + 256 * u64::from(k), n),
            What::Circle(k) => (4, u32::from(k)),
            What::Robots => (5, 0),
            What::RobotsMoved => (6, 0),
            What::Sitemap => (7, 0),
            What::SitemapPart(k) => (8, u32::from(k)),
            What::Feed => (9, 0),
            What::Month(m) => (10, m),
            What::Deep(depth) => (11, u32::from(depth)),
            What::Visit(token) => (12, token),
            What::Gone(k) => (13, u32::from(k)),
            What::Missing(k) => (14, u32::from(k)),
            What::Broken(k) => (15, u32::from(k)),
            What::Picture(k) => (16, u32::from(k)),
            What::Sheet(k) => (17, u32::from(k)),
        };
        let face = match place.face {
            Face::Www => 0,
            Face::Blog => 1,
            Face::Mirror => 2,
            Face::Bare => 3,
            Face::Ghost(_) => 4,
        };
        let standing = u64::from(place.site) << 32 | u64::from(number);
        draw(mix(self.config.seed ^ more), Purpose::Place, standing, kind << 8 | face)
    }

    /// Whether something stands at a place that was guessed from a URL.
    fn exists(&self, place: WebPlace) -> bool {
        if let Face::Ghost(_) = place.face {
            return place.what == What::Page(0);
        }
        let site = &self.sites[place.site as usize];
        match place.what {
            What::Page(n) | What::Print(n) | What::Session(n, _) | What::Moved(n, _) => {
                let home = n < site.pages && self.home(place.site, n) == place.face;
                home || n < site.pages && matches!(place.face, Face::Mirror | Face::Bare)
            }
            What::Robots | What::RobotsMoved => true,
            What::Sitemap => site.sitemap && place.face != Face::Blog,
            What::SitemapPart(k) => {
                site.sitemap && place.face != Face::Blog && k < self.sitemap_parts(place.site)
            }
            What::Feed => place.face != Face::Blog,
            What::Month(_) | What::Deep(_) | What::Visit(_) => {
                site.trap && place.face != Face::Blog
            }
            What::Picture(_) | What::Sheet(_) => {
                self.config.requisites_mean > 0 && place.face != Face::Blog
            }
            What::Circle(_) | What::Gone(_) | What::Missing(_) | What::Broken(_) => {
                place.face != Face::Blog
            }
        }
    }

    pub(crate) fn write_host(&self, site: u32, face: Face, out: &mut String) {
        let prefix = match face {
            Face::Www => "www.",
            Face::Blog => "blog.",
            Face::Mirror => "mirror.",
            Face::Bare => "",
            Face::Ghost(_) => {
                let word = self.lexicon.word(page_draw(self.config.seed, Purpose::Name, !0, site));
                let _ = write!(out, "ghost.{word}-gone-{site}.test");
                return;
            }
        };
        out.push_str(prefix);
        out.push_str(&self.sites[site as usize].domain);
    }

    fn port_of(&self, place: WebPlace) -> u16 {
        match place.face {
            Face::Ghost(Ghost::Shut) => SHUT_PORT,
            _ if self.config.port == 0 => 80,
            _ => self.config.port,
        }
    }

    /// Host and port as URLs have them.
    pub(crate) fn write_authority(&self, place: WebPlace, out: &mut String) {
        self.write_host(place.site, place.face, out);
        let port = self.port_of(place);
        if port != 80 {
            out.push(':');
            write_number(port.into(), out);
        }
    }

    /// Path and query.
    pub(crate) fn write_path(&self, place: WebPlace, out: &mut String) {
        match place.what {
            What::Page(_) if matches!(place.face, Face::Ghost(_)) => out.push('/'),
            What::Page(n) => self.write_page_path(place.site, n, out),
            What::Print(n) => write_numbered("/print/", n, out),
            What::Session(n, k) => {
                let start = out.len();
                self.write_page_path(place.site, n, out);
                out.push(if out[start..].contains('?') { '&' } else { '?' });
                write_numbered("sid=5e55", u32::from(k), out);
            }
            What::Moved(n, hops) => {
                write_numbered("/moved/", u32::from(hops), out);
                write_numbered("/", n, out);
            }
            What::Circle(k) => write_numbered("/circle/", u32::from(k), out),
            What::Robots => out.push_str("/robots.txt"),
            What::RobotsMoved => out.push_str("/robots-moved.txt"),
            What::Sitemap => out.push_str("/sitemap.xml"),
            What::SitemapPart(k) => {
                // Half of the sites give them names that do not say what they are.
                let prefix = if place.site.is_multiple_of(2) { "/sitemap-" } else { "/part-" };
                write_numbered(prefix, u32::from(k), out);
                out.push_str(".xml.gz");
            }
            What::Feed => out.push_str("/news.xml"),
            What::Month(m) => {
                write_numbered("/calendar/", 2000 + m / 12, out);
                write_numbered("/", 1 + m % 12, out);
            }
            What::Deep(depth) => {
                out.push_str("/deep");
                (0..depth).for_each(|_| out.push_str("/on"));
            }
            What::Visit(token) => write_numbered("/visit?token=", token, out),
            What::Gone(k) => write_numbered("/gone/", u32::from(k), out),
            What::Missing(k) => write_numbered("/missing/", u32::from(k), out),
            What::Broken(k) => write_numbered("/broken/", u32::from(k), out),
            What::Picture(k) => write_numbered("/picture/", u32::from(k), out),
            What::Sheet(k) => write_numbered("/sheet/", u32::from(k), out),
        }
    }

    fn write_page_path(&self, site: u32, n: u32, out: &mut String) {
        if n == 0 {
            return out.push('/');
        }
        let it = &self.sites[site as usize];
        let hash = page_draw(self.config.seed, Purpose::Slug, site, n);
        let (first, second) = (self.lexicon.word(hash), self.lexicon.word(hash << 32));
        let ending = match manner(&self.config, it, site, n) {
            Manner::Private => {
                out.push_str("/private/");
                ".html"
            }
            Manner::Media(media) => {
                out.push_str("/files/");
                match media.extension() {
                    "txt" => ".txt",
                    "pdf" => ".pdf",
                    _ => ".png",
                }
            }
            _ => {
                let section = page_draw(self.config.seed, Purpose::Slug, site, section(n));
                let section = self.lexicon.word(section.rotate_left(16));
                if it.paths == PathStyle::Queries {
                    out.push_str("/index.php?topic=");
                    out.push_str(section);
                    return write_numbered("&id=", n, out);
                }
                out.push('/');
                out.push_str(section);
                out.push('/');
                if it.paths == PathStyle::Folders { "/" } else { ".html" }
            }
        };
        out.push_str(first);
        out.push('-');
        out.push_str(second);
        write_numbered("-", n, out);
        out.push_str(ending);
    }
}

/// Ghosts of the four kinds take turns.
pub(crate) fn ghost_kind(number: u32) -> Ghost {
    [Ghost::Lost, Ghost::Faulty, Ghost::Shut, Ghost::Mute][(number % 4) as usize]
}

/// The page next to the root that a page hangs under.
fn section(n: u32) -> u32 {
    let mut top = n;
    while top > BRANCHING {
        top = (top - 1) / BRANCHING;
    }
    top
}

/// What a path may mean, by its shape alone.
fn guess(path: &str) -> Option<What> {
    let number = |text: &str| text.parse::<u32>().ok();
    let small = |text: &str| text.parse::<u16>().ok();
    match path {
        "/" => return Some(What::Page(0)),
        "/robots.txt" => return Some(What::Robots),
        "/robots-moved.txt" => return Some(What::RobotsMoved),
        "/sitemap.xml" => return Some(What::Sitemap),
        "/news.xml" => return Some(What::Feed),
        _ => {}
    }
    let (head, rest) = path.get(1..)?.split_once(['/', '?', '-']).unwrap_or((&path[1..], ""));
    match head {
        "print" => Some(What::Print(number(rest)?)),
        "moved" => {
            let (hops, n) = rest.split_once('/')?;
            let hops: u8 = hops.parse().ok().filter(|&hops| hops < HOPS_MAX)?;
            Some(What::Moved(number(n)?, hops))
        }
        "circle" => Some(What::Circle(rest.parse().ok().filter(|&k| k < CIRCLE)?)),
        "sitemap" | "part" => Some(What::SitemapPart(small(rest.strip_suffix(".xml.gz")?)?)),
        "calendar" => {
            let (year, month) = rest.split_once('/')?;
            let years = number(year)?.checked_sub(2000)?.checked_mul(12)?;
            Some(What::Month(years.checked_add(number(month)?.checked_sub(1)?)?))
        }
        "deep" => {
            let depth = path.len().checked_sub("/deep".len())? / "/on".len();
            Some(What::Deep(u16::try_from(depth).ok().filter(|&depth| depth <= DEEP_MAX)?))
        }
        "visit" => Some(What::Visit(number(rest.strip_prefix("token=")?)?)),
        "gone" => Some(What::Gone(small(rest)?)),
        "missing" => Some(What::Missing(small(rest)?)),
        "broken" => Some(What::Broken(small(rest)?)),
        "picture" => Some(What::Picture(small(rest)?)),
        "sheet" => Some(What::Sheet(small(rest)?)),
        _ => guess_page(path),
    }
}

/// A page's number is the last number of its path or its `id`; a `sid` may follow.
fn guess_page(path: &str) -> Option<What> {
    let (page, session) = match path.rfind("sid=5e55") {
        Some(at) if at > 0 => (&path[..at - 1], path[at + "sid=5e55".len()..].parse().ok()),
        _ => (path, None),
    };
    if session.is_some_and(|k: u8| k >= SESSIONS) {
        return None;
    }
    let stem = page.strip_suffix('/').unwrap_or(page);
    let stem = stem.rsplit_once('.').filter(|(_, end)| end.len() <= 4).map_or(stem, |(s, _)| s);
    let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let n = match (page, digits) {
        ("/", _) => 0,
        _ => stem[stem.len() - digits..].parse().ok()?,
    };
    Some(session.map_or(What::Page(n), |k| What::Session(n, k)))
}

fn write_numbered(prefix: &str, number: u32, out: &mut String) {
    out.push_str(prefix);
    write_number(number, out);
}

/// Decimal without the formatting machinery: this is the innermost step of every link.
fn write_number(number: u32, out: &mut String) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

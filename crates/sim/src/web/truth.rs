//! What a URL really is: for checks of what a crawler made of it.

use rhumb_page::url::Url;

use super::Web;
use super::place::{Face, Ghost, WebPlace, What};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlTruth {
    Page {
        site: u32,
        n: u32,
    },
    /// The same bytes as another place.
    Duplicate {
        of: WebPlace,
    },
    Redirect {
        to: WebPlace,
    },
    /// A circle of redirects: it leads nowhere.
    Circle,
    /// A section without end.
    Trap,
    Robots,
    Sitemap,
    Feed,
    /// What pages are shown with.
    Requisite,
    /// 404 or 410.
    Missing,
    /// 500 for ever.
    Broken,
    /// A host that cannot be reached.
    Ghost(Ghost),
    /// No host of this web, or a path it does not have.
    Foreign,
}

impl Web {
    pub fn truth(&self, url: &Url) -> UrlTruth {
        self.place(url).map_or(UrlTruth::Foreign, |place| self.truth_of(place))
    }

    /// Whether a polite crawler may fetch a URL; what is not of this web has no rules.
    pub fn permits(&self, url: &Url) -> bool {
        self.place(url).is_none_or(|place| self.allowed(place))
    }

    /// Whether a host cannot be reached at any time.
    pub fn is_ghost(&self, host: &str) -> bool {
        matches!(self.face(host), Some((_, Face::Ghost(_))))
    }

    pub fn truth_of(&self, place: WebPlace) -> UrlTruth {
        match place.face {
            Face::Ghost(ghost) => return UrlTruth::Ghost(ghost),
            Face::Bare => {
                return UrlTruth::Redirect { to: WebPlace { face: self.front(place), ..place } };
            }
            Face::Www | Face::Blog | Face::Mirror => {}
        }
        let original = self.original(place);
        match place.what {
            What::Month(_) | What::Deep(_) | What::Visit(_) => UrlTruth::Trap,
            What::Robots | What::RobotsMoved => UrlTruth::Robots,
            What::Gone(_) | What::Missing(_) => UrlTruth::Missing,
            What::Broken(_) => UrlTruth::Broken,
            What::Picture(_) | What::Sheet(_) => UrlTruth::Requisite,
            What::Circle(_) => UrlTruth::Circle,
            What::Moved(n, 0) => {
                UrlTruth::Redirect { to: WebPlace { what: What::Page(n), ..place } }
            }
            What::Moved(n, hops) => {
                UrlTruth::Redirect { to: WebPlace { what: What::Moved(n, hops - 1), ..place } }
            }
            _ if original != place => UrlTruth::Duplicate { of: original },
            What::Sitemap | What::SitemapPart(_) => UrlTruth::Sitemap,
            What::Feed => UrlTruth::Feed,
            What::Page(n) => UrlTruth::Page { site: place.site, n },
            What::Print(_) | What::Session(..) => unreachable!("copies have an original"),
        }
    }
}

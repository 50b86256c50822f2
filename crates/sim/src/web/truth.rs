//! What a URL really is: for checks of what a crawler made of it.

use rhumb_page::url::Url;

use super::Web;
use super::place::{Face, Ghost, Place, What};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    Page {
        site: u32,
        n: u32,
    },
    /// The same bytes as another place.
    Duplicate {
        of: Place,
    },
    Redirect {
        to: Place,
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
    pub fn truth(&self, url: &Url) -> Truth {
        self.place(url).map_or(Truth::Foreign, |place| self.truth_of(place))
    }

    /// Whether a polite crawler may fetch a URL; what is not of this web has no rules.
    pub fn permits(&self, url: &Url) -> bool {
        self.place(url).is_none_or(|place| self.allowed(place))
    }

    /// Whether a host cannot be reached at any time.
    pub fn is_ghost(&self, host: &str) -> bool {
        matches!(self.face(host), Some((_, Face::Ghost(_))))
    }

    pub fn truth_of(&self, place: Place) -> Truth {
        match place.face {
            Face::Ghost(ghost) => return Truth::Ghost(ghost),
            Face::Bare => {
                return Truth::Redirect { to: Place { face: self.front(place), ..place } };
            }
            Face::Www | Face::Blog | Face::Mirror => {}
        }
        let original = self.original(place);
        match place.what {
            What::Month(_) | What::Deep(_) | What::Visit(_) => Truth::Trap,
            What::Robots | What::RobotsMoved => Truth::Robots,
            What::Gone(_) | What::Missing(_) => Truth::Missing,
            What::Broken(_) => Truth::Broken,
            What::Picture(_) | What::Sheet(_) => Truth::Requisite,
            What::Circle(_) => Truth::Circle,
            What::Moved(n, 0) => Truth::Redirect { to: Place { what: What::Page(n), ..place } },
            What::Moved(n, hops) => {
                Truth::Redirect { to: Place { what: What::Moved(n, hops - 1), ..place } }
            }
            _ if original != place => Truth::Duplicate { of: original },
            What::Sitemap | What::SitemapPart(_) => Truth::Sitemap,
            What::Feed => Truth::Feed,
            What::Page(n) => Truth::Page { site: place.site, n },
            What::Print(_) | What::Session(..) => unreachable!("copies have an original"),
        }
    }
}

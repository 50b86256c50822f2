//! What pages are shown with: pictures of their own site and of others, and stylesheets that import
//! one another in a circle and name more pictures.

use rhumb_page::html::{Requisite, RequisiteKind};

use super::Web;
use super::chance::{Purpose, Stream};
use super::place::{Face, WebPlace, What};
use super::reply::{PageRef, WebBody};
use super::site::page_draw;

/// Pictures and stylesheets of a site.
const PICTURES: u32 = 40;
pub(super) const SHEETS: u16 = 4;

impl Web {
    /// The requisites that a reader of an answer's bytes finds.
    pub fn requisites(&self, body: &WebBody) -> Vec<Requisite> {
        let mut found = Vec::new();
        match *body {
            WebBody::Html(page) => self.requisites_of_page(page, &mut found),
            WebBody::Other(PageRef { place, .. }) => {
                if let What::Sheet(k) = place.what {
                    let next = What::Sheet((k + 1) % SHEETS);
                    self.requisite((place.site, next), RequisiteKind::Stylesheet, &mut found);
                    let picture = What::Picture(k * 7);
                    self.requisite((place.site, picture), RequisiteKind::Part, &mut found);
                }
            }
            _ => {}
        }
        found
    }

    fn requisites_of_page(&self, page: PageRef, found: &mut Vec<Requisite>) {
        let document = self.original(page.place);
        let (What::Page(n), mean) = (document.what, self.config.requisites_mean) else { return };
        if mean == 0 {
            return;
        }
        let site = document.site;
        let mut chance = Stream::new(page_draw(self.config.seed, Purpose::Requisites, site, n));
        let sheet = What::Sheet(chance.below(u32::from(SHEETS)) as u16);
        self.requisite((site, sheet), RequisiteKind::Stylesheet, found);
        for _ in 0..chance.below(2 * mean + 1) {
            let of = match chance.below(3) {
                0 => chance.below(self.config.sites),
                _ => site,
            };
            let picture = What::Picture(chance.below(PICTURES) as u16);
            self.requisite((of, picture), RequisiteKind::Part, found);
        }
    }

    /// Each once, on the front of its site.
    fn requisite(&self, (site, what): (u32, What), kind: RequisiteKind, to: &mut Vec<Requisite>) {
        let url = self.url(WebPlace { site, face: Face::Www, what });
        if to.iter().all(|known| known.url != url) {
            to.push(Requisite { url, kind });
        }
    }
}

//! Sites that mislead those who come again, and pages that come and go.

use super::Web;
use super::chance::{Purpose, Stream, draw};
use super::change::AGE_US;
use super::config::{Lastmod, WebConfig};
use super::place::{WebPlace, What};
use super::reply::{EPOCH_S, WebReply};
use super::site::page_draw;

const DAY_US: u64 = 24 * 3_600 * 1_000_000;
/// Days of one coming and going.
const VANISHING_DAYS: u64 = 3;

/// How a site misleads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    FutureDates,
    NewTags,
    StaleAnswers,
}

impl Lie {
    pub(crate) fn of(config: &WebConfig, site: u32) -> Option<Lie> {
        let lies = &config.lies;
        let mut chance = Stream::new(draw(config.seed, Purpose::Lie, u64::from(site), 0));
        let all = [
            (lies.future_dates, Lie::FutureDates),
            (lies.new_tags, Lie::NewTags),
            (lies.stale_answers, Lie::StaleAnswers),
        ];
        all.into_iter().find(|(share, _)| chance.per_mille(*share)).map(|(_, lie)| lie)
    }

    /// The answer with validators that say something else.
    pub(crate) fn told(self, mut reply: WebReply, now_us: u64) -> WebReply {
        match self {
            Lie::FutureDates => {
                let tomorrow_s = EPOCH_S + (now_us + AGE_US + DAY_US) / 1_000_000;
                reply.last_modified_s = Some(tomorrow_s);
            }
            Lie::NewTags => reply.etag = Some(format!("\"{now_us:x}\"")),
            Lie::StaleAnswers => {
                (reply.etag, reply.last_modified_s) = (Some("\"same\"".to_owned()), Some(EPOCH_S));
            }
        }
        reply
    }
}

impl Web {
    /// Whether a page that comes and goes is away.
    pub(crate) fn is_away(&self, original: WebPlace, now_us: u64) -> bool {
        let share = self.config.lies.vanishing;
        let What::Page(n) = original.what else { return false };
        if share == 0 || !self.sites[original.site as usize].is_leaf(n) {
            return false;
        }
        let mut chance = Stream::new(page_draw(self.config.seed, Purpose::Lie, original.site, n));
        let vanishes = chance.per_mille(share);
        let day = now_us / DAY_US + u64::from(chance.below(VANISHING_DAYS as u32));
        vanishes && day % VANISHING_DAYS == VANISHING_DAYS - 1
    }

    /// When a sitemap says that a page of its site last changed, in the time of requests.
    pub fn lastmod_us(&self, place: WebPlace, now_us: u64) -> Option<u64> {
        let What::Page(n) = self.original(place).what else { return None };
        match self.config.lies.lastmod {
            Lastmod::Nothing => None,
            Lastmod::True => Some(self.version(place.site, n, now_us).saturating_sub(AGE_US)),
            Lastmod::AlwaysNow => Some(now_us),
        }
    }

    /// Which version of itself a sitemap is: that of the latest change it speaks of.
    pub(crate) fn sitemap_version(&self, place: WebPlace, now_us: u64) -> u64 {
        if self.config.lies.lastmod == Lastmod::Nothing {
            return 0;
        }
        let entries = self.sitemap_entries(place).into_iter();
        entries.filter_map(|entry| self.lastmod_us(entry, now_us)).max().unwrap_or(0)
    }
}

//! What a visit is counted as, by the role of its URL. What is counted of its position follows from
//! that alone (`books`).

use crate::books::UrlBooks;
use crate::config::Retry;
use crate::marks::Marks;
use crate::outcome::{FailKind, FetchReport, Outcome};
use crate::queue::Entry;
use crate::record::Role;

impl UrlBooks {
    /// Counts a visit, before its record is written. A page may have the bytes of another, or
    /// nearly its text.
    pub fn count_visit(
        &mut self,
        entry: &Entry,
        report: &FetchReport,
        is_copy_or_near: (bool, bool),
        retry: &Retry,
    ) {
        match entry.record.role {
            Role::Page => self.count_page(entry, report, is_copy_or_near, retry),
            role if role.is_requisite() => self.count_requisite(entry, report, retry),
            _ => self.count_sitemap(entry, report, retry),
        }
    }

    fn count_page(
        &mut self,
        entry: &Entry,
        report: &FetchReport,
        (is_copy, is_near): (bool, bool),
        retry: &Retry,
    ) {
        let failed_for_good =
            |kind: FailKind| !kind.is_passing() || entry.record.tries + 1 >= retry.tries_max;
        let counters = &mut self.counters;
        match &report.outcome {
            Outcome::Page(page) => {
                counters.pages += 1;
                counters.links_beyond += page.links_beyond;
                counters.noindex += u64::from(page.marks.has(Marks::NOINDEX));
                counters.nofollow += u64::from(page.marks.has(Marks::NOFOLLOW));
                let before = u64::from(entry.record.past.marks.has(Marks::SCRIPTED));
                counters.scripted = counters.scripted.saturating_sub(before);
                counters.scripted += u64::from(page.marks.has(Marks::SCRIPTED));
                counters.duplicates += u64::from(is_copy);
                counters.near_duplicates += u64::from(is_near);
                counters.revisits += u64::from(entry.record.past.visited.is_some());
            }
            Outcome::Unchanged => counters.unchanged += 1,
            Outcome::Moved { .. } => counters.moved += 1,
            Outcome::Gone => {
                counters.gone += 1;
                counters.unauthorized += u64::from(report.status == 401);
                counters.forbidden += u64::from(report.status == 403);
            }
            Outcome::Busy { kind, .. } | Outcome::Failed(kind) | Outcome::Cut { kind, .. } => {
                counters.retries += u64::from(!failed_for_good(*kind));
            }
            Outcome::Robots(_) | Outcome::Unwanted(_) | Outcome::Crowded => {}
        }
    }

    fn count_sitemap(&mut self, entry: &Entry, report: &FetchReport, retry: &Retry) {
        match &report.outcome {
            Outcome::Page(page) => {
                self.counters.sitemaps += u64::from(page.is_sitemap);
                self.counters.listed += (page.found.len() + page.known.len()) as u64;
            }
            Outcome::Gone if entry.record.role == Role::TriedSitemap => {}
            _ => self.count_page(entry, report, (false, false), retry),
        }
    }

    fn count_requisite(&mut self, entry: &Entry, report: &FetchReport, retry: &Retry) {
        let counters = &mut self.requisites;
        match &report.outcome {
            Outcome::Page(_) => counters.fetched += 1,
            Outcome::Unchanged => counters.unchanged += 1,
            Outcome::Moved { .. } => counters.moved += 1,
            Outcome::Gone => counters.gone += 1,
            _ => self.count_page(entry, report, (false, false), retry),
        }
    }
}

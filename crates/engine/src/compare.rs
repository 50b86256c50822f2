//! What becomes of a URL once its bytes are here: is it a twin or nearly a twin of another page,
//! what is kept, what is found in it, and when it is due again.

use crate::books::{UrlHost, UrlPosition};
use crate::config::{Config, NearDuplicates, NearPolicy, NoArchive};
use crate::copies::Copies;
use crate::discovery::{CHUNK_MAX, Discovery, FoundAs, FoundUrl, Lead, Origin};
use crate::engine::{DISCOVERY_BYTES, Engine};
use crate::event::{FetchId, Keep, KeepAs, Question, Row, Step};
use crate::known::KnownLinks;
use crate::log::Happening;
use crate::marks::Marks;
use crate::mass::{self, Surfer};
use crate::near::{self, Leader, Likeness, Near, Nearest};
use crate::outcome::{ContentDigest, FetchReport, Outcome, PageContent};
use crate::queue::{Entry, Place};
use crate::record::{Next, RecordStatus, Refusal, Role, Twin, UrlRecord};
use crate::refresh::announce;
use crate::refresh::past::Visits;
use crate::requisites;
use crate::sitemaps;
use crate::time::Time;
use rhumb_neardup::Sketch;
use rhumb_neardup::sketch::SKETCH_BYTES;
use std::collections::HashMap;
use std::sync::Arc;

/// Pages of one question. Each is compared with the new leaders among those before it.
const TWIN_MAX: usize = 512;

/// What robots refuse is looked at again after so many lives of the rules: a week.
const ROBOTS_AGAIN_TTLS: u8 = 7;

/// Pages that wait to hear whether their bytes were seen before. One question at a time: each is
/// answered from a snapshot that shows all earlier ones' rows.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    waiting: Vec<Comparison>,
    asked: Vec<Comparison>,
    copies: Copies,
}

#[derive(Debug)]
pub(crate) struct Comparison {
    pub slot: u32,
    pub fetch: FetchId,
    pub place: Place,
    pub entry: Entry,
    pub report: FetchReport,
}

const COMPARISON_BYTES: usize = size_of::<Comparison>() + size_of::<Visits>();

impl Comparisons {
    pub fn len(&self) -> usize {
        self.waiting.len() + self.asked.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn ask(&mut self) -> Option<Question> {
        if self.waiting.is_empty() || !self.asked.is_empty() {
            return None;
        }
        let later = self.waiting.split_off(self.waiting.len().min(TWIN_MAX));
        self.asked = std::mem::replace(&mut self.waiting, later);
        Some(Question::Twin { pages: self.asked.iter().map(Comparison::content).collect() })
    }

    pub fn heap_bytes(&self) -> usize {
        let all = self.waiting.iter().chain(&self.asked);
        all.map(|j| match &j.report.outcome {
            Outcome::Page(page) => {
                let links = page.found.len() + page.known.len() + page.requisites.len();
                COMPARISON_BYTES + SKETCH_BYTES + links * DISCOVERY_BYTES
            }
            _ => COMPARISON_BYTES,
        })
        .sum::<usize>()
            + self.copies.heap_bytes()
    }
}

impl Comparison {
    /// What is asked about: the bytes and text that came, or, after a 304, the bytes of before.
    fn content(&self) -> (ContentDigest, Option<Arc<Sketch>>) {
        match &self.report.outcome {
            Outcome::Page(page) => (page.content, page.sketch.clone()),
            _ => (self.entry.record.past.content.expect("bytes that it had before"), None),
        }
    }

    fn page(&self) -> Option<&PageContent> {
        match &self.report.outcome {
            Outcome::Page(page) => Some(page),
            _ => None,
        }
    }

    /// What later pages with the same bytes are told, if its body is kept or not.
    fn as_twin(&self, is_kept: bool) -> Twin {
        let payload = self.page().filter(|_| is_kept).map(|page| page.payload);
        let (url, kept) = (self.entry.url.clone(), self.report.at);
        Twin { url, kept, payload: payload.unwrap_or_default() }
    }
}

/// What a page has in common with others.
#[derive(Default)]
struct Kin {
    /// The same bytes: another page's, or its own of an earlier visit.
    twin: Option<Twin>,
    /// Another page with nearly the same text.
    near: Option<Near>,
    /// It resembles nothing that is known, or nothing much: from now on others may resemble it.
    leads: bool,
    /// The page is a leader already, and its text has not changed enough to replace its sketch.
    is_minor: bool,
}

/// Pages of one question that resemble each other: the state knows none of them yet.
struct Batch {
    config: NearDuplicates,
    noarchive: NoArchive,
    twins: HashMap<ContentDigest, Twin>,
    leaders: Vec<Leader>,
}

impl Batch {
    fn new(config: &Config) -> Batch {
        let Config { near, noarchive, .. } = *config;
        Batch { config: near, noarchive, twins: HashMap::new(), leaders: Vec::new() }
    }

    /// Completes what the state knows by the pages that came before this one in the batch.
    fn meet(&mut self, comparison: &Comparison, likeness: Likeness) -> Kin {
        let (content, url) = (comparison.content().0, &comparison.entry.url);
        let is_archived = is_archived(&comparison.report, self.noarchive);
        let (known, nearest) = match likeness {
            Likeness::Same(twin) => (Some(twin), None),
            Likeness::Near(nearest) => (None, Some(nearest)),
            Likeness::New => (None, None),
        };
        // One of the batch, if the state has none, or one whose body is not in the archive.
        let of_batch = || self.twins.get(&content).cloned();
        let twin = known.clone().filter(Twin::is_kept).or_else(of_batch).or(known);
        if let Some(twin) = twin {
            if is_archived && !twin.is_kept() && comparison.page().is_some() {
                self.twins.insert(content, comparison.as_twin(true));
            }
            return Kin { twin: Some(twin), ..Kin::default() };
        }
        let Some(page) = comparison.page() else { return Kin::default() };
        let of_batch = || page.sketch.as_deref().and_then(|sketch| self.nearest(sketch));
        let nearest = nearest.or_else(of_batch);
        // What is not kept leads nobody.
        let is_kept = nearest.is_none() || self.config.policy != NearPolicy::Skip;
        let leads_too = |nearest: &Nearest| is_kept && nearest.leads_too(self.config.threshold);
        let leads = page.sketch.is_some() && nearest.as_ref().is_none_or(leads_too);
        // A page that resembles itself as it was has changed, and is nobody's member.
        let is_own = |nearest: &Nearest| nearest.near.url == *url;
        let is_near = |nearest: &Nearest| !nearest.is_far(self.config.threshold);
        let is_minor = nearest.as_ref().is_some_and(|n| is_own(n) && is_near(n));
        let near = nearest.map(|nearest| nearest.near).filter(|near| near.url != *url);
        if near.is_none() || self.config.policy != NearPolicy::Skip {
            self.twins.insert(content, comparison.as_twin(is_archived));
        }
        if let (true, Some(sketch)) = (leads, &page.sketch) {
            self.leaders.push(Leader { url: url.clone(), sketch: sketch.clone() });
        }
        Kin { twin: None, near, leads, is_minor }
    }

    fn nearest(&self, sketch: &Sketch) -> Option<Nearest> {
        near::nearest(sketch, &self.leaders, self.config.threshold)
    }
}

impl Engine {
    /// A page waits for its twin, and a 304 for the record of what is not modified; anything else
    /// is put to admission at once.
    pub(crate) fn begin_comparison(
        &mut self,
        now: Time,
        mut comparison: Comparison,
        step: &mut Step,
    ) {
        match &mut comparison.report.outcome {
            Outcome::Page(page) => {
                page.sketch.take_if(|_| self.config.near.policy == NearPolicy::Off);
                self.comparing.waiting.push(comparison);
            }
            Outcome::Unchanged if comparison.entry.record.past.content.is_some() => {
                self.comparing.waiting.push(comparison);
            }
            _ => self.conclude_visit(now, comparison, Kin::default(), step),
        }
    }

    pub(crate) fn twinned(&mut self, now: Time, pages: Vec<Likeness>, step: &mut Step) {
        let asked = std::mem::take(&mut self.comparing.asked);
        assert_eq!(asked.len(), pages.len(), "one answer a question");
        let mut batch = Batch::new(&self.config);
        for (comparison, likeness) in asked.into_iter().zip(pages) {
            let kin = batch.meet(&comparison, likeness);
            self.conclude_visit(now, comparison, kin, step);
        }
    }

    fn conclude_visit(&mut self, now: Time, mut comparison: Comparison, kin: Kin, step: &mut Step) {
        self.remember(&mut comparison, &kin, step);
        let Comparison { slot, fetch, place, entry, mut report } = comparison;
        let other = kin.twin.as_ref().filter(|t| t.url != entry.url);
        let how = keep_as(&entry, &report, &kin, &self.config);
        let is_copy_or_near = (other.is_some(), kin.near.is_some());
        self.books.count_visit(&entry, &report, is_copy_or_near, &self.config.retry);
        let role = entry.record.role;
        let follows = match (&report.outcome, other) {
            _ if role.is_requisite() => {
                requisites::may_be_page(&self.config, &entry.url, entry.record.depth)
            }
            (Outcome::Page(page), Some(_)) => {
                self.comparing.copies.follow(&entry.url, &page.content)
            }
            _ => kin.near.is_none() || self.config.near.follow,
        } && !self.is_off_topic(&entry, &report.outcome);
        if matches!(report.outcome, Outcome::Page(_)) && other.is_none() && kin.near.is_none() {
            let site = self.frontier.awake.at(slot).site;
            self.traffic.shares.fetched(site, now);
            self.traffic.sites.brought_fresh(site);
        }
        let copied = other.map(|twin| &twin.url).or(kin.near.as_ref().map(|near| &near.url));
        self.learn_pattern(slot, &entry, &report, copied);
        let host = self.frontier.awake.at(slot);
        let is_page = entry.record.role == Role::Page;
        host.record.pages += u64::from(is_page && matches!(report.outcome, Outcome::Page(_)));
        let before = entry.record.clone();
        let (mut record, next) = before.after(&report, other, kin.near.as_ref(), now, &self.config);
        let found = (&report, kin.is_minor);
        let next = self.learn(now, (slot, place), &entry, found, (&mut record, next));
        let next = sitemaps::next_of(&record, next);
        self.books.stand(&record);
        self.log_answer(now, &entry.url, &report, (&record, next), step);
        if let Outcome::Moved { to: Some(to) } = &report.outcome {
            self.follow_seed(&entry, report.status, to, step);
        }
        // Of a copy too many, and of what is not kept, nothing is shown.
        if let Outcome::Page(page) = &mut report.outcome
            && !matches!(how, KeepAs::NotArchived)
            && (follows || other.is_none())
        {
            let requisites = std::mem::take(&mut page.requisites);
            if self.admission.send_requisites(&self.config, &entry, requisites) {
                self.books.requisites.beyond += page.requisites_beyond;
            }
        }
        self.send_found(&entry, report.outcome, follows, step);
        step.keeps.push(Keep { fetch, how });
        let was = UrlPosition::at(place, &entry.record);
        self.visited(slot, was, Entry { url: entry.url, record }, next, step);
        self.advance(now, slot, step);
    }

    /// Writes what later pages are compared with: bytes that are kept, and a text that leads.
    fn remember(&self, comparison: &mut Comparison, kin: &Kin, step: &mut Step) {
        let is_skipped = kin.near.is_some() && self.config.near.policy == NearPolicy::Skip;
        let is_archived = is_archived(&comparison.report, self.config.noarchive);
        let is_news = kin.twin.as_ref().is_none_or(|twin| is_archived && !twin.is_kept());
        if comparison.page().is_some() && is_news && !is_skipped {
            let (digest, twin) = (comparison.content().0, comparison.as_twin(is_archived));
            step.rows.push(Row::Content { digest, twin });
        }
        let Outcome::Page(page) = &mut comparison.report.outcome else { return };
        // Beyond all numbers that leaders can have, pages are compared and do not lead.
        let id = mass::node(comparison.entry.record.id).filter(|_| kin.leads);
        if let (Some(id), Some(sketch)) = (id, page.sketch.take()) {
            let leader = Leader { url: comparison.entry.url.clone(), sketch };
            step.rows.push(Row::Leader { id, leader });
        }
    }

    /// Takes a URL out of its place and writes what became of it.
    pub(crate) fn visited(
        &mut self,
        slot: u32,
        was: UrlPosition,
        entry: Entry,
        next: Next,
        step: &mut Step,
    ) {
        let id = entry.record.id.0;
        let later = match next {
            Next::Never => None,
            Next::At(due) => Some(Place::Later { due, id }),
        };
        self.hands.note_moved(id);
        let is_sifting = self.admission.outbox.is_sifting();
        if let Some(revisiting) = self.revisiting.as_mut().filter(|_| is_sifting) {
            revisiting.since_sift.insert(id);
        }
        let host = UrlHost::Awake(self.frontier.awake.at(slot));
        self.books.put(host, was, entry, later, &mut step.rows);
        self.frontier.mark_dirty(slot);
    }

    /// A URL that came up waits again, until then.
    pub(crate) fn defer(
        &mut self,
        slot: u32,
        (place, entry): (Place, Entry),
        due: Time,
        step: &mut Step,
    ) {
        let was = UrlPosition::at(place, &entry.record);
        self.visited(slot, was, entry, Next::At(due), step);
    }

    /// Settles a URL without asking for it.
    pub(crate) fn refuse(
        &mut self,
        (now, slot): (Time, u32),
        (place, entry): (Place, Entry),
        (why, next): (Refusal, Next),
        step: &mut Step,
    ) {
        // One that was refused before left the calendar then.
        if !matches!(entry.record.status, RecordStatus::Refused(_)) {
            self.leave_calendar(&entry.record);
        }
        self.log(now, step, || Happening::Refused { url: entry.url.clone(), why });
        let was = UrlPosition::at(place, &entry.record);
        let entry = Entry { url: entry.url, record: entry.record.refused(why) };
        self.visited(slot, was, entry, next, step);
    }

    /// Rules change: a crawl that goes on looks again when they were read anew some times, which
    /// costs no request.
    pub(crate) fn refuse_by_robots(
        &mut self,
        now: Time,
        slot: u32,
        row: (Place, Entry),
        step: &mut Step,
    ) {
        let again = self.config.polite.robots_ttl.times(f64::from(ROBOTS_AGAIN_TTLS));
        let next = match self.config.continuous {
            Some(_) => Next::At(now + again),
            None => Next::Never,
        };
        self.refuse((now, slot), row, (Refusal::Robots, next), step);
    }

    /// Sends on what a page links to. Links that are not followed count for its mass alone.
    fn send_found(&mut self, entry: &Entry, outcome: Outcome, follows: bool, step: &mut Step) {
        let UrlRecord { id, depth, hops, role, .. } = entry.record;
        let is_outside = role.is_outside_requisite();
        match outcome {
            Outcome::Page(_) | Outcome::Cut { .. } if is_outside => {}
            Outcome::Moved { to: Some(url) } if role.is_requisite() => {
                let kind = requisites::redirected(&self.config, role, &url);
                let from = mass::node(id).map(|page| self.redirects(page)).filter(|_| !is_outside);
                if let Some(from) = from {
                    // In the books it is a page with one link.
                    let (url, from) = (url.clone(), Some(from));
                    let kind = FoundAs::Copied;
                    self.admission.outbox.push(Discovery { url, kind, depth, hops: 0, from });
                }
                let hops = hops.saturating_add(1);
                self.admission.outbox.push(Discovery { url, kind, depth, hops, from });
            }
            Outcome::Page(page) => {
                let PageContent { mut found, mut known, relevance, .. } = *page;
                if !self.config.follows_links {
                    (found, known) = (Vec::new(), KnownLinks::default());
                }
                let links = found.len() + known.len();
                self.books.counters.discoveries += if follows { links as u64 } else { 0 };
                // Links of an earlier visit may still wait in the outbox, and must not come last.
                let is_first = entry.record.past.visited.is_none();
                let surfer = self.surfer_on(relevance);
                match mass::node(id) {
                    Some(page) if links == 0 => {
                        let whole = self.books.mass.linked_to_none(page, surfer, step);
                        self.ranking.policy.linked(&whole, &self.books.mass);
                    }
                    Some(page) if is_first && found.is_empty() => {
                        self.take_known_links(page, (&known, surfer), step);
                    }
                    _ => self.send_links(entry, (found, known, surfer), follows),
                }
            }
            Outcome::Moved { to: Some(url) } => {
                let kind = entry.record.role.redirected();
                self.remember_moved(id);
                let from = mass::node(id).map(|page| self.redirects(page));
                let from = from.map(|from| from.between(&entry.url, &url));
                let hops = hops.saturating_add(1);
                self.books.counters.discoveries += 1;
                self.admission.outbox.push(Discovery { url, kind, depth, hops, from });
            }
            Outcome::Cut { found, .. } if self.config.follows_links => {
                // The page's importance goes to its links when it is taken as it is, or whole.
                self.books.counters.discoveries += found.len() as u64;
                let visited = entry.record.past.visited;
                for found in found {
                    let depth = found.depth(depth);
                    let kind = announce::only_news(found.kind, visited);
                    let (kind, hops) = sitemaps::link(entry, &found.url, kind);
                    self.admission.outbox.push(Discovery {
                        url: found.url,
                        kind,
                        depth,
                        hops,
                        from: None,
                    });
                }
            }
            _ => {}
        }
    }

    /// All links of a page go through the outbox, one after the other, and its last one says so.
    fn send_links(
        &mut self,
        entry: &Entry,
        (found, known, surfer): (Vec<FoundUrl>, KnownLinks, Surfer),
        follows: bool,
    ) {
        let page = &entry.record;
        let known = known.pieces(CHUNK_MAX);
        let mut left = known.len() + found.len();
        let mut from = |weight| {
            left -= 1;
            let of = |page| Origin::of(page, left == 0).left_by(surfer);
            mass::node(page.id).map(|page| of(page).weighing(weight))
        };
        for links in known {
            // A page without a number in the books has no mass that links would share.
            if let Some(from) = from(0) {
                self.admission.outbox.lead(Lead::Known { links: Box::new(links), from });
            }
        }
        for found in found {
            let depth = found.depth(page.depth);
            let kind = match follows {
                true => announce::only_news(found.kind, page.past.visited),
                false => FoundAs::Copied,
            };
            let (kind, hops) = sitemaps::link(entry, &found.url, kind);
            let from = from(found.weight).map(|from| from.between(&entry.url, &found.url));
            self.admission.outbox.push(Discovery { url: found.url, kind, depth, hops, from });
        }
    }
}

/// Whether a page's body may be kept.
fn is_archived(report: &FetchReport, noarchive: NoArchive) -> bool {
    let marks = match &report.outcome {
        Outcome::Page(page) => page.marks,
        Outcome::Cut { marks, .. } => *marks,
        _ => Marks::NONE,
    };
    report.held && (noarchive == NoArchive::Ignore || !marks.has(Marks::NOARCHIVE))
}

/// Every answer is kept, unless its page asks us not to, or the owner does without near-duplicates;
/// a payload that is kept already becomes a revisit record.
fn keep_as(entry: &Entry, report: &FetchReport, kin: &Kin, config: &Config) -> KeepAs {
    let policy = config.near.policy;
    let twin = kin.twin.as_ref().filter(|twin| twin.is_kept());
    match (&report.outcome, twin, &kin.near) {
        _ if !report.held => KeepAs::Drop,
        _ if !is_archived(report, config.noarchive) => KeepAs::NotArchived,
        (Outcome::Page(page), Some(twin), _) if twin.payload == page.payload => {
            KeepAs::Revisit(twin.clone())
        }
        (_, _, Some(_)) if policy == NearPolicy::Skip => KeepAs::Drop,
        (_, _, Some(near)) => KeepAs::Near(near.clone()),
        (Outcome::Unchanged, Some(twin), _) => KeepAs::NotModified(twin.clone()),
        // There is no record to refer to, and a 304 alone replays as nothing.
        (Outcome::Unchanged, None, _) if entry.record.past.content.is_some() => KeepAs::Drop,
        _ => KeepAs::Response,
    }
}

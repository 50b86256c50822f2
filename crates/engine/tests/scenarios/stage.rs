//! A small stage for the engine: a scripted web, a store in memory, virtual time. It keeps a log
//! of requests and watches politeness in every scenario.

use rhumb_engine::config::Config;
use rhumb_engine::discovery::{Discovery, FoundAs, FoundUrl};
use rhumb_engine::engine::{Engine, Opening};
use rhumb_engine::event::{
    Action, Event, FetchOrder, Purpose, Question, ResolvedName, Step, StopReason,
};
use rhumb_engine::log::Happening;
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::{
    AnswerHead, FailKind, FetchReport, Outcome, PageContent, of_failure, of_page, of_robots,
    read_robots,
};
use rhumb_engine::record::{Refusal, UrlRecord};
use rhumb_engine::rng::mix;
use rhumb_engine::time::{Span, Time};
use rhumb_neardup::Sketch;
use rhumb_page::html::{Requisite, RequisiteKind};
use rhumb_page::url::{HostKey, Url};
use rhumb_state::memory::MemoryState;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;

/// Where every scenario begins.
pub const DAWN: Time = Time(1_000_000_000_000);
/// A scenario that takes more turns than this goes round in circles.
const TURNS_MAX: u64 = 200_000;

/// What a URL answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// 200 with these links.
    Links(Vec<Url>),
    /// 200 with a sitemap of these pages and these further sitemaps.
    Sitemap(Vec<Url>, Vec<Url>),
    /// 200 with this robots.txt.
    Rules(&'static str),
    /// 200 with these links, and then the connection ends, so long before the end of the body.
    Cut(Vec<Url>, u8),
    Status(u16),
    /// A status with Retry-After.
    Later(u16, Span),
    Moved(Url),
    /// A redirect that may be another one the next time.
    MovedForNow(Url),
    Fails(FailKind),
    /// 200, and a head that says that the body is not wanted.
    Unwanted(Refusal),
    /// 200, and no room for the body.
    Crowded,
}

/// An address and for how long it is good.
type Resolution = Result<(Vec<IpAddr>, Span), FailKind>;

pub struct Stage {
    pub engine: Engine,
    pub state: MemoryState,
    pub now: Time,
    config: Config,
    /// The product token of the user agent.
    pub agent: &'static str,
    /// What each URL answers, in turn; the last answer stays. All else is 404.
    replies: HashMap<Url, Vec<Reply>>,
    bytes_of: HashMap<Url, u8>,
    text_of: HashMap<Url, u64>,
    /// What pages and stylesheets are shown with.
    shown_with: HashMap<Url, Vec<Requisite>>,
    took: HashMap<Url, Span>,
    /// Bytes of each answer of a host.
    weight: HashMap<String, u64>,
    /// Hosts that do not answer at all, and between which times.
    silent: HashMap<String, (Time, Time)>,
    addresses: HashMap<String, Vec<Resolution>>,
    dead: HashSet<IpAddr>,
    wild: HashSet<String>,
    /// How long the name server takes to fail.
    pub resolving_takes: Span,
    /// How long the store takes to answer.
    pub answers_after: fn(&Question) -> Span,
    coming: BTreeMap<(Time, u64), Event>,
    sent: u64,
    open: HashMap<String, FetchOrder>,
    rest_until: HashMap<String, Time>,
    pub log: Vec<(Time, Url)>,
    /// What the engine tells of all that happened.
    pub logged: Vec<Happening>,
    pub resolved: Vec<(Time, String)>,
    pub turns: u64,
    /// The most discoveries that one question to the sieve held.
    pub sift_peak: usize,
    pub heap_peak: usize,
}

impl Stage {
    pub fn new(config: Config) -> Stage {
        let opening = Opening::default();
        let mut state = MemoryState::new(1);
        state.compare_texts(config.near.threshold);
        Stage {
            engine: Engine::open(config.clone(), opening, DAWN),
            state,
            now: DAWN,
            config,
            agent: "rhumb",
            replies: HashMap::new(),
            bytes_of: HashMap::new(),
            text_of: HashMap::new(),
            shown_with: HashMap::new(),
            took: HashMap::new(),
            weight: HashMap::new(),
            silent: HashMap::new(),
            addresses: HashMap::new(),
            dead: HashSet::new(),
            wild: HashSet::new(),
            resolving_takes: Span::ZERO,
            answers_after: |_| Span::ZERO,
            coming: BTreeMap::new(),
            sent: 0,
            open: HashMap::new(),
            rest_until: HashMap::new(),
            log: Vec::new(),
            logged: Vec::new(),
            resolved: Vec::new(),
            turns: 0,
            sift_peak: 0,
            heap_peak: 0,
        }
    }

    pub fn answers(mut self, at: &str, replies: &[Reply]) -> Stage {
        self.replies.insert(url(at), replies.to_vec());
        self
    }

    pub fn page(self, at: &str, links: &[&str]) -> Stage {
        self.answers(at, &[Reply::Links(links.iter().map(|link| url(link)).collect())])
    }

    /// What a page or a stylesheet is shown with: `@` before a stylesheet, `#` before a frame.
    pub fn shows(mut self, at: &str, requisites: &[&str]) -> Stage {
        let requisite = |text: &&str| {
            let kind = match text.as_bytes()[0] {
                b'@' => RequisiteKind::Stylesheet,
                b'#' => RequisiteKind::Frame,
                _ => RequisiteKind::Part,
            };
            Requisite { url: url(text.trim_start_matches(['@', '#'])), kind }
        };
        self.shown_with.insert(url(at), requisites.iter().map(requisite).collect());
        self
    }

    /// These pages have the same bytes.
    pub fn same_bytes(mut self, pages: &[&str]) -> Stage {
        self.bytes_of.extend(pages.iter().map(|page| (url(page), 1)));
        self
    }

    /// These pages have nearly the same text.
    pub fn same_text(mut self, pages: &[&str]) -> Stage {
        self.text_of.extend(pages.iter().map(|page| (url(page), 1)));
        self
    }

    /// Pages of one subject have nearly the same text.
    pub fn text(mut self, page: &str, subject: u64) -> Stage {
        self.text_of.insert(url(page), subject);
        self
    }

    pub fn takes(mut self, at: &str, span: Span) -> Stage {
        self.took.insert(url(at), span);
        self
    }

    /// Each page of this host has so many bytes.
    pub fn weighs(mut self, host: &str, bytes: u64) -> Stage {
        self.weight.insert(host.to_owned(), bytes);
        self
    }

    /// Nobody answers at this host, from and until so long after dawn.
    pub fn silent(mut self, host: &str, from: Span, to: Span) -> Stage {
        self.silent.insert(host.to_owned(), (DAWN + from, DAWN + to));
        self
    }

    /// What the name server says of a host, in turn; the last answer stays.
    pub fn resolves(mut self, host: &str, answers: &[Result<([u8; 4], Span), FailKind>]) -> Stage {
        let answers = answers.iter().map(|a| a.map(|(ip, ttl)| (vec![IpAddr::from(ip)], ttl)));
        self.addresses.insert(host.to_owned(), answers.collect());
        self
    }

    /// The addresses of a host, in the order in which the name server gives them.
    pub fn has_addresses(mut self, host: &str, ips: &[[u8; 4]]) -> Stage {
        let ips = ips.iter().map(|ip| IpAddr::from(*ip)).collect();
        self.addresses.insert(host.to_owned(), vec![Ok((ips, Span::secs(3_600)))]);
        self
    }

    /// Any name of this site has an address.
    pub fn wildcard(mut self, site: &str) -> Stage {
        self.wild.insert(site.to_owned());
        self
    }

    /// No connection is to be had at these addresses.
    pub fn dead(mut self, ips: &[[u8; 4]]) -> Stage {
        self.dead.extend(ips.iter().map(|ip| IpAddr::from(*ip)));
        self
    }

    pub fn seed(mut self, seeds: &[&str]) -> Stage {
        self.send_seeds(seeds, Span::ZERO);
        self
    }

    pub fn send_seeds(&mut self, seeds: &[&str], after: Span) {
        let seed = |s: &&str| Discovery {
            url: url(s),
            kind: FoundAs::Seed,
            depth: 0,
            hops: 0,
            from: None,
        };
        let seeds = seeds.iter().map(|s| (seed(s), 1.0)).collect();
        self.send(after, Event::Seeded { seeds });
    }

    pub fn send(&mut self, after: Span, event: Event) {
        self.sent += 1;
        self.coming.insert((self.now + after, self.sent), event);
    }

    /// Until the crawl is over.
    pub fn run(&mut self) -> StopReason {
        loop {
            self.turn();
            if let Some(reason) = self.engine.over() {
                return reason;
            }
        }
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        while self.next().is_some_and(|next| next <= end) {
            self.turn();
        }
        self.now = end;
    }

    /// The process dies and begins again with this configuration: only the rows are left.
    pub fn reopen(&mut self, config: Config) {
        self.coming.clear();
        for (host, _) in std::mem::take(&mut self.open) {
            self.rest_until.insert(host, self.now + self.config.polite.delay);
        }
        let opening = self.state.reopen();
        self.state.compare_texts(config.near.threshold);
        self.engine = Engine::open(config.clone(), opening, self.now);
        self.config = config;
        self.send(Span::ZERO, Event::Tick);
    }

    fn next(&self) -> Option<Time> {
        let coming = self.coming.keys().next().map(|(at, _)| *at);
        let wakeup = self.engine.next_wakeup(self.now).map(|(at, _)| at);
        coming.into_iter().chain(wakeup).min()
    }

    fn turn(&mut self) {
        let next = self.next();
        self.now = next.unwrap_or_else(|| panic!("stuck: {:#?}", self.engine.snapshot(self.now)));
        self.turns += 1;
        assert!(self.turns < TURNS_MAX, "in circles: {:#?}", self.engine.snapshot(self.now));
        let mut step = Step::default();
        while let Some(entry) = self.coming.first_entry().filter(|e| e.key().0 <= self.now) {
            let event = entry.remove();
            if let Event::Fetched { fetch, .. } = &event {
                self.ended(fetch.0);
            }
            self.engine.step(self.now, event, &mut step);
        }
        self.engine.conclude(self.now, &mut step);
        self.heap_peak = self.heap_peak.max(self.engine.heap_bytes());
        self.state.commit(&mut step.rows);
        for action in step.actions.drain(..) {
            self.perform(action);
        }
        if self.engine.over().is_some() {
            self.engine.last_words(&mut step);
            self.state.commit(&mut step.rows);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Fetch(fetch) => self.fetch(fetch),
            Action::Resolve { host } => {
                self.resolved.push((self.now, host.host()));
                let answer = self.address(&host).map(|(ips, ttl)| {
                    let until = self.now + ttl;
                    ResolvedName { ips, until }
                });
                let takes = match answer {
                    Ok(_) => Span::ZERO,
                    Err(_) => self.resolving_takes,
                };
                self.send(takes, Event::Resolved { host, answer });
            }
            Action::Acknowledge { .. } => unreachable!("there is one partition"),
            Action::Log(entry) => self.logged.push(entry.what),
            Action::Ask(question) => {
                if let Question::Sift { candidates } = &question {
                    self.sift_peak = self.sift_peak.max(candidates.len());
                }
                let after = (self.answers_after)(&question);
                let answer = self.state.answer(question).expect("an answer from memory");
                self.send(after, Event::Answered(answer));
            }
        }
    }

    fn is_wild(&self, host: &HostKey) -> bool {
        self.wild.contains(host.site().as_str())
    }

    fn address(&mut self, host: &HostKey) -> Resolution {
        let is_probe = host.host().starts_with("rhumb-") && !self.is_wild(host);
        match self.addresses.get_mut(&host.host()) {
            Some(answers) if answers.len() > 1 => answers.remove(0),
            Some(answers) => answers[0].clone(),
            None if is_probe => Err(FailKind::DnsNotFound),
            None => {
                let [a, b, c, ..] = url(&host.origin()).fingerprint(3).to_le_bytes();
                Ok((vec![IpAddr::from([10, a, b, c])], Span::secs(3_600)))
            }
        }
    }

    fn fetch(&mut self, fetch: FetchOrder) {
        // One name is one host to whoever runs it, whatever the scheme.
        let host = fetch.url.host().to_owned();
        let at_address = self.open.values().filter(|open| open.address == fetch.address).count();
        assert!(at_address < usize::from(self.config.polite.per_address), "{}", fetch.address);
        if let Some(rest) = self.rest_until.get(&host) {
            assert!(self.now >= *rest, "{} is asked too soon", fetch.url);
        }
        self.log.push((self.now, fetch.url.clone()));
        let took = self.took.get(&fetch.url).copied().unwrap_or(Span::millis(100));
        let report = self.report(&fetch, took);
        self.send(took, Event::Fetched { fetch: fetch.id, report });
        let before = self.open.insert(host, fetch);
        assert!(before.is_none(), "two requests open to one host");
    }

    fn ended(&mut self, id: u64) {
        let open = self.open.iter().find(|(_, fetch)| fetch.id.0 == id);
        let host = open.map(|(host, _)| host.clone()).expect("a request that began");
        self.open.remove(&host);
        self.rest_until.insert(host, self.now + self.config.polite.delay);
    }

    fn report(&mut self, fetch: &FetchOrder, took: Span) -> FetchReport {
        let silent = self.silent.get(fetch.url.host());
        let reply = match self.replies.get_mut(&fetch.url) {
            _ if self.dead.contains(&fetch.address) => Reply::Fails(FailKind::Connect),
            _ if silent.is_some_and(|(from, to)| (*from..*to).contains(&self.now)) => {
                Reply::Fails(FailKind::Timeout)
            }
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies[0].clone(),
            None => Reply::Status(404),
        };
        let (mut links, mut rules, mut head, mut cut) =
            (Vec::new(), "", AnswerHead::default(), None);
        let mut sitemaps = None;
        match reply {
            Reply::Links(urls) => (links, head.status) = (urls, 200),
            Reply::Cut(urls, missing) => (links, head.status, cut) = (urls, 200, Some(missing)),
            Reply::Sitemap(pages, further) => {
                (links, head.status, sitemaps) = (pages, 200, Some(further));
            }
            Reply::Rules(text) => (rules, head.status) = (text, 200),
            Reply::Status(status) => head.status = status,
            Reply::Later(status, span) => (head.status, head.retry_after) = (status, Some(span)),
            Reply::Moved(to) => (head.status, head.location) = (301, Some(to)),
            Reply::MovedForNow(to) => (head.status, head.location) = (302, Some(to)),
            Reply::Unwanted(_) | Reply::Crowded => {
                let outcome = match reply {
                    Reply::Unwanted(why) => Outcome::Unwanted(why),
                    _ => Outcome::Crowded,
                };
                return FetchReport {
                    outcome,
                    status: 200,
                    bytes: 200,
                    at: self.now,
                    took,
                    held: false,
                };
            }
            Reply::Fails(kind) => {
                let outcome = of_failure(fetch.purpose, kind);
                return FetchReport {
                    outcome,
                    status: 0,
                    bytes: 0,
                    at: self.now,
                    took,
                    held: false,
                };
            }
        }
        let status = head.status;
        let outcome = match fetch.purpose {
            Purpose::Robots => of_robots(head, || read_robots(rules.as_bytes(), self.agent)),
            _ => of_page(head, || match cut {
                None => listing(sitemaps, self.page_of(&fetch.url, links)),
                Some(missing) => cut_by(missing, self.page_of(&fetch.url, links)),
            }),
        };
        let bytes = self.weight.get(fetch.url.host()).copied().unwrap_or(1_000);
        FetchReport { outcome, status, bytes, at: self.now, took, held: true }
    }

    fn page_of(&self, at: &Url, links: Vec<Url>) -> PageContent {
        let content = match self.bytes_of.get(at) {
            Some(byte) => [*byte; 16],
            None => at.fingerprint(9).to_le_bytes(),
        };
        let found = links.into_iter().map(|url| FoundUrl::new(url, FoundAs::Link)).collect();
        let sketch = self.text_of.get(at).map(|subject| {
            let own = (0..8).map(|n| mix(at.fingerprint(9) as u64 ^ n));
            let prints: Vec<u64> = (0..200).map(|n| mix(subject << 20 | n)).chain(own).collect();
            std::sync::Arc::new(Sketch::of(&prints).expect("shingles"))
        });
        let requisites = self.shown_with.get(at).cloned().unwrap_or_default();
        PageContent { content, found, requisites, sketch, ..PageContent::default() }
    }

    /// The requests so far: seconds since dawn, and the URL without its scheme.
    pub fn told(&self) -> Vec<String> {
        let line = |(at, url): &(Time, Url)| {
            let text = url.as_str().trim_start_matches("http://");
            format!("{:.1} {text}", at.since(DAWN).as_secs_f64())
        };
        self.log.iter().map(line).collect()
    }

    /// The pages requested, without robots.txt, in order.
    pub fn pages(&self) -> Vec<&str> {
        let pages = self.log.iter().filter(|(_, url)| url.path() != "/robots.txt");
        pages.map(|(_, url)| url.as_str().trim_start_matches("http://")).collect()
    }

    pub fn record(&self, at: &str) -> &UrlRecord {
        self.state.rows.urls.get(&url(at).key()).unwrap_or_else(|| panic!("{at} is not known"))
    }
}

/// The page as a sitemap, if these further ones make it one.
fn listing(further: Option<Vec<Url>>, mut page: PageContent) -> PageContent {
    let Some(further) = further else { return page };
    page.found.iter_mut().for_each(|found| found.kind = FoundAs::Listed);
    page.found.extend(further.into_iter().map(|url| FoundUrl::new(url, FoundAs::Sitemap)));
    PageContent { is_sitemap: true, ..page }
}

fn cut_by(missing: u8, page: PageContent) -> PageContent {
    let mut content = page.content;
    content[0] ^= missing;
    PageContent { content, marks: Marks::TRUNCATED, cut: Some(FailKind::Closed), ..page }
}

pub fn url(text: &str) -> Url {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&text).expect("a URL")
}

//! Rows and questions by chance, for stores that are compared with each other. Other rooms' tests
//! use them, too.

use rhumb_engine::counters::Counters;
use rhumb_engine::discovery::{Discovery, FoundAs, Lead, Origin};
use rhumb_engine::event::{Question, Refill, Row, Wake};
use rhumb_engine::hands::HandLine;
use rhumb_engine::host::HostRecord;
use rhumb_engine::known::KnownLinks;
use rhumb_engine::near::{Leader, Near};
use rhumb_engine::outbound::{Item, Message, SequenceNumbers};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::queue::{Entry, Place, Section, SleepPlace, Sleeper};
use rhumb_engine::record::{RecordStatus, Refusal, Twin, UrlId, UrlRecord};
use rhumb_engine::review::{ReviewFailed, ReviewWanted, RulesFingerprint};
use rhumb_engine::rng::{Rng, mix};
use rhumb_engine::time::{Span, Time};
use rhumb_neardup::Sketch;
use rhumb_page::robots::{Agent, Robots};
use rhumb_page::url::{HostKey, Url};
use rhumb_state::snapshot::StateSnapshot;
use std::sync::Arc;

/// What a snapshot says of every row that a [`Chance`] may write.
pub fn all_rows(snapshot: &impl StateSnapshot) -> String {
    let mut all = String::new();
    for host in Chance::HOSTS.iter().flat_map(|host| ["http", "https"].map(|s| (s, host))) {
        let url = |page, query| format!("{}://{}/{page}?q={query}", host.0, host.1);
        for (page, query) in (0..9).flat_map(|page| (0..3).map(move |query| (page, query))) {
            let url = Url::parse(&url(page, query)).expect("a URL");
            let row = snapshot.url(&url.key()).expect("a row");
            all += &format!("{row:?} {:?}\n", snapshot.has_url(&url.key()));
        }
        let key = Url::parse(&url(0, 0)).expect("a URL").host_key();
        let queue = |section| snapshot.queue(&key, section, None, 50).expect("rows");
        let row = snapshot.host(&key).expect("a row");
        all += &format!("{row:?} {:?} {:?}\n", queue(Section::Now), queue(Section::Later));
    }
    let asleep = snapshot.sleepers_due(Time(u64::MAX), None, 50).expect("rows");
    let resting = snapshot.sleepers_resting(1, Time(u64::MAX), None, 50).expect("rows");
    let outbox = snapshot.outbox(0, 50).expect("rows");
    all + &format!("{asleep:?} {resting:?} {outbox:?}")
}

/// Few hosts, URLs and places, so that rows are overwritten, deleted and asked for again.
pub struct Chance(pub Rng);

impl Chance {
    /// One host's name begins with another's, and ports make further hosts of them.
    const HOSTS: [&str; 6] =
        ["a.test", "a.test:81", "aa.test", "www.a.test", "b.test", "xn--bcher-kva.test"];

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.draw() % n
    }

    fn url(&mut self) -> Url {
        let schemes = ["http", "https"];
        let scheme = schemes[self.below(2) as usize];
        let host = Chance::HOSTS[self.below(6) as usize];
        Url::parse(&format!("{scheme}://{host}/{}?q={}", self.below(9), self.below(3))).unwrap()
    }

    fn host(&mut self) -> HostKey {
        self.url().host_key()
    }

    fn time(&mut self) -> Time {
        // Times whose bytes differ in more than the last one.
        let far = self.below(3) as u32;
        Time(self.below(6) << (8 * far))
    }

    fn place(&mut self, section: Section) -> Place {
        let id = self.below(4);
        match section {
            Section::Now => {
                Place::Now { class: self.below(3) as u8 * 127, rank: self.below(4) << 30, id }
            }
            Section::Later => Place::Later { due: self.time(), id },
        }
    }

    fn section(&mut self) -> Section {
        if self.below(2) == 0 { Section::Now } else { Section::Later }
    }

    fn sleep_place(&mut self) -> SleepPlace {
        let rank = self.below(40);
        match self.below(3) {
            0 => SleepPlace::Ready { class: self.below(32) as u8, rank },
            1 => SleepPlace::Later { due: self.time(), rank },
            _ => SleepPlace::Resting { run: self.below(3) as u32, due: self.time(), rank },
        }
    }

    fn record(&mut self) -> UrlRecord {
        let status = match self.below(4) {
            3 => RecordStatus::Failed(FailKind::ALL[self.below(16) as usize]),
            0 => RecordStatus::Queued,
            1 => RecordStatus::Refused(Refusal::ALL[self.below(7) as usize]),
            _ => RecordStatus::Fetched,
        };
        let (depth, hops) = (self.below(300) as u16, self.below(3) as u8);
        let mut record = UrlRecord::new(UrlId(self.below(99)), status, depth, hops, Time(5));
        if self.below(2) == 0 {
            record.past.etag = Some("\"e\"".into());
            record.past.content = Some([self.below(4) as u8; 16]);
            record.past.duplicate_of = Some(self.url());
            record.past.near = Some(Near { url: self.url(), permille: self.below(1001) as u16 });
            let section = self.section();
            record.place = Some(self.place(section));
        }
        record
    }

    fn host_record(&mut self) -> HostRecord {
        HostRecord {
            admitted: self.below(1_000),
            robots_until: (self.below(2) == 0).then(|| self.time()),
            crawl_delay: (self.below(2) == 0).then_some(Span::secs(3)),
            sleep: (self.below(2) == 0).then(|| self.sleep_place()),
            now_after: (self.below(2) == 0).then(|| self.place(Section::Now)),
            later_after: (self.below(2) == 0).then(|| self.place(Section::Later)),
            ..HostRecord::default()
        }
    }

    fn discovery(&mut self) -> Discovery {
        use FoundAs::{Copied, Link, Promoted, Readmit, Redirect, Seed};
        let kinds = [Seed, Link, Redirect, Readmit, Copied, Promoted];
        let (url, kind) = (self.url(), kinds[self.below(6) as usize]);
        let from = Some(Origin::of(self.below(9) as u32, self.below(2) == 0));
        Discovery { url, kind, depth: self.below(300) as u16, hops: self.below(3) as u8, from }
    }

    fn leads(&mut self) -> Vec<Lead> {
        let mut links = Box::new(KnownLinks::new(self.below(300) as u16));
        let has_addresses = self.below(2) == 0;
        for _ in 0..self.below(4) {
            let (id, url) = (self.below(1 << 20) as u32, self.url());
            links.push(id, has_addresses.then_some(&url));
        }
        let from = Origin::of(self.below(9) as u32, false);
        let known = Lead::Known { links, from };
        self.discoveries().into_iter().map(Lead::New).chain([known]).collect()
    }

    fn discoveries(&mut self) -> Vec<Discovery> {
        (0..self.below(12)).map(|_| self.discovery()).collect()
    }

    fn message(&mut self) -> Message {
        let found = self.discoveries().into_iter();
        let item = |found: Discovery| {
            let Discovery { url, kind, depth, hops, .. } = found;
            Item { url, kind, depth, hops, mass: i64::from(depth) - 150 }
        };
        found.map(item).collect()
    }

    pub fn row(&mut self) -> Row {
        let is_there = self.below(3) > 0;
        match self.below(15) {
            0 => Row::Url { key: self.url().key(), record: self.record() },
            1 | 2 => {
                let section = self.section();
                let (url, record, place) = (self.url(), self.record(), self.place(section));
                let host = url.host_key();
                Row::Queue { host, place, entry: is_there.then_some(Entry { url, record }) }
            }
            3 => Row::Host { key: self.host(), record: self.host_record() },
            4 => {
                let text = format!("User-agent: *\nDisallow: /{}\nAllow: /a*b$", self.below(5));
                let robots = Box::new(Robots::parse(text.as_bytes(), "rhumb"));
                Row::Robots { host: self.host(), robots }
            }
            5 => Row::Sleep { host: self.host(), place: self.sleep_place(), asleep: is_there },
            6 => {
                let chunk = is_there.then(|| Arc::new(self.leads()));
                Row::Outbox { number: self.below(20), chunk }
            }
            7 => {
                let twin = Twin { url: self.url(), kept: self.time(), payload: [7; 20] };
                Row::Content { digest: [self.below(4) as u8; 16], twin }
            }
            9 => {
                let message = is_there.then(|| Arc::new(self.message()));
                Row::Message { to: self.below(3) as u32, number: self.below(300), message }
            }
            10 => Row::Foreign { node: self.below(9) as u32, url: self.url() },
            11 if is_there => {
                Row::Moved { node: self.below(99) as u32, mass: self.below(99) as i64 - 50 }
            }
            11 => {
                let numbers = SequenceNumbers { sent: vec![self.below(9); 3], taken: vec![1; 3] };
                Row::SequenceNumbers(Box::new(numbers))
            }
            8 => {
                let leader = Leader { url: self.url(), sketch: self.sketch() };
                Row::Leader { id: self.below(30) as u32, leader }
            }
            12 if is_there => Row::Seed { url: self.url(), weight: self.below(9) as f64 },
            13 => {
                let line = HandLine { at: self.time(), what: "pause".to_owned() };
                Row::Hands(vec![line; self.below(4) as usize])
            }
            12 => Row::Rules(RulesFingerprint { rules: self.below(9), agent: Agent::of("rhumb") }),
            _ => Row::Counters(Box::new(Counters { known: self.below(9), ..Counters::default() })),
        }
    }

    pub fn question(&mut self) -> Question {
        match self.below(7) {
            6 => {
                let after = (self.below(3) > 0).then(|| self.url().key());
                let failed = [ReviewFailed::None, ReviewFailed::ByKind, ReviewFailed::All]
                    [self.below(3) as usize];
                let (refused, denied) = (self.below(2) == 0, self.below(2) == 0);
                let wanted = ReviewWanted { refused, denied, failed };
                Question::Review { wanted, after, rows_max: 1 + self.below(60) as usize }
            }
            5 => Question::Addresses { nodes: (0..9).collect() },
            0 => Question::Sift { candidates: self.discoveries() },
            1 => {
                let sketches = (0..6).map(|_| (self.below(4) > 0).then(|| self.sketch()));
                let sketches: Vec<_> = sketches.collect();
                Question::Twin { pages: (0..6).map(|n| [n; 16]).zip(sketches).collect() }
            }
            2 => Question::Wake(self.wake()),
            3 => {
                let hosts = (0..self.below(6)).map(|_| {
                    let section = self.section();
                    let after = (self.below(2) == 0).then(|| self.place(section));
                    let rows_max = 1 + self.below(9) as usize;
                    Refill { host: self.host(), section, after, rows_max }
                });
                Question::Refill { hosts: hosts.collect() }
            }
            _ => Question::Receive { from: self.below(25), chunks_max: self.below(8) as usize },
        }
    }

    /// Of a few texts, each a little different every time.
    fn sketch(&mut self) -> Arc<Sketch> {
        let (text, own) = (self.below(8), self.below(1_000));
        let prints = (0..200).map(|n| mix(if n < 10 { own << 32 | n } else { text << 16 | n }));
        Arc::new(Sketch::of(&prints.collect::<Vec<_>>()).expect("shingles"))
    }

    fn wake(&mut self) -> Wake {
        let mut after =
            |place: SleepPlace| (self.below(2) == 0).then(|| Sleeper { place, host: self.host() });
        let classes: Vec<_> = [0, 1, 30, 31]
            .map(|class| (class, 3, after(SleepPlace::Ready { class, rank: 10 })))
            .into_iter()
            .collect();
        let later = after(SleepPlace::Later { due: Time(3), rank: 10 });
        let resting = after(SleepPlace::Resting { run: 1, due: Time(3), rank: 10 });
        let named = (0..self.below(3)).map(|_| self.host()).collect();
        let later = (self.below(4) as usize, later);
        let resting = (self.below(4) as usize, resting);
        let run = self.below(3) as u32;
        Wake { now: self.time(), classes, later, resting, run, named, rows_max: 4 }
    }
}

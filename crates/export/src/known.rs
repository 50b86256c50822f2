//! What a crawl knows of a URL besides its captures.

use std::collections::{HashMap, HashSet};

use rhumb_engine::mass::{self, FIFTEENTHS, Mass, Surfer};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::refresh::scheduler::Scheduler;
use rhumb_engine::time::Time;
use rhumb_node::watch::status::belief_of;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;

use crate::ExportFailure;

/// Of one URL; nothing is known without a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownUrl {
    /// Links from a seed.
    pub depth: Option<u16>,
    /// Its share of all importance that is certain, 0 to 1.
    pub importance: Option<f32>,
    /// How relevant the crawl's topic says it is, 0 to 1; none in a crawl without a topic.
    pub topic: Option<f32>,
    /// The digest of its cluster's leader: its own, if it leads or is alone.
    pub cluster: Option<String>,
    /// With the leader, if that is another page: 1 of the same bytes.
    pub similarity: Option<f32>,
    /// Changes a day, as its visits taught.
    pub change_rate: Option<f32>,
    /// The line of robots.txt that decided, if one did.
    pub robots_line: Option<u32>,
    pub found_on: Option<String>,
    /// The page that has this text, if that is another.
    pub duplicate_of: Option<String>,
    /// Whether its text is that of no other page.
    pub leads: bool,
    /// By partition and number: [`Knowledge::name_pages`] makes `found_on` of it.
    page: Option<(usize, UrlId)>,
}

/// What is read once for all URLs.
pub struct Knowledge<'a> {
    reader: &'a LocalReader,
    /// By partition.
    masses: Vec<Mass>,
    scheduler: Option<Scheduler>,
    robots: Option<(HostKey, Option<Box<Robots>>)>,
}

impl<'a> Knowledge<'a> {
    pub fn read(reader: &'a LocalReader) -> Result<Knowledge<'a>, ExportFailure> {
        let mut masses = Vec::new();
        for part in reader.parts() {
            let mut mass = part.mass()?;
            mass.push_all();
            masses.push(mass);
        }
        Ok(Knowledge { reader, masses, scheduler: reader.scheduler()?, robots: None })
    }

    pub fn of(&mut self, url: &Url) -> Result<KnownUrl, ExportFailure> {
        let (part, holding) = (self.reader.part_of(url), self.reader.holding(url));
        let snapshot = holding.snapshot();
        let Some(record) = snapshot.url(&url.key())? else { return Ok(KnownUrl::default()) };
        let (settled, lies_on_it) = self.masses[part].of(record.id);
        let leader = leader(&holding, &record)?;
        let change_rate = match (&self.scheduler, record.past.learnt) {
            (Some(scheduler), Some(_)) => snapshot
                .host(&url.host_key())?
                .and_then(|host| belief_of(&record, &host, scheduler, Time::ZERO))
                .map(|belief| belief.changes_per_day as f32),
            _ => None,
        };
        let robots_line = self.robots_line(url)?;
        Ok(KnownUrl {
            depth: Some(record.depth),
            importance: Some((settled + lies_on_it) as f32),
            topic: self.relevance(part, record.id),
            cluster: leader.digest,
            similarity: leader.similarity,
            change_rate,
            robots_line,
            found_on: None,
            leads: leader.url.is_none(),
            duplicate_of: leader.url,
            page: record.found_on.page().map(|page| (part, page)),
        })
    }

    fn relevance(&self, part: usize, id: UrlId) -> Option<f32> {
        let surfer = mass::node(id).and_then(|node| self.masses[part].ledger().surfer(node))?;
        let is_of_text = surfer.is_biased() && surfer != Surfer::PASSAGE;
        is_of_text.then(|| f32::from(surfer.relevance()) / f32::from(FIFTEENTHS))
    }

    /// A host's URLs follow each other, so the last host's rules are remembered.
    fn robots_line(&mut self, url: &Url) -> Result<Option<u32>, ExportFailure> {
        let host = url.host_key();
        if self.robots.as_ref().is_none_or(|(last, _)| *last != host) {
            let robots = self.reader.holding(url).snapshot().robots(&host)?;
            self.robots = Some((host, robots));
        }
        let robots = self.robots.as_ref().and_then(|(_, robots)| robots.as_ref());
        let line = robots.and_then(|robots| robots.verdict(url).line);
        Ok(line.and_then(|(line, _)| u32::try_from(line).ok()))
    }

    /// Fills in the pages that URLs were found on: one walk over all URLs for as many as are given.
    pub fn name_pages<'k>(
        &self,
        known: impl Iterator<Item = &'k mut KnownUrl>,
    ) -> Result<(), ExportFailure> {
        let mut known: Vec<&mut KnownUrl> = known.filter(|known| known.page.is_some()).collect();
        for (part, reader) in self.reader.parts().iter().enumerate() {
            let of_part =
                |known: &KnownUrl| known.page.filter(|(of, _)| *of == part).map(|(_, id)| id);
            let wanted: HashSet<UrlId> = known.iter().filter_map(|known| of_part(known)).collect();
            if wanted.is_empty() {
                continue;
            }
            let pages: HashMap<UrlId, Url> = reader.urls_numbered(&wanted)?;
            for known in &mut known {
                if let Some(page) = of_part(known) {
                    known.found_on = pages.get(&page).map(|url| url.as_str().to_owned());
                }
            }
        }
        Ok(())
    }
}

/// The page that a record's text is of.
fn leader(reader: &LocalReader, record: &UrlRecord) -> Result<Leader, ExportFailure> {
    let snapshot = reader.snapshot();
    let twin = match (record.status, &record.past.duplicate_of) {
        (RecordStatus::Duplicate, Some(url)) => snapshot.url(&url.key())?.map(|r| (url.clone(), r)),
        _ => None,
    };
    let (own, similarity) = match &twin {
        Some((_, twin)) => (twin, Some(1.0)),
        None => (record, None),
    };
    let Some(near) = &own.past.near else {
        let url = twin.as_ref().map(|(url, _)| url.as_str().to_owned());
        return Ok(Leader { url, digest: digest_of(own), similarity });
    };
    let leader = snapshot.url(&near.url.key())?;
    Ok(Leader {
        url: Some(near.url.as_str().to_owned()),
        digest: leader.as_ref().and_then(digest_of),
        similarity: Some(near.resemblance() as f32),
    })
}

struct Leader {
    /// None of a page that leads itself.
    url: Option<String>,
    digest: Option<String>,
    similarity: Option<f32>,
}

fn digest_of(record: &UrlRecord) -> Option<String> {
    record.past.content.map(|digest| format!("{:032x}", u128::from_be_bytes(digest)))
}

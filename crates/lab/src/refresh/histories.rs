//! Real change times of real pages, one page a line: `page<TAB>host<TAB>times in days`.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Lines of a file may be many; a replay holds them all.
pub const PAGES_MAX: usize = 20_000_000;

#[derive(Clone, Debug, Default)]
pub struct Histories {
    hosts: Vec<u32>,
    host_names: HashMap<String, u32>,
    /// Where the changes of a page begin.
    starts: Vec<u32>,
    changes: Vec<f64>,
    /// Of the page and host of each line that was read, to find those that come twice.
    names: Vec<u64>,
}

/// Pages, or lines, that are unusual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unusual {
    /// That never change within the days.
    pub still: usize,
    /// With two changes at one time.
    pub repeats: usize,
    /// With changes after the days.
    pub beyond: usize,
    /// Lines whose page and host another line has as well.
    pub twice: usize,
}

impl Histories {
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    pub fn host_of(&self, page: usize) -> u32 {
        self.hosts[page]
    }

    pub fn hosts_len(&self) -> usize {
        self.host_names.len()
    }

    /// When a page changed, in order.
    pub fn changes(&self, page: usize) -> &[f64] {
        let end = self.starts.get(page + 1).map_or(self.changes.len(), |start| *start as usize);
        &self.changes[self.starts[page] as usize..end]
    }

    /// Some of the pages.
    pub fn only(&self, pages: &[usize]) -> Histories {
        let mut some = Histories { host_names: self.host_names.clone(), ..Histories::default() };
        for page in pages {
            some.hosts.push(self.hosts[*page]);
            some.starts.push(some.changes.len() as u32);
            some.changes.extend_from_slice(self.changes(*page));
        }
        some
    }

    /// When the last change of all pages was; 0 if there is none.
    pub fn last_change(&self) -> f64 {
        self.changes.iter().copied().fold(0.0, f64::max)
    }

    /// What is unusual about them if so many days are replayed.
    pub fn oddities(&self, days: f64) -> Unusual {
        let count = |is_odd: &dyn Fn(&[f64]) -> bool| {
            (0..self.len()).filter(|page| is_odd(self.changes(*page))).count()
        };
        let mut names = self.names.clone();
        names.sort_unstable();
        Unusual {
            still: count(&|changes| !changes.iter().any(|at| *at > 0.0 && *at <= days)),
            repeats: count(&|changes| changes.windows(2).any(|two| two[0] == two[1])),
            beyond: count(&|changes| changes.last().is_some_and(|at| *at > days)),
            twice: names.windows(2).filter(|two| two[0] == two[1]).count(),
        }
    }

    /// Adds the lines of a file; what is wrong with the first bad one.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            self.add_line(line).map_err(|what| format!("line {number}: {what}"))?;
        }
        Ok(())
    }

    /// A page made up for an experiment.
    pub fn push(&mut self, host: &str, mut times: Vec<f64>) {
        let next = self.host_names.len() as u32;
        let host = match self.host_names.get(host) {
            Some(known) => *known,
            None => *self.host_names.entry(host.to_owned()).or_insert(next),
        };
        times.sort_by(f64::total_cmp);
        self.hosts.push(host);
        self.starts.push(self.changes.len() as u32);
        self.changes.extend(times);
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let mut fields = line.split('\t');
        let (Some(page), Some(host)) = (fields.next(), fields.next()) else {
            return Err("not page, host and times between tabs".to_owned());
        };
        let times = fields.next().unwrap_or_default();
        let parsed: Result<Vec<f64>, _> = times
            .split(',')
            .map(str::trim)
            .filter(|time| !time.is_empty())
            .map(|time| time.parse::<f64>().map_err(|_| format!("{time:?} is no time in days")))
            .collect();
        let parsed = parsed?;
        if let Some(bad) = parsed.iter().find(|time| !time.is_finite()) {
            return Err(format!("{bad} is no time in days"));
        }
        if let Some(early) = parsed.iter().find(|time| **time < 0.0) {
            return Err(format!("{early} is before day 0: times are days since the first fetch"));
        }
        if let Some(two) = parsed.windows(2).find(|two| two[1] < two[0]) {
            return Err(format!("{} comes after {}: times go up", two[1], two[0]));
        }
        if self.len() >= PAGES_MAX || self.changes.len() + parsed.len() > u32::MAX as usize {
            return Err(format!("more than {PAGES_MAX} pages"));
        }
        let mut hasher = DefaultHasher::new();
        (page, host).hash(&mut hasher);
        self.names.push(hasher.finish());
        self.push(host, parsed);
        Ok(())
    }
}

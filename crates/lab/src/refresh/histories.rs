//! Real change times of real pages, one page a line: `page<TAB>host<TAB>times in days`.

use std::collections::HashMap;

/// Lines of a file may be many; a replay holds them all.
pub const PAGES_MAX: usize = 20_000_000;

#[derive(Clone, Debug, Default)]
pub struct Histories {
    hosts: Vec<u32>,
    host_names: HashMap<String, u32>,
    /// Where the changes of a page begin.
    starts: Vec<u32>,
    changes: Vec<f64>,
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

    /// Pages that never change within so many days, and pages with two changes at one time.
    pub fn oddities(&self, days: f64) -> (usize, usize) {
        let pages = 0..self.len();
        let still = |page: &usize| !self.changes(*page).iter().any(|at| *at > 0.0 && *at <= days);
        let repeats = |page: &usize| self.changes(*page).windows(2).any(|two| two[0] == two[1]);
        (pages.clone().filter(still).count(), pages.filter(repeats).count())
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
        let (Some(_page), Some(host)) = (fields.next(), fields.next()) else {
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
        self.push(host, parsed);
        Ok(())
    }
}

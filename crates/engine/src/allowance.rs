//! Allowances: how the limits of a crawl are divided among its partitions, and divided again as
//! they are used, so that all together never exceed them.
//!
//! A [`Granter`] sums up and grants; an engine obeys the last [`Allowance`] that it heard, and says
//! with each snapshot what is [`InForce`]. Raising an allowance takes effect when it is granted,
//! lowering it only when the engine says that it is in force: a page that is in flight already may
//! still be counted. Until then the granter reckons with the greater of the two.

/// What one engine of several may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Allowances to one engine are numbered, from 1.
    pub number: u64,
    /// The most that its counter of pages, over all runs, may reach; no bound, if none.
    pub pages: Option<u64>,
    /// No request begins once its counter of bytes has reached this.
    pub bytes: Option<u64>,
    /// Requests in flight.
    pub slots: usize,
}

/// What an engine makes of its allowance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InForce {
    /// The last allowance that was heard.
    pub number: u64,
    /// What the counter of pages cannot exceed.
    pub pages: u64,
    pub bytes: u64,
    pub slots: usize,
    /// Pages counted, in flight or being compared.
    pub pages_used: u64,
    pub bytes_used: u64,
    /// Requests in flight, and hosts that are due and wait for a slot.
    pub slots_wanted: usize,
    /// There is something to fetch, now or later.
    pub has_work: bool,
}

/// The limits of the whole crawl.
#[derive(Clone, Copy, Debug)]
pub struct CrawlLimits {
    pub pages: Option<u64>,
    pub bytes: Option<u64>,
    /// At least one for each partition.
    pub slots: usize,
}

/// Divides the limits of a crawl among its partitions.
#[derive(Debug)]
pub struct Granter {
    limits: CrawlLimits,
    granted: Vec<Allowance>,
    in_force: Vec<Option<InForce>>,
}

impl Granter {
    pub fn new(limits: CrawlLimits, partitions: usize) -> Granter {
        assert!(limits.slots >= partitions, "a slot for each partition");
        Granter {
            limits,
            granted: vec![Allowance::default(); partitions],
            in_force: vec![None; partitions],
        }
    }

    /// What each may use before anything is known of the others: nothing of what is counted, and
    /// one slot.
    pub fn first(&mut self, pages: &[u64], bytes: &[u64]) -> Vec<Allowance> {
        for (own, granted) in self.granted.iter_mut().enumerate() {
            *granted = Allowance {
                number: 1,
                pages: self.limits.pages.map(|_| pages[own]),
                bytes: self.limits.bytes.map(|_| bytes[own]),
                slots: 1,
            };
        }
        self.granted.clone()
    }

    /// An engine begins, perhaps anew, with one slot and the number 1.
    pub fn begin(&mut self, own: usize) {
        self.granted[own] = Allowance { number: 1, slots: 1, ..Allowance::default() };
        self.in_force[own] = None;
    }

    /// An engine has ended: it uses nothing.
    pub fn end(&mut self, own: usize) {
        self.granted[own] = Allowance::default();
        self.in_force[own] = Some(InForce::default());
    }

    /// An engine says what is in force.
    pub fn hear(&mut self, own: usize, in_force: InForce) {
        self.in_force[own] = Some(in_force);
    }

    /// New allowances, by partition: of those that obey the last they were given.
    pub fn grant(&mut self) -> Vec<(usize, Allowance)> {
        let known: Vec<InForce> = self.in_force.iter().map(|i| i.unwrap_or_default()).collect();
        let obeys = |own: usize| known[own].number == self.granted[own].number;
        let pages = self.limits.pages.map(|max| {
            let used: Vec<u64> = known.iter().map(|i| i.pages_used).collect();
            let reserved = self.reserved(|i| i.pages, |a| a.pages.unwrap_or(u64::MAX));
            divide(max, &used, &reserved, &known)
        });
        let bytes = self.limits.bytes.map(|max| {
            let used: Vec<u64> = known.iter().map(|i| i.bytes_used).collect();
            let reserved = self.reserved(|i| i.bytes, |a| a.bytes.unwrap_or(u64::MAX));
            divide(max, &used, &reserved, &known)
        });
        let reserved = self.reserved(|i| i.slots as u64, |a| a.slots as u64);
        let slots = divide_slots(self.limits.slots, &reserved, &known);
        let mut news = Vec::new();
        for own in (0..known.len()).filter(|own| obeys(*own)) {
            let before = self.granted[own];
            let next = Allowance {
                pages: pages.as_ref().map(|pages| pages[own]),
                bytes: bytes.as_ref().map(|bytes| bytes[own]),
                slots: slots[own],
                ..before
            };
            if next != before {
                news.push((own, Allowance { number: before.number + 1, ..next }));
            }
        }
        news.iter().for_each(|(own, next)| self.granted[*own] = *next);
        news
    }

    /// What each may still come to use, whatever of it was heard.
    fn reserved(
        &self,
        now: impl Fn(&InForce) -> u64,
        next: impl Fn(&Allowance) -> u64,
    ) -> Vec<u64> {
        let all = self.in_force.iter().zip(&self.granted);
        all.map(|(in_force, granted)| match in_force {
            Some(in_force) if in_force.number == granted.number => now(in_force),
            Some(in_force) => now(in_force).max(next(granted)),
            None => next(granted),
        })
        .collect()
    }
}

/// Divides what is left of a counted limit evenly among those that have work. What one gives up is
/// given to others when it has said so, that is by the next call.
fn divide(max: u64, used: &[u64], reserved: &[u64], known: &[InForce]) -> Vec<u64> {
    let left = max.saturating_sub(used.iter().sum());
    // Those first that could use it now.
    let is_eager = |i: &InForce| i.has_work && i.slots_wanted > 0;
    let is_any = known.iter().any(is_eager);
    let takes = |i: &InForce| if is_any { is_eager(i) } else { i.has_work };
    let busy = known.iter().filter(|i| takes(i)).count() as u64;
    let mut odd = if busy > 0 { left % busy } else { 0 };
    let mut free = max.saturating_sub(reserved.iter().sum());
    let each = known.iter().enumerate().map(|(own, in_force)| {
        let share = match (takes(in_force), odd) {
            (false, _) => 0,
            (true, 0) => left / busy,
            (true, _) => {
                odd -= 1;
                left / busy + 1
            }
        };
        let wanted = used[own] + share;
        let more = wanted.saturating_sub(reserved[own]).min(free);
        free -= more;
        if more > 0 { reserved[own] + more } else { wanted.min(reserved[own]) }
    });
    each.collect()
}

/// Divides requests in flight by need: whoever wants less than an even share leaves the rest to the
/// others. Each has one at least.
fn divide_slots(max: usize, reserved: &[u64], known: &[InForce]) -> Vec<usize> {
    let mut by_need: Vec<usize> = (0..known.len()).collect();
    by_need.sort_by_key(|own| (known[*own].slots_wanted, *own));
    let mut left = max;
    let mut wanted = vec![0; known.len()];
    for (place, own) in by_need.iter().enumerate() {
        let even = left / (known.len() - place);
        // Some more than it needs now, so that what comes next need not wait for us.
        let need = 2 * known[*own].slots_wanted + 1;
        wanted[*own] = need.min(even).max(1);
        left -= wanted[*own];
    }
    // What nobody needs now goes to those that need most.
    if let Some(last) = by_need.last() {
        wanted[*last] += left;
    }
    let mut free = max.saturating_sub(reserved.iter().sum::<u64>() as usize);
    let each = wanted.into_iter().zip(reserved).map(|(wanted, reserved)| {
        let reserved = *reserved as usize;
        let more = wanted.saturating_sub(reserved).min(free);
        free -= more;
        if more > 0 { reserved + more } else { wanted.min(reserved).max(1) }
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// An engine that fetches as it may, and hears of allowances late.
    struct Fake {
        allowance: Allowance,
        pages: u64,
        flying: u64,
        work: u64,
    }

    impl Fake {
        fn in_force(&self) -> InForce {
            let used = self.pages + self.flying;
            InForce {
                number: self.allowance.number,
                pages: self.allowance.pages.unwrap().max(used),
                bytes: u64::MAX,
                slots: self.allowance.slots.max(self.flying as usize),
                pages_used: used,
                bytes_used: 0,
                slots_wanted: self.work.min(50) as usize,
                has_work: self.work + self.flying > 0,
            }
        }

        fn fetch(&mut self, rng: &mut Rng) {
            let landed = rng.draw() % (self.flying + 1);
            (self.flying, self.pages) = (self.flying - landed, self.pages + landed);
            let room = (self.allowance.slots as u64).saturating_sub(self.flying);
            let allowed = self.allowance.pages.unwrap().saturating_sub(self.pages + self.flying);
            let begun = room.min(allowed).min(self.work);
            (self.flying, self.work) = (self.flying + begun, self.work - begun);
        }
    }

    #[test]
    fn whatever_comes_late_limits_hold_and_whoever_has_work_uses_them_up() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let parts = 1 + (rng.draw() % 5) as usize;
            let max = rng.draw() % 300;
            let limits = CrawlLimits { pages: Some(max), bytes: None, slots: parts + 7 };
            let mut granter = Granter::new(limits, parts);
            let zeros = vec![0; parts];
            let first = granter.first(&zeros, &zeros);
            let mut fakes: Vec<Fake> = first
                .into_iter()
                .map(|allowance| {
                    let work = if rng.draw().is_multiple_of(3) { 0 } else { rng.draw() % 500 };
                    Fake { allowance, pages: 0, flying: 0, work }
                })
                .collect();
            fakes[0].work = 500;
            let mut late: Vec<(usize, Allowance)> = Vec::new();
            for _ in 0..5_000 {
                let own = rng.draw() as usize % parts;
                fakes[own].fetch(&mut rng);
                if rng.draw().is_multiple_of(2) {
                    granter.hear(own, fakes[own].in_force());
                }
                late.extend(granter.grant());
                if rng.draw().is_multiple_of(2) && !late.is_empty() {
                    let (to, allowance) = late.remove(0);
                    fakes[to].allowance = allowance;
                }
                let used: u64 = fakes.iter().map(|f| f.pages + f.flying).sum();
                let flying: u64 = fakes.iter().map(|f| f.flying).sum();
                assert!(used <= max, "seed={seed}: {used} of {max} pages");
                assert!(flying <= (parts + 7) as u64, "seed={seed}: {flying} in flight");
            }
            let pages: u64 = fakes.iter().map(|f| f.pages + f.flying).sum();
            assert_eq!(pages, max, "seed={seed}: what is left is used");
        }
    }
}

//! How the limits of a crawl are divided among its partitions.
//!
//! The owner of partition 0 grants each partition a ceiling of its own books: pages, bytes and
//! requests, counted from the crawl's birth. A partition books nothing above its ceiling, and all
//! ceilings together never exceed the limits; so the shipped books never do, whoever dies when.
//!
//! The ledger of grants is a row of partition 0, and a grant leaves when that row is shipped: a
//! grantor that has lost partition 0 grants nothing more, and the next one knows all that was ever
//! granted. Each grant of a partition has a number and the epoch of its owner. A later owner takes
//! only grants of its own epoch, so one that comes late can not undo what was given back since.
//!
//! Nothing is granted before every partition has told its books once. A partition that begins under
//! a limit has its own books as its ceiling until it is granted more.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Books, ceilings or limits of a partition or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Amounts {
    pub pages: u64,
    pub bytes: u64,
    pub requests: u64,
}

/// A partition's ceiling, as its owner is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    pub partition: u32,
    pub epoch: u64,
    pub number: u64,
    pub ceiling: Amounts,
}

/// What the owner of a partition tells the grantor, once a second while it matters; it leaves when
/// what it says is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GrantRequest {
    pub partition: u32,
    pub epoch: u64,
    /// The last order that it obeys: of other limits than the grantor's nothing is to be learnt.
    pub order: u64,
    /// Of the last grant that was taken in this epoch; 0 if none was.
    pub number: u64,
    pub books: Amounts,
    /// What it obeys now: the ceiling of the grant, or less, which gives back the difference.
    pub ceiling: Amounts,
    /// It has something to fetch.
    pub is_needy: bool,
}

/// All that was ever granted, to be kept in partition 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grants {
    pub by_partition: BTreeMap<u32, Granted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Granted {
    pub epoch: u64,
    /// The order whose limits it is under.
    pub order: u64,
    pub number: u64,
    pub ceiling: Amounts,
}

/// The machine of the owner of partition 0.
#[derive(Clone, Debug)]
pub struct Grantor {
    partitions: u32,
    order: u64,
    limits: Amounts,
    grants: Grants,
    /// The last that each partition told this grantor.
    told: BTreeMap<u32, GrantRequest>,
}

/// What is to be done after a request: the ledger is committed first, and the rest leaves when that
/// is shipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantOutcome {
    pub ledger: Option<Grants>,
    pub grants: Vec<Grant>,
    /// Partitions that are to give back what they do not need, since others do.
    pub reclaims: Vec<u32>,
}

impl Amounts {
    pub const UNLIMITED: Amounts = Amounts { pages: u64::MAX, bytes: u64::MAX, requests: u64::MAX };

    fn with(self, other: Amounts, join: impl Fn(u64, u64) -> u64) -> Amounts {
        Amounts {
            pages: join(self.pages, other.pages),
            bytes: join(self.bytes, other.bytes),
            requests: join(self.requests, other.requests),
        }
    }

    pub fn plus(self, other: Amounts) -> Amounts {
        self.with(other, u64::saturating_add)
    }

    pub fn minus(self, other: Amounts) -> Amounts {
        self.with(other, u64::saturating_sub)
    }

    pub fn at_least(self, other: Amounts) -> Amounts {
        self.with(other, u64::max)
    }

    pub fn at_most(self, other: Amounts) -> Amounts {
        self.with(other, u64::min)
    }

    /// Rounded up: what is left is divided to the last.
    fn share(self, count: u64) -> Amounts {
        self.with(self, |all, _| all.div_ceil(count))
    }

    /// There is some of what the other has none of.
    fn fills(self, other: Amounts) -> bool {
        (other.pages == 0 && self.pages > 0)
            || (other.bytes == 0 && self.bytes > 0)
            || (other.requests == 0 && self.requests > 0)
    }

    /// In one of the three there is none.
    fn lacks_any(self) -> bool {
        self.pages == 0 || self.bytes == 0 || self.requests == 0
    }
}

impl Grantor {
    /// With the ledger as partition 0 has it, and the limits as of this order.
    pub fn new(partitions: u32, order: u64, limits: Amounts, grants: Grants) -> Grantor {
        Grantor { partitions, order, limits, grants, told: BTreeMap::new() }
    }

    /// The limits have changed by an order. What was granted stays granted.
    pub fn limited(&mut self, order: u64, limits: Amounts) {
        (self.order, self.limits) = (order, limits);
    }

    /// Takes a request.
    pub fn asked(&mut self, request: GrantRequest) -> GrantOutcome {
        if request.order != self.order || request.partition >= self.partitions {
            return GrantOutcome::default();
        }
        let GrantRequest { epoch, order, ceiling, .. } = request;
        let before = self.grants.clone();
        let first = Granted { epoch, order, number: 0, ceiling };
        let granted = self.grants.by_partition.entry(request.partition).or_insert(first);
        let next = Granted { epoch, order, number: granted.number + 1, ceiling };
        if epoch < granted.epoch {
            return GrantOutcome::default();
        }
        if granted.order != order {
            // Under other limits, or none, it may have gone beyond what it was granted.
            *granted = next;
        } else if epoch > granted.epoch {
            // A new owner: what the one before it was granted counts until this one gives it back.
            *granted = Granted { ceiling: granted.ceiling.at_least(ceiling), ..next };
        } else if request.number == granted.number && ceiling != granted.ceiling {
            *granted = next;
        }
        self.told.insert(request.partition, request);
        let mut outcome = GrantOutcome::default();
        if request.is_needy {
            self.divide(request, &mut outcome);
        }
        let granted = self.grants.by_partition[&request.partition];
        if granted.number > request.number {
            outcome.grants.push(grant(request.partition, granted));
        }
        outcome.ledger = (self.grants != before).then(|| self.grants.clone());
        outcome
    }

    /// Gives more to a partition that comes near its ceiling: its share of half of what is left, so
    /// that the others find some, too; and calls for what idle ones do not need if nothing is left.
    fn divide(&mut self, request: GrantRequest, outcome: &mut GrantOutcome) {
        let all = || self.grants.by_partition.values().filter(|of| of.order == self.order);
        if all().count() < self.partitions as usize {
            return;
        }
        let given = all().fold(Amounts::default(), |sum, granted| sum.plus(granted.ceiling));
        let needy = self.told.values().filter(|told| told.is_needy).count().max(1) as u64;
        let share = self.limits.minus(given).share(2 * needy);
        let granted = self.grants.by_partition.get_mut(&request.partition).expect("it asked");
        let spare = granted.ceiling.minus(request.books);
        // With half of its share it need not have more yet: each grant is a row.
        let more = share.with(
            spare,
            |share, spare| {
                if spare >= share.div_ceil(2) { 0 } else { share - spare }
            },
        );
        if more != Amounts::default() {
            let ceiling = granted.ceiling.plus(more);
            *granted = Granted { number: granted.number + 1, ceiling, ..*granted };
        }
        let spare = granted.ceiling.minus(request.books);
        if spare.lacks_any() {
            let others = self.told.values().filter(|told| {
                let of_other = self.grants.by_partition[&told.partition].ceiling.minus(told.books);
                told.partition != request.partition && of_other.fills(spare)
            });
            outcome.reclaims.extend(others.map(|told| told.partition));
        }
    }

    /// What is left of the limits when every partition has told its books of them, once together
    /// they have reached one: of that there is none.
    pub fn left_when_spent(&self) -> Option<Amounts> {
        let of_order = |told: &&GrantRequest| told.order == self.order;
        let books = self.told.values().filter(of_order);
        let all = books.clone().fold(Amounts::default(), |sum, told| sum.plus(told.books));
        let left = self.limits.minus(all);
        (books.count() == self.partitions as usize && left.lacks_any()).then_some(left)
    }
}

fn grant(partition: u32, Granted { epoch, number, ceiling, .. }: Granted) -> Grant {
    Grant { partition, epoch, number, ceiling }
}

/// The machine of the owner of a partition: what it obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    partition: u32,
    epoch: u64,
    number: u64,
    ceiling: Amounts,
}

impl Holder {
    /// At an opening, with the partition's books. Under no limits the ceiling is unlimited.
    pub fn new(partition: u32, epoch: u64, books: Amounts, is_limited: bool) -> Holder {
        let ceiling = if is_limited { books } else { Amounts::UNLIMITED };
        Holder { partition, epoch, number: 0, ceiling }
    }

    /// An order has set limits, or lifted them: nothing is granted under them yet. `used` are the
    /// books with all that is under way.
    pub fn limited(&mut self, used: Amounts, is_limited: bool) {
        self.ceiling = match is_limited {
            true => used.at_most(self.ceiling),
            false => Amounts::UNLIMITED,
        };
    }

    /// Whether the grant is news.
    pub fn granted(&mut self, grant: Grant) -> bool {
        let is_own = grant.partition == self.partition && grant.epoch == self.epoch;
        let is_news = is_own && grant.number > self.number;
        if is_news {
            (self.number, self.ceiling) = (grant.number, grant.ceiling);
        }
        is_news
    }

    /// Others need some: half of what is to spare goes back, rounded down, so that two that need
    /// the last do not hand it to and fro; all of it if there is nothing to fetch.
    pub fn reclaimed(&mut self, used: Amounts, is_needy: bool) {
        let spare = self.ceiling.minus(used);
        let kept = if is_needy { spare.share(2) } else { Amounts::default() };
        self.ceiling = used.plus(kept).at_most(self.ceiling);
    }

    /// A lower ceiling is in force: what lies above it goes back.
    pub fn lowered(&mut self, to: Amounts) {
        self.ceiling = self.ceiling.at_most(to);
    }

    pub fn request(&self, order: u64, books: Amounts, is_needy: bool) -> GrantRequest {
        let Holder { partition, epoch, number, ceiling } = *self;
        GrantRequest { partition, epoch, order, number, books, ceiling, is_needy }
    }

    pub fn ceiling(&self) -> Amounts {
        self.ceiling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::rng::Rng;

    fn pages(pages: u64) -> Amounts {
        Amounts { pages, bytes: u64::MAX / 4, requests: u64::MAX / 4 }
    }

    fn books(pages: u64) -> Amounts {
        Amounts { pages, bytes: 0, requests: 0 }
    }

    #[test]
    fn nothing_is_granted_before_every_partition_has_told_its_books() {
        let mut grantor = Grantor::new(2, 1, pages(100), Grants::default());
        let first = Holder::new(0, 1, books(30), true);
        assert!(grantor.asked(first.request(1, books(30), true)).grants.is_empty());
        let mut second = Holder::new(1, 1, books(20), true);
        let outcome = grantor.asked(second.request(1, books(20), true));
        assert!(outcome.ledger.is_some(), "the row is committed before the grant leaves");
        assert!(second.granted(outcome.grants[0]));
        assert_eq!(second.ceiling().pages, 20 + 13, "a quarter of the 50 that are left");
    }

    #[test]
    fn of_two_limits_it_is_known_which_was_reached() {
        let limits = Amounts { bytes: 1_000, ..pages(100) };
        let mut grantor = Grantor::new(1, 1, limits, Grants::default());
        let holder = Holder::new(0, 1, books(0), true);
        grantor.asked(holder.request(1, Amounts { bytes: 999, ..books(7) }, true));
        assert_eq!(grantor.left_when_spent(), None);
        grantor.asked(holder.request(1, Amounts { bytes: 1_007, ..books(8) }, true));
        let left = grantor.left_when_spent().expect("all bytes have come");
        assert_eq!((left.pages, left.bytes), (92, 0));
    }

    #[test]
    fn under_a_new_limit_each_begins_with_what_it_has() {
        let mut grantor = Grantor::new(1, 1, pages(10), Grants::default());
        let mut holder = Holder::new(0, 1, books(0), true);
        holder.granted(grantor.asked(holder.request(1, books(0), true)).grants[0]);
        assert_eq!(holder.ceiling().pages, 5);
        // For a while there was no limit, and 70 pages came.
        holder.limited(books(70), false);
        holder.limited(books(70), true);
        grantor.limited(3, pages(90));
        assert_eq!(grantor.asked(holder.request(1, books(70), true)), GrantOutcome::default());
        let outcome = grantor.asked(holder.request(3, books(70), true));
        assert!(holder.granted(outcome.grants[0]));
        assert_eq!(holder.ceiling().pages, 80);
    }

    /// Owners die and come back, messages are lost, doubled and late, ceilings are reclaimed, the
    /// grantor falls back to nothing but its ledger: the books never exceed the limit, and reach
    /// it.
    #[test]
    fn the_shipped_books_never_exceed_the_limit_and_reach_it() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut crawl = Crawl::new(1 + (seed % 5) as u32, 200);
            for _ in 0..600 {
                crawl.anything(&mut rng);
                assert!(crawl.booked() <= 200, "seed {seed}: {} pages", crawl.booked());
            }
            for _ in 0..200 {
                crawl.well();
                assert!(crawl.booked() <= 200, "seed {seed}: {} pages", crawl.booked());
            }
            assert_eq!(crawl.booked(), 200, "seed {seed}: {:?}", crawl.grantor);
            assert!(crawl.grantor.left_when_spent().is_some());
        }
    }

    struct Crawl {
        partitions: u32,
        limit: u64,
        grantor: Grantor,
        holders: Vec<Holder>,
        /// Shipped, and committed by the present owner.
        shipped: Vec<u64>,
        committed: Vec<u64>,
        requests: Vec<GrantRequest>,
        grants: Vec<Grant>,
        reclaims: Vec<u32>,
    }

    impl Crawl {
        fn new(partitions: u32, limit: u64) -> Crawl {
            let holders = (0..partitions).map(|p| Holder::new(p, 1, books(0), true)).collect();
            let nought = vec![0; partitions as usize];
            Crawl {
                partitions,
                limit,
                grantor: Grantor::new(partitions, 1, pages(limit), Grants::default()),
                holders,
                shipped: nought.clone(),
                committed: nought,
                requests: Vec::new(),
                grants: Vec::new(),
                reclaims: Vec::new(),
            }
        }

        fn booked(&self) -> u64 {
            self.shipped.iter().sum()
        }

        fn ask(&mut self, p: usize) {
            // It leaves when it is shipped.
            self.shipped[p] = self.committed[p];
            self.requests.push(self.holders[p].request(1, books(self.shipped[p]), true));
        }

        fn deliver_request(&mut self, request: GrantRequest) {
            let outcome = self.grantor.asked(request);
            self.grants.extend(outcome.grants);
            self.reclaims.extend(outcome.reclaims);
        }

        fn fetch(&mut self, p: usize, wanted: u64) {
            let room = self.holders[p].ceiling().pages.saturating_sub(self.committed[p]);
            self.committed[p] += room.min(wanted);
        }

        fn anything(&mut self, rng: &mut Rng) {
            let p = (rng.draw() % u64::from(self.partitions)) as usize;
            let any = |rng: &mut Rng, len: usize| (rng.draw() % len as u64) as usize;
            match rng.draw() % 9 {
                0 | 1 => self.fetch(p, 1 + rng.draw() % 5),
                2 => self.shipped[p] = self.committed[p],
                3 => self.ask(p),
                // Delivered, and perhaps once more later; the oldest are forgotten.
                4 | 5 if !self.requests.is_empty() => {
                    let at = any(rng, self.requests.len());
                    self.deliver_request(self.requests[at]);
                    self.requests.drain(..at / 2);
                }
                6 if !self.grants.is_empty() => {
                    let grant = self.grants[any(rng, self.grants.len())];
                    self.holders[grant.partition as usize].granted(grant);
                }
                7 if !self.reclaims.is_empty() => {
                    let p = self.reclaims.swap_remove(any(rng, self.reclaims.len())) as usize;
                    self.holders[p]
                        .reclaimed(books(self.committed[p]), rng.draw().is_multiple_of(2));
                    self.ask(p);
                }
                8 if rng.draw().is_multiple_of(4) => self.lose(p),
                _ => {}
            }
        }

        /// A machine is gone for ever: what was not shipped is, too.
        fn lose(&mut self, p: usize) {
            self.committed[p] = self.shipped[p];
            let epoch = self.holders[p].epoch + 1;
            self.holders[p] = Holder::new(p as u32, epoch, books(self.shipped[p]), true);
            if p == 0 {
                let Grantor { grants, .. } = self.grantor.clone();
                self.grantor = Grantor::new(self.partitions, 1, pages(self.limit), grants);
            }
        }

        fn well(&mut self) {
            for p in 0..self.partitions as usize {
                self.fetch(p, 2);
                self.ask(p);
                let request = *self.requests.last().expect("it asked");
                self.deliver_request(request);
                while let Some(grant) = self.grants.pop() {
                    self.holders[grant.partition as usize].granted(grant);
                }
                while let Some(p) = self.reclaims.pop() {
                    let p = p as usize;
                    self.holders[p].reclaimed(books(self.committed[p]), true);
                    self.ask(p);
                    let request = *self.requests.last().expect("it asked");
                    self.deliver_request(request);
                }
            }
        }
    }
}

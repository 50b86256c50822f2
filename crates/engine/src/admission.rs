//! The machine of admission: what was found, on its way to be known, and what is put to admission
//! once more. What it does with an answer of the sieve is in `sifted`.

use crate::config::Config;
use crate::counters::Counters;
use crate::nearer::Nearer;
use crate::outbox::Outbox;
use crate::requisites::RecentRequisites;
use crate::review::{Review, RulesFingerprint};

#[derive(Debug)]
pub(crate) struct Admission {
    pub outbox: Outbox,
    pub review: Review,
    pub nearer: Nearer,
    pub requisites: RecentRequisites,
}

impl Admission {
    pub fn open(
        config: &Config,
        rules_fingerprint: Option<RulesFingerprint>,
        counters: &Counters,
    ) -> Admission {
        Admission {
            outbox: Outbox::default(),
            review: Review::open(config, rules_fingerprint, counters),
            nearer: Nearer::default(),
            requisites: RecentRequisites::default(),
        }
    }
}

//! How many machines crawl, and what happens to them.

use rhumb_engine::time::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterPlan {
    pub nodes: usize,
    /// Pages in all; none if there is no limit.
    pub pages_max: Option<u64>,
    pub trouble: PlannedTrouble,
    /// None if machines are as fast as anybody wants.
    pub cost: Option<Cost>,
}

/// What a machine's CPU spends, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// On a page, from its bytes to the shipped commit.
    pub page: u64,
    /// On a URL in a message, at either end.
    pub url: u64,
    /// Both are so many times as much: a machine that is slower has enough to do on a web of fewer
    /// hosts, and what matters is what it spends on others in proportion to its own pages.
    pub slower: u64,
    /// On a message as such, at either end. Messages are gathered by time: a quick machine sends no
    /// more of them than a slow one, so this is as it is.
    pub message: u64,
}

/// What goes wrong with machines, network and store. Faults come by chance, one after the other,
/// for a while; then all is well until the crawl has come to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedTrouble {
    pub lasts: Span,
    /// Of 1,000 operations on the store and packets between nodes, how many are lost; as many are
    /// slow, and packets doubled.
    pub lost_per_mille: u64,
    /// Boot-time clocks differ in speed, and those of the wall by a minute.
    pub clocks_differ: bool,
    /// How often each of these happens, in parts of their sum.
    pub machine_lost: u64,
    pub machine_restarted: u64,
    pub process_killed: u64,
    pub disk_replaced: u64,
    pub stopped: u64,
    pub cut_off: u64,
    pub store_away: u64,
    pub leaves: u64,
}

impl PlannedTrouble {
    pub fn all() -> PlannedTrouble {
        PlannedTrouble {
            lasts: Span::secs(240),
            lost_per_mille: 20,
            clocks_differ: true,
            machine_lost: 1,
            machine_restarted: 2,
            process_killed: 2,
            disk_replaced: 1,
            stopped: 2,
            cut_off: 2,
            store_away: 1,
            leaves: 1,
        }
    }

    /// Packets and operations alone, for as long as it takes.
    pub fn of_network() -> PlannedTrouble {
        PlannedTrouble {
            lasts: Span::secs(20_000),
            lost_per_mille: 100,
            clocks_differ: true,
            ..PlannedTrouble::default()
        }
    }

    pub fn weights(&self) -> [u64; 8] {
        [
            self.machine_lost,
            self.machine_restarted,
            self.process_killed,
            self.disk_replaced,
            self.stopped,
            self.cut_off,
            self.store_away,
            self.leaves,
        ]
    }
}

/// What happened to the machines, for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterTally {
    pub openings: u64,
    /// Of partitions whose rows were made of the copy.
    pub elsewhere: u64,
    /// Puts that failed since another had opened the database.
    pub fenced: u64,
    pub machines_lost: u64,
    pub restarts: u64,
    pub stops: u64,
    pub cut_offs: u64,
    pub store_away: u64,
    pub leaves: u64,
    pub packets: u64,
    /// Items in the messages that were sent, those sent again included, and bytes of their URLs.
    pub items: u64,
    pub url_bytes: u64,
    /// Pages by the shipped books, at each second of the owner of partition 0.
    pub pages: Vec<u64>,
    /// URLs of other partitions that partitions know, in the end.
    pub foreign: u64,
    pub operations: u64,
    /// Commits that were lost with a machine, and the age of the oldest.
    pub commits_lost: u64,
    pub lost_age_max: Span,
}

//! kill -9, with the disk and without: what was told to be shipped is there, rows and pages.
//!
//! The child is this test binary itself, told by environment variables to fetch until it is killed
//! and to print how far it is shipped.

use crate::partition::{Partition, Place, SEED};
use rhumb_engine::rng::Rng;
use rhumb_state::memory::MemoryState;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ADDRESS: &str = "RHUMB_TEST_FETCH_UNTIL_KILLED";
const DIR: &str = "RHUMB_TEST_FETCH_IN";
const SHIPPED: &str = "shipped ";
const ROUNDS: u64 = 12;
/// The child is not so far ahead that its kill would find nothing new shipped.
const UNSHIPPED_MAX: u64 = 40;

#[test]
fn what_was_shipped_survives_a_kill_with_the_disk_and_without() {
    let place = Place::new();
    let mut rng = Rng::new(23);
    let mut pages = 0;
    for round in 0..ROUNDS {
        // The disk of an earlier round, or a new one.
        let name = format!("node-{}", rng.draw() % (round + 1));
        let dir = place.node(&name);
        let shipped = kill_after(&place.address(), &dir, 1 + rng.draw() % 4);
        assert!(shipped >= pages, "round {round}: {pages} pages before, {shipped} now");
        let name = if rng.draw().is_multiple_of(2) { name } else { format!("look-{round}") };
        let partition = Partition::take(&place.address(), &name, &place.node(&name));
        let partition = partition.expect("taken after the kill");
        let told = format!("round {round} in {name}");
        assert!(partition.pages() >= shipped, "{told}: {shipped} shipped, {}", partition.pages());
        partition.assert_archive_has_what_rows_claim(&place.node(&format!("export-{round}")));
        pages = partition.pages();
        drop(partition);
    }
    assert!(pages > ROUNDS, "{pages} pages");
}

/// Starts a child, kills it when it has told so often that more is shipped; what it told last.
fn kill_after(address: &str, dir: &Path, count: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "killed::the_child_fetches_until_it_is_killed", "--nocapture"])
        .env(ADDRESS, address)
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| {
        let at = line.find(SHIPPED)? + SHIPPED.len();
        line[at..].parse().ok()
    });
    let mut last = 0;
    for (n, number) in numbers.enumerate() {
        last = number;
        if n as u64 + 1 == count {
            child.kill().expect("a child that lives");
        }
    }
    child.wait().expect("its end");
    last
}

#[test]
fn the_child_fetches_until_it_is_killed() {
    let (Some(address), Some(dir)) = (std::env::var_os(ADDRESS), std::env::var_os(DIR)) else {
        return;
    };
    let (address, dir) = (address.to_string_lossy(), Path::new(&dir));
    let node = dir.file_name().expect("a name").to_string_lossy();
    let mut partition = Partition::take(&address, &node, dir).expect("taken");
    let mut model = MemoryState::new(SEED);
    let mut told = 0;
    loop {
        let pages = partition.pages();
        for page in pages..pages + 7 {
            partition.fetch(page, &mut model);
        }
        // Some of it, not all, is shipped when the kill comes.
        match partition.pages() - partition.pages_shipped() < UNSHIPPED_MAX {
            true => partition.shipping().hurry(),
            false => drop(partition.drain()),
        }
        let shipped = partition.pages_shipped();
        if shipped > told {
            told = shipped;
            let mut out = std::io::stdout().lock();
            writeln!(out, "{SHIPPED}{shipped}").expect("someone who listens");
            out.flush().expect("someone who listens");
        }
    }
}

//! Seeded mutations of the journal through the check that its fuzz target runs.

#[path = "../../../../fuzz/journal.rs"]
mod journal;
#[path = "../../../../fuzz/mutate.rs"]
mod mutate;

#[test]
fn mutated_journals_are_read_to_the_last_whole_commit() {
    // Two rows: one with a value, one that is removed.
    let rows = b"\x00\x03\0\0\0key\x05\0\0\0value\x01\x01\0\0\0k\xff\xff\xff\xff";
    mutate::mutate((1, 20_000), &[&rows[..]], &["\0\0\0\0", "\u{1}", "key"], journal::journal);
}

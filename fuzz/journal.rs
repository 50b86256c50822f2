//! What must hold for whatever the journal's files hold. The target is journal;
//! `crates/state/tests/stores/mutated.rs` runs the same check on seeded mutations.

use rhumb_state::local::{commit_of, rows_in};

/// Any bytes are read up to the first commit that is not whole, and rows of a commit that is whole
/// by its checksum are read or refused, never half.
pub fn journal(data: &[u8]) {
    let _ = rows_in(data);
    let mut commits = commit_of(data);
    let alone = rows_in(&commits);
    let whole = commits.len();
    commits.extend_from_within(..whole);
    assert_eq!(rows_in(&commits), alone.map(|rows| 2 * rows));
    for torn in [whole / 2, whole - 1] {
        assert_eq!(rows_in(&commits[..whole + torn]), alone);
        assert_eq!(rows_in(&commits[..torn]), Some(0));
    }
}

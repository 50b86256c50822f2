//! The program under test. `scripts/test` names the release binary, with its profile and allocator:
//! what is shipped is what is tested.

/// `RHUMB_TEST_BIN` if it is set, else the binary of the profile that the tests are built with.
pub fn rhumb() -> String {
    std::env::var("RHUMB_TEST_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_rhumb").to_owned())
}

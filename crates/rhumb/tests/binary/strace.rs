//! Whether the program under test can be run under strace.

use std::process::Command;

/// False if there is no strace, or it may not trace; then the test is reported as left out.
pub fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    let can = traced.is_ok_and(|output| output.status.success());
    if !can {
        rhumb_given::left_out("strace is not installed, or may not trace");
    }
    can
}

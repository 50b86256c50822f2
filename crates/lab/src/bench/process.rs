//! One child process from start to end, and what the kernel counted for it.

use std::fs;
use std::io;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Clock ticks of `/proc/self/stat` in a second: fixed for all programs on Linux.
const TICKS_PER_S: u64 = 100;
/// Of all children waited for, in ticks: user and system time, counted from behind the name.
const FIELD_CUTIME: usize = 13;
const FIELD_CSTIME: usize = 14;

pub struct Ran {
    pub output: Output,
    pub seconds: f64,
    /// User and system time, to a hundredth of a second; 0 where the kernel does not tell.
    pub cpu_us: u64,
}

/// Runs a command to its end with nothing on its standard input. One at a time.
pub fn run(command: &mut Command) -> io::Result<Ran> {
    command.stdin(Stdio::null());
    let (before_us, started) = (children_cpu_us(), Instant::now());
    let output = command.output()?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Ran { output, seconds, cpu_us: children_cpu_us().saturating_sub(before_us) })
}

/// User and system time of all children of this process that were waited for.
pub fn children_cpu_us() -> u64 {
    ticks(&fs::read_to_string("/proc/self/stat").unwrap_or_default()) * (1_000_000 / TICKS_PER_S)
}

/// The name in parentheses may hold anything: fields are counted from behind it.
fn ticks(stat: &str) -> u64 {
    let behind = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|text| text.parse().ok()).unwrap_or(0u64);
    field(FIELD_CUTIME) + field(FIELD_CSTIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_read_behind_any_name() {
        let stat = "12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 111 222 33 44 20 0 1 0 0\n";
        assert_eq!(ticks(stat), 33 + 44);
        assert_eq!(ticks(""), 0);
    }
}

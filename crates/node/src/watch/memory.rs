//! The memory of this process, from `/proc/self/status`; zero where there is no such file.

use std::fs;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub rss_bytes: u64,
    /// The most that it ever was.
    pub peak_rss_bytes: u64,
    /// Address space, in use or only set aside.
    pub address_bytes: u64,
}

pub fn of_this_process() -> Memory {
    read(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn read(status: &str) -> Memory {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    let bytes = |name: &str| field(name).unwrap_or(0);
    Memory {
        rss_bytes: bytes("VmRSS:"),
        peak_rss_bytes: bytes("VmHWM:"),
        address_bytes: bytes("VmSize:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes_and_is_zero_where_it_is_not_told() {
        let text = "Name:\trhumb\nVmSize:\t 30720 kB\nVmHWM:\t   20480 kB\nVmRSS:\t    1024 kB\n";
        let memory =
            Memory { rss_bytes: 1 << 20, peak_rss_bytes: 20 << 20, address_bytes: 30 << 20 };
        assert_eq!(read(text), memory);
        assert_eq!(read("VmRSS: many kB\n"), Memory::default());
    }
}

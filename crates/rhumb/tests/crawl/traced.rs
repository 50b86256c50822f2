//! The program under strace: what it asked the disk for, what a power cut would leave of that, and
//! system calls that fail.
//!
//! Without strace these tests are left out (`scripts/test` installs it where it can).

pub use crate::strace::can_trace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// System calls by which files and their names change, or are made to last.
const CALLS: &str = "trace=write,writev,pwrite64,pwritev,ftruncate,fallocate,fsync,fdatasync,open,\
                     openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir";

/// The same command under strace with these options, which writes what it sees to `trace`.
pub fn traced(command: &Command, trace: &Path, options: &[&str]) -> Command {
    let mut traced = Command::new("strace");
    traced
        .args(["-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-e", CALLS])
        .args(options)
        .arg("-o")
        .arg(trace)
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    traced
}

/// The process that a strace of this number runs.
pub fn tracee(strace: u32) -> Option<u32> {
    let children = format!("/proc/{strace}/task/{strace}/children");
    fs::read_to_string(children).ok()?.split_whitespace().next()?.parse().ok()
}

/// What is known to be on the disk, by the calls that were seen.
#[derive(Debug, Default)]
pub struct Disk {
    files: BTreeMap<PathBuf, Length>,
    /// Names whose directory was not synced since they came.
    names: BTreeSet<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    written: u64,
    synced: u64,
}

/// A call, put together from what strace printed when it began and when it ended.
struct Call<'a> {
    name: &'a str,
    arguments: &'a str,
    result: i64,
    /// The length of the file when the call began.
    length: u64,
}

impl Disk {
    /// All that is in a directory is on the disk.
    pub fn of(dir: &Path) -> Disk {
        let mut disk = Disk::default();
        for path in walk(dir) {
            if let Some(length) = fs::metadata(&path).ok().filter(|m| m.is_file()).map(|m| m.len())
            {
                disk.files.insert(path, Length { written: length, synced: length });
            }
        }
        disk
    }

    /// What the calls of a trace made of it.
    pub fn after(mut self, trace: &Path) -> Disk {
        let text = fs::read_to_string(trace).expect("a trace");
        // By process: a call that was interrupted by others', and the length of its file then.
        let mut begun: BTreeMap<&str, (String, u64)> = BTreeMap::new();
        for line in text.lines() {
            let Some((process, rest)) = line.split_once(' ') else { continue };
            let rest = rest.trim_start();
            if let Some(call) = rest.strip_suffix("<unfinished ...>") {
                begun.insert(process, (call.to_owned(), self.length_in(call)));
                continue;
            }
            let resumed = rest.strip_prefix("<... ").and_then(|rest| rest.split_once("resumed>"));
            let (whole, length) = match resumed {
                Some((_, end)) => match begun.remove(process) {
                    Some((call, length)) => (call + end, length),
                    None => continue,
                },
                None => (rest.to_owned(), self.length_in(rest)),
            };
            if let Some(call) = parse(&whole, length) {
                self.apply(&call);
            }
        }
        self
    }

    fn length_in(&self, call: &str) -> u64 {
        let path = call.split_once('(').and_then(|(_, arguments)| path_of(arguments));
        path.and_then(|path| self.files.get(path)).map_or(0, |length| length.written)
    }

    fn apply(&mut self, call: &Call<'_>) {
        if call.result < 0 {
            return;
        }
        match call.name {
            "write" | "writev" | "pwrite64" | "pwritev" => {
                if let Some(file) = self.file(call.arguments) {
                    file.written += call.result as u64;
                }
            }
            "ftruncate" => {
                let length = call.arguments.rsplit(", ").next().and_then(|n| n.parse().ok());
                if let (Some(length), Some(file)) = (length, self.file(call.arguments)) {
                    file.written = length;
                    file.synced = file.synced.min(length);
                }
            }
            "fsync" | "fdatasync" => {
                let path = path_of(call.arguments).expect("a descriptor").to_owned();
                match self.files.get_mut(&path) {
                    Some(file) => file.synced = file.synced.max(call.length),
                    None => self.names.retain(|name| name.parent() != Some(&path)),
                }
            }
            "openat" | "open" | "creat" => self.opened(call),
            "mkdir" | "mkdirat" => self.names.extend(quoted(call.arguments).next()),
            "rename" | "renameat" | "renameat2" => {
                let mut paths = quoted(call.arguments);
                if let (Some(from), Some(to)) = (paths.next(), paths.next()) {
                    self.renamed(&from, &to);
                }
            }
            "unlink" | "unlinkat" | "rmdir" => {
                let path = quoted(call.arguments).next();
                path.iter().for_each(|path| _ = self.files.remove(path));
            }
            _ => {}
        }
    }

    fn file(&mut self, arguments: &str) -> Option<&mut Length> {
        self.files.get_mut(path_of(arguments)?)
    }

    fn opened(&mut self, call: &Call<'_>) {
        let Some(path) = quoted(call.arguments).next() else { return };
        let is_emptied = call.arguments.contains("O_TRUNC");
        match self.files.get_mut(&path) {
            Some(file) if is_emptied => *file = Length::default(),
            None if call.arguments.contains("O_CREAT") => {
                self.names.insert(path.clone());
                self.files.insert(path, Length::default());
            }
            _ => {}
        }
    }

    /// A rename is on the disk at once: what it could be undone to is not known here.
    fn renamed(&mut self, from: &Path, to: &Path) {
        let moved = |path: &Path| path.strip_prefix(from).ok().map(|rest| to.join(rest));
        // To join nothing would leave a slash at the end.
        let moved = |path: &Path| if path == from { Some(to.to_owned()) } else { moved(path) };
        for (path, length) in std::mem::take(&mut self.files) {
            self.files.insert(moved(&path).unwrap_or(path), length);
        }
        for path in std::mem::take(&mut self.names).into_iter().filter(|path| path != from) {
            self.names.insert(moved(&path).unwrap_or(path));
        }
    }

    /// Cuts the power: of what was not synced, each file keeps any part, and each new name may be
    /// gone. Tells what was done.
    pub fn cut_power(&self, draw: &mut impl FnMut(u64) -> u64) -> Vec<String> {
        let mut done = Vec::new();
        for (path, length) in &self.files {
            let Ok(file) = OpenOptions::new().write(true).open(path) else { continue };
            let actual = file.metadata().unwrap().len();
            let synced = length.synced.min(actual);
            if synced == actual {
                continue;
            }
            let left = synced + draw(actual - synced + 1);
            file.set_len(left).unwrap();
            let mut what = format!("{}: {left} of {actual}, {synced} synced", path.display());
            if left > synced && draw(3) == 0 {
                let hole = synced + draw(left - synced);
                zero(&file, hole, (left - hole).min(512));
                what += &format!(", a hole at {hole}");
            }
            done.push(what);
        }
        for name in self.names.iter().filter(|name| name.exists()) {
            if draw(2) == 0 {
                match name.is_dir() {
                    true => fs::remove_dir_all(name).unwrap(),
                    false => fs::remove_file(name).unwrap(),
                }
                done.push(format!("{}: gone", name.display()));
            }
        }
        done
    }
}

fn zero(file: &File, offset: u64, length: u64) {
    file.write_all_at(&vec![0; length as usize], offset).unwrap();
}

fn parse(text: &str, length: u64) -> Option<Call<'_>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") ")?;
    let result = result.trim_start().strip_prefix("= ")?;
    let digits = result.split(['<', ' ']).next()?;
    Some(Call { name, arguments, result: digits.parse().ok()?, length })
}

/// The path of a descriptor that a call begins with.
fn path_of(arguments: &str) -> Option<&Path> {
    let (_, rest) = arguments.split_once('<')?;
    rest.split_once('>').map(|(path, _)| Path::new(path))
}

/// The paths that a call names.
fn quoted(arguments: &str) -> impl Iterator<Item = PathBuf> {
    arguments.split('"').skip(1).step_by(2).map(PathBuf::from)
}

/// All files and directories in a directory, itself not included.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}

//! A disk without room, as the operating system tells it: a child process runs under a limit on
//! the size of files, and the error it gets is the real one.

use std::path::{Path, PathBuf};
use std::process::Command;

use rhumb_archive::{ArchiveErrorKind, WriterLimits};

use crate::captures::{html, open, packed, records, scratch, warc_paths};

/// The child runs the very same test, and knows by the variable that it is the child.
const ITSELF: &str = "full_disk::a_full_disk_is_said_and_the_file_ends_with_a_whole_record";
const DIR_VARIABLE: &str = "RHUMB_TEST_FULL_DISK_DIR";

#[test]
fn a_full_disk_is_said_and_the_file_ends_with_a_whole_record() {
    if let Some(dir) = std::env::var_os(DIR_VARIABLE) {
        return append_until_the_disk_is_full(&PathBuf::from(dir));
    }
    let dir = scratch();
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", ITSELF])
        .env(DIR_VARIABLE, dir.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && printed.contains("1 passed"), "{printed}");

    let kept = records(&warc_paths(dir.path())[0]).len();
    assert!(kept > 10 && kept % 3 == 1, "a warcinfo and three records a capture: {kept}");
    let mut writer = open(dir.path(), WriterLimits::default());
    writer.append(&packed(&html("http://a.com/after", "after"), 9999)).unwrap();
    writer.sync().unwrap();
    assert_eq!(records(&warc_paths(dir.path())[0]).len(), kept + 1 + 3);
}

/// In the child, whose files may not grow beyond the limit.
fn append_until_the_disk_is_full(dir: &Path) {
    let mut writer = open(dir, WriterLimits { file_bytes_max: 1 << 30, buffer_bytes_max: 3000 });
    let error = (0..1000)
        .find_map(|n| writer.append(&packed(&html("http://a.com/", "text"), n)).err())
        .expect("the disk fills up");
    assert_eq!(error.kind(), ArchiveErrorKind::Full);
    assert!(error.to_string().contains("free some space"), "{error}");
    let again = writer.flush().unwrap_err();
    assert_eq!((again.kind(), again.file()), (ArchiveErrorKind::Full, warc(dir).as_path()));
}

fn warc(dir: &Path) -> PathBuf {
    warc_paths(dir).remove(0)
}

//! The public html5lib encoding tests: what a page declares of its own encoding.
//!
//! The list of expected failures holds both ways: a test on it that passes fails the run.

use encoding_rs::Encoding;
use rhumb_page::charset::{LATE_BYTES_MAX, PRESCAN_BYTES_MAX, prescan};

/// File, number of the test in it (from 1), reason.
const EXPECTED_FAILURES: &[(&str, usize, &str)] = &[];

#[test]
fn the_html5lib_encoding_tests_find_the_declared_encoding() {
    let (mut run, mut surprises) = (0, Vec::new());
    for file in ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"] {
        let Some(suite) = rhumb_given::data(&format!("html5lib/encoding/{file}")) else { return };
        let suite = std::fs::read(suite).unwrap();
        for (number, (data, expected)) in cases(&suite).into_iter().enumerate() {
            run += 1;
            // Without a declaration the standard falls back to this; we would guess.
            let got = Encoding::for_bom(data)
                .map(|(encoding, _)| encoding)
                .or_else(|| prescan(data, PRESCAN_BYTES_MAX))
                .or_else(|| prescan(data, LATE_BYTES_MAX))
                .map_or("windows-1252", Encoding::name);
            let expected = canonical(expected);
            let is_expected =
                EXPECTED_FAILURES.iter().any(|(f, n, _)| *f == file && *n == number + 1);
            if (got == expected) == is_expected {
                let data = String::from_utf8_lossy(data);
                surprises.push(format!("{file} {}: {expected}, not {got}:\n{data}", number + 1));
            }
        }
    }
    println!("{run} run");
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

fn canonical(label: &str) -> &'static str {
    Encoding::for_label(label.as_bytes()).expect("a label the standard knows").name()
}

/// The blocks `#data` … `#encoding` … of a file.
fn cases(suite: &[u8]) -> Vec<(&[u8], &str)> {
    const DATA: &[u8] = b"#data\n";
    const ENCODING: &[u8] = b"\n#encoding\n";
    let mut cases = Vec::new();
    let mut rest = suite;
    while let Some(start) = memchr::memmem::find(rest, DATA) {
        let after = &rest[start + DATA.len()..];
        let end = memchr::memmem::find(after, ENCODING).expect("an encoding after the data");
        let label = &after[end + ENCODING.len()..];
        let label_end = label.iter().position(|b| *b == b'\n').unwrap_or(label.len());
        cases.push((
            &after[..end],
            std::str::from_utf8(&label[..label_end]).expect("a label").trim(),
        ));
        rest = &label[label_end..];
    }
    cases
}

//! A corpus: JSON lines in, JSON lines out, in the same order, on several threads.
//!
//! Lines are dealt to the threads in turn and taken back in turn, over channels that hold a few:
//! no sorting, and memory bounded by the lines in flight.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::Deserialize;
use serde_json::Value;

use super::row::Row;

/// Bytes of a line; a page is smaller even with every byte escaped.
const LINE_BYTES_MAX: u64 = 256 << 20;
/// Lines waiting for each thread, and rows waiting to be written.
const WAITING_MAX: usize = 4;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub rows: u64,
    pub failed: u64,
    pub cpu_us: u64,
}

/// What is written of each page besides its text.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub keeps_all: bool,
    pub markdown: bool,
}

/// Extracts every line of `input`, on so many threads.
pub fn run(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    threads: usize,
    wish: Wish,
) -> io::Result<Done> {
    std::thread::scope(|scope| {
        let mut lanes: Vec<(SyncSender<Vec<u8>>, Receiver<Row>)> = Vec::new();
        for _ in 0..threads.max(1) {
            let (give, lines) = sync_channel::<Vec<u8>>(WAITING_MAX);
            let (send, rows) = sync_channel::<Row>(WAITING_MAX);
            scope.spawn(move || {
                for line in lines {
                    if send.send(row_of(&line, wish)).is_err() {
                        return;
                    }
                }
            });
            lanes.push((give, rows));
        }
        deal(input, out, lanes)
    })
}

fn deal(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    lanes: Vec<(SyncSender<Vec<u8>>, Receiver<Row>)>,
) -> io::Result<Done> {
    let mut done = Done::default();
    let in_flight_max = lanes.len() * WAITING_MAX;
    let (mut given, mut taken) = (0_usize, 0_usize);
    let mut is_over = false;
    while !is_over || taken < given {
        let mut line = Vec::new();
        if !is_over {
            is_over = !next_line(input, &mut line)?;
        }
        if !line.is_empty() {
            if lanes[given % lanes.len()].0.send(line).is_err() {
                return Err(io::Error::other("a thread ended too early"));
            }
            given += 1;
        }
        if taken < given && (is_over || given - taken >= in_flight_max) {
            let row = lanes[taken % lanes.len()].1.recv().map_err(io::Error::other)?;
            taken += 1;
            done.rows += 1;
            done.failed += u64::from(row.error.is_some());
            done.cpu_us += row.us;
            serde_json::to_writer(&mut *out, &row)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(done)
}

/// Reads a line that is not blank; false at the end.
fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        line.clear();
        io::Read::take(&mut *input, LINE_BYTES_MAX).read_until(b'\n', line)?;
        if line.is_empty() {
            return Ok(false);
        }
        if !line.ends_with(b"\n") && line.len() as u64 == LINE_BYTES_MAX {
            input.skip_until(b'\n')?;
        }
        if !line.trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}

fn row_of(line: &[u8], wish: Wish) -> Row {
    let parsed: Line<'_> = match serde_json::from_slice(line) {
        Ok(parsed) => parsed,
        Err(error) => return Row::failed(Value::Null, &format!("no JSON line: {error}")),
    };
    let Some(html) = parsed.html else { return Row::failed(parsed.id, "no html") };
    Row::of(parsed.id, &html, parsed.url.as_deref(), wish.keeps_all, wish.markdown)
}

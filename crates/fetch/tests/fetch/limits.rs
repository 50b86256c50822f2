//! Servers without end, and servers without haste.

use std::time::Duration;

use rhumb_fetch::{FailureKind, Fetch, FetchLimits, FetchStage};
use rhumb_page::url::Url;

use crate::server::{Act, Server, client, fetch, limits, request, run, send, words};

/// Long enough to connect and to be answered on a machine with much else to do.
const SHORT: Duration = Duration::from_millis(500);
const HEAD: &str = "HTTP/1.1 200 OK\r\n\r\n";

#[test]
fn a_head_without_end_is_given_up_at_its_limit() {
    let server = Server::answering(vec![
        send("HTTP/1.1 200 OK\r\n"),
        Act::Repeat(b"X-Filler: and so on and so on and so on\r\n".repeat(100)),
    ]);
    let header_bytes_max = 16 << 10;
    let outcome =
        fetch(&server, FetchLimits { header_bytes_max, headers_max: 100_000, ..limits() });
    assert_eq!(words(&outcome), "header_too_big");
    let kept = outcome.unwrap_err().raw.len();
    assert!((header_bytes_max / 2..=4 * header_bytes_max).contains(&kept), "{kept}");

    let one_line =
        Server::answering(vec![send("HTTP/1.1 200 OK\r\nX: "), Act::Repeat(vec![b'x'; 999])]);
    assert_eq!(
        words(&fetch(&one_line, FetchLimits { header_bytes_max, ..limits() })),
        "header_too_big"
    );

    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(300));
    let server = Server::answering(vec![send(&many), Act::Hold]);
    assert_eq!(words(&fetch(&server, limits())), "header_too_big");
}

#[test]
fn framing_without_end_is_counted_and_cut() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let endless = |head: &str, piece: &[u8]| {
        let server = Server::answering(vec![send(head), Act::Repeat(piece.repeat(1_000))]);
        fetch(&server, limits())
    };
    for (head, piece) in [
        (CHUNKED.to_owned(), b"0".as_slice()),
        (CHUNKED.to_owned(), b"1\r\nx\r\n"),
        (format!("{CHUNKED}5;"), b"extension="),
        (format!("{CHUNKED}5\r\nhello\r\n0\r\n"), b"X-Trailer: one more\r\n"),
    ] {
        let response = endless(&head, piece).unwrap();
        assert_eq!(format!("{:?}", response.truncated), "Some(Malformed)", "{head:?}");
        assert!(response.raw.len() < 1 << 20, "{} bytes are held", response.raw.len());
    }
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    let outcome = endless(interim, interim.as_bytes());
    assert_eq!(words(&outcome), "header_too_big");
    assert!(outcome.unwrap_err().raw.len() < 1 << 20);
}

#[test]
fn a_body_without_end_is_cut_at_its_limit_to_the_byte() {
    let body_bytes_max = 100_001;
    let unframed = Server::answering(vec![send(HEAD), Act::Repeat(vec![b'x'; 4096])]);
    let response = fetch(&unframed, FetchLimits { body_bytes_max, ..limits() }).unwrap();
    assert_eq!(format!("{:?}", response.truncated), "Some(Length)");
    assert_eq!(response.raw.len(), HEAD.len() + body_bytes_max);
    assert_eq!(response.payload().len(), body_bytes_max);

    let chunked = Server::answering(vec![
        send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Act::Repeat(b"5\r\nhello\r\n".repeat(400)),
    ]);
    let response = fetch(&chunked, FetchLimits { body_bytes_max, ..limits() }).unwrap();
    assert_eq!(format!("{:?}", response.truncated), "Some(Length)");
    assert_eq!(response.payload().len(), body_bytes_max);
    // Chunks of five bytes are twice their size on the wire; beyond them there is one piece.
    assert!(response.raw.len() < 2 * body_bytes_max + (17 << 10), "{}", response.raw.len());

    // A body that just fits is whole, one byte less is not; a great promise takes no memory.
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for (body_bytes_max, expected) in [(5, "200 hello"), (4, "200 hell Length"), (0, "200  Length")]
    {
        let server = Server::answering(vec![send(whole), Act::Hold]);
        assert_eq!(words(&fetch(&server, FetchLimits { body_bytes_max, ..limits() })), expected);
    }
    let boast = "HTTP/1.1 200 OK\r\nContent-Length: 9007199254740992\r\n\r\nhello";
    let server = Server::answering(vec![send(boast)]);
    assert_eq!(words(&fetch(&server, limits())), "200 hello Disconnect");
}

#[test]
fn a_body_takes_the_memory_that_it_has_bytes_whatever_its_length() {
    for length in [10, 2_000, 20_000, 60_000, 300_000, 900_000] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let server = Server::answering(vec![send(&head), send("x".repeat(length)), Act::Hold]);
        let response = fetch(&server, limits()).unwrap();
        assert_eq!(response.payload().len(), length);
        let (room, bytes) = (response.raw.capacity(), response.raw.len());
        assert!(room <= 2 * bytes, "{room} for {bytes}");
        assert!(length < 32 << 10 || room == bytes, "{room} for {bytes}");
    }
}

#[test]
fn a_server_that_takes_its_time_is_left_and_what_came_is_kept() {
    let first_byte = FetchLimits { first_byte_time_max: SHORT, ..limits() };
    let total = FetchLimits { total_time_max: SHORT, ..limits() };
    let slow = FetchLimits { slow_window: SHORT, slow_bytes_per_s_min: 1_000_000, ..limits() };
    let half_head = "HTTP/1.1 200 OK\r\nContent-";
    let body = format!("{HEAD}hel");
    for (sent, limits, expected) in [
        ("", &first_byte, "timeout_first_byte"),
        ("", &total, "timeout_head"),
        (half_head, &total, "timeout_head"),
        (half_head, &slow, "slow"),
        (&body, &total, "200 hel Time"),
        (&body, &slow, "200 hel Slow"),
    ] {
        let server = Server::answering(vec![send(sent), Act::Hold]);
        let outcome = fetch(&server, limits.clone());
        assert_eq!(words(&outcome), expected, "{sent:?}");
        let raw = outcome.map_or_else(|failure| failure.raw, |response| response.raw);
        assert_eq!(raw, sent.as_bytes());
    }
}

#[test]
fn a_server_that_accepts_and_then_says_nothing_is_no_connection() {
    for limits in [
        FetchLimits { connect_time_max: SHORT, ..limits() },
        FetchLimits { total_time_max: SHORT, ..limits() },
    ] {
        let server = Server::start(vec![vec![Act::Hold]]);
        let url = Url::parse(&format!("https://site.test:{}/", server.port)).unwrap();
        let failure = run(client().fetch(&request(url, limits))).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout(FetchStage::Connect));
    }
}

#[test]
fn a_slow_answer_that_keeps_the_pace_is_taken_whole() {
    // Every window brings a byte or more: the pace asked for is none at all.
    let limits =
        FetchLimits { slow_window: Duration::from_millis(1), slow_bytes_per_s_min: 0, ..limits() };
    let mut acts = vec![send("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n")];
    acts.extend((0..400).map(|_| send([b'x'; 1000])));
    let response = fetch(&Server::answering(acts), limits).unwrap();
    assert_eq!((response.truncated, response.payload().len()), (None, 400_000));
}

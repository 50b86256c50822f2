//! Seeded mutations of answers and coded bodies through the checks that the fuzz targets run.

#[path = "../../../../fuzz/mutate.rs"]
mod mutate;
#[path = "../../../../fuzz/naming.rs"]
mod naming;
#[path = "../../../../fuzz/wire.rs"]
mod wire;

use std::io::Write;

#[test]
fn mutated_answers_are_read_within_their_limits() {
    let seeds = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 429 Slow\r\nRetry-After: 3\r\nLink: <a>\r\n\r\nx",
        "HTTP/1.1 301 Moved\r\nLocation: /é\r\nETag: \"a\"\r\nContent-Length: 0\r\n\r\n",
    ];
    let words = ["\r\n", "\n", ":", "0\r\n\r\n", "ffff\r\n", "\0", "Content-Length: 9\r\n", "é"];
    mutate::mutate((1, 1_500), &seeds, &words, wire::response);
}

#[test]
fn mutated_answers_of_a_name_server_are_addresses_within_bounds_or_failures() {
    // A head without its number; behind the question, records: A, AAAA, CNAME, and a pointer.
    let head = |count: u8| [0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0];
    let a = [0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 127, 0, 0, 9];
    let six = [&[0xc0, 12, 0, 28, 0, 1, 0, 0, 1, 44, 0, 16][..], &[7; 16]].concat();
    let cname = [0xc0, 12, 0, 5, 0, 1, 0, 0, 1, 44, 0, 2, 0xc0, 12];
    let many = a.repeat(40);
    let seeds = [
        [&head(1)[..], &a].concat(),
        [&head(2)[..], &a, &six].concat(),
        [&head(2)[..], &cname, &a].concat(),
        [&head(40)[..], &many].concat(),
        head(0).to_vec(),
    ];
    let words = ["\u{c}", "\0\u{1}\0\u{1}", "\u{ff}\u{ff}", "n1\u{4}test"];
    mutate::mutate((3, 400), &seeds, &words, naming::dns);
}

#[test]
fn mutated_bodies_in_any_coding_stay_within_their_limits() {
    let plain = b"the same words again, the same words again, and the same words again".repeat(9);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    let zstd = zstd::encode_all(&plain[..], 3).unwrap();
    let mut brotli = Vec::new();
    brotli::BrotliCompress(&mut &plain[..], &mut brotli, &Default::default()).unwrap();
    let coded = [(0, gzip.finish().unwrap()), (3, zstd), (2, brotli)];
    let seeds = coded.map(|(coding, body)| [vec![coding], body].concat());
    let words = ["\u{1f}\u{8b}\u{8}", "\0\0\0\0", "(\u{b5}/\u{fd}", "the same words"];
    mutate::mutate((2, 1_000), &seeds, &words, wire::codings);
}

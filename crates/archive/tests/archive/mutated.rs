//! Seeded mutations of files and captures through the checks that the fuzz targets run.

#[path = "../../../../fuzz/kept.rs"]
mod kept;
#[path = "../../../../fuzz/mutate.rs"]
mod mutate;

const RECORD: &str = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
    WARC-Target-URI: http://a.test/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
    Content-Type: application/http;msgtype=response\r\nContent-Length: 24\r\n\r\n\
    HTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n";

#[test]
fn mutated_files_are_read_to_the_last_whole_record() {
    let words = ["WARC/1.1\r\n", "\r\n\r\n", "Content-Length: 7\r\n", ":", "\u{1f}\u{8b}", "é"];
    let packed = {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut member, RECORD.as_bytes()).unwrap();
        member.finish().unwrap()
    };
    let seeds = [RECORD.repeat(2).into_bytes(), packed.repeat(2)];
    mutate::mutate((1, 1_500), &seeds, &words, kept::warc);
}

#[test]
fn mutated_indexes_are_searched_without_harm() {
    let seeds = [
        "com,a)/ 20260101000000 {\"url\": \"http://a.com/\", \"length\": \"5\", \"offset\": \"0\", \
         \"filename\": \"f\"}\ncom,b)/ 20260101000000 {}\n",
    ];
    mutate::mutate((2, 1_500), &seeds, &["\n", " ", "{", "\"", "}", "é"], kept::cdxj);
}

#[test]
fn mutated_captures_are_packed_to_the_byte() {
    let long = "0123456789".repeat(180);
    let seeds = [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        long.as_str(),
    ];
    mutate::mutate((3, 1_500), &seeds, &["\r\n", "aaaaaaaaaaaaaaaa", "\0\0\0\0"], kept::packed);
}

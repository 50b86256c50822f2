//! Documents that are no HTML, in a crawl with `--extract`.

use crate::extracted::{read_zst, rows};
use crate::scripted::{Scripted, answer, head, html, not_found};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// A PDF of one page with one line of text.
fn pdf(text: &str) -> Vec<u8> {
    let shown = format!("BT /F1 12 Tf 10 50 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{shown}\nendstream", shown.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    file += &format!("xref\n0 6\n{table}trailer << /Size 6 /Root 1 0 R >>\n");
    file += &format!("startxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_pdf_is_read_plain_coded_and_in_chunks() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<p>All about tides</p><a href=/a.pdf>1</a><a href=/b>2</a><a href=/c>3</a>"),
        "/a.pdf" => {
            answer("200 OK", &[("Content-Type", "application/pdf")], pdf("Plain tides rise"))
        }
        "/b" => {
            let headers = [("Content-Type", "application/pdf"), ("Content-Encoding", "gzip")];
            answer("200 OK", &headers, gzipped(&pdf("Coded tides rise")))
        }
        "/c" => {
            // Mislabelled, as downloads often are.
            let headers = [
                ("Content-Type", "application/octet-stream"),
                ("Content-Encoding", "gzip"),
                ("Transfer-Encoding", "chunked"),
            ];
            let body = gzipped(&pdf("Chunked tides rise"));
            let size = format!("{:x}\r\n", body.len()).into_bytes();
            [head("200 OK", &headers), size, body, b"\r\n0\r\n\r\n".to_vec()].concat()
        }
        _ => not_found(),
    });
    site.crawl(&["--extract"]);
    let rows = rows(&read_zst(&site.crawl_dir().join("extract.jsonl.zst")));
    for (path, says) in
        [("/a.pdf", "Plain tides rise"), ("/b", "Coded tides rise"), ("/c", "Chunked tides rise")]
    {
        let row = rows.iter().find(|row| row["id"] == site.url(path)).expect(path);
        assert_eq!(row["text"].as_str().unwrap().trim(), says, "{row}");
        assert!(row["error"].is_null(), "{row}");
    }
}

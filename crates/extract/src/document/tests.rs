//! Documents of our own making, whole and broken.

use super::*;

fn url() -> Url {
    Url::parse("https://a.test/dir/").expect("a URL")
}

/// A PDF of one page that says `text`, with a title and a link.
fn pdf(text: &str) -> Vec<u8> {
    pdf_with(&format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET"))
}

/// … with this content.
fn pdf_with(content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [7 0 R] \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        "<< /Title (On tides) /Author (A. Reader) /CreationDate (D:20240501103000+02'00') >>"
            .to_owned(),
        "<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI (/next) >> >>"
            .to_owned(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n{object}\nendobj\n").into_bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).into_bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    let end = format!("trailer << /Size 8 /Root 1 0 R /Info 6 0 R >>\nstartxref\n{table}\n%%EOF\n");
    file.extend(end.into_bytes());
    file
}

#[test]
fn a_pdf_gives_its_text_title_date_and_links() {
    let document = read(Some("application/pdf"), &pdf("The sea rises."), &url()).expect("a PDF");
    assert_eq!(document.format, "pdf");
    assert!(document.text.contains("The sea rises."), "{document:?}");
    assert_eq!(document.title.as_deref(), Some("On tides"));
    assert_eq!(document.author.as_deref(), Some("A. Reader"));
    assert_eq!(document.published.map(|date| date.unix_seconds), Some(1_714_552_200));
    let links: Vec<&str> = document.links.iter().map(Url::as_str).collect();
    assert_eq!(links, ["https://a.test/next"]);
}

#[test]
fn a_pdf_gives_the_lines_that_are_shown_as_they_begin() {
    let content = "BT /F1 12 Tf 72 700 Td 14 TL (The moon's pull) Tj (lifts the sea) ' \
                   1 2 (twice a day.) \" ET";
    let document = read(Some("application/pdf"), &pdf_with(content), &url()).expect("a PDF");
    let lines: Vec<&str> = document.text.lines().collect();
    assert_eq!(lines, ["The moon's pull", "lifts the sea", "twice a day."]);
}

#[test]
fn broken_and_hostile_pdfs_give_what_can_be_read_and_name_the_rest() {
    let whole = pdf("The sea rises.");
    for cut in (0..whole.len()).step_by(37) {
        let mut torn = whole[..cut].to_vec();
        let _ = read(Some("application/pdf"), &torn, &url());
        torn.extend(b"\xFF\x00".repeat(50));
        let _ = read(Some("application/pdf"), &torn, &url());
    }
    let text = String::from_utf8(whole).expect("ASCII");
    let own_parent = text.replace("/Parent 2 0 R", "/Parent 3 0 R");
    let document = read(None, own_parent.as_bytes(), &url()).expect("a PDF");
    assert!(document.oddities.iter().any(|o| o.contains("page tree")), "{document:?}");
    let self_drawing = text.replace("/Font << /F1 5 0 R >>", "/XObject << /X 4 0 R >>").replace(
        "<< /Length",
        "<< /Subtype /Form /Resources << /XObject << /X 4 0 R >> >> /Length",
    );
    let document = read(None, self_drawing.as_bytes(), &url()).expect("a PDF");
    assert!(!document.oddities.is_empty(), "{document:?}");
}

#[test]
fn every_format_is_told_by_its_type_and_gives_its_links() {
    let cases: [(&str, &str, &str, &[&str]); 5] = [
        ("text/html", "<p>See <a href=x>this</a> for all there is to say.", "html", &["dir/x"]),
        ("text/plain", "Notes\nsee https://a.test/y.", "text", &["y"]),
        (
            "application/json",
            r#"{"title":"T","next":"https://a.test/z","body":"a text of some words"}"#,
            "json",
            &["z"],
        ),
        (
            "application/rss+xml",
            "<rss><channel><title>F</title><item><title>I</title><link>https://a.test/i</link>\
             </item></channel></rss>",
            "feed",
            &["i"],
        ),
        (
            "application/xml",
            "<urlset><url><loc>https://a.test/s</loc></url></urlset>",
            "sitemap",
            &["s"],
        ),
    ];
    for (media, body, format, links) in cases {
        let document = read(Some(media), body.as_bytes(), &url()).expect(format);
        assert_eq!(document.format, format);
        let found: Vec<&str> = document
            .links
            .iter()
            .map(|l| l.as_str().trim_start_matches("https://a.test/"))
            .collect();
        assert_eq!(found, links, "{format}");
    }
    assert!(read(Some("image/png"), b"\x89PNG\r\n", &url()).is_none());
}

#[test]
fn office_documents_give_paragraphs_rows_names_and_links() {
    let core = "<cp:coreProperties xmlns:dc='d'><dc:title>On tides</dc:title>\
                <dc:creator>A. Reader</dc:creator>\
                <dcterms:created>2024-05-01T10:30:00Z</dcterms:created></cp:coreProperties>";
    let relations = "<Relationships><Relationship Id='1' Target='styles.xml'/><Relationship Id='2' \
                     Target='https://b.test/x?a=1&amp;b=2' TargetMode='External'/></Relationships>";
    let word = "<w:document><w:body><w:p><w:r><w:t xml:space='preserve'>The sea </w:t></w:r><w:r>\
                <w:t>rises &amp; falls.</w:t></w:r></w:p><w:p><w:r><w:t>Twice</w:t><w:tab/>\
                <w:t>a day</w:t></w:r></w:p></w:body></w:document>";
    let docx = zip::tests::zip(&[
        ("word/document.xml", word),
        ("word/_rels/document.xml.rels", relations),
        ("docProps/core.xml", core),
    ]);
    let media = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let read_as = |media: &str, body: &[u8]| read(Some(media), body, &url()).expect("a format");
    let document = read_as(media, &docx);
    assert_eq!(document.text, "The sea rises & falls.\nTwice\ta day\n");
    assert_eq!(document.title.as_deref(), Some("On tides"));
    assert_eq!(document.author.as_deref(), Some("A. Reader"));
    assert_eq!(document.published.map(|date| date.unix_seconds), Some(1_714_559_400));
    let links: Vec<&str> = document.links.iter().map(Url::as_str).collect();
    assert_eq!(links, ["https://b.test/x?a=1&b=2"]);
    let broken = read_as(media, &docx[..docx.len() / 2]);
    assert!(broken.text.is_empty() && !broken.oddities.is_empty());

    let xlsx = zip::tests::zip(&[
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>Port</t></si><si><r><t>Fun</t></r><r><t>dy</t></r></si></sst>",
        ),
        (
            "xl/worksheets/sheet1.xml",
            "<worksheet><sheetData><row><c t='s'><v>0</v></c><c><v>16.1</v>\
          </c></row><row><c t='s'><v>1</v></c><c t='s'><v>9</v></c></row></sheetData></worksheet>",
        ),
    ]);
    let media = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    assert_eq!(read_as(media, &xlsx).text, "Port\t16.1\nFundy\n");

    let slide = "<p:sld><a:p><a:r><a:t>Tides</a:t></a:r></a:p></p:sld>";
    let pptx = zip::tests::zip(&[("ppt/slides/slide1.xml", slide)]);
    let media = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
    assert_eq!(read_as(media, &pptx).text, "Tides\n");

    let content = "<office:document-content><text:h>Tides</text:h><text:p>The sea<text:s/>\
                   <text:a xlink:href='/n'>rises</text:a>.</text:p></office:document-content>";
    let odt = zip::tests::zip(&[("content.xml", content)]);
    let document = read_as("application/vnd.oasis.opendocument.text", &odt);
    assert_eq!(document.text, "Tides\nThe sea rises.\n");
    assert_eq!(document.links[0].as_str(), "https://a.test/n");
}

#[test]
fn a_book_gives_its_chapters_in_the_order_of_the_spine() {
    let container = "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles>\
                     </container>";
    let package = "<package xmlns:dc='x'><metadata><dc:title>On tides</dc:title>\
                   <dc:creator>A. Reader</dc:creator></metadata><manifest>\
                   <item id='b' href='text/two%20b.xhtml' media-type='application/xhtml+xml'/>\
                   <item id='a' href='text/one.xhtml' media-type='application/xhtml+xml'/>\
                   <item id='c' href='cover.png' media-type='image/png'/></manifest>\
                   <spine><itemref idref='a'/><itemref idref='c'/><itemref idref='b'/></spine>\
                   </package>";
    let one = "<html><head><title>x</title><style>p{}</style></head><body><h1>Ebb</h1>\
               <p>The sea\n   falls &amp; rests. <a href='two%20b.xhtml'>on</a> \
               <a href='https://b.test/moon'>moon</a></p></body></html>";
    let two = "<html><body><p>The sea rises.</p></body></html>";
    let book = super::zip::tests::zip(&[
        ("META-INF/container.xml", container),
        ("OEBPS/book.opf", package),
        ("OEBPS/text/one.xhtml", one),
        ("OEBPS/text/two b.xhtml", two),
    ]);
    let document = read(Some("application/epub+zip"), &book, &url()).expect("a book");
    assert_eq!((document.format, document.oddities.len()), ("epub", 0), "{document:?}");
    let lines: Vec<&str> = document.text.lines().collect();
    assert_eq!(lines, ["Ebb", "The sea falls & rests. on moon", "The sea rises."]);
    assert_eq!(document.title.as_deref(), Some("On tides"));
    assert_eq!(document.author.as_deref(), Some("A. Reader"));
    assert_eq!(document.links.len(), 1);
    for cut in 0..book.len() {
        let _ = read(Some("application/epub+zip"), &book[..cut], &url());
    }
}

#[test]
fn rich_text_gives_its_words_in_its_code_page_and_in_unicode() {
    let text = br#"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}}{\colortbl;\red0;}
{\info{\title On tides}{\author A. Reader}}{\*\generator Nobody;}
\pard\b Ebb\b0\par The caf\'e9 \{by\} the sea\line falls \u8212 ?\u-10179?\u-8704? slowly.\par
{\field{\*\fldinst{HYPERLINK "moon.html"}}{\fldrslt the moon}}\tab{\pict 89504e47}end\par}"#;
    for declared in ["application/rtf", "text/rtf", "application/octet-stream", "text/plain"] {
        let document = read(Some(declared), text, &url()).expect("rich text");
        assert_eq!(document.format, "rtf", "{declared}");
        let lines: Vec<&str> = document.text.lines().collect();
        let wanted = ["Ebb", "The caf\u{e9} {by} the sea", "falls \u{2014}\u{1f600} slowly."];
        assert_eq!((&lines[..3], lines[3]), (&wanted[..], "the moon\tend"), "{document:?}");
        assert_eq!(document.title.as_deref(), Some("On tides"));
        assert_eq!(document.links[0].as_str(), "https://a.test/dir/moon.html");
    }
    for at in 0..text.len() {
        let _ = read(Some("text/rtf"), &text[..at], &url());
    }
    let deep = [b"{\\rtf1 ".to_vec(), b"{".repeat(100_000), b"x".to_vec()].concat();
    assert_eq!(read(Some("text/rtf"), &deep, &url()).expect("rich text").text, "");
}

#[test]
fn a_text_that_is_packed_is_read_as_what_it_is_and_a_bomb_up_to_a_limit() {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;
    let packed = |plain: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).expect("memory");
        encoder.finish().expect("memory")
    };
    let rfc = packed(b"Network Working Group\n\nThe sea rises.\n");
    let document = read(Some("application/gzip"), &rfc, &url()).expect("a packed text");
    assert_eq!(document.text, "Network Working Group\n\nThe sea rises.\n");
    let page = packed(b"<!doctype html><title>Tides</title><p>The sea rises twice a day.</p>");
    let document = read(Some("application/x-gzip"), &page, &url()).expect("a packed page");
    assert_eq!(document.title.as_deref(), Some("Tides"));
    for silent in [packed(&rfc), packed(&[0; 4096]), packed(&pdf("The sea rises."))] {
        assert_eq!(read(None, &silent, &url()).expect("packed").text, "");
    }
    let bomb = packed(&vec![b'a'; 40 << 20]);
    let document = read(None, &bomb, &url()).expect("a packed text");
    assert!(document.text.len() <= TEXT_BYTES_MAX && !document.oddities.is_empty());
    let torn = read(None, &rfc[..rfc.len() - 9], &url()).expect("a torn one");
    assert!(torn.oddities[0].starts_with("gzip: "), "{torn:?}");
}

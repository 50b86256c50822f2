//! Seeded mutations of small inputs through the checks that the fuzz targets run: a fuzzer's first
//! minute, the same on every machine.

#[path = "../../../fuzz/checks.rs"]
mod checks;
#[path = "../../../fuzz/mutate.rs"]
mod mutate;

const ROUNDS: u64 = 20_000;

#[test]
fn mutated_urls_stay_canonical() {
    let seeds = [
        "http://user@EXAMPLE.com:80/a/../b?x=%7e#f\n../c?d",
        "https://[::1]:8443/\n//other.test/",
        "http://xn--bcher-kva.example/%C3%BC\n?q",
        "http://0x7f.1/\nfile:///etc",
    ];
    mutate(
        1,
        &seeds,
        &["%", "//", ":", "@", "[", "]", "..", "é", "\\", "?", "#", "%2F"],
        checks::url,
    );
}

#[test]
fn mutated_robots_files_always_answer() {
    let seeds = [
        "User-agent: *\nDisallow: /private\nAllow: /private/x$\nCrawl-delay: 5\n",
        "user-agent: rhumb\nuser-agent: other\ndisallow: /*.php$\nsitemap: https://a.test/s.xml",
    ];
    mutate(2, &seeds, &["*", "$", "%", "\r", "\u{FEFF}", ":", "#", "é"], checks::robots);
}

#[test]
fn mutated_pages_are_read_the_same_in_every_way() {
    let seeds = [
        "<!DOCTYPE html><html lang=en><head><base href=/b/><title>T &amp; U</title>\
         <meta charset=utf-8><link rel=canonical href=/c></head><body><p>Text <a href=x>y</a>",
        "<svg><style>x</style><![CDATA[y]]><foreignObject><p>z</foreignObject></svg>",
        "<script><!--<script>a</script>--></script><template><a href=/t>x</template>",
        "<meta http-equiv=refresh content='0; url=/r'><a href='&#x41;&notit;' rel=nofollow>",
    ];
    let words = [
        "<",
        ">",
        "</",
        "<!--",
        "-->",
        "\"",
        "'",
        "=",
        "&",
        ";",
        "<script>",
        "</script>",
        "<svg>",
        "]]>",
        "é",
        "\0",
        "\r\n",
        "<textarea>",
        "<math>",
        "<mi>",
        "<div>",
        "/>",
        "  ",
    ];
    mutate(3, &seeds, &words, checks::html);
}

#[test]
fn mutated_stylesheets_and_style_attributes_stay_within_their_limits() {
    let seeds = [
        "@charset \"utf-8\"; @import url(a.css) screen; @import 'b.css'; a{b:url( 'c' ) url(d)}",
        "a{b:image-set('x' 1x, url(y) 2x)} /* url(z) */ @font-face{src:url(f.woff)format('w')}",
        "<p style='a:url(&quot;x&quot;)'><img srcset='a 1x, b (x,y) 2w,,c'><style>a{b:url(z",
        "<svg><use href=s.svg#i /></svg><link rel=stylesheet href=s><base href=/b/><object data=o>",
    ];
    let words = [
        "url(",
        ")",
        "'",
        "\"",
        "\\",
        "\\75 ",
        "\\\n",
        "/*",
        "*/",
        "@import",
        ";",
        "{",
        "}",
        "(",
        "\n",
        "é",
        "\0",
        "image-set(",
        ",",
        " ",
        "srcset='",
        "style='",
    ];
    mutate(9, &seeds, &words, checks::css);
}

#[test]
fn mutated_sitemaps_stay_within_their_limits() {
    let seeds = [
        "<?xml version='1.0' encoding='utf-8'?><urlset><url><loc>https://a.test/1</loc>\
         <lastmod>2024-05-01</lastmod><changefreq>daily</changefreq></url></urlset>",
        "<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>",
        "https://a.test/1\nhttps://a.test/2\n",
    ];
    let words =
        ["<", ">", "&", "<![CDATA[", "<!DOCTYPE", "<?", "\u{1F}\u{8B}", "é", "</loc>", "<url>"];
    mutate(4, &seeds, &words, checks::sitemap);
}

#[test]
fn mutated_feeds_stay_within_their_limits() {
    let seeds = [
        "<rss><channel><item><link>/1</link><pubDate>Wed, 01 May 2024 08:00:00 -0500</pubDate>\
         </item></channel></rss>",
        "<feed xml:base='/x/'><entry><link href='1'/><updated>2024-05-01T08:00:00Z</updated>\
         </entry></feed>",
        "{\"items\": [{\"url\": \"/1\", \"date_published\": \"2024-05-01\"}]}",
    ];
    let words =
        ["<item>", "</item>", "&nbsp;", "xml:base='", "-", "+", "é", "{", "[", "\"", "99999999"];
    mutate(5, &seeds, &words, checks::feed);
}

#[test]
fn mutated_pages_have_a_main_text_if_they_have_any() {
    let seeds = [
        "<title>T</title><nav><a href=/>Home</a></nav><main><h1>T</h1><p>One or two words, and a \
         <b>few</b> more.<table><tr><td>a<td>b</table></main><footer>End</footer>",
        "<ul><li>one<li>two<ol><li>three</ol></ul><pre>a  b</pre><blockquote>c<br><br>d",
        "<script type=application/ld+json>{\"@type\":\"Article\",\"articleBody\":\"x y\"}</script>",
    ];
    let words = [
        "<",
        ">",
        "</p>",
        "<div class='nav content'>",
        "</div>",
        "<li>",
        "<select>",
        "<svg>",
        "<a href=x>",
        "<br>",
        "é",
        "字",
        "\0",
        "<template>",
        "<td>",
        "</table>",
        "<span>",
        "<pre>",
        "word ",
    ];
    mutate(6, &seeds, &words, checks::extract);
}

#[test]
fn mutated_bytes_of_any_charset_become_text() {
    let seeds = ["\u{FEFF}<meta charset=shift_jis>", "<?xml encoding='utf-16'?>", "plain"];
    mutate(7, &seeds, &["\u{1B}$B", "é", "\u{FEFF}", "<meta charset='", "\0"], checks::charset);
}

#[test]
fn mutated_documents_stay_within_their_limits() {
    let pdf = pdf();
    let word = "<w:document><w:body><w:p><w:r><w:t>The sea</w:t></w:r><w:tab/></w:p></w:body>";
    let relations = "<Relationships><Relationship Target='http://a.test/' TargetMode='External'/>";
    let sheet = "<worksheet><row><c t='s'><v>0</v></c><c><v>16.1</v></c></row></worksheet>";
    let office = [
        zip(&[("word/document.xml", word), ("word/_rels/document.xml.rels", relations)]),
        zip(&[("xl/sharedStrings.xml", "<sst><si><t>Port</t></si></sst>"), (SHEET, sheet)]),
        zip(&[("ppt/slides/slide1.xml", "<p:sld><a:p><a:t>Tides</a:t></a:p></p:sld>")]),
        zip(&[("content.xml", "<text:p>The sea<text:s/><text:a xlink:href='/n'>rises</text:a>")]),
    ];
    let plain: [&[u8]; 2] =
        [b"{\"a\": [\"https://a.test/ b c d\"]}", b"see http://a.test/x, and https://b.test."];
    let files = office.iter().map(Vec::as_slice);
    let seeds: Vec<&[u8]> = plain.into_iter().chain([pdf.as_slice()]).chain(files).collect();
    // The PDF library panics, which is caught; saying so each time would drown all else.
    std::panic::set_hook(Box::new(|panic| {
        if !panic.location().is_some_and(|at| is_of_library(at.file())) {
            eprintln!("{panic}");
        }
    }));
    mutate(
        8,
        &seeds,
        &["http://", "://", "{", "[", "\"", "é", "\\u", "PK\x01\x02", " 0 R", "<<", ">>", "<t>"],
        checks::document,
    );
}

const SHEET: &str = "xl/worksheets/sheet1.xml";

fn is_of_library(file: &str) -> bool {
    !file.contains("crates/page") && !file.contains("fuzz")
}

/// A PDF of one page that says a few words, with a title and a link.
fn pdf() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [7 0 R] \
         /Resources << /Font << /F1 5 0 R >> >> >>",
        "<< /Length 42 >>\nstream\nBT /F1 12 Tf 72 700 Td (The sea rises) Tj ET\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Title (On tides) /CreationDate (D:20240501103000+02'00') >>",
        "<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI (/next) >> >>",
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut table = String::from("xref\n0 8\n0000000000 65535 f \n");
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let end = "trailer << /Size 8 /Root 1 0 R /Info 6 0 R >>\nstartxref\n";
    format!("{file}{table}{end}{}\n%%EOF\n", file.len()).into_bytes()
}

/// A ZIP file of members that are stored as they are, so that mutations reach their text.
fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in members {
        let sizes = [text.len() as u32; 2].map(u32::to_le_bytes).concat();
        let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
        let at = (file.len() as u32).to_le_bytes();
        // Version, flags, method, time, day and checksum, of which only the method is looked at.
        let facts = [0; 14];
        let member: [&[u8]; 6] =
            [b"PK\x03\x04", &facts, &sizes, &lengths, name.as_bytes(), text.as_bytes()];
        file.extend(member.concat());
        let entry: [&[u8]; 8] =
            [b"PK\x01\x02", &[0; 2], &facts, &sizes, &lengths, &[0; 10], &at, name.as_bytes()];
        directory.extend(entry.concat());
    }
    let place = [directory.len() as u32, file.len() as u32].map(u32::to_le_bytes).concat();
    file.extend([&directory[..], b"PK\x05\x06", &[0; 8], &place, &[0; 2]].concat());
    file
}

fn mutate(seed: u64, seeds: &[impl AsRef<[u8]>], words: &[&str], check: fn(&[u8])) {
    mutate::mutate((seed, ROUNDS), seeds, words, check);
}

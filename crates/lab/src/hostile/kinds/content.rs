//! Bodies: deep, long, random, in charsets that are none.

use std::fmt::Write;

use crate::hostile::kind::{FEW, HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::script::{Noise, WireScript, document};

const BOUNDED: &str = "bounded in time and memory; kept as it came";
const MEGABYTES_5: usize = 5 << 20;

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new(
        "binary",
        "2 MB of random bytes as text/html",
        "kept or refused; no panic",
        binary,
    )
    .fetches(&["/"]),
    HostileKind::new("comment", "5 MB of <!-- and of <script> never closed", BOUNDED, unclosed)
        .starts(&["/comment", "/script", "/title", "/textarea"])
        .fetches(&["/comment", "/script", "/title", "/textarea"]),
    HostileKind::new("spaces", "5 MB of white space; a word of 5 MB", BOUNDED, spaces)
        .starts(&["/spaces", "/word", "/tabs"])
        .fetches(&["/spaces", "/word", "/tabs"]),
    HostileKind::new(
        "jsondeep",
        "JSON-LD nested 500,000 deep",
        "depth limit, no stack overflow",
        deep_json,
    )
    .fetches(&["/"]),
    HostileKind::new(
        "refresh",
        "meta refresh to itself and to n+1 for ever",
        "as links or hops; limit per host",
        refresh,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "charset",
        "UTF-16 without BOM, bad UTF-8, UTF-7, ISO-2022-JP, lies",
        "decoded as browsers do; never a panic",
        charsets,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5"])
    .fetches(&["/0", "/1", "/2", "/3", "/4", "/5"]),
    HostileKind::new("deepdom", "200,000 elements in each other", BOUNDED, deep_elements)
        .fetches(&["/"]),
    HostileKind::new(
        "longbase",
        "a base of 8 KB and 200,000 links: 3 MB that unfold to gigabytes",
        BOUNDED,
        long_base,
    )
    .fetches(&["/"])
    .requests(HOST_SHARE),
    HostileKind::new("manylinks", "200,000 links to new pages", BOUNDED, many_links)
        .requests(HOST_SHARE)
        .fetches(&["/"]),
    HostileKind::new("attributes", "one element of 300,000 attributes", BOUNDED, attributes)
        .fetches(&["/"]),
    HostileKind::new("entities", "5 MB of character references", BOUNDED, entities).fetches(&["/"]),
    HostileKind::new("laughs", "XHTML with entities in entities", "nothing is expanded", laughs)
        .fetches(&["/"]),
    HostileKind::new("tables", "tables in misnested formatting: quadratic trees", BOUNDED, tables)
        .fetches(&["/"]),
    HostileKind::new("longtext", "a page of 30 MB of text without a link", BOUNDED, long_text)
        .may_fail(&["slow", "timeout"]),
    HostileKind::new("bulk", "pages of 5 MB without end", "at most 64 MB beside the largest", bulk)
        .requests(HOST_SHARE),
    HostileKind::new("feed", "a feed of 100,000 entries", BOUNDED, feed).requests(HOST_SHARE),
    HostileKind::new(
        "longurl",
        "links of 100 KB, to odd schemes, to odd hosts",
        BOUNDED,
        odd_links,
    )
    .requests(FEW)
    .lookups(60)
    .names(6)
    .fetches(&["/"]),
    HostileKind::new(
        "near",
        "30 pages that differ in one word",
        "near-duplicates are marked; none is taken for a page elsewhere",
        near,
    )
    .requests(HOST_SHARE),
];

fn binary(_: &HostileRequest) -> WireScript {
    WireScript::html(Noise::of("binary").bytes(2 << 20))
}

fn unclosed(request: &HostileRequest) -> WireScript {
    let name = &request.path()[1..];
    let piece = match name {
        "comment" => "<!-- and ".to_owned(),
        _ => format!("<{name}><a href=/x>"),
    };
    WireScript::html(piece.repeat(MEGABYTES_5 / piece.len()))
}

fn spaces(request: &HostileRequest) -> WireScript {
    let filler = match request.path() {
        "/spaces" => b' ',
        "/word" => b'w',
        _ => b'\t',
    };
    WireScript::html([b"<p>begin".to_vec(), vec![filler; MEGABYTES_5], b"end".to_vec()].concat())
}

fn deep_json(_: &HostileRequest) -> WireScript {
    let deep = "[{\"a\":".repeat(250_000);
    WireScript::html(format!("<script type=\"application/ld+json\">{deep}</script><p>json</p>"))
}

fn refresh(request: &HostileRequest) -> WireScript {
    let next = request.number() + 1;
    let page = document(&format!("refresh {next}"), ["/"]);
    WireScript::html(format!("<meta http-equiv=refresh content=\"0;url=/n/{next}\">{page}"))
}

fn charsets(request: &HostileRequest) -> WireScript {
    let page = document(&format!("charset {}", request.target), ["/0", "/caf\u{e9}?q=\u{fc}"]);
    let wide = |unit: u16| unit.to_le_bytes();
    let (charset, body) = match request.number() {
        0 => ("", page.encode_utf16().flat_map(wide).collect()),
        1 => ("utf-8", [page.as_bytes(), b"\xff\xfe\xc0\x80\xed\xa0\x80\xf5"].concat()),
        2 => ("utf-7", page.replace("<p>", "<p>+ADw-script+AD4-").into_bytes()),
        3 => ("iso-2022-jp", [page.as_bytes(), b"\x1b$B\x1b(J\x1b$B<p>\xff"].concat()),
        4 => ("utf-16be", page.into_bytes()),
        _ => ("x-user-defined, utf-8; charset=ebcdic", page.into_bytes()),
    };
    let content_type = format!("Content-Type: text/html; charset={charset}");
    WireScript::answer("200 OK", &[&content_type], body)
}

fn deep_elements(_: &HostileRequest) -> WireScript {
    WireScript::html("<div><b>".repeat(100_000))
}

fn long_base(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return WireScript::page(&format!("unfolded {}", request.target.len()), ["/"]);
    }
    let mut body = format!("<base href=\"/{}/\">", "b".repeat(8_000));
    for n in 0..200_000 {
        write!(body, "<a href={n}>l</a>").expect("a string takes all");
    }
    WireScript::html(body)
}

fn many_links(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return WireScript::page(&format!("one of many {}", request.target), ["/"]);
    }
    WireScript::page("many links", (0..200_000).map(|n| format!("/l/{n}")))
}

fn attributes(_: &HostileRequest) -> WireScript {
    let mut body = String::from("<p>attributes</p><a href=/a ");
    for n in 0..300_000 {
        write!(body, "a{n}=b ").expect("a string takes all");
    }
    WireScript::html(body + ">a</a>")
}

fn entities(_: &HostileRequest) -> WireScript {
    WireScript::html("&amp;&#x10FFFF;&notit;&#0;&CounterClockwiseContourIntegral;".repeat(80_000))
}

fn laughs(_: &HostileRequest) -> WireScript {
    let entities: String = (1..40)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let body = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE html [<!ENTITY l0 \"ha\">{entities}]>\
         <html xmlns=\"http://www.w3.org/1999/xhtml\"><p>&l39;</p></html>"
    );
    WireScript::answer("200 OK", &["Content-Type: application/xhtml+xml"], body)
}

fn tables(_: &HostileRequest) -> WireScript {
    WireScript::html("<a href=/t><b><i><table><a href=/t><tr><b>x</table></p></a>".repeat(5_000))
}

fn long_text(_: &HostileRequest) -> WireScript {
    const BYTES: u64 = 30 << 20;
    const SENTENCE: &[u8] = b"The words of this text go on and on without a link. ";
    let piece = SENTENCE.repeat(200);
    let length = format!("Content-Length: {}", BYTES / piece.len() as u64 * piece.len() as u64);
    let count = BYTES / piece.len() as u64;
    WireScript::head("200 OK", &["Content-Type: text/html", &length]).times(piece, count)
}

fn bulk(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let links = [page * 2 + 1, page * 2 + 2].map(|n| format!("/b/{n}"));
    let bulk = Noise::of(&request.target).bytes(5 << 20);
    WireScript::html([document(&format!("bulk {page}"), links).as_bytes(), &bulk[..]].concat())
}

fn feed(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return WireScript::page(&format!("entry {}", request.target), ["/"]);
    }
    let mut body = String::from("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel>");
    for n in 0..100_000 {
        write!(body, "<item><link>{}/e/{n}</link></item>", request.origin())
            .expect("a string takes all");
    }
    WireScript::answer("200 OK", &["Content-Type: application/rss+xml"], body + "</channel></rss>")
}

fn odd_links(request: &HostileRequest) -> WireScript {
    let zone = request.origin().split_off("http://".len());
    let long = format!("/{}", "u".repeat(100_000));
    let label = format!("http://{}.{zone}/", "l".repeat(64));
    let labels = format!("http://{}{zone}/", "l.".repeat(130));
    let odd: &[&str] = &[
        "http://",
        "http:///",
        "http://[::1",
        "http://a b/",
        "http://\u{202e}moc.live/",
        "//",
        "http://%00/",
        "http://user@/",
        "mailto:a@b",
        "tel:1",
        "blob:x",
        "about:blank",
        "HTTP:x",
        "http://999999999999/",
        "http://0x7f.1:9/",
        "http://xn--/",
        "http://-a-.test/",
        "\0",
        "?",
        "#",
        "http://127.0.0.1:99999/",
        "http://\u{ff11}\u{ff12}\u{ff17}.1:9/",
    ];
    let links = [long.as_str(), &label, &labels].into_iter().chain(odd.iter().copied());
    let links: Vec<&str> = if request.path() == "/" { links.collect() } else { Vec::new() };
    WireScript::page(&format!("odd links {}", request.path().len()), links)
}

fn near(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let links = (0..30).map(|n| format!("/n/{n}"));
    let text = document("near the same", links);
    WireScript::html(text.replacen("<p>", &format!("<p>number {page} "), 1))
}

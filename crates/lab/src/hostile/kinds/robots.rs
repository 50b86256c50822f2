//! robots.txt that is missing, slow, endless, moved, odd, or that means it.

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Duration;

use crate::hostile::kind::{FEW, HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::kinds::encoding::{gzip, zeros_after};
use crate::hostile::script::{Noise, WireScript};

const REST: Duration = Duration::from_secs(3);
const UNREACHABLE: &[&str] =
    &["robots_unreachable", "server_error", "throttled", "closed", "timeout", "slow", "bad_http"];
const NO_PAGE: u64 = 0;
const FORBIDS: &[&str] = &["/private/", "/x"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("rb500", "robots.txt: 500 for ever", "complete disallow (RFC 9309)", page)
        .robots(server_error)
        .requests(NO_PAGE)
        .fails(UNREACHABLE),
    HostileKind::new("rb503", "robots.txt: 503, Retry-After: 3", "disallow; rests for 3 s", page)
        .robots(unavailable)
        .requests(NO_PAGE)
        .fails(UNREACHABLE),
    HostileKind::new("rb403", "robots.txt: 403", "no rules", page)
        .robots(forbidden)
        .requests(HOST_SHARE)
        .fetches(&["/", "/1"]),
    HostileKind::new("rb429", "robots.txt: 429, Retry-After: 3", "no request within 3 s", page)
        .robots(too_many)
        .requests(HOST_SHARE)
        .may_fail(UNREACHABLE),
    HostileKind::new("rbnever", "robots.txt never answers", "disallow; slot freed", page)
        .robots(never)
        .requests(NO_PAGE)
        .may_fail(UNREACHABLE),
    HostileKind::new("rbclose", "robots.txt: connection closed", "disallow", page)
        .robots(closed)
        .requests(NO_PAGE)
        .fails(UNREACHABLE),
    HostileKind::new("rbslow", "robots.txt at 1 byte/s", "disallow after a time limit", page)
        .robots(slowly)
        .requests(NO_PAGE)
        .may_fail(UNREACHABLE),
    HostileKind::new("rbmaps", "robots.txt names 100,000 sitemaps", "bounded; rules hold", page)
        .robots(many_sitemaps)
        .sitemap(|_| WireScript::not_found())
        .requests(HOST_SHARE)
        .forbids(FORBIDS),
    HostileKind::new("rbbomb", "rules, then 1 GB in gzip", "bounded; rules hold", page)
        .robots(bomb)
        .requests(HOST_SHARE)
        .forbids(FORBIDS)
        .may_fail(UNREACHABLE),
    HostileKind::new("rbgz", "robots.txt honestly gzipped", "decoded; rules hold", page)
        .robots(gzipped)
        .requests(HOST_SHARE)
        .forbids(FORBIDS)
        .fetches(&["/", "/1"]),
    HostileKind::new("rbloop", "robots.txt redirects to itself", "no rules; few requests", page)
        .robots(moved_to_itself)
        .requests(HOST_SHARE)
        .may_fail(UNREACHABLE),
    HostileKind::new("rbhtml", "robots.txt is an HTML page", "no rules", page)
        .robots(as_html)
        .requests(HOST_SHARE)
        .fetches(&["/", "/1"]),
    HostileKind::new("rbbin", "robots.txt is 1 MB of random bytes", "no rules; no panic", page)
        .robots(random)
        .requests(HOST_SHARE),
    HostileKind::new("rbutf16", "robots.txt in UTF-16", "no panic", page)
        .robots(utf_16)
        .requests(HOST_SHARE),
    HostileKind::new("rbdeny", "Disallow: /", "no page is requested", page)
        .robots(|_| WireScript::text("User-agent: *\nDisallow: /\n"))
        .requests(NO_PAGE),
    HostileKind::new("rbbom", "robots.txt begins with a BOM", "rules hold", page)
        .robots(|_| WireScript::text(format!("\u{feff}{RULES}")))
        .requests(HOST_SHARE)
        .forbids(FORBIDS)
        .fetches(&["/", "/1"]),
    HostileKind::new("rb10k", "10,000 groups, ours in the middle and twice", "rules hold", page)
        .robots(many_groups)
        .requests(HOST_SHARE)
        .forbids(FORBIDS)
        .fetches(&["/", "/1"]),
    HostileKind::new("rbwild", "patterns of 60 stars, paths of 2,000 a", "linear matching", wild)
        .robots(stars)
        .requests(HOST_SHARE)
        .fetches(&["/"]),
    HostileKind::new(
        "rbpath",
        "forbidden path spelled /%70rivate/, /x/../private/, /./private/",
        "normalised before matching; rules hold",
        spellings,
    )
    .requests(HOST_SHARE)
    .forbids(&["/private/", "/%70rivate", "/./private", "/%2e/private", "//private"]),
    HostileKind::new(
        "rbchange",
        "allows all at first, forbids /b/ later; max-age=1",
        "the newest answer holds",
        page,
    )
    .robots(changing)
    .requests(HOST_SHARE),
    HostileKind::new("rbdelayx", "Crawl-delay: 1e300, NaN, -1", "limit; no panic", page)
        .robots(|_| {
            WireScript::text(format!(
                "{RULES}Crawl-delay: 1e300\nCrawl-delay: NaN\nCrawl-delay: -1\n"
            ))
        })
        .requests(HOST_SHARE)
        .forbids(FORBIDS),
    HostileKind::new("rbdelay", "Crawl-delay: 10", "at most 5 pages in 40 s", page)
        .robots(|_| WireScript::text(format!("{RULES}Crawl-delay: 10\n")))
        .requests(FEW)
        .forbids(FORBIDS),
    HostileKind::new("rblong", "a rule of 1 MB, then Disallow", "bounded; no panic", page)
        .robots(long_line)
        .requests(HOST_SHARE),
    HostileKind::new("rbrules", "500,000 rules", "bounded", page)
        .robots(many_rules)
        .requests(HOST_SHARE)
        .forbids(FORBIDS),
    HostileKind::new("rbend", "robots.txt without end", "bounded; the rules at its top hold", page)
        .robots(endless)
        .requests(HOST_SHARE)
        .forbids(FORBIDS),
    HostileKind::new(
        "rbaway",
        "robots.txt redirects to a page of the healthy site",
        "only another /robots.txt, or what scope admits, is followed",
        page,
    )
    .robots(|request| WireScript::moved(&format!("{}/private/rules", request.origin_of("good"))))
    .requests(HOST_SHARE)
    .may_fail(UNREACHABLE),
    HostileKind::new("rbctl", "robots.txt with escapes for terminals", "shown harmlessly", page)
        .robots(|_| {
            WireScript::text(format!(
                "{RULES}Disallow: /\u{1b}[2J\u{7}\nSitemap: \u{1b}]0;x\u{7}\n"
            ))
        })
        .requests(HOST_SHARE)
        .forbids(FORBIDS)
        .fetches(&["/", "/1"]),
    HostileKind::new(
        "rbcut",
        "announces 10,000 bytes and closes after 60",
        "rules hold, or disallow",
        page,
    )
    .robots(cut)
    .requests(HOST_SHARE)
    .forbids(FORBIDS)
    .may_fail(UNREACHABLE),
];

const RULES: &str = "User-agent: *\nDisallow: /private/\nDisallow: /x\n";

/// Five pages, a forbidden one, and one below /b/.
fn page(request: &HostileRequest) -> WireScript {
    let links = ["/1", "/2", "/3", "/4", "/x/forbidden", "/private/no", "/b/5"];
    WireScript::page(&format!("page {} of {}", request.target, request.host), links)
}

fn server_error(_: &HostileRequest) -> WireScript {
    WireScript::answer("500 Internal Server Error", &[], "")
}

fn unavailable(_: &HostileRequest) -> WireScript {
    WireScript::answer("503 Service Unavailable", &["Retry-After: 3"], "").not_within(REST)
}

fn forbidden(_: &HostileRequest) -> WireScript {
    WireScript::answer("403 Forbidden", &[], "Disallow: /\n")
}

fn too_many(request: &HostileRequest) -> WireScript {
    if request.repeated > 0 {
        return WireScript::text(RULES);
    }
    WireScript::answer("429 Too Many Requests", &["Retry-After: 3"], "").not_within(REST)
}

fn never(_: &HostileRequest) -> WireScript {
    WireScript::silence()
}

fn closed(_: &HostileRequest) -> WireScript {
    WireScript::default().close()
}

fn slowly(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/plain", "Content-Length: 5000"])
        .repeat(&b"#"[..], Duration::from_secs(1))
}

static RULES_AND_ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| zeros_after(RULES.as_bytes()));

pub(super) fn prepare() {
    LazyLock::force(&RULES_AND_ZEROS);
}

fn bomb(_: &HostileRequest) -> WireScript {
    let headers = ["Content-Type: text/plain", "Content-Encoding: gzip"];
    WireScript::answer("200 OK", &headers, &*RULES_AND_ZEROS)
}

fn many_sitemaps(request: &HostileRequest) -> WireScript {
    let own = request.origin();
    let named = (0..100_000).map(|n| format!("Sitemap: {own}/sitemap-{n}.xml\n"));
    WireScript::text(RULES.to_owned() + &named.collect::<String>())
}

fn gzipped(_: &HostileRequest) -> WireScript {
    let headers = ["Content-Type: text/plain", "Content-Encoding: gzip"];
    WireScript::answer("200 OK", &headers, gzip(RULES.as_bytes()))
}

fn moved_to_itself(_: &HostileRequest) -> WireScript {
    WireScript::moved("/robots.txt")
}

fn as_html(_: &HostileRequest) -> WireScript {
    WireScript::page("there is no robots.txt here", ["/1"])
}

fn random(_: &HostileRequest) -> WireScript {
    WireScript::text(Noise::of("robots").bytes(1 << 20))
}

fn utf_16(_: &HostileRequest) -> WireScript {
    let wide =
        format!("\u{feff}{RULES}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    WireScript::text(wide)
}

fn many_groups(_: &HostileRequest) -> WireScript {
    let mut text = String::new();
    for n in 0..10_000 {
        match n {
            4_000 => text += "User-agent: rhumb\nDisallow: /private/\n",
            6_000 => text += "User-agent: Rhumb\nDisallow: /x\n",
            _ => writeln!(text, "User-agent: bot{n}\nDisallow: /").expect("a string takes all"),
        }
    }
    WireScript::text(text)
}

fn stars(_: &HostileRequest) -> WireScript {
    WireScript::text(format!(
        "User-agent: *\nDisallow: /private/\nDisallow: /{}b$\n",
        "*a".repeat(60)
    ))
}

fn wild(request: &HostileRequest) -> WireScript {
    let links = (0..20).map(|n| format!("/{}{n}", "a".repeat(2_000)));
    WireScript::page(&format!("wild {}", request.target.len()), links)
}

fn spellings(request: &HostileRequest) -> WireScript {
    let links = [
        "/%70rivate/a",
        "/x/../private/b",
        "/./private/c",
        "/%2e/private/d",
        "/open/%2e%2e/private/e",
        "/private%2Ff",
        "/open",
    ];
    WireScript::page(&format!("spellings {}", request.target), links)
}

fn changing(request: &HostileRequest) -> WireScript {
    let rules = if request.repeated == 0 {
        "Disallow: /private/"
    } else {
        "Disallow: /b/\nDisallow: /private/"
    };
    let headers = ["Content-Type: text/plain", "Cache-Control: max-age=1"];
    WireScript::answer("200 OK", &headers, format!("User-agent: *\n{rules}\n"))
}

fn long_line(_: &HostileRequest) -> WireScript {
    WireScript::text(format!(
        "User-agent: *\nDisallow: /private/\nDisallow: /{}\n",
        "q".repeat(1 << 20)
    ))
}

fn many_rules(_: &HostileRequest) -> WireScript {
    let mut text = RULES.to_owned();
    for n in 0..500_000 {
        writeln!(text, "Allow: /y{n}").expect("a string takes all");
    }
    WireScript::text(text)
}

fn endless(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/plain"])
        .send(RULES.as_bytes())
        .repeat(b"# and so on\n".repeat(500), Duration::ZERO)
}

fn cut(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/plain", "Content-Length: 10000"])
        .send(RULES.as_bytes())
        .close()
}

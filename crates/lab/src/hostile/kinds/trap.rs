//! Sites without end, copies, junk for others, sitemaps without bottom.

use std::sync::LazyLock;

use crate::hostile::kind::{FEW, HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::kinds::encoding::{gzip, zeros_after};
use crate::hostile::script::{Noise, WireScript, document};

const SHARE_GOOD: &str = "at most its share of requests, and the healthy site loses nothing";

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("calendar", "next and previous month for ever", SHARE_GOOD, calendar)
        .requests(HOST_SHARE),
    HostileKind::new(
        "sessions",
        "5 pages; each visit mints session ids in the paths",
        "limit per host; copies found as exact duplicates",
        sessions,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "sessq",
        "5 pages; PHPSESSID, jsessionid, sid, utm in queries",
        "session parameters stripped, or the limit per host",
        sessions_in_queries,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "deeper",
        "relative link a/ on every page",
        "stopped by depth, repeated segments or the limit",
        deeper,
    )
    .requests(HOST_SHARE),
    HostileKind::new("grow", "each link doubles the URL", "stopped by the length of URLs", grow)
        .requests(HOST_SHARE),
    HostileKind::new("permute", "8 facets in every order of parameters", SHARE_GOOD, permute)
        .requests(HOST_SHARE),
    HostileKind::new(
        "mirror",
        "copy of the healthy site with rel=canonical to itself",
        "duplicates are marked here, never dropped at the healthy site",
        mirror,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "hijack",
        "canonical, og:url and Link headers that claim the healthy pages",
        "a foreign canonical decides nothing",
        hijack,
    )
    .requests(HOST_SHARE)
    .fetches(&["/", "/h/1"]),
    HostileKind::new("frag", "500 links that differ in their fragment", "one fetch", frag)
        .requests(20)
        .fetches(&["/page"]),
    HostileKind::new(
        "case",
        "//, /./, /../, case and trailing-slash variants of one page",
        "normalised where that is safe; limit per host",
        case,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "login",
        "every page redirects to /login?next=<whole URL>",
        "limit on redirects and on the length of URLs",
        login,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "linkspam",
        "1,000 links to junk paths of the healthy site, half of them in plain words",
        "junk does not use up the healthy site's turn",
        linkspam,
    ),
    HostileKind::new(
        "smaploop",
        "sitemap index that lists itself and 50 more of its kind",
        "bounded depth and count of sitemaps",
        small_site,
    )
    .sitemap(sitemap_loop)
    .requests(HOST_SHARE)
    .fetches(&["/"]),
    HostileKind::new(
        "smapbomb",
        "sitemap of 1 GB in gzip, and one with entities in entities",
        "bounded bytes after decoding; no entity is expanded",
        small_site,
    )
    .robots(robots_with_sitemap_bombs)
    .sitemap(sitemap_bomb)
    .requests(HOST_SHARE)
    .fetches(&["/"]),
    HostileKind::new("soft404", "200 and new links at every path", SHARE_GOOD, soft_404)
        .requests(HOST_SHARE),
    HostileKind::new("qnest", "?next= that holds the URL of the page", SHARE_GOOD, nested_query)
        .requests(HOST_SHARE),
    HostileKind::new("empty", "?page=n for ever, all alike", SHARE_GOOD, empty_pages)
        .requests(HOST_SHARE),
    HostileKind::new("wiki", "histories and differences of 3 articles", SHARE_GOOD, wiki)
        .requests(HOST_SHARE)
        .fetches(&["/wiki/a0", "/wiki/a1", "/wiki/a2"]),
    HostileKind::new(
        "autoindex",
        "a directory in every order of its columns",
        SHARE_GOOD,
        autoindex,
    )
    .requests(HOST_SHARE)
    .fetches(&["/", "/file-1.html", "/file-5.html"]),
    HostileKind::new(
        "wild",
        "every page names 30 new hosts below its own",
        "a site that invents names gets the share of one site",
        wild,
    )
    .requests(HOST_SHARE)
    .names(128)
    .lookups(400),
    HostileKind::new("farm", "40 names that link to each other", SHARE_GOOD, farm)
        .requests(HOST_SHARE)
        .names(64)
        .lookups(200),
    HostileKind::new("escapes", "one page under many percent escapes", SHARE_GOOD, escapes)
        .requests(FEW),
];

fn calendar(request: &HostileRequest) -> WireScript {
    let month = request.number();
    let links = [month + 1, month + 2, month.saturating_sub(1)];
    WireScript::page(&format!("month {month}"), links.map(|n| format!("/month/{n}")))
}

fn sessions(request: &HostileRequest) -> WireScript {
    let page = request.number() % 5;
    let links = (0..5).map(|n| format!("/s/{:016x}/{n}", request.before * 7_919 + 1));
    // The text is that of the page; its links differ each time.
    let links: String = links.map(|link| format!("<a href=\"{link}\">on</a>\n")).collect();
    let none: [&str; 0] = [];
    WireScript::html(format!("{}{links}", document(&format!("session page {page}"), none)))
}

fn sessions_in_queries(request: &HostileRequest) -> WireScript {
    let page = request.number() % 5;
    let minted = request.before * 104_729 + 3;
    let links = (0..5u64).map(|n| {
        let key =
            ["PHPSESSID", "jsessionid", "sid", "utm_source", "sessionid"][(n + page) as usize % 5];
        format!("/q/{n}?{key}={minted:016x}")
    });
    WireScript::page(&format!("query session page {page}"), links)
}

fn deeper(request: &HostileRequest) -> WireScript {
    WireScript::page(&format!("depth {}", request.path().len()), ["a/"])
}

fn grow(request: &HostileRequest) -> WireScript {
    let longer = format!("/{}", "x".repeat(request.target.len() * 2));
    WireScript::page(&format!("length {}", request.target.len()), [longer])
}

fn permute(request: &HostileRequest) -> WireScript {
    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    let chosen: Vec<&str> = query.split('&').filter(|facet| !facet.is_empty()).collect();
    let facets =
        ["color=red", "size=9", "brand=a", "sort=up", "view=grid", "stock=1", "new=1", "sale=1"];
    let links = facets.iter().filter(|facet| !chosen.contains(facet)).map(|facet| {
        let query: Vec<&str> = chosen.iter().copied().chain([*facet]).collect();
        format!("/shop?{}", query.join("&"))
    });
    let mut sorted = chosen.clone();
    sorted.sort_unstable();
    WireScript::page(&format!("shop {}", sorted.join(" ")), links)
}

fn mirror(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let children = (page * 5 + 1..=page * 5 + 5).filter(|child| *child < 200);
    let copy = document(&format!("healthy page {page}"), children.map(|n| format!("/p/{n}")));
    let canonical = format!("<link rel=canonical href=\"{}{}\">", request.origin(), request.path());
    WireScript::html(format!("{canonical}\n{copy}"))
}

fn hijack(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let claimed = format!("{}/p/{page}", request.origin_of("good"));
    let head = format!(
        "<link rel=canonical href=\"{claimed}\"><meta property=\"og:url\" content=\"{claimed}\">"
    );
    let next = format!("/h/{}", page + 1);
    let body = format!("{head}\n{}", document(&format!("hijack {page}"), [&next, &claimed]));
    let link = format!("Link: <{claimed}>; rel=\"canonical\"");
    WireScript::answer("200 OK", &["Content-Type: text/html", &link], body)
}

fn frag(request: &HostileRequest) -> WireScript {
    match request.path() {
        "/" => WireScript::page("fragments", (0..500).map(|n| format!("/page#part-{n}"))),
        _ => WireScript::page("one page", ["#top"]),
    }
}

fn case(request: &HostileRequest) -> WireScript {
    let links = [
        "/Page",
        "/page",
        "/PAGE",
        "/page/",
        "//page",
        "/./page",
        "/x/../page",
        "/page//",
        "/pAGE/",
        "/page/.",
        "/page/..",
        "/%70age",
        "/page?",
        "/page/;",
        "/page///x",
    ];
    // A path of two slashes names a host, unless it is made absolute.
    let links = links.map(|link| format!("{}{link}", request.origin()));
    WireScript::page("one page in many spellings", links)
}

fn login(request: &HostileRequest) -> WireScript {
    let whole = format!("{}{}", request.origin(), request.target);
    let escaped = whole.replace('%', "%25").replace(':', "%3A").replace('/', "%2F");
    let escaped = escaped.replace('?', "%3F").replace('=', "%3D");
    WireScript::moved(&format!("/login?next={escaped}"))
}

fn linkspam(request: &HostileRequest) -> WireScript {
    let healthy = request.origin_of("good");
    let mut noise = Noise::of("spam");
    let mut word = || -> String {
        noise.next().to_le_bytes().iter().map(|byte| char::from(b'a' + byte % 26)).collect()
    };
    let links = (0..1_000).map(|n| match n % 2 {
        0 => format!("{healthy}/junk/{n}"),
        _ => format!("{healthy}/{}", word()),
    });
    WireScript::page("spam", links.collect::<Vec<_>>())
}

fn small_site(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let next = (page < 4).then(|| format!("/page/{}", page + 1));
    WireScript::page(&format!("small page {page} of {}", request.host), next)
}

fn sitemap_loop(request: &HostileRequest) -> WireScript {
    let origin = request.origin();
    let number = request.before;
    let listed: String = (0..50)
        .map(|n| format!("<sitemap><loc>{origin}/sitemap-{number}-{n}.xml</loc></sitemap>"))
        .collect();
    xml(&format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <sitemap><loc>{origin}{}</loc></sitemap>{listed}</sitemapindex>",
        request.target
    ))
}

fn xml(body: &str) -> WireScript {
    let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{body}");
    WireScript::answer("200 OK", &["Content-Type: application/xml"], body)
}

fn robots_with_sitemap_bombs(request: &HostileRequest) -> WireScript {
    let origin = request.origin();
    WireScript::text(format!(
        "User-agent: *\nDisallow: /private/\nSitemap: {origin}/sitemap.xml.gz\n\
         Sitemap: {origin}/sitemap-laughs.xml\n"
    ))
}

static SITEMAP_OF_ZEROS: LazyLock<Vec<u8>> =
    LazyLock::new(|| zeros_after(b"<?xml version=\"1.0\"?><urlset><url><loc>http://"));

pub(super) fn prepare() {
    LazyLock::force(&SITEMAP_OF_ZEROS);
}

fn sitemap_bomb(request: &HostileRequest) -> WireScript {
    if request.path().ends_with(".gz") {
        return WireScript::answer(
            "200 OK",
            &["Content-Type: application/gzip"],
            &*SITEMAP_OF_ZEROS,
        );
    }
    let entities: String = (1..30)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let body = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY l0 \"ha\">{entities}]>\
         <urlset><url><loc>{}/&l29;</loc></url></urlset>",
        request.origin()
    );
    WireScript::answer(
        "200 OK",
        &["Content-Type: application/xml", "Content-Encoding: gzip"],
        gzip(body.as_bytes()),
    )
}

fn soft_404(request: &HostileRequest) -> WireScript {
    let links = (0..10).map(|n| format!("/gone/{}/{n}", request.before));
    let links: String = links.map(|link| format!("<a href=\"{link}\">try this</a> ")).collect();
    WireScript::html(format!("<title>Oops</title><p>This page could not be found.</p>{links}"))
}

fn nested_query(request: &HostileRequest) -> WireScript {
    let escaped = request.target.replace('%', "%25").replace('?', "%3F").replace('=', "%3D");
    let links = ["signup", "language"].map(|word| format!("/{word}?next={escaped}"));
    WireScript::page(&format!("please sign up at {}", request.path()), links)
}

fn empty_pages(request: &HostileRequest) -> WireScript {
    let page: u64 = request.target.rsplit('=').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let links = [page + 1, page + 10].map(|n| format!("<a href=\"/list?page={n}\">more</a>"));
    WireScript::html(format!("<title>List</title><p>No entries.</p>{}", links.concat()))
}

fn wiki(request: &HostileRequest) -> WireScript {
    let articles = (0..3).map(|n| format!("/wiki/a{n}"));
    let (path, number) = (request.path().to_owned(), request.before);
    let own = ["history", "edit", "info", "raw", "purge"];
    let own = own.map(|action| format!("/index.php?title={path}&action={action}"));
    let old = (0..20).map(|n| format!("/index.php?title={path}&diff={}&oldid={n}", number + n));
    let title = format!("article {} at {}", request.target, request.host);
    WireScript::page(&title, articles.chain(own).chain(old))
}

fn autoindex(request: &HostileRequest) -> WireScript {
    if request.path().ends_with(".html") {
        return WireScript::page(&format!("file {}", request.path()), ["/"]);
    }
    let orders =
        ["N", "M", "S", "D"].iter().flat_map(|c| ["A", "D"].map(|o| format!("?C={c};O={o}")));
    let files = (1..6).map(|n| format!("/file-{n}.html"));
    let directories = (1..4).map(|n| format!("{}sub{n}/", request.path()));
    let directories = directories.filter(|path| path.matches('/').count() < 4);
    WireScript::page(
        &format!("Index of {}", request.path()),
        orders.chain(files).chain(directories),
    )
}

fn wild(request: &HostileRequest) -> WireScript {
    let zone = request.origin_of("wild").split_off("http://".len());
    let links = (0..30).map(|n| format!("http://n{}-{n}.{zone}/", request.before));
    WireScript::page(&format!("host {}", request.host), links)
}

fn farm(request: &HostileRequest) -> WireScript {
    let zone = request.origin_of("farm").split_off("http://".len());
    let page = request.number();
    let links = (0..40).map(|n| format!("http://shop{n}.{zone}/offer/{}", (page + n) % 30));
    WireScript::page(&format!("offer {page} of {}", request.host), links)
}

fn escapes(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return WireScript::page("the very same page", ["/"]);
    }
    let letters = "page".char_indices();
    let links = letters.flat_map(|(at, letter)| {
        let (before, after) = ("page"[..at].to_owned(), "page"[at + 1..].to_owned());
        [
            format!("/{before}%{:02x}{after}", letter as u32),
            format!("/{before}%{:02X}{after}", letter as u32),
        ]
    });
    let plain = ["/page", "/./page", "/page#x"].map(str::to_owned);
    WireScript::page("escapes", links.chain(plain))
}

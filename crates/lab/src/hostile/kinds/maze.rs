//! Mazes: paths of words, queries that grow, names that lead to names, and work for others.

use std::time::Duration;

use crate::hostile::kind::{HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::script::{Noise, WireScript};

const SHARE_GOOD: &str = "at most its share of requests, and the healthy site loses nothing";
const SLOWLY: &[&str] = &["slow", "timeout", "closed"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new(
        "words",
        "relative links that make ever longer paths of words, with the path in the text",
        "few requests once nothing new comes; the limit on segments",
        words,
    )
    .requests(HOST_SHARE),
    HostileKind::new("babble", "new words for ever, at paths of new words", SHARE_GOOD, babble)
        .requests(HOST_SHARE),
    HostileKind::new("rgrow", "redirects to itself, each time with a longer query", "few hops", {
        |request| {
            let mark = if request.target.contains('?') { '&' } else { '?' };
            WireScript::moved(&format!("{}{mark}x={}", request.target, request.before))
        }
    }),
    HostileKind::new("rnames", "redirects to a new name of itself, for ever", "few hops", {
        |request| {
            let zone = request.origin_of("rnames").split_off("http://".len());
            WireScript::moved(&format!("http://n{}.{zone}/", request.before))
        }
    })
    .names(64)
    .lookups(200),
    HostileKind::new(
        "strangers",
        "robots.txt names 1,000 sitemaps of the healthy site, and an index 1,000 more",
        "ten requests at the healthy site, none of them before its pages' turn is over",
        small,
    )
    .robots(invented_sitemaps)
    .sitemap(invented_index)
    .fetches(&["/"]),
    HostileKind::new("push", "multipart/x-mixed-replace for ever", "total limits", |_| {
        WireScript::head("200 OK", &["Content-Type: multipart/x-mixed-replace; boundary=x"]).repeat(
            &b"--x\r\nContent-Type: text/html\r\n\r\n<p>again <a href=/z>z</a>\r\n"[..],
            Duration::from_millis(50),
        )
    })
    .may_fail(SLOWLY),
    HostileKind::new("ticks", "text/event-stream, an event a second for ever", "limits", |_| {
        WireScript::head("200 OK", &["Content-Type: text/event-stream"])
            .repeat(b"data: tick ".repeat(100), Duration::from_secs(1))
    })
    .may_fail(SLOWLY),
    HostileKind::new(
        "forms",
        "frames, other languages and forms of five fields with GET, all alike",
        "bounded; forms are not filled in",
        forms,
    )
    .requests(HOST_SHARE)
    .fetches(&["/", "/frame/0"])
    .forbids(&["/search"]),
    HostileKind::new(
        "slower",
        "each answer half a second later than the one before",
        "limits",
        later,
    )
    .requests(HOST_SHARE)
    .fetches(&["/"])
    .may_fail(SLOWLY),
    HostileKind::new("srcset", "an image in 200,000 sizes", "bounded; links are followed", sizes)
        .fetches(&["/end"])
        .requests(HOST_SHARE),
];

fn words(request: &HostileRequest) -> WireScript {
    let links = ["about", "team", "contact", "products"]
        .map(|word| format!("<a href=\"{word}/\">{word}</a>\n"));
    WireScript::html(format!(
        "<title>Our company</title><p>We make things of all kinds for everyone who wants them. \
         Call us or write to us whenever you like, and come by if you are near.</p>\
         <!-- {} -->{}",
        request.target,
        links.concat()
    ))
}

fn babble(request: &HostileRequest) -> WireScript {
    let mut noise = Noise::of(&request.target);
    let mut word = || -> String {
        let letters = noise.next().to_le_bytes();
        letters.iter().map(|byte| char::from(b'a' + byte % 26)).collect()
    };
    let links: Vec<String> = (0..8).map(|_| format!("/{}/{}", word(), word())).collect();
    WireScript::page(&format!("babble {}", request.target), links)
}

fn forms(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return WireScript::html("<title>Our company</title><p>The same in every language.</p>");
    }
    let field = |n: u32| format!("<select name=f{n}><option>1<option>2<option>3</select>");
    let fields: String = (0..5).map(field).collect();
    let part = |n: u32| {
        format!(
            "<iframe src=/frame/{n}></iframe><link rel=alternate hreflang=x-{n} href=/l/{n}>\
             <form action=/search method=get>{fields}<input type=submit></form>\n"
        )
    };
    WireScript::html((0..400).map(part).collect::<String>())
}

fn later(request: &HostileRequest) -> WireScript {
    let pause = Duration::from_millis(500 * request.before);
    let next = format!("/page/{}", request.before + 1);
    let WireScript { steps, .. } = WireScript::page(&request.target, [next]);
    steps.into_iter().fold(WireScript::default().pause(pause), WireScript::then)
}

fn small(request: &HostileRequest) -> WireScript {
    let none: [&str; 0] = [];
    WireScript::page(&format!("page {} of {}", request.target, request.host), none)
}

fn invented_sitemaps(request: &HostileRequest) -> WireScript {
    let (own, healthy) = (request.origin(), request.origin_of("good"));
    let named = (0..1_000).map(|n| format!("Sitemap: {healthy}/sitemap-{n}.xml\n"));
    let named: String = named.collect();
    WireScript::text(format!(
        "User-agent: *\nDisallow: /private/\nSitemap: {own}/sitemap-index.xml\n{named}"
    ))
}

fn invented_index(request: &HostileRequest) -> WireScript {
    let healthy = request.origin_of("good");
    let listed: String = (0..1_000)
        .map(|n| format!("<sitemap><loc>{healthy}/sitemap-i{n}.xml</loc></sitemap>"))
        .collect();
    let body = format!(
        "<?xml version=\"1.0\"?><sitemapindex \
         xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{listed}</sitemapindex>"
    );
    WireScript::answer("200 OK", &["Content-Type: application/xml"], body)
}

fn sizes(request: &HostileRequest) -> WireScript {
    if request.path() != "/" {
        return small(request);
    }
    let sizes: Vec<String> = (1..200_000).map(|n| format!("/i/{n}.png {n}w")).collect();
    let sizes = sizes.join(", ");
    WireScript::html(format!("<p>sizes</p><img srcset=\"{sizes}\"><a href=/end>end</a>"))
}

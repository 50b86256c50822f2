//! The model against itself: names, bytes, reach, change.

use std::collections::BTreeSet;

use super::*;

fn hostile() -> Web {
    Web::new(WebConfig::hostile())
}

/// All places a walk of the whole web meets.
fn met(web: &Web) -> Vec<WebPlace> {
    let all: Vec<Url> = (0..web.config.sites).map(|i| web.url(web.page_place(i, 0))).collect();
    let Reached { documents, denied, redirects, traps, dead } =
        web.reachable(&all, ReachScope::Any);
    [documents, denied, redirects, traps, dead].concat()
}

fn bytes(web: &Web, body: &WebBody) -> Vec<u8> {
    let mut out = Vec::new();
    web.render(body, &mut out);
    out
}

#[test]
fn every_place_has_one_url_and_every_url_one_place() {
    for port in [80, 8080] {
        let web = Web::new(WebConfig { port, ..WebConfig::hostile() });
        let mut urls = BTreeSet::new();
        let everything =
            met(&web).into_iter().chain((0..web.config.sites).flat_map(|i| web.pages(i)));
        for place in everything.collect::<BTreeSet<_>>() {
            let url = web.url(place);
            assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url), "canonical");
            assert_eq!(web.place(&url), Some(place), "{url}");
            assert!(urls.insert(url));
        }
        assert!(urls.len() > 4_000, "{} places", urls.len());
    }
}

#[test]
fn urls_of_another_spelling_or_web_mean_nothing() {
    let web = hostile();
    let url = web.url(web.page_place(3, 7));
    let (host, path) = (url.host(), url.path_and_query());
    for text in [
        format!("https://{host}{path}"),
        format!("http://{host}:81{path}"),
        format!("http://x{host}{path}"),
        format!("http://{host}{path}x"),
        format!("http://{host}/x{path}"),
        "http://www.nowhere-999999.test/".into(),
        "http://test/".into(),
        "http://-1.test/".into(),
    ] {
        let other = Url::parse(&text).unwrap();
        assert_eq!(web.place(&other), None, "{text}");
        assert_eq!(web.truth(&other), UrlTruth::Foreign);
        assert_eq!(web.respond(&other, 0, 0).status, 404);
    }
}

#[test]
fn all_rooted_pages_are_reached_unless_robots_forbid() {
    let plain = Web::new(WebConfig::plain(20, 2_000));
    let reached = plain.reachable(&plain.seeds(), ReachScope::Sites);
    assert_eq!(reached.pages(&plain).len(), 2_000);
    assert!(reached.denied.is_empty() && reached.dead.is_empty());

    let web = hostile();
    let reached = web.reachable(&web.seeds(), ReachScope::Sites);
    let pages = reached.pages(&web);
    let denied: BTreeSet<WebPlace> = reached.denied.iter().copied().collect();
    for site in 0..web.config.sites {
        for n in 0..web.sites[site as usize].rooted {
            let open = web.robots_kind(site) != RobotsKind::DeniesAll;
            let found = pages.contains(&(site, n)) || denied.contains(&web.page_place(site, n));
            assert!(found || !open, "page {n} of site {site}");
        }
    }
    assert!(!reached.traps.is_empty() && !reached.denied.is_empty());
    assert!(!reached.redirects.is_empty() && !reached.dead.is_empty());
    let beyond = web.reachable(&web.seeds()[..1], ReachScope::Hosts);
    assert!(beyond.documents.iter().all(|place| place.site == 0 && place.face == Face::Www));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let (one, same) = (hostile(), hostile());
    let other = Web::new(WebConfig { seed: 2, ..WebConfig::hostile() });
    assert_ne!(one.seeds(), other.seeds());
    for place in met(&one) {
        let url = one.url(place);
        let (a, b) = (one.respond(&url, 5_000_000, 3), same.respond(&url, 5_000_000, 3));
        assert_eq!(a, b);
        assert_eq!(bytes(&one, &a.body), bytes(&same, &b.body));
    }
}

#[test]
fn copies_have_the_bytes_of_their_original_and_nothing_else_has() {
    let web = hostile();
    let mut seen = std::collections::BTreeMap::new();
    let mut copies = 0;
    for place in met(&web) {
        let reply = web.respond(&web.url(place), 0, 9);
        if reply.status != 200 || matches!(reply.body, WebBody::Robots(_)) {
            continue;
        }
        let text = bytes(&web, &reply.body);
        let original = *seen.entry(text).or_insert_with(|| web.original(place));
        assert_eq!(web.original(place), original, "{place:?}");
        let first = web.respond(&web.url(original), 0, 9);
        assert_eq!(web.content_hash(&reply.body), web.content_hash(&first.body));
        if let UrlTruth::Duplicate { of } = web.truth_of(place) {
            assert_eq!(of, original);
            copies += 1;
        }
    }
    assert!(copies > 100, "{copies} copies");
}

#[test]
fn changes_come_at_the_rate_of_the_page_and_never_from_the_future() {
    let web = hostile();
    let day_us = 86_400_000_000;
    let (mut expected, mut counted) = (0.0, 0);
    for n in 0..200 {
        let Some(period_us) = web.change_period_us(0, n) else {
            assert_eq!(web.version(0, n, 0), web.version(0, n, 100 * day_us));
            continue;
        };
        expected += 30.0 * day_us as f64 / period_us as f64;
        let mut last = web.version(0, n, 0);
        for minute in 0..30 * 24 * 60 {
            let now_us = minute * 60_000_000;
            let version = web.version(0, n, now_us);
            assert!(version >= last && version <= now_us + AGE_US);
            counted += u32::from(version > last);
            last = version;
        }
    }
    let ratio = f64::from(counted) / expected;
    assert!((0.95..1.05).contains(&ratio), "{counted} changes, {expected} expected");
}

#[test]
fn an_unchanged_page_is_answered_with_304_and_a_changed_one_is_not() {
    let web = hostile();
    let (mut kept, mut changed) = (0, 0);
    for place in web.pages(0).chain(web.pages(1)).chain(web.pages(2)) {
        let url = web.url(place);
        let first = web.respond(&url, 0, 9);
        let (tag, date) = (first.etag.as_deref(), first.last_modified_s);
        let later = web.respond(&url, 20_000_000_000, 9);
        let same = web.content_hash(&first.body) == web.content_hash(&later.body);
        let revisit = later.unless(tag, date);
        let valid = first.status == 200 && (tag.is_some() || date.is_some());
        assert_eq!(revisit.status == 304, same && valid, "{url}");
        kept += u32::from(revisit.status == 304);
        changed += u32::from(!same);
    }
    assert!(kept > 0 && changed > 0, "{kept} kept, {changed} changed");
}

#[test]
fn pages_that_fail_at_first_recover() {
    let web = hostile();
    let mut failed = 0;
    for place in (0..web.config.sites).flat_map(|site| web.pages(site)) {
        let url = web.url(place);
        let reply = web.respond(&url, 0, 0);
        failed += u32::from(reply.status != 200 || reply.fault != Fault::None);
        let reply = web.respond(&url, 0, 2);
        assert_eq!((reply.status, reply.fault), (200, Fault::None), "{url}");
    }
    assert!(failed > 100, "{failed} failed");
}

#[test]
fn sizes_and_popularity_follow_power_laws() {
    let web = Web::new(WebConfig::plain(200, 20_000));
    let total: u32 = web.sites.iter().map(|site| site.pages).sum();
    assert_eq!(total, 20_000);
    assert!(web.sites[0].pages > 50 * web.sites[199].pages);

    let mut in_links = vec![0u32; web.sites[0].pages as usize];
    let mut arrows = Vec::new();
    let mut count = 0;
    for place in (0..200).flat_map(|site| web.pages(site)) {
        web.arrows(place, &mut arrows);
        count += arrows.len();
        for arrow in arrows.iter().filter(|arrow| arrow.to.site == 0) {
            if let What::Page(n) = arrow.to.what {
                in_links[n as usize] += 1;
            }
        }
    }
    let mean = count as f64 / 20_000.0;
    assert!((9.0..17.0).contains(&mean), "{mean} links a page");
    in_links.sort_unstable();
    let (median, top) = (in_links[in_links.len() / 2], in_links[in_links.len() - 1]);
    assert!(top > 100 * median, "median {median}, top {top}");
}

#[test]
fn pages_have_the_configured_size_and_compress_like_text() {
    for config in [WebConfig::bench(), WebConfig::small()] {
        let mean = f64::from(config.page_bytes_mean);
        let web = Web::new(config);
        let (mut plain, mut packed, mut pages) = (0, 0, 0);
        for place in web.pages(0).chain(web.pages(1)) {
            let reply = web.respond(&web.url(place), 0, 9);
            let text = bytes(&web, &reply.body);
            plain += text.len();
            packed += render::gzip(&text).len();
            pages += 1;
        }
        let size = plain as f64 / f64::from(pages);
        assert!((0.85 * mean..1.15 * mean).contains(&size), "{size} bytes for {mean}");
        let ratio = plain as f64 / packed as f64;
        // Small pages have less to repeat.
        assert!((3.0..5.0).contains(&ratio), "compresses {ratio} to one");
    }
}

#[test]
fn names_resolve_as_their_hosts_are() {
    let web = hostile();
    let mut kinds = BTreeSet::new();
    for number in 0..4 {
        let face = Face::Ghost(place::ghost_kind(number));
        let url = web.url(WebPlace { site: number, face, what: What::Page(0) });
        kinds.insert(format!("{:?} {:?}", web.truth(&url), web.respond(&url, 0, 0).fault));
        let found = matches!(web.address(url.host()), DnsAnswer::Found { .. });
        assert_eq!(found, matches!(face, Face::Ghost(Ghost::Shut | Ghost::Mute)));
    }
    assert_eq!(kinds.len(), 4);
    let seed = &web.seeds()[0];
    let DnsAnswer::Found { ip, .. } = web.address(seed.host()) else { panic!("{seed} is there") };
    assert_eq!(ip.octets()[0], 10);
    let naked = seed.host().strip_prefix("www.").unwrap();
    assert_eq!(web.address(naked), web.address(seed.host()));
    assert_eq!(web.address("example.com"), DnsAnswer::NoSuchName);
}

//! The bytes against the model: the readers of `rhumb-page` find in every document what it says.

use std::collections::BTreeSet;

use rhumb_page::html::{self, PageLimits};
use rhumb_page::robots::Robots;
use rhumb_page::url::Url;
use rhumb_page::{feed, sitemap};

use super::*;

#[test]
fn a_rendered_page_has_exactly_the_links_of_the_model() {
    for config in [WebConfig::hostile(), WebConfig { port: 8080, ..WebConfig::small() }] {
        let web = Web::new(config);
        let mut pages = 0;
        for place in documents(&web) {
            let url = web.url(place);
            let reply = web.respond(&url, 77_000_000, 9);
            let WebBody::Html(_) = reply.body else { continue };
            let charset = reply.content_type.split_once("charset=").map(|(_, charset)| charset);
            let page = html::read(&render(&web, &reply), charset, &url, &PageLimits::default());
            let found: Vec<_> =
                page.links.iter().map(|l| (l.url.clone(), kind_of(l.kind), l.nofollow)).collect();
            let expected: Vec<_> =
                web.links(&reply).into_iter().map(|l| (l.url, l.kind, l.nofollow)).collect();
            assert_eq!(found, expected, "{url}");
            let by_header = reply.robots_tag.is_some();
            assert_eq!(page.robots.nofollow || by_header, reply.nofollow, "{url}");
            assert_eq!(page.robots.noindex, reply.noindex, "{url}");
            pages += 1;
        }
        assert!(pages > 300, "{pages} pages read");
    }
}

#[test]
fn sitemaps_and_feeds_list_what_the_model_lists() {
    // One site of several thousand pages, so that there is an index with compressed parts.
    let large = WebConfig { sites: 2, pages: 5_000, ..WebConfig::hostile() };
    let mut read = [0; 3];
    for seed in 0..6 {
        let web = Web::new(WebConfig { seed, ..large.clone() });
        for place in documents(&web) {
            let url = web.url(place);
            let reply = web.respond(&url, 0, 9);
            let bytes = render(&web, &reply);
            let found: Vec<Url> = match reply.body {
                WebBody::Sitemap(_) => {
                    let map = sitemap::read(&bytes, None, &url);
                    read[usize::from(place.what != What::Sitemap)] += 1;
                    map.sitemaps.into_iter().chain(map.pages).map(|entry| entry.url).collect()
                }
                WebBody::Feed(_) => {
                    read[2] += 1;
                    let entries = feed::read(&bytes, None, &url).entries;
                    entries.into_iter().map(|entry| entry.url).collect()
                }
                _ => continue,
            };
            let expected: Vec<Url> = web.links(&reply).into_iter().map(|link| link.url).collect();
            assert_eq!(found, expected, "{url}");
        }
    }
    assert!(read.iter().all(|&count| count > 0), "{read:?}");
}

#[test]
fn robots_files_say_what_the_model_allows() {
    let web = Web::new(WebConfig::hostile());
    let (mut denied, mut delays, mut sitemaps) = (0, 0, 0);
    for site in 0..web.config().sites {
        let robots_url = web.url(WebPlace { site, face: Face::Www, what: What::Robots });
        let mut reply = web.respond(&robots_url, 0, 9);
        if let Some(to) = &reply.location {
            reply = web.respond(to, 0, 9);
        }
        let robots = match reply.status {
            404 => Robots::allow_all(),
            _ => Robots::parse(&render(&web, &reply), "rhumb"),
        };
        for place in web.pages(site).filter(|place| place.face == Face::Www) {
            let url = web.url(place);
            assert_eq!(robots.allows(&url), web.permits(&url), "{url}");
            denied += u32::from(!web.permits(&url));
        }
        delays += u32::from(robots.crawl_delay().is_some());
        sitemaps += robots.sitemaps().len();
    }
    assert!(denied > 100 && delays > 2 && sitemaps > 10, "{denied} {delays} {sitemaps}");
}

/// Every document a walk meets and every door of a trap, and one step behind it.
fn documents(web: &Web) -> BTreeSet<WebPlace> {
    let reached = web.reachable(&web.seeds(), ReachScope::Any);
    let mut places: BTreeSet<WebPlace> =
        reached.documents.into_iter().chain(reached.traps.iter().copied()).collect();
    for door in reached.traps {
        let links = web.links(&web.respond(&web.url(door), 0, 0));
        places.extend(links.iter().filter_map(|link| web.place(&link.url)));
    }
    places
}

fn render(web: &Web, reply: &WebReply) -> Vec<u8> {
    let mut out = Vec::new();
    web.render(&reply.body, &mut out);
    out
}

fn kind_of(kind: html::LinkKind) -> WebLinkKind {
    match kind {
        html::LinkKind::Area => WebLinkKind::Area,
        html::LinkKind::Frame => WebLinkKind::Frame,
        html::LinkKind::Canonical => WebLinkKind::Canonical,
        html::LinkKind::Feed => WebLinkKind::Feed,
        html::LinkKind::Refresh => WebLinkKind::Refresh,
        _ => WebLinkKind::Anchor,
    }
}

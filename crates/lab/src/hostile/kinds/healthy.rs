//! The healthy site: two hundred pages in a tree.

use crate::hostile::HEALTHY;
use crate::hostile::kind::{HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::script::WireScript;

/// Its pages, the front page included.
pub const HEALTHY_PAGES: u64 = 200;
const CHILDREN: u64 = 5;

pub(super) const KINDS: &[HostileKind] = &[HostileKind::new(
    HEALTHY,
    "200 pages in a tree, robots.txt with Disallow: /private/",
    "all 200 fetched and kept, whatever the others do",
    good,
)
.requests(HOST_SHARE)];

fn good(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let is_one = match request.target.as_str() {
        "/" => true,
        target => target == path_of(page),
    };
    if !is_one || page >= HEALTHY_PAGES {
        return WireScript::not_found();
    }
    let children = (page * CHILDREN + 1..=page * CHILDREN + CHILDREN)
        .filter(|child| *child < HEALTHY_PAGES)
        .map(path_of);
    let others = if page == 0 { &request.others[..] } else { &[] };
    let title = format!("healthy page {page}");
    WireScript::page(&title, children.chain(others.iter().cloned()))
}

/// Where a page is.
pub fn path_of(page: u64) -> String {
    if page == 0 { "/".into() } else { format!("/p/{page}") }
}

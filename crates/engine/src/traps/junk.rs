//! Everyday junk: views of pages that say nothing that the pages do not, by what well-known
//! software calls them. Never fetched by default; `docs/lab/traps.md` has the table, and each rule
//! can be lifted by its name.
//!
//! A rule names what the software's own authors keep out of search by default, where that is known.
//! But for archives, none of them matches a URL without a query or a well-known segment, so plain
//! trees of documents have nothing to lose.

use super::repository;
use crate::record::Refusal;
use rhumb_page::media_list::is_archive_name;
use rhumb_page::url::Url;

/// What wikis do with a page besides showing it (MediaWiki, Trac, MoinMoin).
const WIKI_ACTIONS: [&str; 22] = [
    "annotate",
    "credits",
    "delete",
    "diff",
    "edit",
    "formcreate",
    "formedit",
    "history",
    "info",
    "lostpassword",
    "markpatrolled",
    "print",
    "protect",
    "purge",
    "raw",
    "rename",
    "revert",
    "rollback",
    "submit",
    "unwatch",
    "veedit",
    "watch",
];
/// The same of DokuWiki.
const DOKU_ACTIONS: [&str; 18] = [
    "addtobook",
    "admin",
    "backlink",
    "diff",
    "draft",
    "edit",
    "login",
    "logout",
    "media",
    "profile",
    "recent",
    "register",
    "resendpwd",
    "revert",
    "revisions",
    "search",
    "source",
    "subscribe",
];
/// Pages that MediaWiki makes of others: changes, links, the visitor.
const WIKI_SPECIALS: [&str; 18] = [
    "Special:Block",
    "Special:Book",
    "Special:CiteThisPage",
    "Special:Contributions",
    "Special:CreateAccount",
    "Special:Diff",
    "Special:DownloadAsPdf",
    "Special:EmailUser",
    "Special:Export",
    "Special:Log",
    "Special:MovePage",
    "Special:PermanentLink",
    "Special:Preferences",
    "Special:Random",
    "Special:RecentChanges",
    "Special:Upload",
    "Special:UserLogin",
    "Special:WhatLinksHere",
];
/// Parameters by which a page that wants a login remembers where its visitor came from.
const RETURNS: [&str; 15] = [
    "back",
    "came_from",
    "continue",
    "dest",
    "destination",
    "goto",
    "next",
    "redirect",
    "redirect_to",
    "redirect_url",
    "ref",
    "return",
    "return_to",
    "returnto",
    "returnurl",
];
/// Segments of pages for visitors that have a name, or want one.
const LOGINS: [&str; 16] = [
    "account",
    "auth",
    "join",
    "log-in",
    "login",
    "logout",
    "password-reset",
    "password_reset",
    "register",
    "sign-in",
    "sign-up",
    "sign_in",
    "signin",
    "signup",
    "user",
    "wp-login.php",
];
/// Files that are feeds by their names.
const FEED_FILES: [&str; 7] =
    ["atom.xml", "feed", "feed.json", "feed.php", "feed.xml", "index.rdf", "rss.xml"];
const FEED_TYPES: [&str; 5] = ["atom", "rdf", "rss", "rss2", "opml"];

/// The rule by which a URL is junk, or none. `hears_feeds`: feeds are wanted, for what they
/// announce.
pub fn rule(url: &Url, hears_feeds: bool) -> Option<Refusal> {
    let path = url.path();
    if let Some(why) = of_path(path, hears_feeds) {
        return Some(why);
    }
    if repository::is_of_commit(path, url.query()) {
        return Some(Refusal::Snapshot);
    }
    let query = url.query()?;
    if is_list_order(query) {
        return Some(Refusal::ListOrder);
    }
    let is_login = || segments(path).any(|segment| LOGINS.contains(&lower(segment).as_str()));
    query.split(['&', ';']).find_map(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        of_parameter((name, value), path, hears_feeds)
            .or_else(|| (is_return(name, value) && is_login()).then_some(Refusal::Login))
    })
}

fn segments(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn of_path(path: &str, hears_feeds: bool) -> Option<Refusal> {
    let last = segments(path).next_back()?;
    if path.contains("/wp-json") || path.contains("/oembed") || last == "xmlrpc.php" {
        return Some(Refusal::Api);
    }
    if !hears_feeds && is_feed(path, last) {
        return Some(Refusal::Feed);
    }
    if path.contains("/snapshot/") && is_packed(last) {
        return Some(Refusal::Snapshot);
    }
    if path.contains("Special:") && is_special(path) {
        return Some(Refusal::WikiView);
    }
    if is_archive_name(path) {
        return Some(Refusal::Archive);
    }
    (last == "wp-login.php" || last == "wp-signup.php").then_some(Refusal::Login)
}

fn is_feed(path: &str, last: &str) -> bool {
    FEED_FILES.contains(&last)
        || path.contains("/feed/")
        || last.ends_with(".rss")
        || last.ends_with(".atom")
}

fn of_parameter((name, value): (&str, &str), path: &str, hears_feeds: bool) -> Option<Refusal> {
    let is = |names: &[&str]| names.contains(&value);
    match name {
        "action" if is(&WIKI_ACTIONS) => Some(Refusal::WikiView),
        "do" if is(&DOKU_ACTIONS) || value.starts_with("export_") => Some(Refusal::WikiView),
        "oldid" | "diff" | "redlink" | "veaction" | "printable" | "curid" => {
            Some(Refusal::WikiView)
        }
        "rev" | "rev2[]" if path.ends_with("doku.php") => Some(Refusal::WikiView),
        "version" if path.contains("/wiki/") => Some(Refusal::WikiView),
        "title" if is_special(value) => Some(Refusal::WikiView),
        "returnto" | "returntoquery" => Some(Refusal::Login),
        "rest_route" => Some(Refusal::Api),
        "feed" | "format" | "feedformat" | "a" if !hears_feeds && is(&FEED_TYPES) => {
            Some(Refusal::Feed)
        }
        "a" if value == "snapshot" => Some(Refusal::Snapshot),
        "format" if matches!(value, "zip" | "tar" | "tgz") => Some(Refusal::Snapshot),
        "replytocom" | "reply_to" | "quote_id" => Some(Refusal::Reply),
        "mode" if matches!(value, "reply" | "quote" | "posting") => Some(Refusal::Reply),
        _ => None,
    }
}

/// `?C=N;O=D`: one list of files in another order (Apache, nginx).
fn is_list_order(query: &str) -> bool {
    let mut parts = query.split(['&', ';']);
    let column = parts.next().and_then(|part| part.strip_prefix("C="));
    let order = parts.next().and_then(|part| part.strip_prefix("O="));
    let is_one_of = |text: Option<&str>, letters: &str| {
        text.is_some_and(|text| text.len() == 1 && letters.contains(text))
    };
    is_one_of(column, "NMSD") && is_one_of(order, "AD") && parts.next().is_none()
}

/// It leads back to a place: `next=/topic/5`, `redirect_to=https://…`.
fn is_return(name: &str, value: &str) -> bool {
    let is_place = value.contains('/') || value.contains("%2F") || value.contains("%2f");
    is_place && RETURNS.contains(&lower(name).as_str())
}

fn is_special(text: &str) -> bool {
    let special = segments(text).find(|part| part.starts_with("Special:"));
    special.is_some_and(|special| WIKI_SPECIALS.iter().any(|name| special.starts_with(name)))
}

fn is_packed(name: &str) -> bool {
    [".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".zip", ".tar"]
        .iter()
        .any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junk_is_told_by_name_and_pages_are_left_alone() {
        let rule = |text: &str| rule(&Url::parse(&format!("http://a.test{text}")).unwrap(), false);
        let junk = [
            ("/index.php?title=Lee&action=history", Refusal::WikiView),
            ("/index.php?title=Lee&action=edit&section=3", Refusal::WikiView),
            ("/index.php?title=Lee&oldid=7", Refusal::WikiView),
            ("/index.php?title=Special:UserLogin&returnto=Lee", Refusal::WikiView),
            ("/wiki/Special:WhatLinksHere/Lee", Refusal::WikiView),
            ("/doku.php?id=lee&do=export_xhtml", Refusal::WikiView),
            ("/doku.php?id=lee&rev=1700000000", Refusal::WikiView),
            ("/wiki/Start?action=diff&version=3", Refusal::WikiView),
            ("/2026/05/lee/feed/", Refusal::Feed),
            ("/news/atom.xml", Refusal::Feed),
            ("/news/latest.rss", Refusal::Feed),
            ("/wp-json/oembed/1.0/embed?url=x", Refusal::Api),
            ("/files/?C=N;O=D", Refusal::ListOrder),
            ("/files/?C=M&O=A", Refusal::ListOrder),
            ("/?p=made.git;a=snapshot;h=HEAD;sf=tgz", Refusal::Snapshot),
            ("/made/snapshot/made-1.0.tar.gz", Refusal::Snapshot),
            ("/user/login/?next=/topic/5/", Refusal::Login),
            ("/wp-login.php?redirect_to=http%3A%2F%2Fa.test%2F", Refusal::Login),
            ("/2026/05/lee/?replytocom=7", Refusal::Reply),
            ("/download/made-1.0.tar.gz", Refusal::Archive),
            ("/pub/install.ISO?mirror=2", Refusal::Archive),
        ];
        for (path, why) in junk {
            assert_eq!(rule(path), Some(why), "{path}");
        }
        let pages = [
            "/",
            "/wiki/Lee",
            "/index.php?title=Lee",
            "/wiki/Special:AllPages",
            "/doku.php?id=lee",
            "/doku.php?id=start&idx=sailing",
            "/topic/5/lee/?page=2",
            "/docs/login/",
            "/list?next=20",
            "/feedback",
            "/about-rss",
            "/atom",
            "/snapshot/2026/",
            "/user/guide/?ref=manual",
            "/timeline?from=2026-01-01",
            "/rfc/rfc9110.txt.gz",
            "/books/tides.epub",
            "/wiki/File:Charts.zip",
        ];
        for path in pages {
            assert_eq!(rule(path), None, "{path}");
        }
        let feed = Url::parse("http://a.test/lee/feed/").unwrap();
        assert_eq!(super::rule(&feed, true), None, "they announce what has changed");
    }
}

//! What robots.txt promises, on small files of our own; the public cases are in `tests/`.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn allows(robots: &str, agent: &str, path: &str) -> bool {
    let url = Url::parse(&format!("https://example.com{path}")).expect(path);
    let robots = Robots::parse(robots.as_bytes(), agent);
    assert_eq!(robots.allows(&url), robots.verdict(&url).allowed);
    robots.allows(&url)
}

#[test]
fn our_group_counts_and_else_the_one_for_everybody() {
    let file = "User-agent: *\nDisallow: /all\n\nuser-agent: RHUMB/2.0\nuser-agent: other\n\
        disallow: /ours\ncrawl-delay: 1.5\nsitemap: https://example.com/s.xml\nuser-agent: third\nDisallow: /\n\
        User-Agent: rhumb\nDisallow: /more";
    assert!(allows(file, "rhumb", "/all"));
    assert!(!allows(file, "rhumb/1.0", "/ours"));
    assert!(!allows(file, "rhumb", "/more"));
    assert!(!allows(file, "nobody", "/all"));
    assert!(allows(file, "nobody", "/ours"));
    let robots = Robots::parse(file.as_bytes(), "rhumb");
    assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(1500)));
    assert_eq!(robots.sitemaps(), ["https://example.com/s.xml"]);
    assert_eq!(Robots::parse(file.as_bytes(), "nobody").crawl_delay(), None);
}

#[test]
fn the_longest_rule_decides_and_allow_wins_a_draw() {
    let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/*.pdf$\nDisallow: /c\nAllow: /c\n\
        Disallow: /d/e*\nAllow: /d/e/\nDisallow: *?session=";
    for (path, allowed) in [
        ("/", true),
        ("/a", false),
        ("/abc", false),
        ("/a/b", true),
        ("/a/b/x.pdf", false),
        ("/a/b/x.pdf?y", true),
        ("/c", true),
        ("/d/e", false),
        ("/d/e/f", true),
        ("/x?session=1", false),
    ] {
        assert_eq!(allows(file, "rhumb", path), allowed, "{path}");
    }
    let url = Url::parse("https://example.com/a/b/x.pdf").unwrap();
    let verdict = Robots::parse(file.as_bytes(), "rhumb").verdict(&url);
    assert_eq!(verdict.line, Some((4, "Disallow: /a/b/*.pdf$".to_owned())));
}

#[test]
fn spellings_of_one_path_are_one_path() {
    let file = "User-agent: *\nDisallow: /%7ejim/\nDisallow: /caf\u{e9}\nDisallow: /a<b\nDisallow: /s%2fx\n\
        Disallow: /star%2A\nDisallow: /dollar%24\nDisallow: /it's\nDisallow: /p$q\nDisallow: /q?r='";
    for (path, allowed) in [
        ("/~jim/x", false),
        ("/%7Ejim/x", false),
        ("/caf%C3%A9", false),
        ("/a%3Cb", false),
        ("/s%2Fx", false),
        ("/s/x", true),
        ("/star*", false),
        ("/stars", true),
        ("/dollar$", false),
        ("/dollar", true),
        ("/it's", false),
        ("/it%27s", false),
        ("/p$q", false),
        ("/q?r='", false),
        ("/robots.txt", true),
    ] {
        assert_eq!(allows(file, "rhumb", path), allowed, "{path}");
    }
    assert!(!allows("User-agent: *\nDisallow: /", "rhumb", "/robots.txt2"));
    assert!(allows("User-agent: *\nDisallow: /", "rhumb", "/robots.txt"));
}

#[test]
fn a_rule_with_an_escaped_unreserved_character_is_obeyed() {
    let file = "User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /%62%61%7a$\nDisallow: /s%2fx\n\
        Disallow: /*%2Dx\nDisallow: /caf\u{e9}\nAllow: /%7Ejoe/%69ndex.html";
    let robots = Robots::parse_as(file.as_bytes(), "rhumb", RobotsReading::Google);
    for (path, allowed) in [
        ("/~joe/a", false),
        ("/%7Ejoe/a", false),
        ("/%7ejoe/a", false),
        ("/baz", false),
        ("/b%61z", false),
        ("/bazz", true),
        ("/s%2Fx", false),
        ("/s/x", true),
        ("/any-x", false),
        ("/any%2dx", false),
        ("/caf%C3%A9", false),
        ("/~joe/index.html", true),
        ("/~joe/", true),
        ("/%257Ejoe/", true),
    ] {
        let verdict = robots.verdict_of_text(path);
        assert_eq!(verdict.allowed, allowed, "{path}: {:?}", verdict.line);
        let url = Url::parse(&format!("https://example.com{path}")).expect(path);
        assert_eq!(robots.allows(&url), allowed, "{url}");
    }
}

#[test]
fn a_rule_is_obeyed_whichever_of_its_characters_urls_escape() {
    let others = (b' '..=b'~').map(char::from).filter(|c| !"#%/?\\*$".contains(*c));
    for c in others {
        for rule in [format!("/a{c}b"), format!("/q?a{c}b"), format!("/q{c}?a{c}b")] {
            let file = format!("User-agent: *\nDisallow: {rule}");
            let url = Url::parse(&format!("https://example.com{rule}/x")).expect("a URL");
            for reading in [RobotsReading::Rfc, RobotsReading::Google] {
                let robots = Robots::parse_as(file.as_bytes(), "rhumb", reading);
                assert!(!robots.allows(&url), "{reading:?}: {rule} is not obeyed for {url}");
            }
        }
    }
}

#[test]
fn odd_lines_are_read_as_they_are_meant() {
    let file = "\u{feff}user agent: rhumb # us\r\n\tDissallow : /a\r# comment\rdisallow /b\n\0\nDisallow: /c # d\nDisallow:\n";
    for (path, allowed) in [("/a", false), ("/b", false), ("/c", false), ("/d", true), ("/", true)]
    {
        assert_eq!(allows(file, "rhumb", path), allowed, "{path}");
    }
    assert!(
        !allows("User-agent: bot2\nDisallow: /", "bot2", "/"),
        "a digit in the token is no excuse"
    );
}

#[test]
fn a_body_beyond_the_limit_is_cut_after_a_whole_line() {
    let mut body = b"User-agent: *\nDisallow: /first\n".to_vec();
    body.resize(ROBOTS_BYTES_MAX - 20, b'\n');
    body.extend_from_slice(b"\nDisallow: /second/and-not-less\nDisallow: /third\n");
    let robots = Robots::parse(&body, "rhumb");
    let allows = |path: &str| robots.verdict_of_text(path).allowed;
    assert!(!allows("/first") && allows("/second/other") && allows("/third"));
    let line = [b"User-agent: *\nDisallow: /x".to_vec(), vec![b'y'; 1 << 20]].concat();
    assert!(Robots::parse(&line, "rhumb").heap_bytes() < 2 * LINE_BYTES_MAX);
}

#[test]
fn too_many_wildcards_forbid_more_and_never_less() {
    let mut file = "User-agent: *\nAllow: /dir/a\nAllow: /\n".to_owned();
    for number in 0..WILDCARD_RULES_MAX {
        file += &format!("Disallow: /x*{number}\n");
    }
    file += "Disallow: /dir/*/private\nAllow: /dir/*/public\n";
    let robots = Robots::parse(file.as_bytes(), "rhumb");
    assert!(!robots.verdict_of_text("/dir/a/private").allowed);
    assert!(!robots.verdict_of_text("/dir/b/public").allowed);
    assert!(robots.verdict_of_text("/other").allowed);
    assert!(!robots.verdict_of_text("/x-7").allowed);
}

#[test]
fn nothing_and_everything_can_be_allowed() {
    let url = Url::parse("https://example.com/a").unwrap();
    assert!(Robots::allow_all().allows(&url));
    assert_eq!(Robots::deny_all().verdict(&url), Verdict { allowed: false, line: None });
}

#[test]
fn a_page_says_what_may_be_done_with_it() {
    let meta = Directives::parse_meta("NOINDEX , nofollow,max-snippet:-1");
    assert_eq!(meta, Directives { noindex: true, nofollow: true, noarchive: false });
    let none = Directives::parse_meta("none");
    assert!(none.noindex && none.nofollow && !none.noarchive);
    let header = |value| Directives::parse_header(value, "rhumb");
    assert_eq!(header("otherbot: noindex, nofollow"), Directives::default());
    assert!(header("otherbot: noindex, Rhumb: nofollow").nofollow);
    assert!(!header("otherbot: noindex, rhumb: nofollow").noindex);
    assert!(header("unavailable_after: Wed, 25 Jun 2010 15:00:00 PST, noarchive").noarchive);
    assert!(header("noindex").merge(header("nofollow")) == none);
}

/// The rule as RFC 9309 words it: every rule tried, `*` by trying every length.
fn slow_verdict(rules: &[(bool, String)], path: &str) -> bool {
    let longest = |allow: bool| {
        rules
            .iter()
            .filter(|(kind, pattern)| {
                *kind == allow && slow_match(pattern.as_bytes(), path.as_bytes())
            })
            .map(|(_, pattern)| pattern.len())
            .max()
            .unwrap_or(0)
    };
    longest(false) <= longest(true)
}

fn slow_match(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skip| slow_match(rest, &path[skip..])),
        [first, rest @ ..] => path.first() == Some(first) && slow_match(rest, &path[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_quick_answer_is_the_one_by_the_book(
        rules in prop::collection::vec((any::<bool>(), "[/*][ab/]{0,3}(\\*[ab/]{0,2}){0,2}(\\*|\\$)?"), 0..12),
        paths in prop::collection::vec("/[ab/]{0,8}", 1..8),
    ) {
        let mut file = "User-agent: *\n".to_owned();
        for (allow, pattern) in &rules {
            file += &format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" });
        }
        let robots = Robots::parse(file.as_bytes(), "rhumb");
        let json = serde_json::to_string(&robots).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Robots>(&json).unwrap(), &robots);
        for path in &paths {
            prop_assert_eq!(robots.verdict_of_path(path).allowed, slow_verdict(&rules, path), "{} on\n{}", path, file);
        }
    }

    #[test]
    fn no_bytes_make_reading_panic(
        body in prop::collection::vec(any::<u8>(), 0..200), agent in any::<String>(), text in any::<String>(),
    ) {
        let body = [b"user-agent:*\nallow:/\ndisallow:".as_slice(), &body].concat();
        for reading in [RobotsReading::Rfc, RobotsReading::Google] {
            let robots = Robots::parse_as(&body, &agent, reading);
            let _ = robots.verdict_of_text(&text);
        }
        let _ = (Directives::parse_meta(&text), Directives::parse_header(&text, &agent));
    }
}

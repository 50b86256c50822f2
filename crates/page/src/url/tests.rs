//! What the parts of `url` promise each other, on any text.

use proptest::prelude::*;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn spellings_of_one_address_become_one_url() {
    for (given, canonical) in [
        ("HTTP://Example.COM:80", "http://example.com/"),
        ("https://user:secret@example.com:443/a/../b/./c?#top", "https://example.com/b/c"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com:8080/%7euser/%41%2f%2e", "http://example.com:8080/~user/A%2F."),
        ("http://example.com/a?b=%7e%c3%a9&c=%26", "http://example.com/a?b=~%C3%A9&c=%26"),
        ("http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("http://example.com/%%34%31%4%31", "http://example.com/%%341%4%31"),
        ("file:///etc/./%68osts", "file:///etc/%68osts"),
        ("ftp://example.com:21/a;type=i", "ftp://example.com/a;type=i"),
    ] {
        assert_eq!(url(given).as_str(), canonical, "{given}");
    }
}

#[test]
fn a_query_is_in_the_charset_of_its_page_and_a_path_in_utf_8() {
    let base = url("http://a.com/");
    for (charset, reference, joined) in [
        ("windows-1252", "/é?q=é", "/%C3%A9?q=%E9"),
        ("iso-8859-1", "?q=€&r=ä", "/?q=%80&r=%E4"),
        ("windows-1252", "?q=Ж;é", "/?q=%26%231046%3B;%E9"),
        ("EUC-JP", "/日本?q=日本&é", "/%E6%97%A5%E6%9C%AC?q=%C6%FC%CB%DC&%26%23233%3B"),
        ("Shift_JIS", "?q=ソ", "/?q=%83\\"),
        ("GB18030", "?q=中文é", "/?q=%D6%D0%CE%C4%A8%A6"),
        ("KOI8-R", "//b.com/?q=я#я", "//b.com/?q=%D1"),
        ("UTF-16LE", "?q=é", "/?q=%C3%A9"),
        ("UTF-8", "?q=é", "/?q=%C3%A9"),
        ("windows-1252", "?q=%C3%A9", "/?q=%C3%A9"),
    ] {
        let found = base.join_in(reference, QueryCharset::of_document(charset)).unwrap();
        assert_eq!(
            found,
            url(&format!("http://a.com{joined}").replace("http://a.com//", "http://"))
        );
        assert_eq!(url(found.as_str()), found, "{charset} {reference}");
    }
    let long = format!("?q={}", "é".repeat(600));
    let found = base.join_in(&long, QueryCharset::of_document("windows-1252")).unwrap();
    assert_eq!(found.query().unwrap()[2..], "%E9".repeat(600));
}

#[test]
fn what_cannot_be_crawled_is_refused_with_its_reason() {
    let refused = |text: &str| Url::parse(text).expect_err(text);
    assert_eq!(refused("mailto:a@example.com"), UrlError::Scheme("mailto".into()));
    assert_eq!(
        refused("http://a,b.example/"),
        UrlError::Host("a character outside a-z, 0-9, - and _")
    );
    assert_eq!(refused("http://a..b/"), UrlError::Host("empty label"));
    assert_eq!(refused("http://example.com../"), UrlError::Host("empty label"));
    assert_eq!(refused("http://./"), UrlError::Host("it is empty"));
    assert_eq!(refused("http://a:0/"), UrlError::Syntax("port 0"));
    assert_eq!(refused("/relative"), UrlError::Syntax("relative, without a base"));
    assert_eq!(
        refused(&format!("http://{}.com/", "a".repeat(64))),
        UrlError::Host("label longer than 63 bytes")
    );
    let fits = format!("http://a.com/{}", "x".repeat(URL_BYTES_MAX - "http://a.com/".len()));
    assert_eq!(url(&fits).as_str(), fits);
    assert_eq!(refused(&format!("{fits}x")), UrlError::TooLong { bytes: URL_BYTES_MAX + 1 });
}

#[test]
fn the_parts_of_a_url_are_what_was_written() {
    let http = url("http://www.example.co.uk:8080/a/b?c=d?e");
    assert_eq!(
        (http.scheme(), http.host(), http.port()),
        (Scheme::Http, "www.example.co.uk", Some(8080))
    );
    assert_eq!(
        (http.path(), http.query(), http.path_and_query()),
        ("/a/b", Some("c=d?e"), "/a/b?c=d?e")
    );
    assert_eq!(http.host_key().as_str(), "uk,co,example,www,:http:8080");
    assert_eq!(http.host_key().origin(), "http://www.example.co.uk:8080");
    assert_eq!(
        http.host_key().robots_url().unwrap().as_str(),
        "http://www.example.co.uk:8080/robots.txt"
    );
    assert_eq!(http.site().as_str(), "example.co.uk");
    let file = url("file:///a");
    assert_eq!((file.host(), file.port(), file.query(), file.ip()), ("", None, None, None));
    assert_eq!(file.host_key().as_str(), ",:file:0");
    assert_eq!((file.host_key().host().as_str(), file.host_key().robots_url()), ("", None));
    assert_eq!(url("http://[::1]:81/").ip(), Some("::1".parse().unwrap()));
    assert_eq!(url("http://[::1]:81/").host_key().as_str(), "[::1]:http:81");
    assert_eq!(url("http://10.1.2.3/").host_key().as_str(), "10.1.2.3:http:80");
}

#[test]
fn a_site_is_the_registrable_domain_with_private_suffixes() {
    for (host, site) in [
        ("a.b.example.com", "example.com"),
        ("user.github.io", "user.github.io"),
        ("x.user.github.io", "user.github.io"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("com", "com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("a.b.unknown", "b.unknown"),
    ] {
        assert_eq!(url(&format!("http://{host}/")).site().as_str(), site);
    }
}

#[test]
fn texts_that_no_url_gave_are_not_taken_back() {
    for text in [
        "http://example.com",
        "http://example.com/?",
        "http://example.com:80/",
        "http://example.com:080/",
        "http://example.com/#a",
        "http://Example.com/",
        "http:///",
        "gopher://a/",
        "http://a:/",
        "http://a:0/",
        "http://u@a/",
        "http://a/é",
    ] {
        assert!(Url::from_canonical(text.into()).is_none(), "{text}");
    }
    for key in [
        "com,example,:http:80",
        "com,example,:http:080/",
        "com,example:http:80/",
        "/a",
        "com,,:http:80/",
        ",com,:x:1/",
    ] {
        assert!(UrlKey::from_bytes(key.as_bytes()).is_none(), "{key}");
    }
}

fn parts(url: &Url) -> (Scheme, u16, u16, u16, u16) {
    (url.scheme, url.host_end, url.path_start, url.path_end, url.port)
}

#[test]
fn most_links_go_the_quick_way() {
    let base = url("https://www.example.com:8443/a/b/c.html?d");
    for (reference, resolved) in [
        ("", "https://www.example.com:8443/a/b/c.html?d"),
        ("#top", "https://www.example.com:8443/a/b/c.html?d"),
        ("d.html?x=1&y=/..#z", "https://www.example.com:8443/a/b/d.html?x=1&y=/.."),
        ("/e/f?", "https://www.example.com:8443/e/f"),
        ("?g", "https://www.example.com:8443/a/b/c.html?g"),
        ("../../../h", "https://www.example.com:8443/h"),
        ("./../i/", "https://www.example.com:8443/a/i/"),
        ("//example.org", "https://example.org/"),
        ("http://example.org:81?j=%C3%A9", "http://example.org:81/?j=%C3%A9"),
        ("https://www.example.com:8443/k", "https://www.example.com:8443/k"),
        (" /l\n", "https://www.example.com:8443/l"),
        ("HTTP://example.org/m.n", "http://example.org/m.n"),
    ] {
        let quick = join::join_plain(&base, reference).expect(reference);
        assert_eq!(quick.as_str(), resolved, "{reference}");
        assert_eq!(
            canonical::join_any(&base, reference, QueryCharset::default()),
            Ok(quick),
            "{reference}"
        );
    }
}

/// Links as pages have them, and the odd ones next to them.
fn reference_text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => url_text(),
        1 => "[./\\\\?#a-c:%]{0,8}",
        3 => "[ \n]?(/|//|\\./|\\.\\./|\\?|[hH]ttps?://|https?:)?[a-c0-9]{0,4}(\\.[a-cx0-9]{1,3}){0,2}(:[0-9]{0,5})?(/(\\.|\\.\\.|[a-c.;:@%~]{0,3}|%[0-9A-F]{2})){0,3}(\\?[a-c/.&=?']{0,5})?(#a?)?[ \t]?",
    ]
}

/// Texts near enough to URLs that most parse, with everything odd the parts allow.
pub(super) fn url_text() -> impl Strategy<Value = String> {
    let scheme = prop_oneof![Just("http"), Just("https"), Just("HTTPS"), Just("ftp"), Just("file")];
    let host = prop_oneof![
        "[a-cA-C_-]{1,3}(\\.[a-c0-9]{1,3}){0,3}\\.?",
        "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}",
        "\\[[0-9a-f:]{2,9}\\]",
        Just("bücher.de".to_owned()),
    ];
    let port =
        prop_oneof![3 => Just(String::new()), 1 => Just(":80".to_owned()), 1 => ":[0-9]{1,5}"];
    let rest = "(/([a-cA-Z.%0-9~|:;é ]|%[0-9a-fA-F]{2}|\\.\\.|%2[eE]|%25){0,6}){0,4}(\\?([a-c=&%+/?']|%[0-9a-f]{2}){0,9})?(#[a-c]?)?";
    (scheme, host, port, rest)
        .prop_map(|(scheme, host, port, rest)| format!("{scheme}://{host}{port}{rest}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_canonical_text_is_its_own_canonical_text(text in url_text()) {
        if let Ok(url) = Url::parse(&text) {
            let again = Url::parse(url.as_str());
            prop_assert_eq!(again.as_ref(), Ok(&url));
            let split = Url::from_canonical(url.as_str().into()).expect("canonical");
            prop_assert_eq!(parts(&split), parts(&url));
        }
    }

    #[test]
    fn a_key_gives_its_url_back(text in url_text()) {
        if let Ok(url) = Url::parse(&text) {
            let key = UrlKey::from_bytes(url.key().as_bytes()).expect("a key");
            prop_assert_eq!(key.url(), url.clone());
            prop_assert_eq!(key.host_key(), url.host_key());
            prop_assert_eq!(url.host_key().host(), url.host());
            prop_assert_eq!(url.host_key().port(), url.port());
            prop_assert_eq!(url.host_key().site(), url.site());
            prop_assert!(!url.host_key().as_str().contains('/'));
            let json = serde_json::to_string(&url).unwrap();
            prop_assert_eq!(serde_json::from_str::<Url>(&json).unwrap(), url);
        }
    }

    #[test]
    fn the_keys_of_a_host_are_adjacent(texts in prop::collection::vec(url_text(), 2..40)) {
        let mut keys: Vec<UrlKey> =
            texts.iter().filter_map(|text| Url::parse(text).ok()).map(|url| url.key()).collect();
        keys.sort();
        let mut hosts: Vec<HostKey> = keys.iter().map(UrlKey::host_key).collect();
        hosts.dedup();
        let distinct: std::collections::BTreeSet<&HostKey> = hosts.iter().collect();
        prop_assert_eq!(distinct.len(), hosts.len());
    }

    #[test]
    fn the_quick_way_and_the_whole_way_agree(base in url_text(), reference in reference_text()) {
        if let Some(quick) = join::parse_plain(&base) {
            prop_assert_eq!(Ok(quick), canonical::parse_any(&base));
        }
        if let Ok(base) = Url::parse(&base)
            && let Some(quick) = join::join_plain(&base, &reference)
        {
            let whole = canonical::join_any(&base, &reference, QueryCharset::default());
            prop_assert_eq!(Ok(&quick), whole.as_ref());
            prop_assert_eq!(parts(&quick), parts(&whole.unwrap()));
        }
    }

    #[test]
    fn no_text_makes_parsing_panic(base in url_text(), text in any::<String>()) {
        let _ = Url::parse(&text);
        if let Ok(url) = Url::parse(&base).and_then(|base| base.join(&text)) {
            prop_assert!(url.as_str().len() <= URL_BYTES_MAX);
            let _ = url.surt();
        }
    }
}

#[test]
fn a_drive_letter_in_a_file_path_is_read_until_it_stays_the_same() {
    let url = Url::parse("file://A//a|").unwrap();
    assert_eq!(Url::parse(url.as_str()), Ok(url));
}

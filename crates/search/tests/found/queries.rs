//! What queries find, in several languages.

use rhumb_search::{SearchOptions, SearchPage};

use super::corpus::{answer, ids, index, page};

fn pages() -> Vec<SearchPage> {
    let mut pages = vec![
        page("https://sea.org/tides", "Tides", "The moon draws the sea. Spring tides are high."),
        page("https://sea.org/deep/moon", "The moon", "It draws tides of spring and of autumn."),
        page(
            "https://www.land.com/",
            "Hills",
            "There is no water on these hills. Walking is good.",
        ),
        page("https://walk.net/walk.pdf", "Walks", "He walked all the spring long."),
    ];
    pages[3].kind = "pdf".to_owned();
    pages[0].day = "2020-05-01".to_owned();
    pages[1].fetched = 1_700_000_000;
    let other = |url: &str, language: &str, text: &str| SearchPage {
        language: language.to_owned(),
        ..page(url, "", text)
    };
    pages.push(other("https://de.org/", "de", "Die Häuser am Meer sind alt. Ein Café."));
    pages.push(other("https://jp.org/", "ja", "東京都の天気は晴れです。猫が好き。"));
    pages.push(other("https://zh.org/", "zh", "今天北京下雨。我们喝茶。"));
    pages.push(other("https://ko.org/", "ko", "오늘 서울은 맑습니다. 고양이가 잡니다."));
    pages.push(other("https://th.org/", "th", "สวัสดีครับ ยินดีต้อนรับ"));
    pages.push(other("https://ru.org/", "ru", "Высокие дома стоят у моря."));
    pages
}

#[test]
fn words_phrases_and_operators_find_what_they_say() {
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(dir.path(), pages());
    let sorted = |query: &str| {
        let mut ids = ids(&index, query);
        ids.sort();
        ids
    };
    let (tides, moon) = ("https://sea.org/tides", "https://sea.org/deep/moon");
    let (hills, walk) = ("https://www.land.com/", "https://walk.net/walk.pdf");
    assert_eq!(ids(&index, "tide"), [tides, moon]);
    assert_eq!(ids(&index, "\"spring tides\""), [tides]);
    assert_eq!(ids(&index, "\"spring tide\""), Vec::<String>::new(), "a phrase is exact");
    assert_eq!(sorted("walking"), [walk, hills], "words are stemmed");
    assert_eq!(ids(&index, "\"walking\""), [hills], "and quotes are not");
    assert_eq!(ids(&index, "spring -tides"), [walk]);
    assert_eq!(sorted("hills OR walked"), [walk, hills]);
    assert_eq!(sorted("site:sea.org"), [moon, tides]);
    assert_eq!(ids(&index, "site:org spring host:sea.org inurl:deep"), [moon]);
    assert_eq!(ids(&index, "host:land.com"), Vec::<String>::new());
    assert_eq!(ids(&index, "site:land.com"), [hills]);
    assert_eq!(ids(&index, "intitle:tide"), [tides]);
    assert_eq!(ids(&index, "type:pdf"), [walk]);
    assert_eq!(ids(&index, "before:2021"), [tides]);
    assert_eq!(ids(&index, "after:2023-11-14 before:2023-11-15"), [moon]);
    assert_eq!(ids(&index, "\"tides walking\" OR \"no water\""), [hills]);
    assert_eq!(ids(&index, &format!("similar:{tides}"))[0], moon);
}

#[test]
fn all_words_of_a_title_or_url_are_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(
        dir.path(),
        [
            page("https://a.org/well/x", "Spring flowers", "Meadows."),
            page("https://b.org/well-known", "Tides of spring", "Beaches."),
        ],
    );
    let understood = |query: &str| answer(&index, query).understood;
    assert_eq!(ids(&index, "intitle:\"spring tide\""), ["https://b.org/well-known"]);
    assert_eq!(ids(&index, "intitle:spring-flowers"), ["https://a.org/well/x"]);
    assert_eq!(ids(&index, "inurl:well-known"), ["https://b.org/well-known"]);
    assert_eq!(ids(&index, "inurl:well").len(), 2);
    assert_eq!(ids(&index, "-inurl:well-known"), ["https://a.org/well/x"], "not one word of it");
    assert_eq!(understood("intitle:\"spring tide\""), "spring and tide in the title");
}

#[test]
fn a_site_is_named_as_people_write_it_or_as_urls_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let books = "https://xn--bcher-kva.example/";
    let pages = [page(books, "Books", "Many books."), page("https://b.org/", "B", "None.")];
    let index = index(dir.path(), pages);
    for query in ["site:bücher.example", "host:Bücher.example", "site:xn--bcher-kva.example"] {
        assert_eq!(ids(&index, query), [books], "{query}");
    }
}

#[test]
fn pages_like_one_that_is_not_there_or_shares_no_word_are_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(
        dir.path(),
        [
            page("https://a.org/x", "", "The sea and the moon."),
            page("https://b.org/x", "", "The sea and the sun."),
            page("https://c.org/x", "", "Quite others."),
        ],
    );
    for query in ["similar:https://gone.org/", "similar:https://gone.org/ sea", "similar:nothing"] {
        let answer = answer(&index, query);
        assert_eq!((answer.total, answer.results.len()), (0, 0), "{query}");
        assert!(answer.understood.ends_with("that page is not in the index"), "{query}");
    }
    assert_eq!(ids(&index, "similar:https://c.org/x"), Vec::<String>::new());
    assert_eq!(ids(&index, "similar:https://a.org/x"), ["https://b.org/x"]);
    assert_eq!(ids(&index, "similar:HTTPS://A.org:443/y/../x#top"), ["https://b.org/x"]);
}

#[test]
fn languages_with_and_without_spaces_are_found() {
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(dir.path(), pages());
    assert_eq!(ids(&index, "Haus"), ["https://de.org/"]);
    assert_eq!(ids(&index, "cafe"), ["https://de.org/"]);
    assert_eq!(ids(&index, "天気"), ["https://jp.org/"]);
    assert_eq!(ids(&index, "京都の"), ["https://jp.org/"]);
    assert_eq!(ids(&index, "猫"), ["https://jp.org/"]);
    assert_eq!(ids(&index, "\"天気は晴れ\""), ["https://jp.org/"]);
    assert_eq!(ids(&index, "下雨"), ["https://zh.org/"]);
    assert_eq!(ids(&index, "\"我们喝茶\""), ["https://zh.org/"]);
    assert_eq!(ids(&index, "고양이"), ["https://ko.org/"]);
    assert_eq!(ids(&index, "lang:ko"), ["https://ko.org/"]);
    assert_eq!(ids(&index, "ยินดี"), ["https://th.org/"]);
    assert_eq!(ids(&index, "дом"), ["https://ru.org/"]);
    assert_eq!(ids(&index, "lang:ru"), ["https://ru.org/"]);
}

#[test]
fn no_query_fails_and_what_was_understood_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(dir.path(), pages());
    let long = "tide ".repeat(100_000);
    let strange =
        ["", " ", "\"", "-", "OR", "OR OR", "-OR", "\"\"", "site:", "::", "-\"\"", "()", &long];
    for query in strange {
        let answer = answer(&index, query);
        assert!(!answer.understood.is_empty(), "{query:?}");
    }
    assert_eq!(ids(&index, &long).len(), 2);
    assert_eq!(ids(&index, "").len(), 0);
    assert_eq!(answer(&index, "-tide").total, 8);
    assert!(answer(&index, "tide xyzzy").understood.contains("no page has xyzzy"));
    assert_eq!(ids(&index, "xyzzy").len(), 0);
    assert_eq!(ids(&index, "xyzzy site:sea.org").len(), 0);
    assert!(answer(&index, "similar:https://gone.org/").understood.contains("not in the index"));
}

#[test]
fn what_is_important_or_named_by_its_url_comes_first_and_the_terms_are_explained() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = |n: usize| format!("All about the tide and number{n}.");
    let pages = (0..4).map(|n| page(&format!("https://h{n}.org/"), "", &text(n)));
    let named = page("https://prism-break.org/", "", "All about the prism and the break we took.");
    let talks =
        page("https://talk.org/x", "", "We talk of prism break here and of prism break there.");
    {
        let mut writer = rhumb_search::Indexer::open(dir.path()).expect("opened");
        pages.chain([named, talks]).for_each(|page| writer.add(page).expect("taken"));
        assert!(writer.weigh("https://h2.org/", 0.9).expect("written"));
        assert!(!writer.weigh("https://absent.org/", 0.9).expect("nothing to write"));
        writer.finish(rhumb_search::IndexMark::default()).expect("finished");
    }
    let index = rhumb_search::Index::open(dir.path()).expect("an index");
    assert_eq!(ids(&index, "tide")[0], "https://h2.org/");
    assert_eq!(ids(&index, "prism break")[0], "https://prism-break.org/");
    let wanted = SearchOptions { explain: true, ..SearchOptions::default() };
    let answer = index.search("prism break", &wanted).expect("an answer");
    for shown in answer.results {
        let terms = shown.explain.expect("explained");
        let sum = terms.bm25 + terms.importance + terms.closeness + terms.url + terms.depth;
        assert!((sum - shown.score).abs() < 1e-4, "{terms:?} {}", shown.score);
    }
}

//! How fast pages are read: MB/s side by side, the mean of several rounds, on real pages if they
//! are here and on generated ones if not. `cargo bench -p rhumb-extract --bench html [-- WORDS]`
//! runs those whose name holds the words.

#[path = "../../page/tests/html_truth/mod.rs"]
mod html_truth;

use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::time::Instant;

use html5ever::tokenizer::{
    BufferQueue, Token as TheirToken, TokenSink, TokenSinkResult, Tokenizer as TheirTokenizer,
};
use rhumb_extract::{ExtractOptions, PageWanted, extract};
use rhumb_page::html::{PageLimits, Token, Tokenizer, read, read_with_own_text, read_with_text};
use rhumb_page::url::Url;

const PAGES_MAX: usize = 200;
const ROUNDS_MIN: usize = 2;
const SECONDS_MIN: f64 = 1.0;
const HOSTILE_BYTES: usize = 10_000_000;

fn main() {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    println!("real pages, or generated ones");
    compare(&pages(), &wanted);
    println!("\nhostile pages: as fast as their length says, or something is quadratic");
    for piece in
        ["<div>", "<", "<!--", "&", "&a", "<a href=\"", "<a b='c' ", "<script><!--", "<a href=/x>"]
    {
        let page = piece.repeat(HOSTILE_BYTES / piece.len());
        let url = Url::parse("http://page.test/").expect("a URL");
        measure(&format!("read: 10 MB of {piece}"), &wanted, &[(url, page)], &|url, html| {
            read(html.as_bytes(), Some("utf-8"), url, &PageLimits::default()).links.len()
        });
        let url = Url::parse("http://page.test/").expect("a URL");
        let page = piece.repeat(HOSTILE_BYTES / piece.len());
        measure(&format!("extract: 10 MB of {piece}"), &wanted, &[(url, page)], &|url, html| {
            extract(html, url, &ExtractOptions::default()).main.len()
        });
    }
}

fn compare(pages: &[(Url, String)], wanted: &str) {
    let bytes: usize = pages.iter().map(|(_, html)| html.len()).sum();
    println!("{} pages, {:.1} MB", pages.len(), bytes as f64 / 1e6);
    let limits = PageLimits::default();
    let links: usize = pages
        .iter()
        .map(|(url, html)| read(html.as_bytes(), Some("utf-8"), url, &limits).links.len())
        .sum();
    println!("{links} links\n");
    let measure = |what: &str, one: One| measure(what, wanted, pages, one);
    measure("memchr for '<'", &|_, html| memchr::memchr_iter(b'<', html.as_bytes()).count());
    measure("UTF-8 check", &|_, html| std::str::from_utf8(html.as_bytes()).map_or(0, str::len));
    measure("tokens", &|_, html| Tokenizer::new(html).count());
    measure("tokens and every attribute", &|_, html| {
        let attributes = |token| match token {
            Token::Start(start) => start.attributes().map(|a| a.raw.len()).sum(),
            _ => 1,
        };
        Tokenizer::new(html).map(attributes).sum()
    });
    measure("read: links resolved, text fingerprinted", &|url, html| {
        read(html.as_bytes(), Some("utf-8"), url, &limits).links.len()
    });
    measure("read: links alone, as in a simple crawl", &|url, html| {
        let wanted = PageWanted::default();
        rhumb_extract::read_wanted(html.as_bytes(), Some("utf-8"), url, &limits, &wanted)
            .page
            .links
            .len()
    });
    measure("read: links and own text, as in a crawl", &|url, html| {
        let read = read_with_own_text(html.as_bytes(), Some("utf-8"), url, &limits);
        read.0.links.len() + read.1.len()
    });
    measure("read, text kept", &|url, html| {
        read_with_text(html.as_bytes(), Some("utf-8"), url, &limits).1.len()
    });
    measure("extract: main text and metadata", &|url, html| {
        extract(html, url, &ExtractOptions::default()).main.len()
    });
    measure("read and extract in one pass", &|url, html| {
        let read = rhumb_extract::read(
            html.as_bytes(),
            Some("utf-8"),
            url,
            &limits,
            &ExtractOptions::default(),
        );
        read.0.links.len() + read.1.main.len()
    });
    measure("html5ever, tokens only", &|_, html| their_tokens(html));
    measure("html5ever, tree, references and text", &|_, html| {
        html_truth::truth(html).references.len()
    });
}

type One<'a> = &'a dyn Fn(&Url, &str) -> usize;

fn measure(what: &str, wanted: &str, pages: &[(Url, String)], one: One) {
    if !what.contains(wanted) {
        return;
    }
    let bytes: usize = pages.iter().map(|(_, html)| html.len()).sum();
    let (start, mut rounds) = (Clock::now(), 0);
    while start.elapsed_s() < SECONDS_MIN || rounds < ROUNDS_MIN {
        for (url, html) in pages {
            black_box(one(url, black_box(html)));
        }
        rounds += 1;
    }
    let seconds = start.elapsed_s();
    let speed = (bytes * rounds) as f64 / 1e6 / seconds;
    let per_second = (pages.len() * rounds) as f64 / seconds;
    println!("{what:<44} {speed:>7.0} MB/s {per_second:>8.0} pages/s");
}

/// CPU time of this thread where the system tells it (a busy machine then disturbs less).
enum Clock {
    Cpu(u64),
    Wall(Instant),
}

impl Clock {
    fn now() -> Clock {
        cpu_ns().map_or_else(|| Clock::Wall(Instant::now()), Clock::Cpu)
    }

    fn elapsed_s(&self) -> f64 {
        match self {
            Clock::Cpu(start) => (cpu_ns().unwrap_or(*start) - start) as f64 / 1e9,
            Clock::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_ns() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok()
}

fn pages() -> Vec<(Url, String)> {
    let fallback = Url::parse("http://page.test/a/b").expect("a URL");
    let Some(file) = rhumb_given::data("extraction/dev.jsonl.zst") else {
        println!("generated pages instead");
        return (0..PAGES_MAX).map(|seed| (fallback.clone(), generated(seed))).collect();
    };
    let file = std::fs::File::open(file).expect("a file");
    let lines = BufReader::new(zstd::Decoder::new(file).expect("zstd")).lines();
    // Every fourth page: all sources are in, and a run stays short.
    lines
        .step_by(4)
        .take(PAGES_MAX)
        .map(|line| {
            let row: serde_json::Value =
                serde_json::from_str(&line.expect("a line")).expect("JSON");
            let url = row["url"].as_str().and_then(|url| Url::parse(url).ok());
            let html = row["html"].as_str().unwrap_or_default().to_owned();
            (url.unwrap_or_else(|| fallback.clone()), html)
        })
        .collect()
}

/// A page of the usual make-up: a head, scripts, nested boxes, paragraphs with links.
fn generated(seed: usize) -> String {
    let mut html = format!("<!DOCTYPE html><html lang=en><head><title>Page {seed}</title>");
    html.push_str("<script>for (var i = 0; i < 10; i++) { if (a<b) c(); }</script>");
    html.push_str("<style>.a > .b { color: red } </style></head><body>");
    for i in 0..400 {
        html.push_str("<div class=\"box box-wide\" id='b'>\n      <p class=text>");
        html.push_str(&"Some words of running text &amp; more of it, ".repeat(3 + (seed + i) % 7));
        html.push_str(&format!("<a href=\"/path/{}/{i}.html\" title=\"A link\">", seed % 13));
        html.push_str("a link</a></p>\n<script type=text/x>var x = '</div>';</script></div>\n");
    }
    html
}

struct Count(std::cell::Cell<usize>);

impl TokenSink for Count {
    type Handle = ();
    fn process_token(&self, _: TheirToken, _: u64) -> TokenSinkResult<()> {
        self.0.set(self.0.get() + 1);
        TokenSinkResult::Continue
    }
}

fn their_tokens(html: &str) -> usize {
    let tokenizer = TheirTokenizer::new(Count(std::cell::Cell::new(0)), Default::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.get()
}

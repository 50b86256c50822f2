//! Seeded mutations of small inputs through the checks that the fuzz targets run: a fuzzer's first
//! minute, the same on every machine. `MUTATION_ROUNDS` and `MUTATION_SEED` make it longer, and
//! another one.

#[path = "../../../fuzz/checks.rs"]
mod checks;

const ROUNDS: u64 = 20_000;
const INPUT_BYTES_MAX: usize = 2_000;

#[test]
fn mutated_urls_stay_canonical() {
    let seeds = [
        "http://user@EXAMPLE.com:80/a/../b?x=%7e#f\n../c?d",
        "https://[::1]:8443/\n//other.test/",
        "http://xn--bcher-kva.example/%C3%BC\n?q",
        "http://0x7f.1/\nfile:///etc",
    ];
    mutate(
        1,
        &seeds,
        &["%", "//", ":", "@", "[", "]", "..", "é", "\\", "?", "#", "%2F"],
        checks::url,
    );
}

#[test]
fn mutated_robots_files_always_answer() {
    let seeds = [
        "User-agent: *\nDisallow: /private\nAllow: /private/x$\nCrawl-delay: 5\n",
        "user-agent: rhumb\nuser-agent: other\ndisallow: /*.php$\nsitemap: https://a.test/s.xml",
    ];
    mutate(2, &seeds, &["*", "$", "%", "\r", "\u{FEFF}", ":", "#", "é"], checks::robots);
}

#[test]
fn mutated_pages_are_read_the_same_in_every_way() {
    let seeds = [
        "<!DOCTYPE html><html lang=en><head><base href=/b/><title>T &amp; U</title>\
         <meta charset=utf-8><link rel=canonical href=/c></head><body><p>Text <a href=x>y</a>",
        "<svg><style>x</style><![CDATA[y]]><foreignObject><p>z</foreignObject></svg>",
        "<script><!--<script>a</script>--></script><template><a href=/t>x</template>",
        "<meta http-equiv=refresh content='0; url=/r'><a href='&#x41;&notit;' rel=nofollow>",
    ];
    let words = [
        "<",
        ">",
        "</",
        "<!--",
        "-->",
        "\"",
        "'",
        "=",
        "&",
        ";",
        "<script>",
        "</script>",
        "<svg>",
        "]]>",
        "é",
        "\0",
        "\r\n",
        "<textarea>",
        "<math>",
        "<mi>",
        "<div>",
        "/>",
        "  ",
    ];
    mutate(3, &seeds, &words, checks::html);
}

#[test]
fn mutated_sitemaps_stay_within_their_limits() {
    let seeds = [
        "<?xml version='1.0' encoding='utf-8'?><urlset><url><loc>https://a.test/1</loc>\
         <lastmod>2024-05-01</lastmod><changefreq>daily</changefreq></url></urlset>",
        "<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>",
        "https://a.test/1\nhttps://a.test/2\n",
    ];
    let words =
        ["<", ">", "&", "<![CDATA[", "<!DOCTYPE", "<?", "\u{1F}\u{8B}", "é", "</loc>", "<url>"];
    mutate(4, &seeds, &words, checks::sitemap);
}

#[test]
fn mutated_feeds_stay_within_their_limits() {
    let seeds = [
        "<rss><channel><item><link>/1</link><pubDate>Wed, 01 May 2024 08:00:00 -0500</pubDate>\
         </item></channel></rss>",
        "<feed xml:base='/x/'><entry><link href='1'/><updated>2024-05-01T08:00:00Z</updated>\
         </entry></feed>",
        "{\"items\": [{\"url\": \"/1\", \"date_published\": \"2024-05-01\"}]}",
    ];
    let words =
        ["<item>", "</item>", "&nbsp;", "xml:base='", "-", "+", "é", "{", "[", "\"", "99999999"];
    mutate(5, &seeds, &words, checks::feed);
}

#[test]
fn mutated_pages_have_a_main_text_if_they_have_any() {
    let seeds = [
        "<title>T</title><nav><a href=/>Home</a></nav><main><h1>T</h1><p>One or two words, and a \
         <b>few</b> more.<table><tr><td>a<td>b</table></main><footer>End</footer>",
        "<ul><li>one<li>two<ol><li>three</ol></ul><pre>a  b</pre><blockquote>c<br><br>d",
        "<script type=application/ld+json>{\"@type\":\"Article\",\"articleBody\":\"x y\"}</script>",
    ];
    let words = [
        "<",
        ">",
        "</p>",
        "<div class='nav content'>",
        "</div>",
        "<li>",
        "<select>",
        "<svg>",
        "<a href=x>",
        "<br>",
        "é",
        "字",
        "\0",
        "<template>",
        "<td>",
        "</table>",
        "<span>",
        "<pre>",
        "word ",
    ];
    mutate(6, &seeds, &words, checks::extract);
}

#[test]
fn mutated_bytes_of_any_charset_become_text() {
    let seeds = ["\u{FEFF}<meta charset=shift_jis>", "<?xml encoding='utf-16'?>", "plain"];
    mutate(7, &seeds, &["\u{1B}$B", "é", "\u{FEFF}", "<meta charset='", "\0"], checks::charset);
}

#[test]
fn mutated_documents_stay_within_their_limits() {
    let seeds =
        ["{\"a\": [\"https://a.test/ b c d\"]}", "see http://a.test/x, and https://b.test."];
    mutate(
        8,
        &seeds,
        &["http://", "https://", "://", "{", "[", "\"", "é", "\\u"],
        checks::document,
    );
}

/// Runs the check on seeds that were changed a little, and then a little more.
fn mutate(seed: u64, seeds: &[&str], words: &[&str], check: fn(&[u8])) {
    let asked = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rounds = asked("MUTATION_ROUNDS").unwrap_or(ROUNDS);
    let mut random = Random(seed ^ asked("MUTATION_SEED").unwrap_or(0) << 8);
    let mut input = Vec::new();
    for round in 0..rounds {
        if round % 16 == 0 {
            input = seeds[random.below(seeds.len())].as_bytes().to_vec();
        }
        let at = random.below(input.len() + 1);
        match random.below(5) {
            0 => drop(input.splice(at..at, words[random.below(words.len())].bytes())),
            1 => drop(input.drain(at..(at + random.below(9)).min(input.len()))),
            2 if at < input.len() => input[at] ^= 1 << random.below(8),
            3 => {
                let other = seeds[random.below(seeds.len())].as_bytes();
                let start = random.below(other.len());
                let end = (start + random.below(40)).min(other.len());
                drop(input.splice(at..at, other[start..end].iter().copied()));
            }
            _ => input.insert(at, random.below(256) as u8),
        }
        input.truncate(INPUT_BYTES_MAX);
        check(&input);
    }
}

/// A small generator of our own (a counter, mixed), so that a seed means the same for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

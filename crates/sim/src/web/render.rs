//! Documents as bytes: what a reader of the bytes finds is what the model says.
//!
//! A page is boilerplate (navigation, footer), a heading, and paragraphs with the content links
//! between the sentences. Only the last paragraphs depend on the version, as on real pages that
//! change. Links are spelled in the many ways people do: relative, absolute, with fragments, with
//! and without quotes and escapes.

use super::Web;
use super::chance::{Purpose, Stream, scale};
use super::links::{Arrow, WebLinkKind, is_relative};
use super::manner::{Manner, Media, manner};
use super::place::{WebPlace, What};
use super::reply::{PageRef, WebBody};
use super::site::{Charset, further, page_draw};

/// Compression on the fly, as servers do it.
const GZIP_LEVEL: i32 = 6;
/// The links that stand in the navigation; the others are spread over the text.
const MENU_LINKS: usize = 7;

impl Web {
    /// Appends the bytes of a body.
    pub fn render(&self, body: &WebBody, out: &mut Vec<u8>) {
        // An empty buffer is filled in place: the server renders every page into the same one.
        let kept = if out.is_empty() { std::mem::take(out) } else { Vec::new() };
        let mut text = String::from_utf8(kept).unwrap_or_default();
        match *body {
            WebBody::Nothing => {}
            WebBody::Note(note) => {
                text.push_str("<!DOCTYPE html>\n<title>Note</title>\n<p>");
                text.push_str(note);
            }
            WebBody::Html(page) => self.write_html(page, &mut text),
            WebBody::Robots(page) => self.write_robots(page.place, &mut text),
            WebBody::Sitemap(page) => self.write_sitemap(page.place, &mut text),
            WebBody::Feed(page) => self.write_feed(page.place, &mut text),
            WebBody::Other(page) => self.write_media(page, &mut text),
        }
        let bytes = match *body {
            WebBody::Html(page) if self.charset(page.place) != Charset::Utf8 => latin1(&text),
            WebBody::Sitemap(page) if page.place.what != What::Sitemap => gzip(text.as_bytes()),
            _ => text.into_bytes(),
        };
        if out.is_empty() {
            *out = bytes;
        } else {
            out.extend_from_slice(&bytes);
        }
    }

    fn charset(&self, place: WebPlace) -> Charset {
        match place.what {
            What::Month(_) | What::Deep(_) | What::Visit(_) => Charset::Utf8,
            _ => self.sites[place.site as usize].charset,
        }
    }

    fn write_html(&self, page: PageRef, out: &mut String) {
        let document = self.original(page.place);
        let manner = match document.what {
            What::Page(n) => {
                manner(&self.config, &self.sites[document.site as usize], document.site, n)
            }
            _ => Manner::Usual,
        };
        let mut arrows = Vec::with_capacity(64);
        self.arrows(document, &mut arrows);
        let hash = self.place_hash(self.text_of(document), 0);
        let mut writer = Writer { web: self, document, manner, hash, out };
        let body = arrows.iter().position(|arrow| !in_head(arrow.kind)).unwrap_or(arrows.len());
        writer.head(&arrows[..body]);
        let menu = MENU_LINKS.min(arrows.len() - body);
        writer.menu(&arrows[body..body + menu]);
        writer.article(&arrows[body + menu..], page.version);
        writer.footer();
    }

    /// Whose words a document has: all pages of a trap say the same, as calendars do.
    pub(crate) fn text_of(&self, place: WebPlace) -> WebPlace {
        let what = match place.what {
            What::Month(_) => What::Month(0),
            What::Visit(_) => What::Visit(0),
            what => what,
        };
        WebPlace { what, ..place }
    }

    fn write_media(&self, page: PageRef, out: &mut String) {
        let What::Page(n) = self.original(page.place).what else { return };
        let site = &self.sites[page.place.site as usize];
        let Manner::Media(media) = manner(&self.config, site, page.place.site, n) else { return };
        // The first bytes are what a reader would look at; the rest is there to have a size.
        out.push_str(match media {
            Media::Text => "",
            Media::Pdf => "%PDF-1.4\n",
            Media::Png => "\u{89}PNG\r\n",
        });
        let hash = page_draw(self.config.seed ^ page.version, Purpose::Text, page.place.site, n);
        let mut chance = Stream::new(hash);
        (0..20).for_each(|_| out.push_str(self.lexicon.sentence(chance.next())));
    }

    /// About how many bytes a page has.
    fn page_bytes(&self, hash: u64) -> usize {
        let mean = self.config.page_bytes_mean;
        (mean / 2 + scale(further(hash, 9), mean + 1)) as usize
    }
}

fn in_head(kind: WebLinkKind) -> bool {
    matches!(kind, WebLinkKind::Canonical | WebLinkKind::Feed | WebLinkKind::Refresh)
}

struct Writer<'a> {
    web: &'a Web,
    document: WebPlace,
    manner: Manner,
    hash: u64,
    out: &'a mut String,
}

impl Writer<'_> {
    fn head(&mut self, links: &[Arrow]) {
        self.out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
        self.out.push_str(match self.web.charset(self.document) {
            Charset::Utf8 => "<meta charset=\"utf-8\">\n",
            Charset::Latin1ByHeader => "",
            Charset::Latin1ByMeta => {
                "<meta http-equiv=content-type content=\"text/html; charset=iso-8859-1\">\n"
            }
        });
        self.out.push_str("<title>");
        self.title();
        self.out.push_str("</title>\n");
        self.out.push_str(match self.manner {
            Manner::Based => "<base href=\"/\">\n",
            Manner::NoIndex => "<meta name=\"robots\" content=\"noindex\">\n",
            Manner::NoFollowByMeta => "<META NAME='ROBOTS' CONTENT='NOFOLLOW'>\n",
            _ => "",
        });
        for (i, link) in links.iter().enumerate() {
            self.out.push_str(match link.kind {
                WebLinkKind::Canonical => "<link rel=\"canonical\" href=",
                WebLinkKind::Feed => "<link rel=alternate type=application/rss+xml href=",
                _ => "<meta http-equiv=\"refresh\" content=\"30; url=",
            });
            if link.kind == WebLinkKind::Refresh {
                self.address(link, 0);
                self.out.push('"');
            } else {
                self.reference(link, i);
            }
            self.out.push_str(">\n");
        }
        self.out.push_str("<link rel=\"stylesheet\" href=\"/style.css\">\n");
        self.out
            .push_str("<script>var seen = \"<a href='/not-a-link'>\";</script>\n</head>\n<body>\n");
    }

    fn menu(&mut self, links: &[Arrow]) {
        self.out.push_str("<header class=\"site-header\"><nav class=\"menu\"><ul>\n");
        for (i, link) in links.iter().enumerate() {
            self.out.push_str("<li class=\"menu-item\">");
            self.link(link, i);
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ul></nav></header>\n<main><article>\n<h1>");
        self.title();
        self.out.push_str("</h1>\n");
    }

    /// Paragraphs up to the page's size, the links one by one between their sentences.
    fn article(&mut self, links: &[Arrow], version: u64) {
        let bytes = self.web.page_bytes(self.hash);
        let text = bytes.saturating_sub(self.out.len() + LINK_BYTES * links.len() + FOOTER.len());
        let share = text / (links.len() + 1);
        let mut chance = Stream::new(further(self.hash, 3));
        for (i, link) in links.iter().enumerate() {
            self.paragraph_start(&mut chance);
            self.sentences(share, &mut chance);
            self.link(link, i + MENU_LINKS);
            self.out.push('.');
            self.out.push_str(PARAGRAPH_END);
        }
        // What changes with the version: the last part, and the date below it.
        let mut chance = Stream::new(further(self.hash, version));
        self.paragraph_start(&mut chance);
        self.sentences(share.max(100), &mut chance);
        self.out.push_str(PARAGRAPH_END);
        self.out.push_str("<p class=\"date\">Edition ");
        self.out.push_str(&version.to_string());
        self.out.push_str("</p>\n");
    }

    fn sentences(&mut self, bytes: usize, chance: &mut Stream) {
        let end = self.out.len() + bytes;
        let mut paragraph = self.out.len() + PARAGRAPH_BYTES;
        while self.out.len() < end {
            if self.out.len() > paragraph {
                self.out.push_str(PARAGRAPH_END);
                self.paragraph_start(chance);
                paragraph = self.out.len() + PARAGRAPH_BYTES;
            }
            self.out.push_str(self.web.lexicon.sentence(chance.next()));
        }
    }

    fn paragraph_start(&mut self, chance: &mut Stream) {
        let (block, part, text) = match chance.below(4) {
            0 => ("wide", "lead", "lead"),
            _ => ("text", "body", "body"),
        };
        for piece in [
            "<div class=\"block block--",
            block,
            "\" data-part=\"",
            part,
            "\"><div class=\"block__inner column column--main\"><p class=\"block__text text text--",
            text,
            "\">",
        ] {
            self.out.push_str(piece);
        }
    }

    fn footer(&mut self) {
        self.out.push_str(FOOTER);
    }

    fn title(&mut self) {
        for salt in 0..4 {
            if salt > 0 {
                self.out.push(' ');
            }
            self.out.push_str(self.web.lexicon.word(further(self.hash, 100 + salt)));
        }
    }

    fn link(&mut self, link: &Arrow, i: usize) {
        match link.kind {
            WebLinkKind::Frame => {
                self.out.push_str("<iframe width=200 src=");
                self.reference(link, i);
                self.out.push_str("></iframe>");
            }
            WebLinkKind::Area => {
                self.out.push_str("<map><area shape=default alt=map href=");
                self.reference(link, i);
                self.out.push_str("></map>");
            }
            _ => {
                self.out.push_str("<a href=");
                self.reference(link, i);
                self.out.push_str(if link.nofollow { " rel=\"nofollow\">" } else { ">" });
                let hash = further(self.hash, 200 + i as u64);
                self.out.push_str(self.web.lexicon.word(hash));
                self.out.push(' ');
                self.out.push_str(self.web.lexicon.word(hash << 32));
                self.out.push_str("</a>");
            }
        }
    }

    /// The value of an href or src attribute, quoted in one way or another.
    fn reference(&mut self, link: &Arrow, i: usize) {
        let (open, close) = match scale(further(self.hash, 400 + i as u64), 16) {
            0 => ("'", "'"),
            1 => ("\" ", " \""),
            2 => ("\"", "#part\""),
            _ => ("\"", "\""),
        };
        self.out.push_str(open);
        self.address(link, i);
        self.out.push_str(close);
    }

    fn address(&mut self, link: &Arrow, i: usize) {
        let start = self.out.len();
        let spelling = scale(further(self.hash, 600 + i as u64), 8);
        if !is_relative(self.document, link) {
            self.out.push_str(match spelling {
                0 => "HTTP://",
                1 => "//",
                _ => "http://",
            });
            self.web.write_authority(link.to, self.out);
            self.web.write_path(link.to, self.out);
        } else if self.manner == Manner::Based {
            self.out.push('.');
            self.web.write_path(link.to, self.out);
        } else {
            self.web.write_path(link.to, self.out);
        }
        // Both spellings of an ampersand are common; readers must know them both.
        if spelling > 1 && self.out[start..].contains('&') {
            let escaped = self.out[start..].replace('&', "&amp;");
            self.out.truncate(start);
            self.out.push_str(&escaped);
        }
    }
}

/// About what a link in the text adds to a page, its paragraph included.
const LINK_BYTES: usize = 330;
/// Real pages are markup for a third or more; this is what makes them compress as they do.
const PARAGRAPH_BYTES: usize = 240;
const PARAGRAPH_END: &str = "</p></div><!-- block__inner --></div><!-- block -->\n";

const FOOTER: &str = "</article></main>\n<footer class=\"site-footer\">\n\
<p><a href=\"#top\">Up</a> <a href=\"mailto:office@example.test\">Write to us</a> \
<a href=\"javascript:void(0)\">Print</a></p>\n\
<p class=\"small\">All that is written here was made up by nobody in particular.</p>\n\
<!-- <a href=\"/commented-out\">old</a> -->\n</footer>\n</body>\n</html>\n";

/// The lexicon has letters of Latin-1 only.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

/// One gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = libdeflater::CompressionLvl::new(GZIP_LEVEL).expect("6 is a level");
    let mut compressor = libdeflater::Compressor::new(level);
    let mut packed = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length =
        compressor.gzip_compress(bytes, &mut packed).expect("the bound is enough for any input");
    packed.truncate(length);
    packed
}

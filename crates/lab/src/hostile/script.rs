//! What a server does with a connection after a request: bytes, pauses, and an end.

use std::borrow::Cow;
use std::time::Duration;

/// Acted out step by step. Without `Close`, `Reset` or `Hold` the connection goes on.
#[derive(Clone, Debug, Default)]
pub struct WireScript {
    pub steps: Vec<WireStep>,
    /// It asked for no request within this time (Retry-After).
    pub not_within: Option<Duration>,
}

#[derive(Clone, Debug)]
pub enum WireStep {
    Send(Cow<'static, [u8]>),
    /// The same, unless the next request has come: nobody could tell that from its answer.
    SendUnasked(Cow<'static, [u8]>),
    Pause(Duration),
    /// The same bytes for ever, with a pause after each.
    Repeat(Cow<'static, [u8]>, Duration),
    /// The same bytes so many times.
    Times(Cow<'static, [u8]>, u64),
    /// Says nothing and waits until the client goes.
    Hold,
    Close,
    /// Closes with a reset.
    Reset,
}

impl WireScript {
    pub fn raw(bytes: impl Into<Cow<'static, [u8]>>) -> WireScript {
        WireScript { steps: vec![WireStep::Send(bytes.into())], not_within: None }
    }

    /// A whole answer with its length.
    pub fn answer(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> WireScript {
        let body = body.as_ref();
        let length = format!("Content-Length: {}", body.len());
        let headers = [headers, &[length.as_str()]].concat();
        WireScript::head(status, &headers).send(body.to_vec())
    }

    /// A head alone.
    pub fn head(status: &str, headers: &[&str]) -> WireScript {
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        WireScript::raw(format!("HTTP/1.1 {status}\r\n{headers}\r\n").into_bytes())
    }

    pub fn html(body: impl AsRef<[u8]>) -> WireScript {
        WireScript::answer("200 OK", &["Content-Type: text/html; charset=utf-8"], body)
    }

    /// A small page of its own with these links.
    pub fn page<L: AsRef<str>>(title: &str, links: impl IntoIterator<Item = L>) -> WireScript {
        WireScript::html(document(title, links))
    }

    pub fn text(body: impl AsRef<[u8]>) -> WireScript {
        WireScript::answer("200 OK", &["Content-Type: text/plain"], body)
    }

    pub fn moved(to: &str) -> WireScript {
        WireScript::answer("302 Found", &[&format!("Location: {to}")], "")
    }

    pub fn not_found() -> WireScript {
        WireScript::answer("404 Not Found", &["Content-Type: text/plain"], "There is none.\n")
    }

    pub fn silence() -> WireScript {
        WireScript::default().hold()
    }

    pub fn send(self, bytes: impl Into<Cow<'static, [u8]>>) -> WireScript {
        self.then(WireStep::Send(bytes.into()))
    }

    pub fn send_unasked(self, bytes: impl Into<Cow<'static, [u8]>>) -> WireScript {
        self.then(WireStep::SendUnasked(bytes.into()))
    }

    pub fn pause(self, time: Duration) -> WireScript {
        self.then(WireStep::Pause(time))
    }

    pub fn repeat(self, bytes: impl Into<Cow<'static, [u8]>>, each: Duration) -> WireScript {
        self.then(WireStep::Repeat(bytes.into(), each))
    }

    pub fn times(self, bytes: impl Into<Cow<'static, [u8]>>, count: u64) -> WireScript {
        self.then(WireStep::Times(bytes.into(), count))
    }

    pub fn hold(self) -> WireScript {
        self.then(WireStep::Hold)
    }

    pub fn close(self) -> WireScript {
        self.then(WireStep::Close)
    }

    pub fn reset(self) -> WireScript {
        self.then(WireStep::Reset)
    }

    /// The answer asks for no request within this time; one that comes all the same is counted.
    pub fn not_within(self, time: Duration) -> WireScript {
        WireScript { not_within: Some(time), ..self }
    }

    pub fn then(mut self, step: WireStep) -> WireScript {
        self.steps.push(step);
        self
    }
}

/// HTML with a text that no other title has, and these links.
pub fn document<L: AsRef<str>>(title: &str, links: impl IntoIterator<Item = L>) -> String {
    let links: String = links
        .into_iter()
        .enumerate()
        .map(|(n, link)| format!("<li><a href=\"{}\">{n}</a></li>\n", link.as_ref()))
        .collect();
    let words = words_of(title);
    format!(
        "<!doctype html><title>{title}</title>\n<h1>{title}</h1>\n<p>{words}</p>\n\
         <ul>\n{links}<li><a href=\"/private/never\">private</a></li>\n</ul>\n"
    )
}

/// Some sixty words that depend on the title, so that no page is taken for a copy of another.
fn words_of(title: &str) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "wy",
    ];
    let mut noise = Noise::of(title);
    let mut word = || -> String {
        (0..3).map(|_| SYLLABLES[(noise.next() >> 32) as usize % SYLLABLES.len()]).collect()
    };
    (0..60).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// Numbers that look random and are the same in each run.
pub struct Noise(u64);

impl Noise {
    pub fn of(text: &str) -> Noise {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Noise(text.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    #[expect(clippy::should_implement_trait, reason = "it never ends: no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(count).collect()
    }
}

//! Which encoding is this page in, and the page as text.
//!
//! The order of the HTML standard: a byte order mark, then what the server declared, then what the
//! page declares in its first bytes, then a guess. Text that is valid UTF-8 already, the usual
//! case, is borrowed.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes searched for a declaration by the page itself; the standard's number.
pub const PRESCAN_BYTES_MAX: usize = 1024;
/// Bytes searched for a late declaration, behind a long script for example.
pub const LATE_BYTES_MAX: usize = 64 * 1024;
/// Bytes the guess looks at: enough to be sure, little enough to be cheap.
pub const GUESS_BYTES_MAX: usize = 64 * 1024;

/// A body as text.
#[derive(Clone, Debug)]
pub struct DecodedText<'a> {
    /// The text, without a byte order mark; bytes that mean nothing have become U+FFFD.
    pub text: Cow<'a, str>,
    /// The encoding's name in the Encoding standard: `UTF-8`, `windows-1252`, …
    pub encoding: &'static str,
}

/// Decodes a body; `host` helps the guess (a page of unknown encoding on `.jp` is likely Japanese).
pub fn decode<'a>(body: &'a [u8], declared: Option<&str>, host: Option<&str>) -> DecodedText<'a> {
    let stated = Encoding::for_bom(body)
        .map(|(encoding, _)| encoding)
        .or_else(|| declared.and_then(|label| Encoding::for_label(label.trim().as_bytes())))
        .or_else(|| prescan(body, PRESCAN_BYTES_MAX));
    match stated {
        Some(encoding) => decode_in(body, encoding),
        None => match std::str::from_utf8(body) {
            Ok(text) => DecodedText { text: Cow::Borrowed(text), encoding: UTF_8.name() },
            Err(_) => {
                let late = prescan(body, LATE_BYTES_MAX);
                decode_in(body, late.unwrap_or_else(|| guess(body, host)))
            }
        },
    }
}

fn decode_in<'a>(body: &'a [u8], encoding: &'static Encoding) -> DecodedText<'a> {
    let (text, encoding, _) = encoding.decode(body);
    DecodedText { text, encoding: encoding.name() }
}

fn guess(body: &[u8], host: Option<&str>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let seen = &body[..body.len().min(GUESS_BYTES_MAX)];
    detector.feed(seen, seen.len() == body.len());
    detector.guess(host.and_then(top_level_domain), Utf8Detection::Allow)
}

/// The last label of a host name, if it is one that the detector takes (it panics on others).
fn top_level_domain(host: &str) -> Option<&[u8]> {
    let label = host.rsplit('.').next()?.as_bytes();
    let is_name = label.first().is_some_and(u8::is_ascii_lowercase)
        && label.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    is_name.then_some(label)
}

/// The encoding that the page declares in a `meta` among its first bytes: the standard's prescan.
pub fn prescan(body: &[u8], bytes_max: usize) -> Option<&'static Encoding> {
    let bytes = &body[..body.len().min(bytes_max)];
    if let Some(encoding) = utf16_xml_declaration(bytes) {
        return Some(encoding);
    }
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // The dashes of the opening may be those of the end: `<!-->` is a whole comment.
            at = position_of(bytes, at + 2, b"-->")? + 3;
        } else if is_meta(rest) {
            let (found, next) = meta_charset(bytes, at + 6)?;
            if found.is_some() {
                return found;
            }
            at = next;
        } else if is_tag(rest) {
            at = skip_tag(bytes, at)?;
        } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
            at = position_of(bytes, at + 1, b">")? + 1;
        } else {
            at += 1;
        }
    }
    None
}

/// `<?` in UTF-16 without a byte order mark.
fn utf16_xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5
        && rest[..5].eq_ignore_ascii_case(b"<meta")
        && (is_space(rest[5]) || rest[5] == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    match rest {
        [b'<', b'/', letter, ..] | [b'<', letter, ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

fn skip_tag(bytes: &[u8], at: usize) -> Option<usize> {
    let name_end = bytes[at..].iter().position(|&b| is_space(b) || b == b'>')?;
    let mut at = at + name_end;
    loop {
        match attribute(bytes, at)? {
            (Some(_), next) => at = next,
            (None, next) => return Some(next + 1),
        }
    }
}

/// The charset of the `meta` whose attributes start at `at`, if it declares one, and where to go
/// on; None if the bytes end within it.
fn meta_charset(bytes: &[u8], mut at: usize) -> Option<(Option<&'static Encoding>, usize)> {
    let mut seen: Vec<&[u8]> = Vec::new();
    let (mut got_pragma, mut need_pragma, mut charset) = (false, None, None);
    loop {
        let (found, next) = attribute(bytes, at)?;
        at = next;
        let Some((name, value)) = found else { break };
        let names: [&[u8]; 3] = [b"http-equiv", b"content", b"charset"];
        let Some(name) = names.into_iter().find(|known| *known == name) else { continue };
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        match name {
            b"http-equiv" => got_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(encoding) = charset_of_content(&value) {
                    charset = Some(encoding);
                    need_pragma = Some(true);
                }
            }
            b"charset" => {
                charset = Encoding::for_label(&value);
                need_pragma = Some(false);
            }
            _ => (),
        }
    }
    let declared = match need_pragma {
        None => None,
        Some(true) if !got_pragma => None,
        Some(_) => charset.map(as_declared_within),
    };
    Some((declared, at + 1))
}

/// A page that could be read to this point is not in UTF-16, whatever it says.
fn as_declared_within(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

/// The encoding in `text/html; charset=…`.
fn charset_of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        at = position_of(content, at, b"charset")? + b"charset".len();
        let equals = at + content[at..].iter().position(|&b| !is_space(b))?;
        if content[equals] != b'=' {
            at = equals;
            continue;
        }
        let rest = content[equals + 1..].trim_ascii_start();
        let label = match rest.first()? {
            quote @ (b'"' | b'\'') => {
                let end = rest[1..].iter().position(|b| b == quote)?;
                &rest[1..1 + end]
            }
            _ => {
                let end = rest.iter().position(|&b| is_space(b) || b == b';');
                &rest[..end.unwrap_or(rest.len())]
            }
        };
        return Encoding::for_label(label);
    }
}

/// A lower-case name and value.
type PrescanAttribute = (Vec<u8>, Vec<u8>);

/// The prescan's attribute at `at`, or none at the tag's `>`; and where to go on. None if the bytes
/// end first.
fn attribute(bytes: &[u8], mut at: usize) -> Option<(Option<PrescanAttribute>, usize)> {
    while is_space(*bytes.get(at)?) || bytes[at] == b'/' {
        at += 1;
    }
    if bytes[at] == b'>' {
        return Some((None, at));
    }
    let name_start = at;
    loop {
        match *bytes.get(at)? {
            b'=' if at > name_start => break,
            b'/' | b'>' => break,
            byte if is_space(byte) => break,
            _ => at += 1,
        }
    }
    let name = bytes[name_start..at].to_ascii_lowercase();
    while is_space(*bytes.get(at)?) {
        at += 1;
    }
    if bytes[at] != b'=' {
        return Some((Some((name, Vec::new())), at));
    }
    at += 1;
    while is_space(*bytes.get(at)?) {
        at += 1;
    }
    let (start, end, next) = match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + bytes[at + 1..].iter().position(|&b| b == quote)?;
            (at + 1, end, end + 1)
        }
        _ => {
            let end = at + bytes[at..].iter().position(|&b| is_space(b) || b == b'>')?;
            (at, end, end)
        }
    };
    Some((Some((name, bytes[start..end].to_ascii_lowercase())), next))
}

fn position_of(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let found = bytes.get(from..)?.windows(wanted.len()).position(|window| window == wanted)?;
    Some(from + found)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(body: &[u8], declared: Option<&str>) -> (String, &'static str) {
        let decoded = decode(body, declared, Some("host.test"));
        (decoded.text.into_owned(), decoded.encoding)
    }

    #[test]
    fn a_mark_beats_the_server_and_the_server_beats_the_page() {
        let page = b"<meta charset=koi8-r>\xE9";
        assert_eq!(decoded(page, Some("latin1")).1, "windows-1252");
        assert_eq!(decoded(page, Some("no such charset")).1, "KOI8-R");
        assert_eq!(decoded(b"\xEF\xBB\xBF\xC3\xA9", Some("latin1")), ("é".to_owned(), "UTF-8"));
        assert_eq!(decoded(b"\xFF\xFEa\0", None), ("a".to_owned(), "UTF-16LE"));
    }

    #[test]
    fn a_page_that_says_nothing_is_utf_8_if_it_can_be_and_else_guessed() {
        assert!(matches!(decode("é".as_bytes(), None, None).text, Cow::Borrowed("é")));
        let russian =
            encoding_rs::WINDOWS_1251.encode("Съешь же ещё этих мягких французских булок").0;
        assert_eq!(decoded(&russian, None).1, "windows-1251");
        let late = [b" ".repeat(2000).as_slice(), b"<meta charset=koi8-r>\xE9"].concat();
        assert_eq!(decoded(&late, None).1, "KOI8-R");
        for odd_host in ["", ".", "1.2.3.4", "[::1]", "UPPER", "xn--p1ai", "a.b-"] {
            decode(&russian, None, Some(odd_host));
        }
    }
}

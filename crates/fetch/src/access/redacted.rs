//! Requests as they are kept: without the values that are nobody else's.

use hyper::header::HeaderName;

const INSTEAD: &[u8] = b"REDACTED";

/// Puts a word in the place of each value under one of these names, in the head of a request.
pub fn redact(request: &mut Vec<u8>, names: &[HeaderName]) {
    let mut kept = Vec::with_capacity(request.len());
    let mut rest = request.as_slice();
    let mut is_first = true;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, after) = rest.split_at(end + 1);
        let name = memchr::memchr(b':', line).map(|colon| &line[..colon]);
        let is_secret = |name: &[u8]| {
            names.iter().any(|secret| name.eq_ignore_ascii_case(secret.as_str().as_bytes()))
        };
        match name.filter(|name| !is_first && is_secret(name)) {
            Some(name) => {
                kept.extend_from_slice(name);
                kept.extend_from_slice(b": ");
                kept.extend_from_slice(INSTEAD);
                kept.extend_from_slice(b"\r\n");
            }
            None => kept.extend_from_slice(line),
        }
        (rest, is_first) = (after, false);
    }
    // A request that was cut in the middle of a header: nobody needs its end.
    *request = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{AUTHORIZATION, COOKIE};

    #[test]
    fn values_are_taken_out_and_all_else_stays() {
        let text = "GET /a:b HTTP/1.1\r\nHost: a.org\r\nAUTHORIZATION: Basic x\r\n\
            X-Cookie: kept\r\ncookie:a=1\r\n\r\n";
        let mut request = text.as_bytes().to_vec();
        redact(&mut request, &[AUTHORIZATION, COOKIE]);
        let wanted = "GET /a:b HTTP/1.1\r\nHost: a.org\r\nAUTHORIZATION: REDACTED\r\n\
            X-Cookie: kept\r\ncookie: REDACTED\r\n\r\n";
        assert_eq!(String::from_utf8(request).unwrap(), wanted);
    }

    #[test]
    fn a_request_that_was_cut_ends_before_the_line_that_was() {
        let mut request = b"GET / HTTP/1.1\r\nAuthorization: Basic hal".to_vec();
        redact(&mut request, &[AUTHORIZATION]);
        assert_eq!(request, b"GET / HTTP/1.1\r\n");
    }
}

//! Cookies in the file format of Netscape, which browsers' extensions, curl and wget write: seven
//! fields with tabs between them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rhumb_page::url::{NamedHost, Site};

use super::cookie::{self, Cookie};
use crate::ConfigError;

pub const HEAD: &str = "# Netscape HTTP Cookie File\n";
/// Before the domain of a cookie that scripts must not see: to a crawler like any other.
const HTTP_ONLY: &str = "#HttpOnly_";
const FIELDS: usize = 7;
const COOKIES_MAX: usize = 10_000;
const LINE_BYTES_MAX: usize = 16 << 10;

/// Reads a whole file; what is wrong in it is said by line, and without the line.
pub fn read_cookies(path: &Path) -> Result<Vec<Cookie>, ConfigError> {
    let unreadable = |error: io::Error| ConfigError(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    read(&mut BufReader::new(file), &path.display().to_string())
}

fn read(input: &mut impl BufRead, name: &str) -> Result<Vec<Cookie>, ConfigError> {
    let mut cookies = Vec::new();
    let mut line = Vec::new();
    for number in 1u64.. {
        let wrong = |what: &str| ConfigError(format!("{name}:{number}: {what}"));
        line.clear();
        let mut limited = Read::take(&mut *input, LINE_BYTES_MAX as u64 + 1);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) if line.len() > LINE_BYTES_MAX => {
                return Err(wrong(&format!("a line of more than {LINE_BYTES_MAX} bytes")));
            }
            Ok(_) => {}
            Err(error) => return Err(wrong(&error.to_string())),
        }
        let text = std::str::from_utf8(&line).map_err(|_| wrong("not UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
        let text = text.strip_prefix(HTTP_ONLY).unwrap_or(text);
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        cookies.push(cookie_of(text).map_err(|what| wrong(&what))?);
        if cookies.len() > COOKIES_MAX {
            return Err(wrong(&format!("more than {COOKIES_MAX} cookies")));
        }
    }
    Ok(cookies)
}

fn cookie_of(line: &str) -> Result<Cookie, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, is_wide, path, is_secure, expires, name, value] = fields[..] else {
        let form = "domain, TRUE|FALSE, path, TRUE|FALSE, expiry, name, value";
        let found = fields.len();
        return Err(format!("{found} fields instead of {FIELDS} with tabs between: {form}"));
    };
    let truth = |text: &str, what: &str| match text {
        "TRUE" | "true" => Ok(true),
        "FALSE" | "false" => Ok(false),
        _ => Err(format!("{what} is TRUE or FALSE")),
    };
    let host: NamedHost = domain
        .trim_start_matches('.')
        .parse()
        .map_err(|_| "the first field is a domain".to_owned())?;
    let domain = host.to_string();
    let is_wide = truth(is_wide, "the second field, whether hosts below the domain get it,")?;
    if is_wide && domain.contains('.') && Site::is_public_suffix(&domain) {
        return Err("a cookie for all of a public suffix".to_owned());
    }
    // Some writers have fractions of a second.
    let expires = expires.split('.').next().unwrap_or_default().parse::<i64>();
    let expires = expires.map_err(|_| "the fifth field is seconds since 1970, or 0".to_owned())?;
    let (name, value) = (name.trim(), value.trim());
    if cookie::pair(&format!("{name}={value}")) != Some((name, value)) {
        return Err("a name or value that cannot be sent".to_owned());
    }
    Ok(Cookie {
        name: name.into(),
        value: value.into(),
        domain: domain.into(),
        is_host_only: !is_wide,
        path: if path.starts_with('/') { path.into() } else { "/".into() },
        is_secure: truth(is_secure, "the fourth field, whether it goes over https alone,")?,
        expires: u64::try_from(expires).ok().filter(|at| *at > 0),
        is_given: true,
    })
}

pub fn line(cookie: &Cookie) -> String {
    let truth = |is: bool| if is { "TRUE" } else { "FALSE" };
    let dot = if cookie.is_host_only { "" } else { "." };
    format!(
        "{dot}{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        cookie.domain,
        truth(!cookie.is_host_only),
        cookie.path.replace('\t', "%09"),
        truth(cookie.is_secure),
        cookie.expires.unwrap_or(0),
        cookie.name,
        cookie.value
    )
}

/// Replaces a file whole, and lets nobody else read it.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    let _ = fs::remove_file(&beside);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_page::url::Url;

    fn cookies(text: &str) -> Result<Vec<Cookie>, ConfigError> {
        read(&mut text.as_bytes(), "c.txt")
    }

    #[test]
    fn cookies_are_read_as_browsers_write_them_and_written_to_be_read_again() {
        let text = "# Netscape HTTP Cookie File\n\n\
            .a.org\tTRUE\t/\tFALSE\t0\tsession\tone\n\
            #HttpOnly_www.a.org\tFALSE\t/x\tTRUE\t4102444800.5\tid\ttwo=three\r\n";
        let read = cookies(text).unwrap();
        let url = |text| Url::parse(text).unwrap();
        assert!(read[0].is_for(&url("http://docs.a.org/"), 0));
        assert!(read[1].is_for(&url("https://www.a.org/x"), 0));
        assert!(!read[1].is_for(&url("http://www.a.org/x"), 0));
        let lines: String = read.iter().map(line).collect();
        assert_eq!(cookies(&lines).unwrap(), read);
    }

    #[test]
    fn what_is_wrong_is_said_by_line_and_without_the_secret() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        for (text, wanted) in [
            ("a.org TRUE / FALSE 0 n secret", "c.txt:1: 1 fields instead of 7"),
            ("\na.org\tMAYBE\t/\tFALSE\t0\tn\tsecret", "c.txt:2: the second field"),
            ("a.org\tTRUE\t/\tFALSE\tsoon\tn\tsecret", "c.txt:1: the fifth field"),
            ("a b\tTRUE\t/\tFALSE\t0\tn\tsecret", "c.txt:1: the first field is a domain"),
            (".co.uk\tTRUE\t/\tFALSE\t0\tn\tsecret", "c.txt:1: a cookie for all of a public"),
            ("a.org\tTRUE\t/\tFALSE\t0\tn\tsec;ret", "c.txt:1: a name or value that cannot"),
            (&long, "c.txt:1: a line of more than"),
        ] {
            let error = cookies(text).unwrap_err().0;
            assert!(error.starts_with(wanted) && !error.contains("secret"), "{error}");
        }
        assert!(read(&mut &b"\xff\xfe"[..], "c.txt").is_err());
    }
}

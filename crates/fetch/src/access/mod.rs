//! What a request carries for its site alone: headers, cookies and logins that the owner gave, and
//! cookies that the site itself has set.
//!
//! A redirect is a request of its own, so all of this is decided by the URL that is asked for, be
//! it a page or a robots.txt:
//!
//! - headers go to the seeds' sites, cookies to those of them that their domain and path name, a
//!   login to its one host;
//! - over plain http headers and logins go only to sites with a seed that is plain http itself;
//! - what a site sets is kept for that site: no other ever sees it.
//!
//! Invariant: the values leave this room on the wire alone. `redact` takes them out of the bytes
//! that are kept, nothing here displays them, and no error quotes them.

mod cookie;
mod jar;
mod login;
mod netscape;
mod redacted;
mod seed_sites;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use std::{fmt, io};

use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderMap,
    HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, RANGE, TE,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use rhumb_page::url::Url;

use super::ConfigError;
use super::head::HeadBytes;
use jar::Jar;

pub use cookie::Cookie;
pub(crate) use cookie::is_within;
pub use login::Login;
pub(crate) use login::basic;
pub use netscape::read_cookies;
pub use seed_sites::SeedSites;

/// Nobody sends more headers than this for a reason.
const HEADERS_MAX: usize = 64;
const HEADER_VALUE_BYTES_MAX: usize = 8 << 10;
/// Cookies of one request; servers refuse longer heads than this.
const COOKIES_SENT_BYTES_MAX: usize = 16 << 10;

/// Who may be told what.
#[derive(Clone, Default)]
pub struct AccessConfig {
    pub sites: SeedSites,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub cookies: Vec<Cookie>,
    pub logins: Vec<Login>,
    /// Cookies that sites set are kept and sent back.
    pub keeps_cookies: bool,
}

impl AccessConfig {
    /// Takes a header as it is written, `Name: value`.
    pub fn header(&mut self, line: &str) -> Result<(), ConfigError> {
        let wrong = |what: &str| Err(ConfigError(what.to_owned()));
        let Some((name, value)) = line.split_once(':') else {
            return wrong("a header is written 'Name: value'");
        };
        let Ok(name) = name.trim().parse::<HeaderName>() else {
            return wrong("the name of a header is letters, digits and hyphens before a colon");
        };
        if let Some(why) = not_for_configuration(&name) {
            return Err(ConfigError(format!("header {name}: {why}")));
        }
        let value = value.trim();
        match HeaderValue::from_str(value) {
            Ok(mut value) if value.len() <= HEADER_VALUE_BYTES_MAX => {
                value.set_sensitive(true);
                self.headers.push((name, value));
            }
            Ok(_) => {
                let long = format!("header {name}: longer than {HEADER_VALUE_BYTES_MAX} bytes");
                return Err(ConfigError(long));
            }
            Err(_) => {
                let odd = format!("header {name}: its value has characters that cannot be sent");
                return Err(ConfigError(odd));
            }
        }
        match self.headers.len() > HEADERS_MAX {
            true => wrong("more than 64 headers"),
            false => Ok(()),
        }
    }
}

/// Without their values: this may be logged.
impl fmt::Debug for AccessConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("AccessConfig")
            .field("headers", &names)
            .field("cookies", &self.cookies.len())
            .field("logins", &self.logins)
            .field("keeps_cookies", &self.keeps_cookies)
            .finish_non_exhaustive()
    }
}

/// Why a header is not one that an owner may set, if so.
fn not_for_configuration(name: &HeaderName) -> Option<&'static str> {
    if *name == USER_AGENT {
        return Some("say --user-agent, so that robots.txt is read for the same name");
    }
    if *name == PROXY_AUTHORIZATION {
        return Some("name the user in --proxy http://USER:PASSWORD@HOST:PORT");
    }
    let own = [
        HOST,
        CONNECTION,
        CONTENT_LENGTH,
        TRANSFER_ENCODING,
        ACCEPT_ENCODING,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
        RANGE,
        TE,
        UPGRADE,
        EXPECT,
    ];
    own.contains(name).then_some("it belongs to how a page is fetched and is not to be set")
}

pub(super) struct Access {
    sites: SeedSites,
    headers: Vec<(HeaderName, HeaderValue)>,
    logins: Vec<Login>,
    keeps_cookies: bool,
    jar: Mutex<Jar>,
    /// Whose values are not kept.
    secret: Vec<HeaderName>,
}

impl Access {
    pub fn new(config: &AccessConfig) -> Access {
        let given = config.cookies.iter().filter(|cookie| config.sites.has_domain(&cookie.domain));
        let mut secret = vec![AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE];
        secret.extend(config.headers.iter().map(|(name, _)| name.clone()));
        Access {
            sites: config.sites.clone(),
            headers: config.headers.clone(),
            logins: config.logins.clone(),
            keeps_cookies: config.keeps_cookies,
            jar: Mutex::new(Jar::of(given.cloned())),
            secret,
        }
    }

    /// The headers that the owner gave for this URL's site.
    pub fn headers_for(&self, url: &Url) -> &[(HeaderName, HeaderValue)] {
        if self.sites.may_have(url) { &self.headers } else { &[] }
    }

    /// Adds what this URL's site is to be told; whether that was anything.
    pub fn carry(&self, url: &Url, headers: &mut HeaderMap) -> bool {
        let before = headers.len();
        for (name, value) in self.headers_for(url) {
            headers.append(name, value.clone());
        }
        let login = self.logins.iter().find(|login| login.host.has(url));
        if let Some(login) = login.filter(|_| self.sites.may_have_login(url)) {
            headers.insert(AUTHORIZATION, login.basic());
        }
        self.carry_cookies(url, headers);
        headers.len() > before
    }

    fn carry_cookies(&self, url: &Url, headers: &mut HeaderMap) {
        let cookies = self.jar().for_url(url, now_s(), COOKIES_SENT_BYTES_MAX);
        if cookies.is_empty() {
            return;
        }
        let whole = match headers.get(COOKIE).and_then(|given| given.to_str().ok()) {
            Some(given) => format!("{given}; {cookies}"),
            None => cookies,
        };
        if let Ok(mut value) = HeaderValue::from_str(&whole) {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
    }

    /// Keeps what a site sets, if that is wanted.
    pub fn learn(&self, url: &Url, head: HeadBytes<'_>) {
        if !self.keeps_cookies {
            return;
        }
        let now = now_s();
        let set = head.all("set-cookie").take(cookie::SET_MAX);
        let cookies: Vec<Cookie> = set.filter_map(|value| Cookie::parse(value, url, now)).collect();
        if !cookies.is_empty() {
            let mut jar = self.jar();
            cookies.into_iter().for_each(|cookie| jar.put(url.site().as_str(), cookie, now));
        }
    }

    /// Takes the values of what was carried out of a request that is to be kept.
    pub fn redact(&self, request: &mut Vec<u8>) {
        redacted::redact(request, &self.secret);
    }

    /// Reads cookies that an earlier run's sites have set.
    pub fn load(&self, path: &Path) -> io::Result<()> {
        let cookies = match netscape::read_cookies(path) {
            Ok(cookies) => cookies,
            Err(_) if !path.exists() => return Ok(()),
            Err(error) => return Err(io::Error::other(error.0)),
        };
        let now = now_s();
        let mut jar = self.jar();
        for cookie in cookies {
            let site = cookie.site();
            jar.put(&site, Cookie { is_given: false, ..cookie }, now);
        }
        Ok(())
    }

    /// Writes the cookies that sites have set, for nobody else to read.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if !self.keeps_cookies {
            return Ok(());
        }
        let text = self.jar().to_netscape(now_s());
        netscape::write_private(path, &text)
    }

    fn jar(&self) -> MutexGuard<'_, Jar> {
        self.jar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds since 1970.
fn now_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

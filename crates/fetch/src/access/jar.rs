//! The cookies of a crawl, each site's apart from those of the others.
//!
//! Bounded in cookies of a site and in bytes of all: where both are full, the oldest cookie of the
//! site gives way, and the sites that were longest without a new one.

use std::collections::HashMap;

use rhumb_page::url::Url;

use super::cookie::Cookie;
use super::netscape;

/// As many as browsers keep of one domain.
const OF_SITE_MAX: usize = 180;
/// Of all sites; with what a map takes besides, some tens of megabytes.
const BYTES_MAX: usize = 32 << 20;
/// What an entry takes beside its text.
const ENTRY_BYTES: usize = 128;

#[derive(Default)]
pub struct Jar {
    sites: HashMap<Box<str>, OfSite>,
    bytes: usize,
    next_age: u64,
}

#[derive(Default)]
struct OfSite {
    /// Oldest first.
    cookies: Vec<Cookie>,
    age: u64,
}

impl Jar {
    /// With those that the owner gave.
    pub fn of(given: impl Iterator<Item = Cookie>) -> Jar {
        let mut jar = Jar::default();
        for cookie in given {
            let site = cookie.site();
            // Whether one has expired is looked at when it is sent.
            jar.put(&site, cookie, 0);
        }
        jar
    }

    /// Takes what a site sets: in place of what it set before, or to be forgotten.
    pub fn put(&mut self, site: &str, cookie: Cookie, now: u64) {
        let age = self.next_age;
        self.next_age += 1;
        let there = self.sites.entry(site.into()).or_default();
        there.age = age;
        if let Some(at) = there.cookies.iter().position(|other| other.is_same(&cookie)) {
            let old = there.cookies.remove(at);
            self.bytes -= old.bytes() + ENTRY_BYTES;
        }
        if !cookie.has_expired(now) {
            self.bytes += cookie.bytes() + ENTRY_BYTES;
            there.cookies.push(cookie);
        }
        if there.cookies.len() > OF_SITE_MAX {
            let oldest = there.cookies.remove(0);
            self.bytes -= oldest.bytes() + ENTRY_BYTES;
        }
        if self.bytes > BYTES_MAX {
            self.forget_oldest();
        }
    }

    /// A quarter of the sites at once, so that looking for them costs little each time.
    fn forget_oldest(&mut self) {
        let mut ages: Vec<u64> = self.sites.values().map(|there| there.age).collect();
        ages.sort_unstable();
        let last = ages[ages.len().div_ceil(4) - 1];
        self.sites.retain(|_, there| there.age > last);
        let all = self.sites.values().flat_map(|there| &there.cookies);
        self.bytes = all.map(|cookie| cookie.bytes() + ENTRY_BYTES).sum();
    }

    /// The value of a Cookie header, as long as it may be: longer paths first, then the older.
    pub fn for_url(&self, url: &Url, now: u64, bytes_max: usize) -> String {
        let Some(there) = self.sites.get(url.site().as_str()) else { return String::new() };
        let mut cookies: Vec<&Cookie> =
            there.cookies.iter().filter(|cookie| cookie.is_for(url, now)).collect();
        cookies.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut text = String::new();
        for cookie in cookies {
            let separator = if text.is_empty() { "" } else { "; " };
            let more = separator.len() + cookie.name.len() + 1 + cookie.value.len();
            if text.len() + more <= bytes_max {
                text.push_str(separator);
                text.push_str(&cookie.name);
                text.push('=');
                text.push_str(&cookie.value);
            }
        }
        text
    }

    /// Those that sites have set; what the owner gave stays in the owner's file.
    pub fn to_netscape(&self, now: u64) -> String {
        let all = self.sites.values().flat_map(|there| &there.cookies);
        let mut lines: Vec<String> = all
            .filter(|cookie| !cookie.is_given && !cookie.has_expired(now))
            .map(netscape::line)
            .collect();
        lines.sort_unstable();
        netscape::HEAD.to_owned() + &lines.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(set: &str, from: &str) -> Cookie {
        Cookie::parse(set.as_bytes(), &Url::parse(from).unwrap(), 0).unwrap()
    }

    fn header(jar: &Jar, url: &str) -> String {
        jar.for_url(&Url::parse(url).unwrap(), 0, 16 << 10)
    }

    #[test]
    fn each_site_gets_its_own_cookies_longest_path_first_and_the_last_that_was_set() {
        let mut jar = Jar::default();
        jar.put("a.org", cookie("n=1; Path=/", "http://a.org/"), 0);
        jar.put("a.org", cookie("deep=1; Path=/x", "http://a.org/"), 0);
        jar.put("a.org", cookie("n=2; Path=/", "http://a.org/"), 0);
        jar.put("b.org", cookie("b=1", "http://b.org/"), 0);
        assert_eq!(header(&jar, "http://a.org/x/y"), "deep=1; n=2");
        assert_eq!(header(&jar, "http://b.org/x"), "b=1");
        assert_eq!(header(&jar, "http://c.org/"), "");
        jar.put("a.org", cookie("n=; Path=/; Max-Age=-1", "http://a.org/"), 0);
        assert_eq!(header(&jar, "http://a.org/"), "");
    }

    #[test]
    fn a_site_that_sets_cookies_without_end_takes_no_more_than_its_share() {
        let mut jar = Jar::default();
        for n in 0..2 * OF_SITE_MAX {
            jar.put("a.org", cookie(&format!("n{n}=1"), "http://a.org/"), 0);
        }
        assert_eq!(jar.sites["a.org"].cookies.len(), OF_SITE_MAX);
        let value = "x".repeat(4_000);
        for n in 0..10_000 {
            let site = format!("s{n}.org");
            jar.put(&site, cookie(&format!("n={value}"), &format!("http://{site}/")), 0);
            assert!(jar.bytes <= BYTES_MAX);
        }
        assert_ne!(header(&jar, "http://s9999.org/"), "");
        assert_eq!(header(&jar, "http://s0.org/"), "");
    }
}

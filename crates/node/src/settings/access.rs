//! How sites are reached that do not let everyone in: headers, cookies, logins, certificates,
//! proxies, and the sites that are the owner's own.
//!
//! What holds a secret is taken as it was typed and checked only here, by messages that do not
//! quote it: whoever reads flags and TOML shows what is wrong together with its line. Nor is it
//! written to `crawl.toml`: a header keeps its name there, a login the path of its password's
//! file, a proxy its address.

use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rhumb_fetch::access::{AccessConfig, Login, read_cookies};
use rhumb_fetch::proxy::{Proxies, Proxy};
use rhumb_fetch::{ConfigError, HttpConfig, TlsConfig};
use rhumb_page::url::NamedHost;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::quantity::{OptionalBound, from_text};
use super::seeds::SeedLine;
use super::word::NamedValue;
use super::written::WrittenSettings;
use super::{CookieJar, SettingsError};

/// What the cookies that sites set are kept in, in a crawl's directory.
pub const COOKIES_FILE: &str = "cookies.txt";

/// As the owner decided.
#[derive(Clone, Debug)]
pub struct AccessSettings {
    pub headers: Vec<HeaderLine>,
    pub cookies: Option<PathBuf>,
    pub cookie_jar: CookieJar,
    pub logins: Vec<LoginLine>,
    /// Hosts whose robots.txt is not obeyed: they are the owner's own.
    pub own_sites: Vec<NamedHost>,
    pub ca_file: Option<PathBuf>,
    /// Hosts whose certificates are not verified.
    pub insecure: Vec<NamedHost>,
    pub proxy: ProxyLine,
    pub bind: Option<IpAddr>,
}

/// `Name: value`; the name alone, as `crawl.toml` has it, is a header whose value was not kept.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderLine(String);

/// `HOST=USER:PASSWORD_FILE`
#[derive(Clone, PartialEq, Eq)]
pub struct LoginLine(String);

/// A proxy's URL, `environment` or `none`. As `crawl.toml` has it, three stars stand for a user
/// that was not kept.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyLine(String);

const ENVIRONMENT: &str = "environment";
const NONE: &str = "none";
const LEFT_OUT: &str = "***@";

impl Default for ProxyLine {
    fn default() -> ProxyLine {
        ProxyLine(ENVIRONMENT.to_owned())
    }
}

impl WrittenSettings {
    /// What is written of all this, over the defaults.
    pub(super) fn access(&mut self) -> AccessSettings {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let path =
            |bound: Option<OptionalBound<PathBuf>>| bound.and_then(|bound| bound.0).map(absolute);
        AccessSettings {
            headers: listed(self.header.take()),
            cookies: path(self.cookies.take()),
            cookie_jar: self.cookie_jar.take().map_or(CookieJar::Off, |word| word.0),
            logins: listed(self.auth.take()),
            own_sites: listed(self.own_site.take()),
            ca_file: path(self.ca_file.take()),
            insecure: listed(self.insecure.take()),
            proxy: self.proxy.take().unwrap_or_default(),
            bind: self.bind.take().and_then(|bound| bound.0),
        }
    }
}

impl WrittenSettings {
    /// A header that was typed has a value; one out of `crawl.toml` may have lost it.
    pub(super) fn check_headers(&self) -> Result<(), SettingsError> {
        let lines = self.header.iter().flatten().filter_map(|bound| bound.0.as_ref());
        match lines.into_iter().any(|line| !line.0.contains(':')) {
            true => Err(SettingsError::usage("a header is written 'Name: value'")),
            false => Ok(()),
        }
    }
}

/// Those of a list; `none` among them is how one of an earlier run is lifted.
fn listed<T>(list: Option<Vec<OptionalBound<T>>>) -> Vec<T> {
    list.unwrap_or_default().into_iter().filter_map(|bound| bound.0).collect()
}

fn written_list<T: Clone>(list: &[T]) -> Option<Vec<OptionalBound<T>>> {
    (!list.is_empty()).then(|| list.iter().cloned().map(|one| OptionalBound(Some(one))).collect())
}

impl AccessSettings {
    /// As `crawl.toml` has it.
    pub(super) fn write(&self, written: &mut WrittenSettings) {
        written.header = written_list(&self.headers);
        written.cookies = Some(OptionalBound(self.cookies.clone()));
        written.cookie_jar = Some(NamedValue(self.cookie_jar));
        written.auth = written_list(&self.logins);
        written.own_site = written_list(&self.own_sites);
        written.ca_file = Some(OptionalBound(self.ca_file.clone()));
        written.insecure = written_list(&self.insecure);
        written.proxy = Some(self.proxy.clone());
        written.bind = Some(OptionalBound(self.bind));
    }

    /// Fills in what a client is told of it; reads the files that are named.
    pub fn apply(&self, seeds: &[SeedLine], config: &mut HttpConfig) -> Result<(), ConfigError> {
        config.access = self.client(seeds)?;
        let mut tls = TlsConfig::from_environment()?;
        if let Some(path) = &self.ca_file {
            tls.add_pem_file(path)?;
        }
        tls.insecure = self.insecure.clone();
        config.tls = tls;
        config.proxies = self.proxy.proxies()?;
        config.bind = self.bind;
        Ok(())
    }

    fn client(&self, seeds: &[SeedLine]) -> Result<AccessConfig, ConfigError> {
        let keeps_cookies = self.cookie_jar == CookieJar::On;
        let mut access = AccessConfig { keeps_cookies, ..AccessConfig::default() };
        let is_private =
            !(self.headers.is_empty() && self.logins.is_empty() && self.cookies.is_none());
        if is_private {
            seeds.iter().for_each(|seed| access.sites.add(&seed.url));
        }
        for line in self.headers.iter().filter(|line| !line.is_name_alone()) {
            access.header(&line.0)?;
        }
        for line in &self.logins {
            access.logins.push(line.login()?);
        }
        if let Some(path) = &self.cookies {
            access.cookies = read_cookies(path)?;
        }
        Ok(access)
    }

    /// Whether all of it can be used: before anything begins.
    pub(super) fn check(&self, seeds: &[SeedLine]) -> Result<(), SettingsError> {
        let usage = |error: ConfigError| SettingsError::Usage(error.0);
        self.apply(seeds, &mut HttpConfig::default()).map_err(usage)?;
        if let Some(ip) = self.bind {
            TcpListener::bind(SocketAddr::new(ip, 0))
                .map_err(|error| SettingsError::usage(format!("bind {ip}: {error}")))?;
        }
        for own in &self.own_sites {
            let is_seeds = |seed: &SeedLine| own.is(seed.url.host(), seed.url.port());
            if !seeds.iter().any(is_seeds) {
                let wrong = format!("own_site {own}: no seed is on that host");
                return Err(SettingsError::Usage(wrong));
            }
        }
        Ok(())
    }

    /// What people should know of it.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for line in self.headers.iter().filter(|line| line.is_name_alone()) {
            notes.push(format!(
                "header {:?} of the last run is not sent: its value was not kept; say it again",
                line.name()
            ));
        }
        if self.proxy.0.contains(LEFT_OUT) {
            notes.push(
                "the user of --proxy was not kept from the last run: say it again".to_owned(),
            );
        }
        for host in &self.insecure {
            notes.push(format!("the certificate of {host} is not verified"));
        }
        notes
    }

    /// Further fields of the archive's own record.
    pub fn warcinfo_fields(&self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        if !self.own_sites.is_empty() {
            fields.push(("robots-ignored-for".to_owned(), joined(&self.own_sites)));
        }
        if !self.insecure.is_empty() {
            fields.push(("certificates-not-verified".to_owned(), joined(&self.insecure)));
        }
        fields
    }

    /// Where the cookies of a crawl are kept, if they are.
    pub fn jar(&self, dir: &Path) -> Option<PathBuf> {
        (self.cookie_jar == CookieJar::On).then(|| dir.join(COOKIES_FILE))
    }
}

fn joined(hosts: &[NamedHost]) -> String {
    hosts.iter().map(NamedHost::to_string).collect::<Vec<_>>().join(", ")
}

impl HeaderLine {
    fn name(&self) -> &str {
        self.0.split(':').next().unwrap_or_default().trim()
    }

    /// Its value was not kept.
    fn is_name_alone(&self) -> bool {
        !self.0.is_empty()
            && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    }
}

impl ProxyLine {
    fn proxies(&self) -> Result<Proxies, ConfigError> {
        let variable = |name: &str| std::env::var(name).ok();
        match self.0.as_str() {
            ENVIRONMENT => Proxies::of_environment(variable),
            NONE => Ok(Proxies::default()),
            text => {
                let proxy: Proxy = text.replacen(LEFT_OUT, "", 1).parse()?;
                let except = variable("no_proxy").or_else(|| variable("NO_PROXY"));
                Ok(Proxies::one(proxy, &except.unwrap_or_default()))
            }
        }
    }
}

impl LoginLine {
    fn login(&self) -> Result<Login, ConfigError> {
        let wrong = || ConfigError("a login is written HOST=USER:PASSWORD_FILE".to_owned());
        let (host, login) = self.0.split_once('=').ok_or_else(wrong)?;
        let (user, path) = login.split_once(':').ok_or_else(wrong)?;
        let host: NamedHost = host.trim().parse().map_err(|_| wrong())?;
        if path.is_empty() {
            return Err(wrong());
        }
        Login::from_file(host, user.to_owned(), Path::new(path))
    }
}

/// Never wrong: see the head of this file.
impl FromStr for HeaderLine {
    type Err = String;

    fn from_str(text: &str) -> Result<HeaderLine, String> {
        Ok(HeaderLine(text.to_owned()))
    }
}

impl FromStr for ProxyLine {
    type Err = String;

    fn from_str(text: &str) -> Result<ProxyLine, String> {
        Ok(ProxyLine(text.trim().to_owned()))
    }
}

impl FromStr for LoginLine {
    type Err = String;

    /// A later run may begin in another directory.
    fn from_str(text: &str) -> Result<LoginLine, String> {
        let whole = text.split_once('=').and_then(|(host, login)| {
            let (user, path) = login.split_once(':')?;
            let path = std::path::absolute(path).ok()?;
            Some(format!("{host}={user}:{}", path.display()))
        });
        Ok(LoginLine(whole.unwrap_or_else(|| text.to_owned())))
    }
}

impl fmt::Debug for HeaderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for ProxyLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kept())
    }
}

impl ProxyLine {
    /// Without its user.
    fn kept(&self) -> String {
        let text = self.0.replacen(LEFT_OUT, "", 1);
        let is_without = text != self.0;
        match text.parse::<Proxy>() {
            _ if text == ENVIRONMENT || text == NONE => text,
            Ok(proxy) if proxy.has_login() || is_without => {
                proxy.to_string().replacen("://", &format!("://{LEFT_OUT}"), 1)
            }
            Ok(proxy) => proxy.to_string(),
            Err(_) => String::new(),
        }
    }
}

impl Serialize for ProxyLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.kept())
    }
}

impl<'de> Deserialize<'de> for ProxyLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ProxyLine, D::Error> {
        from_text(deserializer, "a proxy, \"http://HOST:PORT\", \"environment\" or \"none\"")
    }
}

impl fmt::Debug for LoginLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.split('=').next().unwrap_or_default())
    }
}

impl Serialize for HeaderLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for LoginLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HeaderLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeaderLine, D::Error> {
        from_text(deserializer, "a header, \"Name: value\"")
    }
}

impl<'de> Deserialize<'de> for LoginLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LoginLine, D::Error> {
        from_text(deserializer, "a login, \"HOST=USER:PASSWORD_FILE\"")
    }
}

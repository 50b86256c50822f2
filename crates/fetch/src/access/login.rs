//! A login: user and password for one host, sent as RFC 7617 has it.

use std::fmt;
use std::io::Read;
use std::path::Path;

use data_encoding::BASE64;
use hyper::header::HeaderValue;
use rhumb_page::url::NamedHost;

use crate::ConfigError;

/// A file that is longer holds more than a password.
const PASSWORD_BYTES_MAX: usize = 4 << 10;

#[derive(Clone)]
pub struct Login {
    pub host: NamedHost,
    user: String,
    password: String,
}

impl Login {
    pub fn new(host: NamedHost, user: String, password: String) -> Result<Login, ConfigError> {
        let is_odd = |text: &str| text.chars().any(char::is_control);
        if user.contains(':') || is_odd(&user) || is_odd(&password) {
            let wrong = "the user has a colon, or user or password a control character";
            return Err(ConfigError(format!("login of {host}: {wrong}")));
        }
        Ok(Login { host, user, password })
    }

    /// With the password that a file has in its first line. What is wrong is said without the
    /// path: whoever writes the password where its file is to be named must not read it in a log.
    pub fn from_file(host: NamedHost, user: String, path: &Path) -> Result<Login, ConfigError> {
        let wrong = |what: String| ConfigError(format!("login of {host}: {what}"));
        let unreadable = |error: std::io::Error| {
            wrong(format!("the file of the password (HOST=USER:PASSWORD_FILE): {error}"))
        };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        let mut limited = file.take(PASSWORD_BYTES_MAX as u64 + 1);
        limited.read_to_string(&mut text).map_err(unreadable)?;
        if text.len() > PASSWORD_BYTES_MAX {
            return Err(wrong(format!("its file has more than {PASSWORD_BYTES_MAX} bytes")));
        }
        let password = text.lines().next().unwrap_or_default().to_owned();
        if password.is_empty() {
            return Err(wrong("the first line of the password's file is empty".to_owned()));
        }
        Login::new(host, user, password)
    }

    pub(super) fn basic(&self) -> HeaderValue {
        basic(&self.user, &self.password)
    }
}

/// `Basic` credentials, for a server or a proxy.
pub(crate) fn basic(user: &str, password: &str) -> HeaderValue {
    let text = format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes()));
    let mut value = HeaderValue::from_str(&text).expect("base64 can be sent");
    value.set_sensitive(true);
    value
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.host)
    }
}

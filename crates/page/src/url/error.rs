//! Why a text is no URL for us.

use std::fmt;

/// Why a text is no URL that can be fetched.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum UrlError {
    /// Not a URL by the WHATWG standard, with that parser's reason.
    Syntax(&'static str),
    /// A URL, but of a scheme that is not crawled.
    Scheme(Box<str>),
    /// A host that no name server could answer for.
    Host(&'static str),
    /// Longer than [`super::URL_BYTES_MAX`] once canonical, or than
    /// [`super::REFERENCE_BYTES_MAX`] as found.
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlError::Syntax(reason) => write!(f, "not a URL: {reason}"),
            UrlError::Scheme(scheme) => {
                write!(f, "scheme {scheme:?} is not one of http, https, ftp, file")
            }
            UrlError::Host(reason) => write!(f, "host cannot be resolved: {reason}"),
            UrlError::TooLong { bytes } => {
                write!(f, "{bytes} bytes are more than the {} allowed", super::URL_BYTES_MAX)
            }
        }
    }
}

impl std::error::Error for UrlError {}

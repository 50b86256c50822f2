//! Who may look: requests for our own name, from our own pages, with the token where one is asked.
//!
//! A page of a stranger must not read a dashboard on loopback through its visitor's browser. Its
//! name may lead to 127.0.0.1 (DNS rebinding), so `Host` must be a name of ours; what it embeds or
//! posts comes with `Sec-Fetch-Site: cross-site`. Everything shown was written by strangers: the
//! content security policy runs no script but ours.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// Where forms are sent that change something.
pub const HANDS_PATH: &str = "/hands";
const TOKEN_COOKIE: &str = "rhumb_token";
/// What our own pages may do.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; \
                      form-action 'self'; base-uri 'none'";

/// Who may look at a dashboard.
#[derive(Clone, Debug)]
pub struct ViewerAccess {
    /// The address that is listened on.
    pub addr: SocketAddr,
    /// Other names under which viewers know it.
    pub names: Vec<String>,
    /// Asked for in a cookie, or once as `?token=…`; none on loopback.
    pub token: Option<String>,
    /// What a form that changes something must carry; none if nothing may be changed.
    pub form: Option<String>,
    /// What the pages may do.
    pub policy: &'static str,
}

impl ViewerAccess {
    /// Whether `Host` names this server: our address, localhost, or a name of ours, with our port.
    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        let port = self.addr.port();
        let names = ["127.0.0.1".to_owned(), "[::1]".to_owned(), "localhost".to_owned()];
        let own = match self.addr {
            SocketAddr::V4(addr) => addr.ip().to_string(),
            SocketAddr::V6(addr) => format!("[{}]", addr.ip()),
        };
        let is_named = |name: &str| host.eq_ignore_ascii_case(&format!("{name}:{port}"));
        // On every address, the token tells who is meant to look.
        names.iter().any(|name| is_named(name))
            || is_named(&own)
            || self.names.iter().any(|name| is_named(name))
            || (self.addr.ip().is_unspecified() && self.token.is_some())
    }

    fn has_token(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return true };
        let cookies = request.headers().get_all(header::COOKIE).iter();
        let mut cookies = cookies.filter_map(|value| value.to_str().ok());
        cookies.any(|line| {
            line.split(';').any(|cookie| {
                cookie.trim().split_once('=').is_some_and(|(name, value)| {
                    name == TOKEN_COOKIE && is_equal(value.as_bytes(), token.as_bytes())
                })
            })
        })
    }

    /// `?token=…` of a link that was printed for the owner.
    fn offers_token(&self, request: &Request) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let offered = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        match (&self.token, offered) {
            (Some(token), Some(offered)) => is_equal(offered.as_bytes(), token.as_bytes()),
            _ => false,
        }
    }
}

/// In a time that does not tell how much of it was right.
pub fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (x, y)| differs | (x ^ y)) == 0
}

/// Another port of the same server, under the name by which the viewer knows it.
pub fn sibling(headers: &HeaderMap, port: u16) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    format!("http://{name}:{port}")
}

/// Lets a request through, or says why not; puts the headers of every answer.
pub async fn guard(
    State(access): State<Arc<ViewerAccess>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refusal(&access, &request) {
        Some(refused) => refused,
        None if access.offers_token(&request) => welcome(&access),
        None if !access.has_token(&request) => {
            (StatusCode::UNAUTHORIZED, "open the address that rhumb printed, with its token\n")
                .into_response()
        }
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    put(header::CONTENT_SECURITY_POLICY, access.policy);
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    // Strangers hear of nothing. Without any referrer browsers would say of our own forms that they
    // come from nowhere.
    put(header::REFERRER_POLICY, "same-origin");
    put(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

fn refusal(access: &ViewerAccess, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if !access.knows_host(headers) {
        let what = "this server has another name: ask for the address that rhumb printed\n";
        return Some((StatusCode::MISDIRECTED_REQUEST, what).into_response());
    }
    if let Some(refused) = refused_method(access, request) {
        return Some(refused);
    }
    let from_elsewhere = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    let is_visit = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    let has_origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_foreign = has_origin.is_some_and(|origin| origin != format!("http://{host}"));
    if (from_elsewhere && !is_visit) || is_foreign {
        let what = "pages of other sites may not read this one\n";
        return Some((StatusCode::FORBIDDEN, what).into_response());
    }
    None
}

/// Only hands change anything, where that is permitted, and only from our own pages.
fn refused_method(access: &ViewerAccess, request: &Request) -> Option<Response> {
    let may_change = request.uri().path() == HANDS_PATH && access.policy == POLICY;
    match *request.method() {
        Method::GET | Method::HEAD => None,
        Method::POST if may_change && access.form.is_none() => {
            let what = "this dashboard only shows: start it with --dashboard-control\n";
            Some((StatusCode::FORBIDDEN, what).into_response())
        }
        Method::POST if may_change && request.headers().contains_key(header::ORIGIN) => None,
        Method::POST if may_change => {
            let what = "a form without its Origin is not taken\n";
            Some((StatusCode::FORBIDDEN, what).into_response())
        }
        _ => Some((StatusCode::METHOD_NOT_ALLOWED, "only GET\n").into_response()),
    }
}

/// The token moves from the address into a cookie, out of histories and referrers.
fn welcome(access: &ViewerAccess) -> Response {
    let token = access.token.as_deref().unwrap_or_default();
    let cookie = format!("{TOKEN_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
    let place = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, place).into_response()
}

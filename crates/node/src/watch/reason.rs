//! Why a URL is in the state it is in, in words, and what its owner can do about it.
//!
//! The engine has decided; here its rules are read once more to name the one that decided. Rules
//! that have changed since are said to have.

use super::counted::{counted, times};
use super::last_settings::{self, LastSettings};
use super::printable;
use rhumb_engine::admit::{self, Reach};
use rhumb_engine::config::Config;
use rhumb_engine::error::Error;
use rhumb_engine::host::HostRecord;
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal, UrlRecord};
use rhumb_engine::requisites;
use rhumb_engine::traps::grown::{TrapRule, trap_rule};
use rhumb_engine::traps::shape::{self, Shape};
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use std::path::Path;
use std::sync::Arc;

const HELD_BACK: &str = "its site has more hosts than its pages are worth: it is looked at again \
                         now and then, and by the next run (--lift-traps names lets it in)";
const SITE_SPENT: &str = "its site has had the pages or bytes that it is worth in a run: it is \
                          looked at again now and then, and by the next run (--lift-traps \
                          site_budget lets it go on)";

/// What reasons are read from.
pub struct Reasons<'a> {
    reader: &'a LocalReader,
    /// The rules of the last run; none if its crawl.toml cannot be read.
    last: Option<Arc<LastSettings>>,
}

impl Reasons<'_> {
    pub fn read<'a>(dir: &Path, reader: &'a LocalReader) -> Reasons<'a> {
        Reasons { reader, last: last_settings::of_dir(dir) }
    }

    /// The state of a URL in words.
    pub fn meaning(&self, url: &Url, record: &UrlRecord) -> Result<String, Error> {
        if let (RecordStatus::Queued, Some(kind)) = (record.status, self.failing_host(url)?) {
            return Ok(format!("its host fails: {}; the next run tries it again", failure(kind)));
        }
        if let (RecordStatus::Queued, Some(why)) = (record.status, self.held_back(url)?) {
            return Ok(why.to_owned());
        }
        Ok(match record.status {
            RecordStatus::Queued if record.tries > 0 => {
                format!("failed {}, to be tried again", times(record.tries.into()))
            }
            RecordStatus::Queued => "waits to be fetched".to_owned(),
            RecordStatus::Fetched => with_marks("fetched", record.past.marks),
            RecordStatus::Duplicate => {
                with_marks("fetched; its bytes are those of another", record.past.marks)
            }
            RecordStatus::Moved => format!("redirects to another URL ({})", record.http_status),
            RecordStatus::Gone => answer(record.http_status),
            RecordStatus::Refused(why) => {
                format!("not fetched: {}", self.refusal(why, url, record)?)
            }
            RecordStatus::Foreign => "belongs to another partition of the crawl".to_owned(),
            RecordStatus::Failed(kind) => format!("given up: {}", failure(kind)),
        })
    }

    /// Why the host of a URL rests though it does not fail: its site has had its share of names, or
    /// its budget. One outside its hours rests in the same way.
    fn held_back(&self, url: &Url) -> Result<Option<&'static str>, Error> {
        let key = url.host_key();
        let config = self.last.as_ref().and_then(|last| last.config.as_ref());
        let hours = config.and_then(|config| config.hours.of_host(&key));
        let host = self.reader.holding(url).snapshot().host(&key)?.filter(|_| hours.is_none());
        // Where pages are shown with others, hosts rest at the end for that, too.
        let may_be_spent = config.is_some_and(|config| config.requisites_max.is_none());
        let why = |host: HostRecord| match host.answers {
            0 => Some(HELD_BACK),
            _ => may_be_spent.then_some(SITE_SPENT),
        };
        Ok(host.filter(HostRecord::is_held).and_then(why))
    }

    /// How the host of a URL fails, if it does so often that it is left alone.
    fn failing_host(&self, url: &Url) -> Result<Option<FailKind>, Error> {
        Ok(self
            .reader
            .holding(url)
            .snapshot()
            .host(&url.host_key())?
            .and_then(|record| record.rests_for()))
    }

    /// The rule that refuses a URL.
    pub fn refusal(&self, why: Refusal, url: &Url, record: &UrlRecord) -> Result<String, Error> {
        if why == Refusal::Robots {
            return self.robots(url);
        }
        let config = self.last.as_ref().and_then(|last| last.config.as_ref());
        let Some(config) = config else { return Ok(rule(why).to_owned()) };
        Ok(match why {
            Refusal::Scope if !config.scope.admits(url) => out_of_scope(config, url),
            Refusal::Filter if record.role.is_requisite() && config.requisites_max.is_none() => {
                "pages are shown with it, and --requisites is not given any more".to_owned()
            }
            Refusal::Filter if !config.rules.admits(url) => match config.rules.excluding(url) {
                Some(pattern) => format!("--exclude {pattern} matches it"),
                None => "no --include matches it".to_owned(),
            },
            Refusal::Depth => match config.depth_max {
                Some(max) => {
                    let links = counted(record.depth.into(), "link", "links");
                    format!("{links} from a seed, --max-depth is {max}")
                }
                None => changed(why),
            },
            Refusal::HostBudget => match config.host_pages_max {
                Some(max) => format!("its host has reached --max-pages-per-host {max}"),
                None => changed(why),
            },
            Refusal::Hops if record.role.is_requisite() => format!(
                "more than {} imports and redirects lead to it from its page",
                requisites::HOPS_MAX
            ),
            Refusal::Hops => format!("it takes more than {} redirects", config.redirects_max),
            Refusal::Sitemaps => {
                let (own, chain) = (config.sitemaps.per_host_max, admit::SITEMAP_HOPS_MAX);
                format!(
                    "its host has had {own} sitemaps (--max-sitemaps-per-host), or more than \
                     {chain} stand one behind the other"
                )
            }
            Refusal::Trap => match trap_rule(&config.traps, url, record.depth) {
                Some(rule) => format!("looks like a trap: {}", trap(config, rule)),
                None => changed(why),
            },
            Refusal::Pattern => self.pattern(url)?,
            Refusal::Archive if config.traps.lifted.has(why) => changed(why),
            Refusal::Archive => {
                format!("{} (--lift-traps archive lets it in)", rule(why))
            }
            Refusal::MediaType | Refusal::Size | Refusal::Forgotten => rule(why).to_owned(),
            why if why.is_junk() && admit::junk_rule(config, url) == Some(why) => {
                format!("{} (--lift-traps {} lets it in)", rule(why), why.word())
            }
            _ => changed(why),
        })
    }

    /// What the pattern that a URL is of has brought.
    fn pattern(&self, url: &Url) -> Result<String, Error> {
        let host = self.reader.holding(url).snapshot().host(&url.host_key())?;
        let brought = |shape: Shape| host.as_ref()?.patterns.of(shape).copied();
        let (brought, alike) = match Shape::of(url) {
            Some(shape) => {
                (brought(shape), format!("like {}", shape::text(url).unwrap_or_default()))
            }
            None => (Shape::of_words(url).and_then(brought), "of plain words as deep as it".into()),
        };
        let Some(brought) = brought else { return Ok(changed(Refusal::Pattern)) };
        let (fresh, all) = (brought.fresh, brought.fresh + brought.barren);
        Ok(format!(
            "{}: {fresh} of {all} pages {alike} brought anything new (--lift-traps pattern \
             lets it in)",
            rule(Refusal::Pattern)
        ))
    }

    /// The line of robots.txt that forbids a URL.
    fn robots(&self, url: &Url) -> Result<String, Error> {
        let Some(robots) = self.reader.holding(url).snapshot().robots(&url.host_key())? else {
            return Ok(rule(Refusal::Robots).to_owned());
        };
        let verdict = robots.verdict(url);
        Ok(match verdict.line.filter(|_| !verdict.allowed) {
            Some((number, text)) => {
                let text = printable(&text);
                format!("line {number} of its robots.txt forbids it: {text}")
            }
            None => changed(Refusal::Robots),
        })
    }
}

fn with_marks(state: &str, marks: Marks) -> String {
    let words = [
        (Marks::NOFOLLOW, "asks not to have its links followed (nofollow)"),
        (Marks::NOINDEX, "asks not to be indexed (noindex)"),
        (Marks::NOARCHIVE, "asks not to be kept (noarchive)"),
        (Marks::TRUNCATED, "is not whole"),
        (Marks::SCRIPTED, "says next to nothing without its scripts"),
        (Marks::LINKS_CUT, "has more links than are followed of one page"),
    ];
    let said = words.into_iter().filter(|(mark, _)| marks.has(*mark)).map(|(_, words)| words);
    [state].into_iter().chain(said).collect::<Vec<_>>().join("; ")
}

/// What a 4xx status means.
pub fn answer(status: u16) -> String {
    let what = match status {
        401 => "the server wants a login",
        403 => "the server forbids it",
        404 | 410 => "the server says that it is not there",
        451 => "the server may not show it, for legal reasons",
        _ => "the server refuses it",
    };
    format!("{what} ({status})")
}

fn out_of_scope(config: &Config, url: &Url) -> String {
    match config.scope.reach() {
        Reach::Host => format!("outside --scope host: no seed is on {}", url.host()),
        Reach::Site => format!("outside --scope site: no seed is of {}", url.site().as_str()),
        Reach::Below => "outside --below: no seed's path is above it on its host".to_owned(),
        Reach::Any => rule(Refusal::Scope).to_owned(),
    }
}

fn trap(config: &Config, rule: TrapRule) -> String {
    let traps = &config.traps;
    match rule {
        TrapRule::Length => {
            format!("longer than {} bytes ([traps] url_bytes_max)", traps.url_bytes_max)
        }
        TrapRule::Segments => {
            let max = traps.path_segments_max;
            format!("more than {max} segments in its path ([traps] path_segments_max)")
        }
        TrapRule::Repeats => {
            let max = traps.segment_repeats_max;
            format!(
                "a segment of its path, or a parameter, comes more than {max} times ([traps] \
                 segment_repeats_max)"
            )
        }
        TrapRule::Nested => "a parameter of its query holds a URL with the same one".to_owned(),
        TrapRule::Depth => {
            format!("more than {} links from a seed ([traps] depth_max)", traps.depth_max)
        }
    }
}

fn changed(why: Refusal) -> String {
    format!("{}, by rules that have changed since", rule(why))
}

/// A rule without its particulars.
pub fn rule(why: Refusal) -> &'static str {
    match why {
        Refusal::Scope => "outside the crawl's scope",
        Refusal::Filter => "an include or exclude filter",
        Refusal::Depth => "deeper than --max-depth",
        Refusal::HostBudget => "its host has reached --max-pages-per-host",
        Refusal::Trap => "looks like a trap",
        Refusal::Hops => "too many redirects",
        Refusal::Robots => "robots.txt forbids it",
        Refusal::Pattern => "its pattern brings nothing new",
        Refusal::WikiView => "a view of a wiki page: its history, source or a change",
        Refusal::Feed => "a feed, which only --continuous reads",
        Refusal::Api => "for programs: wp-json, oEmbed, XML-RPC",
        Refusal::ListOrder => "a list of files in another order",
        Refusal::Snapshot => "a packed copy of a repository",
        Refusal::Login => "a login that remembers where its visitor came from",
        Refusal::Reply => "a form to reply",
        Refusal::Sitemaps => "a sitemap too many of its host, or in a chain",
        Refusal::Archive => "an archive of files, by its name or its type",
        Refusal::MediaType => "its type is not among --types",
        Refusal::Size => "longer than [limits] body_bytes_max, by its Content-Length",
        Refusal::Forgotten => "it was taken down with rhumb forget",
        Refusal::Names => "its site has had its share of hosts",
        Refusal::SiteBudget => "its site has had its budget of pages or bytes",
    }
}

pub fn failure(kind: FailKind) -> &'static str {
    match kind {
        FailKind::DnsNotFound => "the name does not exist",
        FailKind::DnsTemporary => "the name server failed",
        FailKind::AddressRefused => "its address is private, and --allow-private is off",
        FailKind::Connect => "no connection",
        FailKind::Tls => "the TLS handshake failed",
        FailKind::TlsExpired => "its certificate has expired, or is not yet valid",
        FailKind::TlsName => "its certificate is for another name",
        FailKind::TlsIssuer => {
            "its certificate's issuer is unknown: it is self-signed, or of a CA that is not trusted"
        }
        FailKind::Timeout => "no answer in time",
        FailKind::Slow => "the answer came too slowly",
        FailKind::Closed => "the connection closed before the answer was whole",
        FailKind::BadHttp => "the answer was not HTTP that we trust",
        FailKind::HeaderTooBig => "the head of the answer was too big",
        FailKind::ServerError => "the server failed (5xx)",
        FailKind::Throttled => "the server asked us to wait (429 or 503) each time",
        FailKind::Scheme => "a scheme that is off",
        FailKind::RobotsUnreachable => "robots.txt could not be had",
        FailKind::HostDead => "its host was given up by an earlier version of rhumb",
        FailKind::Internal => "a fault of our own",
        FailKind::Proxy => "the proxy could not be reached, or refused",
        FailKind::Gateway => "the gateway found no server behind it (502 or 504) each time",
    }
}

/// What the owner of a crawl can do about a failure.
pub fn remedy(kind: FailKind) -> &'static str {
    match kind {
        FailKind::DnsNotFound => "check the spelling, or name another server with --resolver",
        FailKind::DnsTemporary => "check the network, or name another server with --resolver",
        FailKind::AddressRefused => "add --allow-private if it is yours to crawl",
        FailKind::Connect => "check that the server runs, and its port",
        FailKind::Tls => "check that the server speaks TLS on this port",
        FailKind::TlsExpired => "have it renewed, or set the clock of this machine",
        FailKind::TlsName => "crawl it under a name that its certificate has",
        FailKind::TlsIssuer => "name the file of its CA with --ca-file",
        FailKind::Proxy => "check --proxy, or http_proxy and https_proxy, and what -v says",
        FailKind::Timeout | FailKind::Slow => "try again later, or raise the times in [limits]",
        FailKind::HeaderTooBig => "raise header_bytes_max in [limits]",
        FailKind::Scheme => "name http or https URLs, or --allow-file",
        FailKind::Throttled => "try again later, with a longer --delay",
        FailKind::ServerError
        | FailKind::RobotsUnreachable
        | FailKind::HostDead
        | FailKind::Gateway => "try again later",
        FailKind::Closed | FailKind::BadHttp => "check what the server sends",
        FailKind::Internal => "look at the log with -v",
    }
}

//! The sections of a configuration that have no flags: `[retry]`, `[traps]`, `[limits]` and
//! `[[priority]]`. What is left out keeps its default.

use std::time::Duration;

use rhumb_engine::config::{CLASSES, Retry, Traps};
use rhumb_engine::time::Span;
use serde::de::{self, Deserialize, Deserializer};
use serde::{Deserialize as DeriveDeserialize, Serialize as DeriveSerialize};

use super::quantity::{Period, Size};
use super::word::UrlPattern;
use rhumb_fetch::FetchLimits;

/// `[[priority]]`: a rule on URLs; the first that matches decides.
#[derive(Clone, Debug, PartialEq, DeriveSerialize)]
pub struct PriorityRule {
    pub pattern: UrlPattern,
    /// The front queue, 0 the most urgent.
    pub class: Option<u8>,
    /// Doubling it moves a URL up by one class, and makes its visits twice as dear to --continuous.
    pub weight: Option<f64>,
    /// --continuous sees such a page at least this often, as far as its budget goes.
    pub max_interval: Option<Period>,
}

#[derive(DeriveDeserialize)]
#[serde(deny_unknown_fields)]
struct RuleFields {
    pattern: UrlPattern,
    class: Option<u8>,
    weight: Option<f64>,
    max_interval: Option<Period>,
}

impl<'de> Deserialize<'de> for PriorityRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PriorityRule, D::Error> {
        let RuleFields { pattern, class, weight, max_interval } =
            RuleFields::deserialize(deserializer)?;
        if class.is_none() && weight.is_none() && max_interval.is_none() {
            let needs = "a priority rule needs a class, weight or max_interval";
            return Err(de::Error::custom(needs));
        }
        if class.is_some_and(|class| usize::from(class) >= CLASSES) {
            return Err(de::Error::custom(format!("class is one of 0 to {}", CLASSES - 1)));
        }
        if weight.is_some_and(|weight| !weight.is_finite() || weight <= 0.0) {
            return Err(de::Error::custom("weight is a number above 0"));
        }
        Ok(PriorityRule { pattern, class, weight, max_interval })
    }
}

pub fn span(duration: Duration) -> Span {
    Span(duration.as_micros() as u64)
}

fn period(span: Span) -> Period {
    Period(Duration::from_micros(span.0))
}

/// Defines a section: its optional keys and what each means, how it fills in a value of the real
/// type, and how that value is written. One list instead of four that could drift apart.
macro_rules! section {
    ($(#[$doc:meta])* $section:ident for $real:ident {
        $($(#[doc = $meaning:literal])+
          $key:ident: $kind:ty, |$read:ident| $from:expr, |$shown:ident| $into:expr;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, DeriveSerialize, DeriveDeserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $section {
            $($(#[doc = $meaning])+ pub $key: Option<$kind>,)*
        }

        impl $section {
            /// Each key, and what it means.
            pub const KEYS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($key), concat!($($meaning),+)),)*];

            pub fn over(self, base: $section) -> $section {
                $section { $($key: self.$key.or(base.$key),)* }
            }

            pub fn effective(self) -> $real {
                let mut real = $real::default();
                $(if let Some($read) = self.$key {
                    real.$key = $from;
                })*
                real
            }

            pub fn of(real: &$real) -> $section {
                $section { $($key: Some({ let $shown = real.$key; $into }),)* }
            }
        }
    };
}

section! {
    /// `[retry]`
    RetrySection for Retry {
        /// The first wait after a failure; each further one is twice as long.
        wait_min: Period, |p| span(p.0), |s| period(s);
        /// The longest wait after a failure.
        wait_max: Period, |p| span(p.0), |s| period(s);
        /// Tries of one URL in a run, the first included.
        tries_max: u8, |n| n.max(1), |n| n;
        /// Failures of robots.txt in a row before its host counts as failing.
        robots_tries_max: u8, |n| n.max(1), |n| n;
        /// Failures in a row before a host counts as failing: it rests and keeps no run alive.
        host_failures_max: u16, |n| n.max(1), |n| n;
        /// The longest Retry-After that is obeyed as it stands.
        retry_after_max: Period, |p| span(p.0), |s| period(s);
    }
}

section! {
    /// `[traps]`
    TrapsSection for Traps {
        /// A path with more segments is a trap.
        path_segments_max: usize, |n| n, |n| n;
        /// A path in which one segment recurs more often is a trap, and a query in which one
        /// parameter does with one value.
        segment_repeats_max: usize, |n| n, |n| n;
        /// A longer URL is a trap.
        url_bytes_max: usize, |n| n, |n| n;
        /// A URL more links from a seed is a trap.
        depth_max: u16, |n| n, |n| n;
    }
}

section! {
    /// `[limits]`
    LimitsSection for FetchLimits {
        /// Bytes of a response's head.
        header_bytes_max: Size, |s| s.0 as usize, |n| Size(n as u64);
        /// Headers of a response.
        headers_max: usize, |n| n, |n| n;
        /// A page that is announced to be longer is not fetched; a body that turns out to be is cut
        /// here and kept, marked as truncated.
        body_bytes_max: Size, |s| s.0 as usize, |n| Size(n as u64);
        /// Bytes of a body after gzip, br or zstd are undone; what comes after is dropped.
        decoded_bytes_max: Size, |s| s.0 as usize, |n| Size(n as u64);
        /// Decoded bytes per received byte, beyond the first megabyte.
        decoded_ratio_max: usize, |n| n, |n| n;
        /// From the name to a usable connection, TLS included.
        connect_time_max: Period, |p| p.0, |d| Period(d);
        /// From the request to the first byte of the answer.
        first_byte_time_max: Period, |p| p.0, |d| Period(d);
        /// From the start of a fetch to its end.
        total_time_max: Period, |p| p.0, |d| Period(d);
        /// A body that comes more slowly than this during a whole slow_window is cut.
        slow_bytes_per_s_min: u64, |n| n, |n| n;
        /// The time over which the least rate is measured.
        slow_window: Period, |p| p.0, |d| Period(d);
    }
}

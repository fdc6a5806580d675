//! Lines of the operator's log about requests: every request, those that were slow, and every credential that was refused.
//!
//! Bodies, queries, keys and tokens are part of no line. Refusals are limited by address and altogether, so that no caller
//! can flood the log; how many are left out is told.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use artel_model::access::UserId;
use artel_model::limit::{LOGGED_PATH_CHARS_MAX, REFUSAL_LINES_MAX, REFUSAL_LINES_PER_ADDRESS_MAX};
use artel_model::time::Timestamp;
use axum::http::{Method, StatusCode};

use crate::limit::Buckets;
use crate::request_id::RequestId;

/// How often it is told how many refusals were left out.
const SUMMARY_EVERY_MS: i64 = 10_000;
/// Routes that answer when something happens: taking long is what they are asked to do.
const WAITING: [&str; 6] =
    ["/api/messages/read", "/api/messages/request", "/message/read", "/message/request", "/api/chat", "/mcp"];
/// Routes that are asked again and again by machines; a good answer is not worth a line.
const PROBED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// What becomes known of a request on the way to its handler. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct RequestFacts(Arc<Facts>);

#[derive(Default)]
struct Facts {
    route: OnceLock<&'static str>,
    caller: OnceLock<UserId>,
}

impl RequestFacts {
    /// Says which route the request is for.
    pub(crate) fn reached(&self, route: &'static str) {
        let _ = self.0.route.set(route);
    }

    /// Says whose request it is.
    pub(crate) fn asked_by(&self, user: &UserId) {
        let _ = self.0.caller.set(user.clone());
    }

    fn caller(&self) -> &str {
        self.0.caller.get().map_or("-", UserId::as_str)
    }
}

/// A request that was answered.
pub(crate) struct Exchange<'a> {
    pub(crate) id: &'a RequestId,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) address: IpAddr,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
}

/// Who writes the lines.
pub(crate) struct RequestLog {
    by_address: Buckets<IpAddr>,
    altogether: Buckets<()>,
    left_out: AtomicU64,
    told_at: AtomicI64,
}

impl RequestLog {
    pub(crate) fn new() -> Self {
        Self {
            by_address: Buckets::new(REFUSAL_LINES_PER_ADDRESS_MAX, 1, REFUSAL_LINES_PER_ADDRESS_MAX),
            altogether: Buckets::new(REFUSAL_LINES_MAX, 1, REFUSAL_LINES_MAX),
            left_out: AtomicU64::new(0),
            told_at: AtomicI64::new(0),
        }
    }

    /// Writes the line of a request, and another one when it took longer than `slow`.
    pub(crate) fn answered(
        &self,
        facts: &RequestFacts,
        exchange: &Exchange<'_>,
        slow: Duration,
        now: Timestamp,
    ) {
        self.tell_left_out(now);
        let Exchange { id, method, address, status, took, .. } = exchange;
        let route =
            facts.0.route.get().map_or_else(|| shown_path(exchange.path), |route| Cow::Borrowed(*route));
        // A larger number would be logged as a text.
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let (principal, status) = (facts.caller(), status.as_u16());
        let request = id.as_str();
        if PROBED.contains(&&*route) && status < 400 {
            tracing::debug!(request, principal, %address, %method, %route, status, ms, "answered");
        } else {
            tracing::info!(request, principal, %address, %method, %route, status, ms, "answered");
        }
        if *took >= slow && !WAITING.contains(&&*route) {
            tracing::warn!(request, principal, %address, %method, %route, status, ms, "a request was slow");
        }
    }

    /// Says whether another refusal from an address may be told; it is counted otherwise.
    pub(crate) fn may_tell(&self, from: IpAddr, now: Timestamp) -> bool {
        let may = self.by_address.take(&from, now).is_ok() && self.altogether.take(&(), now).is_ok();
        if !may {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        may
    }

    /// Writes the line of a credential that was refused, for a request of `owner`, if that is known.
    pub(crate) fn refused(&self, owner: Option<&UserId>, address: IpAddr, route: &str, why: &str) {
        let principal = owner.map_or("-", UserId::as_str);
        tracing::warn!(principal, %address, route, why, "a credential was refused");
    }

    fn tell_left_out(&self, now: Timestamp) {
        let told_at = self.told_at.load(Ordering::Relaxed);
        if self.left_out.load(Ordering::Relaxed) == 0 || now.as_millis() - told_at < SUMMARY_EVERY_MS {
            return;
        }
        self.told_at.store(now.as_millis(), Ordering::Relaxed);
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        tracing::warn!(left_out, "more credentials were refused than are told one by one");
    }
}

/// Returns a path that leads nowhere as it may stand in a line: short, and without anything that drives a terminal.
fn shown_path(path: &str) -> Cow<'static, str> {
    let shown: String = path.chars().take(LOGGED_PATH_CHARS_MAX).flat_map(char::escape_debug).collect();
    Cow::Owned(if path.chars().nth(LOGGED_PATH_CHARS_MAX).is_some() { shown + "…" } else { shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cannot_flood_the_log() {
        let log = RequestLog::new();
        let (one, other): (IpAddr, IpAddr) = ("203.0.113.1".parse().unwrap(), "203.0.113.2".parse().unwrap());
        let now = Timestamp::from_millis(1_000_000);
        let told = (0..100).filter(|_| log.may_tell(one, now)).count();
        assert_eq!(told, REFUSAL_LINES_PER_ADDRESS_MAX as usize);
        assert!(log.may_tell(other, now), "another address is still told");
        assert_eq!(log.left_out.load(Ordering::Relaxed), 100 - u64::from(REFUSAL_LINES_PER_ADDRESS_MAX));
        let many = (0..1000_u32).filter(|number| log.may_tell(IpAddr::from(number.to_be_bytes()), now));
        assert!(many.count() < REFUSAL_LINES_MAX as usize, "and all of them together are limited too");
        log.tell_left_out(now);
        assert_eq!(log.left_out.load(Ordering::Relaxed), 0);
        assert!(log.may_tell(one, now + 1000), "a second later there is room again");
    }

    #[test]
    fn a_path_that_leads_nowhere_is_short_and_plain() {
        assert_eq!(shown_path("/a/b"), "/a/b");
        assert_eq!(shown_path("/a\u{1b}[31m\n\u{202e}"), "/a\\u{1b}[31m\\n\\u{202e}");
        assert_eq!(shown_path(&"x".repeat(10_000)).chars().count(), LOGGED_PATH_CHARS_MAX + 1);
    }
}

//! Where a caller is: the other end of the connection, or, behind proxies that the operator trusts, the address that
//! they pass on. Knows nothing of who the caller is.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use artel_app::OperationError;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::error::ApiError;

/// The header in which proxies say on whose behalf they call, the nearest last.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Hops that are looked at; a longer list is nobody's honest one.
const HOPS_MAX: usize = 32;

/// Addresses that begin alike, as in `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that is no network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no address and no network like 10.0.0.0/8")]
pub struct NetworkError(String);

impl Network {
    /// Says whether an address is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let shift = 32 - u32::from(self.bits);
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let shift = 128 - u32::from(self.bits);
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.chars().take(64).collect());
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), str::parse).map_err(|_| wrong())?;
        if bits > all { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// Where the caller is; put there by the check in front of every route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let address = parts.extensions.get::<Self>().copied();
        Ok(address.ok_or_else(OperationError::unauthorized)?)
    }
}

impl ClientAddress {
    /// Finds the nearest address that is no trusted proxy. What stands before it in the header may be made up by the
    /// caller.
    pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> Self {
        let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
        let mut nearest = peer.to_canonical();
        if trusted.is_empty() || !is_trusted(nearest) {
            return Self(nearest);
        }
        let values: Vec<&str> =
            headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
        for hop in values.iter().rev().flat_map(|value| value.rsplit(',')).take(HOPS_MAX) {
            let Ok(address) = hop.trim().parse::<IpAddr>() else { break };
            nearest = address.to_canonical();
            if !is_trusted(nearest) {
                break;
            }
        }
        Self(nearest)
    }

    /// Returns what limits count by: whoever has one IPv6 address has the other 2^64 beside it.
    pub(crate) fn neighbourhood(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted: Vec<Network> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let found = ClientAddress::of(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(found.0.to_string(), expected);
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        check("203.0.113.9", &["198.51.100.1"], &[], "203.0.113.9");
        check("203.0.113.9", &["198.51.100.1"], &["10.0.0.0/8"], "203.0.113.9");
        check("10.1.2.3", &["198.51.100.1"], &["10.0.0.0/8"], "198.51.100.1");
        check("::ffff:10.1.2.3", &["198.51.100.1"], &["10.0.0.0/8"], "198.51.100.1");
        check("10.1.2.3", &[], &["10.0.0.0/8"], "10.1.2.3");
    }

    #[test]
    fn what_the_caller_wrote_itself_is_not_believed() {
        check("10.1.2.3", &["127.0.0.1, 198.51.100.1"], &["10.0.0.0/8"], "198.51.100.1");
        check("10.1.2.3", &["127.0.0.1", "198.51.100.1, 10.9.9.9"], &["10.0.0.0/8"], "198.51.100.1");
        check("10.1.2.3", &["198.51.100.1, nonsense"], &["10.0.0.0/8"], "10.1.2.3");
    }

    #[test]
    fn networks_are_read_and_contain() {
        for wrong in ["", "10.0.0.0/33", "::/129", "ten", "10.0.0.0/-1", "10.0.0.0/8/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("0.0.0.0/0", "1.2.3.4") && holds("::/0", "2001:db8::1"));
        assert!(holds("1.2.3.4", "1.2.3.4") && !holds("1.2.3.4", "1.2.3.5"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1") && !holds("2001:db8::/32", "2001:db9::1"));
        assert!(!holds("0.0.0.0/0", "2001:db8::1"));
    }

    #[test]
    fn neighbours_count_as_one() {
        let near = |text: &str| ClientAddress(text.parse().unwrap()).neighbourhood();
        assert_eq!(near("2001:db8::1"), near("2001:db8::ffff:1"));
        assert_ne!(near("2001:db8::1"), near("2001:db8:0:1::1"));
        assert_ne!(near("10.0.0.1"), near("10.0.0.2"));
    }
}

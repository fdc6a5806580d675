//! Files out of a Zip archive that somebody uploads. Nothing that the archive says of itself is believed.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use artel_model::catalog::CustomFile;
use artel_model::limit::{CUSTOM_SKILL_BYTES_MAX, CUSTOM_SKILL_FILES_MAX, CUSTOM_ZIP_RATIO_MAX};
use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use super::path::{PathError, folded, skill_path};
use crate::text::visible;

/// How much an archive may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ZipCaps {
    /// Files.
    pub files_max: usize,
    /// Bytes of the archive, and of all its files.
    pub bytes_max: usize,
    /// How many times larger than the archive its files may be.
    pub ratio_max: usize,
}

impl Default for ZipCaps {
    fn default() -> Self {
        Self {
            files_max: CUSTOM_SKILL_FILES_MAX,
            bytes_max: CUSTOM_SKILL_BYTES_MAX,
            ratio_max: CUSTOM_ZIP_RATIO_MAX,
        }
    }
}

/// What was in an archive.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ZipFiles {
    /// The `SKILL.md` of the folder, when the archive holds a whole skill.
    pub skill_md: Option<Vec<u8>>,
    /// The other files, by path.
    pub files: Vec<CustomFile>,
}

/// Why an archive is not taken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ZipProblem {
    /// It is no archive, or it is damaged.
    #[error("this is no Zip archive, or it is damaged")]
    Damaged,
    /// It holds too many files.
    #[error("the archive holds more than {0} files")]
    TooManyFiles(usize),
    /// It unpacks to too much.
    #[error("the archive unpacks to more than {0} bytes")]
    TooLarge(usize),
    /// It unpacks to far more than its size.
    #[error("the archive unpacks to more than {0} times its size")]
    Bomb(usize),
    /// A file cannot be part of a skill by its path.
    #[error("`{path}`: {why}")]
    Path {
        /// The path in the archive, harmless to show.
        path: String,
        /// Why not.
        why: PathError,
    },
    /// Two files have the same path, or one lies where another has a folder.
    #[error("`{0}` is in the archive twice")]
    Repeated(String),
    /// A link: it may lead anywhere.
    #[error("`{0}` is a link; put the file itself into the archive")]
    Link(String),
    /// It needs a password.
    #[error("`{0}` is encrypted")]
    Encrypted(String),
    /// It is packed in a way that is not read here.
    #[error("`{0}` is packed in another way than deflate")]
    Method(String),
}

/// Folders that belong into a skill as they are, also when they are all that an archive holds.
const USUAL_FOLDERS: [&str; 3] = ["assets", "references", "scripts"];

/// Headers of files in an archive, for every file that it may hold: archives inside it have headers, too.
const HEADERS_PER_FILE_MAX: usize = 10;

/// Bytes that every archive may unpack to, whatever its own size: little texts pack well.
const RATIO_FREE_BYTES: usize = 1024 * 1024;

/// Unpacks an archive. A folder that holds everything is taken for the skill's own.
pub fn files_of_zip(bytes: &[u8], caps: &ZipCaps) -> Result<ZipFiles, ZipProblem> {
    if bytes.len() > caps.bytes_max {
        return Err(ZipProblem::TooLarge(caps.bytes_max));
    }
    // The list of files is read as a whole, so it is counted before.
    let headers = bytes.windows(4).filter(|window| window == b"PK\x01\x02").count();
    if headers > caps.files_max.saturating_mul(HEADERS_PER_FILE_MAX) {
        return Err(ZipProblem::TooManyFiles(caps.files_max));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| ZipProblem::Damaged)?;
    let mut room = caps.bytes_max.min(bytes.len().saturating_mul(caps.ratio_max).max(RATIO_FREE_BYTES));
    let too_large = if room < caps.bytes_max {
        ZipProblem::Bomb(caps.ratio_max)
    } else {
        ZipProblem::TooLarge(caps.bytes_max)
    };
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(|_| ZipProblem::Damaged)?;
        let Some(name) = plain_name(&file)? else { continue };
        let mode = file.unix_mode();
        drop(file);
        if members.len() >= caps.files_max {
            return Err(ZipProblem::TooManyFiles(caps.files_max));
        }
        let file = archive.by_index(index).map_err(|_| ZipProblem::Damaged)?;
        let mut content = Vec::new();
        file.take(room as u64 + 1).read_to_end(&mut content).map_err(|_| ZipProblem::Damaged)?;
        room = room.checked_sub(content.len()).ok_or_else(|| too_large.clone())?;
        // An archive from a system without permissions: what starts with an interpreter is meant to run.
        let is_executable = mode.map_or(content.starts_with(b"#!"), |mode| mode & 0o111 != 0);
        members.push((name, content, is_executable));
    }
    sorted_out(members)
}

/// Returns the name of a file; nothing for folders, and for what some systems add of their own.
fn plain_name<R: std::io::Read + ?Sized>(file: &ZipFile<'_, R>) -> Result<Option<String>, ZipProblem> {
    let shown = || visible(&String::from_utf8_lossy(file.name_raw())).chars().take(200).collect::<String>();
    let name = std::str::from_utf8(file.name_raw())
        .map_err(|_| ZipProblem::Path { path: shown(), why: PathError::Character })?;
    let is_litter =
        name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|last| last == ".DS_Store");
    if file.is_symlink() {
        Err(ZipProblem::Link(shown()))
    } else if name.ends_with('/') || is_litter {
        Ok(None)
    } else if file.encrypted() {
        Err(ZipProblem::Encrypted(shown()))
    } else {
        let is_read = [CompressionMethod::Stored, CompressionMethod::Deflated].contains(&file.compression());
        if is_read { Ok(Some(name.to_owned())) } else { Err(ZipProblem::Method(shown())) }
    }
}

/// Puts the files in their places: without the folder around them, and with the instructions apart.
fn sorted_out(members: Vec<(String, Vec<u8>, bool)>) -> Result<ZipFiles, ZipProblem> {
    let top = common_folder(&members);
    let mut found = ZipFiles::default();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (name, content, is_executable) in members {
        let inside = name.trim_start_matches("./");
        let inside = top.as_deref().and_then(|top| inside.strip_prefix(top)).unwrap_or(inside);
        let shown = || visible(&name).chars().take(200).collect::<String>();
        if inside == "SKILL.md" {
            if found.skill_md.replace(content).is_some() {
                return Err(ZipProblem::Repeated(shown()));
            }
            continue;
        }
        let path = skill_path(inside).map_err(|why| ZipProblem::Path { path: shown(), why })?;
        if !taken.insert(folded(&path)) {
            return Err(ZipProblem::Repeated(shown()));
        }
        found.files.push(CustomFile { path, content, is_executable });
    }
    let is_folder = |path: &str| path.match_indices('/').any(|(at, _)| taken.contains(&path[..at]));
    if let Some(path) = taken.iter().find(|path| is_folder(path)) {
        return Err(ZipProblem::Repeated(path.clone()));
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns the folder that holds every file, with its slash.
fn common_folder(members: &[(String, Vec<u8>, bool)]) -> Option<String> {
    let mut names = members.iter().map(|(name, ..)| name.trim_start_matches("./"));
    let (first, _) = names.next()?.split_once('/')?;
    let top = format!("{first}/");
    let is_common = names.all(|name| name.starts_with(&top));
    let is_usual = USUAL_FOLDERS.contains(&first) || matches!(first, "" | "..");
    (is_common && !is_usual).then_some(top)
}

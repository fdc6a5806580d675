//! Scans a skill: reads every file, decides what it is, and has it looked at.

use std::panic::{AssertUnwindSafe, catch_unwind};

use artel_model::catalog::Severity;
use artel_model::diagnostic::Code;
use camino::{Utf8Path, Utf8PathBuf};

use super::archive::{Member, Unreadable, is_bomb, tar_members, zip_members};
use super::file_kind::{Archive, FileKind, extension, file_kind, is_office, promises_media};
use super::limits::{DECODE_DEPTH_MAX, DECODED_BYTES_MAX, FILE_BYTES_MAX};
use super::manifest_check::{self, FileContent};
use super::report::ScanReport;
use super::rules::files;
use super::session::Session;
use super::text_scan::scan_text;
use crate::source::{FileTree, Listing, hash_contents};

/// How a skill is scanned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScanOptions {
    /// Bytes of one file that is scanned; a larger one makes the verdict incomplete.
    pub file_bytes_max: u64,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { file_bytes_max: FILE_BYTES_MAX }
    }
}

/// Scans a skill. Reads each of its files once; runs nothing. The same files give the same report.
pub fn scan_skill(tree: &dyn FileTree, options: &ScanOptions) -> ScanReport {
    let listing = tree.listing();
    let mut session = Session::default();
    note_listing(&mut session, &listing);
    let mut contents: Vec<FileContent> = Vec::new();
    for file in &listing.files {
        match tree.read(&file.path, options.file_bytes_max) {
            Ok(bytes) => contents.push((file.path.clone(), bytes)),
            Err(why) => session.collector.gap(Some(&file.path), why.to_string()),
        }
    }
    let is_whole = contents.len() == listing.files.len();
    let content_hash = is_whole
        .then(|| hash_contents(listing.files.iter().zip(contents.iter().map(|file| file.1.as_slice()))));
    session.about = manifest_check::about(&contents);
    for (path, bytes) in &contents {
        session.begin_file();
        // A fault of the scanner must not look like a clean file.
        let result = catch_unwind(AssertUnwindSafe(|| scan_file(&mut session, path, bytes, 0)));
        if result.is_err() {
            session.depth = 0;
            session.collector.gap(Some(path), "the scanner failed on this file");
        }
    }
    manifest_check::check(&mut session, &contents);
    let bytes = contents.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let (findings, left_out, gaps) = session.collector.finish();
    ScanReport { content_hash, files: contents.len(), bytes, findings, left_out, gaps }
}

/// Turns what is wrong with the folder into gaps and findings.
fn note_listing(session: &mut Session, listing: &Listing) {
    for finding in &listing.findings {
        let path = Some(finding.path.as_path());
        if finding.code == Code::SymlinkEscapes {
            let inside = listing.escaping.iter().find(|inside| finding.path.ends_with(inside));
            let name = finding.path.file_name().map_or(finding.path.as_path(), Utf8Path::new);
            let place = inside.map_or(name, |inside| inside.as_path());
            session.collector.report_file(
                place,
                &files::LINK_OUT,
                "the link leads out of the skill's folder",
            );
        } else {
            session.collector.gap(path, finding.message.clone());
        }
    }
    for folder in &listing.passed_over {
        // What scripts kept there in earlier versions is no code.
        let severity = if folder == "data" { Severity::Info } else { files::NOT_SCANNED.severity };
        session.collector.report_file_as(folder, &files::NOT_SCANNED, severity, "it was not scanned");
    }
    if listing.files.is_empty() {
        session.collector.gap(None, "there are no files");
    }
}

/// Scans one file, which may be inside of an archive.
fn scan_file(session: &mut Session, path: &Utf8Path, bytes: &[u8], depth: usize) {
    let kind = file_kind(path, bytes);
    let is_pointer = bytes.starts_with(b"version https://git-lfs");
    if promises_media(path) && is_disguised(kind) && !bytes.is_empty() && !is_pointer {
        let message = format!("its content is {}", describe(kind));
        session.collector.report_file(path, &files::DISGUISED, message);
    }
    match kind {
        FileKind::Text(language) => scan_text(session, path, bytes, language),
        FileKind::Program(format) => {
            session.collector.report_file(path, &files::PROGRAM, format!("a program in {format} format"));
        }
        FileKind::Compiled("WebAssembly") => {}
        FileKind::Compiled(format) => {
            session.collector.report_file(path, &files::COMPILED, format!("compiled as {format}"))
        }
        FileKind::Archive(archive) => scan_archive(session, path, bytes, archive, depth),
        FileKind::Media(_) => {}
        FileKind::Opaque => {
            if extension(path) != "bin" || depth == 0 {
                session.collector.report_file(path, &files::OPAQUE, "nobody can tell what it is");
            }
        }
    }
}

fn is_disguised(kind: FileKind) -> bool {
    match kind {
        FileKind::Text(_) | FileKind::Program(_) | FileKind::Compiled(_) => true,
        FileKind::Archive(_) | FileKind::Media(_) | FileKind::Opaque => false,
    }
}

fn describe(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Text(_) => "text",
        FileKind::Program(_) => "a program",
        FileKind::Compiled(_) => "compiled code",
        FileKind::Archive(_) => "an archive",
        FileKind::Media(_) => "media",
        FileKind::Opaque => "unknown",
    }
}

fn scan_archive(session: &mut Session, path: &Utf8Path, bytes: &[u8], archive: Archive, depth: usize) {
    if depth >= DECODE_DEPTH_MAX {
        return session.collector.gap(Some(path), "archives are nested too deep");
    }
    let members = match archive {
        Archive::Zip => zip_members(bytes),
        Archive::Tar => tar_members(bytes),
        Archive::Gzip => return scan_gzip(session, path, bytes, depth),
        Archive::Other(name) => {
            return session.collector.gap(Some(path), format!("a {name} archive is not unpacked"));
        }
    };
    match members {
        Ok(members) => scan_members(session, path, bytes.len(), &members, depth),
        Err(why) => session.collector.gap(Some(path), why.reason()),
    }
}

fn scan_members(
    session: &mut Session,
    path: &Utf8Path,
    archive_bytes: usize,
    members: &[Member<'_>],
    depth: usize,
) {
    if is_bomb(members, archive_bytes) {
        session.collector.report_file(
            path,
            &files::ARCHIVE_BOMB,
            "it says that it unpacks to far more than its size",
        );
        return session.collector.gap(Some(path), Unreadable::TooLarge.reason());
    }
    for member in members.iter().filter(|member| !member.name.ends_with('/')) {
        let inside = Utf8PathBuf::from(format!("{path}!/{}", member.name));
        if member.name.ends_with("vbaProject.bin") {
            session.collector.report_file(&inside, &files::MACRO, "the document holds macros");
            continue;
        }
        if member.is_locked {
            session.collector.report_file(
                path,
                &files::LOCKED_ARCHIVE,
                format!("`{}` is encrypted", member.name),
            );
            session.collector.gap(Some(&inside), "the file is encrypted");
            continue;
        }
        let size = usize::try_from(member.size).unwrap_or(usize::MAX);
        if !session.may_decode(size) {
            session.collector.gap(Some(&inside), Unreadable::TooLarge.reason());
            continue;
        }
        match member.unpack(size.min(DECODED_BYTES_MAX)) {
            Ok(content)
                if is_office(path)
                    && matches!(file_kind(&inside, &content), FileKind::Opaque | FileKind::Media(_)) => {}
            Ok(content) => scan_file(session, &inside, &content, depth + 1),
            Err(why) => session.collector.gap(Some(&inside), why.reason()),
        }
    }
}

fn scan_gzip(session: &mut Session, path: &Utf8Path, bytes: &[u8], depth: usize) {
    match super::encoded::unpack(bytes, DECODED_BYTES_MAX) {
        Ok(Some(content)) if session.may_decode(content.len()) => {
            let name = path.file_stem().unwrap_or("content");
            let inside = Utf8PathBuf::from(format!("{path}!/{name}"));
            scan_file(session, &inside, &content, depth + 1);
        }
        Ok(None) => session.collector.gap(Some(path), Unreadable::Broken.reason()),
        Ok(Some(_)) | Err(_) => session.collector.gap(Some(path), Unreadable::TooLarge.reason()),
    }
}

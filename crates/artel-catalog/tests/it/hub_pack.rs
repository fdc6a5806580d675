//! Archives for the tests of hubs, honest and hostile.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) const SKILL: &str = "---\nname: NAME\ndescription: Does it.\n---\nDo it.\n";

/// Returns a `SKILL.md` of that name.
pub(crate) fn skill(name: &str) -> String {
    SKILL.replace("NAME", name)
}

/// An entry of an archive: what it is, its path, its content or target.
pub(crate) type Packed<'a> = (EntryType, &'a str, &'a [u8]);

pub(crate) fn file<'a>(path: &'a str, content: &'a [u8]) -> Packed<'a> {
    (EntryType::Regular, path, content)
}

/// Packs a `.tar.gz`; paths are taken as they are, however bad.
pub(crate) fn tar_gz(entries: &[Packed<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, path, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(if path.ends_with(".sh") { 0o755 } else { 0o644 });
        let name = &mut header.as_old_mut().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        let is_file = *kind == EntryType::Regular;
        header.set_size(if is_file { content.len() as u64 } else { 0 });
        if !is_file {
            header.as_old_mut().linkname[..content.len()].copy_from_slice(content);
        }
        header.set_cksum();
        builder.append(&header, if is_file { *content } else { &[] }).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Packs a `.zip`.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (path, content) in entries {
        let mode = if path.ends_with(".sh") { 0o755 } else { 0o644 };
        writer.start_file(*path, options.unix_permissions(mode)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Packs a `.zip` with a link.
pub(crate) fn zip_with_link() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("SKILL.md", SimpleFileOptions::default()).unwrap();
    writer.write_all(skill("demo").as_bytes()).unwrap();
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap().into_inner()
}

//! What a file is, going by its first bytes first and its name second.

use camino::Utf8Path;

/// What a file is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FileKind {
    /// Text in some language.
    Text(Language),
    /// A program for a processor, with the name of its format.
    Program(&'static str),
    /// Code that was compiled for an interpreter, with the name of its format.
    Compiled(&'static str),
    /// Files in a file.
    Archive(Archive),
    /// Pictures, fonts, sounds, documents: nothing that runs.
    Media(&'static str),
    /// Something else that is no text.
    Opaque,
}

/// A kind of archive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Archive {
    Zip,
    Gzip,
    Tar,
    /// One that cannot be unpacked here, with its name.
    Other(&'static str),
}

/// A language of text files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Language {
    Markdown,
    Shell,
    Python,
    JavaScript,
    /// A script in a language that is searched but not parsed.
    OtherScript,
    /// Anything else.
    Data,
}

const MAGIC: &[(&[u8], FileKind)] = &[
    (b"\x7fELF", FileKind::Program("ELF")),
    (b"\xcf\xfa\xed\xfe", FileKind::Program("Mach-O")),
    (b"\xce\xfa\xed\xfe", FileKind::Program("Mach-O")),
    (b"\xfe\xed\xfa\xcf", FileKind::Program("Mach-O")),
    (b"\xfe\xed\xfa\xce", FileKind::Program("Mach-O")),
    (b"\0asm", FileKind::Compiled("WebAssembly")),
    (b"dex\n", FileKind::Compiled("Dalvik")),
    (b"PK\x03\x04", FileKind::Archive(Archive::Zip)),
    (b"PK\x05\x06", FileKind::Archive(Archive::Zip)),
    (b"\x1f\x8b", FileKind::Archive(Archive::Gzip)),
    (b"BZh", FileKind::Archive(Archive::Other("bzip2"))),
    (b"\xfd7zXZ\0", FileKind::Archive(Archive::Other("xz"))),
    (b"7z\xbc\xaf\x27\x1c", FileKind::Archive(Archive::Other("7z"))),
    (b"Rar!\x1a\x07", FileKind::Archive(Archive::Other("rar"))),
    (b"\x28\xb5\x2f\xfd", FileKind::Archive(Archive::Other("zstd"))),
    (b"xar!", FileKind::Archive(Archive::Other("xar"))),
    (b"!<arch>\n", FileKind::Archive(Archive::Other("ar"))),
    (b"\x89PNG\r\n", FileKind::Media("PNG")),
    (b"\xff\xd8\xff", FileKind::Media("JPEG")),
    (b"GIF8", FileKind::Media("GIF")),
    (b"RIFF", FileKind::Media("RIFF")),
    (b"BM", FileKind::Media("BMP")),
    (b"%PDF-", FileKind::Media("PDF")),
    (b"OggS", FileKind::Media("Ogg")),
    (b"ID3", FileKind::Media("MP3")),
    (b"fLaC", FileKind::Media("FLAC")),
    (b"\0\0\x01\0", FileKind::Media("icon")),
    (b"wOFF", FileKind::Media("font")),
    (b"wOF2", FileKind::Media("font")),
    (b"OTTO", FileKind::Media("font")),
    (b"ttcf", FileKind::Media("font")),
    (b"\0\x01\0\0", FileKind::Media("font")),
    (b"SQLite format 3\0", FileKind::Media("SQLite")),
    (b"II*\0", FileKind::Media("TIFF")),
    (b"MM\0*", FileKind::Media("TIFF")),
];

/// Returns what a file is.
pub(super) fn file_kind(path: &Utf8Path, bytes: &[u8]) -> FileKind {
    let extension = extension(path);
    if is_windows_program(bytes) {
        return FileKind::Program("PE");
    }
    if matches!(extension.as_str(), "pyc" | "pyo") && is_binary(bytes) {
        return FileKind::Compiled("Python bytecode");
    }
    if bytes.starts_with(b"\xca\xfe\xba\xbe") {
        let is_fat = bytes.get(4..8).is_some_and(|count| count < [0, 0, 0, 32].as_slice());
        return if is_fat { FileKind::Program("Mach-O") } else { FileKind::Compiled("Java class") };
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return FileKind::Archive(Archive::Tar);
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return FileKind::Media("MP4");
    }
    let magic = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    match magic {
        // Short magic numbers are also how ordinary text may begin.
        Some(FileKind::Media("BMP" | "MP3" | "RIFF" | "Ogg")) if !is_binary(bytes) => {}
        Some(kind) => return kind,
        None if is_binary(bytes) => return FileKind::Opaque,
        None => {}
    }
    FileKind::Text(language(path, bytes))
}

/// Returns the last part of a file's name, in lower case.
pub(super) fn extension(path: &Utf8Path) -> String {
    path.extension().unwrap_or_default().to_ascii_lowercase()
}

/// Says whether a file's name promises something that is no text and does not run.
pub(super) fn promises_media(path: &Utf8Path) -> bool {
    matches!(
        extension(path).as_str(),
        "png"
            | "jpg"
            | "jpeg"
            | "gif"
            | "webp"
            | "bmp"
            | "ico"
            | "pdf"
            | "mp3"
            | "mp4"
            | "wav"
            | "ogg"
            | "ttf"
            | "otf"
            | "woff"
            | "woff2"
            | "docx"
            | "xlsx"
            | "pptx"
    )
}

/// Says whether a Zip file's name says that it is an office document.
pub(super) fn is_office(path: &Utf8Path) -> bool {
    matches!(
        extension(path).as_str(),
        "docx"
            | "xlsx"
            | "pptx"
            | "dotx"
            | "xltx"
            | "potx"
            | "odt"
            | "ods"
            | "odp"
            | "epub"
            | "docm"
            | "xlsm"
            | "pptm"
    )
}

fn is_windows_program(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MZ") && is_binary(bytes)
}

/// Says whether bytes are no text: they hold a NUL, or too much that no text holds.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return false;
    }
    let head = &bytes[..bytes.len().min(8192)];
    if bytes.contains(&0) {
        return true;
    }
    let odd = head.iter().filter(|byte| matches!(byte, 1..=8 | 14..=26 | 28..=31 | 127)).count();
    odd * 20 > head.len()
}

fn language(path: &Utf8Path, bytes: &[u8]) -> Language {
    let by_shebang = bytes.starts_with(b"#!").then(|| by_interpreter(bytes)).flatten();
    if let Some(language) = by_shebang {
        return language;
    }
    match extension(path).as_str() {
        "md" | "mdx" | "markdown" | "mdc" => Language::Markdown,
        "sh" | "bash" | "zsh" | "ksh" | "command" | "fish" | "envrc" | "bats" => Language::Shell,
        "py" | "pyw" | "pyi" | "pth" => Language::Python,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts" => Language::JavaScript,
        "ps1" | "psm1" | "bat" | "cmd" | "vbs" | "rb" | "pl" | "php" | "lua" | "applescript" | "scpt"
        | "tcl" | "r" | "go" | "rs" | "swift" | "java" | "kt" | "c" | "cpp" => Language::OtherScript,
        "" if matches!(path.file_name(), Some("Makefile" | "Dockerfile" | "Justfile" | "justfile")) => {
            Language::OtherScript
        }
        _ => Language::Data,
    }
}

fn by_interpreter(bytes: &[u8]) -> Option<Language> {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let names = line.trim_start_matches("#!").split([' ', '/', '\t', '\r']);
    names.rev().find_map(|name| match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" => Some(Language::Shell),
        "python" | "pypy" | "uv" => Some(Language::Python),
        "node" | "bun" | "deno" | "tsx" => Some(Language::JavaScript),
        "ruby" | "perl" | "php" | "lua" | "pwsh" | "osascript" => Some(Language::OtherScript),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_more_than_names() {
        for (path, bytes, expected) in [
            ("a.png", b"\x89PNG\r\n\x1a\n".as_slice(), FileKind::Media("PNG")),
            ("a.png", b"\x7fELF\x02", FileKind::Program("ELF")),
            ("a.md", b"# Title", FileKind::Text(Language::Markdown)),
            ("run", b"#!/usr/bin/env python3\n", FileKind::Text(Language::Python)),
            ("run", b"#!/usr/bin/env -S uv run --script\n", FileKind::Text(Language::Python)),
            ("run", b"#!/bin/sh\n", FileKind::Text(Language::Shell)),
            ("a.txt", b"BMW cars", FileKind::Text(Language::Data)),
            ("a.exe", b"MZ\x90\0\x03", FileKind::Program("PE")),
            ("a.pyc", b"\xa7\r\r\n\0\0\0\0", FileKind::Compiled("Python bytecode")),
            ("a.bin", b"\x01\x02\x03\x04", FileKind::Opaque),
            ("a.jar", b"PK\x03\x04", FileKind::Archive(Archive::Zip)),
        ] {
            assert_eq!(file_kind(Utf8Path::new(path), bytes), expected, "{path}");
        }
    }
}

//! The text files of a skill, with what is wrong about them as files.

use artel_model::diagnostic::{Code, Finding, Position};
use camino::Utf8Path;

use crate::source::{FileTree, ReadError};
use crate::text::decode;

/// Reads a text file; what is wrong is reported under `shown`, the path that people know it by.
pub(super) fn read_text(
    tree: &dyn FileTree,
    path: &str,
    shown: &Utf8Path,
    bytes_max: u64,
    findings: &mut Vec<Finding>,
) -> Option<String> {
    let bytes = match tree.read(Utf8Path::new(path), bytes_max) {
        Ok(bytes) => bytes,
        Err(error) => {
            findings.push(unread(&error, shown));
            return None;
        }
    };
    let mut report = |code, position, message: &str, hint: Option<&str>| {
        findings.push(Finding {
            code,
            message: message.to_owned(),
            path: shown.to_owned(),
            position: Some(position),
            hint: hint.map(str::to_owned),
        });
    };
    match decode(bytes) {
        Ok(text) => {
            if text.had_byte_order_mark {
                let hint =
                    "save the file as UTF-8 without a byte order mark; `artel skill validate --fix` does it";
                let message = "the file starts with a byte order mark";
                report(Code::ByteOrderMark, Position::START, message, Some(hint));
            }
            Some(text.content)
        }
        Err(bad) => {
            report(bad.code, bad.position, bad.message, Some("save the file as UTF-8 text"));
            None
        }
    }
}

fn unread(error: &ReadError, shown: &Utf8Path) -> Finding {
    let (code, message) = match error {
        ReadError::Missing(_) => (Code::Unreadable, "the file has vanished".to_owned()),
        ReadError::Special(_) => (Code::SpecialFile, "this is not a plain file; it is not opened".to_owned()),
        ReadError::TooLarge { bytes_max, .. } => {
            (Code::FileTooLarge, format!("the file is larger than {bytes_max} bytes; it is not read"))
        }
        ReadError::Io { source, .. } => (Code::Unreadable, format!("cannot read the file: {source}")),
    };
    Finding { code, message, path: shown.to_owned(), position: None, hint: None }
}

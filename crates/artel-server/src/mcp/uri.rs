//! Addresses of the files of skills: `skill://<name>/<path>`. A path is looked up in the list of a skill's files, never
//! joined to a folder, so that no address leads out of a skill.

use artel_model::name::SkillName;

const SCHEME: &str = "skill://";

/// A file of a skill.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SkillUri {
    /// The skill.
    pub(super) skill: SkillName,
    /// The path below its folder.
    pub(super) path: String,
}

impl SkillUri {
    /// Reads an address; nothing when it cannot be one of ours.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, path) = text.strip_prefix(SCHEME)?.split_once('/')?;
        let path = decoded(path).filter(|path| !path.is_empty())?;
        Some(Self { skill: name.parse().ok()?, path })
    }

    /// Writes the address of a file.
    pub(super) fn of(skill: &SkillName, path: &str) -> String {
        format!("{SCHEME}{skill}/{}", encoded(path))
    }
}

fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into())
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' { 16 * digit(rest.next()?)? + digit(rest.next()?)? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let skill: SkillName = "navigate".parse().unwrap();
        for path in ["SKILL.md", "references/two words.md", "a%b#c?d.md", "naïve/ü.txt"] {
            let uri = SkillUri::of(&skill, path);
            assert!(uri.is_ascii() && !uri.contains(['#', '?', ' ']), "{uri}");
            assert_eq!(SkillUri::parse(&uri), Some(SkillUri { skill: skill.clone(), path: path.to_owned() }));
        }
    }

    #[test]
    fn what_is_no_address_names_nothing() {
        for text in [
            "",
            "skill://",
            "skill://navigate",
            "skill://navigate/",
            "file:///etc/passwd",
            "skill://Na/x",
            "skill://a/%zz",
        ] {
            assert_eq!(SkillUri::parse(text), None, "{text}");
        }
    }
}

//! Tricks of hubs and of archives, as data: every one is refused, or what it smuggles is left out and named.

use std::io::{Cursor, Write as _};

use artel_catalog::FileTree as _;
use artel_catalog::hub::{
    ArchiveTop, CredentialsRef, Fetched, GitReference, HostRules, HubLimits, HubLocation, IncludePath,
    SkillIndex, read_archive,
};
use artel_catalog::shared::custom::{ZipCaps, files_of_zip};
use artel_model::catalog::HubKind;
use serde::Deserialize;
use tar::EntryType;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::hub_pack::{Packed, skill, tar_gz};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tricks {
    trick: Vec<Trick>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trick {
    name: String,
    through: Through,
    text: Option<String>,
    #[serde(default)]
    entries: Vec<TrickEntry>,
    damage: Option<Damage>,
    refused: Option<String>,
    left_out: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "snake_case")]
enum Through {
    Location,
    Reference,
    IncludePath,
    Credentials,
    Tar,
    Zip,
    Upload,
    Index,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Damage {
    /// The second half is missing.
    Cut,
    /// The list at the end says that the last file is smaller than it is.
    Smaller,
    /// Every file says that it needs a password.
    Encrypted,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrickEntry {
    path: String,
    #[serde(default)]
    kind: Kind,
    /// The name of a skill whose instructions are the content.
    skill: Option<String>,
    /// The content, or where a link leads.
    text: Option<String>,
    /// So many bytes of zero.
    zeros: Option<usize>,
}

#[derive(Clone, Copy, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    File,
    Link,
    HardLink,
    Device,
    Pipe,
}

impl TrickEntry {
    fn content(&self) -> Vec<u8> {
        match (&self.skill, &self.text, self.zeros) {
            (Some(name), None, None) => skill(name).into_bytes(),
            (None, Some(text), None) => text.as_bytes().to_vec(),
            (None, None, Some(zeros)) => vec![0; zeros],
            (None, None, None) => Vec::new(),
            _ => panic!("{}: an entry has one content", self.path),
        }
    }

    fn kind(&self) -> EntryType {
        match self.kind {
            Kind::File => EntryType::Regular,
            Kind::Link => EntryType::Symlink,
            Kind::HardLink => EntryType::Link,
            Kind::Device => EntryType::Char,
            Kind::Pipe => EntryType::Fifo,
        }
    }
}

/// What came of a trick: what was taken and said, or why it was refused.
type Outcome = Result<(Vec<String>, Vec<String>), String>;

#[test]
fn every_trick_is_refused_or_left_out() {
    let text = include_str!("../../../../fixtures/hostile/hubs.toml");
    let tricks: Tricks = toml::from_str(text).unwrap();
    assert!(tricks.trick.len() >= 30, "there are {} tricks", tricks.trick.len());
    let failures: Vec<String> = tricks.trick.iter().filter_map(failure).collect();
    assert_eq!(failures, Vec::<String>::new());
}

fn failure(trick: &Trick) -> Option<String> {
    let outcome = play(trick);
    let is_as_expected = match (&outcome, &trick.refused, &trick.left_out) {
        (Err(why), Some(words), None) => why.contains(words.as_str()),
        (Ok((files, said)), None, left_out) => {
            let is_said = |words: &String| said.iter().any(|line| line.contains(words.as_str()));
            *files == trick.files && left_out.as_ref().is_none_or(is_said)
        }
        _ => false,
    };
    (!is_as_expected).then(|| format!("{} ({:?}): {outcome:?}", trick.name, trick.through))
}

fn play(trick: &Trick) -> Outcome {
    let text = trick.text.as_deref().unwrap_or_default();
    match trick.through {
        Through::Location => location(text),
        Through::Reference => nothing(text.parse::<GitReference>()),
        Through::IncludePath => nothing(text.parse::<IncludePath>()),
        Through::Credentials => nothing(text.parse::<CredentialsRef>()),
        Through::Index => nothing(SkillIndex::parse(text.as_bytes())),
        Through::Tar => archive(tar(trick), ArchiveTop::OneFolder),
        Through::Zip => archive(zip(trick), ArchiveTop::PerhapsOneFolder),
        Through::Upload => {
            let files =
                files_of_zip(&zip(trick), &ZipCaps::default()).map_err(|problem| problem.to_string())?;
            Ok((files.files.into_iter().map(|file| file.path).collect(), Vec::new()))
        }
    }
}

fn nothing<T, E: std::error::Error>(result: Result<T, E>) -> Outcome {
    result.map(|_| (Vec::new(), Vec::new())).map_err(|error| error.to_string())
}

fn location(text: &str) -> Outcome {
    let rules = HostRules {
        hosts: vec!["git.example.com".parse().unwrap()],
        allows_file: false,
        allows_loopback_http: false,
    };
    let location = HubLocation::parse(HubKind::Git, text).map_err(|problem| problem.to_string())?;
    nothing(location.check(&rules))
}

fn archive(bytes: Vec<u8>, top: ArchiveTop) -> Outcome {
    let limits = HubLimits { unpacked_bytes_max: 4 * 1024 * 1024, ..HubLimits::default() };
    let gathered = read_archive(Cursor::new(bytes), top, &[], limits).map_err(|error| error.to_string())?;
    let fetched = Fetched::new("a".repeat(40).parse().unwrap(), "hub".to_owned(), gathered);
    let files = fetched.folders.iter().flat_map(|folder| {
        let files = folder.tree.listing().files;
        files.into_iter().map(|file| folder.path.join(&file.path).into_string()).collect::<Vec<_>>()
    });
    Ok((files.collect(), fetched.notes()))
}

fn tar(trick: &Trick) -> Vec<u8> {
    let contents: Vec<Vec<u8>> = trick.entries.iter().map(TrickEntry::content).collect();
    let packed: Vec<Packed<'_>> = trick
        .entries
        .iter()
        .zip(&contents)
        .map(|(entry, content)| (entry.kind(), entry.path.as_str(), content.as_slice()))
        .collect();
    damaged(tar_gz(&packed), trick.damage)
}

fn zip(trick: &Trick) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in &trick.entries {
        let (options, content) = (SimpleFileOptions::default(), entry.content());
        if entry.kind == Kind::Link {
            writer.add_symlink(entry.path.as_str(), String::from_utf8(content).unwrap(), options).unwrap();
        } else {
            writer.start_file(entry.path.as_str(), options).unwrap();
            writer.write_all(&content).unwrap();
        }
    }
    damaged(writer.finish().unwrap().into_inner(), trick.damage)
}

fn damaged(mut bytes: Vec<u8>, damage: Option<Damage>) -> Vec<u8> {
    let places = |bytes: &[u8], mark: &[u8]| -> Vec<usize> {
        let found = bytes.windows(4).enumerate().filter(|(_, window)| *window == mark);
        found.map(|(place, _)| place).collect()
    };
    match damage {
        None => {}
        Some(Damage::Cut) => bytes.truncate(bytes.len() / 2),
        Some(Damage::Smaller) => {
            let last = *places(&bytes, b"PK\x01\x02").last().unwrap();
            bytes[last + 24..last + 28].copy_from_slice(&7_u32.to_le_bytes());
        }
        Some(Damage::Encrypted) => {
            for (mark, offset) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
                for place in places(&bytes, mark) {
                    bytes[place + offset] |= 1;
                }
            }
        }
    }
    bytes
}

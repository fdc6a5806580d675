//! Random locations, archives and indexes. Whatever somebody writes or a server sends, the same things must hold.

use std::io::Cursor;

use artel_catalog::FileTree as _;
use artel_catalog::hub::{
    ArchiveTop, Census, EntryKind, Fetched, GitReference, HostRules, HubLimits, HubLocation, IncludePath,
    SkillIndex, publish, read_archive, read_published,
};
use artel_model::catalog::HubKind;
use bolero::check;

use crate::hub_pack::{file, skill, tar_gz, zip};
use crate::mutate::{PIECES, Random};

const ITERATIONS: usize = 2000;

/// Pieces of locations, good and bad.
const PARTS: &[&str] = &[
    "https://",
    "http://",
    "ssh://",
    "file://",
    "file:///",
    "ext::",
    "git@",
    "github.com",
    "/",
    "//",
    ":",
    "@",
    "-",
    "--upload-pack=x",
    "..",
    ".",
    ".git",
    "a",
    "owner",
    "127.0.0.1",
    "[::1]",
    "localhost",
    "443",
    "99999",
    "%2e",
    "?",
    "#",
    "\\",
    "\n",
    "\0",
    " ",
    "\u{e9}",
    "\u{202e}",
    "user:pass@",
    "$(id)",
    "`",
    "'",
    "\"",
    "~",
    "+",
    "srv/x",
];

fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

#[test]
fn locations() {
    check!().with_iterations(20_000).with_type::<(u64, u8)>().for_each(|(seed, count)| {
        let mut random = Random::new(*seed);
        let text: String = (0..count % 9).map(|_| *random.pick(PARTS)).collect();
        for kind in HubKind::ALL {
            let Ok(location) = HubLocation::parse(kind, &text) else { continue };
            let written = location.to_string();
            assert_eq!(HubLocation::parse(kind, &written).as_ref(), Ok(&location), "{text:?} {written:?}");
            assert!(!written.starts_with('-') && !climbs(&written), "{written:?}");
            assert!(written.bytes().all(|byte| matches!(byte, b'!'..=b'~')), "{written:?}");
            assert!(!written.contains(['$', '`', '\'', '"', '\\', '%', '?', '#']), "{written:?}");
            assert!(!written.contains("pass"), "{written:?}");
            let name = location.root_name();
            assert!(!name.is_empty() && !name.contains('/') && !name.starts_with('.'), "{name:?}");
            let _ = location.check(&HostRules::default());
        }
        let _ = text.parse::<IncludePath>().map(|path| assert!(!climbs(path.path().as_str())));
        let _ = text.parse::<GitReference>().map(|name| assert!(!name.as_str().starts_with('-')));
    });
}

/// Pieces of paths that mean something to somebody.
const NAMES: &[&str] = &[
    "SKILL.md",
    "skill.md",
    "skill.json",
    "a",
    "b",
    "data",
    "__pycache__",
    "node_modules",
    ".git",
    ".claude",
    "x.sh",
    "..",
    "c d",
];

#[test]
fn what_is_published_is_what_is_found() {
    let content = |number: usize| skill(&format!("skill-{number}")).into_bytes();
    check!().with_iterations(300).with_type::<(u64, u8)>().for_each(|(seed, count)| {
        let mut random = Random::new(*seed);
        let mut census = Census::new(&[], HubLimits::default());
        for number in 0..usize::from(count % 24) {
            let parts: Vec<&str> = (0..=random.below(4)).map(|_| *random.pick(NAMES)).collect();
            let kind =
                EntryKind::File { size: content(number).len() as u64, is_executable: random.below(2) == 0 };
            census.offer(number, parts.join("/").as_bytes(), kind).unwrap();
        }
        let mut selection = census.select();
        for number in selection.wanted() {
            selection.add(number, content(number));
        }
        let fetched = Fetched::new("a".repeat(40).parse().unwrap(), "hub".to_owned(), selection.finish());
        let folder = tempfile::tempdir().unwrap();
        let into = camino::Utf8Path::from_path(folder.path()).unwrap();
        publish(&fetched, "", into).unwrap();
        let found =
            read_published(into).unwrap_or_else(|error| panic!("{error}: {:?}", fetched.folders)).unwrap();
        assert_eq!(found.skills.len(), fetched.folders.len());
    });
}

#[test]
fn archives() {
    let content = skill("demo");
    let corpus = [
        tar_gz(&[file("r/a/SKILL.md", content.as_bytes()), file("r/a/run.sh", b"#!/bin/sh\n")]),
        zip(&[("SKILL.md", content.as_bytes()), ("scripts/run.sh", b"#!/bin/sh\n")]),
    ];
    let limits = HubLimits { unpacked_bytes_max: 4 * 1024 * 1024, ..HubLimits::default() };
    check!().with_iterations(ITERATIONS).with_type::<(bool, u64, Vec<u8>)>().for_each(
        |(which, seed, noise)| {
            let mut random = Random::new(*seed);
            let mut bytes = corpus[usize::from(*which)].clone();
            for byte in noise.iter().take(8) {
                let at = random.below(bytes.len());
                bytes[at] = *byte;
            }
            for top in [ArchiveTop::OneFolder, ArchiveTop::PerhapsOneFolder] {
                let Ok(gathered) = read_archive(Cursor::new(bytes.clone()), top, &[], limits) else {
                    continue;
                };
                let revision = "a".repeat(40).parse().unwrap();
                for folder in Fetched::new(revision, "hub".to_owned(), gathered).folders {
                    for file in folder.tree.listing().files {
                        let path = folder.path.join(file.path);
                        assert!(!path.is_absolute() && !climbs(path.as_str()), "{path}");
                    }
                }
            }
        },
    );
}

#[test]
fn indexes() {
    let digest = "ab".repeat(32);
    let index = format!(
        "{{\"$schema\": \"https://schemas.agentskills.io/discovery/0.2.0/schema.json\", \"skills\": [{{\"name\": \
         \"a\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"a.zip\", \"digest\": \"sha256:{digest}\"}}]}}"
    );
    assert_eq!(SkillIndex::parse(index.as_bytes()).unwrap().skills.len(), 1);
    check!().with_iterations(ITERATIONS).with_type::<(u64, u8)>().for_each(|(seed, count)| {
        let mut random = Random::new(*seed);
        let mut text = index.clone().into_bytes();
        for _ in 0..count % 4 {
            let at = random.below(text.len());
            text.splice(at..at, random.pick::<&str>(PIECES).bytes());
        }
        if let Ok(index) = SkillIndex::parse(&text) {
            assert!(index.skills.len() <= 1);
        }
    });
}

//! The rules of locking, as tables and properties.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::catalog::SourceKind;
use artel_model::data_scope::DataScope;
use artel_model::limit::{LOCK_SKILLS_MAX, LOCK_TEXT_BYTES_MAX};
use artel_model::name::SkillName;
use artel_model::skill::SkillPin;
use artel_model::version::Version;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::load::{Keep, Location, load_tree};
use crate::source::{FileTree, MemoryTree, content_hash, file_hash};

const MANIFEST: &str = r#"{
    "name": "demo", "version": "1.2.0", "description": "Counts.", "dependencies": ["other"],
    "scripts": [{"name": "run", "path": "scripts/run.sh"}], "entrypoint": "run",
    "allowed_tools": ["demo/run", "Bash(git:*)"], "forbidden_tools": ["write"],
    "sandbox": {"network": true, "read": ["/data"], "write": [], "env": ["HOME"]}
}"#;

fn tree() -> MemoryTree {
    let mut tree = MemoryTree::default();
    tree.add("SKILL.md", "---\nname: demo\ndescription: Counts.\n---\nCount.\n", false);
    tree.add("skill.json", MANIFEST, false);
    tree.add("scripts/run.sh", "#!/bin/sh -e\necho 1\n", true);
    tree
}

fn origin(location: &str) -> Origin {
    Origin { source: SourceKind::Default, location: location.to_owned(), revision: None }
}

/// Locks one skill.
fn locked(tree: &MemoryTree) -> LockFile {
    let loaded = load_tree(tree, tree.listing(), Location::Folder("demo".into()), Keep::Descriptions);
    let skill = loaded.skill.unwrap_or_else(|| panic!("{:?}", loaded.findings));
    let pinned = pin(&skill, origin("skills/demo"), tree).unwrap();
    LockFile { scope: LockScope::All, skills: BTreeMap::from([(skill.pin(), pinned)]) }
}

#[test]
fn a_lock_file_is_one_thing_a_line() {
    let file = locked(&tree());
    let text = file.to_text();
    assert_snapshot!(text, @r#"
    # Which skills this project uses, and what they may do. Made by `artel skill lock`; do not edit.
    # `artel skill verify` compares the skills with it, `artel skill update` accepts what changed.
    version = 1

    [[skill]]
    name = "demo"
    version = "1.2.0"
    source = "default"
    location = "skills/demo"
    content_hash = "sha256:6309b1610b3c16aace0cab46c32f33a764bc30f34d7ec7becb580b2971913bb8"

    [skill.permissions]
    network = true
    reads = ["/data"]
    variables = ["HOME"]
    allowed_tools = [
        "Bash(git:*)",
        "demo/run",
    ]
    forbidden_tools = ["write"]
    uses = ["other"]
    called_by = [
        "model",
        "user",
    ]

    [[skill.permissions.scripts]]
    name = "run"
    path = "scripts/run.sh"
    interpreter = "/bin/sh -e"

    [skill.files]
    "SKILL.md" = "sha256:d7dd903f35e08719c17bef9be18a7101b04a29757b40a27378a8bce175dbaa48"
    "scripts/run.sh" = "sha256:8d078a96eb287c8ae757389057172305a4f6cc5c874f57e9193a7ca2d5e35f15 executable"
    "skill.json" = "sha256:e11b52b2f081967f7fbd38ae9d893f35021e4de69430c84ae7fba407f80d5b93"
    "#);
    assert_eq!(LockFile::parse(&text), Ok(file));
}

#[test]
fn the_hash_is_the_skills_own() {
    let tree = tree();
    let [skill] = locked(&tree).skills.into_values().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(skill.content_hash(), content_hash(&tree, &tree.listing()).unwrap());
}

/// Says what became of the skill after a change.
fn told(before: &LockFile, after: &LockFile) -> Vec<String> {
    let mut lines = Vec::new();
    for LockedSkillState { pin, drift } in compare(before, after).skills {
        lines.push(format!("{} {pin}", drift.as_str()));
        let Drift::Changed(change) = drift else { continue };
        lines.push(format!("  is {}", change.version));
        for change in change.permissions {
            let sign = if change.is_added() { '+' } else { '-' };
            lines.push(format!("  {} {sign} {}", change.rights.as_str(), change.permission));
        }
        for (path, change) in change.files {
            lines.push(format!("  {path} {}", change.as_str()));
        }
    }
    lines
}

#[test]
fn what_a_skill_may_do_is_told_before_its_files() {
    let mut after = tree();
    let manifest = MANIFEST
        .replace("\"Bash(git:*)\"", "\"Bash\"")
        .replace("[\"write\"]", "[]")
        .replace("\"network\": true", "\"network\": false")
        .replace("\"sandbox\"", "\"data_scope\": \"shared\", \"sandbox\"")
        .replace("1.2.0", "1.3.0");
    after.add("skill.json", manifest, false);
    after.add("scripts/run.sh", "#!/usr/bin/env python3\n", true);
    after.add("notes.md", "", false);
    assert_snapshot!(told(&locked(&tree()), &locked(&after)).join("\n"), @"
    changed demo@1.2.0
      is 1.3.0
      wider + shares its data (`data_scope`: `shared`)
      wider + allows `Bash`
      wider - forbids `write`
      wider + has the script `run`: scripts/run.sh by /usr/bin/env python3
      narrower - asks for the network
      narrower - allows `Bash(git:*)`
      narrower - has the script `run`: scripts/run.sh by /bin/sh -e
      notes.md added
      scripts/run.sh changed
      skill.json changed
    ");
}

#[test]
fn a_changed_byte_a_bit_and_a_path_are_seen() {
    let before = locked(&tree());
    let check = |change: &dyn Fn(&mut MemoryTree), expected: &str| {
        let mut after = tree();
        change(&mut after);
        assert_eq!(told(&before, &locked(&after)).pop().unwrap(), expected);
    };
    check(&|_| {}, "same demo@1.2.0");
    check(&|tree| tree.add("scripts/run.sh", "#!/bin/sh -e\necho 2\n", true), "  scripts/run.sh changed");
    check(
        &|tree| tree.add("scripts/run.sh", "#!/bin/sh -e\necho 1\n", false),
        "  scripts/run.sh made not executable",
    );
    check(&|tree| tree.add("a", "", false), "  a added");
}

#[test]
fn the_same_files_from_elsewhere_are_moved() {
    let before = locked(&tree());
    let mut after = before.clone();
    for skill in after.skills.values_mut() {
        skill.origin = origin("elsewhere");
    }
    let comparison = compare(&before, &after);
    assert_eq!(told(&before, &after), ["moved demo@1.2.0"]);
    assert!(!comparison.is_broken() && !comparison.is_exact());
}

#[test]
fn one_name_pairs_its_versions() {
    let skill = locked(&tree()).skills.into_values().next().unwrap();
    let file = |versions: &[&str]| LockFile {
        scope: LockScope::All,
        skills: versions
            .iter()
            .map(|version| {
                let pin = SkillPin { name: "demo".parse().unwrap(), version: version.parse().unwrap() };
                (pin, skill.clone())
            })
            .collect(),
    };
    let check = |before: &[&str], after: &[&str], expected: &[&str]| {
        assert_eq!(told(&file(before), &file(after)), expected);
    };
    check(&["1.0.0", "2.0.0"], &["1.0.0", "3.0.0"], &["same demo@1.0.0", "changed demo@2.0.0", "  is 3.0.0"]);
    check(&["1.0.0", "2.0.0"], &["2.0.0"], &["missing demo@1.0.0", "same demo@2.0.0"]);
    check(&["2.0.0"], &["1.0.0", "2.0.0"], &["unlocked demo@1.0.0", "same demo@2.0.0"]);
    check(&[], &["1.0.0"], &["unlocked demo@1.0.0"]);
}

#[test]
fn a_broken_file_is_refused_at_its_place() {
    let text = locked(&tree()).to_text();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}");
        let problem = LockFile::parse(&text.replacen(from, to, 1)).unwrap_err();
        assert_eq!(problem.to_string(), expected);
        assert!(!problem.hint().is_empty());
    };
    check("version = 1\n", "version = 2\n", "3:11: it has version 2, and this artel knows version 1");
    check("version = 1\n", "", "1:1: missing field `version`");
    check("version = 1\n", "version = 1\nnames = ['x']\n", "4:10: `x` is named here, but not pinned below");
    check(
        "source",
        "sauce",
        "8:1: unknown field `sauce`, expected one of `name`, `version`, `source`, `location`, `revision`, `content_hash`, `permissions`, `files`",
    );
    check(
        "\"demo\"",
        "\"De mo\"",
        "6:8: this is not a skill's name: `D` is not allowed in a name: use lower-case letters a-z, digits and hyphens",
    );
    check("\"1.2.0\"", "\"1.2\"", "7:11: this is not a version like 1.2.3");
    check("\"default\"", "\"web\"", "8:10: `web` is no source; there are default, agent_skills and hub");
    check(
        " executable",
        " runnable",
        "34:20: this is not a hash: it is not `sha256:` with 64 digits of 0-9 and a-f after it",
    );
    check(" executable", "", "10:16: the hash of `demo@1.2.0` is not that of its files");
    check(
        "\"scripts/run.sh\" =",
        "\"../run.sh\" =",
        "34:15: `../run.sh` is not a path below a skill's folder",
    );
    check("\"model\"", "\"moon\"", "23:5: `moon` cannot call a skill; there are model and user");
    check("[[skill]]\n", "<<<<<<< HEAD\n[[skill]]\n", "5:1: a merge left both sides of a conflict here");
    check("[[skill]]\n", "[[skill\n", "5:8: unclosed array table, expected `]]`");
    check("skills/demo", &"x".repeat(LOCK_TEXT_BYTES_MAX + 1), "9:12: this text has more than 4096 bytes");
    let twice = format!("{text}\n{}", &text[text.find("[[skill]]").unwrap()..]);
    assert_eq!(
        LockFile::parse(&twice).unwrap_err().kind.to_string(),
        "`demo@1.2.0` stands here a second time"
    );
    let many = format!("version = 1\n{}", "[[skill]]\n".repeat(3));
    assert!(LockFile::parse(&many).unwrap_err().to_string().starts_with("2:1: missing field"));
}

#[test]
fn too_many_skills_are_refused() {
    let one = locked(&tree()).skills.into_values().next().unwrap();
    let one = LockedSkill { permissions: BTreeSet::new(), ..one };
    let skills = (0..=LOCK_SKILLS_MAX).map(|number| {
        let pin = SkillPin { name: "demo".parse().unwrap(), version: Version::new(number as u64, 0, 0) };
        (pin, one.clone())
    });
    let file = LockFile { scope: LockScope::All, skills: skills.collect() };
    assert_eq!(LockFile::parse(&file.to_text()).unwrap_err().kind, LockProblemKind::TooMany);
}

fn permission() -> impl Strategy<Value = Permission> {
    let text = "[a-c\"\\n*() \u{e9}]{0,6}";
    prop_oneof![
        Just(Permission::Network),
        Just(Permission::SharesData(DataScope::Shared)),
        Just(Permission::CalledByModel),
        Just(Permission::CalledByUser),
        text.prop_map(Permission::Allows),
        text.prop_map(Permission::Forbids),
        text.prop_map(Permission::Writes),
        text.prop_map(Permission::Reads),
        text.prop_map(Permission::Sees),
        text.prop_map(Permission::Uses),
        (text, "[a-c/]{1,4}", proptest::option::of(text)).prop_map(|(name, path, interpreter)| {
            Permission::Runs { name, path: path.into(), interpreter }
        }),
    ]
}

fn locked_skill() -> impl Strategy<Value = LockedSkill> {
    let file = ("[a-c \"'#=\\n.\u{e9}-]{1,3}(/[a-c]{1,2})?", any::<u8>(), any::<bool>());
    let files = proptest::collection::vec(file, 0..4).prop_map(|files| {
        let usable = files.into_iter().filter(|(path, ..)| {
            camino::Utf8Path::new(path)
                .components()
                .all(|part| matches!(part, camino::Utf8Component::Normal(_)))
        });
        usable
            .map(|(path, byte, is_executable)| {
                (path, LockedFile { hash: file_hash(&[byte % 2]), is_executable })
            })
            .collect()
    });
    let source = prop_oneof![Just(SourceKind::Default), Just(SourceKind::AgentSkills), Just(SourceKind::Hub)];
    let origin = (source, "[a-b\"\\\\]{0,3}", proptest::option::of("[a-b]{1,3}"))
        .prop_map(|(source, location, revision)| Origin { source, location, revision });
    (origin, proptest::collection::btree_set(permission(), 0..4), files)
        .prop_map(|(origin, permissions, files)| LockedSkill { origin, permissions, files })
}

fn name() -> impl Strategy<Value = SkillName> {
    "[a-c]".prop_map(|text| text.parse().unwrap())
}

fn lock_file() -> impl Strategy<Value = LockFile> {
    let pin =
        (name(), 0..3_u64).prop_map(|(name, major)| SkillPin { name, version: Version::new(major, 0, 0) });
    let names = proptest::option::of(proptest::collection::btree_set(name(), 0..3));
    (names, proptest::collection::btree_map(pin, locked_skill(), 0..5)).prop_map(|(names, skills)| {
        let pinned = |name: &SkillName| skills.keys().any(|pin| pin.name == *name);
        let named = |names: BTreeSet<SkillName>| LockScope::Named(names.into_iter().filter(pinned).collect());
        LockFile { scope: names.map_or(LockScope::All, named), skills }
    })
}

proptest! {
    #[test]
    fn a_file_is_read_as_it_was_written(file in lock_file()) {
        let text = file.to_text();
        prop_assert_eq!(LockFile::parse(&text), Ok(file));
    }

    #[test]
    fn nothing_differs_from_itself(file in lock_file()) {
        prop_assert!(compare(&file, &file).is_exact());
    }

    #[test]
    fn going_back_tells_the_opposite(a in lock_file(), b in lock_file()) {
        let (there, back) = (compare(&a, &b), compare(&b, &a));
        let count = |comparison: &Comparison, word: &str| {
            comparison.skills.iter().filter(|standing| standing.drift.as_str() == word).count()
        };
        for (word, opposite) in [("same", "same"), ("moved", "moved"), ("changed", "changed"), ("missing", "unlocked")] {
            prop_assert_eq!(count(&there, word), count(&back, opposite));
        }
        let wider = |comparison: &Comparison, rights: Rights| -> BTreeSet<(SkillName, Permission)> {
            let changes = comparison.skills.iter().filter_map(|standing| match &standing.drift {
                Drift::Changed(change) => Some((&standing.pin.name, &change.permissions)),
                Drift::Same | Drift::Moved { .. } | Drift::Missing | Drift::Unlocked => None,
            });
            changes
                .flat_map(|(name, all)| all.iter().map(move |change| (name.clone(), change)))
                .filter(|(_, change)| change.rights == rights)
                .map(|(name, change)| (name, change.permission.clone()))
                .collect()
        };
        prop_assert_eq!(wider(&there, Rights::Wider), wider(&back, Rights::Narrower));
    }

    #[test]
    fn pinning_all_again_leaves_nothing_to_say(a in lock_file(), b in lock_file()) {
        let after = repin(&a, &b, Repin::All);
        prop_assert!(compare(&after, &b).is_exact());
        prop_assert_eq!(LockFile::parse(&after.to_text()), Ok(after));
    }

    #[test]
    fn pinning_some_again_touches_no_other(a in lock_file(), b in lock_file(), which in proptest::collection::btree_set(name(), 0..3)) {
        let after = repin(&a, &b, Repin::These(&which));
        for (pin, skill) in &after.skills {
            let from = if which.contains(&pin.name) { &b } else { &a };
            prop_assert_eq!(from.skills.get(pin), Some(skill));
        }
        let is_there = |name: &SkillName| b.skills.keys().any(|pin| pin.name == *name);
        for pin in a.skills.keys().filter(|pin| !which.contains(&pin.name) && is_there(&pin.name)) {
            prop_assert!(after.skills.contains_key(pin));
        }
    }
}

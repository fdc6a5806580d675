//! Lock files of real skills: which skills are meant, what is on disk, and what damaged text leads to.

use std::collections::{BTreeMap, BTreeSet};

use artel_catalog::lock::{
    Drift, LockFile, LockFileError, LockScope, Origin, compare, pin, read_lock, used, write_lock,
};
use artel_catalog::{Catalog, CatalogRequest, FolderLimits, Keep, LoadOptions, whole_tree};
use artel_model::catalog::SourceKind;
use artel_model::limit::LOCK_BYTES_MAX;
use artel_model::name::SkillName;
use bolero::check;
use camino::{Utf8Path, Utf8PathBuf};

use crate::mutate::{Random, damaged};

/// How often the target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 2000;

fn catalog(roots: Vec<Utf8PathBuf>, disabled: &[&str]) -> Catalog {
    Catalog::load(&CatalogRequest {
        roots,
        options: LoadOptions::from(Keep::Descriptions),
        disabled: disabled.iter().map(|name| name.parse().unwrap()).collect(),
        chosen: Vec::new(),
    })
}

fn named(names: &[&str]) -> LockScope {
    LockScope::Named(names.iter().map(|name| name.parse().unwrap()).collect())
}

/// Locks what is meant by `scope`.
fn lock(catalog: &Catalog, scope: LockScope) -> LockFile {
    let mut skills = BTreeMap::new();
    for (id, entry) in used(catalog, &scope).skills {
        let origin =
            Origin { source: SourceKind::Default, location: entry.location.to_string(), revision: None };
        let tree = whole_tree(&entry.location, FolderLimits::default()).unwrap();
        let skill = entry.skill.as_deref().unwrap();
        skills.insert(id, pin(skill, origin, tree.as_ref()).unwrap());
    }
    LockFile { scope, skills }
}

fn names(catalog: &Catalog, scope: &LockScope) -> Vec<String> {
    used(catalog, scope).skills.into_keys().map(|pin| pin.to_string()).collect()
}

#[test]
fn a_skill_brings_what_it_builds_on() {
    let built_in = catalog(Vec::new(), &[]);
    assert_eq!(names(&built_in, &named(&["grasp"])), ["detect@1.0.0", "grasp@1.0.0", "navigate@1.0.0"]);
    // The steps of a composite run too.
    let fetch = names(&built_in, &named(&["fetch-object"]));
    assert_eq!(fetch, ["detect@1.0.0", "fetch-object@1.0.0", "grasp@1.0.0", "navigate@1.0.0"]);
    assert_eq!(names(&built_in, &LockScope::All).len(), built_in.list().len());
}

#[test]
fn what_is_not_there_or_switched_off_is_missing() {
    let off = catalog(Vec::new(), &["memory"]);
    let meant = used(&off, &named(&["memory", "nowhere", "detect"])).missing;
    let expected: BTreeSet<SkillName> = ["memory", "nowhere"].map(|name| name.parse().unwrap()).into();
    assert_eq!(meant, expected);
    assert!(!names(&off, &LockScope::All).iter().any(|pin| pin.starts_with("memory@")));
}

#[test]
fn skills_of_one_file_are_pinned_by_that_file() {
    let place = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(place.path()).unwrap();
    let write = |text: &str| std::fs::write(root.join("all.skill.yaml"), text).unwrap();
    write(
        "name: one\nversion: 1.0.0\ndescription: Counts.\n---\nname: two\nversion: 1.0.0\ndescription: Sings.\n",
    );
    let scope = named(&["one"]);
    let before = lock(&catalog(vec![root.to_owned()], &[]), scope.clone());
    let files: Vec<&String> = before.skills.values().flat_map(|skill| skill.files.keys()).collect();
    assert_eq!(files, ["all.skill.yaml"]);
    write(
        "name: one\nversion: 1.0.0\ndescription: Counts.\n---\nname: two\nversion: 1.0.0\ndescription: Dances.\n",
    );
    let after = lock(&catalog(vec![root.to_owned()], &[]), scope);
    assert!(matches!(compare(&before, &after).skills[0].drift, Drift::Changed(_)));
}

#[test]
fn a_lock_file_survives_the_disk() {
    let place = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(place.path()).unwrap().join("artel.lock");
    assert!(read_lock(&path).unwrap().is_none());
    let file = lock(&catalog(Vec::new(), &[]), LockScope::All);
    write_lock(&path, &file).unwrap();
    let text = std::fs::read(&path).unwrap();
    assert_eq!(read_lock(&path).unwrap().unwrap(), file);
    write_lock(&path, &file).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), text);
}

#[test]
fn what_is_no_lock_file_is_not_read() {
    let place = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(place.path()).unwrap();
    let large = root.join("large");
    std::fs::File::create(&large).unwrap().set_len(LOCK_BYTES_MAX + 1).unwrap();
    assert!(matches!(read_lock(&large), Err(LockFileError::Read(_))));
    assert!(matches!(read_lock(root), Err(LockFileError::Read(_))));
    std::fs::write(root.join("bytes"), [0xff, 0xfe]).unwrap();
    assert!(matches!(read_lock(&root.join("bytes")), Err(LockFileError::NotText(_))));
    std::fs::write(root.join("damaged"), "version = 1\n[[skill]]\nname = 5\n").unwrap();
    let error = read_lock(&root.join("damaged")).unwrap_err().to_string().replace(root.as_str(), "");
    assert_eq!(error, "/damaged:3:8: invalid type: integer `5`, expected a string");
}

/// Damaged lock files: no panic, the same answer twice, a place inside the text, and what is read is written the same.
#[test]
fn fuzz_lock_file() {
    let catalog = catalog(Vec::new(), &[]);
    let texts = [lock(&catalog, LockScope::All).to_text(), lock(&catalog, named(&["grasp"])).to_text()];
    check!().with_iterations(ITERATIONS).with_type::<(u8, u64, String)>().for_each(|(index, seed, noise)| {
        let mut random = Random::new(*seed);
        let text = match random.below(8) {
            0 => noise.clone(),
            _ => damaged(&texts[usize::from(*index) % texts.len()], &mut random),
        };
        let read = LockFile::parse(&text);
        assert_eq!(read, LockFile::parse(&text));
        match read {
            Ok(file) => assert_eq!(LockFile::parse(&file.to_text()), Ok(file)),
            Err(problem) => {
                let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
                assert!((1..=lines).contains(&problem.position.line) && !problem.to_string().is_empty());
            }
        }
    });
}

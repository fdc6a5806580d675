//! What people may save, and what is published of it.

use std::io::{Cursor, Write as _};

use artel_model::access::UserId;
use artel_model::catalog::{CustomFile, CustomSkill, Visibility};
use artel_model::limit::{
    CUSTOM_PROBLEMS_MAX, CUSTOM_SKILL_BYTES_MAX, CUSTOM_SKILL_BYTES_USUAL_MAX, CUSTOM_SKILL_FILES_MAX,
};
use artel_model::time::Timestamp;
use camino::Utf8Path;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::load::{Keep, Location, load_folder, load_tree};
use crate::shared::testing::custom_id;
use crate::source::{DiskTree, FileTree as _, MemoryTree, content_hash};

fn ann() -> UserId {
    "ann".parse().unwrap()
}

fn draft() -> CustomDraft {
    CustomDraft {
        name: "tables".to_owned(),
        description: "Writes tables: one row a number.".to_owned(),
        content: "# Tables\n\nWrite a table.\n".to_owned(),
        visibility: "personal".to_owned(),
        ..CustomDraft::default()
    }
}

fn file(path: &str, content: &str) -> CustomFile {
    CustomFile { path: path.to_owned(), content: content.into(), is_executable: content.starts_with("#!") }
}

fn metadata(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn read(tree: &MemoryTree, path: &str) -> String {
    String::from_utf8(tree.read(Utf8Path::new(path), 1 << 20).unwrap()).unwrap()
}

fn problems(draft: CustomDraft) -> Vec<String> {
    match check(draft, &ann()) {
        Err(DraftError::Invalid(problems)) => problems.into_iter().map(|problem| problem.pointer).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_become_a_file_that_every_client_reads() {
    let draft = CustomDraft {
        title: Some("Tables & more".to_owned()),
        metadata: metadata(json!({
            "version": "1.2", "tags": ["csv", "numbers"], "license": "MIT", "category": "office: data",
            "allowed_tools": ["Read", "Bash(git log:*)"], "user-invocable": false, "rank": 3,
        })),
        files: vec![file("scripts/run.sh", "#!/bin/sh\n"), file("./references//a.md", "A")],
        ..draft()
    };
    let checked = check(draft, &ann()).unwrap();
    insta::assert_snapshot!(read(checked.tree(), "SKILL.md"), @r#"
    ---
    name: tables
    description: "Writes tables: one row a number."
    allowed-tools: "Read Bash(git log:*)"
    license: MIT
    user-invocable: false
    metadata:
      title: "Tables & more"
      category: "office: data"
      rank: "3"
      tags: "csv,numbers"
      version: "1.2"
    ---

    # Tables

    Write a table.
    "#);
    assert_eq!(checked.warnings(), [""; 0]);
    let tree = checked.tree();
    let loaded = load_tree(tree, tree.listing(), Location::Folder("tables".into()), Keep::Everything);
    for profile in [crate::Profile::Spec, crate::Profile::SkillsRef, crate::Profile::Codex] {
        let told: Vec<_> = profile.diagnose(&loaded).into_iter().map(|told| told.finding.message).collect();
        assert!(told.iter().all(|message| message.contains("user-invocable")), "{profile:?} {told:?}");
    }
    let skill = loaded.skill.unwrap();
    assert_eq!((skill.title(), skill.version.to_string().as_str()), ("Tables & more", "1.2.0"));
    assert_eq!(skill.about.tags, ["csv", "numbers"]);
    assert_eq!((skill.rules.allowed_tools.len(), skill.invocation.by_user), (2, false));
    let files: Vec<&str> = loaded.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["SKILL.md", "references/a.md", "scripts/run.sh"]);
}

#[test]
fn revisions_keep_what_is_not_the_authors_to_change() {
    let at = Timestamp::from_millis;
    let first = check(draft(), &ann()).unwrap().into_first(custom_id("t", 1), ann(), at(5));
    assert_eq!((first.revision, first.created_at, &first.updated_by), (1, at(5), &ann()));
    assert_eq!(first.visibility, Visibility::Personal { owner_user_id: ann() });
    let published = |skill: &CustomSkill| {
        let tree = custom_tree(skill);
        content_hash(&tree, &tree.listing()).unwrap().to_string()
    };
    assert_eq!(first.content_hash, published(&first));
    let changed = CustomDraft { content: "Other.".to_owned(), ..draft() };
    let root: UserId = "root".parse().unwrap();
    let next = check(changed, &first.owner_user_id).unwrap().into_next(&first, root.clone(), at(9));
    assert_eq!((next.id, next.revision, &next.owner_user_id), (first.id, 2, &ann()));
    assert_eq!((next.created_at, next.updated_at, next.updated_by.clone()), (at(5), at(9), root));
    assert_ne!(next.content_hash, first.content_hash);
    assert_eq!(next.content_hash, published(&next));
    assert!(custom_folder(Utf8Path::new("custom"), &next).ends_with("tables"));
}

#[test]
fn every_problem_is_told_at_once_with_its_place() {
    let wrong = CustomDraft {
        name: "Bad Name".to_owned(),
        title: Some("x".repeat(101)),
        description: " ".to_owned(),
        content: "\n".to_owned(),
        metadata: metadata(json!({"scan_status": "passed", "a/b": {"deep": 1}, "version": "latest"})),
        visibility: "public".to_owned(),
        team_ids: vec!["red".to_owned(), " ".to_owned()],
        files: vec![file("../x", ""), file("a", ""), file("A", ""), file("a/b", "")],
    };
    assert_eq!(
        problems(wrong),
        [
            "/name",
            "/title",
            "/description",
            "/content",
            "/metadata/a~1b",
            "/metadata/scan_status",
            "/metadata/version",
            "/team_ids/1",
            "/visibility",
            "/files/0/path",
            "/files/2/path",
            "/files/3/path",
        ]
    );
}

#[test]
fn one_wrong_field_is_one_problem() {
    let check = |pointer: &str, change: &dyn Fn(&mut CustomDraft)| {
        let mut draft = draft();
        change(&mut draft);
        assert_eq!(problems(draft), [pointer], "{pointer}");
    };
    let meta = |value: Value| move |draft: &mut CustomDraft| draft.metadata = metadata(value.clone());
    check("/name", &|draft| draft.name = String::new());
    check("/description", &|draft| draft.description = "d".repeat(1025));
    check("/content", &|draft| draft.content = "a\0b".to_owned());
    check("/visibility", &|draft| draft.visibility = "Personal".to_owned());
    check("/team_ids", &|draft| draft.visibility = "team".to_owned());
    check("/team_ids", &|draft| draft.team_ids = vec!["red".to_owned()]);
    check("/metadata", &meta(json!({"long": "x".repeat(40_000)})));
    check("/metadata", &meta(json!({"allowed-tools": "Read", "allowed_tools": "Read"})));
    check("/metadata/tags", &meta(json!({"tags": ["two words"]})));
    check("/metadata/tags", &meta(json!({"tags": vec!["x"; 11]})));
    check("/metadata/tags", &meta(json!({"tags": [1]})));
    check("/metadata/license", &meta(json!({"license": null})));
    check("/metadata/compatibility", &meta(json!({"compatibility": "x".repeat(501)})));
    check("/metadata/user-invocable", &meta(json!({"user-invocable": "maybe"})));
    check("/metadata/name", &meta(json!({"name": "other"})));
    check("/metadata/owner_user_id", &meta(json!({"owner_user_id": "bob"})));
    check("/files/0/path", &|draft| draft.files = vec![file("SKILL.md", "")]);
    check("/files", &|draft| draft.files = vec![file("x", ""); CUSTOM_SKILL_FILES_MAX]);
    let many = |draft: &mut CustomDraft| draft.files = vec![file("../x", ""); CUSTOM_PROBLEMS_MAX + 5];
    let mut draft = draft();
    many(&mut draft);
    assert_eq!(problems(draft).len(), CUSTOM_PROBLEMS_MAX + 1);
}

#[test]
fn what_is_large_is_warned_about_and_what_is_too_large_refused() {
    let sized = |bytes: usize| CustomDraft { files: vec![file("x.txt", &"x".repeat(bytes))], ..draft() };
    assert_eq!(check(sized(1000), &ann()).unwrap().warnings(), [""; 0]);
    assert_eq!(check(sized(CUSTOM_SKILL_BYTES_USUAL_MAX), &ann()).unwrap().warnings().len(), 1);
    let error = check(sized(CUSTOM_SKILL_BYTES_MAX), &ann()).unwrap_err();
    assert!(matches!(error, DraftError::TooLarge { bytes_max: CUSTOM_SKILL_BYTES_MAX, .. }));
}

#[test]
fn a_written_folder_holds_what_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let home = Utf8Path::from_path(folder.path()).unwrap().join("a/b/tables");
    let draft = CustomDraft { files: vec![file("scripts/run.sh", "#!/bin/sh\n")], ..draft() };
    let checked = check(draft, &ann()).unwrap();
    write_tree(checked.tree(), &home).unwrap();
    let found = || {
        let disk = DiskTree::new(home.clone());
        content_hash(&disk, &disk.listing()).unwrap().to_string()
    };
    assert_eq!(found(), checked.content_hash());
    assert!(load_folder(&home, Keep::Descriptions).is_usable());
    // Somebody changed it: it is put right.
    std::fs::write(home.join("scripts/more.sh"), "x").unwrap();
    write_tree(checked.tree(), &home).unwrap();
    assert_eq!(found(), checked.content_hash());
    // A folder that is right is left alone.
    std::fs::create_dir(home.join("data")).unwrap();
    write_tree(checked.tree(), &home).unwrap();
    assert!(home.join("data").is_dir());
    let left: Vec<_> = home.parent().unwrap().read_dir_utf8().unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(left.len(), 1);
}

/// Makes an archive; a path with ` -> ` is a link.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (path, content) in files {
        if let Some((path, target)) = path.split_once(" -> ") {
            writer.add_symlink(path, target, options).unwrap();
        } else if path.ends_with('/') {
            writer.add_directory(*path, options).unwrap();
        } else {
            let mode = if content.starts_with(b"#!") { 0o755 } else { 0o644 };
            writer.start_file(*path, options.unix_permissions(mode)).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn unzip(files: &[(&str, &[u8])]) -> Result<ZipFiles, ZipProblem> {
    files_of_zip(&zip(files), &ZipCaps::default())
}

fn paths(found: &ZipFiles) -> Vec<&str> {
    found.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn archives_are_unpacked_without_the_folder_around_them() {
    let whole = unzip(&[
        ("demo/", b""),
        ("demo/SKILL.md", b"---\nname: demo\n---\n"),
        ("demo/scripts/run.sh", b"#!/bin/sh\n"),
        ("demo/a.txt", b"a"),
        ("__MACOSX/demo/._a.txt", b"x"),
        ("demo/.DS_Store", b"x"),
    ])
    .unwrap();
    assert_eq!(whole.skill_md.as_deref(), Some(&b"---\nname: demo\n---\n"[..]));
    assert_eq!(paths(&whole), ["a.txt", "scripts/run.sh"]);
    let executable: Vec<bool> = whole.files.iter().map(|file| file.is_executable).collect();
    assert_eq!(executable, [false, true]);
    assert_eq!(paths(&unzip(&[("SKILL.md", b"x"), ("a/b", b"")]).unwrap()), ["a/b"]);
    assert_eq!(paths(&unzip(&[("x/a", b""), ("y/b", b"")]).unwrap()), ["x/a", "y/b"]);
    // A folder that skills usually have is no folder around them.
    assert_eq!(paths(&unzip(&[("scripts/a", b""), ("scripts/b", b"")]).unwrap()), ["scripts/a", "scripts/b"]);
    assert_eq!(unzip(&[]).unwrap(), ZipFiles::default());
}

#[test]
fn archives_that_are_not_taken() {
    let path = |path: &str, why| Err(ZipProblem::Path { path: path.to_owned(), why });
    assert_eq!(unzip(&[("../evil", b"x"), ("a", b"")]), path("../evil", PathError::Upwards));
    assert_eq!(unzip(&[("../evil", b"x")]), path("../evil", PathError::Upwards));
    assert_eq!(unzip(&[("a/../../evil", b"x"), ("b", b"")]), path("a/../../evil", PathError::Upwards));
    assert_eq!(unzip(&[("/etc/passwd", b"x"), ("a", b"")]), path("/etc/passwd", PathError::Absolute));
    assert_eq!(unzip(&[("a\\b", b"x")]), path("a\\b", PathError::Character));
    assert_eq!(unzip(&[("skill.json", b"{}"), ("SKILL.md", b"")]), path("skill.json", PathError::SkillFile));
    assert_eq!(unzip(&[("x", b""), ("in/SKILL.md", b"")]), path("in/SKILL.md", PathError::SkillFile));
    assert_eq!(unzip(&[("link -> /etc/passwd", b""), ("a", b"")]), Err(ZipProblem::Link("link".to_owned())));
    assert_eq!(unzip(&[("a", b""), ("A", b"")]), Err(ZipProblem::Repeated("A".to_owned())));
    assert_eq!(unzip(&[("a", b""), ("a/b", b"")]), Err(ZipProblem::Repeated("a/b".to_owned())));
    let bomb = vec![0; 8 << 20];
    assert_eq!(unzip(&[("a", &bomb)]), Err(ZipProblem::Bomb(200)));
    for bytes in [&b""[..], b"no archive", b"PK\x05\x06"] {
        assert_eq!(files_of_zip(bytes, &ZipCaps::default()), Err(ZipProblem::Damaged));
    }
    let caps = ZipCaps { files_max: 2, bytes_max: 1000, ratio_max: 1000 };
    let three = zip(&[("a", b""), ("b", b""), ("c", b"")]);
    assert_eq!(files_of_zip(&three, &caps), Err(ZipProblem::TooManyFiles(2)));
    let large = zip(&[("a", &[7; 600]), ("b", &[7; 600])]);
    assert_eq!(files_of_zip(&large, &caps), Err(ZipProblem::TooLarge(1000)));
    let long = vec![0; 2000];
    assert_eq!(files_of_zip(&long, &caps), Err(ZipProblem::TooLarge(1000)));
    // The flag for encryption, in the list of files and in front of the file.
    let mut locked = zip(&[("secret.txt", b"x")]);
    let list = locked.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    locked[6] |= 1;
    locked[list + 8] |= 1;
    let expected = Err(ZipProblem::Encrypted("secret.txt".to_owned()));
    assert_eq!(files_of_zip(&locked, &ZipCaps::default()), expected);
}

#[test]
fn a_whole_skill_is_taken_over_and_can_be_saved() {
    let skill_md = "---\nname: demo\ndescription: \"Shows: all\"\nlicense: MIT\nallowed-tools: Read Bash(ls *)\n\
                    disable-model-invocation: true\nmetadata:\n  title: The demo\n  version: \"2.0.0\"\n  tags: a,b\n\
                    other:\n  deep: 1\n---\n\nDo it.\n";
    let imported = import_skill(skill_md.as_bytes(), vec![file("a.txt", "a")]).unwrap();
    assert_eq!(imported.warnings.len(), 1, "{:?}", imported.warnings);
    let draft = CustomDraft { visibility: "global".to_owned(), ..imported.draft };
    assert_eq!((draft.name.as_str(), draft.title.as_deref()), ("demo", Some("The demo")));
    assert_eq!(draft.content, "Do it.");
    let checked = check(draft, &ann()).unwrap();
    insta::assert_snapshot!(read(checked.tree(), "SKILL.md"), @r#"
    ---
    name: demo
    description: "Shows: all"
    allowed-tools: "Read Bash(ls *)"
    disable-model-invocation: true
    license: MIT
    metadata:
      title: The demo
      tags: "a,b"
      version: "2.0.0"
    ---

    Do it.
    "#);
    let again = ImportedSkill::of(checked.tree()).unwrap();
    assert_eq!(again.warnings, [""; 0]);
    let draft = CustomDraft { visibility: "global".to_owned(), ..again.draft };
    assert_eq!(check(draft, &ann()).unwrap().content_hash(), checked.content_hash());
    assert_eq!(ImportedSkill::of(&MemoryTree::default()).unwrap_err(), ImportError::NoSkill);
    assert!(matches!(import_skill(b"\xff", Vec::new()), Err(ImportError::Unreadable(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_saved_says_what_was_sent(
        title in proptest::option::of("\\PC{0,40}"),
        description in "\\PC{1,60}|[-a:#\"'\n]{1,20}",
        content in "\\PC{1,60}|(---\n|# a\n|\n){0,5}x",
        category in "\\PC{0,30}|[-a: #\n]{0,10}",
    ) {
        let metadata = metadata(json!({"category": category}));
        let sent = CustomDraft { title, description, content, metadata, ..draft() };
        if let Ok(checked) = check(sent.clone(), &ann()) {
            let tree = checked.tree();
            let loaded = load_tree(tree, tree.listing(), Location::Folder("tables".into()), Keep::Instructions);
            let skill = loaded.skill.as_ref().unwrap();
            prop_assert_eq!(skill.description.trim(), sent.description.trim());
            prop_assert_eq!(loaded.instructions.as_deref().unwrap(), sent.content.trim());
            let title = sent.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
            prop_assert_eq!(skill.about.display_name.as_deref(), title);
            prop_assert_eq!(&skill.about.metadata["category"], &Value::from(category));
        }
    }
}

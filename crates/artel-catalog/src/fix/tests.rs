//! Folders that are mended on disk: one table for each fix, and what must hold for every folder of the corpus.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use artel_model::diagnostic::{Code, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;

use super::*;
use crate::{Keep, Loaded, Location, Profile, check_set, discover, load_folder};

struct Place {
    _temp: tempfile::TempDir,
    root: Utf8PathBuf,
}

fn place() -> Place {
    let temp = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(temp.path().canonicalize().unwrap()).unwrap();
    Place { _temp: temp, root }
}

impl Place {
    fn skill(&self, folder: &str, files: &[(&str, &str)]) -> Utf8PathBuf {
        let folder = self.root.join(folder);
        for (path, content) in files {
            std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.join(path), content).unwrap();
        }
        folder
    }
}

fn words<T: ToString>(list: &[T]) -> Vec<String> {
    list.iter().map(T::to_string).collect()
}

fn codes(folder: &Utf8Path) -> Vec<&'static str> {
    load_folder(folder, Keep::Everything).findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// Mends a folder of these files and compares what was done, what was left, the files, and the folder's name.
#[track_caller]
fn check(folder: &str, files: &[(&str, &str)], fixes: &[&str], left: &[&str], after: &[(&str, &str)]) {
    let place = place();
    let path = place.skill(folder, files);
    let plan = plan_fixes(&path);
    assert_eq!(words(&plan.fixes), fixes);
    assert_eq!(words(&plan.left), left);
    let fixed = apply_fixes(&plan).unwrap();
    for (file, content) in after {
        assert_eq!(std::fs::read_to_string(place.root.join(file)).unwrap(), *content, "{file}");
    }
    let again = plan_fixes(&fixed);
    assert_eq!((again.fixes.as_slice(), again.left.len()), ([].as_slice(), left.len()));
}

const GOOD: &str = "---\nname: demo\ndescription: Shows one thing.\n---\nDo it.\n";

#[test]
fn a_good_skill_is_not_touched() {
    check("demo", &[("SKILL.md", GOOD)], &[], &[], &[("demo/SKILL.md", GOOD)]);
    check("demo", &[("notes.txt", "x")], &[], &[], &[]);
}

#[test]
fn values_are_quoted_and_line_ends_kept() {
    check(
        "demo",
        &[("SKILL.md", "---\r\nname: demo\r\ndescription: Use when: x\r\n---\r\nBody: a: b\r\n\n")],
        &["SKILL.md:3: the value is put in quotes"],
        &[],
        &[("demo/SKILL.md", "---\r\nname: demo\r\ndescription: \"Use when: x\"\r\n---\r\nBody: a: b\r\n\n")],
    );
}

#[test]
fn names_are_written_as_names() {
    check(
        "my-skill",
        &[("SKILL.md", "---\nname: My Skill\ndescription: x\n---\nDo.\n")],
        &["SKILL.md: the name `My Skill` becomes `my-skill`"],
        &[],
        &[("my-skill/SKILL.md", "---\nname: my-skill\ndescription: x\n---\nDo.\n")],
    );
    let both = [
        ("SKILL.md", "---\nname: Demo\ndescription: x\n---\nDo.\n"),
        ("skill.json", "{\"name\": \"DEMO\", \"version\": \"1.0.0\"}\n"),
    ];
    let fixes = [
        "SKILL.md: the name `Demo` becomes `demo`",
        "skill.json: the name `DEMO` becomes `demo`",
        "the folder `elsewhere` is renamed to `demo`",
    ];
    let after = [("demo/skill.json", "{\"name\": \"demo\", \"version\": \"1.0.0\"}\n")];
    check("elsewhere", &both, &fixes, &[], &after);
    let yaml = ("skill.yaml", "description: x\nname: 'A_B' # ours\n");
    let fixes = ["skill.yaml: the name `A_B` becomes `a-b`"];
    check("a-b", &[yaml], &fixes, &[], &[("a-b/skill.yaml", "description: x\nname: 'a-b' # ours\n")]);
}

#[test]
fn unclear_names_are_left() {
    let skill = |name: &str| format!("---\ndescription: x\nname: {name}\n---\nDo.\n");
    let left = "SKILL.md:3: the name `caf\u{e9}` is not changed: what it should be cannot be told for sure";
    check("cafe", &[("SKILL.md", &skill("caf\u{e9}"))], &[], &[left], &[]);
    let files = [("SKILL.md", &*skill("one")), ("skill.json", "{\"name\": \"Two\"}")];
    let left = "SKILL.md:3: the name is not changed: SKILL.md says `one`, the manifest `two`";
    check("one", &files, &[], &[left], &[]);
    let files = [("SKILL.md", &*skill("One")), ("skill.json", "{\n\"name\": \"?\"}")];
    let left = "skill.json:2: the name `?` is not changed: what it should be cannot be told for sure";
    check("one", &files, &[], &[left], &[]);
    check("one", &[("SKILL.md", &skill("One")), ("skill.json", "{")], &[], &[], &[]);
}

#[test]
fn folders_get_the_name_of_the_skill() {
    check(
        "Wrong",
        &[("SKILL.md", GOOD), ("references/a.md", "a")],
        &["the folder `Wrong` is renamed to `demo`"],
        &[],
        &[("demo/SKILL.md", GOOD), ("demo/references/a.md", "a")],
    );
    let both = [("SKILL.md", GOOD), (".git/HEAD", "")];
    check("wrong", &both, &[], &["the folder is not renamed: it is the root of a repository"], &[]);
}

#[test]
fn a_taken_folder_is_left() {
    let place = place();
    let wrong = place.skill("wrong", &[("SKILL.md", GOOD)]);
    let plan = plan_fixes(&wrong);
    let demo = place.skill("demo", &[("keep.txt", "mine")]);
    assert!(matches!(apply_fixes(&plan), Err(FixError::Taken(path)) if path == demo));
    let left = plan_fixes(&wrong).left;
    assert_eq!(left[0].obstacle, Obstacle::Taken(demo.clone()));
    assert_eq!(std::fs::read_to_string(demo.join("keep.txt")).unwrap(), "mine");
    assert!(wrong.join("SKILL.md").exists());
}

#[test]
fn a_name_that_the_folder_cannot_have_is_left() {
    let place = place();
    place.skill("demo", &[("SKILL.md", GOOD)]);
    let folder = place.skill("Demo", &[("SKILL.md", "---\nname: Demo\ndescription: x\n---\nDo.\n")]);
    let plan = plan_fixes(&folder);
    assert!(plan.is_empty());
    assert_eq!(plan.left[0].obstacle, Obstacle::Taken(place.root.join("demo")));
}

#[test]
fn fields_move_under_metadata() {
    check(
        "demo",
        &[("SKILL.md", "---\nname: demo\nversion: 1.10\nmodel: x\ndescription: y\n---\nversion: 2\n")],
        &["SKILL.md: `version` is moved under `metadata`"],
        &["SKILL.md:4: `model` is not moved: clients that know it do not look under `metadata`"],
        &[(
            "demo/SKILL.md",
            "---\nname: demo\nmetadata:\n  version: 1.10\nmodel: x\ndescription: y\n---\nversion: 2\n",
        )],
    );
}

#[test]
fn byte_order_marks_go() {
    let marked = format!("\u{feff}{GOOD}");
    check(
        "demo",
        &[("SKILL.md", &marked), ("skill.json", "\u{feff}{}"), ("config.json", "\u{feff}{}")],
        &[
            "SKILL.md: the byte order mark is removed",
            "skill.json: the byte order mark is removed",
            "config.json: the byte order mark is removed",
        ],
        &[],
        &[("demo/SKILL.md", GOOD), ("demo/skill.json", "{}"), ("demo/config.json", "{}")],
    );
}

#[test]
fn the_file_gets_its_usual_name() {
    let fixes = ["skill.md: the file is renamed to `SKILL.md`"];
    check("demo", &[("skill.md", GOOD)], &fixes, &[], &[("demo/SKILL.md", GOOD)]);
    let left = "skill.md: not renamed: there is something at `SKILL.md` already";
    check("demo", &[("skill.md", GOOD), ("SKILL.md/x", "")], &[], &[left], &[]);
}

#[test]
fn scripts_become_executable() {
    let manifest = r#"{"name": "demo", "description": "x", "scripts": [{"path": "./bin/run"}]}"#;
    let files = [
        ("skill.json", manifest),
        ("bin/run", "echo"),
        ("scripts/a.sh", "#!/bin/sh\n"),
        ("scripts/table.csv", "1,2"),
        ("scripts/lib/b.sh", "#!/bin/sh\n"),
    ];
    let fixes = ["bin/run: the file is made executable", "scripts/a.sh: the file is made executable"];
    check("demo", &files, &fixes, &[], &[("demo/bin/run", "echo")]);
}

#[test]
fn only_those_who_may_read_may_execute_and_permissions_stay() {
    let place = place();
    let files = [("SKILL.md", "\u{feff}---\nname: demo\n---\n"), ("scripts/a.sh", "#!/bin/sh\n")];
    let folder = place.skill("demo", &files);
    let mode = |path: &str| folder.join(path).metadata().unwrap().permissions().mode() & 0o777;
    let set = |path: &str, mode| {
        std::fs::set_permissions(folder.join(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    set("SKILL.md", 0o640);
    set("scripts/a.sh", 0o640);
    apply_fixes(&plan_fixes(&folder)).unwrap();
    assert_eq!((mode("SKILL.md"), mode("scripts/a.sh")), (0o640, 0o750));
    let names: Vec<_> =
        folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned()).collect();
    assert_eq!(names.len(), 2, "nothing is left behind: {names:?}");
}

#[test]
fn links_are_not_touched() {
    let place = place();
    let marked = format!("\u{feff}{GOOD}");
    let files = [("real.md", &*marked), ("tools/run", "#!/bin/sh\n")];
    let folder = place.skill("other", &files);
    symlink("real.md", folder.join("SKILL.md")).unwrap();
    std::fs::create_dir(folder.join("scripts")).unwrap();
    symlink("../tools/run", folder.join("scripts/run")).unwrap();
    symlink(&folder, place.root.join("link")).unwrap();
    for path in [place.root.join("link"), Utf8PathBuf::from(format!("{}/link/", place.root))] {
        let plan = plan_fixes(&path);
        assert_eq!(words(&plan.fixes), [""; 0]);
        let expected = [
            "not touched: it is a symbolic link",
            "scripts/run: not touched: it is a symbolic link",
            "SKILL.md: not touched: it is a symbolic link",
        ];
        assert_eq!(words(&plan.left), expected);
    }
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let place = place();
    let folder = place.skill("demo", &[("SKILL.md", "---\nname: Demo\n---\n")]);
    let plan = plan_fixes(&folder);
    for content in ["short", "---\nname: Demo\n---\nand more"] {
        std::fs::write(folder.join("SKILL.md"), content).unwrap();
        assert!(matches!(apply_fixes(&plan), Err(FixError::Changed(_))));
        assert_eq!(std::fs::read_to_string(folder.join("SKILL.md")).unwrap(), content);
    }
    std::fs::remove_file(folder.join("SKILL.md")).unwrap();
    assert!(matches!(apply_fixes(&plan), Err(FixError::Read(_))));
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            symlink(entry.path().read_link().unwrap(), target).unwrap();
        } else if kind.is_dir() {
            copy(entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Loads what lies below a folder; a folder without any skill is loaded as one.
fn load(root: &Utf8Path) -> Vec<Loaded> {
    let mut found = vec![discover(root, Keep::Everything).loaded];
    if found[0].is_empty() {
        let folders = root.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned());
        found[0]
            .extend(folders.filter(|path| path.is_dir()).map(|path| load_folder(&path, Keep::Everything)));
    }
    check_set(&mut found, &[]);
    found.remove(0)
}

fn folders(loaded: &[Loaded]) -> Vec<Utf8PathBuf> {
    let folder = |loaded: &Loaded| match &loaded.location {
        Location::Folder(path) => Some(path.clone()),
        Location::RegistryFile { .. } | Location::BuiltIn(_) => None,
    };
    let mut folders: Vec<_> = loaded.iter().filter_map(folder).collect();
    folders.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    folders
}

/// The codes of errors under each profile, and of everything found, with how often they occur.
fn summary(loaded: &[Loaded]) -> (Vec<Vec<Code>>, BTreeMap<Code, usize>) {
    let errors = |profile: Profile| {
        let all = loaded.iter().flat_map(|loaded| profile.diagnose(loaded));
        all.filter(|found| found.severity == Severity::Error).map(|found| found.finding.code).collect()
    };
    let mut counts = BTreeMap::new();
    for finding in loaded.iter().flat_map(|loaded| &loaded.findings) {
        *counts.entry(finding.code).or_default() += 1;
    }
    (Profile::ALL.into_iter().map(errors).collect(), counts)
}

fn body(folder: &Utf8Path) -> Option<Vec<u8>> {
    let file = ["SKILL.md", "skill.md"].into_iter().find_map(|name| std::fs::read(folder.join(name)).ok())?;
    let text = std::str::from_utf8(&file).ok()?;
    let body = crate::read::split(text.trim_start_matches('\u{feff}')).map(|parts| parts.body.to_owned());
    Some(body.map_or_else(|_| text.trim_start_matches('\u{feff}').into(), String::into_bytes))
}

/// What a fix is for must be gone after it.
fn is_mended(fix: &Fix, codes: &[&str]) -> bool {
    let gone = |code: Code| !codes.contains(&code.as_str());
    match fix {
        Fix::ByteOrderMarkRemoved { .. } => gone(Code::ByteOrderMark),
        Fix::Quoted { .. } => gone(Code::YamlRepaired) && gone(Code::YamlInvalid),
        Fix::NameChanged { .. } => gone(Code::NameInvalid),
        // Whether all of them could be moved is told by what was left.
        Fix::FieldMoved { .. } => true,
        Fix::FileRenamed { .. } => gone(Code::LowercaseFileName),
        Fix::MadeExecutable { .. } => gone(Code::ScriptNotExecutable),
        Fix::FolderRenamed { .. } => gone(Code::NameMismatch),
    }
}

/// Mends every skill below a folder and checks what must always hold; returns how much was mended.
fn mend(root: &Utf8Path, about: &str) -> usize {
    let before = load(root);
    let (errors_before, counts_before) = summary(&before);
    let mut done = 0;
    for folder in folders(&before) {
        let plan = plan_fixes(&folder);
        let old_body = body(&folder);
        let fixed = apply_fixes(&plan).unwrap();
        done += plan.fixes.len();
        assert_eq!(body(&fixed), old_body, "{about}: the body has changed");
        let again = plan_fixes(&fixed);
        assert_eq!(again.fixes, [], "{about}");
        assert_eq!(again.left.len(), plan.left.len(), "{about}");
        let codes = codes(&fixed);
        for fix in &plan.fixes {
            assert!(is_mended(fix, &codes), "{about}: {fix}: {codes:?}");
        }
        let moved_all =
            plan.left.is_empty() && fixed.join("SKILL.md").exists() && !fixed.join("skill.json").exists();
        let parses = !codes.contains(&"yaml-invalid") && !codes.contains(&"duplicate-key");
        assert!(!moved_all || !parses || !codes.contains(&"field-unknown"), "{about}: {codes:?}");
    }
    let after = load(root);
    let (errors_after, counts_after) = summary(&after);
    for (code, count) in &counts_after {
        assert!(counts_before.get(code) >= Some(count), "{about}: {code} was not there before");
    }
    for ((profile, before), after) in Profile::ALL.into_iter().zip(errors_before).zip(errors_after) {
        assert!(!before.is_empty() || after.is_empty(), "{about}: {profile} would refuse what it took");
        // A client stops at the first thing it cannot read; what it then sees was told by our own rules before.
        let is_known = |code: &Code| before.contains(code) || counts_before.contains_key(code);
        assert!(after.iter().all(is_known), "{about}: {profile}: {before:?} became {after:?}");
    }
    done
}

#[test]
fn the_corpus_only_gets_better() {
    let corpus = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/skills");
    let mut cases: Vec<_> =
        corpus.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned()).collect();
    cases.sort();
    let mut done = 0;
    for case in &cases {
        let place = place();
        let root = place.root.join("case");
        copy(case, &root);
        done += mend(&root, case.file_name().unwrap());
    }
    assert!(cases.len() >= 200 && done >= 10, "{done} fixes in {} cases", cases.len());
}

/// Lines of frontmatter that are often seen, good and bad.
const LINES: &[&str] = &[
    "name: demo",
    "name: My Demo",
    "name: >\n  My Demo",
    "name: |-\n  _12",
    "name: |-\n  Demo",
    "name: &n Demo",
    "name: !!str _12",
    "Name: x",
    "description: fine",
    "description: Use when: asked",
    "description: >-\n  folded\n  text",
    "license: MIT",
    "version: 1.10",
    "color: @blue",
    "tags: [a, b]",
    "tags:\n- a\n- b",
    "# a comment",
    "",
    "note: |\n  # text\n\n  more\n",
    "keep: |+\n  text\n\n",
    "user-invocable: false",
    "metadata:\n  a: 1",
    "metadata: {a: 1}",
    "metadata:",
    "  deeper: 1",
    "anchor: &x 1",
    "alias: *x",
    "dashes: a --- b",
    "\"quoted\": 'it''s'",
    "...",
    "\tx: 1",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_of_lines_is_mended_once_and_means_the_same(
        lines in proptest::collection::vec(proptest::sample::select(LINES), 0..9),
        has_mark: bool,
        has_carriage_returns: bool,
    ) {
        let mark = if has_mark { "\u{feff}" } else { "" };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut text = format!("{mark}---\n{text}---\n# Body\n\nname: x\n");
        if has_carriage_returns {
            text = text.replace('\n', "\r\n");
        }
        let place = place();
        let folder = place.skill("demo", &[("SKILL.md", &text)]);
        let before = load_folder(&folder, Keep::Everything);
        let old_body = body(&folder);
        let plan = plan_fixes(&folder);
        let fixed = apply_fixes(&plan).unwrap();
        prop_assert_eq!(body(&fixed), old_body);
        prop_assert_eq!(plan_fixes(&fixed).fixes, []);
        let after = load_folder(&fixed, Keep::Everything);
        for (profile, accepted) in Profile::ALL.map(|profile| (profile, profile.accepts(&before))) {
            prop_assert!(!accepted || profile.accepts(&after), "{}: {}", profile, text);
        }
        // Without quotes to add, the skill must say exactly what it said before.
        if let Some(skill) = before.skill.filter(|_| !plan.fixes.iter().any(|fix| matches!(fix, Fix::Quoted { .. }))) {
            prop_assert_eq!(Some(&*skill), after.skill.as_deref());
        }
    }
}

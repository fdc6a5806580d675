//! Folders and files that were made to do harm: each ends in a diagnostic, without waiting and within bounds.
//!
//! What git can hold is in `fixtures/skills`; here is what it cannot, or what would be too large.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use artel_catalog::{
    FileEntry, FileTree, Keep, Listing, LoadOptions, Location, Profile, ReadError, discover, load_tree,
};
use artel_model::diagnostic::Code;
use artel_model::limit::{DISCOVERY_DEPTH_MAX, MANIFEST_BYTES_MAX, SKILL_BYTES_MAX, SKILL_FILES_MAX};
use camino::{Utf8Path, Utf8PathBuf};

use crate::place::{GOOD, Place, check, load, peak_memory_kib, search};

#[expect(
    clippy::disallowed_methods,
    reason = "the standard library cannot make pipes and devices with a name"
)]
fn make(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Every way to put something else in the place of a plain file that this system and user allow.
fn special_files(path: &Utf8Path, put: &mut dyn FnMut(&str)) {
    assert!(make("mkfifo", &[path.as_str()]), "a pipe can be made");
    put("pipe");
    std::fs::remove_file(path).unwrap();
    let socket = UnixListener::bind(path).unwrap();
    put("socket");
    drop(socket);
    std::fs::remove_file(path).unwrap();
    if make("mknod", &[path.as_str(), "c", "1", "5"]) {
        put("device");
        std::fs::remove_file(path).unwrap();
    }
    std::fs::create_dir(path).unwrap();
    put("folder");
    std::fs::remove_dir(path).unwrap();
}

#[test]
fn a_special_file_is_never_opened() {
    for name in ["SKILL.md", "skill.json", "skill.yaml"] {
        let place = Place::new();
        let demo = place.folder("demo");
        special_files(&demo.join(name), &mut |kind| {
            let loaded = check(&place, &[&format!("special-file demo/{name}")]);
            assert!(!loaded.is_usable(), "{name} is a {kind}");
            assert!(Profile::ALL.iter().all(|profile| !profile.accepts(&loaded)), "{name} is a {kind}");
            let found = search(place.root());
            assert_eq!(found.loaded.len(), 1, "{name} is a {kind}");
        });
    }
}

#[test]
fn a_special_file_beside_a_good_one_is_reported() {
    for name in ["skill.json", "config.json", "config-schema.json", "prompt.md", "scripts/run", "other"] {
        let place = Place::new();
        place.file("demo/SKILL.md", GOOD);
        place.folder("demo/scripts");
        special_files(&place.root().join("demo").join(name), &mut |kind| {
            // A folder of any other name is just a folder.
            if kind != "folder" || name == "skill.json" {
                let loaded = check(&place, &[&format!("special-file demo/{name}")]);
                assert!(!loaded.is_usable(), "{name} is a {kind}");
            }
        });
    }
}

#[test]
fn a_link_to_a_device_is_not_followed() {
    for target in ["/dev/zero", "/dev/tty", "/proc/self/mem", "/dev/stdin"] {
        let place = Place::new();
        place.link("demo/SKILL.md", target);
        let loaded = load(&place.root().join("demo"));
        let told = place.told(&loaded.findings);
        assert!(told.iter().all(|line| line.starts_with("symlink-")), "{target}: {told:?}");
        assert!(loaded.skill.is_none() && !Profile::SkillsRef.accepts(&loaded), "{target}");
    }
}

/// A skill whose named files the system refuses to give.
struct Refusing(&'static str);

impl FileTree for Refusing {
    fn listing(&self) -> Listing {
        let names = ["SKILL.md", "config-schema.json", "config.json", "skill.json"];
        let entry = |name: &str| FileEntry {
            path: name.into(),
            size: 10,
            is_executable: false,
            is_link: false,
            modified: None,
        };
        Listing { files: names.into_iter().map(entry).collect(), ..Listing::default() }
    }

    fn read(&self, path: &Utf8Path, _: u64) -> Result<Vec<u8>, ReadError> {
        if path == self.0 {
            let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
            return Err(ReadError::Io { path: path.to_owned(), source });
        }
        let content = if path == "SKILL.md" { GOOD } else { "{}" };
        Ok(content.as_bytes().to_vec())
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    for name in ["SKILL.md", "config-schema.json", "config.json", "skill.json"] {
        let tree = Refusing(name);
        let location = Location::Folder(Utf8PathBuf::from("demo"));
        let loaded = load_tree(&tree, tree.listing(), location, Keep::Everything);
        let told: Vec<String> =
            loaded.findings.iter().map(|finding| format!("{} {}", finding.code, finding.path)).collect();
        assert_eq!(told, [format!("unreadable demo/{name}")]);
        assert!(!loaded.is_usable(), "{name}");
    }
}

#[test]
fn a_file_or_folder_without_permission_is_told() {
    let place = Place::new();
    let file = place.file("demo/SKILL.md", GOOD);
    place.folder("demo/closed");
    let forbid = |path: &Utf8Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o0)).unwrap();
    forbid(&file);
    forbid(&place.root().join("demo/closed"));
    if std::fs::File::open(&file).is_ok() {
        // Nothing is closed to this user, so the system must refuse for another reason.
        let long = place.root().join("x".repeat(5000));
        assert_eq!(search(&long).findings[0].code, Code::Unreadable);
        assert!(load(&long).findings.iter().any(|finding| finding.code == Code::Unreadable));
    } else {
        check(&place, &["unreadable demo/SKILL.md", "unreadable demo/closed"]);
        forbid(&place.folder("locked"));
        let told = place.told(&search(place.root()).findings);
        assert_eq!(told, ["unreadable demo/closed", "unreadable locked"]);
    }
}

#[test]
fn a_file_in_the_place_of_a_folder_is_told() {
    let place = Place::new();
    let file = place.file("file", "no folder");
    assert_eq!(place.told(&search(&file).findings), ["unreadable file"]);
    assert!(place.told(&load(&file).findings).contains(&"unreadable file".to_owned()));
    assert!(search(&place.root().join("missing")).findings.is_empty());
}

#[test]
fn links_inside_a_skill_do_not_run_in_circles() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    place.link("demo/self", "self");
    place.link("demo/a", "b");
    place.link("demo/b", "a");
    place.link("demo/here", ".");
    place.link("demo/up", "..");
    place.link("demo/deep/root", "..");
    let expected = ["symlink-broken demo/a", "symlink-broken demo/b", "symlink-broken demo/self"];
    let loaded = check(&place, &[&expected[..], &["symlink-escapes demo/up"]].concat());
    assert!(loaded.is_usable());
    assert_eq!(loaded.files.len(), 1);
    assert_eq!(search(place.root()).loaded.len(), 1);
}

#[test]
fn a_skill_file_that_links_to_itself_is_told() {
    let place = Place::new();
    place.link("demo/SKILL.md", "SKILL.md");
    let loaded = load(&place.root().join("demo"));
    assert!(place.told(&loaded.findings).contains(&"symlink-broken demo/SKILL.md".to_owned()));
    assert!(!loaded.is_usable());
}

#[test]
fn links_between_folders_of_skills_find_each_skill_once() {
    let place = Place::new();
    for name in ["one", "two"] {
        place.file(&format!("{name}/{name}/SKILL.md"), GOOD.replace("demo", name));
    }
    place.link("one/to-two", "../two");
    place.link("two/to-one", "../one");
    place.link("one/up", "../..");
    place.link("round", ".");
    for _ in 0..20 {
        let found = search(place.root());
        let paths: Vec<_> = found.loaded.iter().map(|loaded| loaded.location.to_string()).collect();
        assert_eq!(paths, ["one/one", "two/two"].map(|path| place.root().join(path).to_string()));
        let links: Vec<_> =
            found.findings.iter().map(|finding| (finding.code, finding.path.clone())).collect();
        assert_eq!(links, ["one/up", "round"].map(|path| (Code::SymlinkBroken, place.root().join(path))));
    }
}

#[test]
fn links_that_lead_nowhere_are_told() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    place.link("self", "self");
    place.link("gone", "/nowhere/at/all");
    let found = search(place.root());
    let links: Vec<_> = found.findings.iter().map(|finding| (finding.code, finding.path.clone())).collect();
    assert_eq!(links, ["gone", "self"].map(|path| (Code::SymlinkBroken, place.root().join(path))));
}

#[test]
fn a_registry_file_inside_a_skill_belongs_to_the_skill() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    place.file("demo/assets/other.skill.yaml", "name: other\nversion: 1.0.0\ndescription: Is an asset.\n");
    assert_eq!(search(place.root()).loaded.len(), 1);
}

#[test]
fn links_out_of_the_folder_find_each_skill_once_and_by_the_same_path() {
    let (place, outside) = (Place::new(), Place::new());
    for name in ["one", "two", "three"] {
        outside.file(&format!("all/{name}/SKILL.md"), GOOD.replace("demo", name));
    }
    let target = |path: &str| outside.root().join(path).to_string();
    place.link("a/first", &target("all/one"));
    place.link("b/second", &target("all/one"));
    place.link("c", &target("all"));
    place.link("d", &target("all/two"));
    outside.link("all/back", place.root().as_str());
    for _ in 0..20 {
        let found = search(place.root());
        let paths: Vec<_> = found.loaded.iter().map(|loaded| loaded.location.to_string()).collect();
        assert_eq!(paths, ["c/one", "c/three", "c/two"].map(|path| place.root().join(path).to_string()));
    }
}

#[test]
fn a_file_of_one_gigabyte_is_not_read() {
    let place = Place::new();
    place.sparse_file("demo/SKILL.md", 1 << 30);
    let loaded = check(&place, &["file-too-large demo/SKILL.md"]);
    assert!(!loaded.is_usable());
    assert!(peak_memory_kib().is_none_or(|peak| peak < 512 * 1024), "the file was taken into memory");
}

#[test]
fn a_manifest_may_have_one_mebibyte_and_not_a_byte_more() {
    let document = |bytes: u64| {
        let start = "{\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"Shows one thing.\"}";
        format!("{start}{}", " ".repeat(usize::try_from(bytes).unwrap() - start.len()))
    };
    let place = Place::new();
    place.file("demo/skill.json", document(MANIFEST_BYTES_MAX));
    assert!(check(&place, &[]).is_usable());
    place.file("demo/skill.json", document(MANIFEST_BYTES_MAX + 1));
    assert!(!check(&place, &["file-too-large demo/skill.json"]).is_usable());
}

#[test]
fn a_skill_may_have_a_thousand_files_and_not_one_more() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    for index in 1..SKILL_FILES_MAX {
        place.file(&format!("demo/references/{index}"), "");
    }
    assert_eq!(check(&place, &[]).files.len(), SKILL_FILES_MAX);
    place.file("demo/references/one-more", "");
    assert!(!check(&place, &["too-many-files demo"]).is_usable());
}

#[test]
fn folders_and_links_of_a_skill_are_counted_too() {
    for kind in ["folder", "link"] {
        let place = Place::new();
        place.file("demo/SKILL.md", GOOD);
        for index in 0..=10 * SKILL_FILES_MAX {
            let path = place.root().join(format!("demo/{index}"));
            match kind {
                "folder" => std::fs::create_dir(path).unwrap(),
                _ => std::os::unix::fs::symlink("nowhere", path).unwrap(),
            }
        }
        let loaded = load(&place.root().join("demo"));
        let told = place.told(&loaded.findings);
        assert!(told.contains(&"too-many-files demo".to_owned()), "{kind}: {} findings", told.len());
        assert!(!loaded.is_usable());
    }
}

#[test]
fn a_skill_may_have_fifty_mebibytes_and_not_a_byte_more() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    place.sparse_file("demo/assets/large", SKILL_BYTES_MAX - GOOD.len() as u64);
    check(&place, &[]);
    place.sparse_file("demo/assets/large", SKILL_BYTES_MAX + 1 - GOOD.len() as u64);
    assert!(!check(&place, &["folder-too-large demo"]).is_usable());
    place.sparse_file("demo/assets/large", 1 << 40);
    place.sparse_file("demo/assets/larger", 1 << 40);
    check(&place, &["folder-too-large demo"]);
}

#[test]
fn a_skill_may_have_sixteen_levels() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    let folders = |levels: usize| vec!["d"; levels].join("/");
    place.file(&format!("demo/{}/file", folders(16)), "");
    check(&place, &[]);
    place.file(&format!("demo/{}/file", folders(18)), "");
    let loaded = check(&place, &[&format!("folder-too-deep demo/{}", folders(17))]);
    assert!(loaded.is_usable());
    assert_eq!(loaded.files.len(), 2);
}

#[test]
fn a_search_ends_at_its_depth_and_says_where() {
    let place = Place::new();
    let folders = |levels: usize| vec!["d"; levels].join("/");
    place.file(&format!("{}/SKILL.md", folders(DISCOVERY_DEPTH_MAX)), GOOD.replace("demo", "d"));
    assert_eq!(search(place.root()).loaded.len(), 1);
    place.file(&format!("other/{}/SKILL.md", folders(DISCOVERY_DEPTH_MAX)), GOOD.replace("demo", "d"));
    let found = search(place.root());
    assert_eq!(found.loaded.len(), 1);
    let told = place.told(&found.findings);
    assert_eq!(told, [format!("discovery-limit other/{}", folders(DISCOVERY_DEPTH_MAX - 1))]);
}

#[test]
fn a_search_ends_at_the_same_folders_on_every_run() {
    let place = Place::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        place.file(&format!("{name}/SKILL.md"), GOOD.replace("demo", name));
        place.file(&format!("{name}/inner/SKILL.md"), GOOD.replace("demo", "inner"));
    }
    let options = |folders_max: usize| LoadOptions { folders_max, ..Keep::Descriptions.into() };
    let found = |folders_max: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| discover(place.root(), options(folders_max)));
        let paths = found
            .loaded
            .iter()
            .map(|loaded| loaded.location.path().unwrap().strip_prefix(place.root()).unwrap());
        (paths.map(Utf8Path::to_string).collect::<Vec<_>>(), place.told(&found.findings))
    };
    let stopped = vec!["discovery-limit ".to_owned()];
    for threads in [1, 2, 8, 8, 8] {
        // The folder that is searched counts too.
        let first = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(found(5, threads), (first, stopped.clone()), "{threads} threads");
        let (paths, findings) = found(10, threads);
        assert_eq!((paths.len(), &paths[1], findings), (9, &"a/inner".to_owned(), stopped.clone()));
        let (paths, findings) = found(17, threads);
        assert_eq!((paths.len(), findings.len()), (16, 0));
    }
}

#[test]
fn folders_without_skills_are_told_from_their_neighbours() {
    let place = Place::new();
    place.file("a-b/SKILL.md", GOOD.replace("demo", "a-b"));
    place.file("a/x/SKILL.md", GOOD.replace("demo", "x"));
    place.file("a.b/y.skill.yaml", "name: y\ndescription: Shows one thing.\n");
    place.folder("a-");
    place.folder("ab/deep");
    let empty = search(place.root()).empty;
    assert_eq!(empty, ["a-", "ab"].map(|name| place.root().join(name)));
}

#[test]
fn many_empty_folders_do_not_hide_a_skill() {
    let place = Place::new();
    for outer in 0..100 {
        let outer = place.folder(&outer.to_string());
        (0..200).for_each(|inner| std::fs::create_dir(outer.join(inner.to_string())).unwrap());
    }
    place.file("99/demo/SKILL.md", GOOD);
    let found = search(place.root());
    assert_eq!((found.loaded.len(), found.findings), (1, Vec::new()));
}

#[test]
fn names_that_are_not_utf8_are_told() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    let bad = |folder: &str| place.folder(folder).as_std_path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::write(bad("demo"), "").unwrap();
    std::fs::create_dir(bad("demo/references")).unwrap();
    assert!(check(&place, &["path-not-utf8 demo", "path-not-utf8 demo/references"]).is_usable());
    std::fs::create_dir(bad("")).unwrap();
    std::fs::write(bad("").join("SKILL.md"), GOOD).unwrap();
    let found = search(place.root());
    assert_eq!((found.loaded.len(), found.findings.len()), (1, 0));
}

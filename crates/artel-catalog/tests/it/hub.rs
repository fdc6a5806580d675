//! Hubs without a network: which files are taken, how archives are read, what is published.

use std::fs;
use std::io::Cursor;

use artel_catalog::hub::{
    ArchiveError, ArchiveTop, Census, CrawlPreview, EntryKind, Fetched, Gathered, HubLimits, IncludePath,
    PublishError, Revision, publish, read_archive, read_published,
};
use artel_catalog::{FileTree as _, Keep};
use camino::{Utf8Path, Utf8PathBuf};
use tar::EntryType;

use crate::hub_pack::{file, skill, tar_gz, zip, zip_with_link};

fn revision(digit: &str) -> Revision {
    digit.repeat(40).parse().unwrap()
}

fn limits() -> HubLimits {
    HubLimits::default()
}

fn fetched(gathered: Gathered) -> Fetched {
    Fetched::new(revision("a"), "hub".to_owned(), gathered)
}

/// Takes files as a repository has them; the content of `SKILL.md` is a skill named after its folder.
fn gather(paths: &[&str], include: &[&str], limits: HubLimits) -> Fetched {
    let include: Vec<IncludePath> = include.iter().map(|path| path.parse().unwrap()).collect();
    let mut census = Census::new(&include, limits);
    let content = |path: &str| {
        let folder = Utf8Path::new(path).parent().and_then(Utf8Path::file_name).unwrap_or("hub");
        if path.ends_with("SKILL.md") { skill(folder).into_bytes() } else { path.as_bytes().to_vec() }
    };
    for (number, path) in paths.iter().enumerate() {
        let size = content(path).len() as u64;
        let kind = EntryKind::File { size, is_executable: path.ends_with(".sh") };
        census.offer(number, path.as_bytes(), kind).unwrap();
    }
    let mut selection = census.select();
    for number in selection.wanted() {
        selection.add(number, content(paths[number]));
    }
    fetched(selection.finish())
}

/// Writes what was taken: the folders and their files, then what is said about the rest.
fn told(fetched: &Fetched) -> Vec<String> {
    let files = |folder: &artel_catalog::hub::SkillFolder| {
        let paths: Vec<String> =
            folder.tree.listing().files.iter().map(|file| file.path.to_string()).collect();
        format!("{}: {}", folder.path, paths.join(" "))
    };
    fetched.folders.iter().map(files).chain(fetched.notes()).collect()
}

#[test]
fn every_skill_owns_its_files_and_no_others() {
    let paths = [
        "README.md",
        "skills/pdf/SKILL.md",
        "skills/pdf/scripts/run.sh",
        "skills/pdf/inner/SKILL.md",
        "skills/pdf/inner/a.txt",
        "skills/pdf/other/b.txt",
        ".claude/skills/hidden/SKILL.md",
        "node_modules/x/SKILL.md",
        "skills/pdf/data/state.json",
        "skills/pdf/data/planted/SKILL.md",
        "skills/pdf/__pycache__/x.pyc",
    ];
    let all = gather(&paths, &[], limits());
    insta::assert_snapshot!(told(&all).join("\n"), @r"
    .claude/skills/hidden: SKILL.md
    skills/pdf: SKILL.md other/b.txt scripts/run.sh
    skills/pdf/inner: SKILL.md a.txt
    `__pycache__` of `skills/pdf` is left out: it holds what Python compiled
    `data` of `skills/pdf` is left out: scripts keep their own files there
    the skill in `node_modules/x` is skipped: it lies in a folder that tools make (`node_modules`, `__pycache__`)
    ");
    let listing = all.folders[1].tree.listing();
    assert!(listing.file("scripts/run.sh").unwrap().is_executable);
    let some = gather(&paths, &["skills/pdf/inner", "elsewhere"], limits());
    assert_eq!(told(&some), ["skills/pdf/inner: SKILL.md a.txt"]);
    let preview = CrawlPreview::of(&all);
    assert_eq!(preview.paths, [".claude/skills/hidden", "skills/pdf", "skills/pdf/inner"]);
    assert_eq!(preview.skills_preview[1].ancillary_file_count, 2);
    let root = gather(&["SKILL.md", "a/b.txt"], &[], limits());
    assert_eq!(told(&root), [": SKILL.md a/b.txt"]);
    assert_eq!(CrawlPreview::of(&root).paths, ["."]);
}

#[test]
fn caps_leave_out_whole_skills_and_say_so() {
    let paths = ["a/SKILL.md", "a/1", "a/2", "b/SKILL.md", "c/SKILL.md", "c/1"];
    let few = gather(&paths, &[], HubLimits { files_max: 4, ..limits() });
    insta::assert_snapshot!(told(&few).join("\n"), @r"
    a: 1 2 SKILL.md
    b: SKILL.md
    the skill in `c` is skipped: with it the hub would have more than 4 files
    ");
    let small = gather(&paths, &[], HubLimits { bytes_max: 100, ..limits() });
    assert_eq!(told(&small)[0], "a: 1 2 SKILL.md");
    assert_eq!(told(&small).len(), 3);
    let deep = gather(&["1/2/3/SKILL.md", "1/2/SKILL.md"], &[], HubLimits { depth_max: 2, ..limits() });
    assert!(told(&deep)[1].contains("more than 2 levels deep"), "{:?}", told(&deep));
    let text = gather(&["a/SKILL.md", "a/long.txt"], &[], HubLimits { text_file_bytes_max: 9, ..limits() });
    assert!(told(&text)[0].contains("a/SKILL.md` is left out: it is a text of more than 9 bytes"));
    let many: Vec<String> =
        (0..100_000).map(|number| format!("a/{number}")).chain(["a/SKILL.md".to_owned()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let many = gather(&many, &[], limits());
    assert_eq!(told(&many), ["the skill in `a` is skipped: it has 100001 files, at most 1000 are allowed"]);
}

#[test]
fn malformed_and_second_skills_hide_no_others() {
    let broken = b"\xff\xfe no text".as_slice();
    let (good, twin) = (skill("good"), skill("good"));
    let archive = tar_gz(&[
        file("r/a/SKILL.md", good.as_bytes()),
        file("r/b/SKILL.md", broken),
        file("r/c/SKILL.md", twin.as_bytes()),
        file("r/d/skill.json", b"{"),
    ]);
    let read = read_archive(Cursor::new(archive), ArchiveTop::OneFolder, &[], limits()).unwrap();
    let fetched = fetched(read);
    assert_eq!(fetched.folders.len(), 1);
    let skipped: Vec<&str> = fetched.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(skipped, ["b", "c", "d"]);
    assert_eq!(fetched.skipped[1].reason, "`a` has the skill `good` already");
}

#[test]
fn hostile_archives_write_nothing_anywhere() {
    let good = skill("good");
    let archive = tar_gz(&[
        file("r/a/SKILL.md", good.as_bytes()),
        file("r/../../etc/passwd", b"x"),
        file("r//etc/passwd", b"x"),
        file("r/a/.git/hooks/post-checkout", b"x"),
        file("r/a/x\\y", b"x"),
        file("r/a/SKILL.md", b"second"),
        file("r/a/f", b"a file"),
        file("r/a/f/below", b"below a file"),
        (EntryType::Symlink, "r/a/link", b"/etc/passwd"),
        (EntryType::Link, "r/a/hard", b"r/a/SKILL.md"),
        (EntryType::Fifo, "r/a/pipe", b""),
        (EntryType::Char, "r/a/device", b""),
    ]);
    let fetched = fetched(read_archive(Cursor::new(archive), ArchiveTop::OneFolder, &[], limits()).unwrap());
    insta::assert_snapshot!(told(&fetched).join("\n"), @r"
    a: SKILL.md f
    `../../etc/passwd` is left out: its path has `..`
    `/etc/passwd` is left out: its path is absolute
    `a/.git/hooks/post-checkout` is left out: its path has a folder of git itself
    `a/x\y` is left out: its path has a backslash or a control character
    `a/SKILL.md` is there twice; the first one is taken
    `a/link` is a link; it is not followed
    `a/hard` is a link; it is not followed
    `a/pipe` is left out: it is not a plain file
    `a/device` is left out: it is not a plain file
    `a/f/below` is left out: it lies in a file
    ");
    let linked =
        read_archive(Cursor::new(zip_with_link()), ArchiveTop::PerhapsOneFolder, &[], limits()).unwrap();
    let linked = self::fetched(linked);
    assert_eq!(told(&linked), [": SKILL.md", "`link` is a link; it is not followed"]);
}

#[test]
fn bombs_and_damage_are_errors() {
    let small = HubLimits { unpacked_bytes_max: 1024 * 1024, entries_max: 100, ..limits() };
    let read = |bytes: Vec<u8>| read_archive(Cursor::new(bytes), ArchiveTop::OneFolder, &[], small);
    let zeros = vec![0; 8 * 1024 * 1024];
    let bomb = tar_gz(&[file("r/a/SKILL.md", skill("a").as_bytes()), file("r/z", &zeros)]);
    assert!(bomb.len() < 100_000);
    assert!(matches!(read(bomb.clone()), Err(ArchiveError::Bomb { .. })), "{:?}", read(bomb));
    let name = vec![b'x'; 200_000];
    let mut long = tar_gz(&[file("r/x", &name)]);
    assert!(read(long.clone()).is_ok());
    long.truncate(long.len() / 2);
    assert!(matches!(read(long), Err(ArchiveError::Damaged(_))));
    assert!(matches!(read(b"what?".to_vec()), Err(ArchiveError::Unknown)));
    assert!(matches!(read(Vec::new()), Err(ArchiveError::Unknown)));
    assert!(matches!(read(b"PK\x05\x06".to_vec()), Err(ArchiveError::DamagedZip(_))));
    let names: Vec<String> = (0..200).map(|number| format!("r/{number}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(matches!(read(zip(&many)), Err(ArchiveError::TooMany(_))));
    let many: Vec<_> = names.iter().map(|name| file(name, b"")).collect();
    assert!(matches!(read(tar_gz(&many)), Err(ArchiveError::TooMany(_))));
}

/// The tar library reads the name of a long entry as a whole, so a name must not be a bomb.
#[test]
fn long_headers_are_refused() {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let zeros = vec![0; 4 * 1024 * 1024];
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(zeros.len() as u64);
        header.set_cksum();
        builder.append(&header, zeros.as_slice()).unwrap();
    }
    let bytes = builder.into_inner().unwrap().finish().unwrap();
    let result = read_archive(Cursor::new(bytes), ArchiveTop::OneFolder, &[], limits());
    assert!(matches!(result, Err(ArchiveError::Header)), "{result:?}");
}

#[test]
fn a_zip_that_lies_about_sizes_is_damaged() {
    let content = vec![b'x'; 1000];
    let mut bytes = zip(&[("SKILL.md", skill("demo").as_bytes()), ("a.bin", &content)]);
    // The list at the end says how large a file is; the file itself is larger.
    let at = bytes.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    bytes[at + 24..at + 28].copy_from_slice(&7_u32.to_le_bytes());
    let result = read_archive(Cursor::new(bytes), ArchiveTop::PerhapsOneFolder, &[], limits());
    assert!(result.is_err(), "{result:?}");
}

struct Place {
    _folder: tempfile::TempDir,
    into: Utf8PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let into = Utf8Path::from_path(folder.path()).unwrap().join("hubs/1");
    Place { _folder: folder, into }
}

fn contents(into: &Utf8Path) -> Vec<String> {
    let names = into.read_dir_utf8().unwrap().map(|entry| entry.unwrap().file_name().to_owned());
    let mut names: Vec<String> = names.filter(|name| name != "current.json").collect();
    names.sort();
    names
}

#[test]
fn what_is_published_is_found_again_after_a_restart() {
    let place = place();
    assert!(read_published(&place.into).unwrap().is_none());
    let paths = ["SKILL.md", "run.sh", "pdf/SKILL.md", "pdf/inner/SKILL.md", "pdf/inner/a.txt"];
    let fetched = gather(&paths, &[], limits());
    let published = publish(&fetched, "", &place.into).unwrap();
    let again = read_published(&place.into).unwrap().unwrap();
    assert_eq!(again.revision, revision("a"));
    let folders = |published: &artel_catalog::hub::Published| {
        published
            .skills
            .iter()
            .map(|skill| (skill.folder.clone(), skill.content_hash.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(folders(&again), folders(&published));
    let loaded: Vec<_> = again.skills.iter().map(|skill| skill.load(Keep::Instructions)).collect();
    let names: Vec<&str> = loaded.iter().map(|loaded| loaded.usable().unwrap().name.as_str()).collect();
    assert_eq!(names, ["hub", "pdf", "inner"]);
    assert!(loaded[0].files.iter().any(|file| file.path == "run.sh" && file.is_executable));
    // Publishing the same again changes nothing.
    publish(&fetched, "", &place.into).unwrap();
    assert_eq!(contents(&place.into).len(), 1);
}

#[test]
fn the_last_content_stays_and_older_ones_go() {
    let place = place();
    for (digit, paths) in [("a", &["a/SKILL.md"][..]), ("b", &["b/SKILL.md"]), ("c", &["c/SKILL.md"])] {
        let fetched = Fetched { revision: revision(digit), ..gather(paths, &[], limits()) };
        publish(&fetched, "", &place.into).unwrap();
    }
    fs::create_dir(place.into.join(".unfinished-x")).unwrap();
    // The same commit with other folders is another content.
    let other = Fetched { revision: revision("c"), ..gather(&["d/SKILL.md"], &[], limits()) };
    publish(&other, "", &place.into).unwrap();
    let names = contents(&place.into);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with('c')), "{names:?}");
    let published = read_published(&place.into).unwrap().unwrap();
    assert_eq!(published.skills[0].path, "d");
}

#[test]
fn damage_is_noticed_and_mended_by_publishing_again() {
    let place = place();
    let fetched = gather(&["a/SKILL.md"], &[], limits());
    let published = publish(&fetched, "", &place.into).unwrap();
    let file = published.skills[0].folder.join("SKILL.md");
    fs::write(&file, "changed").unwrap();
    assert!(matches!(read_published(&place.into), Err(PublishError::Damaged { .. })));
    publish(&fetched, "", &place.into).unwrap();
    assert!(read_published(&place.into).unwrap().is_some());
    fs::write(place.into.join("current.json"), "{").unwrap();
    assert!(read_published(&place.into).unwrap().is_none());
    fs::write(place.into.join("current.json"), r#"{"contents": ["../../etc"]}"#).unwrap();
    assert!(read_published(&place.into).unwrap().is_none());
}

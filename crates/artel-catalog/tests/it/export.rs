//! Exports for any client: one folder for each source, and what the metadata says about it.

use std::sync::Arc;

use artel_catalog::mirror::Offer;
use artel_catalog::shared::EntryId;
use artel_catalog::{ExportScope, ExportTarget, Keep, Loaded, export, load_folder};
use camino::{Utf8Path, Utf8PathBuf};

const HUB: &str = "1f0c1c5e-8f0e-4a57-9a53-3a8a0b3b6b11";
const SAVED: &str = "2f0c1c5e-8f0e-4a57-9a53-3a8a0b3b6b11";

fn write(root: &Utf8Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// Makes a skill, and loads it as one that a server offers under `id`.
fn skill(root: &Utf8Path, name: &str, id: Option<&str>) -> Loaded {
    let head =
        format!("---\nname: {name}\ndescription: Shows one thing.\nlicense: MIT\n---\nDo the thing.\n");
    write(root, &format!("{name}/SKILL.md"), &head);
    write(root, &format!("{name}/references/more.md"), "More.\n");
    let mut loaded = load_folder(&root.join(name), Keep::Everything);
    loaded.offer = id.map(|id| {
        Arc::new(Offer {
            id: id.parse::<EntryId>().unwrap(),
            name: name.parse().unwrap(),
            content_hash: artel_catalog::file_hash(b""),
            files: Vec::new(),
        })
    });
    loaded
}

#[test]
fn each_source_has_its_folder_and_is_named_in_the_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let skills = [
        skill(root, "apple", None),
        skill(root, "bread", Some(&format!("agent_skills/{SAVED}"))),
        skill(root, "cider", Some(&format!("hub/{HUB}/cider"))),
    ];
    let all: Vec<&Loaded> = skills.iter().collect();
    let out = root.join("out");
    // What an earlier version wrote under other names goes with the next export of all.
    write(&out, "agent_skills/bread/SKILL.md", "old");
    write(&out, ".artel-export.json", r#"{"folders": ["agent_skills/bread"]}"#);
    let report = export(&all, &out, ExportTarget::Plain, ExportScope::All).unwrap();
    let expected = ["default/apple".to_owned(), "agent-skills/bread".to_owned(), format!("hub-{HUB}/cider")];
    let mut written = report.written.clone();
    written.sort();
    let mut sorted: Vec<Utf8PathBuf> = expected.iter().map(Utf8PathBuf::from).collect();
    sorted.sort();
    assert_eq!((written, report.removed), (sorted, vec![Utf8PathBuf::from("agent_skills/bread")]));
    let sources = [
        "  source: default\n---\n".to_owned(),
        format!("  source: agent_skills\n  source_id: \"{SAVED}\"\n---\n"),
        format!("  source: hub\n  source_id: \"{HUB}\"\n---\n"),
    ];
    for (folder, source) in expected.iter().zip(sources) {
        let text = std::fs::read_to_string(out.join(folder).join("SKILL.md")).unwrap();
        let name = folder.rsplit('/').next().unwrap();
        let head = format!("---\nname: {name}\ndescription: Shows one thing.\nlicense: MIT\nmetadata:\n");
        assert!(text.starts_with(&head) && text.contains(&source), "{text}");
        assert!(text.ends_with("---\n\nDo the thing.\n"), "{text}");
        assert!(out.join(folder).join("references/more.md").exists());
    }
    // It can be repeated, and clears away what is gone.
    let report = export(&all[..1], &out, ExportTarget::Plain, ExportScope::All).unwrap();
    assert_eq!(report.removed.len(), 2, "{report:?}");
    // A record names only folders that an export writes.
    write(&out, "hub-x/apple/mine.txt", "mine");
    write(&out, ".artel-export.json", r#"{"folders": ["default/apple", "hub-x/apple"]}"#);
    assert!(
        export(&all[..1], &out, ExportTarget::Plain, ExportScope::All).is_err(),
        "nothing is known to be ours"
    );
    assert!(out.join("hub-x/apple/mine.txt").exists());
}

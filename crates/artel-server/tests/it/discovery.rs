//! What a server publishes to everybody, read with the reader that hubs are read with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use artel_app::Reread;
use artel_catalog::FileTree as _;
use artel_catalog::hub::{HubLimits, INDEX_PATH, IndexedKind, SiteSkills, SkillIndex};
use serde_json::json;

use crate::place::{Place, TestSkill, done};

async fn place() -> Place {
    let place = Place::open_with_parts(&[TestSkill("no-main-file", json!({}), &done("{}"))], |mut parts| {
        parts.app.publishes_skills = true;
        parts
    })
    .await;
    for name in ["one-file", "several-files"] {
        let folder = place.path("skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }
    let several = place.path("skills/several-files");
    fs::create_dir_all(several.join("scripts")).unwrap();
    fs::write(several.join("scripts/run.sh"), "#!/bin/sh\necho hello\n").unwrap();
    fs::set_permissions(several.join("scripts/run.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::write(several.join("config.json"), r#"{"token": "somebodys-secret"}"#).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    let writer = place.somebody("ann", &["catalog:read", "catalog:write"]).await;
    let hers = json!({"name": "hers-alone", "description": "Personal.", "content": "Secret.", "visibility": "personal"});
    writer.post("/api/skills", hers).await.expect(201);
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_published_unless_the_operator_says_so() {
    let place = Place::open(&[]).await;
    for path in
        [INDEX_PATH, "/.well-known/agent-skills/x/SKILL.md", "/.well-known/agent-skills/x/skill.tar.gz"]
    {
        place.admin.with(None).get(path).await.refused(404, "not_found");
        place.admin.get(path).await.refused(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_everybody_sees_can_be_read_as_a_site() {
    let place = place().await;
    let anybody = reqwest::Client::builder().no_proxy().build().unwrap();
    let fetch = async |path: &str| {
        let response = anybody.get(format!("http://{}{path}", place.address)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.bytes().await.unwrap().to_vec()
    };
    let index = SkillIndex::parse(&fetch(INDEX_PATH).await).unwrap();
    let found: Vec<(&str, IndexedKind)> =
        index.skills.iter().map(|skill| (skill.name.as_str(), skill.kind)).collect();
    assert!(found.contains(&("one-file", IndexedKind::SkillMd)), "{found:?}");
    assert!(found.contains(&("several-files", IndexedKind::Archive)), "{found:?}");
    assert!(!found.iter().any(|(name, _)| ["hers-alone", "no-main-file"].contains(name)), "{found:?}");
    let mut site = SiteSkills::new(&index, HubLimits::default());
    for skill in &index.skills {
        site.add(skill, fetch(&skill.url).await);
    }
    let fetched = site.finish("site".to_owned());
    assert_eq!((fetched.warnings.len(), fetched.skipped.len()), (0, 0), "{fetched:?}");
    let folder = |name: &str| fetched.folders.iter().find(|folder| folder.name.as_str() == name).unwrap();
    let (one, several) = (folder("one-file"), folder("several-files"));
    assert_eq!((one.description.as_str(), one.tree.listing().files.len()), ("Does one-file.", 1));
    let files = several.tree.listing().files;
    let paths: Vec<(&str, bool)> =
        files.iter().map(|file| (file.path.as_str(), file.is_executable)).collect();
    assert_eq!(paths, [("SKILL.md", false), ("scripts/run.sh", true)], "nobody's settings are published");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_follows_the_catalog() {
    let place = place().await;
    let anybody = place.admin.with(None);
    let before = anybody.get(INDEX_PATH).await;
    let tag = before.header("etag").to_owned();
    let again = anybody.call("GET", INDEX_PATH, &[("If-None-Match", &tag)], None).await;
    assert_eq!(again.status, 304);
    artel_engine::remove_folder(&place.path("skills/one-file")).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    let after = anybody.call("GET", INDEX_PATH, &[("If-None-Match", &tag)], None).await.expect(200);
    assert!(!after.to_string().contains("one-file"));
    anybody.get("/.well-known/agent-skills/one-file/SKILL.md").await.refused(404, "not_found");
    for name in ["hers-alone", "no-main-file", "several-files", "..%2Fseveral-files"] {
        anybody.get(&format!("/.well-known/agent-skills/{name}/SKILL.md")).await.refused(404, "not_found");
    }
}

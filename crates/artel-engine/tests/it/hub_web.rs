//! Hubs over HTTP without git: a stand-in of GitHub, and a site with an index of skills.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_catalog::file_hash;
use artel_catalog::hub::HubLimits;
use artel_engine::hub::{HubFailureKind, HubFetcherConfig, HubOutcome};
use artel_model::catalog::HubKind;
use serde_json::{Value, json};

use crate::hub::{Place, TOKEN, VARIABLE, request, skill, told};
use crate::hub_server::{Answer, ReceivedRequest, Repository, Server};

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

fn at_github(token: Option<&str>) -> artel_engine::hub::HubRequest {
    request(HubKind::Github, "Ann/Skills", None, token)
}

/// A fetcher for which GitHub is somewhere on this machine.
async fn place(server: &Server, change: impl FnOnce(&mut HubFetcherConfig)) -> Place {
    let url = server.url();
    Place::with(|config| {
        config.github_api = format!("{url}/api/v3/");
        change(config);
    })
    .await
}

/// A repository, packed as GitHub packs it: the commit and the archive.
fn packed() -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap();
    let repository = Repository::new(path.join("r"));
    std::os::unix::fs::symlink("/etc/passwd", repository.path.join("link")).unwrap();
    let commit =
        repository.commit(&[("pdf/SKILL.md", &skill("pdf")), ("pdf/a.txt", "text"), ("README.md", "")]);
    (commit, repository.archive("tar.gz", "ann-skills-1234567/"))
}

#[tokio::test]
async fn a_repository_at_github() {
    let (commit, archive) = packed();
    let sha = commit.clone();
    let server = Server::start(move |asked: &ReceivedRequest| match asked.path() {
        "/api/v3/repos/ann/skills/commits/HEAD"
            if asked.header("if-none-match") == Some(&format!("\"{sha}\"")) =>
        {
            Answer::status(304)
        }
        "/api/v3/repos/ann/skills/commits/HEAD" => Answer::ok(sha.as_bytes()),
        path if path == format!("/api/v3/repos/ann/skills/tarball/{sha}") => {
            Answer::redirect("/codeload/x.tar.gz?t=1")
        }
        "/codeload/x.tar.gz" => Answer::ok(archive.clone()),
        _ => Answer::status(404),
    })
    .await;
    let place = place(&server, |_| {}).await;
    let fetched = place.fetched(&at_github(Some(VARIABLE))).await;
    assert_eq!(told(&fetched), "pdf (pdf): SKILL.md a.txt\n`link` is a link; it is not followed");
    assert_eq!(fetched.revision.as_str(), commit);
    assert_eq!(fetched.root_name, "skills");
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].header("accept"), Some("application/vnd.github.sha"));
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some(&format!("Bearer {TOKEN}"))));
    let again = place.ask(&at_github(None), Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Unchanged));
    assert_eq!(server.asked().len(), 4);
    let by_commit = request(HubKind::Github, "ann/skills", Some(&commit), None);
    let again = place.ask(&by_commit, Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Unchanged));
    assert_eq!(server.asked().len(), 4, "a commit is what it is");
    let branch = request(HubKind::Github, "ann/skills", Some("a/b#c"), None);
    assert_eq!(place.failure(&branch).await.kind, HubFailureKind::NotFound);
    assert_eq!(server.asked()[4].target, "/api/v3/repos/ann/skills/commits/a/b%23c");
}

#[tokio::test]
async fn what_github_refuses_is_told() {
    for (status, left, kind, words) in [
        (401, "10", HubFailureKind::Credentials, "refuses access"),
        (403, "10", HubFailureKind::Credentials, "refuses access"),
        (403, "0", HubFailureKind::Unreachable, "takes no more requests"),
        (429, "10", HubFailureKind::Unreachable, "takes no more requests"),
        (404, "10", HubFailureKind::NotFound, "no such repository"),
        (409, "10", HubFailureKind::NotFound, "no such repository"),
        (500, "10", HubFailureKind::Unreachable, "status 500"),
    ] {
        let server = Server::start(move |asked: &ReceivedRequest| {
            let said = asked.header("authorization").unwrap_or_default().to_owned();
            Answer::Said(
                status,
                vec![("x-ratelimit-remaining".to_owned(), left.to_owned())],
                said.into_bytes(),
            )
        })
        .await;
        let failure = place(&server, |_| {}).await.failure(&at_github(Some(VARIABLE))).await;
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
    let server = Server::start(|_| Answer::ok("<html>")).await;
    let failure = place(&server, |_| {}).await.failure(&at_github(None)).await;
    assert_eq!(failure.kind, HubFailureKind::Content, "{failure}");
    let closed = Server::start(|_| Answer::status(200)).await;
    let place = Place::with(|config| config.github_api = format!("http://127.0.0.1:{}", closed.port)).await;
    assert_eq!(place.failure(&at_github(None)).await.kind, HubFailureKind::Content);
}

#[tokio::test]
async fn archives_are_bounded() {
    let (commit, archive) = packed();
    let serve = |archive: Vec<u8>| {
        let commit = commit.clone();
        Server::start(move |asked: &ReceivedRequest| {
            if asked.path().contains("/commits/") {
                Answer::ok(commit.as_bytes())
            } else {
                Answer::ok(archive.clone())
            }
        })
    };
    let whole = serve(archive.clone()).await;
    let small = |config: &mut HubFetcherConfig| config.download_bytes_max = 100;
    let failure = place(&whole, small).await.failure(&at_github(None)).await;
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (HubFailureKind::Content, "the hub sends more than 100 bytes")
    );
    let shallow = |config: &mut HubFetcherConfig| {
        config.limits = HubLimits { unpacked_bytes_max: 1000, ..HubLimits::default() };
    };
    let failure = place(&whole, shallow).await.failure(&at_github(None)).await;
    assert!(failure.message.contains("unpacks to more than 1000 bytes"), "{failure}");
    let cut = serve(archive[..archive.len() / 2].to_vec()).await;
    let failure = place(&cut, |_| {}).await.failure(&at_github(None)).await;
    assert!(failure.message.contains("the archive is damaged"), "{failure}");
    let other = serve(b"what?".to_vec()).await;
    let failure = place(&other, |_| {}).await.failure(&at_github(None)).await;
    assert!(failure.message.contains("neither a .tar.gz nor a .zip"), "{failure}");
}

#[tokio::test]
async fn redirections_lead_nowhere_else() {
    for target in [
        "http://127.0.0.2/x",
        "http://localhost/x",
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/x",
        "https://other.example.com/x",
        "http://ann:secret@127.0.0.1/x",
        "file:///etc/passwd",
    ] {
        let server = Server::start(move |_| Answer::redirect(target)).await;
        let failure = place(&server, |_| {}).await.failure(&at_github(Some(VARIABLE))).await;
        assert_eq!(failure.kind, HubFailureKind::NotAllowed, "{target}: {failure}");
        assert_eq!(server.asked().len(), 1);
    }
    let circle = Server::start(|asked: &ReceivedRequest| Answer::redirect(&asked.target)).await;
    let failure = place(&circle, |_| {}).await.failure(&at_github(None)).await;
    assert_eq!(failure.message, "the hub redirects more than 5 times");
    assert_eq!(circle.asked().len(), 6);
}

#[tokio::test]
async fn a_token_does_not_follow_a_redirection_to_another_place() {
    let (commit, _) = packed();
    let other = Server::start(move |_| Answer::ok(commit.as_bytes())).await;
    let there = format!("{}/x", other.url());
    let first = Server::start(move |_| Answer::redirect(&there)).await;
    place(&first, |_| {}).await.failure(&at_github(Some(VARIABLE))).await;
    assert!(first.asked().iter().all(|asked| asked.header("authorization").is_some()));
    assert!(!other.asked().is_empty());
    assert!(other.asked().iter().all(|asked| asked.header("authorization").is_none()));
}

fn entry(name: &str, kind: &str, url: &str, bytes: &[u8]) -> Value {
    json!({"name": name, "type": kind, "description": "d", "url": url, "digest": file_hash(bytes).to_string()})
}

/// A folder of one skill, packed.
fn packed_skill(name: &str, format: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap();
    let repository = Repository::new(path.join("r"));
    repository.commit(&[
        ("SKILL.md", &skill(name)),
        ("scripts/run.py", "print()"),
        ("inner/SKILL.md", &skill("inner")),
    ]);
    repository.archive(format, if format == "zip" { "" } else { "top/" })
}

#[tokio::test]
async fn a_site_with_an_index() {
    let (plain, zip, tar) = (skill("plain"), packed_skill("zipped", "zip"), packed_skill("tarred", "tar.gz"));
    let index = json!({"$schema": SCHEMA, "skills": [
        entry("plain", "skill-md", "plain/SKILL.md", plain.as_bytes()),
        entry("zipped", "archive", "/files/zipped.zip", &zip),
        entry("tarred", "archive", "tarred.tar.gz", &tar),
        entry("tampered", "skill-md", "plain/SKILL.md", b"other bytes"),
        entry("gone", "skill-md", "gone/SKILL.md", b""),
        entry("elsewhere", "skill-md", "https://169.254.169.254/SKILL.md", b""),
        entry("outside", "skill-md", "https://other.example.com/SKILL.md", b""),
        entry("mistaken", "skill-md", "plain/SKILL.md", plain.as_bytes()),
    ]})
    .to_string();
    let is_mended = Arc::new(AtomicBool::new(false));
    let mended = is_mended.clone();
    let server = Server::start(move |asked: &ReceivedRequest| match asked.path() {
        "/docs/.well-known/agent-skills/index.json" => Answer::ok(index.as_bytes()),
        "/docs/.well-known/agent-skills/plain/SKILL.md" => Answer::ok(plain.as_bytes()),
        "/docs/.well-known/agent-skills/tarred.tar.gz" => Answer::ok(tar.clone()),
        "/files/zipped.zip" => Answer::ok(zip.clone()),
        "/docs/.well-known/agent-skills/gone/SKILL.md" if mended.load(Ordering::SeqCst) => Answer::ok(""),
        _ => Answer::status(404),
    })
    .await;
    let place = Place::new().await;
    let asked = request(HubKind::WellKnown, &format!("{}/docs/", server.url()), None, Some(VARIABLE));
    let fetched = place.fetched(&asked).await;
    let there = format!("127.0.0.1:{}", server.port);
    insta::assert_snapshot!(told(&fetched).replace(&there, "HERE"), @r"
    plain (plain): SKILL.md
    tarred (tarred): SKILL.md scripts/run.py
    zipped (zipped): SKILL.md scripts/run.py
    the skill in `zipped/inner` is skipped: an archive holds one skill, at its top
    the skill in `tarred/inner` is skipped: an archive holds one skill, at its top
    the skill in `tampered` is skipped: what the site sent is not what its index speaks of: the digests differ
    the skill in `gone` is skipped: there is no such repository, branch or site, or a token is needed to see it (status 404 of 127.0.0.1)
    the skill in `elsewhere` is skipped: the address `https://169.254.169.254` that the hub leads to is not allowed
    the skill in `outside` is skipped: the address `https://other.example.com` that the hub leads to is not allowed
    the skill in `mistaken` is skipped: it calls itself `plain`, which is not its name in the index
    ");
    // What was missed is tried again.
    let again = place.ask(&asked, Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Fetched(_)));
    is_mended.store(true, Ordering::SeqCst);
    let HubOutcome::Fetched(mended) = place.ask(&asked, Some(&fetched.revision)).await.unwrap() else {
        panic!("it is tried again")
    };
    assert_ne!(mended.revision, fetched.revision);
}

#[tokio::test]
async fn an_index_that_has_not_changed_is_not_followed() {
    let plain = skill("plain");
    let index =
        json!({"$schema": SCHEMA, "skills": [entry("plain", "skill-md", "/SKILL.md", plain.as_bytes())]});
    let index = index.to_string();
    let server = Server::start(move |asked: &ReceivedRequest| {
        if asked.path() == "/SKILL.md" { Answer::ok(plain.as_bytes()) } else { Answer::ok(index.as_bytes()) }
    })
    .await;
    let place = Place::new().await;
    let asked = request(HubKind::WellKnown, &server.url(), None, None);
    let fetched = place.fetched(&asked).await;
    assert_eq!(told(&fetched), "plain (plain): SKILL.md");
    let again = place.ask(&asked, Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Unchanged));
    assert_eq!(server.asked().len(), 3);
    let other = Server::start(|_| Answer::ok("{\"version\": \"0.2.0\", \"skills\": []}")).await;
    let failure = place.failure(&request(HubKind::WellKnown, &other.url(), None, None)).await;
    assert_eq!(failure.kind, HubFailureKind::Content, "{failure}");
    assert!(failure.message.contains("another version"), "{failure}");
}

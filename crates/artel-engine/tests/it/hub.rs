//! Hubs, fetched for real: with git from folders and over HTTP, from a stand-in of GitHub, from a site. All on this
//! machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use artel_catalog::FileTree as _;
use artel_catalog::hub::{CredentialsRef, Fetched, HostRules, Revision};
use artel_engine::hub::{
    HubFailure, HubFailureKind, HubFetcher, HubFetcherConfig, HubOutcome, HubProgress, HubRequest,
    HubSecrets, HubToken,
};
use artel_model::catalog::HubKind;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::hub_server::{Answer, Repository, Server, git_server};
use crate::start::launcher;

pub(crate) const TOKEN: &str = "s3cret-t0ken-of-a-hub";
pub(crate) const VARIABLE: &str = "ARTEL_HUB_TOKEN_TEST";

/// Variables of a test.
pub(crate) struct Secrets(pub(crate) BTreeMap<&'static str, &'static str>);

impl HubSecrets for Secrets {
    fn secret(&self, variable: &CredentialsRef) -> Option<HubToken> {
        self.0.get(variable.as_str()).and_then(|text| HubToken::new(text))
    }
}

/// A fetcher with a folder of its own.
pub(crate) struct Place {
    pub(crate) fetcher: HubFetcher,
    folder: TempDir,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Makes a fetcher that may use this machine, with changes to its configuration.
    pub(crate) async fn with(change: impl FnOnce(&mut HubFetcherConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let mut config = HubFetcherConfig::new(git_program(), path.join("work"));
        config.hosts = HostRules {
            hosts: vec!["127.0.0.1".parse().unwrap()],
            allows_file: true,
            allows_loopback_http: true,
        };
        change(&mut config);
        Self { fetcher: HubFetcher::new(launcher().await, config).unwrap(), folder }
    }

    pub(crate) fn path(&self, inside: &str) -> Utf8PathBuf {
        let root = Utf8Path::from_path(self.folder.path()).unwrap().canonicalize_utf8().unwrap();
        root.join(inside)
    }

    pub(crate) async fn ask(
        &self,
        asked: &HubRequest,
        known: Option<&Revision>,
    ) -> Result<HubOutcome, HubFailure> {
        let secrets = Secrets([(VARIABLE, TOKEN)].into());
        let outcome = self.fetcher.fetch(asked, known, &secrets, &|_| {}).await;
        let left = std::fs::read_dir(&self.fetcher.config().work_folder).map_or(0, Iterator::count);
        assert_eq!(left, 0, "a fetch leaves nothing behind");
        if let Err(failure) = &outcome {
            assert!(!failure.message.contains(TOKEN), "{failure}");
            assert!(failure.message.chars().count() <= 500);
        }
        outcome
    }

    pub(crate) async fn fetched(&self, asked: &HubRequest) -> Fetched {
        match self.ask(asked, None).await.unwrap() {
            HubOutcome::Fetched(fetched) => fetched,
            HubOutcome::Unchanged => panic!("nothing was known"),
        }
    }

    pub(crate) async fn failure(&self, asked: &HubRequest) -> HubFailure {
        self.ask(asked, None).await.expect_err("it fails")
    }
}

fn git_program() -> Utf8PathBuf {
    let places = ["/usr/local/bin/git", "/usr/bin/git"];
    places.iter().map(Utf8PathBuf::from).find(|path| path.exists()).expect("git is installed")
}

pub(crate) fn request(
    kind: HubKind,
    location: &str,
    reference: Option<&str>,
    token: Option<&str>,
) -> HubRequest {
    HubRequest::parse(kind, location, reference, &[], token).unwrap()
}

pub(crate) fn git(location: &str) -> HubRequest {
    request(HubKind::Git, location, None, None)
}

pub(crate) fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n")
}

/// Writes what was fetched: the skills with their files, then what is said about the rest.
pub(crate) fn told(fetched: &Fetched) -> String {
    let folders = fetched.folders.iter().map(|folder| {
        let files = folder.tree.listing().files;
        let mark = |file: &artel_catalog::FileEntry| {
            format!(" {}{}", file.path, if file.is_executable { "*" } else { "" })
        };
        format!("{} ({}):{}", folder.path, folder.name, files.iter().map(mark).collect::<String>())
    });
    folders.chain(fetched.notes()).collect::<Vec<_>>().join("\n")
}

fn repository(place: &Place) -> Repository {
    let repository = Repository::new(place.path("served/skills"));
    let (pdf, inner) = (skill("pdf"), skill("inner"));
    let files = [
        ("README.md", "Skills."),
        ("pdf/SKILL.md", pdf.as_str()),
        ("pdf/scripts/run.sh", "#!/bin/sh\n"),
        ("pdf/inner/SKILL.md", inner.as_str()),
        ("pdf/inner/a b.txt", "text"),
        ("broken/skill.json", "{"),
    ];
    std::os::unix::fs::symlink("/etc/passwd", repository.path.join("link")).unwrap();
    repository.commit(&files);
    repository.git(&["update-index", "--chmod=+x", "pdf/scripts/run.sh"]);
    let module = format!("160000,{},module", "1".repeat(40));
    repository.git(&["update-index", "--add", "--cacheinfo", &module]);
    repository.git(&["commit", "--quiet", "--message", "more"]);
    repository
}

#[tokio::test]
async fn a_repository_in_a_folder() {
    let place = Place::new().await;
    let repository = repository(&place);
    let url = format!("file://{}", repository.path);
    let fetched = place.fetched(&git(&url)).await;
    let broken = "the skill in `broken` is skipped: ";
    let text = told(&fetched);
    let (told, reason) = text.split_once(broken).unwrap();
    assert!(!reason.is_empty());
    insta::assert_snapshot!(told.trim(), @r"
    pdf (pdf): SKILL.md scripts/run.sh*
    pdf/inner (inner): SKILL.md a b.txt
    `link` is a link; it is not followed
    `module` is a submodule; it is not followed
    ");
    assert_eq!(fetched.revision.as_str(), repository.git(&["rev-parse", "HEAD"]));
    assert_eq!(fetched.root_name, "skills");
    let again = place.ask(&git(&url), Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Unchanged));
    repository.commit(&[("pdf/more.txt", "more")]);
    let HubOutcome::Fetched(changed) = place.ask(&git(&url), Some(&fetched.revision)).await.unwrap() else {
        panic!("the commit is another one")
    };
    assert!(changed.folders[0].tree.listing().file("more.txt").is_some());
}

#[tokio::test]
async fn branches_tags_and_commits() {
    let place = Place::new().await;
    let repository = Repository::new(place.path("served/r"));
    let first = repository.commit(&[("a/SKILL.md", &skill("a"))]);
    repository.git(&["tag", "--annotate", "--message", "one", "v1"]);
    repository.git(&["branch", "old/one"]);
    let second = repository.commit(&[("b/SKILL.md", &skill("b"))]);
    let url = format!("file://{}", repository.path);
    for (reference, expected) in [
        (None, &second),
        (Some("main"), &second),
        (Some("v1"), &first),
        (Some("refs/tags/v1"), &first),
        (Some("old/one"), &first),
        (Some(first.as_str()), &first),
    ] {
        let asked = request(HubKind::Git, &url, reference, None);
        let fetched = place.fetched(&asked).await;
        assert_eq!(fetched.revision.as_str(), expected, "{reference:?}");
        let again = place.ask(&asked, Some(&fetched.revision)).await.unwrap();
        assert!(matches!(again, HubOutcome::Unchanged), "{reference:?}");
    }
    let failure = place.failure(&request(HubKind::Git, &url, Some("gone"), None)).await;
    assert_eq!(failure.kind, HubFailureKind::NotFound);
    assert!(failure.message.contains("no branch or tag `gone`"), "{failure}");
    let paths = ["b".to_owned()];
    let some = HubRequest::parse(HubKind::Git, &url, None, &paths, None).unwrap();
    assert_eq!(told(&place.fetched(&some).await), "b (b): SKILL.md");
}

#[tokio::test]
async fn repositories_that_are_not_there_or_vanish() {
    let place = Place::new().await;
    let repository = Repository::new(place.path("served/r"));
    let url = format!("file://{}", repository.path);
    // Nothing was ever committed.
    assert_eq!(place.failure(&git(&url)).await.kind, HubFailureKind::NotFound);
    repository.commit(&[("a/SKILL.md", &skill("a"))]);
    place.fetched(&git(&url)).await;
    artel_engine::remove_folder(&repository.path).unwrap();
    let failure = place.failure(&git(&url)).await;
    assert_eq!(failure.kind, HubFailureKind::NotFound, "{failure}");
    let closed = Place::with(|config| config.hosts = HostRules::default()).await;
    assert_eq!(closed.failure(&git(&url)).await.kind, HubFailureKind::NotAllowed);
    let ssh = Place::with(|config| config.hosts.hosts.push("git.example.com".parse().unwrap())).await;
    let failure = ssh.failure(&git("git@127.0.0.1:a/b.git")).await;
    assert_eq!(failure.kind, HubFailureKind::NotAllowed, "{failure}");
    let missing = Place::with(|config| config.git = "/nowhere/git".into()).await;
    let failure = missing.failure(&git("file:///nowhere")).await;
    assert_eq!(failure.kind, HubFailureKind::Machine, "{failure}");
}

#[tokio::test]
async fn a_repository_over_http_with_a_token() {
    let place = Place::new().await;
    let repository = repository(&place);
    let root = place.path("served");
    let expected = HubToken::new(TOKEN).map(|_| "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXQwa2VuLW9mLWEtaHVi");
    let server = Server::start(move |asked| {
        if asked.header("authorization") == expected {
            return git_server(&root, asked);
        }
        let challenge = ("www-authenticate".to_owned(), "Basic realm=\"hub\"".to_owned());
        Answer::Said(401, vec![challenge], Vec::new())
    })
    .await;
    let url = format!("{}/skills/.git", server.url());
    let with = |token| request(HubKind::Git, &url, None, token);
    let fetched = place.fetched(&with(Some(VARIABLE))).await;
    assert_eq!(fetched.folders.len(), 2);
    assert_eq!(fetched.revision.as_str(), repository.git(&["rev-parse", "HEAD"]));
    let before = server.asked().len();
    let again = place.ask(&with(Some(VARIABLE)), Some(&fetched.revision)).await.unwrap();
    assert!(matches!(again, HubOutcome::Unchanged));
    assert!(server.asked().len() - before <= 2, "nothing is fetched again");

    let failure = place.failure(&with(None)).await;
    assert_eq!(failure.kind, HubFailureKind::Credentials, "{failure}");
    let failure = place.failure(&with(Some("ARTEL_HUB_TOKEN_OTHER"))).await;
    assert_eq!(failure.kind, HubFailureKind::Credentials);
    assert!(failure.message.contains("ARTEL_HUB_TOKEN_OTHER"), "{failure}");
    let wrong = Secrets([(VARIABLE, "wr0ng-t0ken")].into());
    let failure = place.fetcher.fetch(&with(Some(VARIABLE)), None, &wrong, &|_| {}).await.unwrap_err();
    assert_eq!(failure.kind, HubFailureKind::Credentials, "{failure}");
    assert!(!failure.message.contains("wr0ng-t0ken"), "{failure}");
}

#[tokio::test]
async fn git_goes_nowhere_else() {
    let place = Place::new().await;
    repository(&place);
    let root = place.path("served");
    let inner = Server::start(move |asked| git_server(&root, asked)).await;
    let there = inner.url();
    let outer = Server::start(move |asked| Answer::redirect(&format!("{there}{}", asked.target))).await;
    let failure = place.failure(&git(&format!("{}/skills/.git", outer.url()))).await;
    assert_eq!(failure.kind, HubFailureKind::Unreachable, "{failure}");
    assert!(inner.asked().is_empty());
    let failure = place.failure(&git("https://other.example.com/a.git")).await;
    assert_eq!(failure.kind, HubFailureKind::NotAllowed, "{failure}");
    // A pattern allows names, not what they lead to.
    let wide = Place::with(|config| config.hosts.hosts = vec!["*".parse().unwrap()]).await;
    for location in ["https://localhost/a.git", "https://127.0.0.1/a.git", "https://169.254.169.254/a.git"] {
        let failure = wide.failure(&git(location)).await;
        assert_eq!(failure.kind, HubFailureKind::NotAllowed, "{failure}");
        assert!(failure.message.contains("which hubs may not lead to"), "{failure}");
    }
}

#[tokio::test]
async fn a_server_that_stands_still_is_given_up() {
    let place = Place::with(|config| config.deadline_ms = 300).await;
    let server = Server::start(|_| Answer::Stall).await;
    for asked in
        [git(&format!("{}/r.git", server.url())), request(HubKind::WellKnown, &server.url(), None, None)]
    {
        let failure = place.failure(&asked).await;
        assert_eq!(failure.kind, HubFailureKind::Deadline, "{failure}");
        assert_eq!(failure.message, "the hub was not fetched within 300 ms");
    }
    let short = Server::start(|_| Answer::BreakOff).await;
    let place = Place::new().await;
    for asked in
        [git(&format!("{}/r.git", short.url())), request(HubKind::WellKnown, &short.url(), None, None)]
    {
        assert_eq!(place.failure(&asked).await.kind, HubFailureKind::Unreachable);
    }
}

#[tokio::test]
async fn a_repository_that_is_too_large_is_not_fetched() {
    let place = Place::with(|config| config.download_bytes_max = 200_000).await;
    let repository = Repository::new(place.path("served/r"));
    // What cannot be compressed: the digests of numbers.
    let noise: String = (0..40_000_u64)
        .map(|number| artel_catalog::file_hash(&number.to_be_bytes()).to_string().split_off(7))
        .collect();
    repository.commit(&[("a/SKILL.md", &skill("a")), ("a/noise.txt", &noise)]);
    let failure = place.failure(&git(&format!("file://{}", repository.path))).await;
    assert_eq!(failure.kind, HubFailureKind::Content, "{failure}");
    assert_eq!(failure.message, "the hub sends more than 200000 bytes");
}

#[tokio::test]
async fn a_repository_with_forbidden_names_is_refused_by_git_itself() {
    let place = Place::new().await;
    let repository = Repository::new(place.path("served/r"));
    repository.commit(&[("a/SKILL.md", &skill("a"))]);
    let blob =
        String::from_utf8(repository.git_bytes(&["hash-object", "-w", "--stdin"], b"#!/bin/sh\n")).unwrap();
    let inner = format!("100755 blob {}\tpost-checkout\n", blob.trim());
    let inner = String::from_utf8(repository.git_bytes(&["mktree"], inner.as_bytes())).unwrap();
    let tree = format!("040000 tree {}\t.git\n", inner.trim());
    let tree = String::from_utf8(repository.git_bytes(&["mktree"], tree.as_bytes())).unwrap();
    let commit = repository.git(&["commit-tree", "-m", "hostile", tree.trim()]);
    repository.git(&["update-ref", "refs/heads/main", &commit]);
    let failure = place.failure(&git(&format!("file://{}", repository.path))).await;
    assert_eq!(failure.kind, HubFailureKind::Unreachable, "{failure}");
    assert!(failure.message.contains("hasDotgit"), "{failure}");
}

#[tokio::test]
async fn a_crawl_shows_what_a_hub_would_give_and_how_far_it_is() {
    let place = Place::new().await;
    let repository = repository(&place);
    let steps = Mutex::new(Vec::new());
    let secrets = Secrets(BTreeMap::new());
    let asked = git(&format!("file://{}", repository.path));
    let listener = |step| steps.lock().unwrap().push(step);
    let crawl = place.fetcher.crawl(&asked, &secrets, &listener);
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let preview = is_send(crawl).await;
    assert_eq!(preview.paths, ["pdf", "pdf/inner"]);
    assert_eq!(
        (preview.skills_preview[0].name.as_str(), preview.skills_preview[0].ancillary_file_count),
        ("pdf", 1)
    );
    assert_eq!(preview.skills_preview[1].description, "Does inner.");
    assert_eq!((preview.warnings.len(), preview.error), (3, None));
    assert_eq!(
        *steps.lock().unwrap(),
        [
            HubProgress::Resolving,
            HubProgress::Fetching { bytes: 0 },
            HubProgress::Reading { done: 0, total: 5 },
            HubProgress::Reading { done: 5, total: 5 },
            HubProgress::Done { skills: 2 },
        ]
    );
    let nowhere = place.fetcher.crawl(&git("file:///nowhere/at/all"), &secrets, &|_| {}).await;
    assert!(nowhere.paths.is_empty() && nowhere.error.is_some());
}

//! Any git repository: what its branch points to, one shallow fetch of that commit into a bare repository, and its files
//! read object by object. Nothing is ever checked out, so no link, hook or attribute of it comes to life.

use artel_catalog::hub::{Census, EntryKind, GitReference, GitRemote, Revision, Selection};
use camino::Utf8Path;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe;

use super::content::look_into;
use super::error::HubError;
use super::fetcher::{Content, Fetch, HubFetcher};
use super::git_output::{RemoteReference, candidates, find_reference, object_size, tree_line};
use super::git_program::{GitCall, GitProgram};
use super::progress::HubProgress;
use crate::process::{ExitStatus, Limit};
use crate::program::{Ended, read_capped, run};
use crate::quote::quote;

/// Bytes of git's short answers.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of one line of a list of files.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Characters of what git says that are quoted.
const SAID_CHARS_MAX: usize = 300;
/// What the commit is called in our own repository.
const OWN_NAME: &str = "refs/artel/head";
/// Files between two words about progress.
const PROGRESS_FILES: usize = 100;

impl HubFetcher {
    pub(super) async fn git(
        &self,
        fetch: &Fetch<'_>,
        remote: &GitRemote,
        folder: &Utf8Path,
    ) -> Result<Content, HubError> {
        let addresses = self.addresses(remote).await?;
        let call = GitCall { remote, addresses: &addresses, token: fetch.token, folder };
        let program = GitProgram::new(&self.config, &call)?;
        let git =
            Git { fetcher: self, program, url: remote.to_string(), repository: folder.join("repository") };
        let found = git.reference(fetch).await?;
        if fetch.is_known(&found.commit) {
            return Ok(None);
        }
        fetch.tell(HubProgress::Fetching { bytes: 0 });
        let commit = git.fetch(&found).await?;
        let (objects, selection) = git.list(fetch).await?;
        let gathered = git.read(fetch, &objects, selection).await?.finish();
        Ok(Some(look_into(commit, fetch.request, gathered).await?))
    }

    /// Finds the addresses of the host; none where there is no host, or where a proxy finds them.
    async fn addresses(&self, remote: &GitRemote) -> Result<Vec<std::net::IpAddr>, HubError> {
        let host = match remote {
            GitRemote::File(_) => return Ok(Vec::new()),
            GitRemote::Web(_) if self.web.has_proxy() => return Ok(Vec::new()),
            GitRemote::Web(place) => &place.host,
            GitRemote::Ssh(place) => &place.host,
        };
        let refused = || HubError::HostNotAllowed(host.to_string());
        let reach = self.config.hosts.reach(host).ok_or_else(refused)?;
        self.web.guard.resolve(host, reach).await
    }
}

/// One repository, and our own copy of one of its commits.
struct Git<'a> {
    fetcher: &'a HubFetcher,
    program: GitProgram,
    url: String,
    repository: camino::Utf8PathBuf,
}

impl Git<'_> {
    /// Asks what the branch points to. A commit is what it is.
    async fn reference(&self, fetch: &Fetch<'_>) -> Result<RemoteReference, HubError> {
        let reference = fetch.request.reference.as_ref();
        if let Some(commit) = reference.and_then(GitReference::commit) {
            return Ok(RemoteReference { name: commit.to_string(), commit });
        }
        let names = candidates(reference);
        let peeled: Vec<String> = names.iter().map(|name| format!("{name}^{{}}")).collect();
        let mut arguments = vec!["ls-remote", "--quiet", "--", &self.url];
        arguments.extend(names.iter().chain(&peeled).map(String::as_str));
        let output = self.ask(&arguments).await?;
        let wanted = reference.map_or("HEAD", |reference| reference.as_str());
        find_reference(&output, &names)
            .ok_or_else(|| HubError::NotFound(format!("no branch or tag `{wanted}`")))
    }

    /// Fetches one commit. The branch may have moved since, so what came is asked for.
    async fn fetch(&self, found: &RemoteReference) -> Result<Revision, HubError> {
        let format = if found.commit.as_str().len() == 64 { "sha256" } else { "sha1" };
        let format = format!("--object-format={format}");
        self.ask(&["init", "--quiet", "--bare", "--template=", &format, "--", self.repository.as_str()])
            .await?;
        let own = format!("--git-dir={}", self.repository);
        let refspec = format!("+{}:{OWN_NAME}", found.name);
        let arguments = [
            &own,
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--",
            &self.url,
            &refspec,
        ];
        self.ask(&arguments).await?;
        let name = format!("{OWN_NAME}^{{commit}}");
        let output = self.ask(&[&own, "rev-parse", "--verify", "--quiet", "--end-of-options", &name]).await?;
        let text = String::from_utf8_lossy(&output);
        text.trim().parse().map_err(|_| HubError::Answer("the branch points to no commit"))
    }

    /// Lists the files of the commit, and decides which are read.
    async fn list(&self, fetch: &Fetch<'_>) -> Result<(Vec<String>, Selection), HubError> {
        let own = format!("--git-dir={}", self.repository);
        let arguments = [&own, "ls-tree", "-r", "-z", "--long", "--full-tree", OWN_NAME];
        let census = Census::new(&fetch.request.include_paths, self.fetcher.config.limits);
        let request = self.program.request(&arguments);
        let hear = |stdout| read_list(stdout, census);
        let ((objects, census), ended) = run(&self.fetcher.launcher, request, Vec::new(), hear).await?;
        self.check(&ended)?;
        Ok((objects, census.select()))
    }

    /// Reads the files that are wanted.
    async fn read(
        &self,
        fetch: &Fetch<'_>,
        objects: &[String],
        selection: Selection,
    ) -> Result<Selection, HubError> {
        let own = format!("--git-dir={}", self.repository);
        let wanted = selection.wanted();
        let names: Vec<&str> =
            wanted.iter().filter_map(|number| objects.get(*number)).map(String::as_str).collect();
        let input: String = names.iter().map(|name| format!("{name}\n")).collect();
        let request = self.program.request(&[&own, "cat-file", "--batch", "--buffer"]);
        let hear = |stdout| read_objects(stdout, &wanted, &names, selection, fetch);
        let (selection, ended) = run(&self.fetcher.launcher, request, input.into_bytes(), hear).await?;
        self.check(&ended)?;
        Ok(selection)
    }

    async fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, HubError> {
        let request = self.program.request(arguments);
        let hear = |stdout| read_capped::<HubError>(stdout, ANSWER_BYTES_MAX);
        let (output, ended) = run(&self.fetcher.launcher, request, Vec::new(), hear).await?;
        self.check(&ended)?;
        Ok(output)
    }

    fn check(&self, ended: &Ended) -> Result<(), HubError> {
        let bytes_max = self.fetcher.config.download_bytes_max;
        if ended.exit.is_success() {
            Ok(())
        } else if is_full(ended) || self.has_full_pack(bytes_max) {
            Err(HubError::TooLarge { bytes_max })
        } else {
            Err(told(ended))
        }
    }

    /// The program that receives is another than the one that was started: when it is killed for the size of its file,
    /// the file is all that tells.
    fn has_full_pack(&self, bytes_max: u64) -> bool {
        let Ok(entries) = std::fs::read_dir(self.repository.join("objects/pack")) else { return false };
        let mut sizes = entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()));
        sizes.any(|size| size >= bytes_max)
    }
}

fn is_full(ended: &Ended) -> bool {
    matches!(ended.exit.limit.map(|reached| reached.limit), Some(Limit::File | Limit::Folder))
}

/// Makes an error of how git ended. Its words are the same in every language, since it is told to speak one.
fn told(ended: &Ended) -> HubError {
    let stderr = ended.stderr.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| stderr.contains(word));
    let said = quote(&ended.stderr, SAID_CHARS_MAX);
    if says(&[
        "authentication failed",
        "could not read username",
        "returned error: 401",
        "returned error: 403",
    ]) || says(&["unable to get password", "permission denied (publickey", "host key verification failed"])
    {
        HubError::Refused(said)
    } else if says(&["not found", "does not exist", "couldn't find remote ref", "returned error: 404"])
        || says(&["does not appear to be a git repository", "no such file or directory", "not our ref"])
    {
        HubError::NotFound(said)
    } else {
        let end = match (ended.exit.limit, ended.exit.status) {
            (Some(reached), _) => reached.to_string(),
            (None, status @ (ExitStatus::Code(_) | ExitStatus::Signal(_) | ExitStatus::Lost)) => {
                status.to_string()
            }
        };
        HubError::Git { end, said }
    }
}

/// Reads a list of files; the number of each is its place in the list of objects.
async fn read_list<'a>(
    stdout: pipe::Receiver,
    mut census: Census<'a>,
) -> Result<(Vec<String>, Census<'a>), HubError> {
    let mut reader = BufReader::new(stdout).take(u64::MAX);
    let mut objects = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        reader.set_limit(LINE_BYTES_MAX as u64);
        let count = reader.read_until(0, &mut line).await.map_err(|_| broken())?;
        if count == 0 {
            return Ok((objects, census));
        }
        if line.pop() != Some(0) {
            return Err(broken());
        }
        let entry = tree_line(&line).ok_or_else(broken)?;
        let number = objects.len();
        match entry.kind {
            EntryKind::File { .. } => objects.push(entry.object.to_owned()),
            EntryKind::Folder | EntryKind::Link | EntryKind::Submodule | EntryKind::Special => {}
        }
        census.offer(number, entry.path, entry.kind)?;
    }
}

/// Reads objects as they were asked for: a line, the content, a newline.
async fn read_objects(
    stdout: pipe::Receiver,
    wanted: &[usize],
    names: &[&str],
    mut selection: Selection,
    fetch: &Fetch<'_>,
) -> Result<Selection, HubError> {
    let mut reader = BufReader::new(stdout).take(u64::MAX);
    let total = wanted.len();
    for (done, (number, name)) in wanted.iter().zip(names).enumerate() {
        if done % PROGRESS_FILES == 0 {
            fetch.tell(HubProgress::Reading { done, total });
        }
        let mut line = Vec::new();
        reader.set_limit(LINE_BYTES_MAX as u64);
        reader.read_until(b'\n', &mut line).await.map_err(|_| broken())?;
        let size = object_size(&line, name).filter(|size| Some(*size) == selection.size_of(*number));
        let size = size.ok_or_else(broken)?;
        let mut content = Vec::new();
        reader.set_limit(size + 1);
        reader.read_to_end(&mut content).await.map_err(|_| broken())?;
        if content.pop() != Some(b'\n') || content.len() as u64 != size {
            return Err(broken());
        }
        selection.add(*number, content);
    }
    fetch.tell(HubProgress::Reading { done: total, total });
    Ok(selection)
}

fn broken() -> HubError {
    HubError::Answer("git's answer is cut off or not as it should be")
}

//! Explains a failure that the sandbox or a limit has probably caused, from what a process said before it ended: one
//! sentence, with the key of `skill.json` that would ask for what was missing. Reads texts only; when the texts do not
//! prove it, the sentence says "probably".

use camino::{Utf8Path, Utf8PathBuf};

use super::exit::{Exit, ExitStatus};
use super::places;
use super::request::{Network, Profile};

/// Lines from the end that are looked at.
const LINES_MAX: usize = 200;
/// Lines before a message that may say what was being done: the frames of a stack.
const CONTEXT_LINES: usize = 6;

/// Returns what the sandbox forbade, if the end of a failed process looks like it.
pub fn explain_denial(stderr_tail: &str, exit: &Exit, profile: &Profile) -> Option<String> {
    if exit.is_success() {
        return None;
    }
    let by_end =
        exit.limit.map(|limit| limit.to_string()).or_else(|| by_status(exit.status).map(str::to_owned));
    by_end.or_else(|| {
        let lines: Vec<&str> = stderr_tail.lines().collect();
        let last = lines.len().saturating_sub(LINES_MAX)..lines.len();
        last.rev().find_map(|index| by_line(&Said::at(&lines, index), profile))
    })
}

fn by_status(status: ExitStatus) -> Option<&'static str> {
    /// What a shell adds to the number of the signal that ended its last command.
    const SHELL: i32 = 128;
    const CPU: i32 = SHELL + libc::SIGXCPU;
    const FILE: i32 = SHELL + libc::SIGXFSZ;
    const CALL: i32 = SHELL + libc::SIGSYS;
    match status {
        ExitStatus::Signal(libc::SIGSYS) | ExitStatus::Code(CALL) => Some(
            "the sandbox ended it for a system call of another architecture: 32-bit programs do not run in it",
        ),
        ExitStatus::Signal(libc::SIGXCPU) | ExitStatus::Code(CPU) => Some(CPU_TIME),
        ExitStatus::Signal(libc::SIGXFSZ) | ExitStatus::Code(FILE) => Some(FILE_SIZE),
        ExitStatus::Signal(_) | ExitStatus::Code(_) | ExitStatus::Lost => None,
    }
}

/// A line and what came just before it, in lower case, and the line as it was written.
struct Said<'a> {
    line: &'a str,
    lower: String,
    context: String,
}

impl<'a> Said<'a> {
    fn at(lines: &[&'a str], index: usize) -> Self {
        let line = lines[index];
        let before = lines[index.saturating_sub(CONTEXT_LINES)..=index].join("\n");
        Self { line, lower: line.to_lowercase(), context: before.to_lowercase() }
    }

    fn line_has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.contains(word))
    }

    fn context_has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.context.contains(word))
    }
}

const MEMORY: &str = "it probably reached its limit of memory";
const CPU_TIME: &str = "it reached its limit of processor time";
const FILE_SIZE: &str = "it reached the limit of the size of a file";
const PROCESSES: &str = "it probably reached its limit of processes and threads";
const OPEN_FILES: &str = "it reached its limit of open files";
const SHARED_MEMORY: &str = "the sandbox does not share memory and semaphores in /dev/shm between programs; a skill asks \
                             for it with \"write\": [\"/dev/shm\"] in `sandbox` of skill.json";
const LEAVING: &str = "the sandbox keeps every process in the group of its script, so it can start no session or group \
                       of its own";
const UNIX_SOCKET: &str =
    "the sandbox does not let it reach unix sockets, which are other programs of this machine";
const NETWORK: &str = "the sandbox has no network for it; a skill asks for it with \"network\": true in `sandbox` of \
                       skill.json";
const NETWORK_PROBABLY: &str = "it probably wanted the network, which the sandbox does not have for it; a skill asks for \
                                it with \"network\": true in `sandbox` of skill.json";
const CALL: &str = "the sandbox probably refused a system call: it allows no network unless a skill asks for \
                    it in `sandbox` of skill.json, no tracing, mounting, namespaces, kernel features or signals to \
                    other programs";

/// Texts of limits, whatever the program.
const LIMITS: &[(&[&str], &str)] = &[
    (
        &[
            "memoryerror",
            "cannot allocate memory",
            "enomem",
            "heap out of memory",
            "std::bad_alloc",
            "memory allocation of",
            "outofmemoryerror",
            "virtual memory exhausted",
        ],
        MEMORY,
    ),
    (&["file too large", "efbig", "file size limit exceeded"], FILE_SIZE),
    (&["cpu time limit exceeded"], CPU_TIME),
    (&["too many open files", "emfile"], OPEN_FILES),
    (&["can't start new thread", "fork: retry", "fork: resource temporarily unavailable"], PROCESSES),
];

const NO_NAME_FOUND: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "unable to resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "eai_again",
    "enotfound",
    "no such host",
    "couldn't connect to server",
    "failed to connect to",
    "network is unreachable",
];

fn by_line(said: &Said<'_>, profile: &Profile) -> Option<String> {
    let limit = LIMITS.iter().find(|(words, _)| said.line_has(words)).map(|(_, sentence)| *sentence);
    if let Some(sentence) = limit {
        return Some(sentence.to_owned());
    }
    if said.line_has(&["resource temporarily unavailable", "eagain"]) && said.context_has(&["fork", "thread"])
    {
        return Some(PROCESSES.to_owned());
    }
    if said.line_has(NO_NAME_FOUND) {
        return (profile.network == Network::Denied).then(|| NETWORK_PROBABLY.to_owned());
    }
    if said.line_has(&["operation not permitted", "eperm"]) {
        return by_refused_call(said, profile);
    }
    if said.line_has(&["permission denied", "eacces"]) {
        return by_refused_path(said, profile);
    }
    by_missing_variable(said)
}

fn by_refused_call(said: &Said<'_>, profile: &Profile) -> Option<String> {
    let sentence =
        if said.context_has(&["setsid", "setpgid", "start_new_session", "process_group", "job control"]) {
            LEAVING
        } else if said.context_has(&["af_unix", "unix socket", ".sock:", ".sock'", ".sock\"", ".sock "]) {
            UNIX_SOCKET
        } else if said.context_has(&["socket", "connect", "bind", "connection"]) {
            match profile.network {
                Network::Denied => NETWORK,
                Network::Allowed => UNIX_SOCKET,
            }
        } else {
            CALL
        };
    Some(sentence.to_owned())
}

fn by_refused_path(said: &Said<'_>, profile: &Profile) -> Option<String> {
    let Some(path) = absolute_path(said.line) else {
        if said.context_has(&["semlock", "shared_memory", "shm_open", "sem_open"]) {
            return Some(SHARED_MEMORY.to_owned());
        }
        return Some(
            "the sandbox probably does not let it reach that file: only system folders, its skill and its run folder"
                .to_owned(),
        );
    };
    match reach(&path, profile) {
        Reach::Written => None,
        Reach::Shared => Some(SHARED_MEMORY.to_owned()),
        Reach::System => Some(format!("the sandbox lets it read `{path}` at most, as all of the system")),
        Reach::Read => Some(format!(
            "the sandbox lets it only read `{path}`; a skill asks to write elsewhere with \"write\" in `sandbox` of \
             skill.json, and writes into its run folder and its `data/` without asking"
        )),
        Reach::Nothing => Some(format!(
            "the sandbox does not let it reach `{path}`: only system folders, its skill and its run folder; a skill \
             asks for more with \"read\" or \"write\" in `sandbox` of skill.json"
        )),
    }
}

fn by_missing_variable(said: &Said<'_>) -> Option<String> {
    let unbound = said.lower.ends_with(": unbound variable");
    let not_in_environment =
        said.lower.starts_with("keyerror: ") && said.context_has(&["os.environ", "os.py"]);
    (unbound || not_in_environment).then(|| {
        "it probably wanted a variable that its environment does not have; a skill asks for variables with \"env\" in \
         `sandbox` of skill.json"
            .to_owned()
    })
}

/// What the sandbox lets a process do with a path.
enum Reach {
    Written,
    Read,
    System,
    Shared,
    Nothing,
}

fn reach(path: &Utf8Path, profile: &Profile) -> Reach {
    let within = |folders: &[Utf8PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
    if within(&profile.write) || within(&profile.write_shared) {
        Reach::Written
    } else if path.starts_with("/dev/shm") {
        Reach::Shared
    } else if within(&profile.execute) || within(&profile.read) {
        Reach::Read
    } else if places::is_of_the_system(path) {
        Reach::System
    } else {
        Reach::Nothing
    }
}

/// Returns the absolute path in a message: in quotes, or as a word that a colon, a comma or a space ends.
fn absolute_path(line: &str) -> Option<Utf8PathBuf> {
    const QUOTES: [(&str, char); 5] =
        [("'/", '\''), ("\"/", '"'), ("`/", '`'), ("\u{2018}/", '\u{2019}'), ("`/", '\'')];
    for (open, close) in QUOTES {
        let Some(start) = line.find(open).map(|at| at + open.len() - 1) else { continue };
        if let Some(length) = line[start..].find(close) {
            return Some(Utf8PathBuf::from(&line[start..start + length]));
        }
    }
    let words = line.split([' ', ':', ',', '(', ')', '=']);
    // The first words of a message name the program that speaks.
    let mut paths = words.filter(|word| word.starts_with('/') && word.len() > 1);
    paths.next_back().map(Utf8PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::exit::{Limit, LimitReached, Usage};
    use crate::process::request::Strictness;

    fn profile(network: Network) -> Profile {
        Profile {
            read: vec!["/srv/shared".into()],
            execute: vec!["/skills/mine".into()],
            write: vec!["/runs/1".into()],
            write_shared: Vec::new(),
            network,
            strictness: Strictness::Enforce,
        }
    }

    fn ended(status: ExitStatus) -> Exit {
        Exit { status, usage: Usage::default(), limit: None }
    }

    #[track_caller]
    fn check(stderr: &str, expected: Option<&str>) {
        let told = explain_denial(stderr, &ended(ExitStatus::Code(1)), &profile(Network::Denied));
        match (told, expected) {
            (None, None) => {}
            (Some(told), Some(expected)) => assert!(told.contains(expected), "{stderr}\n{told}"),
            (told, expected) => panic!("{stderr}\n{told:?}, not {expected:?}"),
        }
    }

    #[test]
    fn paths_out_of_reach_are_named() {
        let outside = "does not let it reach `/home/me/.ssh/id`";
        for line in [
            "PermissionError: [Errno 13] Permission denied: '/home/me/.ssh/id'",
            "cat: /home/me/.ssh/id: Permission denied",
            "bash: line 1: /home/me/.ssh/id: Permission denied",
            "/bin/bash: /home/me/.ssh/id: Permission denied",
            "ls: cannot open directory '/home/me/.ssh/id': Permission denied",
            "ls: cannot open directory \u{2018}/home/me/.ssh/id\u{2019}: Permission denied",
            "Error: EACCES: permission denied, open '/home/me/.ssh/id'",
            "open /home/me/.ssh/id: permission denied",
            "Error: Permission denied (os error 13): \"/home/me/.ssh/id\"",
        ] {
            check(line, Some(outside));
        }
    }

    #[test]
    fn it_is_said_what_may_be_done_with_a_path() {
        check("touch: cannot touch '/skills/mine/x': Permission denied", Some("only read `/skills/mine/x`"));
        check("touch: cannot touch '/srv/shared/x': Permission denied", Some("only read `/srv/shared/x`"));
        check("touch: cannot touch '/usr/lib/x': Permission denied", Some("read `/usr/lib/x` at most"));
        check("touch: cannot touch '/skills/other/x': Permission denied", Some("\"read\" or \"write\""));
        check("cat: /runs/1/x: Permission denied", None);
        check("cat: x: Permission denied", Some("probably does not let it reach that file"));
    }

    #[test]
    fn the_last_thing_said_counts() {
        check("cat: /a: Permission denied\nMemoryError", Some("memory"));
        check("MemoryError\ncat: /a: Permission denied\nTraceback ends", Some("`/a`"));
    }

    #[test]
    fn the_network_is_recognised() {
        for line in [
            "curl: (6) Could not resolve host: example.org",
            "wget: unable to resolve host address 'example.org'",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "Error: getaddrinfo EAI_AGAIN example.org",
        ] {
            check(line, Some("probably wanted the network"));
            let allowed = explain_denial(line, &ended(ExitStatus::Code(1)), &profile(Network::Allowed));
            assert_eq!(allowed, None, "{line}");
        }
        let python = "  File \"/usr/lib/python3.11/socket.py\", line 233, in __init__\n    _socket.socket.__init__(self)\n\
                      PermissionError: [Errno 1] Operation not permitted";
        check(python, Some("the sandbox has no network for it"));
        check("Error: connect EPERM 127.0.0.1:80", Some("the sandbox has no network for it"));
        check("dial unix /run/docker.sock: socket: operation not permitted", Some("unix sockets"));
    }

    #[test]
    fn refused_calls_are_recognised() {
        check("mount: /mnt: Operation not permitted", Some("probably refused a system call"));
        check("os.setsid()\nPermissionError: [Errno 1] Operation not permitted", Some("session or group"));
        let pool = "    sl = self._semlock = _multiprocessing.SemLock(\nPermissionError: [Errno 13] Permission denied";
        check(pool, Some("/dev/shm"));
        check(
            "PermissionError: [Errno 13] Permission denied: '/dev/shm/x'",
            Some("\"write\": [\"/dev/shm\"]"),
        );
    }

    #[test]
    fn limits_are_recognised() {
        check("MemoryError", Some("limit of memory"));
        check("FATAL ERROR: Reached heap limit - JavaScript heap out of memory", Some("limit of memory"));
        check("OSError: [Errno 27] File too large", Some("size of a file"));
        check("bash: fork: retry: Resource temporarily unavailable", Some("processes and threads"));
        check("RuntimeError: can't start new thread", Some("processes and threads"));
        check("read: Resource temporarily unavailable", None);
        check("OSError: [Errno 24] Too many open files: '/dev/null'", Some("open files"));
    }

    #[test]
    fn variables_are_recognised() {
        check("script: line 3: TOKEN: unbound variable", Some("\"env\""));
        check("    token = os.environ['TOKEN']\nKeyError: 'TOKEN'", Some("\"env\""));
        check("    token = settings['TOKEN']\nKeyError: 'TOKEN'", None);
    }

    #[test]
    fn the_end_itself_can_tell() {
        let told = |status| explain_denial("", &ended(status), &profile(Network::Denied));
        assert!(told(ExitStatus::Signal(libc::SIGSYS)).unwrap().contains("32-bit"));
        assert!(told(ExitStatus::Signal(libc::SIGXFSZ)).unwrap().contains("size of a file"));
        assert!(told(ExitStatus::Code(152)).unwrap().contains("processor time"));
        assert_eq!(told(ExitStatus::Code(1)), None);
        let limit = Some(LimitReached { limit: Limit::Processes, allowed: 9 });
        let exit = Exit { limit, ..ended(ExitStatus::Signal(9)) };
        let told = explain_denial("MemoryError", &exit, &profile(Network::Denied)).unwrap();
        assert_eq!(told, "it started more than 9 processes and threads");
    }

    #[test]
    fn success_needs_no_explanation() {
        let exit = ended(ExitStatus::Code(0));
        assert_eq!(explain_denial("cat: /a: Permission denied", &exit, &profile(Network::Denied)), None);
    }
}

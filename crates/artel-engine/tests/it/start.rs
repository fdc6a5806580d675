//! How the tests start processes: a launcher, a request, and what came of it.

use std::path::Path;

use artel_engine::process::{
    ChildProcess, ClosedFiles, Exit, ExitStatus, Launcher, LauncherConfig, LauncherProgram, Network,
    ProcessLimits, ProcessMark, Profile, RunAs, Sandbox, SpawnRequest, Strictness,
};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// A process that has ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Checks that the process ended by itself with code 0, and returns what it wrote.
    #[track_caller]
    pub(crate) fn fine(&self) -> &str {
        assert_eq!(self.exit.status, ExitStatus::Code(0), "{self:?}");
        self.stdout.trim()
    }
}

/// A launcher, with the folders that a skill has.
pub(crate) struct Ground {
    pub(crate) launcher: Launcher,
    pub(crate) root: TempDir,
    pub(crate) run_as: RunAs,
}

/// Who runs a launcher.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum User {
    /// Who runs the tests.
    Own,
    /// An ordinary user, where root runs the tests.
    Ordinary,
    /// Root, whose processes run as a user of their own.
    RootForAnother,
}

/// The number of the ordinary user and of its group.
const ORDINARY: u32 = 65534;
/// The number of the user that processes of root run as, and of its group.
pub(crate) const ANOTHER: u32 = 1_900_000_001;

impl User {
    /// Returns the users that a promise about the sandbox has to be kept for.
    #[expect(clippy::print_stderr, reason = "says what a run of the tests did not check")]
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() {
            return vec![Self::Own, Self::Ordinary, Self::RootForAnother];
        }
        eprintln!("only root can start a launcher for another user: checked for this user only");
        vec![Self::Own]
    }

    /// Returns the number of the user that processes in the sandbox have, where that is not who runs the tests.
    pub(crate) fn number(self) -> Option<u32> {
        match self {
            Self::Own => None,
            Self::Ordinary => Some(ORDINARY),
            Self::RootForAnother => Some(ANOTHER),
        }
    }

    /// Returns a command as the user of processes in the sandbox.
    pub(crate) fn command(self, program: &str) -> Vec<String> {
        let prefix = self.number().map(|number| {
            let (user, group) = (format!("--reuid={number}"), format!("--regid={number}"));
            ["/usr/bin/setpriv".to_owned(), user, group, "--clear-groups".to_owned()]
        });
        prefix.into_iter().flatten().chain([program.to_owned()]).collect()
    }
}

impl Ground {
    pub(crate) async fn new() -> Self {
        Self::of(User::Own).await
    }

    pub(crate) async fn of(user: User) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["", "skill", "run", "other-skill", "home", "artel"] {
            let path = root.path().join(folder);
            std::fs::create_dir_all(&path).expect("a folder");
            // A user of its own has its own folder, and of the others nothing.
            if user == User::Ordinary || user == User::RootForAnother && folder == "run" {
                std::os::unix::fs::chown(&path, user.number(), user.number()).expect("root may do so");
            }
        }
        let run_as = match user {
            User::Own | User::Ordinary => RunAs::Artel,
            User::RootForAnother => another(ANOTHER),
        };
        Self { launcher: launcher_of(user).await, root, run_as }
    }

    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.root.path()).expect("UTF-8").join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> Utf8PathBuf {
        let path = self.path(relative);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// What a skill without wishes gets.
    pub(crate) fn profile(&self) -> Profile {
        Profile {
            read: Vec::new(),
            execute: vec![self.path("skill")],
            write: vec![self.path("run")],
            write_shared: Vec::new(),
            network: Network::Denied,
            strictness: Strictness::Enforce,
        }
    }

    pub(crate) fn request(&self, program: &str, arguments: &[&str]) -> SpawnRequest {
        SpawnRequest {
            program: program.into(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            cwd: self.path("run"),
            environment: vec![
                ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                ("HOME".to_owned(), self.path("run").into_string()),
                ("TMPDIR".to_owned(), self.path("run").into_string()),
            ],
            run_as: self.run_as,
            sandbox: Sandbox::On(self.profile()),
            limits: limits(),
        }
    }

    /// Runs a Python script in the sandbox of a skill without wishes.
    pub(crate) async fn python(&self, script: &str) -> Ended {
        self.run(self.request(PYTHON, &["-c", script])).await
    }

    /// Runs a Python script in the sandbox, with the network.
    pub(crate) async fn python_with_network(&self, script: &str) -> Ended {
        let mut request = self.request(PYTHON, &["-c", script]);
        request.sandbox = Sandbox::On(Profile { network: Network::Allowed, ..self.profile() });
        self.run(request).await
    }

    pub(crate) async fn bash(&self, script: &str) -> Ended {
        self.run(self.request("/bin/bash", &["-c", script])).await
    }

    /// Runs a process to its end and releases it.
    pub(crate) async fn run(&self, request: SpawnRequest) -> Ended {
        let child = self.launcher.spawn(request).await.expect("the process starts");
        finish(child).await
    }
}

/// Reads all of a process, waits for its end, and releases it.
pub(crate) async fn finish(child: ChildProcess) -> Ended {
    let ChildProcess { stdin, mut stdout, mut stderr, mut group, .. } = child;
    drop(stdin);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let exit = async {
        let exit = group.exited().await;
        group.release().await;
        exit
    };
    let (exit, read, read_errors) =
        tokio::join!(exit, stdout.read_to_end(&mut output), stderr.read_to_end(&mut errors));
    read.and(read_errors).expect("pipes can be read");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { exit, stdout: text(&output), stderr: text(&errors) }
}

pub(crate) async fn launcher() -> Launcher {
    launcher_of(User::Own).await
}

/// Starts a launcher whose processes carry a mark.
pub(crate) async fn launcher_with(mark: ProcessMark) -> Launcher {
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-launcher")).with_mark(mark);
    Launcher::start(LauncherConfig { program, guard: None }).await.expect("the launcher starts")
}

async fn launcher_of(user: User) -> Launcher {
    let own = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-launcher"));
    let launcher = env!("CARGO_BIN_EXE_artel-launcher");
    let command = match user {
        User::Own | User::RootForAnother => vec![launcher.to_owned()],
        User::Ordinary => user.command(launcher),
    };
    let mut command = command.into_iter();
    let path = command.next().expect("a command has a program").into();
    let program = LauncherProgram { path, arguments: command.chain(own.arguments).collect() };
    Launcher::start(LauncherConfig { program, guard: None }).await.expect("the launcher starts")
}

/// A user that root starts processes as.
pub(crate) fn another(user: u32) -> RunAs {
    RunAs::User { user, group: user, closed_files: ClosedFiles::Read }
}

pub(crate) fn limits() -> ProcessLimits {
    ProcessLimits {
        cpu_s: 60,
        memory_bytes: 1 << 30,
        open_files: 256,
        processes: 64,
        file_bytes: 64 << 20,
        folder_bytes: 128 << 20,
    }
}

/// Returns whether a process exists, be it as a zombie.
pub(crate) fn exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits until a process that is not ours is gone.
pub(crate) async fn gone(pid: i32) {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else { return };
    let Ok(descriptor) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return;
    };
    let ended = tokio::task::spawn_blocking(move || {
        let mut events = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut events, None)
    });
    ended.await.expect("no panic").expect("the descriptor can be polled");
}

/// A program that is started without the launcher.
#[expect(clippy::disallowed_methods, reason = "what the launcher must not touch cannot be its child")]
pub(crate) fn outside(program: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    std::process::Command::new(program)
}

/// A variable of the test's own environment.
#[expect(clippy::disallowed_methods, reason = "a test in a process of its own is told so by a variable")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

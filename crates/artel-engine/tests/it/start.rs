//! How the tests start processes: a launcher, a request, and what came of it.

use std::path::Path;

use artel_engine::process::{
    ChildProcess, Exit, ExitStatus, Launcher, LauncherConfig, LauncherProgram, Network, ProcessLimits,
    ProcessMark, Profile, Sandbox, SpawnRequest, Strictness,
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
}

/// Who runs a launcher.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum User {
    /// Who runs the tests.
    Own,
    /// An ordinary user, where root runs the tests.
    Ordinary,
}

/// The number of the ordinary user and of its group.
pub(crate) const ORDINARY: u32 = 65534;

impl User {
    /// Returns the users that a promise about the sandbox has to be kept for.
    #[expect(clippy::print_stderr, reason = "says what a run of the tests did not check")]
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() {
            return vec![Self::Own, Self::Ordinary];
        }
        eprintln!("only root can start a launcher for another user: checked for this user only");
        vec![Self::Own]
    }

    /// Returns a command as this user.
    pub(crate) fn command(self, program: &str) -> Vec<String> {
        let ordinary = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let prefix = match self {
            Self::Own => &[][..],
            Self::Ordinary => &ordinary[..],
        };
        prefix.iter().copied().chain([program]).map(str::to_owned).collect()
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
            if user == User::Ordinary {
                std::os::unix::fs::chown(&path, Some(ORDINARY), Some(ORDINARY)).expect("root may do so");
            }
        }
        Self { launcher: launcher_of(user).await, root }
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
    let mut command = user.command(env!("CARGO_BIN_EXE_artel-launcher")).into_iter();
    let path = command.next().expect("a command has a program").into();
    let program = LauncherProgram { path, arguments: command.chain(own.arguments).collect() };
    Launcher::start(LauncherConfig { program, guard: None }).await.expect("the launcher starts")
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

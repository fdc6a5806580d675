//! How the tests start processes: a launcher, a request, and what came of it.

use std::path::Path;

use artel_engine::process::{
    ChildProcess, Exit, ExitStatus, Launcher, LauncherConfig, LauncherProgram, Network, ProcessLimits,
    Profile, Sandbox, SpawnRequest, Strictness,
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

impl Ground {
    pub(crate) async fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["skill", "run", "other-skill", "home", "artel"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        Self { launcher: launcher().await, root }
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
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-launcher"));
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

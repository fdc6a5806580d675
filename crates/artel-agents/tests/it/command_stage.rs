//! How the tests let agents be programs: a stand-in for every client, which shows what it was given and misbehaves on request.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use artel_agents::{
    AfterWork, ClientHome, ClientNetwork, ClientUsers, CommandDriver, CommandDriverConfig, OwnCommands,
};
use artel_engine::SandboxMode;
use artel_engine::process::{LauncherProgram, ProcessLimits};
use artel_model::agent::{AgentEvent, AgentRecord};
use artel_model::id::AgentId;
use artel_store::Revision;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::workplace::{TestSkill, Workplace, driver, results};

/// What the stand-in does is the first word of its task; a port is where it says that it is there. Whoever holds the
/// connection open is still alive.
const STAND_IN: &str = r#"#!/usr/bin/python3
import json, os, signal, socket, subprocess, sys, time

task = sys.stdin.read()
words = (task or sys.argv[-1]).split()

def found(top):
    paths = []
    for folder, inner, leaves in os.walk(top):
        inner[:] = [name for name in inner if name != ".git"]
        paths += [os.path.relpath(os.path.join(folder, leaf), top) for leaf in leaves]
    return sorted(paths)

def texts(top):
    return {path: open(os.path.join(top, path)).read() for path in found(top)}

def arrive():
    line = socket.create_connection(("127.0.0.1", int(words[1])))
    line.sendall(f"{os.getpid()}\n".encode())
    return line

def leave_a_child(line, start_new_session):
    line.set_inheritable(True)
    try:
        subprocess.Popen(["/bin/sleep", "1000"], close_fds=False, start_new_session=start_new_session)
    except PermissionError:
        # In the sandbox no process leaves its group.
        subprocess.Popen(["/bin/sleep", "1000"], close_fds=False)

def refusal(act):
    try:
        return repr(act())
    except Exception as error:
        return type(error).__name__

def connected(port):
    socket.create_connection(("127.0.0.1", port)).close()
    return "connected"

match words[0]:
    case "look":
        home = os.path.dirname(os.environ["HOME"])
        print(json.dumps({"argv": sys.argv[1:], "stdin": task, "cwd": os.getcwd(), "environment": dict(os.environ),
                          "files": texts("."), "private": texts(home)}))
    case "probe":
        base, port = words[1], int(words[2])
        print(json.dumps({
            "read": {name: refusal(lambda: open(os.path.join(base, name)).read()) for name in ["secret", "data/file"]},
            "list": refusal(lambda: os.listdir(os.path.join(base, "home"))),
            "settings": refusal(lambda: open(os.path.join(base, "home/.claude/login")).read()),
            "change": refusal(lambda: open(os.path.join(base, "home/.claude/login"), "w").close()),
            "beside": refusal(lambda: open(os.path.join(base, "bin/notes.txt"), "w").close()),
            "outside": refusal(lambda: open(os.path.join(base, "made"), "w").close()),
            "work": refusal(lambda: open("made", "w").close()),
            "home": refusal(lambda: open(os.path.join(os.environ["TMPDIR"], "made"), "w").close()),
            "shell": refusal(lambda: subprocess.run(["/bin/sh", "-c", "exit 3"]).returncode),
            "parent": refusal(lambda: open(f"/proc/{os.getppid()}/environ").read()),
            "signal": refusal(lambda: os.kill(os.getppid(), 0)),
            "network": refusal(lambda: connected(port)),
            "user": os.getuid(),
            "variables": sorted(os.environ),
        }))
    case "talk":
        print(json.dumps({"event": "started"}), flush=True)
        print("a warning", file=sys.stderr, flush=True)
        print(json.dumps({"answer": 42}))
    case "result":
        print(json.dumps({"type": "system"}))
        print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "all is well"}))
    case "exit":
        print("it went wrong", file=sys.stderr)
        sys.exit(int(words[1]))
    case "flood":
        for _ in range(int(words[1])):
            sys.stdout.write("x" * 1023 + "\n")
        print(json.dumps({"last": True}))
    case "hang":
        line = socket.create_connection(("127.0.0.1", int(words[1])))
        if "stubborn" in words:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        leave_a_child(line, False)
        leave_a_child(line, True)
        line.sendall(f"{os.getpid()}\n".encode())
        time.sleep(1000)
    case "polite":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        line = arrive()
        signal.sigwait({signal.SIGTERM})
        print("bye")
    case "ask":
        line = arrive()
        line.recv(1)
        print(json.dumps({"went": "on"}))
    case "leave":
        leave_a_child(arrive(), True)
        print(json.dumps({"left": True}))
"#;

/// Agents that are programs.
pub(crate) struct Stage {
    pub(crate) place: Workplace,
    pub(crate) base: Utf8PathBuf,
    _folder: TempDir,
}

/// A stand-in that is at work: how to talk to it.
pub(crate) struct Arrived {
    stream: BufReader<TcpStream>,
    pub(crate) pid: String,
}

impl Stage {
    pub(crate) async fn new(skills: &[TestSkill<'_>]) -> Self {
        Self::with(skills, |_| {}).await
    }

    /// Lists clients that calls over the network may have started.
    pub(crate) async fn allowing(clients: &[&str]) -> Self {
        Self::made(&[], |_| {}, clients).await
    }

    pub(crate) async fn with(
        skills: &[TestSkill<'_>],
        configure: impl FnOnce(&mut CommandDriverConfig),
    ) -> Self {
        Self::made(skills, configure, &[]).await
    }

    async fn made(
        skills: &[TestSkill<'_>],
        configure: impl FnOnce(&mut CommandDriverConfig),
        clients: &[&str],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        fs::create_dir(base.join("bin")).unwrap();
        for name in ["claude", "codex", "goose", "opencode", "other"] {
            let file = base.join("bin").join(name);
            fs::write(&file, STAND_IN).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(base.join("bin/notes.txt"), "no program").unwrap();
        let mut config = config(&base);
        configure(&mut config);
        let place = Workplace::with(
            skills,
            |agents| agents.clients = clients.iter().map(|name| (*name).to_owned()).collect(),
            |parts, _| {
                let launcher = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-agents-launcher"));
                parts.command = driver(CommandDriver::new(launcher, config));
            },
        )
        .await;
        Self { place, base, _folder: folder }
    }

    /// Lets a stand-in say what it was given, with the paths of this run taken out.
    pub(crate) async fn look(&self, request: Value) -> Value {
        let record = self.place.run(request).await;
        let shown = results(&record)["result"].clone();
        let work = shown["cwd"].as_str().unwrap_or_else(|| panic!("{record:?}"));
        let root = Utf8Path::new(work).parent().unwrap();
        let text = shown.to_string().replace(root.as_str(), "ROOT").replace(self.base.as_str(), "BASE");
        serde_json::from_str(&text.replace(&record.agent_id.to_string(), "AGENT")).unwrap()
    }

    /// Spawns a stand-in of Claude Code that says that it is there, and waits for that.
    pub(crate) async fn start(&self, what: &str, more: Value) -> (AgentId, Arrived) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut words: Vec<String> = what.split(' ').map(str::to_owned).collect();
        words.insert(1, listener.local_addr().unwrap().port().to_string());
        let mut request = json!({"client": "claude", "task": words.join(" ")});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let id = self.place.spawn(request).await.agent_id;
        let mut stream = BufReader::new(listener.accept().await.unwrap().0);
        let mut pid = String::new();
        stream.read_line(&mut pid).await.unwrap();
        (id, Arrived { stream, pid: pid.trim().to_owned() })
    }

    pub(crate) async fn wait(&self, id: AgentId) -> AgentRecord {
        self.place.agents.wait(id).await.unwrap().unwrap()
    }

    /// Returns what was said by somebody, in one text.
    pub(crate) async fn said(&self, id: AgentId, who: &str) -> String {
        let events = self.place.agents.events(id, Revision(0), usize::MAX).await.unwrap();
        let pieces = events.into_iter().filter_map(|logged| {
            let AgentEvent::Said { by, what: Value::String(text) } = logged.event.event else { return None };
            (by == who).then_some(text)
        });
        pieces.collect::<Vec<_>>().join("\n")
    }
}

impl Arrived {
    pub(crate) async fn tell(&mut self) {
        self.stream.get_mut().write_all(b".").await.unwrap();
    }

    /// Waits until nobody holds the connection open any more.
    pub(crate) async fn is_gone(&mut self) {
        // A connection that is cut off has ended as well.
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }

    /// Waits until the process is in a state, as the system writes it.
    pub(crate) async fn is(&self, states: &str) {
        let state = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
            stat.rsplit(") ").next().unwrap().chars().next().unwrap()
        };
        while !states.contains(state()) {
            tokio::task::yield_now().await;
        }
    }
}

fn config(base: &Utf8Path) -> CommandDriverConfig {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    CommandDriverConfig {
        work_root: base.join("agents"),
        path: vec![base.join("bin")],
        environment: vec![
            variable("ANTHROPIC_API_KEY", "key-a"),
            variable("OPENAI_API_KEY", "key-o"),
            variable("LANG", "C.UTF-8"),
            variable("HTTPS_PROXY", "http://proxy"),
            variable("SECRET", "not for others"),
            variable("NAMED", "by the operator"),
            variable("HOME", "/home/somebody"),
            variable("TERM", "xterm"),
        ],
        pass: vec!["NAMED".to_owned()],
        home: ClientHome::Private,
        own_commands: OwnCommands::Allowed,
        sandbox: SandboxMode::Enforce,
        users: ClientUsers::Artel,
        network: ClientNetwork::AsPreset,
        programs: Vec::new(),
        limits: ProcessLimits {
            cpu_s: 60,
            memory_bytes: 1 << 30,
            open_files: 256,
            processes: 64,
            file_bytes: 64 << 20,
            folder_bytes: 256 << 20,
        },
        grace_ms: 1000,
        after: AfterWork::Keep,
    }
}

//! The launcher: processes start, end, are signalled, and never outlive what started them.

use std::os::fd::OwnedFd;

use artel_engine::process::{
    ChildProcess, ExitStatus, GroupSignal, Launcher, LauncherConfig, LauncherProgram, ProcessMark, Sandbox,
    SpawnError, Stage, end_orphans,
};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::start::{Ended, Ground, PYTHON, exists, finish, gone, launcher_with, outside, variable};

#[tokio::test]
async fn a_process_gets_input_arguments_folder_and_exactly_its_environment() {
    let ground = Ground::new().await;
    let script = "import os,sys,json; print(json.dumps([sys.stdin.read(), sys.argv[1:], os.getcwd(), sorted(os.environ)]))";
    let mut request = ground.request(PYTHON, &["-c", script, "one", "two words", ""]);
    request.environment.push(("LC_CTYPE".to_owned(), "C.UTF-8".to_owned()));
    let mut child = ground.launcher.spawn(request).await.unwrap();
    child.stdin.write_all("grüße".as_bytes()).await.unwrap();
    let ended = finish(child).await;
    let run = std::fs::canonicalize(ground.path("run")).unwrap();
    let expected =
        serde_json::json!(["grüße", ["one", "two words", ""], run, ["HOME", "LC_CTYPE", "PATH", "TMPDIR"]]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(ended.fine()).unwrap(), expected);
}

#[tokio::test]
async fn the_end_of_a_process_is_told() {
    let ground = Ground::new().await;
    for sandbox in [Sandbox::On(ground.profile()), Sandbox::Off] {
        let cases = [
            ("exit 0", ExitStatus::Code(0)),
            ("exit 42", ExitStatus::Code(42)),
            ("kill -TERM $$", ExitStatus::Signal(15)),
            ("kill -SEGV $$", ExitStatus::Signal(11)),
        ];
        for (script, expected) in cases {
            let mut request = ground.request("/bin/bash", &["-c", script]);
            request.sandbox = sandbox.clone();
            assert_eq!(ground.run(request).await.exit.status, expected, "{script}");
        }
    }
}

#[tokio::test]
async fn what_a_process_used_is_told() {
    let ground = Ground::new().await;
    let ended = ground.python("x = bytearray(50_000_000)\nfor i in range(3_000_000): pass").await;
    ended.fine();
    assert!(ended.exit.usage.max_rss_kib > 48_000, "{ended:?}");
    assert!(ended.exit.usage.user_ms > 0, "{ended:?}");
}

async fn failure(ground: &Ground, program: &str) -> (Stage, i32, String) {
    match ground.launcher.spawn(ground.request(program, &[])).await {
        Err(error @ SpawnError::Failed { .. }) => {
            let text = error.to_string();
            let SpawnError::Failed { stage, source, .. } = error else { unreachable!() };
            (stage, source.raw_os_error().expect("an error of the system"), text)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::new().await;
    let executable = |name: &str, text: &str| {
        let path = ground.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let (stage, errno, text) = failure(&ground, "/usr/bin/there-is-no-such-program").await;
    assert_eq!((stage, errno), (Stage::Execute, libc::ENOENT));
    assert!(text.contains("there is no such file"), "{text}");

    let plain = ground.write("skill/plain", "#!/bin/sh\n");
    assert_eq!(failure(&ground, plain.as_str()).await.1, libc::EACCES);

    let broken = executable("skill/broken", "#!/no/such/interpreter\n");
    assert_eq!(failure(&ground, broken.as_str()).await.1, libc::ENOENT);

    let text = executable("skill/text", "just text");
    assert_eq!(failure(&ground, text.as_str()).await.1, libc::ENOEXEC);

    let outside = executable("other-skill/script", "#!/bin/sh\n");
    let (stage, errno, text) = failure(&ground, outside.as_str()).await;
    assert_eq!((stage, errno), (Stage::Execute, libc::EACCES));
    assert!(text.contains("sandbox does not execute from"), "{text}");

    let mut request = ground.request("/bin/true", &[]);
    request.cwd = "/no/such/folder".into();
    let error = ground.launcher.spawn(request).await.unwrap_err();
    assert!(matches!(error, SpawnError::Failed { stage: Stage::Folder, .. }), "{error:?}");

    let request = ground.request("/bin/true", &["a\0b"]);
    let error = ground.launcher.spawn(request).await.unwrap_err();
    assert!(matches!(error, SpawnError::Failed { stage: Stage::Request, .. }), "{error:?}");

    ground.bash("exit 0").await.fine();
}

#[tokio::test]
async fn a_request_has_a_largest_size() {
    let ground = Ground::new().await;
    let long = "x".repeat(100_000);
    assert_eq!(ground.run(ground.request("/bin/echo", &[&long])).await.fine().len(), 100_000);
    let error = ground.launcher.spawn(ground.request("/bin/echo", &[&long, &long])).await.unwrap_err();
    assert!(matches!(error, SpawnError::TooLarge { bytes, .. } if bytes > 200_000), "{error:?}");
}

#[tokio::test]
async fn many_processes_at_once() {
    let ground = Ground::new().await;
    let runs: Vec<_> = (0..200)
        .map(|number: u8| {
            let request = ground.request("/bin/sh", &["-c", &format!("read line; echo {number}-$line")]);
            let launcher = ground.launcher.clone();
            tokio::spawn(async move {
                let mut child = launcher.spawn(request).await.unwrap();
                child.stdin.write_all(b"in\n").await.unwrap();
                finish(child).await
            })
        })
        .collect();
    for (number, run) in runs.into_iter().enumerate() {
        assert_eq!(run.await.unwrap().fine(), format!("{number}-in"));
    }
}

#[tokio::test]
async fn a_signal_reaches_the_whole_group() {
    let ground = Ground::new().await;
    let script = "sleep 1000 & echo $!; sleep 1000";
    let child = ground.launcher.spawn(ground.request("/bin/bash", &["-c", script])).await.unwrap();
    let ChildProcess { mut stdout, mut group, .. } = child;
    let mut text = [0; 16];
    let count = stdout.read(&mut text).await.unwrap();
    let grandchild: i32 = std::str::from_utf8(&text[..count]).unwrap().trim().parse().unwrap();
    assert!(exists(grandchild));
    group.signal(GroupSignal::Terminate);
    assert_eq!(group.exited().await.status, ExitStatus::Signal(15));
    assert_eq!(group.exited().await.status, ExitStatus::Signal(15));
    gone(grandchild).await;
    group.release().await;
    assert!(!exists(grandchild));
}

#[tokio::test]
async fn a_stopped_group_stands_still_until_it_goes_on() {
    let ground = Ground::new().await;
    let mut child = ground.launcher.spawn(ground.request("/bin/cat", &[])).await.unwrap();
    let pid = child.pid;
    child.stdin.write_all(b"a").await.unwrap();
    let mut byte = [0];
    child.stdout.read_exact(&mut byte).await.unwrap();
    child.group.signal(GroupSignal::Stop);
    wait_for_state(pid, 'T').await;
    child.stdin.write_all(b"b").await.unwrap();
    child.group.signal(GroupSignal::Continue);
    child.stdout.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"b");
    finish(child).await.fine();
}

#[tokio::test]
async fn a_stopped_group_can_be_killed() {
    let ground = Ground::new().await;
    let mut child = ground.launcher.spawn(ground.request("/bin/cat", &[])).await.unwrap();
    child.group.signal(GroupSignal::Stop);
    child.group.signal(GroupSignal::Kill);
    assert_eq!(child.group.exited().await.status, ExitStatus::Signal(9));
}

async fn wait_for_state(pid: i32, wanted: char) {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        if stat.rsplit(") ").next().is_some_and(|fields| fields.starts_with(wanted)) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn release_leaves_nothing_behind() {
    let ground = Ground::new().await;
    for sandbox in [Sandbox::On(ground.profile()), Sandbox::Off] {
        let script = "for i in 1 2 3; do (sleep 1000 & echo $!) ; done";
        let mut request = ground.request("/bin/bash", &["-c", script]);
        request.sandbox = sandbox;
        let mut child = ground.launcher.spawn(request).await.unwrap();
        child.group.exited().await;
        let mut lines = BufReader::new(&mut child.stdout).lines();
        let mut pids = Vec::new();
        for _ in 0..3 {
            pids.push(lines.next_line().await.unwrap().unwrap().parse::<i32>().unwrap());
        }
        assert!(pids.iter().all(|pid| exists(*pid)), "they outlive the leader");
        child.group.release().await;
        assert!(!pids.iter().any(|pid| exists(*pid)));
    }
}

#[tokio::test]
async fn dropping_a_process_kills_it() {
    let ground = Ground::new().await;
    let child = ground.launcher.spawn(ground.request("/bin/sleep", &["1000"])).await.unwrap();
    let pid = child.pid;
    drop(child);
    gone(pid).await;
}

#[tokio::test]
async fn without_the_sandbox_a_daemon_is_found_and_killed() {
    let ground = Ground::new().await;
    let script = "import os,sys\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n\
                  print(os.getpid(), flush=True)\nos.close(1); os.close(2)\nimport time; time.sleep(1000)";
    let mut request = ground.request(PYTHON, &["-c", script]);
    request.sandbox = Sandbox::Off;
    let mut child = ground.launcher.spawn(request).await.unwrap();
    child.group.exited().await;
    let mut text = String::new();
    child.stdout.read_to_string(&mut text).await.unwrap();
    let daemon: i32 = text.trim().parse().unwrap();
    assert!(exists(daemon));
    child.group.release().await;
    assert!(!exists(daemon));
}

#[tokio::test]
async fn a_cancelled_spawn_leaves_nothing_behind() {
    let ground = Ground::new().await;
    {
        // One poll sends the command; the answer is never taken.
        let request = ground.request("/bin/bash", &["-c", "echo $$ > marker; exec sleep 1000"]);
        let mut spawn = Box::pin(ground.launcher.spawn(request));
        std::future::poll_fn(|context| {
            assert!(spawn.as_mut().poll(context).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    }
    // Orders are obeyed one after the other; the process may be killed before it has written anything.
    ground.bash("exit 0").await.fine();
    let written = std::fs::read_to_string(ground.path("run/marker")).unwrap_or_default();
    if let Ok(pid) = written.trim().parse() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_killed_launcher_takes_its_processes_along_and_is_replaced() {
    let ground = Ground::new().await;
    let script = "sleep 1000 & echo $! $PPID; sleep 1000";
    let mut child = ground.launcher.spawn(ground.request("/bin/bash", &["-c", script])).await.unwrap();
    let mut text = [0; 32];
    let count = child.stdout.read(&mut text).await.unwrap();
    let text = std::str::from_utf8(&text[..count]).unwrap();
    let (grandchild, launcher) = text.trim().split_once(' ').unwrap();
    let (grandchild, launcher): (i32, i32) = (grandchild.parse().unwrap(), launcher.parse().unwrap());
    let launcher = rustix::process::Pid::from_raw(launcher).unwrap();
    rustix::process::kill_process(launcher, rustix::process::Signal::KILL).unwrap();
    assert_eq!(child.group.exited().await.status, ExitStatus::Lost);
    gone(child.pid).await;
    gone(grandchild).await;
    child.group.signal(GroupSignal::Kill);
    child.group.release().await;
    assert_eq!(ground.bash("echo again").await.fine(), "again");
}

#[tokio::test]
async fn processes_that_a_dying_launcher_never_heard_of_are_started_by_the_next_one() {
    const PROCESSES: usize = 24;
    let ground = Ground::new().await;
    let launcher: i32 = ground.bash("echo $PPID").await.fine().parse().unwrap();
    let launcher = rustix::process::Pid::from_raw(launcher).unwrap();
    rustix::process::kill_process(launcher, rustix::process::Signal::STOP).unwrap();
    // The socket takes a few of these orders; the others wait in artel.
    let spawns: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let mut request = ground.request("/bin/sh", &["-c", "echo x >> started"]);
            request.environment.push(("LARGE".to_owned(), "x".repeat(100_000)));
            let launcher = ground.launcher.clone();
            tokio::spawn(async move { launcher.spawn(request).await })
        })
        .collect();
    // On one thread everything that can go on does so in between.
    for _ in 0..100 * PROCESSES {
        tokio::task::yield_now().await;
    }
    rustix::process::kill_process(launcher, rustix::process::Signal::KILL).unwrap();
    let (mut started, mut lost) = (0, 0);
    for spawn in spawns {
        match spawn.await.unwrap() {
            Ok(child) => {
                finish(child).await.fine();
                started += 1;
            }
            // It may have begun, so it is not started again.
            Err(SpawnError::LauncherLost { .. }) => lost += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let lines = std::fs::read_to_string(ground.path("run/started")).unwrap_or_default().lines().count();
    assert!(started > 0 && lost > 0, "{started} started, {lost} lost");
    assert_eq!(started + lost, PROCESSES);
    assert_eq!(lines, started, "each of them ran once");
}

#[tokio::test]
async fn the_launcher_ignores_signals_that_are_meant_for_artel() {
    let ground = Ground::new().await;
    let launcher: i32 = ground.bash("echo $PPID").await.fine().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(launcher).unwrap();
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP]
    {
        rustix::process::kill_process(pid, signal).unwrap();
    }
    assert_eq!(ground.bash("echo $PPID").await.fine(), launcher.to_string());
}

#[tokio::test]
async fn the_launcher_ends_with_its_last_handle() {
    let ground = Ground::new().await;
    let launcher: i32 = ground.bash("echo $PPID").await.fine().parse().unwrap();
    drop(ground);
    gone(launcher).await;
}

#[tokio::test]
async fn a_launcher_that_is_none_is_an_error() {
    for path in ["/no/such/program", "/bin/true"] {
        let config = LauncherConfig { program: LauncherProgram::at(path), guard: None };
        let error = Launcher::start(config).await.unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn the_guard_is_held_by_the_launcher_but_not_by_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let guard = std::fs::File::create(&path).unwrap();
    guard.lock().unwrap();
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-launcher"));
    let config = LauncherConfig { program, guard: Some(OwnedFd::from(guard)) };
    let ground = Ground { launcher: Launcher::start(config).await.unwrap(), ..Ground::new().await };
    let ended = ground.bash("echo $PPID; ls -l /proc/self/fd").await;
    let (launcher, descriptors) = ended.fine().split_once('\n').unwrap();
    assert!(!descriptors.contains("lock"), "{descriptors}");
    let held = std::fs::read_dir(format!("/proc/{launcher}/fd")).unwrap().flatten();
    assert!(held.filter_map(|entry| entry.path().read_link().ok()).any(|target| target == path));
    assert!(std::fs::File::open(&path).unwrap().try_lock().is_err());
    let launcher = launcher.parse().unwrap();
    drop(ground);
    gone(launcher).await;
    std::fs::File::open(&path).unwrap().try_lock().unwrap();
}

/// Runs in a process of its own, which is killed: see `nothing_outlives_a_killed_parent`.
#[tokio::test]
async fn inner_parent() {
    if variable("ARTEL_TEST_INNER").is_none() {
        return;
    }
    let ground = Ground::new().await;
    let script = "sleep 1000 & (sleep 1000 & echo PIDS $$ $! $PPID >&2); sleep 1000";
    for sandbox in [Sandbox::On(ground.profile()), Sandbox::Off] {
        let mut request = ground.request("/bin/bash", &["-c", script]);
        request.sandbox = sandbox;
        let mut child = ground.launcher.spawn(request).await.unwrap();
        let mut text = [0; 64];
        let count = child.stderr.read(&mut text).await.unwrap();
        println!("{}", std::str::from_utf8(&text[..count]).unwrap().trim());
        std::mem::forget(child);
    }
    println!("READY");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn nothing_outlives_a_killed_parent() {
    use std::io::BufRead as _;
    let mut parent = outside(std::env::current_exe().unwrap())
        .args(["launcher::inner_parent", "--exact", "--nocapture"])
        .env("ARTEL_TEST_INNER", "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut pids = Vec::new();
    for line in std::io::BufReader::new(parent.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, numbers)) = line.split_once("PIDS ") {
            pids.extend(numbers.split(' ').map(|number| number.parse::<i32>().unwrap()));
        }
        if line.contains("READY") {
            break;
        }
    }
    assert_eq!(pids.len(), 6);
    assert!(pids.iter().all(|pid| exists(*pid)));
    parent.kill().unwrap();
    parent.wait().unwrap();
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_process_that_closes_its_streams_is_still_there() {
    let ground = Ground::new().await;
    let ended: Ended = ground.bash("exec 0<&- 1>&- 2>&-; exit 3").await;
    assert_eq!(ended.exit.status, ExitStatus::Code(3));
}

#[tokio::test]
async fn what_artel_does_to_its_own_memory_does_not_reach_a_process() {
    artel_engine::process::refuse_huge_pages();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(status.contains("THP_enabled:\t0"), "{status}");
    let ground = Ground::new().await;
    let mut request = ground.request("/bin/grep", &["THP_enabled", "/proc/self/status"]);
    request.sandbox = Sandbox::Off;
    assert_eq!(ground.run(request).await.fine(), "THP_enabled:\t1");
}

/// Runs in a process of its own, which is killed with its launcher: see `what_outlives_artel_and_its_launcher_is_found`.
#[tokio::test]
async fn inner_owner() {
    let Some(owner) = variable("ARTEL_TEST_OWNER") else { return };
    let launcher = launcher_with(ProcessMark::of_owner(&owner)).await;
    let ground = Ground { launcher, ..Ground::new().await };
    // It does what it can to be forgotten: another environment, another group, no mark.
    let script = "(ulimit -q 0; env -i /bin/sleep 1000 & echo PIDS $PPID $! >&2); sleep 1000";
    let mut child = ground.launcher.spawn(ground.request("/bin/bash", &["-c", script])).await.unwrap();
    let mut text = String::new();
    while !text.contains("PIDS") || !text.ends_with('\n') {
        let mut bytes = [0; 256];
        let count = child.stderr.read(&mut bytes).await.unwrap();
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    println!("\n{text}\nREADY");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn what_outlives_artel_and_its_launcher_is_found() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::BufRead as _;
    let owner = format!("{}-of-a-test.1", std::process::id());
    let mut parent = outside(std::env::current_exe().unwrap())
        .args(["launcher::inner_owner", "--exact", "--nocapture"])
        .env("ARTEL_TEST_OWNER", &owner)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(parent.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told: Vec<String> = lines.take_while(|line| !line.contains("READY")).collect();
    let numbers = told.iter().find_map(|line| line.split_once("PIDS ")).unwrap().1;
    let (launcher, survivor) = numbers.split_once(' ').unwrap();
    let (launcher, survivor): (i32, i32) = (launcher.parse().unwrap(), survivor.trim().parse().unwrap());
    // Neither of the two can do anything when the other dies.
    let both = [launcher, i32::try_from(parent.id()).unwrap()].map(|pid| Pid::from_raw(pid).unwrap());
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in both {
            kill_process(pid, signal).unwrap();
        }
    }
    parent.wait().unwrap();
    gone(launcher).await;
    assert!(exists(survivor));
    // A process of the same data folder whose launcher lives.
    let mark = ProcessMark::of_owner(&owner);
    let ground = Ground { launcher: launcher_with(mark).await, ..Ground::new().await };
    let neighbour = ground.launcher.spawn(ground.request("/bin/sleep", &["1000"])).await.unwrap();
    assert_eq!(end_orphans(ProcessMark::of_owner("another folder")), 0);
    assert!(exists(survivor));
    assert!(end_orphans(mark) >= 1);
    gone(survivor).await;
    assert!(exists(neighbour.pid));
    assert_eq!(end_orphans(mark), 0);
}

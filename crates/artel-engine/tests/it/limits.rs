//! The limits: a process that uses too much ends, is told why, and leaves nothing behind.

use artel_engine::process::{
    ChildProcess, ExitStatus, Limit, LimitReached, Network, ProcessLimits, Profile, Sandbox,
};

use crate::start::{Ended, Ground, PYTHON, User, finish, limits};

async fn run(ground: &Ground, program: &str, script: &str, limits: ProcessLimits) -> Ended {
    let mut request = ground.request(program, &["-c", script]);
    request.limits = limits;
    ground.run(request).await
}

#[track_caller]
fn reached(ended: &Ended, limit: Limit, allowed: u64) {
    assert_eq!(ended.exit.limit, Some(LimitReached { limit, allowed }), "{ended:?}");
    assert!(!ended.exit.is_success());
}

#[tokio::test]
async fn a_fork_bomb_is_stopped_and_nothing_is_left() {
    let ground = Ground::new().await;
    let mut request = ground.request("/bin/bash", &["-c", "bomb() { bomb | bomb & }; bomb; sleep 1000"]);
    request.limits.processes = 40;
    let child = ground.launcher.spawn(request).await.unwrap();
    let group = child.pid;
    let ended = finish(child).await;
    reached(&ended, Limit::Processes, 40);
    assert_eq!(members(group), Vec::<i32>::new());
    ground.bash("exit 0").await.fine();
}

/// Returns the processes of a group.
fn members(group: i32) -> Vec<i32> {
    let numbers = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let of_group = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        fields.split_whitespace().nth(2) == Some(&group.to_string())
    };
    pids.filter(of_group).collect()
}

#[tokio::test]
async fn too_many_threads_are_too_many() {
    let ground = Ground::new().await;
    let script = "import threading, time\nfor _ in range(100): threading.Thread(target=time.sleep, args=(1000,)).start()";
    reached(
        &run(&ground, PYTHON, script, ProcessLimits { processes: 20, ..limits() }).await,
        Limit::Processes,
        20,
    );
}

#[tokio::test]
async fn one_process_gets_no_more_memory_than_allowed() {
    let ground = Ground::new().await;
    let limits = ProcessLimits { memory_bytes: 100 << 20, ..limits() };
    let ended = run(&ground, PYTHON, "x = bytearray(200 << 20)", limits).await;
    assert_eq!(ended.exit.status, ExitStatus::Code(1));
    assert!(ended.stderr.contains("MemoryError"), "{ended:?}");
    run(&ground, PYTHON, "x = bytearray(50 << 20)", limits).await.fine();
}

#[tokio::test]
async fn many_processes_get_no_more_memory_together() {
    let ground = Ground::new().await;
    let script = "import os, time\nfor _ in range(10):\n  if os.fork() == 0:\n    x = bytearray(b'x') * (30 << 20)\n    time.sleep(1000)\ntime.sleep(1000)";
    let limits = ProcessLimits { memory_bytes: 100 << 20, ..limits() };
    reached(&run(&ground, PYTHON, script, limits).await, Limit::Memory, 100 << 20);
}

#[tokio::test]
async fn memory_that_forked_processes_share_counts_once() {
    let ground = Ground::new().await;
    let script = "import os, time, gc\nx = bytearray(b'x') * (60 << 20)\nfor _ in range(5):\n  if os.fork() == 0:\n    time.sleep(0.3); os._exit(0)\nfor _ in range(5): os.wait()";
    run(&ground, PYTHON, script, ProcessLimits { memory_bytes: 100 << 20, ..limits() }).await.fine();
}

#[tokio::test]
async fn one_file_cannot_grow_beyond_its_limit() {
    let ground = Ground::new().await;
    let limits = ProcessLimits { file_bytes: 1 << 20, ..limits() };
    // Programs that do not ignore the signal die of it.
    let ended = run(&ground, "/bin/bash", "exec head -c 2000000 /dev/zero > big", limits).await;
    reached(&ended, Limit::File, 1 << 20);
    let ended = run(&ground, PYTHON, "open('big', 'wb').write(bytes(2 << 20))", limits).await;
    assert!(ended.stderr.contains("File too large"), "{ended:?}");
    assert_eq!(std::fs::metadata(ground.path("run/big")).unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn many_files_cannot_fill_the_disk() {
    let ground = Ground::new().await;
    let script = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'wb').write(bytes(1 << 20))";
    let limits = ProcessLimits { folder_bytes: 8 << 20, ..limits() };
    reached(&run(&ground, PYTHON, script, limits).await, Limit::Folder, 8 << 20);
}

#[tokio::test]
async fn files_without_a_name_cannot_fill_the_disk() {
    let ground = Ground::new().await;
    let script = "import tempfile\nfiles = []\nfor _ in range(200):\n  f = tempfile.TemporaryFile(); f.write(bytes(1 << 20)); f.flush(); files.append(f)\nimport time; time.sleep(1000)";
    let limits = ProcessLimits { folder_bytes: 8 << 20, ..limits() };
    reached(&run(&ground, PYTHON, script, limits).await, Limit::Folder, 8 << 20);
}

/// Runs a script as root and as an ordinary user, and checks that it reaches a limit.
async fn every_user_reaches(script: &str, limits: ProcessLimits, limit: Limit, allowed: u64) {
    for user in User::all() {
        reached(&run(&Ground::of(user).await, PYTHON, script, limits).await, limit, allowed);
    }
}

#[tokio::test]
async fn files_that_are_mapped_and_closed_cannot_fill_the_disk() {
    let script = "import ctypes, os, time\nlibc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p\nfor n in range(64):\n  f = os.open('f', os.O_CREAT | os.O_RDWR)\n  os.write(f, bytes(1 << 20)); libc.mmap(None, 4096, 1, 1, f, ctypes.c_long(0)); os.close(f); os.remove('f')\ntime.sleep(1000)";
    let limits = ProcessLimits { folder_bytes: 40 << 20, file_bytes: 1 << 20, ..limits() };
    every_user_reaches(script, limits, Limit::Folder, 40 << 20).await;
}

#[tokio::test]
async fn files_on_their_way_between_processes_cannot_fill_the_disk() {
    let script = "import socket, os, time\na, b = socket.socketpair()\nfor n in range(20):\n  f = os.open('f', os.O_CREAT | os.O_RDWR); os.write(f, bytes(1 << 20))\n  socket.send_fds(a, [b'x'], [f]); os.close(f); os.remove('f')\ntime.sleep(1000)";
    for user in User::all() {
        let ground = Ground::of(user).await;
        let mut request = ground.request(PYTHON, &["-c", script]);
        request.sandbox = Sandbox::On(Profile { network: Network::Allowed, ..ground.profile() });
        reached(&ground.run(request).await, Limit::HiddenFiles, 1);
    }
}

#[tokio::test]
async fn folders_beyond_the_longest_path_cannot_hide_bytes() {
    let script = "import os, time\nfor n in range(400):\n  os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'wb').write(bytes(1 << 20))\ntime.sleep(1000)";
    every_user_reaches(script, limits(), Limit::FolderDepth, 256).await;
    // Not so deep, but longer than a path may be.
    let script = "import os, time\nfor n in range(60):\n  os.mkdir('d' * 200); os.chdir('d' * 200)\nfor n in range(12): open(f'f{n}', 'wb').write(bytes(1 << 20))\ntime.sleep(1000)";
    let limits = ProcessLimits { folder_bytes: 8 << 20, ..limits() };
    every_user_reaches(script, limits, Limit::Folder, 8 << 20).await;
}

#[tokio::test]
async fn locked_folders_cannot_hide_bytes() {
    let script = "import os, time\nos.mkdir('locked')\nfor n in range(12): open(f'locked/f{n}', 'wb').write(bytes(1 << 20))\nos.chmod('locked', 0)\ntime.sleep(1000)";
    let limits = ProcessLimits { folder_bytes: 8 << 20, ..limits() };
    every_user_reaches(script, limits, Limit::Folder, 8 << 20).await;
}

#[tokio::test]
async fn processor_time_is_limited_for_one_and_for_all() {
    let ground = Ground::new().await;
    let limits = ProcessLimits { cpu_s: 1, ..limits() };
    let ended = run(&ground, "/bin/bash", "while :; do :; done", limits).await;
    reached(&ended, Limit::Cpu, 1);
    // No single process uses a second, and each is waited for by its parent.
    let script = "while :; do /usr/bin/python3 -c 'for i in range(2000000): pass'; done";
    reached(&run(&ground, "/bin/bash", script, limits).await, Limit::Cpu, 1);
}

#[tokio::test]
async fn open_files_are_limited() {
    let ground = Ground::new().await;
    let limits = ProcessLimits { open_files: 20, ..limits() };
    let ended = run(&ground, PYTHON, "files = [open('/dev/null') for _ in range(30)]", limits).await;
    assert!(ended.stderr.contains("Too many open files"), "{ended:?}");
}

#[tokio::test]
async fn limits_cannot_be_raised() {
    let ground = Ground::new().await;
    let script = "import resource\nfor r in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):\n  try: resource.setrlimit(r, (2**40, 2**40)); print('raised')\n  except (ValueError, PermissionError): print('no')";
    assert_eq!(run(&ground, PYTHON, script, limits()).await.fine(), "no\nno\nno");
}

#[tokio::test]
async fn limits_hold_without_the_sandbox_too() {
    let ground = Ground::new().await;
    let mut request = ground.request("/bin/bash", &["-c", "for i in $(seq 50); do sleep 1000 & done; wait"]);
    request.sandbox = Sandbox::Off;
    request.limits.processes = 20;
    let child = ground.launcher.spawn(request).await.unwrap();
    let ChildProcess { mut group, .. } = child;
    assert_eq!(group.exited().await.limit, Some(LimitReached { limit: Limit::Processes, allowed: 20 }));
    group.release().await;
}

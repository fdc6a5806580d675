//! A part of the tree of control groups that is artel's own: every process has a cell in it, and nothing is left there. On a
//! machine that gives us none, the launcher says so and works without.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs;
use std::path::{Path, PathBuf};

use artel_engine::process::{
    CgroupChoice, CgroupState, GroupSignal, Launcher, LauncherConfig, LauncherProgram, Limit, ProcessLimits,
    Sandbox,
};
use tokio::io::AsyncReadExt as _;

use crate::start::{Ground, PYTHON, exists, gone};

/// A group that was made for one test.
struct Given(PathBuf);

impl Given {
    /// Makes a group, where this machine lets us.
    fn new(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
        let folder =
            Path::new(mount.split(' ').nth(4)?).join(format!("artel-test-{}-{name}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        Some(Self(folder))
    }

    fn cells(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    }

    fn has(&self, controller: &str) -> bool {
        fs::read_to_string(self.0.join("cgroup.controllers"))
            .unwrap()
            .split_whitespace()
            .any(|name| name == controller)
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

async fn launcher(folder: &Path) -> Launcher {
    let choice = CgroupChoice::At(folder.to_owned());
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-launcher")).with_cgroup(&choice);
    Launcher::start(LauncherConfig { program, guard: None }).await.unwrap()
}

async fn ground(given: Option<&Given>) -> Ground {
    let ground = Ground::new().await;
    let nowhere = ground.root.path().to_owned();
    Ground { launcher: launcher(given.map_or(&nowhere, |given| &given.0)).await, ..ground }
}

#[tokio::test]
async fn a_folder_that_is_no_group_is_told_and_processes_run_all_the_same() {
    let ground = ground(None).await;
    assert!(
        matches!(&ground.launcher.report().cgroup, CgroupState::None { why } if why.contains("not in it"))
    );
    assert_eq!(ground.bash("echo fine").await.fine(), "fine");
}

#[tokio::test]
async fn every_process_has_a_cell_of_its_own_and_none_is_left() {
    let Some(given) = Given::new("cells") else {
        assert!(matches!(Ground::new().await.launcher.report().cgroup, CgroupState::None { .. }));
        return;
    };
    let ground = ground(Some(&given)).await;
    assert!(
        matches!(&ground.launcher.report().cgroup, CgroupState::Own { folder, .. } if *folder == given.0)
    );
    let mut request = ground.request("/bin/sleep", &["1000"]);
    request.sandbox = Sandbox::On(ground.profile());
    let children = [
        ground.launcher.spawn(request.clone()).await.unwrap(),
        ground.launcher.spawn(request).await.unwrap(),
    ];
    assert_eq!(given.cells().len(), 2);
    for child in &children {
        let group = fs::read_to_string(format!("/proc/{}/cgroup", child.pid)).unwrap();
        let own = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned();
        let cell = given.cells().into_iter().find(|cell| cell.to_str().unwrap().ends_with(&own)).unwrap();
        assert_eq!(fs::read_to_string(cell.join("cgroup.procs")).unwrap().trim(), child.pid.to_string());
    }
    for child in children {
        child.group.release().await;
    }
    assert_eq!(given.cells(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn what_leaves_its_group_does_not_leave_its_cell() {
    let Some(given) = Given::new("daemon") else { return };
    let ground = ground(Some(&given)).await;
    let script = "import os,sys\nif os.fork():\n  import time; time.sleep(1000)\nos.setsid()\n\
                  print(os.getpid(), flush=True)\nos.close(1); os.close(2)\nimport time; time.sleep(1000)";
    let mut request = ground.request(PYTHON, &["-c", script]);
    request.sandbox = Sandbox::Off;
    let mut child = ground.launcher.spawn(request).await.unwrap();
    let mut buffer = [0; 32];
    let count = child.stdout.read(&mut buffer).await.unwrap();
    let daemon: i32 = std::str::from_utf8(&buffer[..count]).unwrap().trim().parse().unwrap();
    assert!(exists(daemon));
    child.group.signal(GroupSignal::Kill);
    gone(daemon).await;
    child.group.release().await;
    assert_eq!(given.cells(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_launcher_that_was_killed_leaves_cells_that_the_next_one_removes() {
    let Some(given) = Given::new("killed") else { return };
    let left = given.0.join("artel.cell-4194304-1");
    fs::create_dir(&left).unwrap();
    let ground = ground(Some(&given)).await;
    assert!(!left.exists());
    assert_eq!(ground.bash("echo fine").await.fine(), "fine");
}

#[tokio::test]
async fn the_kernel_bounds_processes_and_memory_where_it_can() {
    let Some(given) = Given::new("bounds") else { return };
    let ground = ground(Some(&given)).await;
    let CgroupState::Own { controllers, .. } = &ground.launcher.report().cgroup else { panic!("it is ours") };
    for controller in ["memory", "pids"] {
        assert_eq!(controllers.iter().any(|name| name == controller), given.has(controller));
    }
    // A fork bomb and a memory bomb end for the same reason with cells and without.
    let mut request = ground.request(
        PYTHON,
        &["-c", "import os,time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"],
    );
    request.limits = ProcessLimits { processes: 20, ..request.limits };
    let ended = ground.run(request).await;
    assert_eq!(ended.exit.limit.map(|reached| reached.limit), Some(Limit::Processes), "{ended:?}");
    assert_eq!(given.cells(), Vec::<PathBuf>::new());
}

//! The launcher's own part of the kernel's tree of control groups (cgroup v2), where it has one: each process gets a cell of
//! its own, which bounds what the whole tree below it may take and ends all of it at once. Knows nothing of requests.
//!
//! The bounds of a cell lie above the limits: the watchdog sees what goes beyond a limit, ends it and says why, as it does
//! without cells; the kernel only sees to it that nothing takes much more in the meantime.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::request::ProcessLimits;

/// The group that artel and its launcher move into, as only a group without processes can share out what it has.
const HOST: &str = "artel.host";
/// What the names of cells begin with; the launcher's number and a count follow.
const CELL: &str = "artel.cell-";
/// The controllers that cells use where they are there.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// Processes that a cell has room for beyond the limit.
const PROCESSES_SPARE: u64 = 16;

/// Which part of the tree is used.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum CgroupChoice {
    /// The one that artel runs in, when nobody else does.
    #[default]
    Auto,
    /// None.
    Off,
    /// This folder, which somebody made for artel.
    At(PathBuf),
}

impl CgroupChoice {
    /// Reads `auto`, `off` or a folder.
    pub fn read(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            "off" => Self::Off,
            folder => Self::At(PathBuf::from(folder)),
        }
    }
}

impl fmt::Display for CgroupChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::At(folder) => folder.display().fmt(f),
        }
    }
}

/// What the launcher has of the tree.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum CgroupState {
    /// A part of its own, with these controllers.
    Own {
        /// Its folder.
        folder: PathBuf,
        /// What is bounded there.
        controllers: Vec<String>,
    },
    /// Nothing, and why.
    None {
        /// Why.
        why: String,
    },
}

/// A part of the tree that is the launcher's.
pub(super) struct Cgroups {
    home: PathBuf,
    controllers: Vec<String>,
    count: u64,
}

/// One process and everything that it starts.
pub(super) struct Cell {
    folder: PathBuf,
    /// Who writes a zero here moves into the cell.
    entrance: File,
}

/// Looks for a part of the tree that can be taken, and changes nothing. `own` are the processes that may be in it.
pub(super) fn look(choice: &CgroupChoice, own: &[i32]) -> CgroupState {
    match find(choice, own) {
        Ok((folder, controllers)) => CgroupState::Own { folder, controllers },
        Err(why) => CgroupState::None { why },
    }
}

fn find(choice: &CgroupChoice, own: &[i32]) -> Result<(PathBuf, Vec<String>), String> {
    let folder = match choice {
        CgroupChoice::Off => return Err("switched off".to_owned()),
        CgroupChoice::At(folder) => folder.clone(),
        CgroupChoice::Auto => {
            let read = |path: &str| {
                fs::read_to_string(path).map_err(|error| format!("cannot read `{path}`: {error}"))
            };
            let folder = own_folder(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)
                .ok_or("there is no tree of version 2")?;
            // Beside the processes of others nothing can be shared out.
            match folder.file_name().is_some_and(|name| name == HOST) {
                true => folder.parent().unwrap_or(&folder).to_owned(),
                false => {
                    refuse_others(&folder, own)?;
                    folder
                }
            }
        }
    };
    // Only the root of the whole machine's tree has no type, and that is nobody's own.
    let kind = fs::read_to_string(folder.join("cgroup.type"))
        .map_err(|_| format!("`{}` is the root of the tree, or not in it", folder.display()))?;
    if kind.trim() != "domain" {
        return Err(format!("`{}` is a group of threads", folder.display()));
    }
    if rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(format!("`{}` cannot be written to", folder.display()));
    }
    let there = fs::read_to_string(folder.join("cgroup.controllers")).unwrap_or_default();
    let used = CONTROLLERS.into_iter().filter(|name| there.split_whitespace().any(|there| there == *name));
    Ok((folder, used.map(str::to_owned).collect()))
}

/// Returns the folder of the group that this process is in.
fn own_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mount = mounts.lines().find_map(|line| {
        // The fields before the dash name the root inside the tree and the folder, those after it the kind.
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| place.split(' ').skip(3))
    });
    let mut mount = mount?;
    let (root, folder) = (mount.next()?, mount.next()?);
    let inside = Path::new("/").join(group);
    Some(Path::new(folder).join(inside.strip_prefix(root).ok()?))
}

fn refuse_others(folder: &Path, own: &[i32]) -> Result<(), String> {
    let there = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    match there.lines().all(|pid| pid.parse().is_ok_and(|pid: i32| own.contains(&pid))) {
        true => Ok(()),
        false => Err("other programs are in the same group; `cgroup` can name one of artel's own".to_owned()),
    }
}

impl Cgroups {
    /// Takes what was found, and moves `own` out of the way. What earlier launchers left is removed.
    pub(super) fn take(folder: &Path, controllers: &[String], own: &[i32]) -> Result<Self, String> {
        let failed =
            |what: &str, error: &io::Error| format!("cannot {what} in `{}`: {error}", folder.display());
        sweep(folder);
        let is_in = |pid: &&i32| {
            let there = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            there.lines().any(|line| line == pid.to_string())
        };
        let to_move: Vec<&i32> = own.iter().filter(is_in).collect();
        if !to_move.is_empty() {
            let host = folder.join(HOST);
            make(&host).map_err(|error| failed("make a group", &error))?;
            for pid in to_move {
                write(&host.join("cgroup.procs"), &pid.to_string())
                    .map_err(|error| failed("move artel", &error))?;
            }
        }
        for controller in controllers {
            write(&folder.join("cgroup.subtree_control"), &format!("+{controller}"))
                .map_err(|error| failed("share out", &error))?;
        }
        Ok(Self { home: folder.to_owned(), controllers: controllers.to_vec(), count: 0 })
    }

    /// Makes a cell for a process with these limits.
    pub(super) fn cell(&mut self, limits: &ProcessLimits) -> io::Result<Cell> {
        self.count += 1;
        let launcher = rustix::process::getpid().as_raw_nonzero();
        let folder = self.home.join(format!("{CELL}{launcher}-{}", self.count));
        fs::create_dir(&folder)?;
        let bounded = self
            .bound(&folder, limits)
            .and_then(|()| File::options().write(true).open(folder.join("cgroup.procs")));
        match bounded {
            Ok(entrance) => Ok(Cell { folder, entrance }),
            Err(error) => {
                let _ = fs::remove_dir(&folder);
                Err(error)
            }
        }
    }

    fn bound(&self, folder: &Path, limits: &ProcessLimits) -> io::Result<()> {
        let has = |name: &str| self.controllers.iter().any(|controller| controller == name);
        if has("pids") {
            let most = limits.processes.saturating_add(PROCESSES_SPARE);
            write(&folder.join("pids.max"), &most.to_string())?;
        }
        if has("memory") {
            let most = limits.memory_bytes.saturating_add(limits.memory_bytes / 4);
            write(&folder.join("memory.max"), &most.to_string())?;
            // Not every kernel counts swap.
            let _ = write(&folder.join("memory.swap.max"), "0");
            let _ = write(&folder.join("memory.oom.group"), "1");
        }
        Ok(())
    }
}

impl Cell {
    /// Returns where a process moves in by writing a zero.
    pub(super) fn entrance(&self) -> BorrowedFd<'_> {
        self.entrance.as_fd()
    }

    /// Ends everything inside.
    pub(super) fn kill(&self) {
        let _ = write(&self.folder.join("cgroup.kill"), "1");
    }

    /// Says whether the kernel has ended something inside because there was no memory left for it.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        events.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0"))
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        if fs::remove_dir(&self.folder).is_err() {
            self.kill();
            // What takes longer to die is swept by the next launcher.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Removes the cells of launchers that are gone, with whatever is left in them.
fn sweep(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let launcher =
            name.to_str().and_then(|name| name.strip_prefix(CELL)?.split_once('-')?.0.parse::<u32>().ok());
        let is_gone = launcher.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists());
        if is_gone {
            let _ = write(&entry.path().join("cgroup.kill"), "1");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Writes to a file of the kernel, which takes one write and must be there.
fn write(path: &Path, text: &str) -> io::Result<()> {
    File::options().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const HYBRID: &str = "31 24 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                          32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n";
    const INSIDE: &str = "40 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";

    #[test]
    fn the_own_folder_is_where_the_tree_is_mounted() {
        let check = |mounts, groups, expected: Option<&str>| {
            assert_eq!(own_folder(mounts, groups), expected.map(PathBuf::from), "{mounts} {groups}");
        };
        check(UNIFIED, "0::/system.slice/artel.service\n", Some("/sys/fs/cgroup/system.slice/artel.service"));
        check(HYBRID, "8:pids:/\n0::/\n", Some("/sys/fs/cgroup/unified/"));
        check(INSIDE, "0::/docker/abc/x\n", Some("/sys/fs/cgroup/x"));
        check(INSIDE, "0::/elsewhere\n", None);
        check("31 24 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "0::/\n", None);
        check(UNIFIED, "8:pids:/\n", None);
    }

    /// Makes a folder that looks like a group.
    fn group(controllers: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("cgroup.type", "domain\n"),
            ("cgroup.procs", ""),
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", ""),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn a_group_of_ones_own_is_taken_with_what_it_has() {
        let folder = group("cpu memory pids\n");
        let choice = CgroupChoice::At(folder.path().to_owned());
        let controllers = vec!["memory".to_owned(), "pids".to_owned()];
        assert_eq!(look(&choice, &[]), CgroupState::Own { folder: folder.path().to_owned(), controllers });
        let bare = group("hugetlb\n");
        let choice = CgroupChoice::At(bare.path().to_owned());
        assert_eq!(
            look(&choice, &[]),
            CgroupState::Own { folder: bare.path().to_owned(), controllers: vec![] }
        );
    }

    #[test]
    fn what_is_not_ones_own_is_left_alone() {
        let why = |choice| match look(&choice, &[]) {
            CgroupState::None { why } => why,
            CgroupState::Own { folder, .. } => panic!("{}", folder.display()),
        };
        assert_eq!(why(CgroupChoice::Off), "switched off");
        assert!(why(CgroupChoice::At("/nowhere".into())).contains("not in it"));
        let threads = group("");
        fs::write(threads.path().join("cgroup.type"), "threaded\n").unwrap();
        assert!(why(CgroupChoice::At(threads.path().to_owned())).contains("threads"));
        let shared = group("");
        fs::write(shared.path().join("cgroup.procs"), "1\n2\n").unwrap();
        assert!(refuse_others(shared.path(), &[1]).is_err());
        assert!(refuse_others(shared.path(), &[2, 1]).is_ok());
    }
}

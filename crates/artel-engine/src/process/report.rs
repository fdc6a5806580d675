//! What the sandbox can do on this machine, asked of the kernel without starting anything. Knows nothing of requests.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cgroup::{self, CgroupChoice, CgroupState};
use super::{landlock, seccomp};

/// The landlock version from which a sandboxed process cannot truncate files that it may not write.
const ABI_TRUNCATE: u32 = 3;
/// The landlock version from which a sandboxed process cannot signal processes outside.
const ABI_SCOPES: u32 = 6;

/// What this machine can do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SandboxReport {
    /// The version of landlock in the kernel; 0 where there is none.
    pub landlock_abi: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether the kernel lists the children of a process, which the watchdog needs to see a whole tree.
    pub process_tree: bool,
    /// Whether processes run as root, whose number the kernel does not limit.
    pub root: bool,
    /// What there is of the tree of control groups.
    pub cgroup: CgroupState,
}

/// A part of the sandbox.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Files, TCP, signals.
    Landlock,
    /// System calls and socket families.
    Seccomp,
    /// What one process may use.
    Rlimits,
    /// What a whole tree of processes may use.
    Watchdog,
    /// The kernel's bounds on a whole tree of processes.
    Cgroup,
}

/// One part of the sandbox and how it stands.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct LayerReport {
    /// Which part.
    pub layer: Layer,
    /// Whether it works here.
    pub active: bool,
    /// What it does here, or what is missing.
    pub detail: String,
}

/// Asks the kernel what it can do for a program that starts processes by itself.
pub fn probe(choice: &CgroupChoice) -> SandboxReport {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    probe_for(choice, &[own])
}

/// Asks the kernel what it can do for these processes, which work together.
pub(super) fn probe_for(choice: &CgroupChoice, own: &[i32]) -> SandboxReport {
    SandboxReport {
        landlock_abi: landlock::abi(),
        seccomp: seccomp::is_available(),
        process_tree: Path::new("/proc/thread-self/children").exists(),
        root: rustix::process::geteuid().is_root(),
        cgroup: cgroup::look(choice, own),
    }
}

impl SandboxReport {
    /// Returns the layers without which nothing runs under `enforce`.
    pub fn missing(&self) -> Vec<Layer> {
        let required = [(Layer::Landlock, self.landlock_abi > 0), (Layer::Seccomp, self.seccomp)];
        required.into_iter().filter(|(_, there)| !there).map(|(layer, _)| layer).collect()
    }

    /// Returns every layer and how it stands, in a fixed order.
    pub fn layers(&self) -> Vec<LayerReport> {
        let line = |layer, active, detail| LayerReport { layer, active, detail };
        vec![
            line(Layer::Landlock, self.landlock_abi > 0, self.landlock_detail()),
            line(Layer::Seccomp, self.seccomp, self.seccomp_detail()),
            line(Layer::Rlimits, true, self.rlimits_detail()),
            line(Layer::Watchdog, self.process_tree, self.watchdog_detail()),
            line(Layer::Cgroup, matches!(self.cgroup, CgroupState::Own { .. }), self.cgroup_detail()),
        ]
    }

    fn landlock_detail(&self) -> String {
        let abi = self.landlock_abi;
        let gap = match abi {
            0 => {
                return "not in this kernel, or switched off (it needs Linux 5.13 and `lsm=landlock`)"
                    .to_owned();
            }
            1..ABI_TRUNCATE => "; files outside can be truncated and processes outside signalled",
            ABI_TRUNCATE..ABI_SCOPES => "; processes outside can be signalled",
            ABI_SCOPES.. => "",
        };
        format!("version {abi}{gap}")
    }

    fn seccomp_detail(&self) -> String {
        let text = if self.seccomp { "system calls and socket families" } else { "not in this kernel" };
        text.to_owned()
    }

    fn rlimits_detail(&self) -> String {
        let text = if self.root {
            "processor time, memory, files; the number of processes is left to the watchdog, as for root the kernel sets none"
        } else {
            "processor time, memory, files, processes"
        };
        text.to_owned()
    }

    fn watchdog_detail(&self) -> String {
        let text = if self.process_tree {
            "processes, memory, processor time and folders of a whole process tree"
        } else {
            "sees only the first process: the kernel does not list the children of a process"
        };
        text.to_owned()
    }
}

impl SandboxReport {
    fn cgroup_detail(&self) -> String {
        match &self.cgroup {
            CgroupState::Own { folder, controllers } if controllers.is_empty() => {
                format!(
                    "ends whole trees at once; nothing is bounded, as `{}` has neither memory nor pids",
                    folder.display()
                )
            }
            CgroupState::Own { folder, controllers } => {
                format!("{} of a whole process tree, in `{}`", controllers.join(" and "), folder.display())
            }
            CgroupState::None { why } => format!("not used: {why}; the watchdog sees to whole trees"),
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Rlimits => "rlimits",
            Self::Watchdog => "watchdog",
            Self::Cgroup => "cgroup",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(landlock_abi: u32, seccomp: bool) -> SandboxReport {
        let cgroup = CgroupState::None { why: "switched off".to_owned() };
        SandboxReport { landlock_abi, seccomp, process_tree: true, root: false, cgroup }
    }

    #[test]
    fn only_landlock_and_seccomp_are_required() {
        assert_eq!(report(7, true).missing(), []);
        assert_eq!(report(0, true).missing(), [Layer::Landlock]);
        assert_eq!(report(0, false).missing(), [Layer::Landlock, Layer::Seccomp]);
    }

    #[test]
    fn gaps_of_old_kernels_are_named() {
        let detail = |abi| report(abi, true).layers().remove(0).detail;
        assert_eq!(detail(7), "version 7");
        assert_eq!(detail(4), "version 4; processes outside can be signalled");
        assert_eq!(detail(1), "version 1; files outside can be truncated and processes outside signalled");
        assert!(detail(0).contains("Linux 5.13"));
    }

    #[test]
    fn this_machine_answers() {
        let report = probe(&CgroupChoice::Auto);
        assert_eq!(report.layers().len(), 5);
    }
}

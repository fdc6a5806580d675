//! The only place that starts and signals processes.
//!
//! artel does not start processes itself: it runs a small program of its own, the launcher, which starts them in a
//! sandbox, watches them, and kills them when artel dies. `launcher`, `owner` and `child` are artel's side, `serve` and
//! what it uses is the launcher's, `request`, `exit`, `report` and `wire` are what both speak.

mod adopt;
mod attempt;
mod attempt_control;
mod attempt_environment;
mod attempt_listen;
mod cgroup;
mod child;
mod clock;
mod denial;
mod denied;
mod descriptors;
mod exit;
mod folder;
mod group;
mod landlock;
mod launcher;
mod limits;
mod machine;
mod mask;
mod orphans;
mod output;
mod own;
mod owner;
mod pages;
mod places;
mod privileges;
mod report;
mod request;
mod rules;
mod seccomp;
mod serve;
mod signals;
mod start;
mod supervised;
mod supervisor;
mod tree;
mod unnamed;
mod user;
mod watchdog;
mod wire;

pub use attempt::{AttemptEnd, AttemptRequest, EventSink, run_attempt};
pub use attempt_control::{AttemptControl, AttemptHandle};
pub use attempt_environment::{EnvironmentFacts, environment};
pub use cgroup::{CgroupChoice, CgroupState};
pub use child::{ChildProcess, ProcessGroup};
pub use denial::explain_denial;
pub use descriptors::allow_all_descriptors;
pub use exit::{Exit, ExitStatus, Limit, LimitReached, Usage};
pub(crate) use folder::folder_bytes;
pub use launcher::{Launcher, LauncherConfig, LauncherError, LauncherProgram, SpawnError};
pub use orphans::{ProcessMark, end_orphans};
pub(crate) use own::{effective_user, set_umask};
pub use pages::refuse_huge_pages;
pub use report::{Layer, LayerReport, SandboxReport, probe};
pub use request::{
    ClosedFiles, GroupSignal, Network, ProcessLimits, Profile, RunAs, Sandbox, SpawnRequest, Strictness,
};
pub use serve::run_launcher_if_asked;
pub use user::{NoUsers, can_run_as};
pub use wire::Stage;

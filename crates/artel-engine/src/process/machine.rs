//! What the launcher prepares once for all children: the system's places, the filters, the ceiling of the limits; and how
//! a request becomes a process with them. Knows nothing of the socket and of groups.

use std::os::fd::{AsFd as _, OwnedFd};

use super::cgroup::{Cell, CgroupChoice, CgroupState, Cgroups};
use super::denied::system_calls;
use super::landlock::Ruleset;
use super::limits::Ceiling;
use super::mask;
use super::orphans::ProcessMark;
use super::report::{SandboxReport, probe_for};
use super::request::{Network, RunAs, Sandbox, SpawnRequest};
use super::rules::Rules;
use super::seccomp::{self, Filter, Supervision};
use super::start::{Confinement, Image, NotStarted, Stack, StartContext, Started, start};
use super::supervisor::{Supervisor, receive_listener};
use super::user::be_dumpable;
use super::wire::Stage;

/// What is prepared once.
pub(super) struct Machine {
    pub(super) report: SandboxReport,
    rules: Rules,
    without_network: Filter,
    with_network: Filter,
    asking: Option<Asking>,
    ceiling: Ceiling,
    mark: Option<ProcessMark>,
    priority: i32,
    stack: Stack,
    cgroups: Option<Cgroups>,
    /// The view of the file system of processes without the sandbox, where that of the others is another.
    whole_view: Option<OwnedFd>,
}

/// How children let the launcher answer some of their system calls.
struct Asking {
    filter: Filter,
    /// Where a child sends what its calls arrive at.
    sender: OwnedFd,
    receiver: OwnedFd,
}

impl Asking {
    /// Prepares what is needed, where the machine can do it.
    fn prepare() -> Option<Self> {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
        let filter = seccomp::can_ask().then(|| Filter::asking(&system_calls(Network::Denied)))?;
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (sender, receiver) = pair.ok()?;
        Some(Self { filter, sender, receiver })
    }
}

/// A process that runs, and what belongs to it.
pub(super) struct Launched {
    pub(super) started: Started,
    pub(super) cell: Option<Cell>,
    pub(super) supervisor: Option<Supervisor>,
}

impl Machine {
    /// Looks at the machine and prepares what it can do, for children of this priority.
    pub(super) fn prepare(priority: i32, choice: &CgroupChoice, mark: Option<ProcessMark>) -> Self {
        let own =
            [rustix::process::getpid(), rustix::process::getppid().unwrap_or(rustix::process::getpid())];
        let own = own.map(|pid| pid.as_raw_nonzero().get());
        let mut report = probe_for(choice, &own);
        let cgroups = take_cgroups(&mut report, &own);
        let asking = Asking::prepare();
        let supervision = if asking.is_some() { Supervision::ByAnotherFilter } else { Supervision::None };
        let refusing = |network| Filter::refusing(&system_calls(network), supervision);
        Self {
            rules: Rules::prepare(report.landlock_abi),
            report,
            without_network: refusing(Network::Denied),
            with_network: refusing(Network::Allowed),
            asking,
            ceiling: Ceiling::of_this_process(),
            mark,
            priority,
            stack: Stack::new(),
            cgroups,
            whole_view: mask::hide_machine_files(),
        }
    }

    /// Starts a process with these standard streams, in a cell where there are some.
    pub(super) fn spawn(
        &mut self,
        request: &SpawnRequest,
        streams: &[OwnedFd; 3],
    ) -> Result<Launched, NotStarted> {
        let cell = self.cgroups.as_mut().map(|cgroups| cgroups.cell(&request.limits)).transpose();
        let failed = |error| NotStarted { stage: Stage::Cgroup, error, remains: None };
        let cell = cell.map_err(failed)?;
        let (started, supervisor) = self.start(request, streams, cell.as_ref())?;
        Ok(Launched { started, cell, supervisor })
    }

    fn start(
        &mut self,
        request: &SpawnRequest,
        streams: &[OwnedFd; 3],
        cell: Option<&Cell>,
    ) -> Result<(Started, Option<Supervisor>), NotStarted> {
        let failed = |stage, error| NotStarted { stage, error, remains: None };
        let image = Image::of(request).map_err(|error| failed(Stage::Request, error.into()))?;
        let start_context = StartContext {
            streams: streams.each_ref().map(|stream| stream.as_fd()),
            limits: self.ceiling.apply(&request.limits, self.mark),
            priority: self.priority,
            cell: cell.map(Cell::entrance),
            view: match request.sandbox {
                Sandbox::Off => self.whole_view.as_ref().map(OwnedFd::as_fd),
                Sandbox::On(_) => None,
            },
        };
        let profile = match &request.sandbox {
            Sandbox::Off if request.run_as != RunAs::Artel => {
                return Err(failed(Stage::User, std::io::Error::from_raw_os_error(libc::EINVAL)));
            }
            Sandbox::Off => {
                return start(&image, &start_context, None, &mut self.stack).map(|started| (started, None));
            }
            Sandbox::On(profile) => profile,
        };
        let (rules, writable) = self.rules.of(profile).map_err(|error| failed(Stage::Rules, error))?;
        let filter = match profile.network {
            Network::Denied => &self.without_network,
            Network::Allowed => &self.with_network,
        };
        let confinement = Confinement {
            run_as: request.run_as,
            rules: rules.map(Ruleset::descriptor),
            filter: self.report.seccomp.then(|| filter.as_kernel_program()),
            asking: self
                .asking
                .as_ref()
                .map(|asking| (asking.filter.as_kernel_program(), asking.sender.as_fd())),
        };
        let started = start(&image, &start_context, Some(&confinement), &mut self.stack);
        if request.run_as != RunAs::Artel {
            be_dumpable();
        }
        // Taken also when the child failed after it was sent.
        let listener = self.asking.as_ref().map(|asking| receive_listener(&asking.receiver)).transpose();
        let listener = listener.map_err(|error| failed(Stage::Seccomp, error))?.flatten();
        Ok((started?, listener.map(|listener| Supervisor::new(listener, writable))))
    }
}

/// Takes the part of the tree that was found; the report says why when that cannot be.
fn take_cgroups(report: &mut SandboxReport, own: &[i32]) -> Option<Cgroups> {
    let CgroupState::Own { folder, controllers } = &report.cgroup else { return None };
    match Cgroups::take(folder, controllers, own) {
        Ok(cgroups) => Some(cgroups),
        Err(why) => {
            report.cgroup = CgroupState::None { why };
            None
        }
    }
}

//! What the launcher prepares once for all children: the system's places, the filters, the ceiling of the limits; and how
//! a request becomes a process with them. Knows nothing of the socket and of groups.

use std::os::fd::{AsFd as _, OwnedFd};

use super::cgroup::{Cell, CgroupChoice, CgroupState, Cgroups};
use super::denied::system_calls;
use super::landlock::Ruleset;
use super::limits::Ceiling;
use super::report::{SandboxReport, probe_for};
use super::request::{Network, Sandbox, SpawnRequest};
use super::rules::Rules;
use super::seccomp::Filter;
use super::start::{Confinement, Image, NotStarted, Stack, Started, Surroundings, start};
use super::wire::Stage;

/// What is prepared once.
pub(super) struct Machine {
    pub(super) report: SandboxReport,
    rules: Rules,
    without_network: Filter,
    with_network: Filter,
    ceiling: Ceiling,
    priority: i32,
    stack: Stack,
    cgroups: Option<Cgroups>,
}

impl Machine {
    /// Looks at the machine and prepares what it can do, for children of this priority.
    pub(super) fn prepare(priority: i32, choice: &CgroupChoice) -> Self {
        let own =
            [rustix::process::getpid(), rustix::process::getppid().unwrap_or(rustix::process::getpid())];
        let own = own.map(|pid| pid.as_raw_nonzero().get());
        let mut report = probe_for(choice, &own);
        let cgroups = take_cgroups(&mut report, &own);
        Self {
            rules: Rules::prepare(report.landlock_abi),
            report,
            without_network: Filter::refusing(&system_calls(Network::Denied)),
            with_network: Filter::refusing(&system_calls(Network::Allowed)),
            ceiling: Ceiling::of_this_process(),
            priority,
            stack: Stack::new(),
            cgroups,
        }
    }

    /// Starts a process with these standard streams, in a cell where there are some.
    pub(super) fn spawn(
        &mut self,
        request: &SpawnRequest,
        streams: &[OwnedFd; 3],
    ) -> Result<(Started, Option<Cell>), NotStarted> {
        let cell = self.cgroups.as_mut().map(|cgroups| cgroups.cell(&request.limits)).transpose();
        let failed = |error| NotStarted { stage: Stage::Cgroup, error, remains: None };
        let cell = cell.map_err(failed)?;
        self.start(request, streams, cell.as_ref()).map(|started| (started, cell))
    }

    fn start(
        &mut self,
        request: &SpawnRequest,
        streams: &[OwnedFd; 3],
        cell: Option<&Cell>,
    ) -> Result<Started, NotStarted> {
        let failed = |stage, error| NotStarted { stage, error, remains: None };
        let image = Image::of(request).map_err(|error| failed(Stage::Request, error.into()))?;
        let surroundings = Surroundings {
            streams: streams.each_ref().map(|stream| stream.as_fd()),
            limits: self.ceiling.apply(&request.limits),
            priority: self.priority,
            cell: cell.map(Cell::entrance),
        };
        let profile = match &request.sandbox {
            Sandbox::Off => return start(&image, &surroundings, None, &mut self.stack),
            Sandbox::On(profile) => profile,
        };
        let rules = self.rules.of(profile).map_err(|error| failed(Stage::Rules, error))?;
        let filter = match profile.network {
            Network::Denied => &self.without_network,
            Network::Allowed => &self.with_network,
        };
        let confinement = Confinement {
            rules: rules.map(Ruleset::descriptor),
            filter: self.report.seccomp.then(|| filter.as_kernel_program()),
        };
        start(&image, &surroundings, Some(&confinement), &mut self.stack)
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

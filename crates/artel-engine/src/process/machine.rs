//! What the launcher prepares once for all children: the system's places, the filters, the ceiling of the limits; and how
//! a request becomes a process with them. Knows nothing of the socket and of groups.

use std::os::fd::{AsFd as _, OwnedFd};

use super::denied::system_calls;
use super::landlock::Ruleset;
use super::limits::Ceiling;
use super::report::{SandboxReport, probe};
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
}

impl Machine {
    /// Looks at the machine and prepares what it can do, for children of this priority.
    pub(super) fn prepare(priority: i32) -> Self {
        let report = probe();
        Self {
            rules: Rules::prepare(report.landlock_abi),
            report,
            without_network: Filter::refusing(&system_calls(Network::Denied)),
            with_network: Filter::refusing(&system_calls(Network::Allowed)),
            ceiling: Ceiling::of_this_process(),
            priority,
            stack: Stack::new(),
        }
    }

    /// Starts a process with these standard streams.
    pub(super) fn spawn(
        &mut self,
        request: &SpawnRequest,
        streams: &[OwnedFd; 3],
    ) -> Result<Started, NotStarted> {
        let failed = |stage, error| NotStarted { stage, error, remains: None };
        let image = Image::of(request).map_err(|error| failed(Stage::Request, error.into()))?;
        let surroundings = Surroundings {
            streams: streams.each_ref().map(|stream| stream.as_fd()),
            limits: self.ceiling.apply(&request.limits),
            priority: self.priority,
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

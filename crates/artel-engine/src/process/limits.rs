//! Turns the limits of a request into those of the kernel. Pure, but for asking once what the launcher itself may set.

use rustix::process::{Resource, Rlimit, getrlimit};

use super::orphans::ProcessMark;
use super::request::ProcessLimits;
use super::start::{LIMITS_MAX, ResourceLimit};

/// Processes of the same user that are not ours. The kernel counts them all together, so a process limit of ours must
/// leave room for them; it only keeps a fork bomb within bounds until the watchdog sees it.
const OTHER_PROCESSES_OF_USER: u64 = 4096;

const RESOURCES: [Resource; LIMITS_MAX] = [
    Resource::Cpu,
    Resource::Data,
    Resource::Nofile,
    Resource::Fsize,
    Resource::Core,
    Resource::Nproc,
    Resource::Msgqueue,
];

/// The highest limits that this process may set; without a limit it is the largest number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ceiling([u64; LIMITS_MAX]);

impl Ceiling {
    /// Asks the kernel for the limits of this process.
    pub(super) fn of_this_process() -> Self {
        Self(RESOURCES.map(|resource| getrlimit(resource).maximum.unwrap_or(u64::MAX)))
    }

    /// Returns what to set on a process. Memory is limited as data, not as address space: V8 and the JVM reserve far
    /// more addresses than they ever use.
    pub(super) fn apply(
        &self,
        limits: &ProcessLimits,
        mark: Option<ProcessMark>,
    ) -> [ResourceLimit; LIMITS_MAX] {
        // The soft limit of processor time sends SIGXCPU, the hard one a second later SIGKILL.
        let wanted = [
            (limits.cpu_s, limits.cpu_s.saturating_add(1)),
            same(limits.memory_bytes),
            same(limits.open_files),
            same(limits.file_bytes),
            same(0),
            same(limits.processes.saturating_add(OTHER_PROCESSES_OF_USER)),
            // No process needs message queues; the limit is what orphans are known by.
            same(mark.map_or(0, ProcessMark::value)),
        ];
        std::array::from_fn(|index| {
            let (soft, hard) = wanted[index];
            let ceiling = self.0[index];
            let limit = Rlimit { current: Some(soft.min(ceiling)), maximum: Some(hard.min(ceiling)) };
            (RESOURCES[index], limit)
        })
    }
}

fn same(value: u64) -> (u64, u64) {
    (value, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_stay_below_what_the_launcher_may_set() {
        let ceiling = Ceiling([5, u64::MAX, 100, 7, u64::MAX, 5000, 9]);
        let limits = ProcessLimits {
            cpu_s: 10,
            memory_bytes: 20,
            open_files: 30,
            processes: 40,
            file_bytes: 50,
            folder_bytes: 60,
        };
        let set = ceiling
            .apply(&limits, ProcessMark::parse("8"))
            .map(|(_, limit)| (limit.current.unwrap(), limit.maximum.unwrap()));
        assert_eq!(set, [(5, 5), (20, 20), (30, 30), (7, 7), (0, 0), (4136, 4136), (8, 8)]);
        let free = Ceiling([u64::MAX; LIMITS_MAX]).apply(&limits, None);
        assert_eq!((free[0].1.current, free[0].1.maximum), (Some(10), Some(11)));
    }
}

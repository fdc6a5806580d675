//! Turns the list of refused system calls into a filter for the kernel: a search tree, so that the kernel, which runs it
//! for every known call when it is installed, is done quickly. Knows nothing of which calls are refused.

use std::io;

use super::denied::{Denied, When};

const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_IF_ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const JUMP_ALWAYS: u16 = 0x05; // BPF_JMP | BPF_JA
const RETURN: u16 = 0x06; // BPF_RET | BPF_K
/// How far a conditional jump reaches.
const JUMP_MAX: usize = 255;

const ALLOW: u32 = 0x7FFF_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const NOT_PERMITTED: u32 = ERRNO | libc::EPERM as u32;
const NO_SUCH_CALL: u32 = ERRNO | libc::ENOSYS as u32;
const NOT_SUPPORTED: u32 = ERRNO | libc::EOPNOTSUPP as u32;
/// The launcher is told, and answers for the kernel.
const ASK: u32 = 0x7FC0_0000;

/// Where the kernel puts what a filter can look at.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;
/// Numbers from here on are of the x32 architecture, which shares the kernel's table with x86_64.
#[cfg(target_arch = "x86_64")]
const X32_FROM: u32 = 0x4000_0000;

/// Keeps the processor from being slowed down for filtered processes, which is not what the filter is for.
pub(super) const FILTER_FLAG_SPEC_ALLOW: u32 = 4;
/// Makes a descriptor at which calls arrive that the filter asks about.
pub(super) const FILTER_FLAG_NEW_LISTENER: u32 = 8;
pub(super) const FILTER_SET_MODE: u32 = 1;

/// What a filter answers to calls that the launcher has to look at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Supervision {
    /// Nothing: a filter that asks the launcher is there too.
    ByAnotherFilter,
    /// They are refused, as the launcher cannot be asked.
    None,
}

/// A program for the kernel.
#[derive(Debug)]
pub(super) struct Filter(Vec<libc::sock_filter>);

impl Filter {
    /// Builds the filter that refuses these calls, which are sorted by number, and allows all others.
    pub(super) fn refusing(calls: &[Denied], supervision: Supervision) -> Self {
        let supervised = match supervision {
            Supervision::ByAnotherFilter => ALLOW,
            Supervision::None => NOT_PERMITTED,
        };
        Self::searching(calls, supervised)
    }

    /// Builds the filter that asks the launcher about those of these calls that it has to look at, and allows all others.
    pub(super) fn asking(calls: &[Denied]) -> Self {
        let supervised: Vec<Denied> =
            calls.iter().filter(|call| call.when == When::Supervised).copied().collect();
        Self::searching(&supervised, ASK)
    }

    fn searching(calls: &[Denied], supervised: u32) -> Self {
        let mut program = vec![
            load(ARCHITECTURE_AT),
            jump(JUMP_IF_EQUAL, ARCHITECTURE, 1, 0),
            answer(KILL_PROCESS),
            load(NUMBER_AT),
        ];
        #[cfg(target_arch = "x86_64")]
        program.extend([jump(JUMP_IF_AT_LEAST, X32_FROM, 0, 1), answer(KILL_PROCESS)]);
        program.extend(search(&intervals(calls), supervised));
        Self(program)
    }

    /// Returns the program as the kernel takes it; it points into this filter.
    pub(super) fn as_kernel_program(&self) -> libc::sock_fprog {
        let length = u16::try_from(self.0.len()).expect("a filter has a few hundred instructions");
        libc::sock_fprog { len: length, filter: self.0.as_ptr().cast_mut() }
    }
}

/// Returns whether the kernel can filter system calls and answer with an error.
pub(super) fn is_available() -> bool {
    match knows(ERRNO) {
        Ok(()) => true,
        // Linux before 4.14 has no such question, but has filters.
        Err(error) => error.raw_os_error() == Some(libc::EINVAL),
    }
}

/// Returns whether the launcher can be asked about system calls of its children. Only a filter that is installed tells:
/// where another program already answers for this process, there can be no second one. A filter is for one thread.
pub(super) fn can_ask() -> bool {
    knows(ASK).is_ok() && std::thread::spawn(install_asking).join().is_ok_and(|installed| installed)
}

#[expect(unsafe_code, reason = "seccomp has no function in the C library")]
fn install_asking() -> bool {
    let filter = Filter::asking(&[]);
    let program = filter.as_kernel_program();
    let flags = FILTER_FLAG_SPEC_ALLOW | FILTER_FLAG_NEW_LISTENER;
    // SAFETY: the calls take numbers and a pointer to a live structure, and concern this thread, which ends.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let listener = libc::syscall(libc::SYS_seccomp, FILTER_SET_MODE, flags, &raw const program);
        listener >= 0 && libc::close(listener as libc::c_int) == 0
    }
}

#[expect(unsafe_code, reason = "seccomp has no function in the C library")]
fn knows(action: u32) -> io::Result<()> {
    const GET_ACTION_AVAIL: u32 = 2;
    // SAFETY: the kernel reads one number behind the pointer, which lives through the call.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0_u32, &raw const action) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns from which number on which rule holds; numbers without a rule are allowed.
fn intervals(calls: &[Denied]) -> Vec<(u32, Option<When>)> {
    let mut intervals = vec![(0, None)];
    for call in calls {
        let number = u32::try_from(call.number).expect("system calls have small numbers");
        intervals.retain(|(from, _)| *from != number);
        let rule = Some(call.when);
        // Neighbours with the same rule are one interval.
        if intervals.last().is_none_or(|(_, last)| *last != rule) {
            intervals.push((number, rule));
        }
        intervals.push((number + 1, None));
    }
    intervals
}

/// Returns a search tree over intervals of numbers: a comparison, the lower half, the upper half.
fn search(intervals: &[(u32, Option<When>)], supervised: u32) -> Vec<libc::sock_filter> {
    let (low, high) = match intervals {
        [] | [(_, None)] => return vec![answer(ALLOW)],
        [(_, Some(when))] => return judgement(*when, supervised),
        more => more.split_at(more.len() / 2),
    };
    let (below, at_least) = (search(low, supervised), search(high, supervised));
    let mut program = if below.len() <= JUMP_MAX {
        vec![jump(JUMP_IF_AT_LEAST, high[0].0, below.len(), 0)]
    } else {
        vec![jump(JUMP_IF_AT_LEAST, high[0].0, 0, 1), skip(below.len())]
    };
    program.extend(below);
    program.extend(at_least);
    program
}

/// Returns instructions that decide a call of the right number; each way through them ends with an answer.
fn judgement(when: When, supervised: u32) -> Vec<libc::sock_filter> {
    match when {
        When::Always => vec![answer(NOT_PERMITTED)],
        When::Unknown => vec![answer(NO_SUCH_CALL)],
        When::Unsupported => vec![answer(NOT_SUPPORTED)],
        When::Supervised => vec![answer(supervised)],
        When::Bits(conditions) => bits(conditions),
        When::OneOf { argument, values } => {
            one_of(argument, values, &[answer(NOT_PERMITTED)], &[answer(ALLOW)])
        }
        When::Unless(conditions) => unless(conditions),
        When::NotInternet => vec![
            load_argument(0),
            jump(JUMP_IF_EQUAL, libc::AF_INET as u32, 4, 0),
            jump(JUMP_IF_EQUAL, libc::AF_INET6 as u32, 3, 0),
            jump(JUMP_IF_EQUAL, libc::AF_NETLINK as u32, 0, 3),
            load_argument(2),
            jump(JUMP_IF_EQUAL, libc::NETLINK_ROUTE as u32, 0, 1),
            answer(ALLOW),
            answer(NOT_PERMITTED),
        ],
    }
}

/// Refuses when every argument has one of its bits.
fn bits(conditions: &[(u32, u32)]) -> Vec<libc::sock_filter> {
    let mut program = Vec::new();
    for (index, (argument, bits)) in conditions.iter().enumerate() {
        // Past the other conditions and the refusal.
        let to_allow = 2 * (conditions.len() - index - 1) + 1;
        program.extend([load_argument(*argument), jump(JUMP_IF_ANY_BIT, *bits, 0, to_allow)]);
    }
    program.extend([answer(NOT_PERMITTED), answer(ALLOW)]);
    program
}

/// Allows when every argument has one of its values.
fn unless(conditions: &[(u32, &[u32])]) -> Vec<libc::sock_filter> {
    let mut program = vec![answer(ALLOW)];
    for (argument, values) in conditions.iter().rev() {
        program = one_of(*argument, values, &program, &[answer(NOT_PERMITTED)]);
    }
    program
}

/// Goes on with one of two programs, by whether an argument has one of the values.
fn one_of(
    argument: u32,
    values: &[u32],
    listed: &[libc::sock_filter],
    other: &[libc::sock_filter],
) -> Vec<libc::sock_filter> {
    let mut program = vec![load_argument(argument)];
    for (index, value) in values.iter().enumerate() {
        program.push(jump(JUMP_IF_EQUAL, *value, values.len() - index - 1 + other.len(), 0));
    }
    program.extend_from_slice(other);
    program.extend_from_slice(listed);
    program
}

fn load(offset: u32) -> libc::sock_filter {
    libc::sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: offset }
}

/// Loads the lower half of an argument; both architectures are little-endian.
fn load_argument(index: u32) -> libc::sock_filter {
    load(ARGUMENTS_AT + 8 * index)
}

fn jump(code: u16, operand: u32, if_true: usize, if_false: usize) -> libc::sock_filter {
    let distance = |count: usize| u8::try_from(count).expect("what is judged is short");
    libc::sock_filter { code, jt: distance(if_true), jf: distance(if_false), k: operand }
}

fn skip(count: usize) -> libc::sock_filter {
    let count = u32::try_from(count).expect("a filter has a few hundred instructions");
    libc::sock_filter { code: JUMP_ALWAYS, jt: 0, jf: 0, k: count }
}

fn answer(action: u32) -> libc::sock_filter {
    libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: action }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::denied::system_calls;
    use crate::process::request::Network;

    /// Runs a filter as the kernel would.
    fn run(filter: &Filter, architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut place = 0;
        let mut accumulator = 0;
        loop {
            let step = filter.0[place];
            place += 1;
            let taken = match step.code {
                LOAD_WORD => {
                    accumulator = match step.k {
                        NUMBER_AT => number,
                        ARCHITECTURE_AT => architecture,
                        offset => arguments[((offset - ARGUMENTS_AT) / 8) as usize] as u32,
                    };
                    continue;
                }
                RETURN => return step.k,
                JUMP_ALWAYS => {
                    place += step.k as usize;
                    continue;
                }
                JUMP_IF_EQUAL => accumulator == step.k,
                JUMP_IF_AT_LEAST => accumulator >= step.k,
                JUMP_IF_ANY_BIT => accumulator & step.k != 0,
                code => panic!("unknown instruction {code}"),
            };
            place += usize::from(if taken { step.jt } else { step.jf });
        }
    }

    fn filter(network: Network) -> Filter {
        Filter::refusing(&system_calls(network), Supervision::ByAnotherFilter)
    }

    fn judge(network: Network, number: i64, arguments: &[u64]) -> u32 {
        let mut six = [0; 6];
        six[..arguments.len()].copy_from_slice(arguments);
        run(&filter(network), ARCHITECTURE, number as u32, six)
    }

    #[track_caller]
    fn check(network: Network, number: i64, arguments: &[u64], expected: u32) {
        assert_eq!(judge(network, number, arguments), expected, "{number} {arguments:x?}");
    }

    #[test]
    fn every_listed_call_is_refused_and_every_other_is_allowed() {
        let calls = system_calls(Network::Denied);
        let always: Vec<i64> =
            calls.iter().filter(|call| matches!(call.when, When::Always)).map(|call| call.number).collect();
        assert!(always.len() > 50);
        for number in 0..600 {
            let expected = if always.contains(&number) { NOT_PERMITTED } else { ALLOW };
            if calls.iter().all(|call| call.number != number) || always.contains(&number) {
                check(Network::Denied, number, &[], expected);
            }
        }
    }

    #[test]
    fn threads_are_allowed_and_namespaces_are_not() {
        let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
        check(Network::Denied, libc::SYS_clone, &[thread], ALLOW);
        for flag in [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWNET, libc::CLONE_NEWPID] {
            check(Network::Denied, libc::SYS_clone, &[flag as u64 | libc::SIGCHLD as u64], NOT_PERMITTED);
        }
        check(Network::Denied, libc::SYS_clone3, &[], NO_SUCH_CALL);
    }

    #[test]
    fn sockets_are_judged_by_their_family() {
        let inet = libc::AF_INET as u64;
        let families = [
            (libc::AF_INET, ALLOW),
            (libc::AF_INET6, ALLOW),
            (libc::AF_UNIX, NOT_PERMITTED),
            (libc::AF_PACKET, NOT_PERMITTED),
            (libc::AF_VSOCK, NOT_PERMITTED),
            (libc::AF_ALG, NOT_PERMITTED),
        ];
        for (family, allowed) in families {
            check(Network::Denied, libc::SYS_socket, &[family as u64], NOT_PERMITTED);
            check(Network::Allowed, libc::SYS_socket, &[family as u64], allowed);
        }
        let netlink = libc::AF_NETLINK as u64;
        check(Network::Allowed, libc::SYS_socket, &[netlink, 3, libc::NETLINK_ROUTE as u64], ALLOW);
        check(Network::Allowed, libc::SYS_socket, &[netlink, 3, libc::NETLINK_AUDIT as u64], NOT_PERMITTED);
        check(Network::Denied, libc::SYS_socketpair, &[libc::AF_UNIX as u64], ALLOW);
        check(Network::Denied, libc::SYS_socketpair, &[inet], NOT_PERMITTED);
        // The kernel takes the family as 32 bits; what is above must not hide it.
        check(Network::Allowed, libc::SYS_socket, &[1 << 32 | libc::AF_UNIX as u64], NOT_PERMITTED);
    }

    #[test]
    fn typing_into_a_terminal_is_refused() {
        check(Network::Denied, libc::SYS_ioctl, &[0, 0x5412], NOT_PERMITTED);
        check(Network::Denied, libc::SYS_ioctl, &[0, 1 << 32 | 0x541C], NOT_PERMITTED);
        check(Network::Denied, libc::SYS_ioctl, &[0, 0x5401], ALLOW);
    }

    #[test]
    fn other_architectures_end_the_process() {
        let filter = filter(Network::Allowed);
        assert_eq!(run(&filter, 0x4000_0003, 1, [0; 6]), KILL_PROCESS);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(run(&filter, ARCHITECTURE, X32_FROM | 1, [0; 6]), KILL_PROCESS);
    }

    #[test]
    fn calls_about_processes_are_allowed_for_the_caller_only() {
        let own = [
            libc::SYS_prlimit64,
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_setscheduler,
            libc::SYS_sched_setparam,
            libc::SYS_sched_setattr,
            libc::SYS_move_pages,
            libc::SYS_migrate_pages,
        ];
        for number in own {
            check(Network::Denied, number, &[0, 7], ALLOW);
            check(Network::Denied, number, &[1, 7], NOT_PERMITTED);
            check(Network::Denied, number, &[4242, 7], NOT_PERMITTED);
            check(Network::Denied, number, &[u64::MAX, 7], NOT_PERMITTED);
        }
        for (number, process, group, user) in
            [(libc::SYS_setpriority, 0, 1, 2), (libc::SYS_ioprio_set, 1, 2, 3)]
        {
            check(Network::Denied, number, &[process, 0], ALLOW);
            check(Network::Denied, number, &[group, 0], ALLOW);
            check(Network::Denied, number, &[user, 0], NOT_PERMITTED);
            check(Network::Denied, number, &[process, 1], NOT_PERMITTED);
            check(Network::Denied, number, &[group, 4242], NOT_PERMITTED);
        }
    }

    #[test]
    fn files_are_not_made_to_run_as_their_owner() {
        let create = libc::O_CREAT as u64 | libc::O_WRONLY as u64;
        for mode in [0o4755, 0o2755, 0o6777] {
            check(Network::Denied, libc::SYS_openat, &[0, 0, create, mode], NOT_PERMITTED);
            check(Network::Denied, libc::SYS_openat, &[0, 0, libc::O_TMPFILE as u64, mode], NOT_PERMITTED);
            // Without a file to make, the mode is whatever the register held.
            check(Network::Denied, libc::SYS_openat, &[0, 0, 0, mode], ALLOW);
            check(Network::Denied, libc::SYS_mknodat, &[0, 0, mode | 0o100_000], NOT_PERMITTED);
            #[cfg(target_arch = "x86_64")]
            for (number, arguments) in [
                (libc::SYS_open, [0, create, mode]),
                (libc::SYS_creat, [0, mode, 0]),
                (libc::SYS_mknod, [0, mode, 0]),
            ] {
                check(Network::Denied, number, &arguments, NOT_PERMITTED);
            }
        }
        check(Network::Denied, libc::SYS_openat, &[0, 0, create, 0o1777], ALLOW);
        check(Network::Denied, libc::SYS_openat2, &[], NO_SUCH_CALL);
    }

    #[test]
    fn owners_modes_and_times_are_the_launchers_to_decide() {
        for number in [libc::SYS_fchmodat, libc::SYS_fchmod, libc::SYS_fchownat, libc::SYS_utimensat] {
            check(Network::Denied, number, &[], ALLOW);
            let asking = Filter::asking(&system_calls(Network::Denied));
            assert_eq!(run(&asking, ARCHITECTURE, number as u32, [0; 6]), ASK);
            assert_eq!(run(&asking, ARCHITECTURE, libc::SYS_ptrace as u32, [0; 6]), ALLOW);
            let unsupervised = Filter::refusing(&system_calls(Network::Denied), Supervision::None);
            assert_eq!(run(&unsupervised, ARCHITECTURE, number as u32, [0; 6]), NOT_PERMITTED);
        }
        check(Network::Denied, libc::SYS_fsetxattr, &[], NOT_SUPPORTED);
    }

    #[test]
    fn descriptors_are_not_sent_without_a_network() {
        for number in [libc::SYS_sendmsg, libc::SYS_sendmmsg] {
            check(Network::Denied, number, &[], NOT_PERMITTED);
            check(Network::Allowed, number, &[], ALLOW);
        }
    }
}

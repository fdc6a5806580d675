//! Turns the list of refused system calls into a filter for the kernel: a search tree, so that the kernel, which runs it
//! for every known call when it is installed, is done quickly. Knows nothing of which calls are refused.

use std::io;

use super::denied::{Denied, When};

const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_IF_ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const ALLOW: u32 = 0x7FFF_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const NOT_PERMITTED: u32 = ERRNO | libc::EPERM as u32;
const NO_SUCH_CALL: u32 = ERRNO | libc::ENOSYS as u32;

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

/// A program for the kernel.
#[derive(Debug)]
pub(super) struct Filter(Vec<libc::sock_filter>);

impl Filter {
    /// Builds the filter that refuses these calls, which are sorted by number, and allows all others.
    pub(super) fn refusing(calls: &[Denied]) -> Self {
        let mut program = vec![
            load(ARCHITECTURE_AT),
            jump(JUMP_IF_EQUAL, ARCHITECTURE, 1, 0),
            answer(KILL_PROCESS),
            load(NUMBER_AT),
        ];
        #[cfg(target_arch = "x86_64")]
        program.extend([jump(JUMP_IF_AT_LEAST, X32_FROM, 0, 1), answer(KILL_PROCESS)]);
        program.extend(Search::among(calls).finish());
        Self(program)
    }

    /// Returns the program as the kernel takes it; it points into this filter.
    pub(super) fn as_kernel_program(&self) -> libc::sock_fprog {
        let length = u16::try_from(self.0.len()).expect("a filter has a few hundred instructions");
        libc::sock_fprog { len: length, filter: self.0.as_ptr().cast_mut() }
    }
}

/// Returns whether the kernel can filter system calls and answer with an error.
#[expect(unsafe_code, reason = "seccomp has no function in the C library")]
pub(super) fn is_available() -> bool {
    const GET_ACTION_AVAIL: u32 = 2;
    let action = ERRNO;
    // SAFETY: the kernel reads one number behind the pointer, which lives through the call.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0_u32, &raw const action) };
    let error = io::Error::last_os_error();
    // Linux before 4.14 has no such question, but has filters.
    answer == 0 || error.raw_os_error() == Some(libc::EINVAL)
}

/// A search tree over the numbers of calls: first the comparisons, then what they lead to.
struct Search {
    comparisons: Vec<Comparison>,
    root: Next,
    ends: Vec<Vec<libc::sock_filter>>,
}

/// Whether a number is at least this one, and where to go then.
struct Comparison {
    number: u32,
    at_least: Next,
    below: Next,
}

#[derive(Clone, Copy)]
enum Next {
    Comparison(usize),
    End(usize),
}

/// The ends that many calls share.
const ALLOWED: usize = 0;
const REFUSED: usize = 1;

impl Search {
    fn among(calls: &[Denied]) -> Self {
        let ends = vec![vec![answer(ALLOW)], vec![answer(NOT_PERMITTED)]];
        let mut search = Self { comparisons: Vec::new(), root: Next::End(ALLOWED), ends };
        let intervals = search.intervals(calls);
        search.root = search.divide(&intervals);
        search
    }

    /// Returns from which number on which end holds; neighbours with the same end are one interval.
    fn intervals(&mut self, calls: &[Denied]) -> Vec<(u32, usize)> {
        let mut intervals = vec![(0, ALLOWED)];
        for call in calls {
            let end = if matches!(call.when, When::Always) { REFUSED } else { self.ends.len() };
            if end == self.ends.len() {
                self.ends.push(judgement(call.when));
            }
            let number = u32::try_from(call.number).expect("system calls have small numbers");
            intervals.retain(|(from, _)| *from != number);
            if intervals.last().is_none_or(|(_, last)| *last != end) {
                intervals.push((number, end));
            }
            intervals.push((number + 1, ALLOWED));
        }
        intervals
    }

    fn divide(&mut self, intervals: &[(u32, usize)]) -> Next {
        let (low, high) = match intervals {
            [] => return Next::End(ALLOWED),
            [(_, end)] => return Next::End(*end),
            more => more.split_at(more.len() / 2),
        };
        // The place is taken before the parts are, as jumps only go forward.
        let place = self.comparisons.len();
        self.comparisons.push(Comparison { number: high[0].0, at_least: self.root, below: self.root });
        self.comparisons[place].below = self.divide(low);
        self.comparisons[place].at_least = self.divide(high);
        Next::Comparison(place)
    }

    fn finish(self) -> Vec<libc::sock_filter> {
        let mut starts = Vec::new();
        let mut length = self.comparisons.len();
        for end in &self.ends {
            starts.push(length);
            length += end.len();
        }
        let distance = |from: usize, next: Next| match next {
            Next::Comparison(place) => place - from - 1,
            Next::End(end) => starts[end] - from - 1,
        };
        let comparisons = self.comparisons.iter().enumerate().map(|(place, comparison)| {
            let at_least = distance(place, comparison.at_least);
            jump(JUMP_IF_AT_LEAST, comparison.number, at_least, distance(place, comparison.below))
        });
        comparisons.chain(self.ends.iter().flatten().copied()).collect()
    }
}

/// Returns instructions that decide a call of the right number; each way through them ends with an answer.
fn judgement(when: When) -> Vec<libc::sock_filter> {
    match when {
        When::Always => vec![answer(NOT_PERMITTED)],
        When::Unknown => vec![answer(NO_SUCH_CALL)],
        When::AnyBit { argument, bits } => vec![
            load_argument(argument),
            jump(JUMP_IF_ANY_BIT, bits, 0, 1),
            answer(NOT_PERMITTED),
            answer(ALLOW),
        ],
        When::OneOf { argument, values } => one_of(argument, values, NOT_PERMITTED, ALLOW),
        When::NoneOf { argument, values } => one_of(argument, values, ALLOW, NOT_PERMITTED),
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

fn one_of(argument: u32, values: &[u32], listed: u32, other: u32) -> Vec<libc::sock_filter> {
    let mut program = vec![load_argument(argument)];
    for (index, value) in values.iter().enumerate() {
        program.push(jump(JUMP_IF_EQUAL, *value, values.len() - index, 0));
    }
    program.extend([answer(other), answer(listed)]);
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
    let skip = |count: usize| u8::try_from(count).expect("the whole search fits in one jump");
    libc::sock_filter { code, jt: skip(if_true), jf: skip(if_false), k: operand }
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
                JUMP_IF_EQUAL => accumulator == step.k,
                JUMP_IF_AT_LEAST => accumulator >= step.k,
                JUMP_IF_ANY_BIT => accumulator & step.k != 0,
                code => panic!("unknown instruction {code}"),
            };
            place += usize::from(if taken { step.jt } else { step.jf });
        }
    }

    fn judge(network: Network, number: i64, arguments: &[u64]) -> u32 {
        let mut six = [0; 6];
        six[..arguments.len()].copy_from_slice(arguments);
        run(&Filter::refusing(&system_calls(network)), ARCHITECTURE, number as u32, six)
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
        let filter = Filter::refusing(&system_calls(Network::Allowed));
        assert_eq!(run(&filter, 0x4000_0003, 1, [0; 6]), KILL_PROCESS);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(run(&filter, ARCHITECTURE, X32_FROM | 1, [0; 6]), KILL_PROCESS);
    }
}

//! How a child gives up root's privileges, and becomes another user where it is to run as one. Runs in the child, between
//! its making and its program: only system calls, no memory is asked for.

use std::ffi::c_int;

use super::request::{ClosedFiles, RunAs};
use super::start::{Failure, check};
use super::wire::Stage;

/// To read, write and execute files whatever their owner, as landlock says which.
const DAC_OVERRIDE: u32 = 1 << 1;
/// To read files and go through folders whatever their owner.
const DAC_READ_SEARCH: u32 = 1 << 2;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct CapabilityWords {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Three words for each half of the privileges that there are.
type Capabilities = [CapabilityWords; 2];

const NONE: CapabilityWords = CapabilityWords { effective: 0, permitted: 0, inheritable: 0 };
static HEADER: CapabilityHeader = CapabilityHeader { version: 0x2008_0522, pid: 0 };

/// Gives up what the child does not need of root, and its user where it is to have another. `parent` is the launcher.
///
/// # Safety
/// The calling process is a child that executes a program next.
#[expect(unsafe_code, reason = "system calls")]
pub(super) unsafe fn give_up(run_as: RunAs, parent: i32) -> Result<(), Failure> {
    // SAFETY: passed on from this function's own contract.
    unsafe {
        match run_as {
            RunAs::Artel => {
                let kept = capabilities()?[0].permitted & DAC_OVERRIDE;
                set(CapabilityWords { effective: kept, permitted: kept, inheritable: 0 })
            }
            RunAs::User { user, group, closed_files } => {
                become_user(user, group)?;
                keep_for_program(closed_files)?;
                die_with(parent)
            }
        }
    }
}

/// # Safety
/// As for `give_up`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn become_user(user: u32, group: u32) -> Result<(), Failure> {
    let none = std::ptr::null::<libc::gid_t>();
    // SAFETY: the calls take numbers. They are made directly, as the C library would tell all threads of the launcher.
    unsafe {
        // The child has the launcher's memory until it executes its program: other processes of the user must not look.
        check(Stage::User, libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0))?;
        check(Stage::User, libc::syscall(libc::SYS_setgroups, 0_usize, none) as c_int)?;
        check(Stage::User, libc::syscall(libc::SYS_setresgid, group, group, group) as c_int)?;
        check(Stage::User, libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0))?;
        check(Stage::User, libc::syscall(libc::SYS_setresuid, user, user, user) as c_int)
    }
}

/// Executes the program whatever its mode, and leaves to the program what it needs to read its skill and to go through the
/// folders of artel, which are closed to every user.
///
/// # Safety
/// As for `give_up`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn keep_for_program(closed_files: ClosedFiles) -> Result<(), Failure> {
    // SAFETY: the calls take numbers.
    unsafe {
        let permitted = capabilities()?[0].permitted & (DAC_OVERRIDE | DAC_READ_SEARCH);
        let wanted = match closed_files {
            ClosedFiles::Read => DAC_READ_SEARCH,
            ClosedFiles::Use => DAC_OVERRIDE,
        };
        // Many containers have the one that can do more, and not the other.
        let left = if permitted & wanted == 0 { permitted & DAC_OVERRIDE } else { wanted };
        set(CapabilityWords { effective: permitted, permitted, inheritable: left })?;
        if left == 0 {
            return Ok(());
        }
        let (raise, number) = (libc::PR_CAP_AMBIENT_RAISE, left.trailing_zeros());
        check(Stage::User, libc::prctl(libc::PR_CAP_AMBIENT, raise, number, 0, 0))
    }
}

/// The kernel forgets at a change of the user that a process dies with its parent.
///
/// # Safety
/// As for `give_up`.
#[expect(unsafe_code, reason = "system calls")]
pub(super) unsafe fn die_with(parent: i32) -> Result<(), Failure> {
    // SAFETY: these calls take only numbers.
    unsafe {
        check(Stage::Group, libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // A launcher that died before the line above will send no signal.
        if libc::getppid() == parent { Ok(()) } else { Err((Stage::Group, libc::ESRCH)) }
    }
}

/// # Safety
/// As for `give_up`.
#[expect(unsafe_code, reason = "capabilities have no function in the C library")]
unsafe fn capabilities() -> Result<Capabilities, Failure> {
    let mut words = [NONE; 2];
    // SAFETY: the version says that the kernel writes two sets of three words.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw const HEADER, words.as_mut_ptr()) };
    check(Stage::Privileges, answer as c_int).map(|()| words)
}

/// # Safety
/// As for `give_up`.
#[expect(unsafe_code, reason = "capabilities have no function in the C library")]
unsafe fn set(words: CapabilityWords) -> Result<(), Failure> {
    let words: Capabilities = [words, NONE];
    // SAFETY: the version says that the kernel reads two sets of three words.
    let answer = unsafe { libc::syscall(libc::SYS_capset, &raw const HEADER, words.as_ptr()) };
    check(Stage::Privileges, answer as c_int)
}

/// Lets the launcher use all that it may again, after it took the user of a process for files and lost what root has there.
#[expect(unsafe_code, reason = "capabilities have no function in the C library")]
pub(super) fn use_all_permitted() {
    // SAFETY: the calls read and write structures of the sizes that the version names, and concern this process.
    unsafe {
        let Ok(mut words) = capabilities() else { return };
        for word in &mut words {
            word.effective = word.permitted;
        }
        libc::syscall(libc::SYS_capset, &raw const HEADER, words.as_ptr());
    }
}

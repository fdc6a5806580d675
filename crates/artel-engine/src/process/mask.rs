//! Hides files of `/proc` that only root may read from everything that the launcher starts: what they tell is of the whole
//! machine. A process with some of root's privileges could read them, and landlock cannot leave a file out of a folder.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// Files that are of root alone and that no program of a skill needs.
const HIDDEN: &[&CStr] = &[
    c"/proc/kpageflags",
    c"/proc/kpagecount",
    c"/proc/kpagecgroup",
    c"/proc/kcore",
    c"/proc/kmsg",
    c"/proc/keys",
    c"/proc/slabinfo",
    c"/proc/vmallocinfo",
    c"/proc/pagetypeinfo",
    c"/proc/timer_list",
    c"/proc/sched_debug",
    c"/proc/sysrq-trigger",
];

/// Gives the launcher a view of the file system of its own in which these files are empty, where it may do so. Returns
/// the view that it had, for processes without the sandbox.
pub(super) fn hide_machine_files() -> Option<OwnedFd> {
    let former = File::open("/proc/self/ns/mnt").ok()?;
    unshare_mounts().ok()?;
    for path in HIDDEN {
        // What the kernel does not have needs no hiding.
        let _ = mount(c"/dev/null", path, libc::MS_BIND);
    }
    Some(former.into())
}

#[expect(unsafe_code, reason = "a system call on numbers")]
fn unshare_mounts() -> io::Result<()> {
    // SAFETY: takes a number, and concerns only how this process sees the file system.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // What is mounted later is seen here too, and nothing from here is seen elsewhere.
    mount(c"none", c"/", libc::MS_REC | libc::MS_SLAVE)
}

#[expect(unsafe_code, reason = "a system call on texts")]
fn mount(source: &CStr, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let none = std::ptr::null();
    // SAFETY: the texts live through the call, and the kernel takes no type and no options with these flags.
    let answer = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), none, flags, none.cast()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

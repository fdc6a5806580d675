//! Other users: whether artel can start processes as them, and how the launcher looks at such processes. The kernel lets
//! only the user of a process look into it, unless the looker has a privilege that containers do not give.

use std::fs;
use std::ops::RangeInclusive;

use super::privileges::use_all_permitted;
use super::request::RunAs;

/// What root needs to start, own and end processes of other users, by bit and by name.
const NEEDED: &[(u32, &str)] =
    &[(0, "CAP_CHOWN"), (1, "CAP_DAC_OVERRIDE"), (5, "CAP_KILL"), (6, "CAP_SETGID"), (7, "CAP_SETUID")];

/// Why processes cannot run as other users.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoUsers {
    /// artel is no root.
    #[error("artel does not run as root")]
    NotRoot,
    /// artel is root without what makes root.
    #[error("root has no {0} here")]
    Capability(&'static str),
    /// The users are not there in this user namespace.
    #[error("the users {first} to {last} are not there in this user namespace (`/proc/self/uid_map`)")]
    NotMapped {
        /// The first of them.
        first: u32,
        /// The last.
        last: u32,
    },
}

/// Says whether this process can start others as these users.
pub fn can_run_as(users: RangeInclusive<u32>) -> Result<(), NoUsers> {
    if !rustix::process::geteuid().is_root() {
        return Err(NoUsers::NotRoot);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = capabilities_in(&status);
    if let Some((_, name)) = NEEDED.iter().find(|(bit, _)| held & (1 << bit) == 0) {
        return Err(NoUsers::Capability(name));
    }
    let maps = ["/proc/self/uid_map", "/proc/self/gid_map"];
    let is_mapped = |path: &&str| holds(&fs::read_to_string(path).unwrap_or_default(), &users);
    let may_drop_groups =
        fs::read_to_string("/proc/self/setgroups").map_or(true, |text| text.trim() != "deny");
    if maps.iter().all(is_mapped) && may_drop_groups {
        Ok(())
    } else {
        Err(NoUsers::NotMapped { first: *users.start(), last: *users.end() })
    }
}

fn capabilities_in(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0)
}

/// Says whether one line of a map of users holds all of them.
fn holds(map: &str, users: &RangeInclusive<u32>) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_ascii_whitespace().filter_map(|text| text.parse().ok()).collect();
        let [inside, _, count] = numbers[..] else { return false };
        inside <= u64::from(*users.start()) && u64::from(*users.end()) < inside + count
    })
}

/// As long as this is held, the launcher looks at files and processes as the user of a process. It has one thread.
pub(super) struct ActingAs {
    is_other: bool,
}

impl ActingAs {
    /// Takes the user of a process for looking.
    pub(super) fn begin(run_as: RunAs) -> Self {
        match run_as {
            RunAs::Artel => Self { is_other: false },
            RunAs::User { user, group, .. } => {
                look_as(user, group);
                use_all_permitted();
                Self { is_other: true }
            }
        }
    }
}

impl Drop for ActingAs {
    fn drop(&mut self) {
        if self.is_other {
            look_as(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        }
    }
}

#[expect(unsafe_code, reason = "system calls on numbers")]
fn look_as(user: u32, group: u32) {
    // SAFETY: the calls take numbers, and concern this thread only.
    unsafe {
        libc::setfsgid(group);
        libc::setfsuid(user);
    }
}

/// Lets debuggers and artel look at the launcher again, after a child that shared its memory became another user.
#[expect(unsafe_code, reason = "a system call on numbers")]
pub(super) fn be_dumpable() {
    // SAFETY: takes numbers, and concerns only who may look at this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_users_are_read_as_the_kernel_writes_them() {
        let range = &(700_000..=765_535);
        assert!(holds("         0          0 4294967295\n", range));
        assert!(holds("0 1000 1\n700000 100000 65536\n", range));
        assert!(!holds("0 100000 65536\n", range));
        assert!(!holds("700000 100000 65535\n", range));
        assert!(!holds("", range));
        assert_eq!(capabilities_in("Name:\tx\nCapEff:\t00000000a80425fb\n"), 0xA804_25FB);
    }
}

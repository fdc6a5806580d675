//! The system calls that a sandboxed process may not make, as data: which, when, and why. Knows nothing of filters.

use super::request::Network;

/// A system call that is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Denied {
    /// Its number on this architecture.
    pub(super) number: i64,
    /// When it is refused, and how.
    pub(super) when: When,
}

/// When a system call is refused. Arguments are compared by their lower 32 bits, as the kernel takes them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum When {
    /// Always, with EPERM.
    Always,
    /// Always, with ENOSYS: programs then fall back on an older call that can be judged.
    Unknown,
    /// Always, with EOPNOTSUPP: programs then do without.
    Unsupported,
    /// Unless the launcher finds that it concerns only what the process may write; the launcher then makes the call.
    Supervised,
    /// When each of these arguments has one of its bits.
    Bits(&'static [(u32, u32)]),
    /// When an argument has one of these values.
    OneOf { argument: u32, values: &'static [u32] },
    /// Unless each of these arguments has one of its values.
    Unless(&'static [(u32, &'static [u32])]),
    /// When it asks for a socket that is neither IPv4, IPv6 nor for reading routes.
    NotInternet,
}

/// Namespaces: a way to privileges inside them, and to kernel code that is seldom tested.
const CLONE_NEW: u32 = 0x7E02_0000;

/// Typing into the terminal of another, and attributes of files that a descriptor for reading is enough to change.
const REFUSED_IOCTLS: &[u32] = &[
    0x5412,      // TIOCSTI
    0x541C,      // TIOCLINUX
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x401C_5820, // FS_IOC_FSSETXATTR
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800C_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    0xC050_6617, // FS_IOC_ADD_ENCRYPTION_KEY
];

/// A file that runs as its owner or its group.
const SET_ID: u32 = 0o6000;
/// A file may be made: `O_CREAT`, or the bit of `O_TMPFILE` that is its own.
const MAKES_FILE: u32 = 0o100 | 0o20_000_000;

/// The caller itself, as calls about processes name it.
const CALLER: &[u32] = &[0];
const ABOUT_CALLER: When = When::Unless(&[(0, CALLER)]);

/// Limits that a process may ask for and lower: all but `RLIMIT_MSGQUEUE` (12), which marks the processes of artel.
const OWN_LIMITS: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15];

/// Numbers that the C library does not name; they are the same on every architecture.
const SYS_MEMFD_SECRET: i64 = 447;
const SYS_PROCESS_MRELEASE: i64 = 448;
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_OPEN_TREE_ATTR: i64 = 467;
const SYS_FILE_SETATTR: i64 = 469;
#[cfg(target_arch = "x86_64")]
const SYS_SETRLIMIT: i64 = libc::SYS_setrlimit;
#[cfg(target_arch = "aarch64")]
const SYS_SETRLIMIT: i64 = 164;

/// Refused always: other processes, the kernel, the machine.
const ALWAYS: &[(&str, &[i64])] = &[
    (
        "other processes: their memory, descriptors and control",
        &[
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_process_madvise,
            libc::SYS_kcmp,
            libc::SYS_pidfd_getfd,
            SYS_PROCESS_MRELEASE,
        ],
    ),
    (
        "leaving the process group, so that the whole group can be killed",
        &[libc::SYS_setsid, libc::SYS_setpgid],
    ),
    (
        "the file system's layout, and files by handle, past every rule about paths",
        &[
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_chroot,
            libc::SYS_move_mount,
            libc::SYS_open_tree,
            libc::SYS_fsopen,
            libc::SYS_fsconfig,
            libc::SYS_fsmount,
            libc::SYS_fspick,
            libc::SYS_mount_setattr,
            libc::SYS_open_by_handle_at,
            SYS_OPEN_TREE_ATTR,
            libc::SYS_quotactl,
            libc::SYS_quotactl_fd,
        ],
    ),
    (
        "what others do with their files: no rule about paths covers who may watch them",
        &[libc::SYS_inotify_add_watch, libc::SYS_fanotify_init, libc::SYS_fanotify_mark],
    ),
    ("namespaces", &[libc::SYS_setns, libc::SYS_unshare]),
    (
        "kernel code that is large, seldom needed and often broken",
        &[
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
        ],
    ),
    ("the kernel's keys", &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key]),
    (
        "the kernel itself",
        &[
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_delete_module,
            libc::SYS_kexec_load,
            libc::SYS_kexec_file_load,
            libc::SYS_reboot,
            libc::SYS_swapon,
            libc::SYS_swapoff,
            libc::SYS_acct,
            libc::SYS_syslog,
            libc::SYS_vhangup,
        ],
    ),
    (
        "the machine's clock and name",
        &[
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
            libc::SYS_adjtimex,
            libc::SYS_clock_adjtime,
            libc::SYS_sethostname,
            libc::SYS_setdomainname,
        ],
    ),
    (
        "memory that is shared by name, and stays when the process is gone",
        &[libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open],
    ),
];

#[cfg(target_arch = "x86_64")]
const HARDWARE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const HARDWARE: &[i64] = &[];

const AF_UNIX: &[u32] = &[libc::AF_UNIX as u32];

/// Programs do without these, or fall back on a call that can be judged: `openat2` and `clone3` take their arguments in
/// memory that a filter cannot read, and the memory of a `memfd` belongs to no process while it is on its way to another.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_memfd_create,
    SYS_MEMFD_SECRET,
    libc::SYS_inotify_init1,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
];

/// Extended attributes: their room is not counted, and no rule about paths covers them.
const UNSUPPORTED: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
];

/// Modes, owners and times: landlock does not cover them, so that a process could change those of every file of its user.
const SUPERVISED: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Refused by their arguments.
const JUDGED: &[(i64, When)] = &[
    (libc::SYS_clone, When::Bits(&[(0, CLONE_NEW)])),
    (libc::SYS_ioctl, When::OneOf { argument: 1, values: REFUSED_IOCTLS }),
    // Pairs stay within the process tree; other sockets of this family reach every service of the machine.
    (libc::SYS_socketpair, When::Unless(&[(0, AF_UNIX)])),
    (libc::SYS_prlimit64, When::Unless(&[(0, CALLER), (1, OWN_LIMITS)])),
    (SYS_SETRLIMIT, When::Unless(&[(0, OWN_LIMITS)])),
    (libc::SYS_sched_setaffinity, ABOUT_CALLER),
    (libc::SYS_sched_setscheduler, ABOUT_CALLER),
    (libc::SYS_sched_setparam, ABOUT_CALLER),
    (libc::SYS_sched_setattr, ABOUT_CALLER),
    (libc::SYS_move_pages, ABOUT_CALLER),
    (libc::SYS_migrate_pages, ABOUT_CALLER),
    // A process that hides from those of its user also hides what it uses.
    (libc::SYS_prctl, When::OneOf { argument: 0, values: &[libc::PR_SET_DUMPABLE as u32] }),
    // One process or one group, not all of a user.
    (libc::SYS_setpriority, When::Unless(&[(0, &[0, 1]), (1, CALLER)])),
    (libc::SYS_ioprio_set, When::Unless(&[(0, &[1, 2]), (1, CALLER)])),
    (libc::SYS_openat, When::Bits(&[(2, MAKES_FILE), (3, SET_ID)])),
    (libc::SYS_mknodat, When::Bits(&[(2, SET_ID)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, When::Bits(&[(1, MAKES_FILE), (2, SET_ID)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, When::Bits(&[(1, SET_ID)])),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, When::Bits(&[(1, SET_ID)])),
];

/// Returns what is refused, by number.
pub(super) fn system_calls(network: Network) -> Vec<Denied> {
    let always = ALWAYS.iter().flat_map(|(_, numbers)| numbers.iter()).chain(HARDWARE);
    let lists = always
        .map(|number| (number, When::Always))
        .chain(UNKNOWN.iter().map(|number| (number, When::Unknown)))
        .chain(UNSUPPORTED.iter().map(|number| (number, When::Unsupported)))
        .chain(SUPERVISED.iter().map(|number| (number, When::Supervised)))
        .chain(JUDGED.iter().map(|(number, when)| (number, *when)));
    let mut all: Vec<Denied> = lists.map(|(number, when)| Denied { number: *number, when }).collect();
    match network {
        // Only pairs are left, and a message through a pair carries descriptors: files that no process holds, whose
        // room is counted for none.
        Network::Denied => {
            let sending = [libc::SYS_socket, libc::SYS_sendmsg, libc::SYS_sendmmsg];
            all.extend(sending.map(|number| Denied { number, when: When::Always }));
        }
        Network::Allowed => all.push(Denied { number: libc::SYS_socket, when: When::NotInternet }),
    }
    all.sort_by_key(|denied| denied.number);
    all
}

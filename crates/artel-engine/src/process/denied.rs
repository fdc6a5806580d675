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
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    /// Always, with EPERM.
    Always,
    /// Always, with ENOSYS: programs then fall back on an older call that can be judged.
    Unknown,
    /// When any of these bits is set in an argument.
    AnyBit { argument: u32, bits: u32 },
    /// When an argument has one of these values.
    OneOf { argument: u32, values: &'static [u32] },
    /// When an argument has none of these values.
    NoneOf { argument: u32, values: &'static [u32] },
    /// When it asks for a socket that is neither IPv4, IPv6 nor for reading routes.
    NotInternet,
}

/// Namespaces: a way to privileges inside them, and to kernel code that is seldom tested.
const CLONE_NEW: u32 = 0x7E02_0000;

/// Typing into the terminal of another.
const TERMINAL_INJECTION: &[u32] = &[0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */];

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
            libc::SYS_fanotify_init,
            libc::SYS_quotactl,
            libc::SYS_quotactl_fd,
        ],
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

/// Returns what is refused, by number.
pub(super) fn system_calls(network: Network) -> Vec<Denied> {
    let always = ALWAYS.iter().flat_map(|(_, numbers)| numbers.iter()).chain(HARDWARE);
    let mut all: Vec<Denied> = always.map(|number| Denied { number: *number, when: When::Always }).collect();
    let socket = match network {
        Network::Denied => When::Always,
        Network::Allowed => When::NotInternet,
    };
    all.extend([
        Denied { number: libc::SYS_clone3, when: When::Unknown },
        Denied { number: libc::SYS_clone, when: When::AnyBit { argument: 0, bits: CLONE_NEW } },
        Denied { number: libc::SYS_ioctl, when: When::OneOf { argument: 1, values: TERMINAL_INJECTION } },
        // Pairs stay within the process tree; other sockets of this family reach every service of the machine.
        Denied { number: libc::SYS_socketpair, when: When::NoneOf { argument: 0, values: AF_UNIX } },
        Denied { number: libc::SYS_socket, when: socket },
    ]);
    all.sort_by_key(|denied| denied.number);
    all
}

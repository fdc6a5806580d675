//! Landlock: rules about files, TCP and signals, given to the kernel as a ruleset that a process puts on itself. The
//! system calls are made directly, as a ruleset is prepared here and put on in another process.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// A set of rights on files and folders, as bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rights(u64);

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// The rights that a rule about a file, not a folder, may hold.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const BIND_TCP: u64 = 1 << 0;
const CONNECT_TCP: u64 = 1 << 1;
const SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1 << 0;
const SCOPE_SIGNAL: u64 = 1 << 1;

impl Rights {
    /// Read files, list folders.
    pub(super) const READ: Self = Self(READ_FILE | READ_DIR);
    /// The same, and execute.
    pub(super) const EXECUTE: Self = Self(READ_FILE | READ_DIR | EXECUTE);
    /// A device: read, write, configure.
    pub(super) const DEVICE: Self = Self(READ_FILE | WRITE_FILE | IOCTL_DEV);
    /// Everything but making devices, which would be a way around all rules.
    pub(super) const WRITE: Self = Self(
        Self::EXECUTE.0
            | WRITE_FILE
            | REMOVE_DIR
            | REMOVE_FILE
            | MAKE_DIR
            | MAKE_REG
            | MAKE_SOCK
            | MAKE_FIFO
            | MAKE_SYM
            | REFER
            | TRUNCATE,
    );
    /// Everything: what is denied where no rule says otherwise.
    const ALL: Self = Self(Self::WRITE.0 | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);

    fn known_to(self, abi: u32) -> u64 {
        let mut known = self.0;
        for (right, since) in [(REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5)] {
            if abi < since {
                known &= !right;
            }
        }
        known
    }
}

/// A file or folder that rules can be made about.
#[derive(Debug)]
pub(super) struct Place {
    descriptor: OwnedFd,
    is_folder: bool,
    identity: (u64, u64),
}

impl Place {
    /// Opens a place without reading it; `None` where there is none or it is out of reach.
    pub(super) fn open(path: impl AsRef<Path>) -> Option<Self> {
        let file = File::options().read(true).custom_flags(libc::O_PATH | libc::O_CLOEXEC).open(path).ok()?;
        let metadata = file.metadata().ok()?;
        let identity = (metadata.dev(), metadata.ino());
        Some(Self { descriptor: file.into(), is_folder: metadata.is_dir(), identity })
    }

    /// Returns where it is, as the kernel names it.
    pub(super) fn path(&self) -> io::Result<std::path::PathBuf> {
        Ok(super::supervisor::place_of(self.descriptor.as_fd())?)
    }

    /// Returns what no other file or folder has as long as this one, or rules about it, exist.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.identity
    }
}

/// Whether TCP is restricted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tcp {
    Denied,
    Free,
}

/// Rules that a process can put on itself.
#[derive(Debug)]
pub(super) struct Ruleset {
    descriptor: OwnedFd,
    abi: u32,
}

#[repr(C)]
struct RulesetAttributes {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttributes {
    allowed_access: u64,
    parent_fd: RawFd,
}

const CREATE_RULESET_VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;

/// Returns the version of landlock in this kernel; 0 where there is none.
#[expect(unsafe_code, reason = "landlock has no function in the C library")]
pub(super) fn abi() -> u32 {
    // SAFETY: with this flag the kernel takes a null pointer and a size of zero, and only answers a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttributes>(),
            0_usize,
            CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

impl Ruleset {
    /// Returns rules that deny everything that landlock of this version can deny.
    #[expect(unsafe_code, reason = "landlock has no function in the C library")]
    pub(super) fn deny_all(abi: u32, tcp: Tcp) -> io::Result<Self> {
        let restrict_tcp = abi >= 4 && tcp == Tcp::Denied;
        let attributes = RulesetAttributes {
            handled_access_fs: Rights::ALL.known_to(abi),
            handled_access_net: if restrict_tcp { BIND_TCP | CONNECT_TCP } else { 0 },
            scoped: if abi >= 6 { SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL } else { 0 },
        };
        // An older kernel takes a shorter structure.
        let size = match abi {
            0..4 => 8_usize,
            4..6 => 16,
            6.. => 24,
        };
        // SAFETY: the pointer is to a structure of at least `size` bytes that lives through the call.
        let answer =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0_u32) };
        let descriptor =
            RawFd::try_from(answer).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
        Ok(Self { descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) }, abi })
    }

    /// Allows rights on a file, or on a folder and all that is in it.
    #[expect(unsafe_code, reason = "landlock has no function in the C library")]
    pub(super) fn allow(&self, place: &Place, rights: Rights) -> io::Result<()> {
        let mut allowed_access = rights.known_to(self.abi);
        if !place.is_folder {
            allowed_access &= OF_FILES;
        }
        let attributes = PathBeneathAttributes { allowed_access, parent_fd: place.descriptor.as_raw_fd() };
        // SAFETY: the pointer is to a structure of the kind that the third argument names, and lives through the call.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.descriptor.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const attributes,
                0_u32,
            )
        };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Returns the descriptor that `landlock_restrict_self` takes.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_are_not_asked_for_what_they_do_not_know() {
        assert_eq!(Rights::ALL.known_to(1), (1 << 13) - 1);
        assert_eq!(Rights::ALL.known_to(2), (1 << 14) - 1);
        assert_eq!(Rights::ALL.known_to(3), (1 << 15) - 1);
        assert_eq!(Rights::ALL.known_to(7), (1 << 16) - 1);
    }

    #[test]
    fn nobody_may_make_devices() {
        assert_eq!(Rights::WRITE.0 & (MAKE_CHAR | MAKE_BLOCK), 0);
    }

    #[test]
    fn places_are_folders_or_files_or_missing() {
        assert!(Place::open("/usr").unwrap().is_folder);
        assert!(!Place::open("/dev/null").unwrap().is_folder);
        assert!(Place::open("/does/not/exist").is_none());
    }

    #[test]
    fn rules_can_be_made_where_the_kernel_has_landlock() {
        let abi = abi();
        if abi > 0 {
            let rules = Ruleset::deny_all(abi, Tcp::Denied).unwrap();
            rules.allow(&Place::open("/usr").unwrap(), Rights::WRITE).unwrap();
            rules.allow(&Place::open("/dev/null").unwrap(), Rights::WRITE).unwrap();
        }
    }
}

//! The system calls that the launcher answers: what each is about and what it changes, read from its arguments and the
//! memory of its caller. Changes nothing.

use rustix::fs::{Timespec, Timestamps};
use rustix::io::Errno;

/// The longest path that the kernel takes, with its NUL.
const PATH_BYTES_MAX: usize = 4096;
const SYS_FCHMODAT2: i64 = 452;
const AT_FDCWD: i32 = libc::AT_FDCWD;

/// The memory of a process.
pub(super) trait Memory {
    /// Reads from an address; fewer bytes than asked for where the memory ends.
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, Errno>;
}

/// A call, as it was meant.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) target: Target,
    pub(super) change: Change,
}

/// The file that a call is about.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Target {
    /// An open file of the caller.
    Descriptor(u32),
    /// The folder that the caller is in.
    CurrentFolder,
    /// A path, from an open folder of the caller or from the one that it is in.
    Path { folder: Option<u32>, path: Vec<u8>, follow: bool },
}

/// What a call changes.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// The mode.
    Mode(u32),
    /// The owner and the group; the largest number leaves them as they are.
    Owner { user: u32, group: u32 },
    /// The times of the last access and change.
    Times(Timestamps),
}

/// Reads a call.
pub(super) fn read_call(number: i64, arguments: &[u64; 6], memory: &dyn Memory) -> Result<Call, Errno> {
    let [first, second, third, fourth, fifth, _] = *arguments;
    let mode = |argument: u64| Change::Mode(low(argument));
    let owner = |user: u64, group: u64| Change::Owner { user: low(user), group: low(group) };
    let path = |folder: u64, address: u64, flags: u64| target(folder, address, low(flags), memory);
    let (target, change) = match number {
        libc::SYS_fchmod => (Target::Descriptor(low(first)), mode(second)),
        libc::SYS_fchmodat => (path(first, second, 0)?, mode(third)),
        SYS_FCHMODAT2 => (path(first, second, fourth)?, mode(third)),
        libc::SYS_fchown => (Target::Descriptor(low(first)), owner(second, third)),
        libc::SYS_fchownat => (path(first, second, fifth)?, owner(third, fourth)),
        libc::SYS_utimensat if second == 0 => (Target::Descriptor(low(first)), timespecs(third, memory)?),
        libc::SYS_utimensat => (path(first, second, fourth)?, timespecs(third, memory)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => (path(CURRENT, first, 0)?, mode(second)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => (path(CURRENT, first, 0)?, owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => (path(CURRENT, first, libc::AT_SYMLINK_NOFOLLOW as u64)?, owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime => (path(CURRENT, first, 0)?, seconds(second, memory)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes => (path(CURRENT, first, 0)?, timevals(second, memory)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat if second == 0 => (Target::Descriptor(low(first)), timevals(third, memory)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat => (path(first, second, 0)?, timevals(third, memory)?),
        _ => return Err(Errno::PERM),
    };
    Ok(Call { target, change })
}

#[cfg(target_arch = "x86_64")]
const CURRENT: u64 = AT_FDCWD as u32 as u64;

/// The kernel takes numbers of files, modes, owners and flags as 32 bits.
fn low(argument: u64) -> u32 {
    argument as u32
}

fn target(folder: u64, address: u64, flags: u32, memory: &dyn Memory) -> Result<Target, Errno> {
    const KNOWN: u32 = (libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) as u32;
    if flags & !KNOWN != 0 {
        return Err(Errno::INVAL);
    }
    let folder = if low(folder) == AT_FDCWD as u32 { None } else { Some(low(folder)) };
    let path = read_path(address, memory)?;
    if path.is_empty() {
        return match folder {
            _ if flags & libc::AT_EMPTY_PATH as u32 == 0 => Err(Errno::NOENT),
            Some(number) => Ok(Target::Descriptor(number)),
            None => Ok(Target::CurrentFolder),
        };
    }
    let follow = flags & libc::AT_SYMLINK_NOFOLLOW as u32 == 0;
    match own_descriptor(&path) {
        Some(number) if follow => Ok(Target::Descriptor(number)),
        _ => Ok(Target::Path { folder, path, follow }),
    }
}

/// Returns the descriptor that a path names by the links that lead to the caller's own open files.
fn own_descriptor(path: &[u8]) -> Option<u32> {
    const FOLDERS: [&str; 3] = ["/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"];
    let text = std::str::from_utf8(path).ok()?;
    FOLDERS.iter().find_map(|folder| text.strip_prefix(folder)?.parse().ok())
}

fn read_path(address: u64, memory: &dyn Memory) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; PATH_BYTES_MAX];
    let count = memory.read(address, &mut bytes)?;
    bytes.truncate(count);
    match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => bytes.truncate(end),
        None if count == PATH_BYTES_MAX => return Err(Errno::NAMETOOLONG),
        None => return Err(Errno::FAULT),
    }
    Ok(bytes)
}

fn timespecs(address: u64, memory: &dyn Memory) -> Result<Change, Errno> {
    times(address, memory, Ok)
}

#[cfg(target_arch = "x86_64")]
fn timevals(address: u64, memory: &dyn Memory) -> Result<Change, Errno> {
    times(address, memory, |microseconds| match microseconds {
        0..1_000_000 => Ok(microseconds * 1000),
        _ => Err(Errno::INVAL),
    })
}

/// Reads the seconds and fractions of two times; without an address, both are the present.
fn times(
    address: u64,
    memory: &dyn Memory,
    nanoseconds: impl Fn(i64) -> Result<i64, Errno>,
) -> Result<Change, Errno> {
    if address == 0 {
        return Ok(present());
    }
    let [access, access_part, change, change_part] = numbers(address, memory)?;
    let time = |tv_sec, part| Ok(Timespec { tv_sec, tv_nsec: nanoseconds(part)? });
    let last_access = time(access, access_part)?;
    Ok(Change::Times(Timestamps { last_access, last_modification: time(change, change_part)? }))
}

#[cfg(target_arch = "x86_64")]
fn seconds(address: u64, memory: &dyn Memory) -> Result<Change, Errno> {
    if address == 0 {
        return Ok(present());
    }
    let [access, change] = numbers(address, memory)?;
    let time = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
    Ok(Change::Times(Timestamps { last_access: time(access), last_modification: time(change) }))
}

fn present() -> Change {
    let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    Change::Times(Timestamps { last_access: now, last_modification: now })
}

fn numbers<const COUNT: usize>(address: u64, memory: &dyn Memory) -> Result<[i64; COUNT], Errno> {
    let mut bytes = vec![0; COUNT * size_of::<i64>()];
    if memory.read(address, &mut bytes)? != bytes.len() {
        return Err(Errno::FAULT);
    }
    let (words, _) = bytes.as_chunks::<{ size_of::<i64>() }>();
    Ok(std::array::from_fn(|index| i64::from_ne_bytes(words[index])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that begins at address 1000.
    struct Bytes(Vec<u8>);

    impl Memory for Bytes {
        fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
            let from = address.checked_sub(1000).and_then(|from| self.0.get(from as usize..));
            let from = from.filter(|from| !from.is_empty()).ok_or(Errno::FAULT)?;
            let count = from.len().min(buffer.len());
            buffer[..count].copy_from_slice(&from[..count]);
            Ok(count)
        }
    }

    fn target_of(number: i64, arguments: [u64; 6], memory: &[u8]) -> Result<Target, Errno> {
        read_call(number, &arguments, &Bytes(memory.to_vec())).map(|call| call.target)
    }

    const HERE: u64 = AT_FDCWD as u32 as u64;

    fn path(folder: Option<u32>, path: &[u8], follow: bool) -> Result<Target, Errno> {
        Ok(Target::Path { folder, path: path.to_vec(), follow })
    }

    #[test]
    fn the_file_of_a_call_is_read_from_its_arguments() {
        let chmodat = libc::SYS_fchmodat;
        assert_eq!(target_of(chmodat, [HERE, 1000, 0, 0, 0, 0], b"a/b\0"), path(None, b"a/b", true));
        // The kernel looks at 32 bits of a descriptor.
        assert_eq!(
            target_of(chmodat, [1 << 32 | 5, 1000, 0, 0, 0, 0], b"\xff\0"),
            path(Some(5), b"\xff", true)
        );
        assert_eq!(target_of(libc::SYS_fchmod, [7, 0, 0, 0, 0, 0], b""), Ok(Target::Descriptor(7)));
        assert_eq!(target_of(libc::SYS_utimensat, [7, 0, 0, 0, 0, 0], b""), Ok(Target::Descriptor(7)));
        let own = b"/proc/self/fd/9\0";
        assert_eq!(target_of(chmodat, [HERE, 1000, 0, 0, 0, 0], own), Ok(Target::Descriptor(9)));
        let (nofollow, empty) = (libc::AT_SYMLINK_NOFOLLOW as u64, libc::AT_EMPTY_PATH as u64);
        assert_eq!(
            target_of(SYS_FCHMODAT2, [HERE, 1000, 0, nofollow, 0, 0], b"l\0"),
            path(None, b"l", false)
        );
        assert_eq!(target_of(SYS_FCHMODAT2, [3, 1000, 0, empty, 0, 0], b"\0"), Ok(Target::Descriptor(3)));
        assert_eq!(target_of(SYS_FCHMODAT2, [HERE, 1000, 0, empty, 0, 0], b"\0"), Ok(Target::CurrentFolder));
    }

    #[test]
    fn what_the_kernel_would_refuse_is_refused() {
        let chmodat = libc::SYS_fchmodat;
        assert_eq!(target_of(chmodat, [HERE, 1000, 0, 0, 0, 0], b"\0"), Err(Errno::NOENT));
        assert_eq!(target_of(chmodat, [HERE, 7, 0, 0, 0, 0], b"a\0"), Err(Errno::FAULT));
        assert_eq!(target_of(chmodat, [HERE, 1000, 0, 0, 0, 0], b"no end"), Err(Errno::FAULT));
        assert_eq!(target_of(chmodat, [HERE, 1000, 0, 0, 0, 0], &[b'x'; 5000]), Err(Errno::NAMETOOLONG));
        assert_eq!(target_of(SYS_FCHMODAT2, [HERE, 1000, 0, 1, 0, 0], b"a\0"), Err(Errno::INVAL));
        assert_eq!(target_of(libc::SYS_read, [0; 6], b""), Err(Errno::PERM));
    }

    #[test]
    fn times_are_read_with_their_fractions() {
        let bytes: Vec<u8> = [1_i64, 2, 3, 4].iter().flat_map(|number| number.to_ne_bytes()).collect();
        let call = read_call(libc::SYS_utimensat, &[7, 0, 1000, 0, 0, 0], &Bytes(bytes)).unwrap();
        let Change::Times(times) = call.change else { panic!("{call:?}") };
        assert_eq!((times.last_access.tv_sec, times.last_access.tv_nsec), (1, 2));
        assert_eq!((times.last_modification.tv_sec, times.last_modification.tv_nsec), (3, 4));
        let now = read_call(libc::SYS_utimensat, &[7, 0, 0, 0, 0, 0], &Bytes(Vec::new())).unwrap();
        let Change::Times(times) = now.change else { panic!("{now:?}") };
        assert_eq!(times.last_access.tv_nsec, libc::UTIME_NOW);
    }
}

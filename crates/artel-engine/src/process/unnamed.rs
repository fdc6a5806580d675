//! Files without a name that processes hold: open, mapped into memory, or on their way to another process. They take room
//! on the disk that no measurement of folders sees. Only reads `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

/// The size of the blocks that files are counted in, whatever the file system's own.
const BLOCK_BYTES: u64 = 512;
/// Files that are only mapped and count as large as what is mapped of them; `/proc` does not tell how large they are. A
/// program whose libraries were replaced while it runs has a few. Each further one counts as the largest file allowed.
const MAPPED_ONLY_MAX: usize = 16;

/// What some processes hold that has no name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Unnamed {
    /// The bytes of such files.
    pub(super) bytes: u64,
    /// Whether there may be more: descriptors wait in a socket, or a process does not let itself be looked at.
    pub(super) hidden: bool,
}

/// The device and the number of a file.
type FileId = (u64, u64);

#[derive(Default)]
struct Seen {
    open: BTreeMap<FileId, u64>,
    mapped: BTreeMap<FileId, u64>,
    hidden: bool,
}

/// Looks at what processes hold. `file_bytes_max` is how large one file can be.
pub(super) fn measure(pids: &[i32], file_bytes_max: u64) -> Unnamed {
    let mut seen = Seen::default();
    for pid in pids {
        seen.look_at_descriptors(*pid);
        seen.look_at_mappings(*pid);
    }
    seen.mapped.retain(|file, _| !seen.open.contains_key(file));
    let mapped: u64 = seen.mapped.values().take(MAPPED_ONLY_MAX).sum();
    let further = u64::try_from(seen.mapped.len().saturating_sub(MAPPED_ONLY_MAX)).unwrap_or(u64::MAX);
    let open: u64 = seen.open.values().sum();
    let bytes = open.saturating_add(mapped).saturating_add(further.saturating_mul(file_bytes_max));
    Unnamed { bytes, hidden: seen.hidden }
}

impl Seen {
    fn look_at_descriptors(&mut self, pid: i32) {
        let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(entries) => entries,
            Err(error) => {
                // A process that has ended has no descriptors.
                self.hidden |= error.kind() == ErrorKind::PermissionDenied;
                return;
            }
        };
        for entry in entries.flatten() {
            let Ok(file) = fs::metadata(entry.path()) else { continue };
            if file.is_file() && file.nlink() == 0 {
                self.open.insert((file.dev(), file.ino()), file.blocks() * BLOCK_BYTES);
            } else if file.file_type().is_socket() {
                let name = entry.file_name();
                let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy()));
                self.hidden |= holds_descriptors(&text.unwrap_or_default());
            }
        }
    }

    fn look_at_mappings(&mut self, pid: i32) {
        let text = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        for (file, bytes) in text.lines().filter_map(deleted_mapping) {
            let largest = self.mapped.entry(file).or_default();
            *largest = bytes.max(*largest);
        }
    }
}

/// Returns whether descriptors wait in a unix socket to be received.
fn holds_descriptors(fdinfo: &str) -> bool {
    let count = fdinfo.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    count.is_some_and(|count| count.trim() != "0")
}

/// Returns the file of a line of `maps` that has no name any more, and where in the file the mapping ends. Memory that
/// processes share without a file looks the same, and is counted as memory.
fn deleted_mapping(line: &str) -> Option<(FileId, u64)> {
    let line = line.strip_suffix(" (deleted)")?;
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let (_rights, offset, device, inode) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    if matches!(fields.next()?, "/dev/zero" | "/SYSV00000000") {
        return None;
    }
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (major, minor) = device.split_once(':')?;
    let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    Some(((device, inode.parse().ok()?), hex(offset)? + (hex(end)? - hex(start)?)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn files_without_a_name_are_counted_once() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 100_000]).unwrap();
        let second = file.try_clone().unwrap();
        let own = std::process::id() as i32;
        let one = measure(&[own], 1).bytes;
        let twice = measure(&[own, own], 1).bytes;
        assert!(one >= 98_304 && one == twice, "{one} {twice}");
        drop(second);
    }

    #[test]
    fn mappings_are_read_as_the_kernel_writes_them() {
        let line = "7f00000000-7f00002000 r--p 00001000 fe:01 4242                       /run/a b (deleted)";
        assert_eq!(deleted_mapping(line), Some(((libc::makedev(0xFE, 1), 4242), 0x3000)));
        let named = "7f00000000-7f00002000 r--p 00000000 fe:01 4242                       /run/a";
        assert_eq!(deleted_mapping(named), None);
        let shared =
            "7f00000000-7f00002000 rw-s 00000000 00:01 77                         /dev/zero (deleted)";
        assert_eq!(deleted_mapping(shared), None);
    }

    #[test]
    fn descriptors_in_a_socket_are_seen() {
        assert!(holds_descriptors("pos:\t0\nflags:\t02\nscm_fds: 3\n"));
        assert!(!holds_descriptors("pos:\t0\nflags:\t02\nscm_fds: 0\n"));
        assert!(!holds_descriptors("pos:\t0\n"));
    }
}

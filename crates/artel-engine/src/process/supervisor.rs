//! Answers the system calls that change modes, owners and times of files, which landlock does not cover. The kernel holds
//! the calling process; the launcher finds the file, looks whether the process may write there, and makes the change itself
//! on the very file that it looked at. Nothing that the process does meanwhile can put another file in its place.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Timestamps};
use rustix::io::Errno;

use super::supervised::{Call, Change, Memory, Target, read_call};

/// `SECCOMP_IOCTL_NOTIF_RECV`, `_SEND` and `_ID_VALID`.
const RECEIVE: libc::c_ulong = 0xC050_2100;
const SEND: libc::c_ulong = 0xC018_2101;
const ID_VALID: libc::c_ulong = 0x4008_2102;
/// Bits of a mode that let a file run as its owner or its group.
const SET_ID: u32 = 0o6000;

/// The calls of one tree of processes.
#[derive(Debug)]
pub(super) struct Supervisor {
    listener: OwnedFd,
    /// The places that the processes may write to, as the kernel names them.
    writable: Vec<PathBuf>,
}

impl Supervisor {
    /// Takes charge of the calls that arrive at a listener.
    pub(super) fn new(listener: OwnedFd, writable: Vec<PathBuf>) -> Self {
        // Where the kernel knows it, a call that is gone again does not keep the launcher waiting.
        let _ = rustix::fs::fcntl_setfl(&listener, OFlags::NONBLOCK);
        Self { listener, writable }
    }

    /// Answers one call that waits.
    #[expect(unsafe_code, reason = "the calls of seccomp have no function in the C library")]
    pub(super) fn answer(&self) {
        // SAFETY: the structure is plain numbers, for which zero is a value; the kernel asks for zeros.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a structure of the size that the number of the request names.
        if unsafe { libc::ioctl(self.listener.as_raw_fd(), RECEIVE, &raw mut notice) } < 0 {
            // The process was killed meanwhile.
            return;
        }
        let error = match self.decide(&notice) {
            Ok(()) => 0,
            Err(error) => -error.raw_os_error(),
        };
        let mut response = libc::seccomp_notif_resp { id: notice.id, val: 0, error, flags: 0 };
        // SAFETY: as above.
        unsafe { libc::ioctl(self.listener.as_raw_fd(), SEND, &raw mut response) };
    }

    fn decide(&self, notice: &libc::seccomp_notif) -> Result<(), Errno> {
        let process = Process::open(notice.pid)?;
        // What was opened is the process that waits, and no other that has got its number.
        if !self.still_waits(notice.id) {
            return Err(Errno::SRCH);
        }
        let Call { target, change } = read_call(i64::from(notice.data.nr), &notice.data.args, &process)?;
        let file = process.find(&target)?;
        if !self.may_write(&file)? {
            return Err(Errno::PERM);
        }
        if !self.still_waits(notice.id) {
            return Err(Errno::SRCH);
        }
        perform(&file, &change)
    }

    #[expect(unsafe_code, reason = "the calls of seccomp have no function in the C library")]
    fn still_waits(&self, id: u64) -> bool {
        // SAFETY: the kernel reads one number behind the pointer.
        unsafe { libc::ioctl(self.listener.as_raw_fd(), ID_VALID, &raw const id) == 0 }
    }

    /// Returns whether a file lies in a place that the process may write to. The kernel tells where the file is that the
    /// descriptor leads to; no path is looked up again.
    fn may_write(&self, file: &OwnedFd) -> Result<bool, Errno> {
        let place = place_of(file.as_fd())?;
        Ok(self.writable.iter().any(|writable| place.starts_with(writable)))
    }
}

impl AsFd for Supervisor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Returns where a file is, as the kernel names it.
pub(super) fn place_of(file: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    let name = rustix::fs::readlinkat(CWD, link_to(file), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// Returns a path that leads to exactly the file of a descriptor.
fn link_to(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Makes a change to a file.
fn perform(file: &OwnedFd, change: &Change) -> Result<(), Errno> {
    match change {
        Change::Mode(mode) if mode & SET_ID != 0 => Err(Errno::PERM),
        Change::Mode(mode) => {
            let mode = Mode::from_raw_mode(mode & 0o1777);
            rustix::fs::chmodat(CWD, link_to(file.as_fd()), mode, AtFlags::empty())
        }
        Change::Owner { user, group } => {
            let status = rustix::fs::statat(file, c"", AtFlags::EMPTY_PATH)?;
            let same = |asked: &u32, is: u32| *asked == u32::MAX || *asked == is;
            // Programs that keep owners as they are may say so.
            if same(user, status.st_uid) && same(group, status.st_gid) { Ok(()) } else { Err(Errno::PERM) }
        }
        Change::Times(times) => set_times(file, times),
    }
}

fn set_times(file: &OwnedFd, times: &Timestamps) -> Result<(), Errno> {
    rustix::fs::utimensat(file, c"", times, AtFlags::EMPTY_PATH)
}

/// A process that waits for an answer.
struct Process {
    folder: OwnedFd,
    memory: OwnedFd,
}

impl Process {
    fn open(pid: u32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, format!("/proc/{pid}"), flags, Mode::empty())?;
        let memory = rustix::fs::openat(&folder, c"mem", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { folder, memory })
    }

    /// Opens the file that a call is about, as the process would, without the right to read it.
    fn find(&self, target: &Target) -> Result<OwnedFd, Errno> {
        let (folder, path, follow) = match target {
            Target::Descriptor(number) => return self.descriptor(*number),
            Target::CurrentFolder => return self.own_folder(),
            Target::Path { folder, path, follow } => (folder, path, follow),
        };
        let base = match folder {
            _ if path.starts_with(b"/") => None,
            None => Some(self.own_folder()?),
            Some(number) => Some(self.descriptor(*number)?),
        };
        let base = base.as_ref().map_or(CWD, AsFd::as_fd);
        let nofollow = if *follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        // The links of `/proc` would lead to what is the launcher's.
        rustix::fs::openat2(
            base,
            path.as_slice(),
            OFlags::PATH | OFlags::CLOEXEC | nofollow,
            Mode::empty(),
            ResolveFlags::NO_MAGICLINKS,
        )
    }

    fn own_folder(&self) -> Result<OwnedFd, Errno> {
        self.open_link("cwd")
    }

    fn descriptor(&self, number: u32) -> Result<OwnedFd, Errno> {
        match self.open_link(&format!("fd/{number}")) {
            Err(Errno::NOENT) => Err(Errno::BADF),
            other => other,
        }
    }

    fn open_link(&self, name: &str) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(&self.folder, Path::new(name), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }
}

impl Memory for Process {
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        match rustix::io::pread(&self.memory, buffer, address) {
            Ok(0) | Err(Errno::IO) => Err(Errno::FAULT),
            other => other,
        }
    }
}

/// Receives the listener that a child has sent before it executed its program.
pub(super) fn receive_listener(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    match rustix::net::recvmsg(socket, &mut [io::IoSliceMut::new(&mut byte)], &mut ancillary, flags) {
        Ok(_) => {}
        Err(Errno::AGAIN) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut messages = ancillary.drain();
    Ok(messages.find_map(|message| {
        if let RecvAncillaryMessage::ScmRights(mut rights) = message { rights.next() } else { None }
    }))
}

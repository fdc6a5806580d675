//! What artel and its launcher say to each other, and the socket they say it on: one JSON document a message, file
//! descriptors beside it. Knows nothing of what the messages lead to.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::exit::Exit;
use super::report::SandboxReport;
use super::request::{GroupSignal, SpawnRequest};

/// The most bytes of one message; a larger request is refused before it is sent.
pub(super) const MESSAGE_BYTES_MAX: usize = 128 * 1024;
/// The standard streams of a child.
const DESCRIPTORS_MAX: usize = 3;

/// From artel to its launcher.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Order {
    /// Comes first, with at most one descriptor: the guard.
    Hello,
    /// Start a process; its three standard streams come with the message.
    Spawn { id: u64, request: Box<SpawnRequest> },
    /// Signal a group.
    Signal { id: u64, signal: GroupSignal },
    /// Kill what is left of a group, reap it, forget it.
    Release { id: u64 },
}

/// From the launcher to artel.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Notice {
    /// The launcher is ready, and this is what the machine can do.
    Ready { report: SandboxReport },
    /// A process runs.
    Spawned { id: u64, pid: i32 },
    /// A process could not be started.
    SpawnFailed { id: u64, stage: Stage, errno: i32 },
    /// The leader of a group has ended. What is left of the group keeps its number until it is released; a group that
    /// is gone is forgotten, and needs no release.
    Exited { id: u64, exit: Exit, rest: Rest },
    /// A group is gone.
    Released { id: u64 },
}

/// What is left of a group when its leader has ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Rest {
    /// Nothing.
    Gone,
    /// Perhaps something.
    Left,
}

/// The step of starting a process.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[repr(i32)]
pub enum Stage {
    /// Reading the request.
    Request,
    /// Preparing the landlock rules.
    Rules,
    /// Making the process.
    Clone,
    /// Giving it a process group of its own.
    Group,
    /// Moving it into its control group.
    Cgroup,
    /// Connecting its standard streams.
    Streams,
    /// Entering its folder.
    Folder,
    /// Setting its limits.
    Limits,
    /// Giving up privileges.
    Privileges,
    /// Becoming another user.
    User,
    /// Restricting its files.
    Landlock,
    /// Restricting its system calls.
    Seccomp,
    /// Executing the program.
    Execute,
}

/// One end of the connection. Messages keep their boundaries, and the end of the other side is noticed.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

/// A message that was received.
pub(super) struct Received<T> {
    pub(super) message: T,
    pub(super) descriptors: Vec<OwnedFd>,
}

impl Socket {
    /// Returns the two ends of a connection.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let flags = SocketFlags::CLOEXEC;
        let (one, other) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Self(one), Self(other)))
    }

    /// Sends an encoded message; `WouldBlock` when the other side has not read the earlier ones.
    pub(super) fn send(&self, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::net::sendmsg(&self.0, &[IoSlice::new(message)], &mut ancillary, flags)?;
        Ok(())
    }

    /// Receives a message into `buffer`; `None` when the other side is gone, `WouldBlock` when there is none yet.
    pub(super) fn receive<T: DeserializeOwned>(&self, buffer: &mut [u8]) -> io::Result<Option<Received<T>>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.0, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags)?;
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        let message = serde_json::from_slice(&buffer[..received.bytes])?;
        Ok(Some(Received { message, descriptors }))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl std::os::fd::AsRawFd for Socket {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

impl From<OwnedFd> for Socket {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl From<Socket> for OwnedFd {
    fn from(socket: Socket) -> Self {
        socket.0
    }
}

/// Returns the bytes of a message.
pub(super) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have text keys and no maps of their own")
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn messages_keep_their_boundaries_and_carry_descriptors() {
        let (one, other) = Socket::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        one.send(&encode(&Order::Release { id: 7 }), &[writer.as_fd()]).unwrap();
        one.send(&encode(&Order::Hello), &[]).unwrap();
        drop(writer);
        let mut buffer = vec![0; MESSAGE_BYTES_MAX];
        let first = other.receive::<Order>(&mut buffer).unwrap().unwrap();
        assert!(matches!(first.message, Order::Release { id: 7 }));
        let mut sent = std::fs::File::from(first.descriptors.into_iter().next().unwrap());
        sent.write_all(b"through").unwrap();
        drop(sent);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        let second = other.receive::<Order>(&mut buffer).unwrap().unwrap();
        assert!(matches!(second.message, Order::Hello));
        assert!(second.descriptors.is_empty());
    }

    #[test]
    fn silence_and_the_end_are_told_apart() {
        let (one, other) = Socket::pair().unwrap();
        let mut buffer = [0; 16];
        let silence = other.receive::<Order>(&mut buffer).err().unwrap();
        assert_eq!(silence.kind(), io::ErrorKind::WouldBlock);
        drop(one);
        assert!(other.receive::<Order>(&mut buffer).unwrap().is_none());
    }

    #[test]
    fn a_full_message_fits_through() {
        let (one, other) = Socket::pair().unwrap();
        one.send(&vec![b' '; MESSAGE_BYTES_MAX], &[]).unwrap();
        let error = other.receive::<Order>(&mut vec![0; MESSAGE_BYTES_MAX]).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

//! The launcher: a small program of one thread that starts processes for artel, watches them, and outlives artel just long
//! enough to kill them. Knows nothing of plans and of what its processes are for.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{Timespec, epoll};

use super::cgroup::CgroupChoice;
use super::clock::now;
use super::group::{Group, GroupState};
use super::machine::Machine;
use super::orphans::ProcessMark;
use super::pages::allow_huge_pages;
use super::request::SpawnRequest;
use super::start::NotStarted;
use super::wire::{MESSAGE_BYTES_MAX, Notice, Order, Received, Rest, Socket, Stage, encode};
use super::{adopt, signals};

/// The argument that makes artel's own program a launcher. The socket is its standard input.
pub(super) const LAUNCHER_ARGUMENT: &str = "artel-launcher";
/// Begins the argument that says which mark processes get.
pub(super) const MARK_PREFIX: &str = "mark=";
/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 64;
/// The event number of the socket; groups have their own numbers, from 1.
const SOCKET: u64 = 0;
/// Makes the event number of a group that of its system calls.
const CALLS: u64 = 1 << 63;
/// Time between looks at a group that has been killed and is not gone yet.
const LINGER_MS: u64 = 2;

/// Becomes the launcher if the program was started as one: the first line of `main`, before anything is read or printed.
/// Returns the exit code of the launcher, or `None` when the program is to go on as itself.
pub fn run_launcher_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != LAUNCHER_ARGUMENT {
        return None;
    }
    let (mut choice, mut mark) = (CgroupChoice::Auto, None);
    for text in arguments.map(|text| text.to_string_lossy().into_owned()) {
        match text.strip_prefix(MARK_PREFIX) {
            Some(value) => mark = ProcessMark::parse(value),
            None => choice = CgroupChoice::read(&text),
        }
    }
    Some(match Server::begin(&choice, mark).and_then(|mut server| server.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// The launcher at work.
struct Server {
    socket: Socket,
    events: OwnedFd,
    machine: Machine,
    groups: BTreeMap<u64, Group>,
    outbox: VecDeque<Vec<u8>>,
    /// Whether the kernel is asked to tell when the socket takes more.
    waits_for_room: bool,
    /// Held open until the launcher ends; dropped with it.
    guard: Option<OwnedFd>,
    buffer: Vec<u8>,
}

/// Whether artel is still there.
#[derive(PartialEq)]
enum Peer {
    There,
    Gone,
}

impl Server {
    fn begin(choice: &CgroupChoice, mark: Option<ProcessMark>) -> io::Result<Self> {
        let socket = adopt::socket_from_stdin()?;
        allow_huge_pages();
        signals::block_all();
        signals::reset_dispositions();
        // Its own session: the terminal's signals are for artel, which then decides.
        let _ = rustix::process::setsid();
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        adopt::raise_open_files();
        let events = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&events, &socket, epoll::EventData::new_u64(SOCKET), epoll::EventFlags::IN)?;
        let machine = Machine::prepare(adopt::raise_priority(), choice, mark);
        Ok(Self {
            socket,
            events,
            machine,
            groups: BTreeMap::new(),
            outbox: VecDeque::new(),
            waits_for_room: false,
            guard: None,
            buffer: vec![0; MESSAGE_BYTES_MAX],
        })
    }

    /// Serves until artel is gone, then leaves nothing behind.
    fn run(&mut self) -> io::Result<()> {
        let served = self.serve();
        // Those that linger were killed before, and their numbers may have come to mean others.
        let groups = self.groups.values().filter(|group| !group.is_lingering());
        adopt::kill_everything(groups.map(Group::pid));
        served
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            let timeout = self.time_to_wait();
            let waited =
                epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut events), timeout.as_ref());
            match waited {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in events.drain(..) {
                match event.data.u64() {
                    SOCKET => {
                        if self.take_orders()? == Peer::Gone {
                            return Ok(());
                        }
                    }
                    id if id & CALLS != 0 => self.answer_call(id & !CALLS, event.flags),
                    id => self.note_exit(id),
                }
            }
            self.watch();
            if self.send_notices()? == Peer::Gone {
                return Ok(());
            }
        }
    }

    /// Returns how long to wait for an event, if not forever.
    fn time_to_wait(&self) -> Option<Timespec> {
        let now = now();
        let due = self.groups.values().filter_map(|group| match &group.state {
            GroupState::Running(watch) => Some(watch.due()),
            GroupState::Ended | GroupState::Leaving => None,
            GroupState::Lingering { .. } => Some(now + Duration::from_millis(LINGER_MS)),
        });
        let wait = due.min()?.saturating_duration_since(now);
        // Rounded up, so that the time has come when the kernel wakes us.
        let wait = wait + Duration::from_micros(100);
        Timespec::try_from(wait).ok()
    }

    fn take_orders(&mut self) -> io::Result<Peer> {
        loop {
            match self.socket.receive::<Order>(&mut self.buffer) {
                Ok(Some(received)) => self.obey(received)?,
                Ok(None) => return Ok(Peer::Gone),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Peer::There),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(Peer::Gone),
                Err(error) => return Err(error),
            }
        }
    }

    fn obey(&mut self, received: Received<Order>) -> io::Result<()> {
        match received.message {
            Order::Hello => {
                self.guard = received.descriptors.into_iter().next();
                let report = self.machine.report.clone();
                self.tell(&Notice::Ready { report });
            }
            Order::Spawn { id, request } => self.spawn(id, &request, received.descriptors)?,
            Order::Signal { id, signal } => {
                if let Some(group) = self.groups.get(&id) {
                    group.signal(signal);
                }
            }
            Order::Release { id } => self.release(id),
        }
        Ok(())
    }

    fn spawn(&mut self, id: u64, request: &SpawnRequest, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let Ok(streams) = <[OwnedFd; 3]>::try_from(descriptors) else {
            self.tell(&Notice::SpawnFailed { id, stage: Stage::Request, errno: libc::EBADF });
            return Ok(());
        };
        match self.machine.spawn(request, &streams) {
            Ok(launched) => {
                let data = epoll::EventData::new_u64(id);
                epoll::add(&self.events, launched.started.ended.as_fd(), data, epoll::EventFlags::IN)?;
                if let Some(supervisor) = &launched.supervisor {
                    let data = epoll::EventData::new_u64(id | CALLS);
                    epoll::add(&self.events, supervisor, data, epoll::EventFlags::IN)?;
                }
                let pid = launched.started.pid;
                self.forget_former_owner(pid);
                self.tell(&Notice::Spawned { id, pid });
                let group = Group::started(now(), launched, request, self.machine.report.seccomp);
                self.groups.insert(id, group);
            }
            Err(NotStarted { stage, error, remains }) => {
                if let Some(pid) = remains {
                    adopt::reap(pid);
                }
                let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                self.tell(&Notice::SpawnFailed { id, stage, errno });
            }
        }
        Ok(())
    }

    /// A number that was given to another process says that the group which had it is gone.
    fn forget_former_owner(&mut self, pid: i32) {
        let mut groups = self.groups.iter();
        let former = groups.find(|(_, group)| group.is_lingering() && group.pid() == pid).map(|(id, _)| *id);
        if let Some(id) = former {
            self.groups.remove(&id);
            self.tell(&Notice::Released { id });
        }
    }

    /// Answers a system call of a group, or stops listening when none can come any more.
    fn answer_call(&mut self, id: u64, flags: epoll::EventFlags) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        if !flags.contains(epoll::EventFlags::IN) || !group.answer_call() {
            group.end_supervision();
        }
    }

    fn note_exit(&mut self, id: u64) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        let Some((exit, rest)) = group.note_exit(now()) else { return };
        self.tell(&Notice::Exited { id, exit, rest });
        match rest {
            Rest::Gone => drop(self.groups.remove(&id)),
            Rest::Left => self.finish_leaving(id),
        }
    }

    fn release(&mut self, id: u64) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.release(now());
        self.finish_leaving(id);
    }

    /// Forgets a group that is to leave, once nothing is left of it.
    fn finish_leaving(&mut self, id: u64) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        if !group.is_gone(now()) {
            return;
        }
        let could_be_left = !group.keeps_together();
        self.groups.remove(&id);
        if could_be_left && self.groups.values().all(Group::keeps_together) {
            // Without the sandbox a process can leave its group; nobody is left whom such a stray could belong to.
            let kept: Vec<i32> = self.groups.values().map(Group::pid).collect();
            adopt::kill_strays(&kept);
        }
        self.tell(&Notice::Released { id });
    }

    /// Looks at groups whose time has come, and at those that are on their way out.
    fn watch(&mut self) {
        let time = now();
        let due = |group: &Group| match &group.state {
            GroupState::Running(watch) => watch.due() <= time,
            GroupState::Lingering { .. } => true,
            GroupState::Ended | GroupState::Leaving => false,
        };
        let due: Vec<u64> = self.groups.iter().filter(|(_, group)| due(group)).map(|(id, _)| *id).collect();
        if due.is_empty() {
            return;
        }
        let leaders: Vec<i32> = self.groups.values().map(Group::pid).collect();
        let held: Vec<i32> = self.groups.values().filter(|group| group.has_ended()).map(Group::pid).collect();
        let strays = adopt::reap_strays(&leaders, &held);
        for id in due {
            let Some(group) = self.groups.get_mut(&id) else { continue };
            group.look(&strays);
            self.finish_leaving(id);
        }
    }

    fn tell(&mut self, notice: &Notice) {
        self.outbox.push_back(encode(notice));
    }

    /// Sends what can be sent without waiting; the rest goes when artel has read.
    fn send_notices(&mut self) -> io::Result<Peer> {
        while let Some(notice) = self.outbox.front() {
            match self.socket.send(notice, &[]) {
                Ok(()) => drop(self.outbox.pop_front()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The next read says so too.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Peer::Gone),
                Err(error) => return Err(error),
            }
        }
        let waits_for_room = !self.outbox.is_empty();
        if waits_for_room != self.waits_for_room {
            let room = if waits_for_room { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
            let data = epoll::EventData::new_u64(SOCKET);
            epoll::modify(&self.events, &self.socket, data, epoll::EventFlags::IN | room)?;
            self.waits_for_room = waits_for_room;
        }
        Ok(Peer::There)
    }
}

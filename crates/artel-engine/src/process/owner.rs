//! The one task that talks to the launcher: it starts it, passes commands on, and gives each notice to whom it concerns.
//! When the launcher is killed it kills what the launcher left, and starts another for the next process.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::process::{Pid, Signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::child::Ended;
use super::launcher::{LauncherConfig, LauncherError, LauncherProgram};
use super::report::SandboxReport;
use super::request::{GroupSignal, SpawnRequest};
use super::wire::{MESSAGE_BYTES_MAX, Notice, Order, Rest, Socket, Stage, encode};

/// Launchers that are started one after the other for processes that wait, when each is killed at once.
const LAUNCHERS_MAX: usize = 3;

/// What the handles ask for. Spawns are limited by permits, the others by the processes there are.
#[derive(Debug)]
pub(super) enum Command {
    Spawn {
        request: Box<SpawnRequest>,
        streams: [OwnedFd; 3],
        reply: oneshot::Sender<Result<Spawned, NotSpawned>>,
        exit: oneshot::Sender<Ended>,
    },
    Signal {
        id: u64,
        signal: GroupSignal,
    },
    Release {
        id: u64,
        done: Option<oneshot::Sender<()>>,
    },
}

/// A process that runs.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) id: u64,
    pub(super) pid: i32,
}

/// Why a process does not run.
#[derive(Debug)]
pub(super) enum NotSpawned {
    TooLarge { bytes: usize },
    Failed { stage: Stage, errno: i32 },
    NoLauncher(LauncherError),
    LauncherLost,
}

/// The owner of the connection.
pub(super) struct Owner {
    config: LauncherConfig,
    commands: mpsc::UnboundedReceiver<Command>,
    connection: Option<Connection>,
    groups: BTreeMap<u64, Group>,
    /// Processes that wait for the next launcher: the order to start them never reached the last one.
    waiting: VecDeque<Outgoing>,
    last_id: u64,
}

/// An order on its way, with its descriptors.
struct Outgoing {
    order: Vec<u8>,
    descriptors: Vec<OwnedFd>,
    /// The process that it starts, if it starts one.
    starts: Option<u64>,
}

/// A group as the owner knows it.
struct Group {
    pid: Option<Pid>,
    reply: Option<oneshot::Sender<Result<Spawned, NotSpawned>>>,
    exit: Option<oneshot::Sender<Ended>>,
    done: Option<oneshot::Sender<()>>,
}

/// A launcher that runs.
struct Connection {
    socket: AsyncFd<Socket>,
    process: std::process::Child,
    outbox: VecDeque<Outgoing>,
    buffer: Vec<u8>,
}

/// What happened while the owner waited.
enum Event {
    Command(Option<Command>),
    Readable,
    Writable,
}

impl Owner {
    /// Starts a launcher and waits until it is ready.
    pub(super) async fn begin(
        config: LauncherConfig,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Result<(Self, SandboxReport), LauncherError> {
        let (connection, report) = Connection::open(&config).await?;
        let connection = Some(connection);
        let owner = Self {
            config,
            commands,
            connection,
            groups: BTreeMap::new(),
            waiting: VecDeque::new(),
            last_id: 0,
        };
        Ok((owner, report))
    }

    /// Works until every handle is dropped; the launcher then ends by itself, and with it all processes.
    pub(super) async fn run(mut self) {
        loop {
            match self.next_event().await {
                Event::Command(Some(command)) => self.perform(command).await,
                Event::Command(None) => break,
                Event::Readable => self.take_notices(),
                Event::Writable => self.flush(),
            }
            self.start_waiting().await;
        }
        if let Some(connection) = self.connection.take() {
            connection.close();
        }
    }

    async fn next_event(&mut self) -> Event {
        let Some(connection) = &mut self.connection else {
            return Event::Command(self.commands.recv().await);
        };
        let sending = !connection.outbox.is_empty();
        tokio::select! {
            biased;
            // An error of the socket shows itself when it is read.
            _ = ready(&connection.socket, Interest::READABLE) => Event::Readable,
            _ = ready(&connection.socket, Interest::WRITABLE), if sending => Event::Writable,
            command = self.commands.recv() => Event::Command(command),
        }
    }

    async fn perform(&mut self, command: Command) {
        match command {
            Command::Spawn { request, streams, reply, exit } => {
                self.spawn(request, streams, reply, exit).await;
            }
            Command::Signal { id, signal } => {
                if self.groups.contains_key(&id) {
                    self.send(&Order::Signal { id, signal }, Vec::new());
                }
            }
            Command::Release { id, done } => {
                let Some(group) = self.groups.get_mut(&id) else { return };
                let asked_before = group.done.is_some();
                group.done = group.done.take().or(done);
                if !asked_before {
                    self.send(&Order::Release { id }, Vec::new());
                }
            }
        }
    }

    async fn spawn(
        &mut self,
        request: Box<SpawnRequest>,
        streams: [OwnedFd; 3],
        reply: oneshot::Sender<Result<Spawned, NotSpawned>>,
        exit: oneshot::Sender<Ended>,
    ) {
        if self.connection.is_none() {
            match Connection::open(&self.config).await {
                Ok((connection, _)) => self.connection = Some(connection),
                Err(error) => return drop(reply.send(Err(NotSpawned::NoLauncher(error)))),
            }
        }
        let id = self.last_id + 1;
        let order = encode(&Order::Spawn { id, request });
        if order.len() > MESSAGE_BYTES_MAX {
            return drop(reply.send(Err(NotSpawned::TooLarge { bytes: order.len() })));
        }
        self.last_id = id;
        self.groups.insert(id, Group { pid: None, reply: Some(reply), exit: Some(exit), done: None });
        self.send_encoded(Outgoing { order, descriptors: streams.into(), starts: Some(id) });
    }

    /// Hands processes that the last launcher never heard of to the next one.
    async fn start_waiting(&mut self) {
        for _ in 0..LAUNCHERS_MAX {
            if self.waiting.is_empty() {
                return;
            }
            let Ok((connection, _)) = Connection::open(&self.config).await else { break };
            self.connection = Some(connection);
            for outgoing in std::mem::take(&mut self.waiting) {
                self.send_encoded(outgoing);
            }
        }
        for id in std::mem::take(&mut self.waiting).into_iter().filter_map(|outgoing| outgoing.starts) {
            if let Some(group) = self.groups.remove(&id) {
                group.lose();
            }
        }
    }

    fn send(&mut self, order: &Order, descriptors: Vec<OwnedFd>) {
        self.send_encoded(Outgoing { order: encode(order), descriptors, starts: None });
    }

    fn send_encoded(&mut self, outgoing: Outgoing) {
        if let Some(connection) = &mut self.connection {
            connection.outbox.push_back(outgoing);
            self.flush();
        } else if outgoing.starts.is_some() {
            self.waiting.push_back(outgoing);
        }
    }

    fn flush(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        if connection.flush().is_err() {
            self.give_up();
        }
    }

    fn take_notices(&mut self) {
        loop {
            let Some(connection) = &mut self.connection else { return };
            match connection.receive() {
                Ok(Some(notice)) => self.note(notice),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(None) | Err(_) => return self.give_up(),
            }
        }
    }

    fn note(&mut self, notice: Notice) {
        match notice {
            Notice::Ready { .. } => {}
            Notice::Spawned { id, pid } => self.note_spawned(id, pid),
            Notice::SpawnFailed { id, stage, errno } => {
                if let Some(reply) = self.groups.remove(&id).and_then(|group| group.reply) {
                    let _ = reply.send(Err(NotSpawned::Failed { stage, errno }));
                }
            }
            Notice::Exited { id, exit, rest } => {
                let sender = self.groups.get_mut(&id).and_then(|group| group.exit.take());
                if let Some(sender) = sender {
                    let _ = sender.send(Ended { exit, rest });
                }
                match rest {
                    Rest::Gone => self.forget(id),
                    Rest::Left => {}
                }
            }
            Notice::Released { id } => self.forget(id),
        }
    }

    fn forget(&mut self, id: u64) {
        if let Some(done) = self.groups.remove(&id).and_then(|group| group.done) {
            let _ = done.send(());
        }
    }

    fn note_spawned(&mut self, id: u64, pid: i32) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.pid = Pid::from_raw(pid);
        let taken = group.reply.take().is_some_and(|reply| reply.send(Ok(Spawned { id, pid })).is_ok());
        if !taken {
            // Whoever asked has stopped waiting, so nobody will release the process.
            self.send(&Order::Release { id }, Vec::new());
        }
    }

    /// The launcher is gone, and with it the leaders of its groups; their descendants are killed from here.
    fn give_up(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            let unsent = std::mem::take(&mut connection.outbox).into_iter();
            self.waiting.extend(unsent.filter(|outgoing| outgoing.starts.is_some()));
            connection.close();
        }
        let waiting: Vec<u64> = self.waiting.iter().filter_map(|outgoing| outgoing.starts).collect();
        let (kept, lost) =
            std::mem::take(&mut self.groups).into_iter().partition(|(id, _)| waiting.contains(id));
        self.groups = kept;
        BTreeMap::into_values(lost).for_each(Group::lose);
    }
}

impl Group {
    /// Kills what the launcher left of a group, and says that its end is not known.
    fn lose(self) {
        if let Some(pid) = self.pid {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        if let Some(reply) = self.reply {
            let _ = reply.send(Err(NotSpawned::LauncherLost));
        }
        if let Some(exit) = self.exit {
            let _ = exit.send(Ended::lost());
        }
    }
}

impl Connection {
    async fn open(config: &LauncherConfig) -> Result<(Self, SandboxReport), LauncherError> {
        let path = &config.program.path;
        let started = |source| LauncherError::Start { path: path.clone(), source };
        let (ours, theirs) = Socket::pair().map_err(started)?;
        let guard = config.guard.as_ref().map(OwnedFd::try_clone).transpose().map_err(started)?;
        let process = start_program(&config.program, theirs).map_err(started)?;
        let socket = register(ours).map_err(started)?;
        let buffer = vec![0; MESSAGE_BYTES_MAX];
        let mut connection = Self { socket, process, outbox: VecDeque::new(), buffer };
        let hello = encode(&Order::Hello);
        connection.outbox.push_back(Outgoing {
            order: hello,
            descriptors: guard.into_iter().collect(),
            starts: None,
        });
        match connection.greet().await {
            Some(report) => Ok((connection, report)),
            None => {
                connection.close();
                Err(not_ready(path))
            }
        }
    }

    /// Says hello and waits for the answer.
    async fn greet(&mut self) -> Option<SandboxReport> {
        ready(&self.socket, Interest::WRITABLE).await.ok()?;
        self.flush().ok()?;
        loop {
            match self.receive() {
                Ok(Some(Notice::Ready { report })) => return Some(report),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready(&self.socket, Interest::READABLE).await.ok()?;
                }
                Ok(_) | Err(_) => return None,
            }
        }
    }

    /// Sends what can be sent without waiting.
    fn flush(&mut self) -> io::Result<()> {
        while let Some(Outgoing { order, descriptors, .. }) = self.outbox.front() {
            let descriptors: Vec<_> = descriptors.iter().map(|descriptor| descriptor.as_fd()).collect();
            match self.socket.try_io(Interest::WRITABLE, |socket| socket.send(order, &descriptors)) {
                Ok(()) => drop(self.outbox.pop_front()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Option<Notice>> {
        let buffer = &mut self.buffer;
        let received = self.socket.try_io(Interest::READABLE, |socket| socket.receive(buffer))?;
        Ok(received.map(|received| received.message))
    }

    /// Closes the socket, which ends the launcher, and reaps it when it has killed its processes.
    fn close(self) {
        let mut process = self.process;
        drop(self.socket);
        tokio::task::spawn_blocking(move || process.wait());
    }
}

#[expect(unsafe_code, reason = "tokio cannot know that a type keeps its descriptor")]
fn register(socket: Socket) -> io::Result<AsyncFd<Socket>> {
    // SAFETY: a `Socket` owns its descriptor and never replaces or closes it before it is dropped.
    Ok(unsafe { AsyncFd::register(socket) }?)
}

/// Waits until the socket can be read or written.
async fn ready(socket: &AsyncFd<Socket>, interest: Interest) -> io::Result<()> {
    let mut guard = socket.ready(interest).await?;
    guard.retain_ready();
    Ok(())
}

fn not_ready(path: &Path) -> LauncherError {
    LauncherError::NotReady { path: path.to_owned() }
}

/// Starts the launcher's program with the socket as its standard input, and nothing of artel's environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the one process that is not started by the launcher is the launcher"
)]
fn start_program(program: &LauncherProgram, socket: Socket) -> io::Result<std::process::Child> {
    let mut command = std::process::Command::new(&program.path);
    command.args(&program.arguments).env_clear().current_dir("/");
    command.stdin(OwnedFd::from(socket)).stdout(std::process::Stdio::null());
    command.spawn()
}

//! Makes a process: everything is prepared beforehand, then a child that shares the launcher's memory only makes system
//! calls until it executes its program. The launcher stands still meanwhile, so nothing is copied and nothing can race.

use std::ffi::{CString, NulError, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::process::{Resource, Rlimit};

use super::privileges::{die_with, give_up};
use super::request::{RunAs, SpawnRequest};
use super::seccomp::{FILTER_FLAG_NEW_LISTENER, FILTER_FLAG_SPEC_ALLOW, FILTER_SET_MODE};
use super::wire::Stage;

/// Enough for the child's few calls, of which none takes large variables.
const STACK_BYTES: usize = 64 * 1024;
/// The most limits that are set on one process.
pub(super) const LIMITS_MAX: usize = 7;

/// A limit as the kernel takes it.
pub(super) type ResourceLimit = (Resource, Rlimit);

/// What the child runs with.
pub(super) struct StartContext<'a> {
    /// Standard input, output and error.
    pub(super) streams: [BorrowedFd<'a>; 3],
    /// How much it may use.
    pub(super) limits: [ResourceLimit; LIMITS_MAX],
    /// How urgent it is; the launcher may be more so.
    pub(super) priority: i32,
    /// Where it moves into its cell of the tree of control groups.
    pub(super) cell: Option<BorrowedFd<'a>>,
    /// The view of the file system that it goes to.
    pub(super) view: Option<BorrowedFd<'a>>,
}

/// How the child gives up its reach.
pub(super) struct Confinement<'a> {
    /// Whom it becomes.
    pub(super) run_as: RunAs,
    /// Landlock rules to put on.
    pub(super) rules: Option<BorrowedFd<'a>>,
    /// The filter of system calls.
    pub(super) filter: Option<libc::sock_fprog>,
    /// The filter that asks the launcher about system calls, and where to send what they arrive at.
    pub(super) asking: Option<(libc::sock_fprog, BorrowedFd<'a>)>,
}

/// What the child needs, in the form that the kernel takes.
pub(super) struct Image {
    program: CString,
    cwd: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

/// A process that runs.
pub(super) struct Started {
    pub(super) pid: i32,
    /// Becomes readable when the process ends.
    pub(super) ended: OwnedFd,
}

/// Why there is no process.
pub(super) struct NotStarted {
    pub(super) stage: Stage,
    pub(super) error: io::Error,
    /// A child that failed on its way; it has ended and has to be reaped.
    pub(super) remains: Option<i32>,
}

/// The memory that children start on, one after the other.
pub(super) struct Stack(Box<[u128]>);

impl Image {
    /// Takes the texts of a request; none may hold a NUL byte.
    pub(super) fn of(request: &SpawnRequest) -> Result<Self, NulError> {
        let mut arguments = vec![CString::new(request.program.as_str())?];
        for argument in &request.arguments {
            arguments.push(CString::new(argument.as_str())?);
        }
        let variables = request.environment.iter();
        let environment = variables.map(|(name, value)| CString::new(format!("{name}={value}")));
        Ok(Self {
            program: CString::new(request.program.as_str())?,
            cwd: CString::new(request.cwd.as_str())?,
            arguments,
            environment: environment.collect::<Result<_, _>>()?,
        })
    }
}

impl Stack {
    pub(super) fn new() -> Self {
        Self(vec![0; STACK_BYTES / size_of::<u128>()].into_boxed_slice())
    }
}

/// Everything that the child looks at, and the one place that it writes to.
struct Child<'a> {
    program: *const c_char,
    cwd: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    streams: [RawFd; 3],
    limits: &'a [ResourceLimit],
    priority: i32,
    cell: Option<RawFd>,
    view: Option<RawFd>,
    confinement: Option<&'a Confinement<'a>>,
    parent: i32,
    failure: Option<(Stage, c_int)>,
}

/// Starts a process in a group of its own.
#[expect(
    unsafe_code,
    reason = "only `clone` makes a process without copying the launcher, and tells its descriptor"
)]
pub(super) fn start(
    image: &Image,
    start_context: &StartContext<'_>,
    confinement: Option<&Confinement<'_>>,
    stack: &mut Stack,
) -> Result<Started, NotStarted> {
    let arguments = pointers(&image.arguments);
    let environment = pointers(&image.environment);
    let mut child = Child {
        program: image.program.as_ptr(),
        cwd: image.cwd.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        streams: start_context.streams.map(|stream| stream.as_raw_fd()),
        limits: &start_context.limits,
        priority: start_context.priority,
        cell: start_context.cell.map(|cell| cell.as_raw_fd()),
        view: start_context.view.map(|view| view.as_raw_fd()),
        confinement,
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        failure: None,
    };
    let mut ended: c_int = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let child = &raw mut child;
    // SAFETY: the stack is large enough and used by one child at a time, as `CLONE_VFORK` keeps this thread from going
    // on until the child has executed its program or ended; so `child` and all it points to outlive the child's use.
    let pid = unsafe {
        let top = stack.0.as_mut_ptr_range().end;
        libc::clone(run_child, top.cast(), flags, child.cast(), &raw mut ended)
    };
    if pid < 0 {
        return Err(NotStarted { stage: Stage::Clone, error: io::Error::last_os_error(), remains: None });
    }
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    let ended = unsafe { OwnedFd::from_raw_fd(ended) };
    // SAFETY: the pointer is to a live variable; the read is volatile because the child wrote it behind the compiler's back.
    match unsafe { (&raw const (*child).failure).read_volatile() } {
        None => Ok(Started { pid, ended }),
        Some((stage, errno)) => {
            Err(NotStarted { stage, error: io::Error::from_raw_os_error(errno), remains: Some(pid) })
        }
    }
}

/// Returns pointers to the texts with a null at the end, as the kernel takes them.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// The whole life of a child until its program; it must not allocate, lock, or panic.
#[expect(unsafe_code, reason = "the signature that `clone` asks for")]
extern "C" fn run_child(argument: *mut c_void) -> c_int {
    let child: *mut Child<'_> = argument.cast();
    // SAFETY: `start` passes a pointer to its live `Child` and stands still while this function runs.
    let failure = unsafe { become_program(&*child) };
    // SAFETY: as above; nobody else touches the field while this function runs.
    unsafe { (&raw mut (*child).failure).write_volatile(Some(failure)) };
    // SAFETY: ends only the child, without running anything of the launcher's.
    unsafe { libc::_exit(127) }
}

/// What failed on the way to the program.
pub(super) type Failure = (Stage, c_int);

/// Goes step by step to the program; returns only with what failed.
///
/// # Safety
/// All pointers in `child` are valid, and the process may be changed: it is the child's.
#[expect(unsafe_code, reason = "system calls on prepared pointers")]
unsafe fn become_program(child: &Child<'_>) -> Failure {
    // SAFETY: passed on from this function's own contract.
    unsafe {
        let prepared = join_group(child)
            .and_then(|()| enter_cell(child))
            .and_then(|()| enter_view(child))
            .and_then(|()| connect(child))
            .and_then(|()| child.confinement.map_or(Ok(()), |confinement| ask(confinement)))
            .and_then(|()| limit(child))
            .and_then(|()| {
                child.confinement.map_or(Ok(()), |confinement| confine(confinement, child.parent))
            });
        if let Err(failure) = prepared {
            return failure;
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::execve(child.program, child.arguments, child.environment);
        (Stage::Execute, errno())
    }
}

/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn join_group(child: &Child<'_>) -> Result<(), Failure> {
    // SAFETY: these calls take only numbers.
    unsafe {
        check(Stage::Group, libc::setpgid(0, 0))?;
        die_with(child.parent)
    }
}

/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn enter_cell(child: &Child<'_>) -> Result<(), Failure> {
    let Some(cell) = child.cell else { return Ok(()) };
    // SAFETY: the descriptor is open, and the text lives as long as the program.
    let written = unsafe { libc::write(cell, c"0".as_ptr().cast(), 1) };
    check(Stage::Cgroup, written as c_int)
}

/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn enter_view(child: &Child<'_>) -> Result<(), Failure> {
    let Some(view) = child.view else { return Ok(()) };
    // SAFETY: the descriptor is open; only the child's own view changes.
    check(Stage::Folder, unsafe { libc::setns(view, libc::CLONE_NEWNS) })
}

/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn connect(child: &Child<'_>) -> Result<(), Failure> {
    let [stdin, stdout, stderr] = child.streams;
    // SAFETY: the descriptors are open and above 2, and `cwd` is a valid text.
    unsafe {
        check(Stage::Streams, libc::dup2(stdin, 0))?;
        check(Stage::Streams, libc::dup2(stdout, 1))?;
        check(Stage::Streams, libc::dup2(stderr, 2))?;
        // Every descriptor closes itself on execution; this also catches one that a bug left open.
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 4_u32 /* CLOSE_RANGE_CLOEXEC */);
        check(Stage::Folder, libc::chdir(child.cwd))
    }
}

fn limit(child: &Child<'_>) -> Result<(), Failure> {
    let failed = |error: rustix::io::Errno| (Stage::Limits, error.raw_os_error());
    rustix::process::setpriority_process(None, child.priority).map_err(failed)?;
    for (resource, limit) in child.limits {
        rustix::process::setrlimit(*resource, *limit).map_err(failed)?;
    }
    Ok(())
}

/// Lets the launcher answer some system calls. Comes before the limits: among the descriptors of the launcher, which the
/// child closes when it executes its program, there may be no number left below the limit of open files.
///
/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn ask(confinement: &Confinement<'_>) -> Result<(), Failure> {
    // SAFETY: the calls take numbers, an open descriptor and pointers to live structures.
    unsafe {
        check(Stage::Privileges, libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        let Some((filter, socket)) = &confinement.asking else { return Ok(()) };
        let listener = install(filter, FILTER_FLAG_NEW_LISTENER)?;
        send_descriptor(socket.as_raw_fd(), listener)
    }
}

/// Gives up privileges, files and system calls, in this order: each step needs what the next one takes.
///
/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn confine(confinement: &Confinement<'_>, parent: i32) -> Result<(), Failure> {
    // SAFETY: the calls take numbers, an open descriptor and pointers to live structures.
    unsafe {
        give_up(confinement.run_as, parent)?;
        if let Some(rules) = confinement.rules {
            let answer = libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32);
            check(Stage::Landlock, answer as c_int)?;
        }
        if let Some(filter) = &confinement.filter {
            install(filter, 0)?;
        }
    }
    Ok(())
}

/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "seccomp has no function in the C library")]
unsafe fn install(filter: &libc::sock_fprog, flags: u32) -> Result<c_int, Failure> {
    let flags = FILTER_FLAG_SPEC_ALLOW | flags;
    // SAFETY: the pointer is to a live structure.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, FILTER_SET_MODE, flags, std::ptr::from_ref(filter)) as c_int
    };
    check(Stage::Seccomp, answer).map(|()| answer)
}

/// Sends a descriptor to the launcher, which reads it when it goes on.
///
/// # Safety
/// As for `become_program`.
#[expect(unsafe_code, reason = "system calls")]
unsafe fn send_descriptor(socket: RawFd, descriptor: c_int) -> Result<(), Failure> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // Aligned as the header of a control message has to be.
    let mut control = [0_u64; 4];
    // SAFETY: the message points to variables that live through the call, and the control message fits into its room.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(descriptor);
        check(Stage::Seccomp, libc::sendmsg(socket, &raw const message, libc::MSG_DONTWAIT) as c_int)
    }
}

pub(super) fn check(stage: Stage, answer: c_int) -> Result<(), Failure> {
    if answer < 0 { Err((stage, errno())) } else { Ok(()) }
}

#[expect(unsafe_code, reason = "the C library keeps the error in a variable of the thread")]
fn errno() -> c_int {
    // SAFETY: the pointer is to the calling thread's own variable, which always exists.
    unsafe { *libc::__errno_location() }
}

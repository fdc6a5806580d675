//! The kernel in a process of its own, so that work which does not end, or takes all memory, can be ended without hurting
//! the process that holds the workspaces. The child watches the time itself, so none survives its parent for long.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::compiled::ModuleCache;
use super::job::{Job, JobRequest, Outcome, run_job};
use super::model::KernelError;
use super::occt::Occt;
use crate::limit::FRAME_BYTES_MAX;

/// How the kernel's process is started and what it may use.
#[derive(Clone, Debug)]
pub struct KernelSettings {
    /// The program, which is this one.
    pub program: PathBuf,
    /// Where the compiled module is.
    pub cache: PathBuf,
    /// How long one job may take, in milliseconds.
    pub time_ms: u64,
    /// How much memory the kernel may use.
    pub memory_bytes_max: usize,
}

/// The header of a frame to the child.
#[derive(Serialize, Deserialize)]
struct Question {
    request: JobRequest,
}

/// The header of a frame from the child.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: Result<Outcome, KernelError>,
}

/// Starts the kernel's process when there is work, and again after it had to be ended.
pub struct KernelProcess {
    settings: KernelSettings,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl KernelProcess {
    /// Prepares everything; nothing is started before the first job.
    pub fn new(settings: KernelSettings) -> Self {
        Self { settings, running: None }
    }

    /// Does a job. Returns the outcome and the bytes of the solids in it.
    pub fn run(&mut self, job: &Job) -> Result<(Outcome, Vec<Vec<u8>>), KernelError> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        let Some(running) = &mut self.running else { return Err(broken("it is not running")) };
        let answer = running.ask(job);
        let is_over = match &answer {
            Ok((answer, _)) => matches!(
                answer.result,
                Err(KernelError::Timeout { .. } | KernelError::Memory { .. } | KernelError::Broken(_))
            ),
            Err(_) => true,
        };
        if is_over {
            self.stop();
        }
        let (answer, solids) = answer.map_err(|error| broken(format!("its process ended: {error}")))?;
        answer.result.map(|outcome| (outcome, solids))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the only one that starts the kernel's process"
    )]
    fn start(&self) -> Result<Running, KernelError> {
        let mut child = Command::new(&self.settings.program)
            .arg("kernel")
            .arg("--cache")
            .arg(&self.settings.cache)
            .args(["--time-ms", &self.settings.time_ms.to_string()])
            .args(["--memory-bytes", &self.settings.memory_bytes_max.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                broken(format!("cannot start `{}`: {error}", self.settings.program.display()))
            })?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Running { child, input, output }),
            _ => Err(broken("its pipes are missing")),
        }
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // A process that is gone already is what is wanted.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Drop for KernelProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    fn ask(&mut self, job: &Job) -> io::Result<(Answer, Vec<Vec<u8>>)> {
        let question = Question { request: job.request.clone() };
        write_frame(&mut self.input, &question, &job.solids)?;
        read_frame(&mut self.output)?.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

fn broken(message: impl Into<String>) -> KernelError {
    KernelError::Broken(message.into())
}

/// The child's side: does jobs from `input` until it ends. Returns when there is no more to do.
pub fn serve_jobs(
    cache: &ModuleCache,
    time_ms: u64,
    memory_bytes_max: usize,
    mut input: impl Read,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let module = cache.load(|| ()).map_err(io::Error::other)?;
    let output = Arc::new(Mutex::new(output));
    let watch = Watch::start(Arc::clone(&output), time_ms);
    let mut kernel = None;
    while let Some((question, solids)) = read_frame::<Question>(&mut input)? {
        let job = Job { request: question.request, solids };
        watch.begin();
        let worked = match &mut kernel {
            Some(kernel) => run_job(kernel, &job),
            none => Occt::new(&module, memory_bytes_max).and_then(|occt| run_job(none.insert(occt), &job)),
        };
        watch.end();
        let (result, solids) = match worked {
            Ok((outcome, solids)) => (Ok(outcome), solids),
            Err(error) => (Err(error), Vec::new()),
        };
        let mut output = output.lock().map_err(|_| io::Error::other("the watch failed"))?;
        write_frame(&mut *output, &Answer { result }, &solids)?;
    }
    Ok(())
}

/// Ends the process when a job takes too long; the wasm code cannot be interrupted from within.
struct Watch {
    jobs: Sender<Event>,
}

enum Event {
    Begin,
    End,
}

impl Watch {
    fn start(output: Arc<Mutex<impl Write + Send + 'static>>, time_ms: u64) -> Self {
        let (jobs, events) = channel();
        std::thread::spawn(move || watch(&events, &output, time_ms));
        Self { jobs }
    }

    fn begin(&self) {
        // The watching thread ends only with the process.
        let _ = self.jobs.send(Event::Begin);
    }

    fn end(&self) {
        let _ = self.jobs.send(Event::End);
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the working thread cannot be stopped in any other way"
)]
fn watch(events: &Receiver<Event>, output: &Mutex<impl Write>, time_ms: u64) {
    while events.recv().is_ok() {
        if let Err(RecvTimeoutError::Timeout) = events.recv_timeout(Duration::from_millis(time_ms)) {
            if let Ok(mut output) = output.lock() {
                let answer = Answer { result: Err(KernelError::Timeout { limit_ms: time_ms }) };
                // The parent may be gone; the process ends in any case.
                let _ = write_frame(&mut *output, &answer, &[]);
            }
            std::process::exit(3);
        }
    }
}

/// Writes a header as JSON and blobs as they are, each with its length before it.
fn write_frame(output: &mut impl Write, header: &impl Serialize, blobs: &[Vec<u8>]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    let mut head = Vec::with_capacity(header.len() + 16 + 8 * blobs.len());
    head.extend_from_slice(&(header.len() as u64).to_le_bytes());
    head.extend_from_slice(&(blobs.len() as u64).to_le_bytes());
    for blob in blobs {
        head.extend_from_slice(&(blob.len() as u64).to_le_bytes());
    }
    head.extend_from_slice(&header);
    output.write_all(&head)?;
    for blob in blobs {
        output.write_all(blob)?;
    }
    output.flush()
}

/// Reads what [`write_frame`] wrote; nothing at the end of the input.
fn read_frame<T: for<'de> Deserialize<'de>>(input: &mut impl Read) -> io::Result<Option<(T, Vec<Vec<u8>>)>> {
    let mut number = [0; 8];
    if input.read(&mut number[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut number[1..])?;
    let mut left = FRAME_BYTES_MAX;
    let header_length = within(&mut left, number)?;
    input.read_exact(&mut number)?;
    let count = within(&mut left, number)?;
    let mut lengths = Vec::new();
    for _ in 0..count {
        input.read_exact(&mut number)?;
        lengths.push(within(&mut left, number)?);
    }
    let header: T = serde_json::from_slice(&read_bytes(input, header_length)?)?;
    let blobs = lengths.into_iter().map(|length| read_bytes(input, length)).collect::<io::Result<_>>()?;
    Ok(Some((header, blobs)))
}

fn within(left: &mut usize, number: [u8; 8]) -> io::Result<usize> {
    let length = usize::try_from(u64::from_le_bytes(number)).unwrap_or(usize::MAX);
    match left.checked_sub(length) {
        Some(rest) => {
            *left = rest;
            Ok(length)
        }
        None => Err(io::Error::other(format!("a frame has more than {FRAME_BYTES_MAX} bytes"))),
    }
}

fn read_bytes(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_were() {
        let question = Question { request: JobRequest::Overlaps { pairs: vec![(0, 1)] } };
        let blobs = vec![vec![1, 2, 3], Vec::new()];
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &question, &blobs).unwrap();
        write_frame(&mut bytes, &question, &[]).unwrap();
        let mut input = bytes.as_slice();
        let (first, found) = read_frame::<Question>(&mut input).unwrap().unwrap();
        assert_eq!((first.request, found), (question.request, blobs));
        assert!(read_frame::<Question>(&mut input).unwrap().unwrap().1.is_empty());
        assert!(read_frame::<Question>(&mut input).unwrap().is_none());
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused_before_it_is_read() {
        let mut bytes = u64::MAX.to_le_bytes().to_vec();
        bytes.extend_from_slice(&0_u64.to_le_bytes());
        let error = read_frame::<Question>(&mut bytes.as_slice()).err().unwrap();
        assert!(error.to_string().contains("more than"), "{error}");
    }
}

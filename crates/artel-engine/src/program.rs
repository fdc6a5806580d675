//! Runs a program to its end and hears what it says. Knows nothing of what it is for.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

use crate::process::{ChildProcess, Exit, Launcher, SpawnError, SpawnRequest};

/// Bytes of stderr that are kept; the last ones.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// How a program ended, and what it said about itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) stderr: String,
}

/// A program said more than is heard.
#[derive(Debug)]
pub(crate) struct TooMuch {
    pub(crate) bytes_max: u64,
}

/// Runs a program: gives it `input`, and what it writes to `hear`. When that fails, or when the future is dropped, the
/// program and all that it started are killed.
pub(crate) async fn run<T, E: From<SpawnError>, F: Future<Output = Result<T, E>>>(
    launcher: &Launcher,
    request: SpawnRequest,
    input: Vec<u8>,
    hear: impl FnOnce(pipe::Receiver) -> F,
) -> Result<(T, Ended), E> {
    let child = launcher.spawn(request).await?;
    let ChildProcess { stdin, stdout, stderr, mut group, .. } = child;
    let (heard, said, ()) =
        tokio::try_join!(hear(stdout), async { Ok(read_tail(stderr).await) }, tell(stdin, input))?;
    let exit = group.exited().await;
    group.release().await;
    Ok((heard, Ended { exit, stderr: said }))
}

/// Hears everything, up to a limit.
pub(crate) async fn read_capped<E: From<TooMuch>>(
    mut stdout: pipe::Receiver,
    bytes_max: usize,
) -> Result<Vec<u8>, E> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    // An error means that nothing more can be read, as the end does.
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        if bytes.len() > bytes_max {
            return Err(TooMuch { bytes_max: bytes_max as u64 }.into());
        }
    }
    Ok(bytes)
}

/// A program may end without reading what it is told.
async fn tell<E>(mut stdin: pipe::Sender, input: Vec<u8>) -> Result<(), E> {
    let _ = stdin.write_all(&input).await;
    Ok(())
}

async fn read_tail(mut stderr: pipe::Receiver) -> String {
    let mut bytes: Vec<u8> = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        bytes.drain(..bytes.len().saturating_sub(STDERR_BYTES_MAX));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

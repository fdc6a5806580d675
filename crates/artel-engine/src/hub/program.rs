//! Runs a program to its end and hears what it says. Knows nothing of what it is for.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

use super::error::HubError;
use crate::process::{ChildProcess, Exit, Launcher, SpawnRequest};

/// Bytes of stderr that are kept; the last ones.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// How a program ended, and what it said about itself.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) stderr: String,
}

/// Runs a program: gives it `input`, and what it writes to `hear`. When that fails, or when the future is dropped, the
/// program and all that it started are killed.
pub(super) async fn run<T, F: Future<Output = Result<T, HubError>>>(
    launcher: &Launcher,
    request: SpawnRequest,
    input: Vec<u8>,
    hear: impl FnOnce(pipe::Receiver) -> F,
) -> Result<(T, Ended), HubError> {
    let child = launcher.spawn(request).await.map_err(|error| HubError::GitStart(Box::new(error)))?;
    let ChildProcess { stdin, stdout, stderr, mut group, .. } = child;
    let (heard, said, ()) =
        tokio::try_join!(hear(stdout), async { Ok(read_tail(stderr).await) }, tell(stdin, input))?;
    let exit = group.exited().await;
    group.release().await;
    Ok((heard, Ended { exit, stderr: said }))
}

/// Hears everything, up to a limit.
pub(super) async fn read_capped(mut stdout: pipe::Receiver, bytes_max: usize) -> Result<Vec<u8>, HubError> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    // An error means that nothing more can be read, as the end does.
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        if bytes.len() > bytes_max {
            return Err(HubError::TooLarge { bytes_max: bytes_max as u64 });
        }
    }
    Ok(bytes)
}

/// A program may end without reading what it is told.
async fn tell(mut stdin: pipe::Sender, input: Vec<u8>) -> Result<(), HubError> {
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

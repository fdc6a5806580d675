//! Compiling the kernel where a person watches: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::kernel::{ModuleCache, WarmupError};

/// About how long it takes, for the bar; machines differ.
const USUAL_SECONDS: u64 = 75;

/// Makes sure that the kernel is compiled, and says on stderr that it is being done.
pub fn warm_up(cache: PathBuf) -> Result<(), WarmupError> {
    let cache = ModuleCache::new(cache);
    if cache.is_warm()? {
        return Ok(());
    }
    cache.load(Progress::start).map(drop)
}

/// Shows that something goes on, until it is dropped.
struct Progress {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    fn start() -> Self {
        let (end, ended) = channel();
        let show = move || {
            let is_terminal = io::stderr().is_terminal();
            let every = Duration::from_millis(if is_terminal { 200 } else { 10_000 });
            let watch = Stopwatch::start();
            say(is_terminal, &line(0));
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(every) {
                say(is_terminal, &line(watch.elapsed().as_secs()));
            }
            say(is_terminal, &format!("compiled the geometry kernel in {} s", watch.elapsed().as_secs()));
            if is_terminal {
                say(false, "");
            }
        };
        Self { end: Some(end), thread: Some(std::thread::spawn(show)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The bar is decoration; that it failed changes nothing.
            let _ = thread.join();
        }
    }
}

fn line(seconds: u64) -> String {
    let full = usize::try_from((seconds * 30 / USUAL_SECONDS).min(29)).unwrap_or(29);
    let bar: String = (0..30).map(|cell| if cell < full { '#' } else { '.' }).collect();
    format!(
        "compiling the geometry kernel, once for this machine [{bar}] {seconds} s of about {USUAL_SECONDS} s"
    )
}

fn say(over: bool, text: &str) {
    let mut stderr = io::stderr().lock();
    // Nothing can be done about a closed stderr.
    let _ = if over { write!(stderr, "\r{text}\x1b[K") } else { writeln!(stderr, "{text}") };
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_never_overflows() {
        assert!(line(0).contains("[..............................] 0 s"));
        assert!(line(30).contains("[############..................] 30 s"));
        assert!(line(900).contains("[#############################.] 900 s"));
    }
}

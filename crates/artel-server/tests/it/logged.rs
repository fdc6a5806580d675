//! Everything that is logged, for tests that read it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::io;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;

/// Everything that is logged.
#[derive(Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<u8>>>);

impl Logged {
    /// Begins to listen to what is logged from this level on. In a process with other tests, theirs is heard too.
    pub(crate) fn begin(level: tracing::Level) -> Self {
        let logged = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .with_writer(logged.clone())
            .finish();
        let _ = tracing::subscriber::set_global_default(subscriber);
        logged
    }

    /// Returns what was logged so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// Returns the lines with all of these words.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let text = self.text();
        let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
        text.lines().filter(has_all).map(str::to_owned).collect()
    }
}

impl io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Logged {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

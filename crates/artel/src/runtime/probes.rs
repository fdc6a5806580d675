//! Whether the store and the data folder can be written: a small durable write each, once a second at most.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use artel_app::Probe;
use artel_engine::Clock;
use artel_model::time::Timestamp;
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::Mutex;

use super::store::Store;
use crate::failure::chain;

/// How long an answer is given again without another write.
const ANSWER_MS: u64 = 1_000;
/// Bytes that are written into the data folder.
const SAMPLE: [u8; 4096] = [0; 4096];

/// Returns what says whether a server can keep anything.
pub(super) fn probes(store: &Store, data: &Utf8Path) -> Vec<Arc<dyn Probe>> {
    let once = |probe: Box<dyn Probe>| Arc::new(Once { probe, last: Mutex::default() }) as Arc<dyn Probe>;
    vec![once(Box::new(StoreProbe(store.clone()))), once(Box::new(FolderProbe { data: data.to_owned() }))]
}

/// A probe that is asked once a second at most, however many ask.
struct Once {
    probe: Box<dyn Probe>,
    last: Mutex<Option<(Timestamp, Result<(), String>)>>,
}

#[async_trait]
impl Probe for Once {
    fn name(&self) -> &'static str {
        self.probe.name()
    }

    async fn ready(&self) -> Result<(), String> {
        let mut last = self.last.lock().await;
        let now = Clock::system().now();
        if let Some((at, answer)) = &*last
            && now.millis_since(*at) < ANSWER_MS
        {
            return answer.clone();
        }
        let answer = self.probe.ready().await;
        *last = Some((now, answer.clone()));
        answer
    }
}

struct StoreProbe(Store);

#[async_trait]
impl Probe for StoreProbe {
    fn name(&self) -> &'static str {
        "store"
    }

    async fn ready(&self) -> Result<(), String> {
        self.0.check_writable().await.map_err(|error| chain(&error))
    }
}

struct FolderProbe {
    data: Utf8PathBuf,
}

#[async_trait]
impl Probe for FolderProbe {
    fn name(&self) -> &'static str {
        "data folder"
    }

    async fn ready(&self) -> Result<(), String> {
        let path = self.data.join(format!(".probe.{}", uuid::Uuid::new_v4().simple()));
        let written = tokio::task::spawn_blocking(move || {
            let written = write(&path);
            // A file that was not made cannot be removed.
            let _ = std::fs::remove_file(&path);
            written.map_err(|error| format!("cannot write `{path}`: {error}"))
        });
        written.await.map_err(|error| error.to_string())?
    }
}

fn write(path: &Utf8Path) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(&SAMPLE)?;
    file.sync_data()
}

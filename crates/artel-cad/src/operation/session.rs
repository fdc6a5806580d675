//! What every method works with: the workspaces, the kernel, and the call it answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::clock::{Stopwatch, now_ms};
use crate::config::Config;
use crate::entity::{Entity, EntityId, Shape, Solid, WorkspaceId};
use crate::error::{CadError, CadResult, Code, bad_params, invalid};
use crate::kernel::{Job, JobRequest, KernelError, KernelProcess, Measure, Outcome};
use crate::store::{CallRecord, Change, Commit, Receipt, Store, Stored, View};

/// How many calls that write nothing are counted in memory before they are written down.
const UNCOUNTED_MAX: usize = 200;

/// The workspaces and the kernel of one process.
pub struct Session {
    pub(crate) store: Store,
    files: PathBuf,
    kernel: KernelProcess,
    /// Calls that wrote nothing: how often and how long, by agent, method and success.
    uncounted: BTreeMap<(String, String, bool), (i64, i64)>,
    uncounted_calls: usize,
}

/// One call of a method.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(crate) workspace: &'a WorkspaceId,
    pub(crate) agent: &'a str,
    pub(crate) key: Option<(&'a str, [u8; 32])>,
    pub(crate) method: &'a str,
    pub(crate) watch: Stopwatch,
}

/// Returns what is the same for the same call, whatever the order of its parameters.
pub(crate) fn fingerprint(method: &str, params: &Map<String, Value>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(method.as_bytes());
    hash.update(json!(params).to_string().as_bytes());
    hash.finalize().into()
}

/// A solid that the kernel made: what is known about it and its bytes.
pub(crate) type MadeSolid = (Measure, Vec<u8>);

impl<'a> Call<'a> {
    /// Returns what the store writes down about this call.
    pub(crate) fn commit(&self) -> Commit<'a> {
        Commit {
            workspace: self.workspace,
            method: self.method,
            key: self.key,
            agent: self.agent,
            microseconds: i64::try_from(self.watch.elapsed().as_micros()).unwrap_or(i64::MAX),
            now_ms: now_ms(),
        }
    }
}

impl Session {
    /// Opens the workspaces.
    pub fn open(config: &Config) -> CadResult<Self> {
        Ok(Self::with_store(config, Store::open(&config.data, now_ms())?))
    }

    /// Makes workspaces that are gone when the process ends.
    pub fn in_memory(config: &Config) -> CadResult<Self> {
        Ok(Self::with_store(config, Store::in_memory(now_ms())?))
    }

    fn with_store(config: &Config, store: Store) -> Self {
        let kernel = KernelProcess::new(config.kernel.clone());
        Self { store, files: config.files.clone(), kernel, uncounted: BTreeMap::new(), uncounted_calls: 0 }
    }

    /// Returns the folder that files are read from and written to.
    pub(crate) fn files(&self) -> &Path {
        &self.files
    }

    pub(crate) fn earlier_answer(&mut self, call: &Call<'_>) -> CadResult<Option<Value>> {
        match call.key {
            Some(_) => self.store.earlier_answer(&call.commit()),
            None => Ok(None),
        }
    }

    /// Writes a change; `answer` makes the result from the ids that were given.
    pub(crate) fn commit(
        &mut self,
        call: &Call<'_>,
        change: Change,
        answer: impl FnOnce(&Receipt) -> Value,
    ) -> CadResult<Value> {
        self.store.commit(&call.commit(), change, answer)
    }

    /// Returns what the call's workspace shows.
    pub(crate) fn view(&mut self, call: &Call<'_>) -> CadResult<View> {
        self.store.view(call.workspace).map(|(_, view)| view)
    }

    /// Returns entities of the call's workspace.
    pub(crate) fn stored(&mut self, view: &View, ids: &[EntityId]) -> CadResult<Vec<Stored>> {
        ids.iter().map(|id| self.store.entity(view, id)).collect()
    }

    /// Returns a solid of the call's workspace, its properties and bytes.
    pub(crate) fn solid(&mut self, view: &View, id: &EntityId) -> CadResult<(Stored, Solid, Vec<u8>)> {
        let stored = self.store.entity(view, id)?;
        let Shape::Solid(solid) = stored.entity.shape.clone() else {
            let message = format!("`{id}` is a {}, not a solid", stored.entity.kind().word());
            return Err(
                invalid(message).hint("make a solid of a closed profile with solid.extrude or solid.revolve")
            );
        };
        let bytes = self.store.blob(stored.version)?;
        Ok((stored, solid, bytes))
    }

    /// Refuses an id that the workspace has already.
    pub(crate) fn refuse_taken(&mut self, view: &View, id: Option<&EntityId>) -> CadResult<()> {
        let Some(id) = id else { return Ok(()) };
        match self.store.entity(view, id) {
            Err(error) if error.code == Code::EntityNotFound => Ok(()),
            Err(error) => Err(error),
            Ok(stored) => {
                Err(bad_params(format!("there is a {} `{id}` already", stored.entity.kind().word()))
                    .hint("take another `entity_id`, or leave it out"))
            }
        }
    }

    /// Lets the kernel make solids.
    pub(crate) fn make(&mut self, request: JobRequest, solids: Vec<Vec<u8>>) -> CadResult<Vec<MadeSolid>> {
        match self.run(&Job { request, solids })? {
            (Outcome::Solids(measures), bytes) if measures.len() == bytes.len() => {
                Ok(measures.into_iter().zip(bytes).collect())
            }
            _ => Err(CadError::new(Code::InternalError, "the kernel's answer does not fit the question")),
        }
    }

    /// Lets the kernel make one solid.
    pub(crate) fn make_one(&mut self, request: JobRequest, solids: Vec<Vec<u8>>) -> CadResult<MadeSolid> {
        let made = self.make(request, solids)?.into_iter().next();
        made.ok_or_else(|| CadError::new(Code::InternalError, "the kernel made nothing"))
    }

    pub(crate) fn run(&mut self, job: &Job) -> CadResult<(Outcome, Vec<Vec<u8>>)> {
        self.kernel.run(job).map_err(kernel_error)
    }

    /// Counts a call that wrote nothing.
    pub(crate) fn count(&mut self, call: &Call<'_>, ok: bool) {
        let counters = self.uncounted.entry((call.agent.to_owned(), call.method.to_owned(), ok)).or_default();
        counters.0 += 1;
        counters.1 += i64::try_from(call.watch.elapsed().as_micros()).unwrap_or(0);
        self.uncounted_calls += 1;
        if self.uncounted_calls >= UNCOUNTED_MAX {
            self.flush_metrics();
        }
    }

    /// Writes down what is counted in memory.
    pub fn flush_metrics(&mut self) {
        let counted = std::mem::take(&mut self.uncounted);
        self.uncounted_calls = 0;
        if counted.is_empty() {
            return;
        }
        let rows: Vec<(CallRecord<'_>, i64, i64)> = counted
            .iter()
            .map(|((agent, method, ok), (times, micros))| {
                (CallRecord { agent, method, ok: *ok }, *times, *micros)
            })
            .collect();
        // Counters of reads and refusals are not worth failing a call for.
        let _ = self.store.count_calls(&rows);
    }
}

/// Says what the kernel's failure means to the caller.
fn kernel_error(error: KernelError) -> CadError {
    match error {
        KernelError::Failed(text) => CadError::new(Code::TopologyError, format!("the kernel failed: {text}"))
            .hint("check that the solids really meet, or move one by a little more than 0.001 mm"),
        KernelError::Unverified(text) => CadError::new(
            Code::TopologyError,
            format!("the result could not be verified and was refused: {text}"),
        )
        .hint(
            "avoid faces that only touch: make the tool a little longer or move it, or do it in other steps",
        ),
        KernelError::Empty => invalid("nothing would be left").hint("check the positions of the solids"),
        KernelError::Memory { limit_bytes } => {
            let message = format!("the kernel needs more than {} MiB", limit_bytes >> 20);
            CadError::new(Code::InsufficientMemory, message)
                .hint("do it in smaller steps or with fewer details")
        }
        KernelError::Broken(text) => CadError::new(
            Code::InsufficientMemory,
            format!("the kernel broke off ({text}) and was started anew"),
        )
        .hint("nothing was changed; try simpler input"),
        KernelError::Timeout { limit_ms } => CadError::new(
            Code::Timeout,
            format!("the kernel worked for more than {limit_ms} ms and was ended"),
        )
        .hint("nothing was changed; do it in smaller steps or with fewer details"),
        KernelError::Unsupported(text) => {
            CadError::new(Code::UnsupportedFormat, format!("the kernel cannot {text}"))
        }
    }
}

/// Makes the answer about an entity: its id, type and workspace, then its properties.
pub(crate) fn describe(workspace: &WorkspaceId, id: &EntityId, entity: &Entity) -> Value {
    let mut answer = entity.properties();
    answer.insert("entity_id".to_owned(), json!(id));
    answer.insert("entity_type".to_owned(), json!(entity.kind()));
    answer.insert("workspace_id".to_owned(), json!(workspace));
    if let Some(name) = &entity.name {
        answer.insert("name".to_owned(), json!(name));
    }
    Value::Object(answer)
}

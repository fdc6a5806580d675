//! Asking for a run. The same key asks for the same run, wherever and however often; for another one it is refused.

use artel_model::data_scope::OwnerKey;
use artel_model::id::{PlanId, RunId};
use artel_model::limit::HEALTH_PROBE_CLAIM_MS;
use artel_model::name::SkillName;
use artel_model::plan::{PlanMetadata, PlanParts, ScriptTarget, Work};
use artel_model::run::{Run, RunEvent, StampedEvent, Submission};
use artel_model::time::Timestamp;
use artel_model::version::Version;
use artel_store::{
    Created, Fence, NewRun, ProbeClaim, Revision, RunStore, SkillFiles, StoreError, due_probes,
};
use uuid::Uuid;

use crate::engine::Engine;
use crate::trace;

/// What came of asking for a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Submitted {
    /// It goes on.
    New(RunId),
    /// It was asked for before, with the same idempotency key.
    Existing(RunId),
}

impl Submitted {
    /// Returns the run.
    pub fn run(self) -> RunId {
        match self {
            Self::New(run) | Self::Existing(run) => run,
        }
    }
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// Something else was asked for with the same idempotency key.
    #[error("the key `{key}` was used before, for run {run}, which is a run of something else")]
    KeyTaken {
        /// The key.
        key: String,
        /// The earlier run.
        run: RunId,
    },
    /// Another run tries a skill that failed too often, and has not ended.
    #[error("skill `{0}` failed too often, and another run is trying it again: wait for its end")]
    ProbeTaken(SkillName),
    /// The engine is being closed.
    #[error("artel is being stopped, and begins nothing more")]
    Closing,
    /// The store failed.
    #[error("cannot keep the run")]
    Store(#[source] StoreError),
}

impl Engine {
    /// Keeps a run and begins it. When this returns, it survives a power cut.
    pub async fn submit(
        &self,
        submission: Submission,
        idempotency_key: Option<String>,
    ) -> Result<Submitted, SubmitError> {
        if self.is_closing() {
            return Err(SubmitError::Closing);
        }
        self.submit_run(RunId(Uuid::now_v7()), submission, idempotency_key).await
    }

    /// Keeps a run under an id that the caller has written down already, and begins it. Asking again for the same id is
    /// asking for the same run.
    pub async fn submit_as(&self, id: RunId, submission: Submission) -> Result<Submitted, SubmitError> {
        self.submit_run(id, submission, None).await
    }

    async fn submit_run(
        &self,
        id: RunId,
        mut submission: Submission,
        idempotency_key: Option<String>,
    ) -> Result<Submitted, SubmitError> {
        submission.trace_parent = submission.trace_parent.or_else(trace::current);
        let at = self.shared.context.clock.now();
        self.claim_probes(id, &submission, at).await?;
        let event = RunEvent::Submitted(Box::new(submission.clone()));
        let (mut run, _) = Run::begin(id, submission, at);
        let new = NewRun {
            summary: run.summary(),
            events: vec![StampedEvent { at, event }],
            owner: Some(self.shared.config.owner.clone()),
            idempotency_key: idempotency_key.clone(),
        };
        let store = &self.shared.context.store;
        if let Created::Existing(existing) = store.create(new).await.map_err(SubmitError::Store)? {
            let is_same = is_asked_for(&**store, existing, run.submission()).await;
            return match (is_same.map_err(SubmitError::Store)?, idempotency_key) {
                (false, Some(key)) => Err(SubmitError::KeyTaken { key, run: existing }),
                (true, _) | (false, None) => Ok(Submitted::Existing(existing)),
            };
        }
        run.take_effects(&self.shared.config.node);
        tracing::info!(run = %id, plan = %run.plan().id(), steps = run.plan().steps().len(), "the run begins");
        let meters = &self.shared.context.meters;
        meters.submitted.increment(1);
        if run.completed_at().is_none() {
            self.drive(run, Revision(1), Fence(1), Vec::new());
        } else {
            meters.run_ended(&run);
        }
        store.sync().await.map_err(SubmitError::Store)?;
        Ok(Submitted::New(id))
    }
}

impl Engine {
    /// Takes the probes of all skills of a plan that failed too often and may be tried again. Probes that were taken for a run
    /// which is refused after all end by themselves.
    async fn claim_probes(&self, run: RunId, asked: &Submission, now: Timestamp) -> Result<(), SubmitError> {
        let Some(health) = self.shared.health.get() else { return Ok(()) };
        let principal = OwnerKey::of(asked.viewer.as_ref().map(|viewer| &viewer.user));
        let counts = health.health_counts().await.map_err(SubmitError::Store)?;
        for (files, since) in due_probes(&counts, &principal, now) {
            if !runs_files(asked, &files) {
                continue;
            }
            let skill = files.skill.clone();
            let claim = ProbeClaim { files, since, run, now, until: now + HEALTH_PROBE_CLAIM_MS };
            if !health.claim_probe(claim).await.map_err(SubmitError::Store)? {
                return Err(SubmitError::ProbeTaken(skill));
            }
        }
        Ok(())
    }
}

/// Says whether a step of a plan, or what stands in for one, runs these files.
fn runs_files(asked: &Submission, files: &SkillFiles) -> bool {
    let is_it =
        |target: &ScriptTarget| target.skill == files.skill && target.content_hash == files.content_hash;
    asked.plan.parts().steps.iter().any(|step| {
        let is_work = match &step.work {
            Work::Script(target) => is_it(target),
            Work::Gather { .. } => false,
        };
        is_work || step.fallback.as_ref().is_some_and(|fallback| is_it(&fallback.target))
    })
}

/// Says whether a run that is kept is one of the same thing. What cannot be told is taken for the same.
async fn is_asked_for(
    store: &dyn RunStore,
    existing: RunId,
    submission: &Submission,
) -> Result<bool, StoreError> {
    let first = store.events(existing, Revision(0), 1).await?.into_iter().next();
    Ok(match first.map(|logged| logged.event.event) {
        Some(RunEvent::Submitted(known)) => is_same(&known, submission),
        Some(_) | None => true,
    })
}

/// Says whether two submissions ask for the same, be it with other ids, another time to do it in, or other versions of
/// the skills: who asks again may do so after an upgrade. Who may do less does not get a run that may do more.
fn is_same(one: &Submission, other: &Submission) -> bool {
    let asked = |submission: &Submission| without_what_artel_adds(submission.plan.parts().clone());
    // The teams of somebody who asks again may have changed.
    let owner = |submission: &Submission| submission.viewer.as_ref().map(|viewer| viewer.user.clone());
    (&one.kind, &one.state, one.agent, &one.policy) == (&other.kind, &other.state, other.agent, &other.policy)
        && owner(one) == owner(other)
        && asked(one) == asked(other)
}

fn without_what_artel_adds(mut plan: PlanParts) -> PlanParts {
    plan.id = PlanId(Uuid::nil());
    plan.metadata = PlanMetadata::first();
    for step in &mut plan.steps {
        match &mut step.work {
            Work::Script(target) => forget_version(target),
            Work::Gather { version, content_hash, .. } => {
                *version = Version::new(0, 0, 0);
                content_hash.clear();
            }
        }
        if let Some(fallback) = &mut step.fallback {
            forget_version(&mut fallback.target);
        }
    }
    plan
}

fn forget_version(target: &mut ScriptTarget) {
    let ScriptTarget {
        skill: _,
        version,
        content_hash,
        script: _,
        tool_path,
        idempotent,
        is_entrypoint,
        origin,
    } = target;
    *version = Version::new(0, 0, 0);
    content_hash.clear();
    tool_path.clear();
    *idempotent = false;
    *is_entrypoint = false;
    *origin = None;
}

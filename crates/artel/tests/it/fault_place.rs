//! A place for tests that break something under a server: either store, a chain of steps that leave marks, a gate.

use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::database::Database;
use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

/// The administrator's token, the same after every restart.
pub(crate) const TOKEN: &str = "f3a91c77d20e4b58a6c1907be4d2385f";
/// A server that counts no requests: tests ask again until something is so.
const UNCOUNTED: &str = "[server]\nrequests_per_second = 100000\nrequest_burst = 100000\n";
/// The file in which steps leave their marks.
pub(crate) const MARKS: &str = "marks.log";

/// A script that leaves a line in a file each time it runs. The step `gate` waits until the test opens it.
const SCRIPT: &str = r#"#!/bin/sh
echo "$ARTEL_STEP_ID" >> "$ARTEL_DATA_DIR/marks.log"
while [ "$ARTEL_STEP_ID" = gate ] && [ ! -e "$ARTEL_DATA_DIR/open" ]; do sleep 0.02; done
printf '{"version":"0","type":"done","ok":true,"output":{"step":"%s"}}\n' "$ARTEL_STEP_ID"
"#;

/// Which store a server has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
    /// A PostgreSQL server of the test's own, which can be stopped.
    OwnPostgres,
}

/// Whether the steps of a chain may be repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Steps {
    Idempotent,
    Once,
}

/// A session with a store.
pub(crate) struct FaultPlace {
    pub(crate) session: Session,
    pub(crate) database: Option<Database>,
}

impl FaultPlace {
    pub(crate) fn new(kind: Kind) -> Self {
        let database = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(Database::any()),
            Kind::OwnPostgres => Some(Database::on_own_server()),
        };
        Self::on(database)
    }

    fn on(database: Option<Database>) -> Self {
        let mut session = database.as_ref().map_or_else(Session::new, Database::session);
        session.set("ARTEL_ADMIN_TOKEN", TOKEN);
        // What is not read must not fill the pipe.
        session.set("ARTEL_LOG", "off");
        session.write("artel.toml", UNCOUNTED);
        Self { session, database }
    }

    /// Adds to `[server]`, and what follows it, in the configuration.
    pub(crate) fn configure(&self, rest: &str) {
        self.session.write("artel.toml", &format!("{UNCOUNTED}{rest}"));
    }

    /// Puts a skill and a plan of its steps in a row into the place.
    pub(crate) fn chain(&self, steps: &[&str], may: Steps) {
        let manifest = json!({
            "name": "mark", "version": "1.0.0", "description": "Leaves a mark. For tests.",
            "idempotent": may == Steps::Idempotent,
        });
        self.session.write("skills/mark/skill.json", &manifest.to_string());
        let script = self.session.write("skills/mark/scripts/run.sh", SCRIPT);
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let tool = |(place, id): (usize, &&str)| {
            let needs = place.checked_sub(1).map(|before| steps[before]);
            json!({
                "toolId": id, "skill": "mark", "dependencies": Vec::from_iter(needs), "timeoutMs": 600_000,
                "retryPolicy": {"maxRetries": 0},
            })
        };
        let tools: Vec<Value> = steps.iter().enumerate().map(tool).collect();
        let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": tools});
        self.session.write("plan.json", &plan.to_string());
    }

    /// Gives the PostgreSQL server an order: `stop`, `start` or `restart`, each as a crash.
    pub(crate) fn postgres(&mut self, order: &str) {
        self.database.as_mut().unwrap().own.as_mut().unwrap().order(order);
    }

    pub(crate) fn serve(&self) -> Served {
        Served::start(&self.session, &[])
    }

    /// Starts the plan, and returns the id of its run.
    #[track_caller]
    pub(crate) fn start(&self, served: &Served) -> String {
        let (status, body) = served.post("/api/plans/run", TOKEN, &self.session.read("plan.json"));
        assert_eq!(status, 202, "{body}");
        let run: Value = serde_json::from_str(&body).unwrap();
        run["run_id"].as_str().unwrap().to_owned()
    }

    /// Waits until so many marks were left.
    #[track_caller]
    pub(crate) fn wait_for_marks(&self, count: usize) {
        eventually("the steps ran", || self.marks().len() >= count);
    }

    /// Returns the steps that ran, in order.
    pub(crate) fn marks(&self) -> Vec<String> {
        let Some(marks) = find(self.session.path(), MARKS) else { return Vec::new() };
        std::fs::read_to_string(marks).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Lets the step `gate` end; it has left its mark.
    pub(crate) fn open_gate(&self) {
        let marks = find(self.session.path(), MARKS).unwrap();
        std::fs::write(marks.with_file_name("open"), "").unwrap();
    }

    /// Waits until a run is in a state.
    #[track_caller]
    pub(crate) fn wait_for_state(&self, served: &Served, run: &str, state: &str) {
        eventually(&format!("the run is {state}"), || status(served, run)["state"] == state);
    }
}

/// Returns where a run stands.
#[track_caller]
pub(crate) fn status(served: &Served, run: &str) -> Value {
    served.document(&format!("/api/runs/{run}/status"), TOKEN)
}

/// Finds a file below a folder. Other processes may change the folders at the same time.
pub(crate) fn find(folder: &Utf8Path, name: &str) -> Option<Utf8PathBuf> {
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        let kind = entry.file_type().ok();
        if kind.is_some_and(|kind| kind.is_dir()) {
            if let Some(found) = find(entry.path(), name) {
                return Some(found);
            }
        } else if entry.file_name() == name {
            return Some(entry.path().to_owned());
        }
    }
    None
}

//! `artel db`.

use std::sync::Arc;

use artel_store_sqlite::{BackupError, SqliteStore};
use camino::Utf8Path;
use serde_json::json;

use super::context::Context;
use crate::config::StoreChoice;
use crate::failure::Failure;
use crate::output::Tone;
use crate::runtime::{Store, wait_for};

pub(crate) fn backup(context: Context<'_>, target: &Utf8Path) -> Result<(), Failure> {
    wait_for(async {
        let store = file(context).await?;
        store.backup(target).await.map_err(|error| match error {
            BackupError::Exists { .. } => {
                Failure::failed(error.to_string()).hint("choose another name; a copy never overwrites")
            }
            BackupError::Target { .. } | BackupError::Store(_) => Failure::unavailable(&error),
        })
    })?;
    let bytes = target.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    if context.output.json {
        context.output.document(&json!({"file": target, "bytes": bytes}));
    } else {
        context.output.line(&format!("{target}: {bytes} bytes"));
    }
    Ok(())
}

pub(crate) fn check(context: Context<'_>) -> Result<(), Failure> {
    let report =
        wait_for(async { file(context).await?.check().await.map_err(|error| Failure::unavailable(&error)) })?;
    let output = context.output;
    let (version, runs, events, executions) = (report.version, report.runs, report.events, report.executions);
    if output.json {
        output.document(&json!({
            "sound": report.is_sound(), "version": version, "runs": runs, "events": events,
            "executions": executions, "problems": report.problems,
        }));
    } else {
        for problem in &report.problems {
            output.line(&format!(
                "{}: {}",
                output.paint("error", Tone::Error),
                output.paint(problem, Tone::Plain)
            ));
        }
        if report.is_sound() {
            let counts = format!("{runs} runs, {events} events, {executions} executions, version {version}");
            output.line(&format!("{}: {counts}", output.paint("ok", Tone::Good)));
        }
    }
    if report.is_sound() { Ok(()) } else { Err(Failure::reported()) }
}

/// Opens the store, which must be a file that is there.
async fn file(context: Context<'_>) -> Result<Arc<SqliteStore>, Failure> {
    let place = &context.config.store.value;
    match place {
        StoreChoice::Postgres(_) => Err(Failure::usage(format!("the store is {place}, not a file"))
            .hint("PostgreSQL has its own: pg_dump, pg_amcheck")),
        StoreChoice::File(path) => {
            let store = Store::open_existing(context.config).await?.and_then(|store| store.file);
            store.ok_or_else(|| Failure::missing(format!("there is no store at `{path}`")))
        }
    }
}

//! `artel skill lock`, `verify` and `update`.

use std::collections::BTreeSet;

use artel_catalog::lock::{
    Drift, LockFile, LockFileError, LockScope, Repin, compare, read_lock, repin, used, write_lock,
};
use artel_catalog::{Catalog, Keep};
use artel_model::name::SkillName;
use camino::Utf8Path;

use super::context::{Context, lookup_failure};
use super::lock_pins::present;
use super::lock_report::{LockOutcome, LockReport};
use crate::cli::{LockArgs, VerifyArgs};
use crate::failure::{Failure, chain};

/// Pins what is not pinned yet. Never changes a pin.
pub(crate) fn lock(context: Context<'_>, args: &LockArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    for name in &args.names {
        catalog.registry().get(name, None).map_err(|error| lookup_failure(&catalog, &error))?;
    }
    let locked = read(&args.file)?;
    let scope = scope(locked.as_ref(), &args.names);
    let present = present(context, &catalog, scope, &args.file)?;
    let locked = locked.unwrap_or_default();
    let comparison = compare(&locked, &present);
    if comparison.is_broken() {
        LockReport { file: &args.file, comparison, told: LockOutcome::Drift }.print(context);
        return Err(Failure::failed(format!(
            "skills are not what was locked; `{}` stays as it is",
            args.file
        ))
        .hint("`artel skill update` accepts what changed"));
    }
    let unlocked = comparison.skills.iter().filter(|standing| standing.drift == Drift::Unlocked);
    let unlocked: BTreeSet<SkillName> = unlocked.map(|standing| standing.pin.name.clone()).collect();
    let after = repin(&locked, &present, Repin::These(&unlocked));
    save(context, &args.file, &locked, &after)
}

/// Compares what is there with what was locked.
pub(crate) fn verify(context: Context<'_>, args: &VerifyArgs) -> Result<(), Failure> {
    let locked = required(&args.file)?;
    let catalog = context.catalog(Keep::Descriptions)?;
    let present = present(context, &catalog, locked.scope.clone(), &args.file)?;
    let comparison = compare(&locked, &present);
    let is_good = if args.strict { comparison.is_exact() } else { !comparison.is_broken() };
    LockReport { file: &args.file, comparison, told: LockOutcome::Verdict { is_good } }.print(context);
    if is_good { Ok(()) } else { Err(Failure::reported()) }
}

/// Pins skills again, and says what is different.
pub(crate) fn update(context: Context<'_>, args: &LockArgs) -> Result<(), Failure> {
    let locked = required(&args.file)?;
    let catalog = context.catalog(Keep::Descriptions)?;
    let present = present(context, &catalog, locked.scope.clone(), &args.file)?;
    let names = again(&catalog, args, &locked, &present)?;
    let which = if args.names.is_empty() { Repin::All } else { Repin::These(&names) };
    let after = repin(&locked, &present, which);
    save(context, &args.file, &locked, &after)
}

/// Returns the named skills with all they build on.
fn again(
    catalog: &Catalog,
    args: &LockArgs,
    locked: &LockFile,
    present: &LockFile,
) -> Result<BTreeSet<SkillName>, Failure> {
    let is_in = |file: &LockFile, name: &SkillName| file.skills.keys().any(|pin| pin.name == *name);
    if let Some(name) = args.names.iter().find(|name| !is_in(locked, name) && !is_in(present, name)) {
        catalog.registry().get(name, None).map_err(|error| lookup_failure(catalog, &error))?;
        return Err(Failure::failed(format!("`{name}` is not locked"))
            .hint(format!("`artel skill lock {name}` locks it")));
    }
    let named: BTreeSet<SkillName> = args.names.iter().cloned().collect();
    let below = used(catalog, &LockScope::Named(named.clone())).skills.into_keys().map(|pin| pin.name);
    Ok(below.chain(named).collect())
}

/// Which skills are meant after `names` were named; none means all.
fn scope(locked: Option<&LockFile>, names: &[SkillName]) -> LockScope {
    match locked.map(|locked| &locked.scope) {
        _ if names.is_empty() => LockScope::All,
        Some(LockScope::All) => LockScope::All,
        Some(LockScope::Named(known)) => LockScope::Named(known.iter().chain(names).cloned().collect()),
        None => LockScope::Named(names.iter().cloned().collect()),
    }
}

/// Writes the lock file unless nothing is different, and says what is.
fn save(context: Context<'_>, path: &Utf8Path, before: &LockFile, after: &LockFile) -> Result<(), Failure> {
    let is_written = before != after || !path.exists();
    if is_written {
        write_lock(path, after).map_err(failure)?;
    }
    let comparison = compare(before, after);
    LockReport { file: path, comparison, told: LockOutcome::Written { is_written } }.print(context);
    Ok(())
}

fn read(path: &Utf8Path) -> Result<Option<LockFile>, Failure> {
    read_lock(path).map_err(failure)
}

fn required(path: &Utf8Path) -> Result<LockFile, Failure> {
    read(path)?.ok_or_else(|| {
        Failure::missing(format!("there is no lock file `{path}`")).hint("`artel skill lock` makes one")
    })
}

fn failure(error: LockFileError) -> Failure {
    match &error {
        LockFileError::Damaged { problem, .. } => Failure::usage(chain(&error)).hint(problem.hint()),
        LockFileError::NotText(_) => Failure::usage(chain(&error)),
        LockFileError::Read(_) | LockFileError::Write { .. } => Failure::unavailable(&error),
    }
}

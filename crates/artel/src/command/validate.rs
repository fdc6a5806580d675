//! `artel skill validate`.

use std::sync::Arc;

use artel_catalog::{
    Keep, Loaded, Profile, Watcher, apply_fixes, check_set, discover, load_folder, load_registry_file,
    plan_fixes,
};
use artel_model::diagnostic::{Code, Diagnostic, Finding, Severity};
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::context::Context;
use crate::cli::ValidateArgs;
use crate::failure::Failure;
use crate::output::{Counts, SourceCache, Tone};

pub(crate) fn run(context: Context<'_>, args: &ValidateArgs) -> Result<(), Failure> {
    let mut paths = args.paths.clone();
    for path in &paths {
        if path.symlink_metadata().is_err() {
            return Err(Failure::missing(format!("there is nothing at `{path}`")));
        }
    }
    if args.fix {
        paths = fix(context, &paths)?;
    }
    let result = print(context, args, &paths);
    if !args.watch {
        return result;
    }
    let watcher = Watcher::new(&paths).map_err(|error| Failure::unavailable(&error))?;
    loop {
        watcher.changed().map_err(|error| Failure::unavailable(&error))?;
        context.output.talk("");
        // What is wrong is on the screen; the next change is awaited all the same.
        let _ = print(context, args, &paths);
    }
}

fn print(context: Context<'_>, args: &ValidateArgs, paths: &[Utf8PathBuf]) -> Result<(), Failure> {
    let (loaded, search) = load(context, paths)?;
    let graded: Vec<(&Loaded, Vec<Diagnostic>)> =
        loaded.iter().map(|loaded| (loaded, args.profile.diagnose(loaded))).collect();
    let counts = Counts::of(graded.iter().flat_map(|(_, diagnostics)| diagnostics).chain(&search));
    if context.output.json {
        print_json(context, args.profile, &graded, &search, counts);
    } else {
        print_text(context, &graded, &search);
        context.output.talk(&format!("{} checked by {}: {counts}", skills(&loaded), args.profile));
    }
    if counts.errors > 0 { Err(Failure::reported()) } else { Ok(()) }
}

/// Loads what the paths name. Skills that exist besides count as known, so that a dependency on them is no error.
fn load(context: Context<'_>, paths: &[Utf8PathBuf]) -> Result<(Vec<Loaded>, Vec<Diagnostic>), Failure> {
    let mut search = Vec::new();
    let mut loaded: Vec<Loaded> = Vec::new();
    for path in paths {
        loaded.extend(load_path(path, &mut search));
    }
    let catalog = context.catalog(Keep::Descriptions)?;
    let known: Vec<Arc<Skill>> = catalog.registry().all().cloned().collect();
    let mut roots = vec![loaded];
    check_set(&mut roots, &known);
    let grade = |finding: Finding| Diagnostic { severity: finding.code.weight().strict, finding };
    Ok((roots.into_iter().flatten().collect(), search.into_iter().map(grade).collect()))
}

fn load_path(path: &Utf8Path, search: &mut Vec<Finding>) -> Vec<Loaded> {
    let is_main_file =
        path.is_file() && path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    if is_main_file || matches!(path.file_name(), Some("skill.json" | "skill.yaml" | "skill.yml")) {
        let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
        return vec![load_folder(&resolved(folder.unwrap_or(Utf8Path::new("."))), Keep::Everything)];
    }
    if !path.is_dir() {
        return load_registry_file(path, Keep::Everything);
    }
    let folder = resolved(path);
    let discovery = discover(&folder, Keep::Everything);
    search.extend(discovery.findings);
    if discovery.loaded.is_empty() { vec![load_folder(&folder, Keep::Everything)] } else { discovery.loaded }
}

/// A folder given as `.` or `..` is known by its real name, which a skill must have too.
fn resolved(path: &Utf8Path) -> Utf8PathBuf {
    match path.file_name() {
        Some(_) if !path.ends_with("..") => path.to_owned(),
        Some(_) | None => path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned()),
    }
}

fn print_text(context: Context<'_>, graded: &[(&Loaded, Vec<Diagnostic>)], search: &[Diagnostic]) {
    let mut sources = SourceCache::default();
    for diagnostic in search.iter().chain(graded.iter().flat_map(|(_, diagnostics)| diagnostics)) {
        context.output.line(context.output.diagnostic(diagnostic, &mut sources).trim_end());
        context.output.line("");
    }
    for (loaded, diagnostics) in graded {
        let Some(skill) = &loaded.skill else { continue };
        let worst = diagnostics.iter().map(|diagnostic| diagnostic.severity).max();
        let mark = match worst {
            None => context.output.paint("ok     ", Tone::Good),
            Some(Severity::Warning) => context.output.paint("warning", Tone::Warning),
            Some(Severity::Error) => context.output.paint("error  ", Tone::Error),
        };
        let loads_in: Vec<&str> = Profile::accepting(loaded).into_iter().map(Profile::as_str).collect();
        let loads_in = if loads_in.is_empty() { "nothing".to_owned() } else { loads_in.join(", ") };
        let name = context.output.paint(&skill.pin().to_string(), Tone::Strong);
        context.output.line(&format!("{mark} {name}  loads in: {loads_in}"));
    }
}

fn print_json(
    context: Context<'_>,
    profile: Profile,
    graded: &[(&Loaded, Vec<Diagnostic>)],
    search: &[Diagnostic],
    counts: Counts,
) {
    let skills: Vec<_> = graded
        .iter()
        .map(|(loaded, diagnostics)| {
            json!({
                "location": loaded.location.to_string(),
                "name": loaded.skill.as_ref().map(|skill| &skill.name),
                "version": loaded.skill.as_ref().map(|skill| &skill.version),
                "valid": diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error),
                "loads_in": Profile::accepting(loaded).into_iter().map(Profile::as_str).collect::<Vec<_>>(),
                "diagnostics": diagnostics,
            })
        })
        .collect();
    context.output.document(&json!({
        "profile": profile.as_str(),
        "valid": counts.errors == 0,
        "errors": counts.errors,
        "warnings": counts.warnings,
        "skills": skills,
        "diagnostics": search,
    }));
}

/// Mends what can be mended, and returns the paths, some of which may have other names since.
fn fix(context: Context<'_>, paths: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, Failure> {
    let mut fixed = Vec::new();
    for path in paths {
        let mut search = Vec::new();
        let loaded = load_path(path, &mut search);
        let mut after = path.clone();
        let mut folders: Vec<&Utf8Path> =
            loaded.iter().filter_map(|loaded| loaded.location.path()).filter(|path| path.is_dir()).collect();
        // Inner folders first: renaming an outer one would change their paths.
        folders.sort_by(|a, b| b.cmp(a));
        for folder in folders {
            let plan = plan_fixes(folder);
            let moved = apply_fixes(&plan).map_err(|error| Failure::unavailable(&error))?;
            for fix in &plan.fixes {
                context.output.talk(&format!("{} {folder}: {fix}", context.output.loud("fixed", Tone::Good)));
            }
            for left in &plan.left {
                context
                    .output
                    .talk(&format!("{} {folder}: {left}", context.output.loud("left", Tone::Warning)));
            }
            if folder == path {
                after = moved;
            }
        }
        fixed.push(after);
    }
    Ok(fixed)
}

fn skills(loaded: &[Loaded]) -> String {
    let holds_none =
        |loaded: &&Loaded| loaded.findings.iter().any(|finding| finding.code == Code::MissingFile);
    match loaded.iter().filter(|loaded| !holds_none(loaded)).count() {
        1 => "1 skill".to_owned(),
        number => format!("{number} skills"),
    }
}

//! `artel skill validate`.

use std::sync::Arc;

use artel_catalog::{
    DiskTree, FileTree, Fix, FixPlan, Keep, LoadOptions, Loaded, Location, Profile, Watcher, apply_fixes,
    check_set, discover, load_registry_file, load_tree, plan_fixes,
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
        if !path.is_dir() && !is_skill_file(path) {
            return Err(Failure::usage(format!("`{path}` is not a skill's file"))
                .hint("give a folder, SKILL.md, skill.json, skill.yaml, or a file called NAME.skill.yaml or NAME.skill.json"));
        }
    }
    if args.fix {
        paths = fix(context, &paths)?;
    }
    let result = print(context, args, &paths);
    if !args.watch {
        return result;
    }
    let mut watcher = Watcher::new(&paths).map_err(|error| Failure::unavailable(&error))?;
    loop {
        watcher.changed().map_err(|error| Failure::unavailable(&error))?;
        context.output.talk("");
        // What is wrong is on the screen; the next change is awaited all the same.
        let _ = print(context, args, &paths);
        context.output.written()?;
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
        loaded.extend(load_path(context, path, &mut search));
    }
    let catalog = context.catalog_here(Keep::Descriptions)?;
    let known: Vec<Arc<Skill>> = catalog.registry().all().cloned().collect();
    let mut roots = vec![loaded];
    check_set(&mut roots, &known);
    let grade = |finding: Finding| Diagnostic { severity: finding.code.weight().strict, finding };
    Ok((roots.into_iter().flatten().collect(), search.into_iter().map(grade).collect()))
}

fn load_path(context: Context<'_>, path: &Utf8Path, search: &mut Vec<Finding>) -> Vec<Loaded> {
    let options = LoadOptions { keep: Keep::Everything, ..context.config.limits.value };
    let load_folder = |folder: Utf8PathBuf| {
        let tree = DiskTree::with_limits(folder.clone(), options.folder);
        vec![load_tree(&tree, tree.listing(), Location::Folder(folder), options.keep)]
    };
    let is_main_file =
        path.is_file() && path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    if is_main_file || matches!(path.file_name(), Some("skill.json" | "skill.yaml" | "skill.yml")) {
        return load_folder(folder_of(path));
    }
    if !path.is_dir() {
        return load_registry_file(path, options.keep);
    }
    let folder = resolved(path);
    let discovery = discover(&folder, options);
    search.extend(discovery.findings);
    if discovery.loaded.is_empty() { load_folder(folder) } else { discovery.loaded }
}

/// Says whether a file can define a skill, going by its name.
pub(super) fn is_skill_file(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_lowercase();
    matches!(name.as_str(), "skill.md" | "skill.json" | "skill.yaml" | "skill.yml")
        || [".skill.json", ".skill.yaml", ".skill.yml"].iter().any(|end| name.ends_with(end))
}

/// Returns the folder that a file lies in.
pub(super) fn folder_of(path: &Utf8Path) -> Utf8PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
    resolved(folder.unwrap_or(Utf8Path::new(".")))
}

/// A folder given as `.` or `..` is known by its real name, which a skill must have too.
pub(super) fn resolved(path: &Utf8Path) -> Utf8PathBuf {
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
        if holds_none(loaded) {
            continue;
        }
        let worst = diagnostics.iter().map(|diagnostic| diagnostic.severity).max();
        let mark = match worst {
            None => context.output.paint("ok     ", Tone::Good),
            Some(Severity::Warning) => context.output.paint("warning", Tone::Warning),
            Some(Severity::Error) => context.output.paint("error  ", Tone::Error),
        };
        let loads_in: Vec<&str> = Profile::accepting(loaded).into_iter().map(Profile::as_str).collect();
        let loads_in = if loads_in.is_empty() { "nothing".to_owned() } else { loads_in.join(", ") };
        let name = loaded
            .skill
            .as_ref()
            .map_or_else(|| loaded.location.to_string(), |skill| skill.pin().to_string());
        let name = context.output.paint(&name, Tone::Strong);
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
        let loaded = load_path(context, path, &mut Vec::new());
        let mut after = path.clone();
        let mut folders: Vec<&Utf8Path> =
            loaded.iter().filter_map(|loaded| loaded.location.path()).filter(|path| path.is_dir()).collect();
        // Inner folders first: renaming an outer one would change their paths.
        folders.sort_by(|a, b| b.cmp(a));
        for folder in folders {
            if !is_inside(folder, path) {
                let reason = format!("{folder}: not touched: a link leads there, out of what was given");
                context.output.remark("left", Tone::Warning, &reason);
                continue;
            }
            let plan = plan_fixes(folder);
            let moved = apply_fixes(&plan).map_err(|error| Failure::unavailable(&error))?;
            for fix in &plan.fixes {
                context.output.remark("fixed", Tone::Good, &format!("{folder}: {fix}"));
            }
            for left in &plan.left {
                context.output.remark("left", Tone::Warning, &format!("{folder}: {left}"));
            }
            after = path_after(&after, &plan, &moved);
        }
        fixed.push(after);
    }
    Ok(fixed)
}

/// Says whether a skill's folder really lies in what was given, or is it.
fn is_inside(folder: &Utf8Path, given: &Utf8Path) -> bool {
    let given = if given.is_dir() { given.to_owned() } else { folder_of(given) };
    match (folder.canonicalize(), given.canonicalize()) {
        (Ok(folder), Ok(given)) => folder.starts_with(given),
        (Ok(_) | Err(_), _) => false,
    }
}

/// Returns what a path is called after a plan was carried out, by which the skill's folder became `moved`.
fn path_after(path: &Utf8Path, plan: &FixPlan, moved: &Utf8Path) -> Utf8PathBuf {
    let renamed = |file: &Utf8Path| {
        let to = plan.fixes.iter().find_map(|fix| match fix {
            Fix::FileRenamed { from, to } => (from == file).then(|| to.clone()),
            Fix::ByteOrderMarkRemoved { .. }
            | Fix::Quoted { .. }
            | Fix::NameChanged { .. }
            | Fix::FieldMoved { .. }
            | Fix::MadeExecutable { .. }
            | Fix::FolderRenamed { .. } => None,
        });
        to.unwrap_or_else(|| file.to_owned())
    };
    match path.strip_prefix(&plan.folder) {
        Ok(inside) if inside.as_str().is_empty() => moved.to_owned(),
        Ok(inside) => moved.join(renamed(inside)),
        // A file of the folder one is in is called the same, whatever becomes of the folder's name.
        Err(_) if path.parent().is_some_and(|parent| parent.as_str().is_empty()) => renamed(path),
        Err(_) => path.to_owned(),
    }
}

fn skills(loaded: &[Loaded]) -> String {
    match loaded.iter().filter(|loaded| !holds_none(loaded)).count() {
        1 => "1 skill".to_owned(),
        number => format!("{number} skills"),
    }
}

/// Says whether a folder was looked at that holds no skill at all.
fn holds_none(loaded: &Loaded) -> bool {
    loaded.findings.iter().any(|finding| finding.code == Code::MissingFile)
}

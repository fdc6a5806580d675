//! `artel skill scan`.

use std::collections::BTreeSet;

use artel_catalog::scan::{self, Gap, ScanCopy, ScanOptions, ScanReport, scan_skill};
use artel_catalog::{
    FileTree, FolderLimits, HiddenFolders, Keep, LoadOptions, Loaded, Location, discover, load_tree,
    whole_tree,
};
use artel_model::catalog::SourceKind;
use artel_model::diagnostic::{Code, Finding};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::context::Context;
use super::scan_report::{Report, Scanned};
use super::validate::{folder_of, is_skill_file, resolved};
use crate::cli::{ScanArgs, ScanFormat};
use crate::failure::{Failure, chain};
use crate::runtime::{second_verdicts, wait_for};

pub(crate) fn run(context: Context<'_>, args: &ScanArgs) -> Result<(), Failure> {
    let format = format(context, args)?;
    let fail_on = args.fail_on.unwrap_or(context.config.scanner.value.fail_on);
    let (mut search, mut passed_over) = (Vec::new(), Vec::new());
    let places = if args.paths.is_empty() {
        if context.config.remote.value.is_some() {
            return Err(Failure::usage("`skill scan` looks at files that are here, and none are named")
                .hint("a server scans what it offers by itself"));
        }
        let catalog = context.catalog_here(Keep::Descriptions)?;
        let entries = catalog.entries().iter();
        entries.map(|entry| Place { name: name(entry), location: entry.location.clone() }).collect()
    } else {
        places_in(context, &args.paths, &mut search, &mut passed_over)?
    };
    let limits = context.config.limits.value.folder;
    let here = Utf8Path::new(".").canonicalize_utf8().ok();
    let scan = |place| scan(limits, here.as_deref(), place);
    let (mut scanned, scan_copies): (Vec<Scanned>, Vec<Option<ScanCopy>>) =
        once(places).into_par_iter().map(scan).unzip();
    add_second(context, &mut scanned, scan_copies)?;
    // A link that leads nowhere hides nothing.
    let unsearched = search.into_iter().filter(|finding| finding.code != Code::SymlinkBroken).collect();
    Report { fail_on, scanned, unsearched, passed_over }.print(context, format)
}

/// One skill to be scanned.
struct Place {
    name: String,
    location: Location,
}

fn name(entry: &Loaded) -> String {
    let own = entry.skill.as_ref().map(|skill| skill.name.to_string());
    let file = || entry.location.path().and_then(Utf8Path::file_name).map(str::to_owned);
    own.or_else(file).unwrap_or_else(|| entry.location.to_string())
}

/// Finds the skills that the paths name, usable or not.
fn places_in(
    context: Context<'_>,
    paths: &[Utf8PathBuf],
    search: &mut Vec<Finding>,
    passed_over: &mut Vec<Utf8PathBuf>,
) -> Result<Vec<Place>, Failure> {
    let mut places = Vec::new();
    for path in paths {
        if path.symlink_metadata().is_err() {
            return Err(Failure::usage(format!("there is nothing at `{path}`")));
        }
        let found = if path.is_dir() {
            let options = LoadOptions {
                keep: Keep::Descriptions,
                hidden: HiddenFolders::Searched,
                ..context.config.limits.value
            };
            let discovery = discover(&resolved(path), options);
            search.extend(discovery.findings);
            passed_over.extend(discovery.passed_over);
            let place = |entry: &Loaded| Place { name: name(entry), location: entry.location.clone() };
            discovery.loaded.iter().map(place).collect()
        } else if is_skill_file(path) {
            vec![place_of_file(path)]
        } else {
            return Err(Failure::usage(format!("`{path}` is not a skill's file"))
                .hint("give a skill's folder, a folder of skills, or SKILL.md"));
        };
        if found.is_empty() {
            return Err(Failure::usage(format!("there is no skill in `{path}`"))
                .hint("a skill is a folder that holds SKILL.md, skill.json or skill.yaml"));
        }
        places.extend(found);
    }
    Ok(places)
}

/// The skill whose main file was named, or the file that defines several.
fn place_of_file(path: &Utf8Path) -> Place {
    let is_main = path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("skill"));
    let location = if is_main {
        Location::Folder(folder_of(path))
    } else {
        Location::RegistryFile { path: path.to_owned(), entry: 0 }
    };
    let name = location.path().and_then(Utf8Path::file_name).unwrap_or(path.as_str()).to_owned();
    Place { name, location }
}

/// Leaves one place for each folder and file: several skills may stand in one file.
fn once(places: Vec<Place>) -> Vec<Place> {
    let mut seen = BTreeSet::new();
    let of_file = |place: Place| match &place.location {
        Location::RegistryFile { path, .. } => {
            Place { name: path.file_name().unwrap_or(&place.name).to_owned(), ..place }
        }
        Location::Folder(_) | Location::BuiltIn(_) => place,
    };
    let is_first = |place: &Place| seen.insert(place.location.to_string());
    places.into_iter().map(of_file).filter(is_first).collect()
}

/// Asks the second scanner about the same files, where somebody asked for it.
fn add_second(
    context: Context<'_>,
    scanned: &mut [Scanned],
    scan_copies: Vec<Option<ScanCopy>>,
) -> Result<(), Failure> {
    if context.config.scanner.value.second.is_none() {
        return Ok(());
    }
    let scan_copies: Vec<ScanCopy> = scan_copies.into_iter().flatten().collect();
    let said = wait_for(second_verdicts(context.config, scan_copies))?;
    for skill in scanned {
        let hash = skill.report.content_hash.map(|hash| hash.to_string());
        skill.second =
            hash.and_then(|hash| said.iter().find(|verdict| verdict.content_hash == hash).cloned());
    }
    Ok(())
}

fn scan(limits: FolderLimits, here: Option<&Utf8Path>, place: Place) -> (Scanned, Option<ScanCopy>) {
    let (report, scan_copy) = match whole_tree(&place.location, limits) {
        Ok(tree) => {
            let report = scan_skill(tree.as_ref(), &ScanOptions::default());
            let scan_copy = report.content_hash.map(|hash| scan_copy(&place, tree, hash.to_string()));
            (report, scan_copy)
        }
        Err(error) => {
            let gaps = vec![Gap { path: None, reason: chain(&error) }];
            let report = ScanReport {
                content_hash: None,
                files: 0,
                bytes: 0,
                findings: Vec::new(),
                left_out: 0,
                gaps,
            };
            (report, None)
        }
    };
    // Code hosts know files from where the command is run.
    let from_here = |path: &Utf8Path| {
        let path = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
        path.strip_prefix(".").unwrap_or(path).to_owned()
    };
    let (location, folder) = match &place.location {
        Location::Folder(path) => (from_here(path), from_here(path)),
        Location::RegistryFile { path, .. } => {
            (from_here(path), from_here(path.parent().unwrap_or(Utf8Path::new(""))))
        }
        Location::BuiltIn(_) => (place.location.to_string().into(), place.location.to_string().into()),
    };
    let location = if location.as_str().is_empty() { ".".to_owned() } else { location.into_string() };
    (Scanned { name: place.name, location, folder, report, second: None }, scan_copy)
}

/// Returns what the second scanner is shown.
fn scan_copy(place: &Place, tree: Box<dyn FileTree>, content_hash: String) -> ScanCopy {
    let loaded = load_tree(tree.as_ref(), tree.listing(), place.location.clone(), Keep::Instructions);
    let about = scan::Scanned {
        source: SourceKind::Default,
        source_id: None,
        skill_id: place.location.to_string(),
        content_hash: content_hash.clone(),
    };
    ScanCopy::new(about, tree, content_hash, &loaded)
}

fn format(context: Context<'_>, args: &ScanArgs) -> Result<ScanFormat, Failure> {
    match (args.format, context.output.json) {
        (Some(ScanFormat::Table), true) => {
            Err(Failure::usage("a table is not JSON").hint("leave `--json` or `--format table` out"))
        }
        (Some(format), _) => Ok(format),
        (None, true) => Ok(ScanFormat::Json),
        (None, false) => Ok(ScanFormat::Table),
    }
}

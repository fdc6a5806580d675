//! The schemas in `docs/schemas`: made from the code, and true to what artel takes and prints.
//!
//! `ARTEL_UPDATE_DOCS=1 cargo nextest run -p artel schemas` writes them anew.

use artel_catalog::{Keep, Loaded, Location, discover, discover_builtin};
use artel_model::contract::DocumentKind;
use artel_model::schema::{Quote, Schema};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::session::Session;

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Stops unless a document fits the schema of its kind.
#[track_caller]
pub(crate) fn check(kind: DocumentKind, document: &Value) {
    let schema = Schema::parse(kind.schema()).unwrap();
    let violations = schema.violations(document, Quote::Values);
    assert!(violations.is_empty(), "{violations:#?}\n{document:#}");
}

fn document(path: &Utf8Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the one switch of this test")]
fn the_files_are_what_the_code_says() {
    for kind in DocumentKind::ALL {
        let path = root().join(format!("docs/schemas/{}.schema.json", kind.as_str()));
        let expected = format!("{:#}\n", kind.schema());
        if std::env::var_os("ARTEL_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let actual = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(actual == expected, "{path} is not what the code says; run with ARTEL_UPDATE_DOCS=1");
    }
}

/// Returns the manifest of a skill that is defined by JSON.
fn manifest(loaded: &Loaded) -> Option<Value> {
    match &loaded.location {
        Location::Folder(path) => {
            Some(path.join("skill.json")).filter(|path| path.exists()).map(|path| document(&path))
        }
        Location::RegistryFile { path, entry } if path.extension() == Some("json") => {
            let registry = document(path);
            Some(registry.get(*entry).cloned().unwrap_or(registry))
        }
        Location::RegistryFile { .. } => None,
        Location::BuiltIn(name) => {
            Some(root().join("skills").join(name).join("skill.json")).map(|path| document(&path))
        }
    }
}

#[test]
fn manifests_that_nothing_is_said_about_fit_their_schema() {
    let cases = root().join("fixtures/skills").read_dir_utf8().unwrap();
    let mut cases: Vec<Utf8PathBuf> = cases.map(|case| case.unwrap().path().to_owned()).collect();
    cases.push(root().join("examples"));
    cases.push(root().join("fixtures/plans/skills"));
    cases.sort();
    let found = cases.iter().flat_map(|case| discover(case, Keep::Descriptions).loaded);
    let mut checked = 0;
    for loaded in
        found.filter(|loaded| loaded.findings.is_empty()).chain(discover_builtin(Keep::Descriptions).loaded)
    {
        if let Some(manifest) = manifest(&loaded) {
            check(DocumentKind::Manifest, &manifest);
            checked += 1;
        }
    }
    assert!(checked >= 50, "only {checked} manifests were found");
}

#[test]
fn plans_that_are_taken_fit_their_schema() {
    let mut plans = vec![
        root().join("fixtures/plans/good-all-fields.json"),
        root().join("fixtures/plans/good-empty.json"),
    ];
    for folder in ["examples", "skills"] {
        for entry in root().join(folder).read_dir_utf8().unwrap() {
            let folder = entry.unwrap().path().to_owned();
            plans.extend([folder.join("plan.json"), folder.join("examples/plan.json")]);
        }
    }
    plans.retain(|plan| plan.exists());
    assert!(plans.len() >= 15, "{plans:?}");
    plans.iter().for_each(|plan| check(DocumentKind::Plan, &document(plan)));
}

#[test]
fn what_is_printed_fits_its_schema() {
    let session = Session::new();
    let cup: &[&str] = &["fetch-object", "location=kitchen", "object_id=cup"];
    let moon: &[&str] = &["navigate", "location=moon"];
    for arguments in [cup, moon] {
        check(DocumentKind::Execution, &session.json(&[&["skill", "run"], arguments].concat()));
    }
    let plan = root().join("skills/fetch-object/examples/plan.json");
    let result = session.json(&["plan", "run", plan.as_str()]);
    assert_eq!(result["success"], true, "{result:#}");
    check(DocumentKind::Result, &result);
    for entry in result["executionTrace"].as_array().unwrap() {
        entry["events"].as_array().unwrap().iter().for_each(|event| check(DocumentKind::Event, event));
    }
    let cycle = root().join("fixtures/plans/cycle.json");
    let result = session.json(&["plan", "run", cycle.as_str()]);
    assert_eq!(result["failureReason"], "circular_dependency", "{result:#}");
    check(DocumentKind::Result, &result);
}

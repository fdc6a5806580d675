//! Every plan in `fixtures/plans`, against what must be said about it; and damaged copies of them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;

use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions, Location};
use artel_model::health::Health;
use artel_model::limit;
use artel_model::name::SkillName;
use artel_model::plan::{
    PlanDocument, PlanProblem, PlanProblemCode, SkillLookup, SkillView, ToolPath, resolve_text,
};
use artel_model::registry::Availability;
use artel_model::version::Version;
use bolero::check;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::mutate::{Random, damaged};

/// What must be said about a plan.
#[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    code: String,
    path: String,
    message: String,
}

fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plans").canonicalize_utf8().unwrap()
}

/// The skills of the fixtures: `off` is switched off, and `broken` failed too often.
struct Skills {
    catalog: Catalog,
    folder: Utf8PathBuf,
}

impl Skills {
    fn load() -> Self {
        let folder = folder();
        let catalog = Catalog::load(&CatalogRequest {
            roots: vec![folder.join("skills")],
            options: LoadOptions::from(Keep::Descriptions),
            disabled: BTreeSet::from(["off".parse().unwrap()]),
            chosen: Vec::new(),
        });
        Self { catalog, folder }
    }
}

impl SkillLookup for Skills {
    fn skill(&self, name: &SkillName, version: Option<&Version>) -> Option<SkillView<'_>> {
        let loaded = self.catalog.find(name, version).ok()?;
        let is_enabled = self.catalog.is_enabled(name);
        Some(SkillView {
            sharing: artel_model::data_scope::Sharing::NotGranted,
            origin: None,
            skill: loaded.skill.as_ref()?,
            content_hash: "",
            folder: loaded.location.path().map_or("", Utf8Path::as_str),
            health: if name.as_str() == "broken" { Health::PermanentFailure } else { Health::NEW },
            availability: if is_enabled { Availability::Enabled } else { Availability::Disabled },
        })
    }

    fn tool_path(&self, path: &str) -> ToolPath {
        let Ok(path) = self.folder.join(path).canonicalize_utf8() else { return ToolPath::Missing };
        for loaded in self.catalog.entries() {
            let (Location::Folder(folder), Some(skill)) = (&loaded.location, &loaded.skill) else { continue };
            let Ok(inside) = path.strip_prefix(folder) else { continue };
            return match skill.scripts.iter().find(|script| script.path == inside) {
                Some(script) if !script.is_executable => ToolPath::NotExecutable,
                Some(script) => ToolPath::Script { skill: skill.pin(), script: script.name.clone() },
                None => ToolPath::NotAScript,
            };
        }
        ToolPath::Outside
    }

    fn similar(&self, name: &SkillName) -> Vec<SkillName> {
        self.catalog.similar_names(name.as_str()).into_iter().cloned().collect()
    }
}

/// The text of every plan, by the name of its case.
fn plans() -> BTreeMap<String, String> {
    let mut plans = BTreeMap::new();
    for entry in folder().read_dir_utf8().unwrap().map(Result::unwrap) {
        let Some(case) = entry.file_name().strip_suffix(".json") else { continue };
        if !case.ends_with(".expected") {
            plans.insert(case.to_owned(), std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    plans
}

fn problems(text: &str, skills: &Skills) -> Vec<PlanProblem> {
    resolve_text(text, skills).err().unwrap_or_default()
}

#[test]
fn every_plan_is_read_as_expected() {
    let skills = Skills::load();
    let mut seen = BTreeSet::new();
    for (case, text) in plans() {
        let expected = std::fs::read_to_string(folder().join(format!("{case}.expected.json"))).unwrap();
        let expected: Vec<Expected> = serde_json::from_str(&expected).unwrap();
        let told: Vec<Expected> = problems(&text, &skills)
            .into_iter()
            .map(|problem| Expected {
                code: problem.code.to_string(),
                path: problem.path,
                message: problem.message,
            })
            .collect();
        assert_eq!(told, expected, "{case}: {}", serde_json::to_string_pretty(&told).unwrap());
        seen.extend(told.into_iter().map(|problem| problem.code));
    }
    // Those that a small file cannot show, and the one that only the chain of a skill can have.
    let elsewhere = [
        PlanProblemCode::PlanTooLarge,
        PlanProblemCode::TooManyTools,
        PlanProblemCode::TooManyDependencies,
        PlanProblemCode::InputTooLarge,
        PlanProblemCode::MoreProblems,
        PlanProblemCode::UnresolvedChain,
    ];
    for code in PlanProblemCode::ALL {
        assert!(
            seen.contains(code.as_str()) != elsewhere.contains(code),
            "{code} is in no file, or in one by now"
        );
    }
}

#[test]
fn every_problem_is_documented() {
    let page = std::fs::read_to_string(folder().join("../../docs/plans.md")).unwrap();
    for code in PlanProblemCode::ALL {
        let row = format!("| `{code}` | {} |", code.about());
        assert!(page.lines().any(|line| line == row), "docs/plans.md lacks the row: {row}");
    }
}

#[test]
fn plans_that_are_too_large_for_a_file() {
    let skills = Skills::load();
    let check = |tools: Value, expected: PlanProblemCode| {
        let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": tools}).to_string();
        let told = problems(&plan, &skills);
        assert_eq!(told.last().unwrap().code, expected, "{told:?}");
    };
    let tool = |place: usize| json!({"toolId": place.to_string(), "skill": "grasp"});
    let many: Vec<Value> = (0..=limit::PLAN_TOOLS_MAX).map(tool).collect();
    check(json!(many), PlanProblemCode::TooManyTools);
    check(json!(vec![Value::Null; limit::PLAN_PROBLEMS_MAX]), PlanProblemCode::MoreProblems);
    let big = "x".repeat(limit::PLAN_INPUT_BYTES_MAX);
    check(json!([{"toolId": "a", "skill": "grasp", "input": {"x": big}}]), PlanProblemCode::InputTooLarge);
    let huge = " ".repeat(limit::PLAN_BYTES_MAX + 1);
    assert_eq!(problems(&huge, &skills)[0].code, PlanProblemCode::PlanTooLarge);
}

/// Whatever the text says, the same is told twice, there is a plan or a reason, and a document survives being written.
#[test]
fn fuzz_plan() {
    // Nothing is changed by looking skills up, so a panic leaves nothing half done.
    let skills = AssertUnwindSafe(Skills::load());
    let corpus: Vec<String> = plans().into_values().collect();
    let run = |text: &str| {
        let skills: &AssertUnwindSafe<Skills> = &skills;
        let told = problems(text, skills);
        assert_eq!(told, problems(text, skills));
        assert!(told.len() <= limit::PLAN_PROBLEMS_MAX);
        for problem in &told {
            assert!(problem.path.is_empty() || problem.path.starts_with('/'), "{problem:?}");
            assert!(!problem.message.is_empty() && problem.message.chars().count() < 2000, "{problem:?}");
        }
        let Ok(document) = PlanDocument::parse_text(text) else {
            return assert!(!told.is_empty(), "a plan that cannot be read");
        };
        let written = serde_json::to_string(&document).unwrap();
        assert_eq!(PlanDocument::parse_text(&written).unwrap(), document);
    };
    corpus.iter().for_each(|text| run(text));
    check!().with_iterations(2000).with_type::<(u16, u64, Vec<u8>)>().for_each(|(index, seed, noise)| {
        let mut random = Random::new(*seed);
        let text = &corpus[usize::from(*index) % corpus.len()];
        match random.below(8) {
            0 => run(&String::from_utf8_lossy(noise)),
            _ => run(&damaged(text, &mut random)),
        }
    });
}

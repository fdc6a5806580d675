//! The crates and the only edges between them, as drawn in ARCHITECTURE.md, and the libraries each must not know.

use std::collections::BTreeMap;

use super::manifest::{Dependency, Manifest};
use super::problem::Problem;
use super::tree::TextFile;

const CRATES_MAX: usize = 12;
const DEPTH_MAX: usize = 6;

/// One crate: which of ours it may use, and which libraries it must not.
struct Crate {
    name: &'static str,
    may_use: &'static [&'static str],
    banned: &'static [&'static [&'static str]],
}

const SQL: &[&str] = &["rusqlite", "sqlx", "libsqlite3-sys", "tokio-postgres", "postgres", "diesel"];
const HTTP_SERVER: &[&str] = &["axum", "hyper", "hyper-util", "tower", "tower-http", "actix-web", "warp"];
const HTTP_CLIENT: &[&str] = &["reqwest", "ureq", "isahc"];
const ASYNC: &[&str] =
    &["tokio", "tokio-util", "futures", "futures-util", "async-trait", "async-std", "smol"];
const RANDOM: &[&str] = &["rand", "fastrand", "getrandom"];
const FILES: &[&str] = &["ignore", "walkdir", "notify", "fs-err", "rustix", "libc", "nix"];
const UNTYPED_ERRORS: &[&str] = &["anyhow", "eyre"];
/// Abandoned, linking C libraries we do not want, or second choices for something we have.
const NOWHERE: &[&str] =
    &["serde_yaml", "serde_yml", "openssl", "native-tls", "git2", "chrono", "lazy_static"];

const CRATES: &[Crate] = &[
    Crate {
        name: "artel-model",
        may_use: &[],
        banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, ASYNC, RANDOM, FILES, UNTYPED_ERRORS],
    },
    Crate { name: "artel-catalog", may_use: &["artel-model"], banned: &[SQL, HTTP_SERVER, UNTYPED_ERRORS] },
    Crate {
        name: "artel-store",
        may_use: &["artel-model"],
        banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel-store-sqlite",
        may_use: &["artel-store", "artel-model"],
        banned: &[HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel-store-postgres",
        may_use: &["artel-store", "artel-model"],
        banned: &[HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel-bus",
        may_use: &["artel-model"],
        banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel-engine",
        may_use: &["artel-store", "artel-bus", "artel-catalog", "artel-model"],
        banned: &[SQL, HTTP_SERVER, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel-agents",
        // The store in a file is what its benchmarks and some of its tests run on.
        may_use: &[
            "artel-engine",
            "artel-bus",
            "artel-store",
            "artel-store-sqlite",
            "artel-catalog",
            "artel-model",
        ],
        banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS],
    },
    Crate { name: "artel-api", may_use: &["artel-model"], banned: &[SQL, UNTYPED_ERRORS] },
    Crate {
        name: "artel-server",
        may_use: &[
            "artel-agents",
            "artel-engine",
            "artel-catalog",
            "artel-api",
            "artel-store",
            "artel-bus",
            "artel-model",
        ],
        banned: &[SQL, UNTYPED_ERRORS],
    },
    Crate {
        name: "artel",
        may_use: &[
            "artel-server",
            "artel-agents",
            "artel-engine",
            "artel-catalog",
            "artel-api",
            "artel-store",
            "artel-store-sqlite",
            "artel-store-postgres",
            "artel-bus",
            "artel-model",
        ],
        banned: &[SQL],
    },
    // A program of its own with a database of its own: it shares nothing with the others but the workspace.
    Crate {
        name: "artel-cad",
        may_use: &[],
        banned: &[HTTP_SERVER, HTTP_CLIENT, ASYNC, RANDOM, UNTYPED_ERRORS],
    },
    Crate { name: "xtask", may_use: &[], banned: &[] },
];

/// Returns every edge, library, number and depth that the drawing does not allow.
pub(crate) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut graph = BTreeMap::new();
    for (path, text) in files.iter().filter(|file| is_crate_manifest(&file.path)).filter_map(with_text) {
        match Manifest::parse(path, text) {
            Ok(manifest) => {
                problems.extend(check_manifest(path, &manifest));
                graph.insert(manifest.package_name().unwrap_or(path).to_owned(), our_crates(&manifest));
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(check_graph(&graph));
    problems
}

fn is_crate_manifest(path: &str) -> bool {
    path == "xtask/Cargo.toml"
        || matches!(path.split('/').collect::<Vec<_>>()[..], ["crates", _, "Cargo.toml"])
}

fn with_text(file: &TextFile) -> Option<(&str, &str)> {
    Some((&file.path, file.text.as_deref()?))
}

fn is_ours(package: &str) -> bool {
    package == "artel" || package.starts_with("artel-")
}

fn our_crates(manifest: &Manifest<'_>) -> Vec<String> {
    manifest
        .dependencies()
        .into_iter()
        .map(|dependency| dependency.package)
        .filter(|name| is_ours(name))
        .collect()
}

fn check_manifest(path: &str, manifest: &Manifest<'_>) -> Vec<Problem> {
    let name = manifest.package_name().unwrap_or_default();
    let Some(rule) = CRATES.iter().find(|rule| rule.name == name) else {
        let message = format!("`{name}` is not a crate of the architecture; draw its edges first");
        return vec![Problem::new(path, 1, "crate-edges", message)];
    };
    manifest.dependencies().iter().filter_map(|dependency| rule.problem(path, dependency)).collect()
}

impl Crate {
    fn problem(&self, path: &str, dependency: &Dependency) -> Option<Problem> {
        let Dependency { package, line } = dependency;
        let banned = || self.banned.iter().chain([&NOWHERE]).any(|group| group.contains(&package.as_str()));
        if is_ours(package) && !self.may_use.contains(&package.as_str()) {
            let message = format!("`{}` must not depend on `{package}`", self.name);
            return Some(Problem::new(path, *line, "crate-edges", message));
        }
        banned().then(|| {
            Problem::new(path, *line, "crate-bans", format!("`{}` must not know `{package}`", self.name))
        })
    }
}

fn check_graph(graph: &BTreeMap<String, Vec<String>>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let crates = graph.keys().filter(|name| is_ours(name)).count();
    if crates > CRATES_MAX {
        problems.push(Problem::new(
            "Cargo.toml",
            1,
            "crate-count",
            format!("{crates} crates, {CRATES_MAX} is the limit"),
        ));
    }
    if let Some(name) = graph.keys().find(|name| depth(graph, name, DEPTH_MAX + 1) > DEPTH_MAX) {
        let message = format!("`{name}` stands on more than {DEPTH_MAX} layers, counting itself");
        problems.push(Problem::new("Cargo.toml", 1, "crate-depth", message));
    }
    problems
}

/// Returns how many layers a crate is the top of, at most `limit`, so that a cycle of test dependencies ends too.
fn depth(graph: &BTreeMap<String, Vec<String>>, name: &str, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    let below = graph.get(name).into_iter().flatten().map(|next| depth(graph, next, limit - 1)).max();
    1 + below.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_manifests(manifests: &[(&str, &str)], expected: &[&str]) {
        let file = |(name, dependencies): &(&str, &str)| TextFile {
            path: format!("crates/{name}/Cargo.toml"),
            text: Some(format!("[package]\nname = \"{name}\"\n{dependencies}")),
        };
        let files: Vec<TextFile> = manifests.iter().map(file).collect();
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn edges_are_those_drawn() {
        check_manifests(&[("artel-catalog", "[dependencies]\nartel-model.workspace = true\n")], &[]);
        let upwards = "[dev-dependencies]\nartel-catalog.workspace = true\n";
        let problem =
            "crates/artel-model/Cargo.toml:4: `artel-model` must not depend on `artel-catalog` (crate-edges)";
        check_manifests(&[("artel-model", upwards)], &[problem]);
        let unknown = "crates/artel-misc/Cargo.toml:1: `artel-misc` is not a crate of the architecture; draw its edges first \
                       (crate-edges)";
        check_manifests(&[("artel-misc", "")], &[unknown]);
    }

    #[test]
    fn libraries_stay_where_they_belong() {
        let tokio = "[dependencies]\nserde = \"1\"\ntokio = \"1\"\n[dev-dependencies]\ninsta = \"1\"\n";
        let problem = "crates/artel-model/Cargo.toml:5: `artel-model` must not know `tokio` (crate-bans)";
        check_manifests(&[("artel-model", tokio)], &[problem]);
        check_manifests(&[("artel-engine", tokio)], &[]);
        let yaml = "[dependencies]\nyaml = { package = \"serde_yaml\", version = \"0.9\" }\n";
        let problem = "crates/artel/Cargo.toml:4: `artel` must not know `serde_yaml` (crate-bans)";
        check_manifests(&[("artel", yaml)], &[problem]);
    }

    #[test]
    fn the_drawing_itself_keeps_its_promises() {
        let drawn: BTreeMap<String, Vec<String>> = CRATES
            .iter()
            .map(|rule| (rule.name.to_owned(), rule.may_use.iter().map(|name| (*name).to_owned()).collect()))
            .collect();
        assert_eq!(check_graph(&drawn), []);
        assert_eq!(depth(&drawn, "artel", 99), DEPTH_MAX);
    }

    #[test]
    fn too_many_crates_or_layers_are_reported() {
        let chain = |length: usize| -> BTreeMap<String, Vec<String>> {
            (0..length).map(|i| (format!("artel-{i:02}"), vec![format!("artel-{:02}", i + 1)])).collect()
        };
        assert_eq!(check_graph(&chain(4)), []);
        let rules: Vec<&str> = check_graph(&chain(13)).iter().map(|problem| problem.rule).collect();
        assert_eq!(rules, ["crate-count", "crate-depth"]);
    }
}

//! The crates, the only edges between them, which are read from the map in ARCHITECTURE.md, and the libraries each must not
//! know.

use std::collections::BTreeMap;

use super::manifest::{Dependency, Manifest};
use super::problem::Problem;
use super::tree::TextFile;

const CRATES_MAX: usize = 14;
const DEPTH_MAX: usize = 7;
/// The page with the map.
const MAP: &str = "ARCHITECTURE.md";

/// One crate, and the libraries that it must not know.
struct Crate {
    name: &'static str,
    banned: &'static [&'static [&'static str]],
}

const SQL: &[&str] = &["rusqlite", "sqlx", "libsqlite3-sys", "tokio-postgres", "postgres", "diesel"];
const HTTP_SERVER: &[&str] = &["axum", "hyper", "hyper-util", "tower", "tower-http", "actix-web", "warp"];
const MCP: &[&str] = &["rmcp"];
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
        banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, ASYNC, RANDOM, FILES, UNTYPED_ERRORS],
    },
    Crate { name: "artel-catalog", banned: &[SQL, HTTP_SERVER, UNTYPED_ERRORS] },
    Crate { name: "artel-store", banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS] },
    Crate { name: "artel-store-sqlite", banned: &[HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS] },
    Crate { name: "artel-store-postgres", banned: &[HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS] },
    Crate { name: "artel-bus", banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS] },
    Crate { name: "artel-engine", banned: &[SQL, HTTP_SERVER, UNTYPED_ERRORS] },
    Crate { name: "artel-agents", banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, UNTYPED_ERRORS] },
    Crate { name: "artel-api", banned: &[SQL, UNTYPED_ERRORS] },
    Crate { name: "artel-app", banned: &[SQL, HTTP_SERVER, HTTP_CLIENT, MCP, UNTYPED_ERRORS] },
    Crate { name: "artel-server", banned: &[SQL, UNTYPED_ERRORS] },
    Crate { name: "artel", banned: &[SQL] },
    // A program of its own with a database of its own: it shares nothing with the others but the workspace.
    Crate { name: "artel-cad", banned: &[HTTP_SERVER, HTTP_CLIENT, ASYNC, RANDOM, UNTYPED_ERRORS] },
    Crate { name: "xtask", banned: &[] },
];

/// Returns every edge, library, number and depth that the drawing does not allow.
pub(crate) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut graph = BTreeMap::new();
    let map = files.iter().find(|file| file.path == MAP).and_then(|file| file.text.as_deref());
    let edges = edges(map.unwrap_or_default());
    for (path, text) in files.iter().filter(|file| is_crate_manifest(&file.path)).filter_map(with_text) {
        match Manifest::parse(path, text) {
            Ok(manifest) => {
                problems.extend(check_manifest(path, &manifest, &edges));
                graph.insert(manifest.package_name().unwrap_or(path).to_owned(), our_crates(&manifest));
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(check_graph(&graph));
    problems
}

/// Which crates each crate may use.
type Edges = BTreeMap<String, Vec<String>>;

/// Reads the edges from the map: lines such as `crates/artel-bus   live messages   → model`. Names are short: `model` is
/// `artel-model`. Several crates may share a line. `all of the above` is every crate that was drawn before.
fn edges(map: &str) -> Edges {
    let mut edges = Edges::new();
    for line in map.lines().filter(|line| line.starts_with("crates/")) {
        let (drawn, targets) = line.split_once('→').unwrap_or((line, ""));
        let names = drawn.split("  ").next().unwrap_or_default().trim_start_matches("crates/");
        let may_use: Vec<String> = match targets.trim() {
            "all of the above" => edges.keys().cloned().collect(),
            targets => targets.split([',', ' ']).filter(|name| !name.is_empty()).map(ours).collect(),
        };
        for name in names.split(',') {
            edges.insert(name.trim().to_owned(), may_use.clone());
        }
    }
    edges
}

fn ours(short: &str) -> String {
    format!("artel-{short}")
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

fn check_manifest(path: &str, manifest: &Manifest<'_>, edges: &Edges) -> Vec<Problem> {
    let name = manifest.package_name().unwrap_or_default();
    let may_use = if name == "xtask" { Some(&[][..]) } else { edges.get(name).map(Vec::as_slice) };
    let rule = CRATES.iter().find(|rule| rule.name == name);
    let (Some(rule), Some(may_use)) = (rule, may_use) else {
        let message = format!("`{name}` is not a crate of the map in {MAP}; draw its edges first");
        return vec![Problem::new(path, 1, "crate-edges", message)];
    };
    manifest.dependencies().iter().filter_map(|dependency| rule.problem(path, dependency, may_use)).collect()
}

impl Crate {
    fn problem(&self, path: &str, dependency: &Dependency, may_use: &[String]) -> Option<Problem> {
        let Dependency { package, line } = dependency;
        let banned = || self.banned.iter().chain([&NOWHERE]).any(|group| group.contains(&package.as_str()));
        if is_ours(package) && !may_use.contains(package) {
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
        let map = "crates/artel-model    nouns and rules. Pure\n\
                   crates/artel-catalog, artel-engine   two of them   → model\n\
                   crates/artel    the binary   → all of the above\n";
        let map = TextFile { path: MAP.to_owned(), text: Some(map.to_owned()) };
        let files: Vec<TextFile> = manifests.iter().map(file).chain([map]).collect();
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
        let unknown = "crates/artel-misc/Cargo.toml:1: `artel-misc` is not a crate of the map in ARCHITECTURE.md; draw its edges first \
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
    fn the_map_itself_keeps_its_promises() {
        let drawn = edges(include_str!("../../../ARCHITECTURE.md"));
        for rule in CRATES.iter().filter(|rule| rule.name != "xtask") {
            assert!(drawn.contains_key(rule.name), "{} is not on the map", rule.name);
        }
        assert_eq!(check_graph(&drawn), []);
        assert_eq!(depth(&drawn, "artel", 99), DEPTH_MAX);
    }

    #[test]
    fn too_many_crates_or_layers_are_reported() {
        let chain = |length: usize| -> BTreeMap<String, Vec<String>> {
            (0..length).map(|i| (format!("artel-{i:02}"), vec![format!("artel-{:02}", i + 1)])).collect()
        };
        assert_eq!(check_graph(&chain(4)), []);
        let rules: Vec<&str> = check_graph(&chain(15)).iter().map(|problem| problem.rule).collect();
        assert_eq!(rules, ["crate-count", "crate-depth"]);
    }
}

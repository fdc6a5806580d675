//! Runs every rule over the tree and prints what they find. Knows the list of rules and nothing of what they say.

use std::path::Path;

use anyhow::{Result, bail};

use super::problem::Problem;
use super::source::RustSource;
use super::tree::Tree;
use super::{crates, exceptions, links, rules, shape, text};

/// Prints every problem of the repository, and fails if there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let problems = problems(&tree);
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => println!("tidy: {} files are in order", tree.files.len()),
        1 => bail!("tidy found one problem"),
        count => bail!("tidy found {count} problems"),
    }
    Ok(())
}

/// Returns whether any documentation comment opens a code block.
pub(crate) fn has_doctests(root: &Path) -> Result<bool> {
    let tree = Tree::read(root)?;
    let rust = tree.files.iter().filter(|file| file.path.ends_with(".rs"));
    Ok(rust.filter_map(|file| file.text.as_deref()).any(|text| text.lines().any(opens_example)))
}

fn opens_example(line: &str) -> bool {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    comment.is_some_and(|comment| comment.trim_start().starts_with("```"))
}

fn problems(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut sources = Vec::new();
    for file in &tree.files {
        let Some(text) = &file.text else {
            problems.push(Problem::new(&file.path, 1, "utf-8", "the file is not UTF-8"));
            continue;
        };
        problems.extend(text::check(&file.path, text));
        if file.path.ends_with(".md") {
            problems.extend(links::check(&file.path, text, &tree.paths));
        }
        if file.path.ends_with(".rs") {
            match RustSource::parse(&file.path, text) {
                Ok(source) => sources.push(source),
                Err(problem) => problems.push(problem),
            }
        }
    }
    for source in &sources {
        problems.extend(rules::check(source));
    }
    problems.extend(crates::check(&tree.files));
    match exceptions::read(&tree.files) {
        Ok(exceptions) => problems.extend(shape::check(&sources, &exceptions)),
        Err(problem) => problems.push(problem),
    }
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tree::TextFile;
    use super::*;

    fn tree(files: &[(&str, Option<&str>)]) -> Tree {
        let file = |(path, text): &(&str, Option<&str>)| TextFile {
            path: (*path).to_owned(),
            text: text.map(str::to_owned),
        };
        Tree {
            paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            files: files.iter().map(file).collect(),
        }
    }

    #[test]
    fn every_kind_of_file_is_checked_and_all_problems_are_told_in_order() {
        let found: Vec<String> = problems(&tree(&[
            (
                "crates/artel-model/Cargo.toml",
                Some("[package]\nname = \"artel-model\"\n[dependencies]\nrand = \"1\"\n"),
            ),
            ("crates/artel-model/src/lib.rs", Some("//! Doc.\nfn a() { b.unwrap() }\n")),
            ("crates/artel-model/src/open.rs", Some("//! Doc.\nfn a() {\n")),
            ("ARCHITECTURE.md", Some("crates/artel-model   nouns and rules\n")),
            ("README.md", Some("[docs](docs/) \n")),
            ("data.json", None),
        ]))
        .iter()
        .map(|problem| format!("{}:{} {}", problem.path, problem.line, problem.rule))
        .collect();
        let expected = [
            "README.md:1 link",
            "README.md:1 whitespace",
            "crates/artel-model/Cargo.toml:4 crate-bans",
            "crates/artel-model/src/lib.rs:2 unwrap",
            "crates/artel-model/src/lib.rs:2 index-file",
            "crates/artel-model/src/open.rs:2 lexes",
            "data.json:1 utf-8",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn examples_are_code_blocks_of_documentation() {
        assert!(opens_example("    /// ```"));
        assert!(opens_example("//! ```rust"));
        assert!(!opens_example("// ```"));
        assert!(!opens_example("let fence = \"```\";"));
    }
}

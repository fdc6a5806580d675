//! Relative links of the documentation lead to files that exist. Knows enough Markdown for that, and no more: fenced
//! blocks and code spans are skipped, anchors and other sites are not followed.

use super::problem::Problem;

/// Returns the links of one Markdown file that lead nowhere; `paths` are all files of the repository.
pub(crate) fn check(path: &str, text: &str, paths: &[String]) -> Vec<Problem> {
    if is_part_of_a_skill(path) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence {
            let dead = targets(line).into_iter().filter(|target| !leads_somewhere(path, target, paths));
            problems.extend(dead.map(|target| {
                Problem::new(path, index + 1, "link", format!("`{target}` is not a file of the repository"))
            }));
        }
    }
    problems
}

/// A skill's instructions may speak of files that only exist once it has run.
fn is_part_of_a_skill(path: &str) -> bool {
    path.strip_prefix("skills/").is_some_and(|inside| inside.contains('/'))
}

/// Returns the targets of the links on a line: `[text](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition =
        line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(definition).map(|target| target.trim_matches(['<', '>']).to_owned()).collect()
}

fn without_code(line: &str) -> String {
    // Odd pieces are inside of backticks, unless the last backtick has no partner.
    let pieces: Vec<&str> = line.split('`').collect();
    let outside = |index: usize| index.is_multiple_of(2) || (index + 1 == pieces.len());
    pieces.iter().enumerate().filter(|(index, _)| outside(*index)).map(|(_, piece)| *piece).collect()
}

fn leads_somewhere(from: &str, target: &str, paths: &[String]) -> bool {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(wanted) = join(folder, target) else { return false };
    let inside = format!("{wanted}/");
    wanted.is_empty() || paths.iter().any(|path| *path == wanted || path.starts_with(&inside))
}

/// Returns the path from the root, or `None` when it leaves the repository.
fn join(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_links(path: &str, text: &str, expected: &[usize]) {
        let paths = ["README.md", "docs/cli.md", "docs/design/0001-yaml.md"].map(str::to_owned);
        let lines: Vec<usize> = check(path, text, &paths).iter().map(|problem| problem.line).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn links_to_files_and_folders_resolve() {
        check_links(
            "README.md",
            "[a](docs/cli.md) [b](docs/design/)\n[c](./docs/cli.md#list \"title\")\n",
            &[],
        );
        check_links("docs/cli.md", "[a](../README.md) [b](design/0001-yaml.md) [c](#here)\n", &[]);
        check_links("README.md", "[site](https://agentskills.io) <mailto:a@b.c>\n", &[]);
    }

    #[test]
    fn dead_links_are_found() {
        check_links("README.md", "fine\n[a](docs/api.md)\n", &[2]);
        check_links("docs/cli.md", "[a](README.md)\n[up](../../x.md)\n", &[1, 2]);
        check_links("README.md", "[a][b]\n\n[b]: docs/none.md\n", &[3]);
    }

    #[test]
    fn code_and_skills_are_not_documentation() {
        check_links("README.md", "```\n[a](none.md)\n```\n`[a](none.md)`\n", &[]);
        check_links("skills/memory/SKILL.md", "[a](data/none.md)\n", &[]);
        check_links("skills/README.md", "[a](none.md)\n", &[1]);
    }
}

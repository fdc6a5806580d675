//! Reads TOML with line numbers: the few questions that tidy asks of Cargo.toml and its own exception list.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;

/// A TOML file that parsed.
pub(crate) struct Manifest<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

/// A dependency as written in a Cargo.toml, under the name of its package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) package: String,
    pub(crate) line: usize,
}

impl<'a> Manifest<'a> {
    /// Parses a TOML file.
    pub(crate) fn parse(path: &str, text: &'a str) -> Result<Self, Problem> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            Problem::new(path, line, "toml", error.message().to_owned())
        })?;
        Ok(Self { text, table: table.into_inner() })
    }

    /// Returns the package's own name.
    pub(crate) fn package_name(&self) -> Option<&str> {
        self.table.get("package")?.get_ref().get("name")?.get_ref().as_str()
    }

    /// Returns all dependencies: of the code, of its tests and of its build, for every platform.
    pub(crate) fn dependencies(&self) -> Vec<Dependency> {
        let mut found = Vec::new();
        self.collect(&self.table, &mut found);
        let platforms = self.table.get("target").and_then(|target| target.get_ref().as_table());
        for platform in platforms.into_iter().flat_map(|platforms| platforms.values()) {
            if let Some(table) = platform.get_ref().as_table() {
                self.collect(table, &mut found);
            }
        }
        found.sort_by_key(|dependency| dependency.line);
        found
    }

    /// Returns the tables of an array `[[name]]` with the line each starts on.
    pub(crate) fn tables(&self, name: &str) -> Vec<(usize, &DeTable<'a>)> {
        let array = self.table.get(name).and_then(|value| value.get_ref().as_array());
        let entries = array.into_iter().flat_map(|array| array.iter());
        entries
            .filter_map(|entry| Some((line_at(self.text, entry.span().start), entry.get_ref().as_table()?)))
            .collect()
    }

    fn collect(&self, table: &DeTable<'_>, found: &mut Vec<Dependency>) {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = table.get(section).and_then(|value| value.get_ref().as_table()) else {
                continue;
            };
            for (key, value) in dependencies {
                let package = renamed(value).unwrap_or(key.get_ref()).to_owned();
                found.push(Dependency { package, line: line_at(self.text, key.span().start) });
            }
        }
    }
}

fn renamed<'v>(value: &'v Spanned<DeValue<'_>>) -> Option<&'v str> {
    value.get_ref().get("package")?.get_ref().as_str()
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_every_section_have_their_line() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { package = \"d\", version = \"1\" }\n\
                    [target.'cfg(unix)'.dev-dependencies]\ne = \"1\"\n";
        let manifest = Manifest::parse("Cargo.toml", text).map_err(|problem| problem.to_string()).unwrap();
        let expected = [("b", 4), ("d", 5), ("e", 7)]
            .map(|(package, line)| Dependency { package: package.to_owned(), line });
        assert_eq!(manifest.package_name(), Some("a"));
        assert_eq!(manifest.dependencies(), expected);
    }

    #[test]
    fn a_syntax_error_is_a_problem_at_its_line() {
        let problem = Manifest::parse("Cargo.toml", "[package]\nname = \n").err().map(|problem| problem.line);
        assert_eq!(problem, Some(2));
    }
}

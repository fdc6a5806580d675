//! The named exceptions to the size limits, from `xtask/tidy-exceptions.toml`. Each says why.

use toml::de::DeTable;

use super::manifest::Manifest;
use super::problem::Problem;
use super::tree::TextFile;

/// Where the exceptions are listed.
pub(crate) const EXCEPTIONS_PATH: &str = "xtask/tidy-exceptions.toml";

/// One file or function that may be longer than the limit.
#[derive(Debug)]
pub(crate) struct Exception {
    pub(crate) path: String,
    /// `None` excepts the file itself from the limit on files.
    pub(crate) function: Option<String>,
    /// Where the entry stands in the list.
    pub(crate) line: usize,
}

/// Reads the list; a missing list is an empty one.
pub(crate) fn read(files: &[TextFile]) -> Result<Vec<Exception>, Problem> {
    let list = files.iter().find(|file| file.path == EXCEPTIONS_PATH);
    parse(list.and_then(|file| file.text.as_deref()).unwrap_or_default())
}

fn parse(text: &str) -> Result<Vec<Exception>, Problem> {
    let manifest = Manifest::parse(EXCEPTIONS_PATH, text)?;
    manifest.tables("exception").into_iter().map(|(line, table)| exception(line, table)).collect()
}

fn exception(line: usize, table: &DeTable<'_>) -> Result<Exception, Problem> {
    let text =
        |key: &str| table.get(key).and_then(|value| value.get_ref().as_str()).filter(|text| !text.is_empty());
    match (text("path"), text("reason")) {
        (Some(path), Some(_)) => {
            Ok(Exception { path: path.to_owned(), function: text("function").map(str::to_owned), line })
        }
        (None, _) | (_, None) => Err(Problem::new(
            EXCEPTIONS_PATH,
            line,
            "exceptions",
            "an exception needs a `path` and a `reason`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_names_a_place_and_a_reason() {
        let text = "[[exception]]\npath = \"a.rs\"\nfunction = \"run\"\nreason = \"a flat table\"\n\n\
                    [[exception]]\npath = \"b.rs\"\nreason = \"generated\"\n";
        let found: Vec<_> = parse(text).unwrap().into_iter().map(|e| (e.path, e.function, e.line)).collect();
        let expected = [("a.rs".to_owned(), Some("run".to_owned()), 1), ("b.rs".to_owned(), None, 6)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_exception_without_a_reason_is_a_problem() {
        assert!(parse("[[exception]]\npath = \"a.rs\"\n").is_err());
        assert!(parse("").unwrap().is_empty());
    }
}

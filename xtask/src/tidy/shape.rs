//! The shape of the code: length of functions and files, and what `lib.rs` and `mod.rs` may hold.

use proc_macro2::TokenTree;

use super::exceptions::{EXCEPTIONS_PATH, Exception};
use super::problem::Problem;
use super::source::{RustSource, is_punct};

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 800;

/// Returns what is too long or in the wrong file, and every exception that excuses nothing.
pub(crate) fn check(sources: &[RustSource], exceptions: &[Exception]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut used = vec![false; exceptions.len()];
    for source in sources {
        for excess in excesses(source) {
            let excuse = exceptions.iter().position(|exception| excess.is_excused_by(source, exception));
            match excuse {
                Some(index) => used[index] = true,
                None => problems.push(Problem::new(&source.path, excess.line, "length", excess.message)),
            }
        }
        problems.extend(check_index_file(source));
    }
    for (exception, _) in exceptions.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("nothing in `{}` needs this exception; delete it", exception.path);
        problems.push(Problem::new(EXCEPTIONS_PATH, exception.line, "exceptions", message));
    }
    problems
}

/// A function or file over its limit.
struct Excess<'a> {
    function: Option<&'a str>,
    line: usize,
    message: String,
}

impl Excess<'_> {
    fn is_excused_by(&self, source: &RustSource, exception: &Exception) -> bool {
        exception.path == source.path && exception.function.as_deref() == self.function
    }
}

fn excesses(source: &RustSource) -> Vec<Excess<'_>> {
    let too_long =
        source.functions.iter().filter(|function| !function.in_test && function.lines > FUNCTION_LINES_MAX);
    let mut found: Vec<Excess<'_>> = too_long
        .map(|function| Excess {
            function: Some(&function.name),
            line: function.line,
            message: format!(
                "`{}` has {} lines, {FUNCTION_LINES_MAX} is the limit",
                function.name, function.lines
            ),
        })
        .collect();
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        let message = format!("the file has {lines} lines, {FILE_LINES_MAX} is the limit; split it by idea");
        found.push(Excess { function: None, line: 1, message });
    }
    found
}

/// `lib.rs` and `mod.rs` are tables of contents: documentation, `mod name;` and `use`.
fn check_index_file(source: &RustSource) -> Option<Problem> {
    let is_index = source.path.ends_with("/lib.rs") || source.path.ends_with("/mod.rs");
    if !is_index || source.is_test {
        return None;
    }
    let line = foreign_item_line(&source.tokens)?;
    Some(Problem::new(
        &source.path,
        line,
        "index-file",
        "only documentation, `mod name;` and `use` belong here",
    ))
}

/// Returns the line of the first item that is neither an attribute, a `mod name;` nor a `use`.
fn foreign_item_line(tokens: &[TokenTree]) -> Option<usize> {
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        rest = match rest {
            [hash, bang, _, after @ ..] if is_punct(hash, '#') && is_punct(bang, '!') => after,
            [hash, _, after @ ..] if is_punct(hash, '#') => after,
            [TokenTree::Ident(word), TokenTree::Group(_), after @ ..] if *word == "pub" => after,
            [TokenTree::Ident(word), after @ ..] if *word == "pub" => after,
            [TokenTree::Ident(word), _, end, after @ ..] if *word == "mod" && is_punct(end, ';') => after,
            [TokenTree::Ident(word), after @ ..] if *word == "use" => {
                let end = after.iter().position(|tree| is_punct(tree, ';'))?;
                &after[end + 1..]
            }
            _ => return Some(first.span().start().line),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_shape(path: &str, text: &str, exceptions: &[Exception], expected: &[&str]) {
        let source = RustSource::parse(path, text).map_err(|problem| problem.to_string()).unwrap();
        let found: Vec<String> = check(&[source], exceptions).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn exception(function: Option<&str>) -> Exception {
        Exception { path: "src/a.rs".to_owned(), function: function.map(str::to_owned), line: 7 }
    }

    #[test]
    fn functions_fit_a_screen() {
        check_shape("src/a.rs", &function_of(70), &[], &[]);
        let problem = "src/a.rs:1: `long` has 71 lines, 70 is the limit (length)";
        check_shape("src/a.rs", &function_of(71), &[], &[problem]);
        check_shape("tests/a.rs", &function_of(71), &[], &[]);
        check_shape("src/a.rs", &format!("#[test]\n{}", function_of(71)), &[], &[]);
    }

    #[test]
    fn files_are_one_idea() {
        check_shape("src/a.rs", &"\n".repeat(800), &[], &[]);
        let problem = "tests/a.rs:1: the file has 801 lines, 800 is the limit; split it by idea (length)";
        check_shape("tests/a.rs", &"\n".repeat(801), &[], &[problem]);
    }

    #[test]
    fn exceptions_excuse_and_do_not_outlive_their_reason() {
        check_shape("src/a.rs", &function_of(71), &[exception(Some("long"))], &[]);
        check_shape("src/a.rs", &"\n".repeat(801), &[exception(None)], &[]);
        let stale = "xtask/tidy-exceptions.toml:7: nothing in `src/a.rs` needs this exception; delete it (exceptions)";
        check_shape("src/a.rs", &function_of(70), &[exception(Some("long"))], &[stale]);
    }

    #[test]
    fn index_files_are_tables_of_contents() {
        let contents =
            "//! Doc.\n#![expect(x)]\n#[cfg(test)]\nmod tests;\npub(crate) mod a;\npub use a::{B, C};\n";
        check_shape("crates/x/src/lib.rs", contents, &[], &[]);
        let problem =
            "crates/x/src/lib.rs:2: only documentation, `mod name;` and `use` belong here (index-file)";
        check_shape("crates/x/src/lib.rs", "mod a;\nconst B: u8 = 1;\n", &[], &[problem]);
        check_shape("crates/x/src/lib.rs", "mod a;\nmod b { }\n", &[], &[problem]);
        check_shape("crates/x/src/a.rs", "const B: u8 = 1;\n", &[], &[]);
    }
}

//! One Rust file as a token tree: its functions, its top-level items, and everything it mentions, each with its line
//! and whether it is test code. Lexes only, so that comments and strings are never mistaken for code, and code inside
//! macros is seen too. Knows nothing about the rules.

use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

use super::mentions::{Mention, mentions};
use super::problem::Problem;

/// A lexed Rust file.
pub(crate) struct RustSource {
    pub(crate) path: String,
    pub(crate) text: String,
    /// Whether the whole file is test code.
    pub(crate) is_test: bool,
    pub(crate) functions: Vec<Function>,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) tokens: Vec<TokenTree>,
}

/// A function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// From the line of `fn` to the line of the closing brace.
    pub(crate) lines: usize,
    pub(crate) in_test: bool,
}

/// A token without its tree: delimiters are tokens of their own, `::` is one token, every literal is a `"`.
pub(crate) struct FlatToken {
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) in_test: bool,
}

impl RustSource {
    /// Lexes a file; the path decides whether all of it is test code.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let stream = TokenStream::from_str(text)
            .map_err(|error| Problem::new(path, error.span().start().line, "lexes", "not valid Rust"))?;
        let is_test = is_test_path(path);
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut walk = Walk { flat: Vec::new(), functions: Vec::new(), half_path_separator: false };
        walk.level(&tokens, is_test);
        let mentions = mentions(&walk.flat);
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            is_test,
            functions: walk.functions,
            mentions,
            tokens,
        })
    }
}

/// Files that are only there for tests, beside the code they test.
const TEST_FILES: [&str; 4] = ["properties.rs", "simulation.rs", "testing.rs", "tests.rs"];

fn is_test_path(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|folder| matches!(folder, "tests" | "benches" | "examples"))
        || TEST_FILES.contains(&name)
        || name.ends_with("_tests.rs")
}

struct Walk {
    flat: Vec<FlatToken>,
    functions: Vec<Function>,
    /// Whether the last token may be the first half of `::`.
    half_path_separator: bool,
}

impl Walk {
    /// Walks the trees of one level; a test attribute makes test code of the item that follows it.
    fn level(&mut self, trees: &[TokenTree], in_test: bool) {
        let mut test_until = 0;
        for (index, tree) in trees.iter().enumerate() {
            if let Some(attribute) =
                attribute_at(trees, index).filter(|attribute| is_test_attribute(attribute.group))
            {
                test_until =
                    if attribute.inner { trees.len() } else { item_end(trees, index + 1).max(test_until) };
            }
            let in_test = in_test || index < test_until;
            if let Some(function) = function_at(trees, index, in_test) {
                self.functions.push(function);
            }
            self.tree(tree, in_test);
        }
    }

    fn tree(&mut self, tree: &TokenTree, in_test: bool) {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = delimiters(group.delimiter());
                self.push(open, line, in_test);
                self.level(&group.stream().into_iter().collect::<Vec<_>>(), in_test);
                self.push(close, group.span_close().start().line, in_test);
            }
            TokenTree::Ident(ident) => self.push(&ident.to_string(), line, in_test),
            TokenTree::Literal(_) => self.push("\"", line, in_test),
            TokenTree::Punct(punct) if punct.as_char() == ':' && self.half_path_separator => {
                self.flat.pop();
                self.push("::", line, in_test);
            }
            TokenTree::Punct(punct) => {
                self.push(&punct.as_char().to_string(), line, in_test);
                self.half_path_separator = punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
            }
        }
    }

    fn push(&mut self, text: &str, line: usize, in_test: bool) {
        self.half_path_separator = false;
        self.flat.push(FlatToken { text: text.to_owned(), line, in_test });
    }
}

struct Attribute<'a> {
    group: &'a Group,
    inner: bool,
}

fn attribute_at(trees: &[TokenTree], index: usize) -> Option<Attribute<'_>> {
    if !is_punct(trees.get(index)?, '#') {
        return None;
    }
    let inner = is_punct(trees.get(index + 1)?, '!');
    match trees.get(index + 1 + usize::from(inner))? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            Some(Attribute { group, inner })
        }
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

fn is_test_attribute(group: &Group) -> bool {
    let text: String = group.stream().to_string().split_whitespace().collect();
    let path = text.split('(').next().unwrap_or_default();
    matches!(path, "test" | "rstest")
        || path.ends_with("::test")
        || text == "cfg(test)"
        || text.starts_with("cfg(all(test")
}

/// Returns the index after the item that starts at `from`: after its body or its semicolon.
fn item_end(trees: &[TokenTree], from: usize) -> usize {
    let ends = |tree: &TokenTree| is_punct(tree, ';') || is_braces(tree);
    trees[from..].iter().position(ends).map_or(trees.len(), |offset| from + offset + 1)
}

fn function_at(trees: &[TokenTree], index: usize, in_test: bool) -> Option<Function> {
    let (TokenTree::Ident(keyword), TokenTree::Ident(name)) = (trees.get(index)?, trees.get(index + 1)?)
    else {
        return None;
    };
    let body = trees.get(item_end(trees, index) - 1)?;
    if *keyword != "fn" || !is_braces(body) {
        return None;
    }
    let line = keyword.span().start().line;
    Some(Function { name: name.to_string(), line, lines: body.span().end().line + 1 - line, in_test })
}

pub(crate) fn is_punct(tree: &TokenTree, character: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn is_braces(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => (" ", " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(path: &str, text: &str) -> Vec<(String, usize, usize, bool)> {
        let source = RustSource::parse(path, text).map_err(|problem| problem.to_string()).unwrap();
        source.functions.into_iter().map(|f| (f.name, f.line, f.lines, f.in_test)).collect()
    }

    fn function(name: &str, line: usize, lines: usize, in_test: bool) -> (String, usize, usize, bool) {
        (name.to_owned(), line, lines, in_test)
    }

    #[test]
    fn functions_are_measured_from_the_keyword_to_the_brace() {
        let text = "/// Doc.\npub fn a(\n    x: fn(u8) -> u8,\n) -> u8\n{\n    x(1)\n}\ntrait T { fn b(&self); fn c() {} }\n";
        assert_eq!(functions("src/a.rs", text), [function("a", 2, 6, false), function("c", 8, 1, false)]);
    }

    #[test]
    fn test_code_is_what_follows_a_test_attribute() {
        let text = "#[cfg(test)]\n#[expect(dead_code)]\nmod tests { fn a() {} }\nfn b() {}\n#[tokio::test]\nasync fn c() {}\n\
                    #[cfg(not(test))]\nfn d() {}\n#[cfg(all(test, unix))]\nfn e() {}\n";
        let expected = [("a", 3, true), ("b", 4, false), ("c", 6, true), ("d", 8, false), ("e", 10, true)];
        assert_eq!(
            functions("src/a.rs", text),
            expected.map(|(name, line, test)| function(name, line, 1, test))
        );
    }

    #[test]
    fn whole_files_can_be_test_code() {
        for path in ["tests/a.rs", "crates/x/tests/it/b.rs", "src/tests.rs", "src/merge_tests.rs"] {
            assert_eq!(functions(path, "fn a() {}"), [function("a", 1, 1, true)], "{path}");
        }
        assert_eq!(functions("src/test.rs", "fn a() {}"), [function("a", 1, 1, false)]);
        assert_eq!(functions("src/a.rs", "#![cfg(test)]\nfn a() {}"), [function("a", 2, 1, true)]);
    }

    #[test]
    fn what_cannot_be_lexed_is_a_problem() {
        assert!(RustSource::parse("a.rs", "fn a() {").is_err());
    }
}

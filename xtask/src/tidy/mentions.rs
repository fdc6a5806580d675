//! What a Rust file mentions: paths (with `use` trees written out), method calls, macro calls, attributes. This is all
//! that the boundary rules look at.

use super::source::FlatToken;

/// One thing mentioned, and where.
#[derive(Debug)]
pub(crate) struct Mention {
    pub(crate) what: What,
    pub(crate) line: usize,
    pub(crate) in_test: bool,
}

/// The kinds of things a rule can ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// `a::b::c`, in an expression, a type or a `use`.
    Path(Vec<String>),
    /// `.name(…)`
    Method(String),
    /// `name!(…)`
    Macro(String),
    /// `#[name…]`, or `name` inside of `#[cfg_attr(…)]`
    Attribute(String),
}

/// Collects the mentions of a file in the order of its tokens.
pub(crate) fn mentions(tokens: &[FlatToken]) -> Vec<Mention> {
    let mut reader = Reader { tokens, at: 0, found: Vec::new() };
    while reader.at < tokens.len() {
        reader.step();
    }
    reader.found
}

struct Reader<'a> {
    tokens: &'a [FlatToken],
    at: usize,
    found: Vec<Mention>,
}

impl Reader<'_> {
    fn step(&mut self) {
        match (self.text(0), self.text(1)) {
            // `use<'a>` captures lifetimes and imports nothing.
            ("use", next) if next != "<" => {
                self.at += 1;
                self.use_tree(&[]);
            }
            ("#", "[") => self.attribute(2),
            ("#", "!") if self.text(2) == "[" => self.attribute(3),
            (".", name) if is_name(name) && matches!(self.text(2), "(" | "::") => {
                self.record(self.at + 1, What::Method(name.to_owned()));
                self.at += 2;
            }
            (name, "!") if is_name(name) && matches!(self.text(2), "(" | "[" | "{") => {
                self.record(self.at, What::Macro(name.to_owned()));
                self.at += 2;
            }
            (name, _) if is_name(name) => self.path(),
            _ => self.at += 1,
        }
    }

    fn path(&mut self) {
        let start = self.at;
        let mut segments = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && is_name(self.text(1)) {
            segments.push(self.text(1).to_owned());
            self.at += 2;
        }
        self.record(start, What::Path(segments));
    }

    /// Reads one tree of a `use` and records each path it stands for.
    fn use_tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let mut last = self.at;
        loop {
            match self.text(0) {
                "::" => self.at += 1,
                "{" => return self.use_group(&segments),
                "as" => self.at += 2,
                name if is_name(name) || name == "*" => {
                    segments.push(name.to_owned());
                    last = self.at;
                    self.at += 1;
                }
                _ if segments.len() > prefix.len() => return self.record(last, What::Path(segments)),
                _ => return,
            }
        }
    }

    fn use_group(&mut self, prefix: &[String]) {
        self.at += 1;
        while !matches!(self.text(0), "}" | "") {
            let start = self.at;
            self.use_tree(prefix);
            // Steps over the comma, and over anything unexpected inside of a macro's pattern.
            self.at += usize::from(self.text(0) == "," || self.at == start);
        }
        self.at += 1;
    }

    fn attribute(&mut self, name_offset: usize) {
        self.at += name_offset;
        let name = self.text(0).to_owned();
        self.record(self.at, What::Attribute(name.clone()));
        self.at += 1;
        while name == "cfg_attr" && !matches!(self.text(0), "]" | "") {
            self.record(self.at, What::Attribute(self.text(0).to_owned()));
            self.at += 1;
        }
    }

    fn text(&self, offset: usize) -> &str {
        self.tokens.get(self.at + offset).map_or("", |token| token.text.as_str())
    }

    fn record(&mut self, index: usize, what: What) {
        if let Some(token) = self.tokens.get(index) {
            self.found.push(Mention { what, line: token.line, in_test: token.in_test });
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

#[cfg(test)]
mod tests {
    use super::super::source::RustSource;
    use super::What;

    /// Lists what a file mentions, one word each: `path`, `.method`, `macro!`, `#attribute`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let source = RustSource::parse("src/a.rs", text).map_err(|problem| problem.to_string()).unwrap();
        let found: Vec<String> = source
            .mentions
            .iter()
            .map(|mention| match &mention.what {
                What::Path(segments) => segments.join("::"),
                What::Method(name) => format!(".{name}"),
                What::Macro(name) => format!("{name}!"),
                What::Attribute(name) => format!("#{name}"),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn use_trees_are_written_out() {
        let text = "use std::{fs, io::{self as i, *}, process::Command};";
        check(text, &["std::fs", "std::io::self", "std::io::*", "std::process::Command"]);
    }

    #[test]
    fn expressions_give_paths_methods_and_macros() {
        check("a::b(c).d().e::<F>(g!(\"x::y\"))", &["a::b", "c", ".d", ".e", "F", "g!"]);
        check("x: ::std::fs", &["x", "std::fs"]);
    }

    #[test]
    fn attributes_are_seen_through_cfg_attr() {
        check("#[ignore] #![allow(x)]", &["#ignore", "#allow", "x"]);
        let inside = ["#cfg_attr", "#(", "#unix", "#,", "#allow", "#(", "#x", "#)", "#)"];
        check("#[cfg_attr(unix, allow(x))]", &inside);
    }

    #[test]
    fn comments_strings_and_macro_patterns_mention_nothing() {
        check("// std::fs\n\"std::fs\"", &[]);
        check("{ use {$} }", &[]);
    }
}

//! Diagnostics with the line they are about.

use std::collections::BTreeMap;
use std::fmt::Write;

use artel_catalog::{DiskTree, FileTree, visible};
use artel_model::diagnostic::{Diagnostic, Severity};
use camino::{Utf8Path, Utf8PathBuf};

use super::print::{Output, Tone};

/// How many of each there are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl Counts {
    /// Counts diagnostics.
    pub(crate) fn of<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Self::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
            }
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |number: usize| if number == 1 { "" } else { "s" };
        let Self { errors, warnings } = self;
        write!(f, "{errors} error{}, {warnings} warning{}", plural(*errors), plural(*warnings))
    }
}

/// The lines of files that diagnostics are about, each file read once.
#[derive(Debug, Default)]
pub(crate) struct SourceCache(BTreeMap<Utf8PathBuf, Vec<String>>);

/// Bytes of a file that are read to show a line of it.
const SOURCE_BYTES_MAX: u64 = 1024 * 1024;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 160;

impl SourceCache {
    fn line(&mut self, path: &Utf8Path, line: u32) -> Option<&str> {
        let lines = self.0.entry(path.to_owned()).or_insert_with(|| {
            let text = source(path).unwrap_or_default();
            String::from_utf8_lossy(&text).trim_start_matches('\u{feff}').lines().map(str::to_owned).collect()
        });
        lines.get(usize::try_from(line).ok()?.checked_sub(1)?).map(String::as_str)
    }
}

/// Reads a file of which a line is to be shown; nothing unless it is a plain file that holds no secrets.
fn source(path: &Utf8Path) -> Option<Vec<u8>> {
    let name = path.file_name()?;
    // A line of somebody's settings may hold a secret, and a link may lead to anything.
    if name == "config.json" || path.is_symlink() {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    DiskTree::new(folder).read(Utf8Path::new(name), SOURCE_BYTES_MAX).ok()
}

impl Output {
    /// Writes a diagnostic the way compilers do.
    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic, sources: &mut SourceCache) -> String {
        let finding = &diagnostic.finding;
        let (word, tone) = match diagnostic.severity {
            Severity::Error => ("error", Tone::Error),
            Severity::Warning => ("warning", Tone::Warning),
        };
        let head = self.paint(&format!("{word}[{}]", finding.code), tone);
        let mut out = format!("{head}: {}\n", visible(&finding.message));
        let arrow = self.paint("-->", Tone::Accent);
        match finding.position {
            None => {
                writeln!(out, "  {arrow} {}", visible(finding.path.as_str())).expect("a string takes all")
            }
            Some(position) => {
                let place =
                    format!("{}:{}:{}", visible(finding.path.as_str()), position.line, position.column);
                writeln!(out, "  {arrow} {place}").expect("a string takes all");
                if let Some(line) = sources.line(&finding.path, position.line) {
                    out.push_str(&self.excerpt(line, position.line, position.column));
                }
            }
        }
        writeln!(out, "   {} {}", self.paint("= hint:", Tone::Accent), visible(finding.remedy()))
            .expect("a string takes all");
        out
    }

    fn excerpt(&self, line: &str, number: u32, column: u32) -> String {
        let column = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
        // A place far to the right is shown with what stands before it cut away.
        let skipped = column.saturating_sub(LINE_CHARS_MAX / 2);
        let shown: String = line.chars().skip(skipped).take(LINE_CHARS_MAX).collect();
        let before: String = shown.chars().take(column - skipped).collect();
        let bar = self.paint("|", Tone::Accent);
        let number = number.to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(console::measure_text_width(&visible(&before)));
        let caret = self.paint("^", Tone::Warning);
        format!(
            " {} {bar} {}\n {margin} {bar} {indent}{caret}\n",
            self.paint(&number, Tone::Accent),
            visible(&shown)
        )
    }
}

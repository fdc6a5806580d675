//! What is different between a lock file and the skills that are there: permissions first, then files.

use artel_catalog::lock::{Comparison, Drift, FileChange, LockedSkillState, Origin, Rights, SkillChange};
use camino::Utf8Path;
use serde_json::{Value, json};

use super::context::Context;
use crate::output::{Output, Tone};

/// What is told about a lock file.
pub(super) struct LockReport<'a> {
    /// The file.
    pub(super) file: &'a Utf8Path,
    /// How the skills stand.
    pub(super) comparison: Comparison,
    /// Why it is told.
    pub(super) told: LockOutcome,
}

/// Why it is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum LockOutcome {
    /// Somebody asked whether everything is as it was locked.
    Verdict {
        /// Whether it is.
        is_good: bool,
    },
    /// What is there stands in the way of locking more.
    Drift,
    /// What is there was locked.
    Written {
        /// Whether that changed the file.
        is_written: bool,
    },
}

impl LockReport<'_> {
    pub(super) fn print(&self, context: Context<'_>) {
        let output = context.output;
        if output.json {
            return output.document(&self.document());
        }
        for standing in &self.comparison.skills {
            output.data(&text(output, standing, self.word(&standing.drift)));
        }
        output.talk(&format!("{}: {}", self.file, self.summary()));
    }

    /// Names what became of a skill: what is missing or not locked before is removed or added by locking.
    fn word(&self, drift: &Drift) -> &'static str {
        match (self.told, drift) {
            (LockOutcome::Written { .. }, Drift::Missing) => "removed",
            (LockOutcome::Written { .. }, Drift::Unlocked) => "locked",
            (LockOutcome::Verdict { .. } | LockOutcome::Drift | LockOutcome::Written { .. }, drift) => {
                drift.as_str()
            }
        }
    }

    fn summary(&self) -> String {
        let all = &self.comparison.skills;
        let plural = if all.len() == 1 { "" } else { "s" };
        let mut counts = Vec::new();
        for word in ["changed", "missing", "removed", "unlocked", "locked", "moved", "same"] {
            let count = all.iter().filter(|standing| self.word(&standing.drift) == word).count();
            if count > 0 {
                counts.push(format!("{count} {word}"));
            }
        }
        let verdict = match self.told {
            LockOutcome::Verdict { is_good: true } => "; what is used is what was locked",
            LockOutcome::Verdict { is_good: false } => "; what is used is not what was locked",
            LockOutcome::Written { is_written: false } => "; nothing to write",
            LockOutcome::Drift | LockOutcome::Written { is_written: true } => "",
        };
        format!("{} skill{plural}: {}{verdict}", all.len(), counts.join(", "))
    }

    fn document(&self) -> Value {
        let skills: Vec<Value> =
            self.comparison.skills.iter().map(|standing| row(standing, self.word(&standing.drift))).collect();
        let (key, value) = match self.told {
            LockOutcome::Verdict { is_good } => ("valid", is_good),
            LockOutcome::Drift => ("written", false),
            LockOutcome::Written { is_written } => ("written", is_written),
        };
        json!({"lock_file": self.file, key: value, "skills": skills})
    }
}

fn row(standing: &LockedSkillState, word: &str) -> Value {
    let mut row = json!({
        "name": standing.pin.name,
        "version": standing.pin.version,
        "status": word,
    });
    match &standing.drift {
        Drift::Same | Drift::Missing | Drift::Unlocked => {}
        Drift::Moved { from, to } => row["moved"] = json!({"from": place(from), "to": place(to)}),
        Drift::Changed(change) => {
            row["present_version"] = json!(change.version);
            row["permissions"] = change.permissions.iter().map(permission_row).collect();
            row["files"] = change
                .files
                .iter()
                .map(|(path, change)| json!({"path": path, "change": change.as_str()}))
                .collect();
            if let Some((from, to)) = &change.moved {
                row["moved"] = json!({"from": place(from), "to": place(to)});
            }
        }
    }
    row
}

fn permission_row(change: &artel_catalog::lock::PermissionChange) -> Value {
    json!({
        "rights": change.rights.as_str(),
        "change": if change.is_added() { "added" } else { "removed" },
        "kind": change.permission.kind(),
        "text": change.permission.to_string(),
    })
}

fn place(origin: &Origin) -> Value {
    json!({"source": origin.source, "location": origin.location, "revision": origin.revision})
}

/// Writes one skill; one that is as it was is not worth a line.
fn text(output: &Output, standing: &LockedSkillState, word: &str) -> String {
    let tone = match (&standing.drift, word) {
        (Drift::Same, _) => return String::new(),
        (Drift::Unlocked, "locked") => Tone::Good,
        (Drift::Changed(_) | Drift::Missing, _) => Tone::Error,
        (Drift::Moved { .. } | Drift::Unlocked, _) => Tone::Warning,
    };
    let head = |rest: &str| {
        let word = output.paint(&format!("{word:<9}"), tone);
        format!("{word} {}{rest}\n", output.paint(&standing.pin.to_string(), Tone::Strong))
    };
    match &standing.drift {
        Drift::Same | Drift::Missing | Drift::Unlocked => head(""),
        Drift::Moved { from, to } => format!("{}{}", head(""), moved(output, from, to)),
        Drift::Changed(change) if change.version == standing.pin.version => {
            format!("{}{}", head(""), details(output, change))
        }
        Drift::Changed(change) => {
            format!("{}{}", head(&format!(" \u{2192} {}", change.version)), details(output, change))
        }
    }
}

fn details(output: &Output, change: &SkillChange) -> String {
    let mut out = String::new();
    for change in &change.permissions {
        let tone = match change.rights {
            Rights::Wider => Tone::Error,
            Rights::Narrower => Tone::Good,
        };
        let sign = if change.is_added() { '+' } else { '-' };
        out.push_str(&line(output, change.rights.as_str(), tone, &format!("{sign} {}", change.permission)));
    }
    for (path, change) in &change.files {
        let text = match change {
            FileChange::Added => format!("+ {path}"),
            FileChange::Removed => format!("- {path}"),
            FileChange::Changed => format!("~ {path}"),
            FileChange::MadeExecutable | FileChange::MadePlain => format!("~ {path} ({})", change.as_str()),
        };
        out.push_str(&line(output, "file", Tone::Faint, &text));
    }
    if let Some((from, to)) = &change.moved {
        out.push_str(&moved(output, from, to));
    }
    out
}

fn moved(output: &Output, from: &Origin, to: &Origin) -> String {
    let told = |origin: &Origin| {
        let revision = origin.revision.as_ref().map(|revision| format!("@{revision}")).unwrap_or_default();
        format!("{} {}{revision}", origin.source, origin.location)
    };
    line(output, "source", Tone::Faint, &format!("{} \u{2192} {}", told(from), told(to)))
}

fn line(output: &Output, word: &str, tone: Tone, text: &str) -> String {
    format!("  {} {}\n", output.paint(&format!("{word:<9}"), tone), output.paint(text, Tone::Plain))
}

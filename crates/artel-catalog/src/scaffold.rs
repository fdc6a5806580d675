//! New skills that work at once: they validate, pass every profile and can be run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::str::FromStr;

use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};

/// What a new skill starts with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Template {
    /// A script in Python 3, standard library only.
    Python,
    /// A script in POSIX shell.
    Shell,
    /// Instructions only.
    Instructions,
}

/// A text that names no template.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no template `{0}`: choose python, shell or instructions")]
pub struct UnknownTemplate(String);

impl FromStr for Template {
    type Err = UnknownTemplate;

    fn from_str(text: &str) -> Result<Self, UnknownTemplate> {
        match text {
            "python" => Ok(Self::Python),
            "shell" => Ok(Self::Shell),
            "instructions" => Ok(Self::Instructions),
            other => Err(UnknownTemplate(other.to_owned())),
        }
    }
}

/// Why a new skill was not made.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// Something is there already.
    #[error("`{0}` exists already")]
    Exists(Utf8PathBuf),
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Makes a new skill in a folder of its name below `parent`; returns the files, by path.
pub fn scaffold(
    parent: &Utf8Path,
    name: &SkillName,
    template: Template,
) -> Result<Vec<Utf8PathBuf>, ScaffoldError> {
    let folder = parent.join(name.as_str());
    if folder.symlink_metadata().is_ok() {
        return Err(ScaffoldError::Exists(folder));
    }
    let mut written = Vec::new();
    for (path, content) in files(name, template) {
        let path = folder.join(path);
        let failed = |source| ScaffoldError::Write { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, &content).map_err(failed)?;
        if content.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        }
        written.push(path);
    }
    Ok(written)
}

fn files(name: &SkillName, template: Template) -> Vec<(&'static str, String)> {
    let fill = |text: &str| text.replace("NAME", name.as_str());
    let mut files = vec![("SKILL.md", fill(skill_md(template)))];
    let script = match template {
        Template::Python => ("scripts/run.py", PYTHON),
        Template::Shell => ("scripts/run.sh", SHELL),
        Template::Instructions => return files,
    };
    files.push(("skill.json", fill(MANIFEST).replace("SCRIPT", script.0)));
    files.push((script.0, fill(script.1)));
    files.push(("examples/plan.json", fill(PLAN)));
    files
}

fn skill_md(template: Template) -> &'static str {
    match template {
        Template::Python | Template::Shell => {
            "---\nname: NAME\ndescription: Greets somebody by name. Use when a greeting is wanted.\nmetadata:\n  version: \"0.1.0\"\n---\n\
             # NAME\n\nSay whom to greet; the script answers with a greeting.\n\n\
             ```\nartel skill run NAME who=Ada\n```\n\nReplace this text by what an agent must know to use the skill well.\n"
        }
        Template::Instructions => {
            "---\nname: NAME\ndescription: Says what this skill does and when to use it.\nmetadata:\n  version: \"0.1.0\"\n---\n\
             # NAME\n\nWrite here what an agent must do, step by step.\n\n1. First look at what is there.\n2. Then do the work.\n3. Check the result.\n"
        }
    }
}

const MANIFEST: &str = r#"{
  "name": "NAME",
  "version": "0.1.0",
  "description": "Greets somebody by name. Use when a greeting is wanted.",
  "parameters_schema": {
    "type": "object",
    "properties": {
      "who": {"type": "string", "minLength": 1, "default": "world"}
    },
    "additionalProperties": false
  },
  "returns_schema": {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"]
  },
  "timeout": 10,
  "idempotent": true,
  "scripts": [
    {"name": "run", "path": "SCRIPT", "description": "Answers with a greeting."}
  ]
}
"#;

const PYTHON: &str = r#"#!/usr/bin/env python3
"""Reads one JSON object on stdin, writes one JSON event a line on stdout, the last one `done`."""
import json
import sys


def emit(**event):
    print(json.dumps({"version": "0", **event}), flush=True)


request = json.load(sys.stdin)
who = request.get("input", {}).get("who", "world")
emit(type="log", level="info", message=f"greeting {who}")
emit(type="done", ok=True, output={"greeting": f"Hello, {who}!"})
"#;

const SHELL: &str = r#"#!/bin/sh
# Reads one JSON object on stdin, writes one JSON event a line on stdout, the last one `done`.
set -eu

# Takes the plain text of "who" out of the input; anything more needs a real JSON reader.
who=$(sed -n 's/.*"who" *: *"\([A-Za-z0-9 _.-]*\)".*/\1/p' | head -n 1)
: "${who:=world}"

printf '{"version":"0","type":"log","level":"info","message":"greeting %s"}\n' "$who"
printf '{"version":"0","type":"done","ok":true,"output":{"greeting":"Hello, %s!"}}\n' "$who"
"#;

const PLAN: &str = r#"{
  "requestId": "6f1c2d1e-3b52-4d0e-9a51-0c7b8a4d2f10",
  "narrative": "Greets Ada.",
  "tools": [
    {"toolId": "greet", "skill": "NAME", "script": "run", "input": {"who": "Ada"}}
  ]
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Keep, load_folder};
    use crate::profile::Profile;

    #[test]
    fn a_new_skill_passes_every_profile_without_a_word() {
        for template in [Template::Python, Template::Shell, Template::Instructions] {
            let folder = tempfile::tempdir().unwrap();
            let parent = Utf8Path::from_path(folder.path()).unwrap();
            scaffold(parent, &"demo".parse().unwrap(), template).unwrap();
            let loaded = load_folder(&parent.join("demo"), Keep::Everything);
            assert_eq!(loaded.findings, [], "{template:?}");
            assert_eq!(Profile::accepting(&loaded), Profile::ALL, "{template:?}");
            let again = scaffold(parent, &"demo".parse().unwrap(), template);
            assert!(matches!(again, Err(ScaffoldError::Exists(_))));
        }
    }
}

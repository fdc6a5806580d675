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

/// Returns the files of a template, with the skill's name and its script filled in.
fn files(name: &SkillName, template: Template) -> Vec<(&'static str, String)> {
    let (script, code) = match template {
        Template::Python => ("scripts/run.py", include_str!("../templates/run.py")),
        Template::Shell => ("scripts/run.sh", include_str!("../templates/run.sh")),
        Template::Instructions => {
            let text = include_str!("../templates/instructions.md");
            return vec![("SKILL.md", text.replace("NAME", name.as_str()))];
        }
    };
    let fill = |text: &str| text.replace("NAME", name.as_str()).replace("SCRIPT", script);
    vec![
        ("SKILL.md", fill(include_str!("../templates/script.md"))),
        ("skill.json", fill(include_str!("../templates/skill.json"))),
        (script, fill(code)),
        ("examples/plan.json", fill(include_str!("../templates/plan.json"))),
    ]
}

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

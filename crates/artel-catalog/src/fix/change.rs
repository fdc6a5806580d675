//! What is mended, and what stands in the way, in words for people.

use std::fmt;

use artel_model::name::SkillName;
use camino::Utf8PathBuf;

use crate::text::visible;

/// Characters that are shown of a name or field.
const TEXT_CHARS_SHOWN: usize = 80;

/// One thing that is mended. Paths are below the skill's folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fix {
    /// A byte order mark is taken away.
    ByteOrderMarkRemoved {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A value that YAML cannot read is put in quotes.
    Quoted {
        /// The file.
        path: Utf8PathBuf,
        /// The line before anything is mended, from 1.
        line: u32,
    },
    /// The skill's name is written as names are.
    NameChanged {
        /// The file.
        path: Utf8PathBuf,
        /// What it says.
        from: String,
        /// What it will say.
        to: SkillName,
    },
    /// A field that the open format does not have goes under `metadata`.
    FieldMoved {
        /// The file.
        path: Utf8PathBuf,
        /// The field.
        field: String,
    },
    /// A file gets the name that clients look for.
    FileRenamed {
        /// Its name.
        from: Utf8PathBuf,
        /// Its name afterwards.
        to: Utf8PathBuf,
    },
    /// A script can be run.
    MadeExecutable {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The folder gets the skill's name.
    FolderRenamed {
        /// Its name.
        from: String,
        /// Its name afterwards.
        to: SkillName,
    },
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByteOrderMarkRemoved { path } => write!(f, "{path}: the byte order mark is removed"),
            Self::Quoted { path, line } => write!(f, "{path}:{line}: the value is put in quotes"),
            Self::NameChanged { path, from, to } => {
                write!(f, "{path}: the name `{}` becomes `{to}`", short(from))
            }
            Self::FieldMoved { path, field } => {
                write!(f, "{path}: `{}` is moved under `metadata`", short(field))
            }
            Self::FileRenamed { from, to } => write!(f, "{from}: the file is renamed to `{to}`"),
            Self::MadeExecutable { path } => write!(f, "{path}: the file is made executable"),
            Self::FolderRenamed { from, to } => write!(f, "the folder `{from}` is renamed to `{to}`"),
        }
    }
}

/// Something that is left as it is, for a person to decide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unfixed {
    /// The file below the skill's folder; empty for the folder itself.
    pub path: Utf8PathBuf,
    /// The line before anything is mended, from 1; absent when it is about the whole.
    pub line: Option<u32>,
    /// What stands in the way.
    pub obstacle: Obstacle,
}

/// Why something cannot be mended safely.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// Clients act on the field where it stands.
    FieldHasEffect(String),
    /// The field is a known one in another spelling.
    FieldMisspelt {
        /// As it is written.
        field: String,
        /// As it is known.
        known: &'static str,
    },
    /// The field stands somewhere else as well.
    FieldTwice(String),
    /// The field cannot be moved without changing something.
    FieldTangled(String),
    /// There is a `metadata` that cannot be extended line by line.
    MetadataNotPlain(String),
    /// So much is wrong that it is not a slip.
    TooMuch,
    /// The name could become several valid ones, or none.
    NameUnclear(String),
    /// `SKILL.md` and the manifest name different skills.
    NamesDiffer {
        /// What `SKILL.md` says.
        skill_md: String,
        /// What the manifest says.
        manifest: String,
    },
    /// The place for the file or folder is taken.
    Taken(Utf8PathBuf),
    /// It is a symbolic link; what it leads to may belong to somebody else.
    Link,
    /// The folder is the root of a repository, which other things know by its name.
    Repository,
}

impl fmt::Display for Unfixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", _) => {}
            (path, None) => write!(f, "{path}: ")?,
            (path, Some(line)) => write!(f, "{path}:{line}: ")?,
        }
        self.obstacle.fmt(f)
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldHasEffect(field) => {
                write!(
                    f,
                    "`{}` is not moved: clients that know it do not look under `metadata`",
                    short(field)
                )
            }
            Self::FieldMisspelt { field, known } => {
                write!(f, "`{}` is not moved: it seems to be meant as `{known}`", short(field))
            }
            Self::FieldTwice(field) => write!(f, "`{}` is not moved: there is another one", short(field)),
            Self::FieldTangled(field) => {
                write!(
                    f,
                    "`{}` is not moved: the way it is written, that would change its meaning",
                    short(field)
                )
            }
            Self::MetadataNotPlain(field) => write!(
                f,
                "`{}` is not moved: `metadata` is not written as one `key: value` a line below it",
                short(field)
            ),
            Self::TooMuch => f.write_str("too much is wrong here to be mended by rule"),
            Self::NameUnclear(name) => {
                write!(
                    f,
                    "the name `{}` is not changed: what it should be cannot be told for sure",
                    short(name)
                )
            }
            Self::NamesDiffer { skill_md, manifest } => {
                write!(
                    f,
                    "the name is not changed: SKILL.md says `{}`, the manifest `{}`",
                    short(skill_md),
                    short(manifest)
                )
            }
            Self::Taken(path) => write!(f, "not renamed: there is something at `{path}` already"),
            Self::Link => f.write_str("not touched: it is a symbolic link"),
            Self::Repository => f.write_str("the folder is not renamed: it is the root of a repository"),
        }
    }
}

/// Returns what is shown of a text that a file gives, on one line.
fn short(text: &str) -> String {
    let end = text.char_indices().nth(TEXT_CHARS_SHOWN).map_or(text.len(), |(at, _)| at);
    visible(&text[..end]).into_owned()
}

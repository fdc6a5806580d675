//! Reads a lock file's text. Nothing is guessed: what is not understood is refused, with its place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use artel_model::catalog::UnknownSource;
use artel_model::data_scope::DataScope;
use artel_model::diagnostic::Position;
use artel_model::limit::{LOCK_SKILLS_MAX, LOCK_TEXT_BYTES_MAX};
use artel_model::name::{NameError, SkillName};
use artel_model::skill::SkillPin;
use artel_model::version::Version;
use camino::{Utf8Component, Utf8Path};
use serde::Deserialize;
use toml::Spanned;

use super::locked::{LockFile, LockScope, LockedFile, LockedSkill, Origin};
use super::permission::Permission;
use super::write::{EXECUTABLE, VERSION};
use crate::source::{ContentHash, UnreadableHash};

/// What is wrong with a lock file, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LockProblem {
    /// Where.
    pub position: Position,
    /// What.
    pub kind: LockProblemKind,
}

/// What can be wrong with a lock file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LockProblemKind {
    /// It is not TOML, or has other fields.
    #[error("{0}")]
    Syntax(String),
    /// Two states of it were merged and not made one.
    #[error("a merge left both sides of a conflict here")]
    Conflict,
    /// It has a form that is not known.
    #[error("it has version {0}, and this artel knows version {VERSION}")]
    Version(i64),
    /// A name is none.
    #[error("this is not a skill's name: {0}")]
    Name(NameError),
    /// A version is none.
    #[error("this is not a version like 1.2.3")]
    SkillVersion,
    /// A source is none.
    #[error("{0}")]
    Source(UnknownSource),
    /// A hash is none.
    #[error("this is not a hash: {0}")]
    Hash(UnreadableHash),
    /// A path does not stay below the skill's folder.
    #[error("`{0}` is not a path below a skill's folder")]
    Path(String),
    /// Somebody who may call a skill is not known.
    #[error("`{0}` cannot call a skill; there are model and user")]
    Caller(String),
    /// The same skill stands there twice.
    #[error("`{0}` stands here a second time")]
    Twice(SkillPin),
    /// A skill is meant that is not pinned.
    #[error("`{0}` is named here, but not pinned below")]
    Unpinned(SkillName),
    /// The hash of a skill is not that of its files.
    #[error("the hash of `{0}` is not that of its files")]
    Inconsistent(SkillPin),
    /// There are too many skills.
    #[error("there are more than {LOCK_SKILLS_MAX} skills")]
    TooMany,
    /// A text is too long.
    #[error("this text has more than {LOCK_TEXT_BYTES_MAX} bytes")]
    TooLong,
}

impl fmt::Display for LockProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.position.line, self.position.column, self.kind)
    }
}

impl LockProblem {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            LockProblemKind::Version(_) => "use the artel that wrote it, or lock the skills anew",
            LockProblemKind::Conflict => {
                "take one side as a whole, then `artel skill verify` says what the other one would change"
            }
            LockProblemKind::Syntax(_)
            | LockProblemKind::Name(_)
            | LockProblemKind::SkillVersion
            | LockProblemKind::Source(_)
            | LockProblemKind::Hash(_)
            | LockProblemKind::Path(_)
            | LockProblemKind::Caller(_)
            | LockProblemKind::Twice(_)
            | LockProblemKind::Unpinned(_)
            | LockProblemKind::Inconsistent(_)
            | LockProblemKind::TooMany
            | LockProblemKind::TooLong => {
                "the file is made by `artel skill lock`: restore it, or remove it and lock the skills anew"
            }
        }
    }
}

/// The only part that every version of the file has.
#[derive(Deserialize)]
struct Head {
    version: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[expect(dead_code, reason = "`Head` reads it; here it is only no unknown field")]
    version: i64,
    names: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    skill: Vec<Spanned<SkillTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillTable {
    name: Spanned<String>,
    version: Spanned<String>,
    source: Spanned<String>,
    location: Spanned<String>,
    revision: Option<Spanned<String>>,
    content_hash: Spanned<String>,
    #[serde(default)]
    permissions: PermissionsTable,
    #[serde(default)]
    files: BTreeMap<String, Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PermissionsTable {
    #[serde(default)]
    network: bool,
    #[serde(default)]
    data_scope: Option<DataScope>,
    #[serde(default)]
    writes: Vec<Spanned<String>>,
    #[serde(default)]
    reads: Vec<Spanned<String>>,
    #[serde(default)]
    variables: Vec<Spanned<String>>,
    #[serde(default)]
    allowed_tools: Vec<Spanned<String>>,
    #[serde(default)]
    forbidden_tools: Vec<Spanned<String>>,
    #[serde(default)]
    uses: Vec<Spanned<String>>,
    #[serde(default)]
    called_by: Vec<Spanned<String>>,
    #[serde(default)]
    scripts: Vec<ScriptTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptTable {
    name: Spanned<String>,
    path: Spanned<String>,
    interpreter: Option<Spanned<String>>,
}

/// A problem and the byte it begins at.
type At<T> = Result<T, (usize, LockProblemKind)>;

impl LockFile {
    /// Reads the text of a lock file.
    pub fn parse(text: &str) -> Result<Self, LockProblem> {
        read(text).map_err(|(start, kind)| LockProblem { position: position(text, start), kind })
    }
}

fn read(text: &str) -> At<LockFile> {
    if let Some(start) = conflict(text) {
        return Err((start, LockProblemKind::Conflict));
    }
    let syntax = |error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        (start, LockProblemKind::Syntax(error.message().to_owned()))
    };
    let head: Head = toml::from_str(text).map_err(syntax)?;
    if *head.version.as_ref() != VERSION {
        return Err((head.version.span().start, LockProblemKind::Version(head.version.into_inner())));
    }
    let document: Document = toml::from_str(text).map_err(syntax)?;
    if let Some(beyond) = document.skill.get(LOCK_SKILLS_MAX) {
        return Err((beyond.span().start, LockProblemKind::TooMany));
    }
    let mut skills = BTreeMap::new();
    for table in document.skill {
        let start = table.span().start;
        let (pin, skill) = read_skill(table.into_inner())?;
        if skills.insert(pin.clone(), skill).is_some() {
            return Err((start, LockProblemKind::Twice(pin)));
        }
    }
    Ok(LockFile { scope: read_scope(document.names, &skills)?, skills })
}

fn read_scope(
    names: Option<Vec<Spanned<String>>>,
    skills: &BTreeMap<SkillPin, LockedSkill>,
) -> At<LockScope> {
    let Some(names) = names else { return Ok(LockScope::All) };
    let pinned: BTreeSet<&SkillName> = skills.keys().map(|pin| &pin.name).collect();
    let mut meant = BTreeSet::new();
    for text in &names {
        let name: SkillName = name(text)?;
        // Otherwise its loss could not be seen.
        if !pinned.contains(&name) {
            return Err((text.span().start, LockProblemKind::Unpinned(name)));
        }
        meant.insert(name);
    }
    Ok(LockScope::Named(meant))
}

fn read_skill(table: SkillTable) -> At<(SkillPin, LockedSkill)> {
    let version = parsed(&table.version, |_: <Version as FromStr>::Err| LockProblemKind::SkillVersion)?;
    let pin = SkillPin { name: name(&table.name)?, version };
    let origin = Origin {
        source: parsed(&table.source, LockProblemKind::Source)?,
        location: short(table.location)?,
        revision: table.revision.map(short).transpose()?,
    };
    let files = table.files.into_iter().map(read_file).collect::<At<BTreeMap<String, LockedFile>>>()?;
    let skill = LockedSkill { origin, permissions: read_permissions(table.permissions)?, files };
    let hash: ContentHash = parsed(&table.content_hash, LockProblemKind::Hash)?;
    if hash != skill.content_hash() {
        return Err((table.content_hash.span().start, LockProblemKind::Inconsistent(pin)));
    }
    Ok((pin, skill))
}

fn read_file((path, text): (String, Spanned<String>)) -> At<(String, LockedFile)> {
    let start = text.span().start;
    if !is_below(&path) {
        return Err((start, LockProblemKind::Path(path)));
    }
    let (hash, is_executable) = match text.as_ref().strip_suffix(EXECUTABLE) {
        Some(hash) => (hash, true),
        None => (text.as_ref().as_str(), false),
    };
    let hash = hash.parse().map_err(|error| (start, LockProblemKind::Hash(error)))?;
    Ok((path, LockedFile { hash, is_executable }))
}

fn is_below(path: &str) -> bool {
    let is_normal = |part| matches!(part, Utf8Component::Normal(_));
    !path.is_empty() && path.len() <= LOCK_TEXT_BYTES_MAX && Utf8Path::new(path).components().all(is_normal)
}

/// The texts of one list of permissions, and what each of them becomes.
type Texts = Vec<Spanned<String>>;
type Kind = fn(String) -> Permission;

fn read_permissions(table: PermissionsTable) -> At<BTreeSet<Permission>> {
    let mut all = BTreeSet::new();
    all.extend(table.network.then_some(Permission::Network));
    all.extend(table.data_scope.map(Permission::SharesData));
    let lists: [(Texts, Kind); 6] = [
        (table.writes, Permission::Writes),
        (table.reads, Permission::Reads),
        (table.variables, Permission::Sees),
        (table.allowed_tools, Permission::Allows),
        (table.forbidden_tools, Permission::Forbids),
        (table.uses, Permission::Uses),
    ];
    for (texts, permission) in lists {
        for text in texts {
            all.insert(permission(short(text)?));
        }
    }
    for caller in table.called_by {
        all.insert(match caller.as_ref().as_str() {
            "model" => Permission::CalledByModel,
            "user" => Permission::CalledByUser,
            _ => return Err((caller.span().start, LockProblemKind::Caller(short(caller)?))),
        });
    }
    for script in table.scripts {
        all.insert(Permission::Runs {
            name: short(script.name)?,
            path: short(script.path)?.into(),
            interpreter: script.interpreter.map(short).transpose()?,
        });
    }
    Ok(all)
}

fn name(text: &Spanned<String>) -> At<SkillName> {
    parsed(text, LockProblemKind::Name)
}

fn parsed<T: FromStr>(text: &Spanned<String>, problem: impl FnOnce(T::Err) -> LockProblemKind) -> At<T> {
    text.as_ref().parse().map_err(|error| (text.span().start, problem(error)))
}

fn short(text: Spanned<String>) -> At<String> {
    if text.as_ref().len() > LOCK_TEXT_BYTES_MAX {
        return Err((text.span().start, LockProblemKind::TooLong));
    }
    Ok(text.into_inner())
}

/// Returns where a conflict begins that a merge left. No line of ours can look like one.
fn conflict(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            return Some(start);
        }
        start += line.len();
    }
    None
}

/// Returns the line and column of a byte.
fn position(text: &str, start: usize) -> Position {
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: number(line), column: number(column) }
}

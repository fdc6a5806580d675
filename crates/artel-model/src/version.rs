//! Versions of skills, and what a dependency asks of them.

use std::fmt;
use std::str::FromStr;

use semver::{Comparator, Op, Prerelease};
pub use semver::{Version, VersionReq};
use serde::{Serialize, Serializer};

use crate::name::{NameError, SkillName};

/// A version as somebody wrote it, made semantic.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WrittenVersion {
    /// It was semantic already.
    Exact(Version),
    /// Numbers were missing or a `v` stood in front: `1.0` became `1.0.0`.
    Padded(Version),
}

impl WrittenVersion {
    /// Reads `text`, filling in missing numbers; `None` when it is no version at all.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(version) = text.parse() {
            return Some(Self::Exact(version));
        }
        let bare = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let digits_end = bare.find(['-', '+']).unwrap_or(bare.len());
        let (numbers, rest) = bare.split_at(digits_end);
        let missing = match numbers.split('.').count() {
            1 => ".0.0",
            2 => ".0",
            _ => "",
        };
        format!("{numbers}{missing}{rest}").parse().ok().map(Self::Padded)
    }

    /// Returns the version itself.
    pub fn into_version(self) -> Version {
        match self {
            Self::Exact(version) | Self::Padded(version) => version,
        }
    }
}

/// What a skill needs: another skill, and perhaps which versions of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dependency {
    /// The skill that is needed.
    pub name: SkillName,
    /// The versions that will do; any when there is no requirement.
    pub requirement: Option<VersionReq>,
}

/// Why a text is not a dependency.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub enum DependencyError {
    /// The part before `@` is no name.
    #[error("`{text}` does not start with a skill's name")]
    Name {
        /// The whole text.
        text: String,
        /// What is wrong with the name.
        source: NameError,
    },
    /// The part after `@` is no requirement.
    #[error("`{text}` has no version requirement after `@`: write for example `@^1.2` or `@>=1, <3`")]
    Requirement {
        /// The whole text.
        text: String,
    },
}

impl Dependency {
    /// Says whether `version` will do. A pre-release only does when the requirement names one of that version.
    pub fn accepts(&self, version: &Version) -> bool {
        self.requirement.as_ref().is_none_or(|requirement| requirement.matches(version))
    }
}

impl FromStr for Dependency {
    type Err = DependencyError;

    fn from_str(text: &str) -> Result<Self, DependencyError> {
        let (name, requirement) = match text.split_once('@') {
            Some((name, requirement)) => (name, Some(requirement)),
            None => (text, None),
        };
        let name =
            name.trim().parse().map_err(|source| DependencyError::Name { text: text.to_owned(), source })?;
        let requirement = requirement
            .map(|requirement| {
                parse_requirement(requirement)
                    .ok_or_else(|| DependencyError::Requirement { text: text.to_owned() })
            })
            .transpose()?;
        Ok(Self { name, requirement })
    }
}

/// A bare version means exactly that version, as the reader expects of `name@1.2.3`.
fn parse_requirement(text: &str) -> Option<VersionReq> {
    let text = text.trim();
    if let Ok(version) = text.parse::<Version>() {
        let pre: Prerelease = version.pre;
        let exact = Comparator {
            op: Op::Exact,
            major: version.major,
            minor: Some(version.minor),
            patch: Some(version.patch),
            pre,
        };
        return Some(VersionReq { comparators: vec![exact] });
    }
    if text.is_empty() { None } else { text.parse().ok() }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.requirement {
            Some(requirement) => write!(f, "{}@{requirement}", self.name),
            None => self.name.fmt(f),
        }
    }
}

impl Serialize for Dependency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_version(text: &str, expected: Option<&str>) {
        let actual = WrittenVersion::parse(text).map(|version| match version {
            WrittenVersion::Exact(version) => version.to_string(),
            WrittenVersion::Padded(version) => format!("padded {version}"),
        });
        assert_eq!(actual.as_deref(), expected, "{text}");
    }

    #[test]
    fn versions_are_padded() {
        check_version("1.2.3", Some("1.2.3"));
        check_version("1.2.3-beta.1", Some("1.2.3-beta.1"));
        check_version("1", Some("padded 1.0.0"));
        check_version("1.0", Some("padded 1.0.0"));
        check_version("v2", Some("padded 2.0.0"));
        check_version("1.2-rc.1", Some("padded 1.2.0-rc.1"));
        check_version("v1.2.3", Some("padded 1.2.3"));
        check_version("", None);
        check_version("abc", None);
        check_version("1.2.3.4", None);
        check_version("01.2.3", None);
    }

    #[track_caller]
    fn check(text: &str, version: &str, expected: bool) {
        let dependency: Dependency = text.parse().unwrap();
        assert_eq!(dependency.accepts(&version.parse().unwrap()), expected, "{text} and {version}");
    }

    #[test]
    fn requirements_choose_versions() {
        check("a", "0.0.1", true);
        check("a@^1.2", "1.9.0", true);
        check("a@^1.2", "2.0.0", false);
        check("a@>=1, <3", "2.5.0", true);
        check("a@1.2.3", "1.2.3", true);
        check("a@1.2.3", "1.2.4", false);
        check("a@1.2.3-rc.1", "1.2.3-rc.1", true);
        check("a@^1", "1.5.0-rc.1", false);
    }

    #[test]
    fn malformed_dependencies_are_refused() {
        for bad in ["", "@1", "a@", "a@@1", "a@y", "A", "a b"] {
            assert!(bad.parse::<Dependency>().is_err(), "{bad}");
        }
    }
}

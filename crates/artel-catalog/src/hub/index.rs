//! The index of skills that a site publishes at a well-known address: Agent Skills discovery, version 0.2.0.
//!
//! Pure: which addresses the index leads to is decided by who fetches.

use std::collections::BTreeSet;

use artel_model::limit::HUB_INDEX_SKILLS_MAX;
use artel_model::name::SkillName;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::notes::Notes;
use super::path::shown;
use super::reference::Revision;

/// Where the index is, below a site.
pub const INDEX_PATH: &str = "/.well-known/agent-skills/index.json";
/// How an index says which rules it follows.
pub(super) const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// Characters of an address in an index.
const URL_CHARS_MAX: usize = 2000;

/// The index of a site.
#[derive(Clone, Debug)]
pub struct SkillIndex {
    /// The skills, in the order of the index.
    pub skills: Vec<IndexedSkill>,
    pub(crate) notes: Notes,
    digest: [u8; 32],
}

/// One skill of an index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedSkill {
    /// Its name.
    pub name: SkillName,
    /// What is behind its address.
    pub kind: IndexedKind,
    /// Where it is: an address, relative to that of the index.
    pub url: String,
    /// The SHA-256 of what is there.
    digest: [u8; 32],
}

/// What is behind an address of an index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IndexedKind {
    /// A `SKILL.md`.
    SkillMd,
    /// An archive with a `SKILL.md` at its top.
    Archive,
}

/// Why an index cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum IndexProblem {
    /// It is no JSON object with a list of skills.
    #[error("the site's index of skills is not what it should be")]
    Shape(#[source] serde_json::Error),
    /// It follows other rules.
    #[error("the site's index of skills is of another version; its `$schema` should be `{SCHEMA}`")]
    Version,
}

/// An index as it is written. What else it says is not for us.
#[derive(Deserialize)]
struct RawIndex {
    #[serde(rename = "$schema", default)]
    schema: Option<String>,
    skills: Vec<Value>,
}

#[derive(Deserialize)]
struct RawSkill {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    url: String,
    digest: String,
}

impl SkillIndex {
    /// Parses an index. An entry that cannot be used is skipped, and that is said.
    pub fn parse(bytes: &[u8]) -> Result<Self, IndexProblem> {
        let raw: RawIndex = serde_json::from_slice(bytes).map_err(IndexProblem::Shape)?;
        if raw.schema.as_deref() != Some(SCHEMA) {
            return Err(IndexProblem::Version);
        }
        let digest = Sha256::digest(bytes).into();
        let mut index = Self { skills: Vec::new(), notes: Notes::default(), digest };
        let mut names = BTreeSet::new();
        if raw.skills.len() > HUB_INDEX_SKILLS_MAX {
            let count = raw.skills.len();
            index.notes.warn(&format!("the index has {count} skills; {HUB_INDEX_SKILLS_MAX} are looked at"));
        }
        for raw in raw.skills.into_iter().take(HUB_INDEX_SKILLS_MAX) {
            let name = shown(raw.get("name").and_then(Value::as_str).unwrap_or("?").as_bytes());
            match indexed(raw) {
                Err(reason) => {
                    index.notes.warn(&format!("the skill `{name}` of the index is skipped: {reason}"))
                }
                Ok(skill) if names.contains(&skill.name) => {
                    index
                        .notes
                        .warn(&format!("the skill `{name}` is in the index twice; the first one is taken"));
                }
                Ok(skill) => {
                    names.insert(skill.name.clone());
                    index.skills.push(skill);
                }
            }
        }
        Ok(index)
    }

    /// Names the content that the index leads to.
    pub fn revision(&self) -> Revision {
        Revision::of_digest(self.digest)
    }

    /// Names the content without the skills that could not be had. It is another name than that of the whole, so that
    /// the next look at the site tries them again.
    pub fn revision_without(&self, missing: &[SkillName]) -> Revision {
        if missing.is_empty() {
            return self.revision();
        }
        let mut hash = Sha256::new();
        hash.update(self.digest);
        for name in missing {
            hash.update(name.as_str());
            hash.update([0]);
        }
        Revision::of_digest(hash.finalize().into())
    }
}

impl IndexedSkill {
    /// Says whether these are the bytes that the index speaks of.
    pub fn is_digest_of(&self, bytes: &[u8]) -> bool {
        <[u8; 32]>::from(Sha256::digest(bytes)) == self.digest
    }
}

fn indexed(raw: Value) -> Result<IndexedSkill, String> {
    let raw: RawSkill = serde_json::from_value(raw).map_err(|error| error.to_string())?;
    let name: SkillName = raw.name.parse().map_err(|error| format!("{error}"))?;
    let kind = match raw.kind.as_str() {
        "skill-md" => IndexedKind::SkillMd,
        "archive" => IndexedKind::Archive,
        _ => return Err("its type is neither `skill-md` nor `archive`".to_owned()),
    };
    let digest = digest(&raw.digest).ok_or("its digest is not `sha256:` and 64 hexadecimal digits")?;
    if raw.url.is_empty() || raw.url.chars().count() > URL_CHARS_MAX {
        return Err("its address is empty or too long".to_owned());
    }
    Ok(IndexedSkill { name, kind, url: raw.url, digest })
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?.as_bytes();
    let mut digest = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits.chunks(2)) {
        let value = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(name: &str) -> Value {
        let digest = format!("sha256:{}", "ab".repeat(32));
        json!({"name": name, "type": "skill-md", "description": "d", "url": "a/SKILL.md", "digest": digest})
    }

    fn parse(schema: &str, skills: Value) -> Result<SkillIndex, IndexProblem> {
        SkillIndex::parse(json!({"$schema": schema, "skills": skills, "other": 1}).to_string().as_bytes())
    }

    #[test]
    fn entries_that_cannot_be_used_hide_no_others() {
        let with = |field: &str, value: Value| {
            let mut entry = entry("b");
            entry[field] = value;
            entry
        };
        let index = parse(
            SCHEMA,
            json!([
                entry("a"),
                entry("a"),
                with("name", json!("../b")),
                with("type", json!("program")),
                with("digest", json!("sha256:ab")),
                with("digest", json!(format!("sha256:{}", "zz".repeat(32)))),
                with("url", json!("")),
                with("url", json!(7)),
                "b",
                with("type", json!("archive")),
            ]),
        );
        let index = index.unwrap();
        let names: Vec<&str> = index.skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(index.skills[1].kind, IndexedKind::Archive);
        assert_eq!(index.notes.finish().0.len(), 8);
    }

    #[test]
    fn an_index_of_another_version_is_refused() {
        assert!(matches!(parse("https://example.com/1.0.0", json!([])), Err(IndexProblem::Version)));
        assert!(matches!(SkillIndex::parse(b"{\"skills\": []}"), Err(IndexProblem::Version)));
        assert!(matches!(SkillIndex::parse(b"<html>"), Err(IndexProblem::Shape(_))));
        assert!(matches!(SkillIndex::parse(b"{\"$schema\": 1}"), Err(IndexProblem::Shape(_))));
    }

    #[test]
    fn an_incomplete_content_has_a_name_of_its_own() {
        let index = parse(SCHEMA, json!([entry("a")])).unwrap();
        assert_eq!(index.revision_without(&[]), index.revision());
        assert_ne!(index.revision_without(&["a".parse().unwrap()]), index.revision());
    }
}

//! What a change is meant for: the tags in `If-Match`, compared as RFC 9110 says. Knows nothing of what is changed.
//!
//! The tag of a saved skill is its revision and a digest of everything that is shown of it, like `"3-0f1e2d3c..."`. A
//! change replaces a revision, so the revision decides; what a scanner says in between makes no tag old.

use crate::error::OperationError;

/// Characters of the digest in a tag: enough that two states of one revision differ.
const DIGEST_CHARS: usize = 32;

/// The states that a change may replace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum IfMatch {
    /// Whatever is there.
    Any,
    /// One with such a tag.
    Tags(Vec<String>),
}

impl IfMatch {
    /// Reads the condition of a request: the values of its `If-Match` headers, none of them for one that is no text.
    pub fn read<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Result<Self, OperationError> {
        let (mut tags, mut is_there) = (Vec::new(), false);
        for value in values {
            is_there = true;
            let text = value.ok_or_else(invalid)?.trim();
            if text == "*" {
                return Ok(Self::Any);
            }
            for tag in text.split(',').map(str::trim) {
                tags.extend(strong(tag)?.map(str::to_owned));
            }
        }
        Ok(if is_there { Self::Tags(tags) } else { Self::Any })
    }

    /// Says whether a saved skill of that revision may be replaced.
    pub fn allows_revision(&self, revision: u64) -> bool {
        let is_it = |tag: &String| tag.split('-').next().and_then(|text| text.parse().ok()) == Some(revision);
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(is_it),
        }
    }

    /// Says whether something with that very tag is named.
    pub fn names(&self, tag: &str) -> bool {
        match self {
            Self::Any => false,
            Self::Tags(tags) => tags.iter().any(|one| one == tag),
        }
    }
}

/// Returns the tag of a saved skill.
pub fn saved_tag(revision: u64, digest: &str) -> String {
    format!("{revision}-{}", digest.get(..DIGEST_CHARS).unwrap_or(digest))
}

/// Returns what stands between the quotes; nothing for a weak tag, which never matches here.
fn strong(tag: &str) -> Result<Option<&str>, OperationError> {
    let (is_weak, quoted) = tag.strip_prefix("W/").map_or((false, tag), |quoted| (true, quoted));
    let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = text.filter(|text| !text.contains('"')).ok_or_else(invalid)?;
    Ok((!is_weak).then_some(text))
}

fn invalid() -> OperationError {
    let message = "`If-Match` is the `ETag` of the skill as GET answers it, in double quotes, or `*`";
    OperationError::bad_request("invalid_if_match", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<IfMatch, OperationError> {
        IfMatch::read(values.iter().map(|value| Some(*value)))
    }

    #[track_caller]
    fn check(values: &[&str], revision: u64, expected: bool) {
        assert_eq!(read(values).unwrap().allows_revision(revision), expected, "{values:?}");
    }

    #[test]
    fn the_revision_in_a_strong_tag_decides() {
        check(&[], 3, true);
        check(&["*"], 3, true);
        check(&["\"3-0f1e2d3c4b5a6978\""], 3, true);
        check(&["\"3\""], 3, true);
        check(&["\"2-0f1e2d3c4b5a6978\""], 3, false);
        check(&["\"2-aa\", \"3-bb\""], 3, true);
        check(&["\"2-aa\"", "\"3-bb\""], 3, true);
        check(&["W/\"3-aa\""], 3, false);
        check(&["\"\""], 3, false);
        check(&["\"odd\""], 3, false);
        check(&["\"33\""], 3, false);
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for wrong in ["3", "odd", "\"3", "3\"", "\"3\",", "\"a\"b\"", "W/3", ""] {
            let refused = read(&[wrong]).unwrap_err();
            assert_eq!(refused.code, "invalid_if_match", "{wrong}");
        }
    }

    #[test]
    fn a_tag_changes_with_the_revision_and_the_digest() {
        let digest = "0f1e2d3c4b5a6978".repeat(4);
        assert_eq!(saved_tag(3, &digest), format!("3-{}", &digest[..32]));
        assert!(read(&["\"abc\""]).unwrap().names("abc"));
        assert!(!read(&["W/\"abc\""]).unwrap().names("abc") && !read(&[]).unwrap().names("abc"));
    }
}

//! Text with `*` for any run of characters: matching, covering and exact intersection.

use std::collections::BTreeSet;
use std::fmt;

/// A text in which `*` stands for any run of characters, also none.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Glob(String);

impl Glob {
    /// Makes a glob of `text`; neighbouring stars are folded into one.
    pub fn new(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        for character in text.chars() {
            if character != '*' || !folded.ends_with('*') {
                folded.push(character);
            }
        }
        Self(folded)
    }

    /// Returns the glob as written, stars folded.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether there is no star: the glob matches one text only.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// Says whether `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        run_matches(self.0.as_bytes(), text.as_bytes(), StarInText::Literal, u8::eq)
    }

    /// Says whether `text` matches when upper and lower case are the same.
    pub fn matches_any_case(&self, text: &str) -> bool {
        run_matches(self.0.as_bytes(), text.as_bytes(), StarInText::Literal, u8::eq_ignore_ascii_case)
    }

    /// Says whether every text that matches `other` matches this glob too.
    pub fn covers(&self, other: &Self) -> bool {
        run_matches(self.0.as_bytes(), other.0.as_bytes(), StarInText::OnlyStar, u8::eq)
    }

    /// Says the same when upper and lower case are the same.
    pub fn covers_any_case(&self, other: &Self) -> bool {
        run_matches(self.0.as_bytes(), other.0.as_bytes(), StarInText::OnlyStar, u8::eq_ignore_ascii_case)
    }

    /// Returns what stands before the first star.
    pub(super) fn head(&self) -> &str {
        self.0.split_once('*').map_or(&self.0, |(head, _)| head)
    }

    /// Returns globs that together match exactly the texts that both globs match, at most `count_max` of them; where
    /// there would be more, the rest is left out, so the result is never too wide.
    pub fn intersect(&self, other: &Self, count_max: usize) -> Vec<Self> {
        if self.covers(other) {
            return vec![other.clone()];
        }
        if other.covers(self) {
            return vec![self.clone()];
        }
        let suffixes = common_suffixes(self.0.as_bytes(), other.0.as_bytes(), count_max);
        let texts: Vec<Self> =
            suffixes.iter().filter_map(|bytes| std::str::from_utf8(bytes).ok().map(Self::new)).collect();
        widest(texts)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a star in the matched text counts.
#[derive(Clone, Copy, Eq, PartialEq)]
enum StarInText {
    /// As the character it is.
    Literal,
    /// As something only a star can match, which makes matching a test for covering.
    OnlyStar,
}

/// Greedy matching with one point to come back to: linear in practice, never exponential.
fn run_matches(glob: &[u8], text: &[u8], star: StarInText, same: fn(&u8, &u8) -> bool) -> bool {
    let (mut at_glob, mut at_text) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at_text < text.len() {
        let text_is_star = star == StarInText::OnlyStar && text[at_text] == b'*';
        if at_glob < glob.len() && glob[at_glob] == b'*' {
            retry = Some((at_glob, at_text));
            at_glob += 1;
        } else if at_glob < glob.len() && same(&glob[at_glob], &text[at_text]) && !text_is_star {
            at_glob += 1;
            at_text += 1;
        } else if let Some((star_at, text_at)) = retry {
            retry = Some((star_at, text_at + 1));
            at_glob = star_at + 1;
            at_text = text_at + 1;
        } else {
            return false;
        }
    }
    glob[at_glob..].iter().all(|&byte| byte == b'*')
}

/// Returns what both globs match, as globs. Filled from the ends, by how much of each is left; only the row that is
/// being filled and the one before it are kept.
fn common_suffixes(left: &[u8], right: &[u8], count_max: usize) -> BTreeSet<Vec<u8>> {
    let mut below: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); right.len() + 2];
    for at_left in (0..=left.len()).rev() {
        let mut row: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); right.len() + 2];
        for at_right in (0..=right.len()).rev() {
            let neighbours = Neighbours {
                below: &below[at_right],
                beside: &row[at_right + 1],
                diagonal: &below[at_right + 1],
            };
            let found = neighbours.cell(left.get(at_left), right.get(at_right));
            row[at_right] = found.into_iter().take(count_max).collect();
        }
        below = row;
    }
    below.swap_remove(0)
}

/// What is left to match after a step in the left glob, in the right one, or in both.
struct Neighbours<'a> {
    below: &'a BTreeSet<Vec<u8>>,
    beside: &'a BTreeSet<Vec<u8>>,
    diagonal: &'a BTreeSet<Vec<u8>>,
}

impl Neighbours<'_> {
    fn cell(&self, left: Option<&u8>, right: Option<&u8>) -> BTreeSet<Vec<u8>> {
        match (left, right) {
            (None, None) => BTreeSet::from([Vec::new()]),
            (Some(b'*'), Some(b'*')) => {
                self.below.union(self.beside).map(|suffix| prepend(b'*', suffix)).collect()
            }
            // A star facing a plain character (or the end) ends here, or takes the character and goes on.
            (Some(b'*'), next) => with_taken(self.below, next, self.beside),
            (next, Some(b'*')) => with_taken(self.beside, next, self.below),
            (Some(a), Some(b)) if a == b => self.diagonal.iter().map(|suffix| prepend(*a, suffix)).collect(),
            (Some(_), Some(_) | None) | (None, Some(_)) => BTreeSet::new(),
        }
    }
}

fn with_taken(
    ending: &BTreeSet<Vec<u8>>,
    next: Option<&u8>,
    taking: &BTreeSet<Vec<u8>>,
) -> BTreeSet<Vec<u8>> {
    let taken = next.map(|byte| taking.iter().map(move |suffix| prepend(*byte, suffix)));
    ending.iter().cloned().chain(taken.into_iter().flatten()).collect()
}

fn prepend(byte: u8, suffix: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(suffix.len() + 1);
    if byte != b'*' || suffix.first() != Some(&b'*') {
        text.push(byte);
    }
    text.extend_from_slice(suffix);
    text
}

/// Drops every glob that another one covers.
fn widest(mut globs: Vec<Glob>) -> Vec<Glob> {
    globs.sort();
    globs.dedup();
    let all = globs.clone();
    globs.retain(|glob| !all.iter().any(|other| other != glob && other.covers(glob)));
    globs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::new(text)
    }

    #[test]
    fn stars_match_any_run() {
        assert!(glob("entity.create_*").matches("entity.create_point"));
        assert!(glob("entity.create_*").matches("entity.create_"));
        assert!(!glob("entity.create_*").matches("entity.created"));
        assert!(glob("*.list").matches("entity.list"));
        assert!(glob("a*b*c").matches("aXbYbZc"));
        assert!(!glob("a*b*c").matches("aXbY"));
        assert!(glob("*").matches(""));
        assert!(!glob("").matches("a"));
    }

    #[test]
    fn covering_is_containment() {
        assert!(glob("a*").covers(&glob("ab*")));
        assert!(!glob("ab*").covers(&glob("a*")));
        assert!(glob("*").covers(&glob("*x*")));
        assert!(!glob("*x*").covers(&glob("*")));
        assert!(glob("a*c").covers(&glob("abc")));
    }

    #[test]
    fn intersections_are_exact() {
        let names = |a: &str, b: &str| {
            glob(a).intersect(&glob(b), 64).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("ab*", "*bc"), ["ab*bc", "abc"]);
        assert_eq!(names("a*", "*b"), ["a*b"]);
        assert_eq!(names("a*", "b*"), [""; 0]);
        assert_eq!(names("a*", "ab"), ["ab"]);
        assert_eq!(names("*a*", "*b*"), ["*a*b*", "*b*a*"]);
    }

    proptest! {
        #[test]
        fn a_text_is_in_the_intersection_if_it_is_in_both(
            a in "[ab*]{0,6}", b in "[ab*]{0,6}", text in "[ab]{0,8}",
        ) {
            let (a, b) = (glob(&a), glob(&b));
            let both = a.matches(&text) && b.matches(&text);
            prop_assert_eq!(a.intersect(&b, 1000).iter().any(|glob| glob.matches(&text)), both);
        }

        #[test]
        fn a_bounded_intersection_is_never_too_wide(
            a in "[ab*]{0,8}", b in "[ab*]{0,8}", text in "[ab]{0,8}", count_max in 0_usize..4,
        ) {
            let (a, b) = (glob(&a), glob(&b));
            if a.intersect(&b, count_max).iter().any(|glob| glob.matches(&text)) {
                prop_assert!(a.matches(&text) && b.matches(&text));
            }
        }

        #[test]
        fn what_is_covered_matches(a in "[ab*]{0,6}", b in "[ab*]{0,6}", text in "[ab]{0,8}") {
            let (a, b) = (glob(&a), glob(&b));
            if a.covers(&b) && b.matches(&text) {
                prop_assert!(a.matches(&text));
            }
        }
    }
}

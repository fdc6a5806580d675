//! What git writes, read strictly. Pure.

use artel_catalog::hub::{EntryKind, GitReference, Revision};

/// A branch or a tag that a repository has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct RemoteReference {
    pub(super) commit: Revision,
    pub(super) name: String,
}

/// An entry of a commit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TreeLine<'a> {
    pub(super) kind: EntryKind,
    pub(super) object: &'a str,
    pub(super) path: &'a [u8],
}

/// Returns the full names that a reference may have, the best first.
pub(super) fn candidates(reference: Option<&GitReference>) -> Vec<String> {
    match reference.map(GitReference::as_str) {
        None => vec!["HEAD".to_owned()],
        Some(full) if full.starts_with("refs/") => vec![full.to_owned()],
        Some(name) => vec![format!("refs/heads/{name}"), format!("refs/tags/{name}")],
    }
}

/// Finds the best of the candidates in what `git ls-remote` wrote. A tag that is an object of its own is followed by the
/// commit that it names; only that one tells whether something changed.
pub(super) fn find_reference(output: &[u8], candidates: &[String]) -> Option<RemoteReference> {
    let text = std::str::from_utf8(output).ok()?;
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let commit_of = |name: &str| lines.iter().find(|(_, found)| *found == name).map(|(commit, _)| *commit);
    candidates.iter().find_map(|name| {
        let commit = commit_of(&format!("{name}^{{}}")).or_else(|| commit_of(name))?;
        Some(RemoteReference { commit: commit.parse().ok()?, name: name.clone() })
    })
}

/// Reads one entry of `git ls-tree -r -z --long`: mode, kind, object, size, tab, path.
pub(super) fn tree_line(line: &[u8]) -> Option<TreeLine<'_>> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split_ascii_whitespace();
    let (mode, _, object, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    object.parse::<Revision>().ok()?;
    let kind = match mode {
        "100644" | "100664" => EntryKind::File { size: size.parse().ok()?, is_executable: false },
        "100755" => EntryKind::File { size: size.parse().ok()?, is_executable: true },
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        "040000" => EntryKind::Folder,
        _ => EntryKind::Special,
    };
    Some(TreeLine { kind, object, path: &line[tab + 1..] })
}

/// Reads the line in front of an object of `git cat-file --batch`: the object, its kind, its size.
pub(super) fn object_size(line: &[u8], object: &str) -> Option<u64> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let is_it = words.next() == Some(object) && words.next() == Some("blob");
    words.next().filter(|_| is_it)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_come_before_tags_and_tags_name_their_commit() {
        let id = |digit: &str| digit.repeat(40);
        let output = format!(
            "{}\trefs/tags/v1\n{}\trefs/tags/v1^{{}}\n{}\trefs/heads/x/refs/heads/main\n{}\trefs/heads/main\n",
            id("a"),
            id("b"),
            id("c"),
            id("d")
        );
        let find = |reference: &str| {
            let found = candidates(Some(&reference.parse().unwrap()));
            find_reference(output.as_bytes(), &found).map(|found| (found.commit.to_string(), found.name))
        };
        assert_eq!(find("main"), Some((id("d"), "refs/heads/main".to_owned())));
        assert_eq!(find("v1"), Some((id("b"), "refs/tags/v1".to_owned())));
        assert_eq!(find("refs/tags/v1"), Some((id("b"), "refs/tags/v1".to_owned())));
        assert_eq!(find("v2"), None);
        assert_eq!(candidates(None), ["HEAD"]);
        assert_eq!(find_reference(b"nonsense\tHEAD\n", &candidates(None)), None);
    }

    #[test]
    fn entries_of_a_commit_are_read() {
        let object = "0123456789abcdef0123456789abcdef01234567";
        let kind = |line: &str| tree_line(line.as_bytes()).map(|line| line.kind);
        let file = |size, is_executable| Some(EntryKind::File { size, is_executable });
        assert_eq!(kind(&format!("100644 blob {object}      12\ta b\t\n")), file(12, false));
        assert_eq!(kind(&format!("100755 blob {object}       0\ta")), file(0, true));
        assert_eq!(kind(&format!("120000 blob {object}       3\ta")), Some(EntryKind::Link));
        assert_eq!(kind(&format!("160000 commit {object}       -\ta")), Some(EntryKind::Submodule));
        assert_eq!(kind("100644 blob xyz 1\ta"), None);
        assert_eq!(kind(&format!("100644 blob {object} -\ta")), None);
        assert_eq!(kind("no tab"), None);
        assert_eq!(object_size(format!("{object} blob 7").as_bytes(), object), Some(7));
        assert_eq!(object_size(format!("{object} missing").as_bytes(), object), None);
    }
}

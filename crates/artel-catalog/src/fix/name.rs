//! The skill's name: which one was certainly meant, and how to write it into a file.

use artel_model::diagnostic::Position;
use artel_model::name::SkillName;

use super::change::Obstacle;
use crate::document::{Node, NodeKind};

/// A name as a file gives it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct WrittenName {
    pub(super) text: String,
    /// Where the value starts.
    pub(super) position: Position,
}

/// Returns the name that the files of a skill mean; nothing when they give none.
pub(super) fn meant_name(
    skill_md: Option<&WrittenName>,
    manifest: Option<&WrittenName>,
) -> Result<Option<SkillName>, Obstacle> {
    let meant =
        |name: &WrittenName| meaning(&name.text).ok_or_else(|| Obstacle::NameUnclear(name.text.clone()));
    let names = (skill_md.map(meant).transpose()?, manifest.map(meant).transpose()?);
    match names {
        (Some(one), Some(other)) if one != other => {
            Err(Obstacle::NamesDiffer { skill_md: one.to_string(), manifest: other.to_string() })
        }
        (Some(name), _) | (None, Some(name)) => Ok(Some(name)),
        (None, None) => Ok(None),
    }
}

/// A name with other capitals, or with spaces or underscores for hyphens, can only mean one thing.
fn meaning(written: &str) -> Option<SkillName> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-');
    let letters = |text: &str| text.replace([' ', '_', '-'], "").to_ascii_lowercase();
    let written = written.trim();
    SkillName::slug(written)
        .filter(|slug| written.chars().all(is_plain) && letters(slug.as_str()) == letters(written))
}

/// Writes `name` into the text of a file in place of what stands there, in the same kind of quotes.
pub(super) fn write_name(text: &str, written: &WrittenName, name: &SkillName) -> Option<String> {
    // The value of a block ends with a line's end that is not part of the name.
    let start = offset(text, written.position).filter(|_| !written.text.contains('\n'))?;
    let (before, rest) = text.split_at(start);
    let quote = ["\"", "'", ""].into_iter().find(|quote| rest.starts_with(quote))?;
    let after = rest.strip_prefix(quote)?.strip_prefix(written.text.as_str())?.strip_prefix(quote)?;
    let plain = Node { position: Position::START, kind: NodeKind::Plain(name.to_string()) };
    let quote = if quote.is_empty() && !plain.to_value().is_string() { "\"" } else { quote };
    Some(format!("{before}{quote}{name}{quote}{after}"))
}

/// Returns the byte at which a place lies.
fn offset(text: &str, position: Position) -> Option<usize> {
    let before: usize = text.split_inclusive('\n').take(position.line as usize - 1).map(str::len).sum();
    let line = text.get(before..)?.lines().next()?;
    let (inside, _) = line.char_indices().nth(position.column as usize - 1)?;
    Some(before + inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::lines::parse;

    fn written(text: &str) -> WrittenName {
        WrittenName { text: text.to_owned(), position: Position::START }
    }

    #[track_caller]
    fn check_meaning(written: &str, expected: Option<&str>) {
        assert_eq!(meaning(written).as_ref().map(SkillName::as_str), expected, "{written}");
    }

    #[test]
    fn a_name_is_only_changed_when_it_can_mean_one_thing() {
        check_meaning("demo", Some("demo"));
        check_meaning(" My Cool_Skill ", Some("my-cool-skill"));
        check_meaning("a--b", Some("a-b"));
        check_meaning("-a_", Some("a"));
        check_meaning("PDF2Text", Some("pdf2text"));
        check_meaning("caf\u{e9}", None);
        check_meaning("what's", None);
        check_meaning("a/b", None);
        check_meaning("demo!", None);
        check_meaning("___", None);
        check_meaning("", None);
        check_meaning(&"A".repeat(65), None);
        check_meaning(&"A".repeat(64), Some(&"a".repeat(64)));
    }

    #[test]
    fn two_files_must_mean_the_same() {
        let (capital, plain, other, bad) = (written("Demo"), written("demo"), written("other"), written("?"));
        let demo: SkillName = "demo".parse().unwrap();
        assert_eq!(meant_name(Some(&capital), Some(&plain)), Ok(Some(demo.clone())));
        assert_eq!(meant_name(None, Some(&capital)), Ok(Some(demo)));
        assert_eq!(meant_name(None, None), Ok(None));
        assert_eq!(
            meant_name(Some(&capital), Some(&other)),
            Err(Obstacle::NamesDiffer { skill_md: "demo".to_owned(), manifest: "other".to_owned() })
        );
        assert_eq!(meant_name(Some(&plain), Some(&bad)), Err(Obstacle::NameUnclear("?".to_owned())));
    }

    #[track_caller]
    fn check_write(yaml: &str, expected: Option<&str>) {
        let node = parse(yaml).unwrap();
        let NodeKind::Mapping(entries) = &node.kind else { panic!("{yaml}") };
        let value = &entries.iter().find(|(key, _)| key.text == "name").unwrap().1;
        let written = WrittenName { text: value.scalar().unwrap().to_owned(), position: value.position };
        let name = meaning(&written.text).unwrap();
        assert_eq!(write_name(yaml, &written, &name).as_deref(), expected);
    }

    #[test]
    fn a_name_is_replaced_where_it_stands() {
        check_write("name: My Skill\n", Some("name: my-skill\n"));
        check_write("name: My Skill # ours\r\na: 1\r\n", Some("name: my-skill # ours\r\na: 1\r\n"));
        check_write("a: \u{e9}\n\"name\":   'My_Skill'\n", Some("a: \u{e9}\n\"name\":   'my-skill'\n"));
        check_write("{\"\u{e9}\": 1, \"name\":\"Demo\"}", Some("{\"\u{e9}\": 1, \"name\":\"demo\"}"));
        check_write("name: NULL_\n", Some("name: \"null\"\n"));
        check_write("name: _12\n", Some("name: \"12\"\n"));
        check_write("name: \"TRUE\"\n", Some("name: \"true\"\n"));
    }

    #[test]
    fn a_name_in_another_form_is_left() {
        check_write("name: >\n  Demo\n", None);
        check_write("name: My\n  Skill\n", None);
        check_write("name: \"\\x44emo\"\n", None);
    }
}

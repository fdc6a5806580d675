//! Takes Markdown apart: what is said, what is hidden in comments, and what is code. Judges nothing.

/// A part of a Markdown text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Part<'a> {
    pub(super) kind: PartKind,
    pub(super) text: &'a str,
    /// Lines above it.
    pub(super) row: u32,
    /// What is said right above it: its heading and the line before.
    pub(super) above: String,
}

/// What a part of a Markdown text is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum PartKind {
    /// A block of code, with the word for its language.
    Block(String),
    /// Code within a line.
    Inline,
    /// A comment, which a page does not show.
    Comment,
}

/// Bytes of a line above code that are kept.
const ABOVE_BYTES_MAX: usize = 400;

/// Returns the code and the comments of a Markdown text.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = comments(text);
    let mut heading = String::new();
    let mut before = String::new();
    let mut open: Option<(usize, usize, char, String, u32)> = None;
    let mut offset = 0;
    for (row, line) in (0u32..).zip(text.split_inclusive('\n')) {
        let trimmed = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let start = offset;
        offset += line.len();
        if let Some((begin, width, mark, word, first)) = &open {
            let closes = trimmed.len() >= *width && trimmed.chars().all(|c| c == *mark);
            if closes {
                let above = format!("{heading}\n{before}");
                let kind = PartKind::Block(word.clone());
                parts.push(Part { kind, text: &text[*begin..start], row: *first, above });
                open = None;
            }
            continue;
        }
        if let Some((width, mark, word)) = fence(trimmed) {
            open = Some((offset, width, mark, word, row + 1));
            continue;
        }
        if trimmed.starts_with('#') {
            heading = head(trimmed).to_owned();
            before.clear();
        } else if !trimmed.is_empty() {
            before = head(trimmed).to_owned();
        }
        inline(line, row, &heading, &mut parts);
    }
    if let Some((begin, _, _, word, first)) = open {
        let above = format!("{heading}\n{before}");
        parts.push(Part { kind: PartKind::Block(word), text: &text[begin..], row: first, above });
    }
    parts
}

/// Returns the beginning of a line: what is said above code is short.
fn head(line: &str) -> &str {
    &line[..super::text::floor(line, line.len().min(ABOVE_BYTES_MAX))]
}

/// Returns the width, the character and the language of a line that opens a block.
fn fence(line: &str) -> Option<(usize, char, String)> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '.' | ' '));
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let width = line.chars().take_while(|c| *c == mark).count();
    let info = line[width..].trim();
    if width < 3 || (mark == '`' && info.contains('`')) {
        return None;
    }
    let word =
        info.trim_start_matches(['{', '.']).split([' ', '{', '}', ',', ':']).next().unwrap_or_default();
    Some((width, mark, word.to_ascii_lowercase()))
}

fn inline<'a>(line: &'a str, row: u32, heading: &str, parts: &mut Vec<Part<'a>>) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let width = rest[start..].bytes().take_while(|byte| *byte == b'`').count();
        let inside = &rest[start + width..];
        let Some(end) = inside.find(&"`".repeat(width)) else { return };
        let above = format!("{heading}\n{}", head(line));
        parts.push(Part { kind: PartKind::Inline, text: &inside[..end], row, above });
        rest = inside[end..].trim_start_matches('`');
    }
}

fn comments(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    for (open, close) in
        [("<!--", "-->"), ("[//]: # (", ")\n"), ("[comment]: # (", ")\n"), ("[//]: # \"", "\"\n")]
    {
        let (mut from, mut row, mut counted) = (0, 0, 0);
        while let Some(start) = text[from..].find(open) {
            let start = from + start + open.len();
            let end = text[start..].find(close).map_or(text.len(), |end| start + end);
            row += u32::try_from(text[counted..start].matches('\n').count()).unwrap_or(u32::MAX);
            counted = start;
            let part = Part { kind: PartKind::Comment, text: &text[start..end], row, above: String::new() };
            found.push(part);
            from = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_found_with_their_rows() {
        let text = "# Use\nRun `a | b` here.\n\n```bash\necho 1\n```\n<!-- quiet\nplease -->\n1. ```py\nx\n";
        let found: Vec<_> = parts(text).into_iter().map(|part| (part.kind, part.text, part.row)).collect();
        assert_eq!(
            found,
            [
                (PartKind::Comment, " quiet\nplease ", 6),
                (PartKind::Inline, "a | b", 1),
                (PartKind::Block("bash".to_owned()), "echo 1\n", 4),
                (PartKind::Block("py".to_owned()), "x\n", 9),
            ]
        );
    }
}

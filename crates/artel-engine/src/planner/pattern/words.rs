//! Text into words that know their punctuation. Knows nothing of skills.

/// Words of a request that are read; the rest is left out.
pub(super) const WORDS_MAX: usize = 400;

/// Words that say nothing about what is wanted.
const STOP_WORDS: &[&str] = &[
    "a", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "but", "by", "can", "could",
    "do", "does", "for", "from", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "just", "let", "like", "me", "my", "need", "now", "of", "on", "or", "our", "please",
    "she", "should", "so", "some", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "to", "up", "us", "use", "want", "was", "we", "what", "when", "where", "which", "who", "why", "will",
    "with", "without", "would", "you", "your",
];

/// What stands before a thing and is no part of its name.
const ARTICLES: &[&str] = &["a", "an", "any", "my", "our", "some", "that", "the", "their", "this", "your"];

/// What stands for something that was named before.
const PRONOUNS: &[&str] = &["her", "him", "it", "same", "that", "them", "there", "this"];

/// A word, or everything between two quotation marks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Word {
    /// As it was written, without punctuation around it.
    pub(super) text: String,
    /// In lower case, without a possessive `'s`.
    pub(super) key: String,
    pub(super) form: Form,
    /// The punctuation behind it.
    pub(super) mark: Mark,
}

/// How a word was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    Plain,
    Quoted,
    /// With `'s`.
    Possessive,
}

/// What comes behind a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mark {
    None,
    Comma,
    Colon,
    Equals,
    /// A semicolon or the end of a line.
    Break,
    /// The end of a sentence.
    Stop,
}

impl Word {
    pub(super) fn is_stop_word(&self) -> bool {
        self.form != Form::Quoted && STOP_WORDS.contains(&self.key.as_str())
    }

    pub(super) fn is_article(&self) -> bool {
        self.form != Form::Quoted && ARTICLES.contains(&self.key.as_str())
    }

    pub(super) fn is_pronoun(&self) -> bool {
        self.form != Form::Quoted && PRONOUNS.contains(&self.key.as_str())
    }

    pub(super) fn is_one_of(&self, keys: &[&str]) -> bool {
        self.form != Form::Quoted && keys.contains(&self.key.as_str())
    }
}

/// Takes a text apart.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    while words.len() < WORDS_MAX {
        let trimmed = rest.trim_start();
        if rest[..rest.len() - trimmed.len()].contains('\n') {
            mark_break(&mut words);
        }
        rest = trimmed;
        let Some(first) = rest.chars().next() else { break };
        rest = match quoted(rest, first) {
            Some((inside, behind)) => push_quoted(&mut words, inside, behind),
            None => {
                let end = plain_end(rest);
                push_plain(&mut words, &rest[..end]);
                &rest[end..]
            }
        };
    }
    words
}

/// A line ends a clause, unless the punctuation before already says so.
fn mark_break(words: &mut [Word]) {
    if let Some(last) = words.last_mut()
        && last.mark != Mark::Stop
    {
        last.mark = Mark::Break;
    }
}

/// Returns what is between quotation marks at the start of `text`, and what is behind them.
fn quoted(text: &str, first: char) -> Option<(&str, &str)> {
    let close = match first {
        '"' | '`' | '\'' => first,
        '\u{201c}' => '\u{201d}',
        '\u{201e}' => '\u{201c}',
        '\u{2018}' => '\u{2019}',
        '\u{ab}' => '\u{bb}',
        _ => return None,
    };
    let inside = &text[first.len_utf8()..];
    // An apostrophe inside a word does not close.
    let closes = |(at, _): &(usize, &str)| {
        let behind = inside[at + close.len_utf8()..].chars().next();
        !behind.is_some_and(char::is_alphanumeric)
    };
    let (end, _) = inside.match_indices(close).find(closes)?;
    (end > 0).then(|| (&inside[..end], &inside[end + close.len_utf8()..]))
}

fn push_quoted<'a>(words: &mut Vec<Word>, inside: &str, behind: &'a str) -> &'a str {
    let end = behind.find(|c: char| !is_punctuation(c)).unwrap_or(behind.len());
    words.push(Word {
        text: inside.to_owned(),
        key: inside.to_lowercase(),
        form: Form::Quoted,
        mark: mark(&behind[..end]),
    });
    &behind[end..]
}

/// The end of a word: a space, or an equals sign behind a name.
fn plain_end(text: &str) -> usize {
    let space = text.find(char::is_whitespace).unwrap_or(text.len());
    match text[..space].find('=') {
        Some(at) if at > 0 => at + 1,
        Some(_) | None => space,
    }
}

fn push_plain(words: &mut Vec<Word>, piece: &str) {
    let opened = piece.trim_start_matches(['(', '[', '{']);
    let mut inner = opened.trim_end_matches(is_punctuation);
    if opened.len() == piece.len() && opened.len() == inner.len() + 1 && opened.ends_with(')') {
        // `1)` is the mark of a list.
        inner = opened;
    }
    if inner.is_empty() {
        if let Some(last) = words.last_mut()
            && last.mark == Mark::None
        {
            last.mark = mark(piece);
        }
        return;
    }
    let mark = mark(&opened[inner.len()..]);
    let possessive = inner.strip_suffix("'s").or_else(|| inner.strip_suffix("\u{2019}s"));
    words.push(Word {
        text: inner.to_owned(),
        key: possessive.unwrap_or(inner).to_lowercase(),
        form: if possessive.is_some() { Form::Possessive } else { Form::Plain },
        mark,
    });
}

fn is_punctuation(c: char) -> bool {
    matches!(c, ',' | ';' | '.' | '!' | '?' | ':' | '=' | ')' | ']' | '}')
}

fn mark(punctuation: &str) -> Mark {
    let has = |c: &[char]| punctuation.contains(c);
    if has(&['.', '!', '?']) {
        Mark::Stop
    } else if has(&[';']) {
        Mark::Break
    } else if has(&['=']) {
        Mark::Equals
    } else if has(&[':']) {
        Mark::Colon
    } else if has(&[',']) {
        Mark::Comma
    } else {
        Mark::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = words(text).into_iter().map(|word| {
            let mark = match word.mark {
                Mark::None => "",
                Mark::Comma => ",",
                Mark::Colon => ":",
                Mark::Equals => "=",
                Mark::Break => ";",
                Mark::Stop => ".",
            };
            match word.form {
                Form::Plain => format!("{}{mark}", word.key),
                Form::Quoted => format!("<{}>{mark}", word.text),
                Form::Possessive => format!("{}'{mark}", word.key),
            }
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_know_their_punctuation() {
        check("Go to the kitchen, then look!", "go to the kitchen, then look.");
        check("key=tea seed: 7; done", "key= tea seed: 7; done");
        check("1. go\n2. look", "1. go; 2. look");
        check("roll (2d6+3) , now", "roll 2d6+3, now");
        check("", "");
        check(" \n ... = ", "");
    }

    #[test]
    fn quotation_marks_keep_words_together() {
        check("store \"my tea; then\" as 'it is' now", "store <my tea; then> as <it is> now");
        check("don't update Alice's score", "don't update alice' score");
        check("an \"open quote", "an \"open quote");
        check("\u{201c}So\u{201d}, he said", "<So>, he said");
        check("''", "''");
    }
}

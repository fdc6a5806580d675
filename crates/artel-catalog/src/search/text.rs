//! Text into words: lower case, accents folded, split at everything that is no letter or digit. Knows no
//! fields.

use super::limits::TERM_BYTES_MAX;

/// Whether a change of case inside a word starts a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseChange {
    /// `fetchObject` is `fetch` and `object`: for documents.
    Splits,
    /// `fetchObject` is one word: for queries, where the case must not matter.
    Ignored,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word, or one part of a compound.
    Word,
    /// All parts of `fetch-object`, `fetch_object` or `fetchObject` together: `fetchobject`.
    Compound,
}

/// Calls `emit` with every piece of `text` in order, a compound after its parts. `scratch` saves allocations.
pub(super) fn for_each_piece(
    text: &str,
    case_change: CaseChange,
    scratch: &mut String,
    mut emit: impl FnMut(Piece, &str),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let plain = bytes[at..].iter().take_while(|byte| is_plain(**byte)).count();
        let ends_here = bytes.get(at + plain).is_none_or(|byte| is_plain_end(*byte));
        if plain > 0 && ends_here {
            emit(Piece::Word, cut(&text[at..at + plain]));
            at += plain + 1;
        } else if ends_here {
            at += 1;
        } else {
            at += read_compound(&text[at..], case_change, scratch, &mut emit);
        }
    }
}

/// Returns the part of a word that is indexed and searched.
pub(super) fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(TERM_BYTES_MAX)]
}

/// Most text is plain words between plain separators; those are taken from the text as they are.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_plain_end(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'\'')
}

/// Reads one compound from the start of `text` and returns the bytes used, always at least one.
fn read_compound(
    text: &str,
    case_change: CaseChange,
    scratch: &mut String,
    emit: &mut impl FnMut(Piece, &str),
) -> usize {
    let mut compound = Compound { letters: scratch, part_start: 0, parts: 0 };
    compound.letters.clear();
    let mut previous = Class::Separator;
    let mut characters = text.char_indices();
    let mut end = text.len();
    while let Some((at, character)) = characters.next() {
        let class = classify(character);
        match class {
            Class::Invisible => continue,
            Class::Joiner if previous != Class::Joiner => compound.end_part(emit),
            Class::Joiner | Class::Separator => {
                end = at + character.len_utf8();
                break;
            }
            Class::Ideograph => {
                end = at;
                break;
            }
            Class::Upper => {
                let splits = case_change == CaseChange::Splits
                    && (matches!(previous, Class::Lower | Class::Digit)
                        || previous == Class::Upper && starts_word(characters.as_str()));
                if splits {
                    compound.end_part(emit);
                }
                push_folded(compound.letters, character);
            }
            Class::Lower | Class::Digit => push_folded(compound.letters, character),
        }
        previous = class;
    }
    compound.end(emit);
    if end > 0 { end } else { read_ideograph(text, emit) }
}

/// Scripts without spaces between words: every ideograph is a word.
fn read_ideograph(text: &str, emit: &mut impl FnMut(Piece, &str)) -> usize {
    let length = text.chars().next().map_or(text.len(), char::len_utf8);
    emit(Piece::Word, &text[..length]);
    length
}

struct Compound<'a> {
    letters: &'a mut String,
    part_start: usize,
    parts: usize,
}

impl Compound<'_> {
    fn end_part(&mut self, emit: &mut impl FnMut(Piece, &str)) {
        let part = &self.letters[self.part_start..];
        if !part.is_empty() {
            emit(Piece::Word, cut(part));
            self.parts += 1;
        }
        self.part_start = self.letters.len();
    }

    fn end(mut self, emit: &mut impl FnMut(Piece, &str)) {
        self.end_part(emit);
        if self.parts > 1 {
            emit(Piece::Compound, cut(self.letters));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Ideograph,
    /// Joins the parts of a compound.
    Joiner,
    /// Neither seen nor a reason to split: apostrophes, combining marks, zero-width characters.
    Invisible,
    Separator,
}

fn classify(character: char) -> Class {
    match character {
        '-' | '_' | '\u{2010}' | '\u{2011}' => Class::Joiner,
        '\'' | '\u{2019}' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Class::Invisible,
        character if is_combining(character) => Class::Invisible,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
            if character.is_alphanumeric() =>
        {
            Class::Ideograph
        }
        character if character.is_uppercase() => Class::Upper,
        character if character.is_alphabetic() => Class::Lower,
        character if character.is_numeric() => Class::Digit,
        _ => Class::Separator,
    }
}

fn is_combining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// Whether the letter before `rest` begins a word after capitals: `S` in `HTTPServer`, but not `L` in `URLs`.
fn starts_word(rest: &str) -> bool {
    let mut next = rest.chars().map(classify);
    next.next() == Some(Class::Lower) && next.next() == Some(Class::Lower)
}

fn push_folded(letters: &mut String, character: char) {
    if character.is_ascii() {
        letters.push(character.to_ascii_lowercase());
        return;
    }
    for lower in character.to_lowercase() {
        match lower {
            '\u{df}' => letters.push_str("ss"),
            '\u{e6}' => letters.push_str("ae"),
            '\u{153}' => letters.push_str("oe"),
            '\u{3c2}' => letters.push('\u{3c3}'),
            lower if is_combining(lower) => {}
            lower => letters.push(without_accent(lower)),
        }
    }
}

/// The plain letter of each lower-case Latin letter from U+00E0 to U+017F; a dot where there is none to find.
const PLAIN_LATIN: &[u8; 160] = b"aaaaaa.ceeeeiiii.nooooo.ouuuuy.y\
    aaaaaaccccccccdd.deeeeeeeeeegggggggghh.hiiiiiiiiii..jjkk.llllll...lnnnnn\
    n...oooooo..rrrrrrsssssssstttt.tuuuuuuuuuuuuwwyyyzzzzzzs";

fn without_accent(lower: char) -> char {
    let plain = (lower as usize).checked_sub(0xe0).and_then(|offset| PLAIN_LATIN.get(offset));
    plain.copied().filter(|&plain| plain != b'.').map_or(lower, char::from)
}

#[cfg(test)]
mod tests {
    use super::{CaseChange, Piece, for_each_piece};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut pieces = Vec::new();
        for_each_piece(text, CaseChange::Splits, &mut String::new(), |piece, word| match piece {
            Piece::Word => pieces.push(word.to_owned()),
            Piece::Compound => pieces.push(format!("={word}")),
        });
        assert_eq!(pieces.join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        check("Rolls 2d6+3, then adds: (all) of_it.", "rolls 2d6 3 then adds all of it =ofit");
        check("  \t\n ... --- ", "");
        check("don't fetch the skill's files", "dont fetch the skills files");
        check("a.b/c:d", "a b c d");
    }

    #[test]
    fn compounds_give_their_parts_and_the_whole() {
        check("fetch-object", "fetch object =fetchobject");
        check("fetch_objectFast", "fetch object fast =fetchobjectfast");
        check("word--word -x- y-", "word word x y");
        check("re-use, again", "re use =reuse again");
    }

    #[test]
    fn case_changes_split_where_a_person_would() {
        check("fetchObject", "fetch object =fetchobject");
        check("HTTPServer", "http server =httpserver");
        check("URLs and JSON", "urls and json");
        check("base64Encode python3 s3", "base64 encode =base64encode python3 s3");
    }

    #[test]
    fn unicode_is_lowered_and_folded() {
        check("\u{dc}BER caf\u{e9} cafe\u{301} STRA\u{1e9e}E Stra\u{df}e", "uber cafe cafe strasse strasse");
        check("\u{130}stanbul \u{141}\u{f3}d\u{17a} \u{178}", "istanbul lodz y");
        check(
            "\u{39f}\u{394}\u{39f}\u{3a3} \u{3bf}\u{3b4}\u{3bf}\u{3c2}",
            "\u{3bf}\u{3b4}\u{3bf}\u{3c3} \u{3bf}\u{3b4}\u{3bf}\u{3c3}",
        );
        check("sk\u{200b}ill", "skill");
        check("\u{83b7}\u{53d6}abc\u{5bf9}", "\u{83b7} \u{53d6} abc \u{5bf9}");
    }

    #[test]
    fn long_words_are_cut() {
        check(&"a".repeat(100), &"a".repeat(64));
        check(&"\u{434}".repeat(100), &"\u{434}".repeat(32));
    }
}

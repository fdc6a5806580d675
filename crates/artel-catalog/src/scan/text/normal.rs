//! Makes text plain, so that spelling, spacing and decoration hide nothing from a pattern: lower case, one space
//! between words, no marks of Markdown, no invisible characters, look-alike letters as the ones they look like.

use crate::text::is_invisible;

/// Text made plain, with the lines it came from.
pub(in crate::scan) struct Plain {
    /// Lower case; a line break stands between paragraphs and list items only.
    pub(in crate::scan) text: String,
    /// Where lines of the original begin in the plain text.
    rows: Vec<usize>,
}

impl Plain {
    /// Makes a text plain.
    pub(in crate::scan) fn new(text: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(text.len()), rows: Vec::new() };
        for line in text.split('\n') {
            plain.rows.push(plain.text.len());
            plain.line(line);
        }
        plain
    }

    /// Returns the row of the original, from 0, for a place in the plain text.
    pub(in crate::scan) fn row(&self, offset: usize) -> usize {
        self.rows.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    fn line(&mut self, line: &str) {
        let content = line.trim_start_matches([' ', '\t', '>']);
        if content.trim().is_empty() || begins_item(content) {
            self.gap('\n');
        } else {
            self.gap(' ');
        }
        let mut characters = content.trim_start_matches(['#', '-', '+']).chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '*' | '|' => {}
                '_' if self.text.ends_with([' ', '\n'])
                    || !characters.peek().is_some_and(|c| c.is_alphanumeric()) => {}
                '\u{2018}' | '\u{2019}' => self.text.push('\''),
                '\u{201c}' | '\u{201d}' => self.text.push('"'),
                c if is_invisible(c) || is_selector(c) => {}
                c if c.is_whitespace() => self.gap(' '),
                c => self.text.extend(fold_confusable(c).to_lowercase()),
            }
        }
    }

    /// Ends a word; a line break wins over a space.
    fn gap(&mut self, mark: char) {
        if self.text.ends_with(' ') {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(mark);
        }
    }
}

/// Says whether a line begins a list item, a heading or a row of a table.
fn begins_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['#', '|'])
        || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (after_number.len() < line.len() && after_number.starts_with(['.', ')']))
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the Latin letter that a letter of another script, or a styled one, looks like.
pub(in crate::scan) fn fold_confusable(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    match c {
        '\u{430}' | '\u{3b1}' | '\u{251}' => 'a',
        '\u{432}' | '\u{299}' => 'b',
        '\u{441}' | '\u{3f2}' => 'c',
        '\u{501}' => 'd',
        '\u{435}' | '\u{454}' | '\u{3b5}' => 'e',
        '\u{4bb}' => 'h',
        '\u{456}' | '\u{3b9}' | '\u{131}' => 'i',
        '\u{458}' => 'j',
        '\u{43a}' | '\u{3ba}' => 'k',
        '\u{4cf}' | '\u{2113}' => 'l',
        '\u{43c}' => 'm',
        '\u{43f}' | '\u{578}' => 'n',
        '\u{43e}' | '\u{3bf}' | '\u{585}' | '\u{3c3}' => 'o',
        '\u{440}' | '\u{3c1}' => 'p',
        '\u{51b}' => 'q',
        '\u{433}' => 'r',
        '\u{455}' => 's',
        '\u{442}' | '\u{3c4}' => 't',
        '\u{57d}' | '\u{3c5}' => 'u',
        '\u{3bd}' | '\u{475}' => 'v',
        '\u{461}' | '\u{3c9}' | '\u{51d}' => 'w',
        '\u{445}' | '\u{3c7}' => 'x',
        '\u{443}' | '\u{3b3}' => 'y',
        '\u{410}' | '\u{391}' => 'A',
        '\u{412}' | '\u{392}' => 'B',
        '\u{421}' => 'C',
        '\u{415}' | '\u{395}' => 'E',
        '\u{41d}' | '\u{397}' => 'H',
        '\u{406}' | '\u{399}' => 'I',
        '\u{408}' => 'J',
        '\u{41a}' | '\u{39a}' => 'K',
        '\u{41c}' | '\u{39c}' => 'M',
        '\u{39d}' => 'N',
        '\u{41e}' | '\u{39f}' => 'O',
        '\u{420}' | '\u{3a1}' => 'P',
        '\u{405}' => 'S',
        '\u{422}' | '\u{3a4}' => 'T',
        '\u{425}' | '\u{3a7}' => 'X',
        '\u{423}' | '\u{3a5}' => 'Y',
        '\u{396}' => 'Z',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{1d400}'..='\u{1d6a3}' => styled_letter(c),
        c => c,
    }
}

/// Mathematical letters come in rows of 26 capital and 26 small ones.
fn styled_letter(c: char) -> char {
    let index = (u32::from(c) - 0x1d400) % 52;
    let letter = if index < 26 { u32::from('A') + index } else { u32::from('a') + index - 26 };
    char::from_u32(letter).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_hides_nothing() {
        let text = "# **Ign\u{200b}ore**  all\n  pr\u{435}vious _rules_\n\n- \u{1d428}ne `two_three`\n";
        let plain = Plain::new(text);
        assert_eq!(plain.text, "ignore all previous rules\none `two_three`\n");
        assert_eq!(plain.row(plain.text.find("previous").unwrap()), 1);
        assert_eq!(plain.row(plain.text.find("two").unwrap()), 3);
    }
}

//! Finds characters that people do not see, or see as others.

use super::collector::Collector;
use super::piece::Piece;
use super::rule::Rule;
use super::rules::hidden;
use super::text::fold_confusable;
use artel_model::catalog::Severity;

/// Spaces in a row that push text out of sight.
const SPACES_MAX: usize = 150;
/// Empty lines in a row that push text out of sight.
const EMPTY_LINES_MAX: usize = 60;

/// Reports misleading characters, and returns what was hidden in them.
pub(super) fn check(piece: &Piece<'_>, collector: &mut Collector) -> Vec<(u32, String)> {
    let mut hidden_texts = Vec::new();
    let mut empty = 0;
    let is_rtl = piece
        .text
        .chars()
        .any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'));
    for (row, line) in piece.text.split('\n').enumerate() {
        let number = piece.line_of_row(row);
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        if empty > EMPTY_LINES_MAX {
            collector.report(
                piece,
                &hidden::OUT_OF_SIGHT,
                number,
                format!("{empty} empty lines stand before it"),
            );
        }
        empty = 0;
        if line.contains(&" ".repeat(SPACES_MAX)) && !line.trim_start().contains('|') {
            collector.report(piece, &hidden::OUT_OF_SIGHT, number, "a long row of spaces stands in the line");
        }
        if line.bytes().any(|byte| matches!(byte, 8 | 27 | 127)) {
            collector.report(piece, &hidden::CONTROL, number, "a control character stands in the line");
        }
        if !line.is_ascii() {
            Line { piece, number, line, is_rtl }.check(collector, &mut hidden_texts);
        }
    }
    hidden_texts
}

struct Line<'a> {
    piece: &'a Piece<'a>,
    number: u32,
    line: &'a str,
    is_rtl: bool,
}

impl Line<'_> {
    fn check(&self, collector: &mut Collector, hidden_texts: &mut Vec<(u32, String)>) {
        self.check_tags(collector, hidden_texts);
        self.check_selectors(collector, hidden_texts);
        self.check_direction(collector);
        self.check_zero_width(collector);
        self.check_words(collector);
    }

    fn report(&self, collector: &mut Collector, rule: &'static Rule, severity: Severity, message: String) {
        collector.report_as(self.piece, rule, severity, self.number, message);
    }

    fn check_tags(&self, collector: &mut Collector, hidden_texts: &mut Vec<(u32, String)>) {
        let mut text = String::new();
        let mut in_flag = false;
        for c in self.line.chars() {
            match c {
                '\u{1f3f4}' => in_flag = true,
                '\u{e0020}'..='\u{e007e}' if !in_flag => text.extend(char::from_u32(u32::from(c) - 0xe0000)),
                '\u{e0000}'..='\u{e007f}' => {}
                _ => in_flag = false,
            }
        }
        if !text.is_empty() {
            let message = format!("the invisible text says: {text}");
            self.report(collector, &hidden::HIDDEN_TAGS, Severity::Critical, message);
            hidden_texts.push((self.number, text));
        }
    }

    /// A row of selectors carries a byte each.
    fn check_selectors(&self, collector: &mut Collector, hidden_texts: &mut Vec<(u32, String)>) {
        let byte = |c: char| match c {
            '\u{fe00}'..='\u{fe0f}' => u8::try_from(u32::from(c) - 0xfe00).ok(),
            '\u{e0100}'..='\u{e01ef}' => u8::try_from(u32::from(c) - 0xe0100 + 16).ok(),
            _ => None,
        };
        let mut run = Vec::new();
        for c in self.line.chars().chain([' ']) {
            match byte(c) {
                Some(byte) => run.push(byte),
                None if run.len() >= 4 => {
                    let text = String::from_utf8_lossy(&run).into_owned();
                    let message = format!("{} selectors in a row carry: {text}", run.len());
                    self.report(collector, &hidden::HIDDEN_SELECTORS, Severity::High, message);
                    hidden_texts.push((self.number, text));
                    run.clear();
                }
                None => run.clear(),
            }
        }
    }

    fn check_direction(&self, collector: &mut Collector) {
        let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if self.line.chars().any(turns) && !self.is_rtl {
            self.report(
                collector,
                &hidden::BIDI,
                Severity::High,
                "the line is shown in another order than it is read in".to_owned(),
            );
        }
    }

    fn check_zero_width(&self, collector: &mut Collector) {
        let characters: Vec<char> = self.line.chars().collect();
        let is_zero = |c: char| matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' | '\u{ad}');
        let is_first = self.number == self.piece.line;
        let inside = characters.windows(3).filter(|three| {
            is_zero(three[1]) && three[0].is_ascii_alphanumeric() && three[2].is_ascii_alphanumeric()
        });
        let hyphens = characters.contains(&'\u{ad}');
        let inside = inside.count();
        let longest = characters.split(|c| !is_zero(*c)).map(<[char]>::len).max().unwrap_or_default();
        if longest >= 8 || (inside > 0 && !hyphens) {
            let message = format!("{} invisible characters break words", inside.max(longest));
            self.report(collector, &hidden::ZERO_WIDTH, Severity::High, message);
        } else if characters
            .iter()
            .enumerate()
            .any(|(at, c)| matches!(c, '\u{200b}' | '\u{2060}') && !(is_first && at == 0))
        {
            self.report(
                collector,
                &hidden::ZERO_WIDTH,
                Severity::Low,
                "an invisible character stands in the line".to_owned(),
            );
        }
    }

    fn check_words(&self, collector: &mut Collector) {
        for word in
            self.line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2 && !word.is_ascii())
        {
            let latin = word.chars().filter(char::is_ascii_alphabetic).count();
            let foreign = word.chars().filter(|c| {
                !c.is_ascii()
                    && fold_confusable(*c).is_ascii_alphabetic()
                    && matches!(c, '\u{370}'..='\u{52f}')
            });
            let foreign: Vec<char> = foreign.collect();
            let is_cyrillic = foreign.iter().any(|c| matches!(c, '\u{400}'..='\u{52f}'));
            // Greek letters are units and symbols, too.
            let is_symbol = !is_cyrillic
                && (latin < 3
                    || foreign.len() > 1
                    || word.chars().next().is_some_and(|c| foreign.contains(&c)));
            let folded: String = word.chars().map(fold_confusable).collect();
            if latin >= 1 && !foreign.is_empty() && folded.is_ascii() && !is_symbol {
                let message = format!("a word that looks like `{folded}` is written with other letters");
                self.report(collector, &hidden::MIXED_SCRIPT, Severity::High, message);
            }
        }
    }
}

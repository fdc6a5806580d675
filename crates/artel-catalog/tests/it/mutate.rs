//! Small damage to texts, the same on every run: what people and hostile authors do to a `SKILL.md`.

/// A generator of numbers that gives the same row for the same seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap();
        usize::try_from(self.next() % end).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Pieces of text that mean something in YAML, in Markdown, or to somebody who cuts texts apart.
pub(crate) const PIECES: &[&str] = &[
    "---",
    "...",
    "- ",
    ": ",
    ":",
    "#",
    " #",
    "\"",
    "'",
    "\t",
    "  ",
    "\n",
    "\r\n",
    "\r",
    "|",
    ">",
    ">-",
    "|+",
    "&a ",
    "*a",
    "!!str ",
    "!",
    "%YAML 1.2\n",
    "{",
    "}",
    "[",
    "]",
    "[]",
    "{}",
    ",",
    "? ",
    "@",
    "`",
    "~",
    "null",
    "true",
    "=",
    "<<: ",
    "\\",
    "\\n",
    "\u{e9}",
    "\u{65}\u{301}",
    "\u{ff41}",
    "\u{df}",
    "\u{130}",
    "\u{1f600}",
    "\u{a0}",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{7f}",
    "\u{1}",
    "\u{200b}",
    "\u{2164}",
    "\u{663}",
    "name: x\n",
    "extra: 1\n",
    "metadata:\n  a: b\n",
    "license:\n    a: b\n",
    "metadata:\n  <<: b\n",
    "metadata:\n  - a\n",
    "\n? a\n: b\n",
    "\u{93e}",
    "\u{3c3}",
    "\u{2029}",
    "compatibility: any\n",
    "license: MIT\n",
    "allowed-tools: Read\n",
    "description: |\n  text\n",
    "<b>",
    "-",
    "--",
    "0",
];

/// Damages a text in one to three places, mostly in its first lines, where the frontmatter stands.
pub(crate) fn damaged(text: &str, random: &mut Random) -> String {
    let times = 1 + random.below(3);
    (0..times).fold(text.to_owned(), |text, _| damaged_once(&text, random))
}

fn damaged_once(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let head = lines.len().min(8);
    let (line, other) = (random.below(head), random.below(head));
    match random.below(10) {
        0 if head > 0 => drop(lines.remove(line)),
        1 if head > 0 => lines.insert(other, lines[line].clone()),
        2 if head > 0 => lines.swap(line, other),
        3 if head > 0 => lines[line] = lines[line].to_uppercase(),
        4 if head > 0 => {
            lines[line].insert_str(0, random.pick::<&str>(&[" ", "  ", "\t", "- ", "# ", "---"]))
        }
        5 if head > 0 => lines[line] = quoted_value(&lines[line], random),
        6 => return without_a_character(text, random),
        _ => return with_a_piece(text, random),
    }
    lines.concat()
}

/// Puts the value of a `key: value` line in quotes or brackets.
fn quoted_value(line: &str, random: &mut Random) -> String {
    let (left, right) = random.pick(&[("\"", "\""), ("'", "'"), ("[", "]"), ("", "\""), ("'", "")]);
    match line.trim_end().split_once(": ") {
        Some((key, value)) => format!("{key}: {left}{value}{right}\n"),
        None => line.to_owned(),
    }
}

fn without_a_character(text: &str, random: &mut Random) -> String {
    let at = place(text, random);
    let mut rest = text[at..].chars();
    rest.next();
    format!("{}{}", &text[..at], rest.as_str())
}

fn with_a_piece(text: &str, random: &mut Random) -> String {
    let at = place(text, random);
    format!("{}{}{}", &text[..at], random.pick(PIECES), &text[at..])
}

/// Returns the start of a character among the first ones.
fn place(text: &str, random: &mut Random) -> usize {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).take(200).collect();
    if starts.is_empty() { 0 } else { *random.pick(&starts) }
}

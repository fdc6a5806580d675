//! The distance of two words in edits, bounded. Knows nothing of indexes.

/// The most letters a word may have; longer ones are cut before they get here.
pub(super) const LETTERS_MAX: usize = super::limits::TERM_BYTES_MAX;

/// Returns how many edits (insert, delete, replace, swap of neighbours) lead from `from` to `to`, when at
/// most `limit`.
///
/// This is the optimal string alignment form of Damerau-Levenshtein: no letter is edited twice.
pub(super) fn edits_within(from: &[char], to: &[char], limit: usize) -> Option<usize> {
    if from.len().abs_diff(to.len()) > limit || from.len().max(to.len()) > LETTERS_MAX {
        return None;
    }
    const FAR: u8 = u8::MAX / 2;
    let mut before = [FAR; LETTERS_MAX + 2];
    let mut above: [u8; LETTERS_MAX + 2] = std::array::from_fn(|column| column as u8);
    for row in 1..=from.len() {
        let mut current = [FAR; LETTERS_MAX + 2];
        current[0] = row as u8;
        // Cells further than the limit from the diagonal can only be further than the limit.
        let first = row.saturating_sub(limit).max(1);
        let last = (row + limit).min(to.len());
        let mut least = if first == 1 { current[0] } else { FAR };
        for column in first..=last {
            let differs = u8::from(from[row - 1] != to[column - 1]);
            let mut cost = (above[column - 1] + differs).min(above[column] + 1).min(current[column - 1] + 1);
            let swapped =
                row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                cost = cost.min(before[column - 2] + 1);
            }
            current[column] = cost;
            least = least.min(cost);
        }
        // No later cell costs less, not even through a swap: a replacement on the way costs the same.
        if usize::from(least) > limit {
            return None;
        }
        before = above;
        above = current;
    }
    let edits = usize::from(above[to.len()]);
    (edits <= limit).then_some(edits)
}

/// The letters of a word as bits: two for each Latin letter (there at all, there twice), one for each kind of
/// the rest.
///
/// One edit changes at most two bits, so words whose signatures differ in more than `2 * limit` bits need no
/// closer look.
pub(super) fn signature(word: &str) -> u64 {
    word.chars().fold(0, |seen, letter| {
        let bit = match letter {
            'a'..='z' => {
                let first = 1 << (letter as u32 - 'a' as u32);
                if seen & first == 0 { first } else { first << 26 }
            }
            '0'..='9' => 1 << (52 + (letter as u32 - '0' as u32) / 2),
            letter => 1 << (57 + letter as u32 % 7),
        };
        seen | bit
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{edits_within, signature};

    #[track_caller]
    fn check(from: &str, to: &str, expected: usize) {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        for limit in 0..5 {
            let found = edits_within(&letters(from), &letters(to), limit);
            assert_eq!(found, (expected <= limit).then_some(expected), "{from} -> {to} within {limit}");
        }
    }

    #[test]
    fn one_edit_is_an_insert_a_delete_a_replacement_or_a_swap() {
        check("fetch", "fetch", 0);
        check("fetch", "fetcha", 1);
        check("fetch", "etch", 1);
        check("fetch", "fitch", 1);
        check("fetch", "ftech", 1);
        check("fetch", "efthc", 2);
        check("", "ab", 2);
        check("kitten", "sitting", 3);
    }

    /// The textbook recursion, without bounds.
    fn slow(from: &[char], to: &[char]) -> usize {
        let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
        for row in 0..=from.len() {
            for column in 0..=to.len() {
                table[row][column] = if row == 0 || column == 0 {
                    row + column
                } else {
                    let differs = usize::from(from[row - 1] != to[column - 1]);
                    let edit = table[row - 1][column].min(table[row][column - 1]) + 1;
                    let mut cost = edit.min(table[row - 1][column - 1] + differs);
                    if row > 1
                        && column > 1
                        && from[row - 1] == to[column - 2]
                        && from[row - 2] == to[column - 1]
                    {
                        cost = cost.min(table[row - 2][column - 2] + 1);
                    }
                    cost
                };
            }
        }
        table[from.len()][to.len()]
    }

    proptest! {
        #[test]
        fn bounds_change_nothing(from in "[abc]{0,9}", to in "[abc]{0,9}", limit in 0_usize..4) {
            let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
            let edits = slow(&from, &to);
            prop_assert_eq!(edits_within(&from, &to, limit), (edits <= limit).then_some(edits));
        }

        #[test]
        fn signatures_never_hide_a_near_word(
            from in "[a-d0-3\u{e9}\u{434}]{0,9}",
            to in "[a-d0-3\u{e9}\u{434}]{0,9}",
        ) {
            let edits = slow(&from.chars().collect::<Vec<_>>(), &to.chars().collect::<Vec<_>>());
            let differing = (signature(&from) ^ signature(&to)).count_ones() as usize;
            prop_assert!(differing <= 2 * edits, "{differing} bits, {edits} edits");
        }
    }
}

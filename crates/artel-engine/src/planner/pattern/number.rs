//! Numbers in words. Knows nothing of schemas.

const SMALL: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const LARGE: [(&str, f64); 12] = [
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
    ("thousand", 1000.0),
    ("million", 1e6),
    ("dozen", 12.0),
    ("half", 0.5),
];

/// Returns the number that a word stands for: `7`, `-2.5`, `+3`, `10%`, `seven`.
pub(super) fn number(key: &str) -> Option<f64> {
    if let Some(small) = SMALL.iter().position(|word| *word == key) {
        return u32::try_from(small).ok().map(f64::from);
    }
    if let Some((_, large)) = LARGE.iter().find(|(word, _)| *word == key) {
        return Some(*large);
    }
    let digits = key.strip_suffix('%').unwrap_or(key);
    let is_written = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let number: f64 = digits.parse().ok().filter(|_| is_written)?;
    number.is_finite().then_some(number)
}

/// Returns a whole number as such, so that it is written without a fraction.
pub(super) fn json(number: f64) -> Option<serde_json::Value> {
    /// From here on not every whole number is a floating-point number.
    const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(serde_json::Value::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(serde_json::Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_or_words() {
        let check = |key: &str, expected: Option<f64>| assert_eq!(number(key), expected, "{key}");
        check("7", Some(7.0));
        check("-2.5", Some(-2.5));
        check("+3", Some(3.0));
        check("10%", Some(10.0));
        check("twelve", Some(12.0));
        check("half", Some(0.5));
        check("2d6", None);
        check("inf", None);
        check("1e400", None);
        check("", None);
        assert_eq!(json(2.0), Some(serde_json::json!(2)));
        assert_eq!(json(2.5), Some(serde_json::json!(2.5)));
        assert_eq!(json(f64::NAN), None);
    }
}

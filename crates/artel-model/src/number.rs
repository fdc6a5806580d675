//! Whole numbers as JSON writes them: `3.0` is as whole as `3`, and some languages write no other.

use serde_json::Number;

/// The first number that a 64-bit float cannot tell from its neighbour.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Returns a number when it is whole and not negative.
pub fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| number.as_f64().and_then(exact))
}

/// Returns a float as the whole number that it is.
fn exact(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..EXACT_MAX).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
    is_whole.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_nothing() {
        let read = |text: &str| whole(&text.parse().unwrap());
        for fine in ["7", "7.0", "7e0"] {
            assert_eq!(read(fine), Some(7), "{fine}");
        }
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        for wrong in ["7.5", "-7", "-0.5", "1e300", "9007199254740992.0"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}

//! Text that nobody can guess. The one place of the server that asks the system for randomness.

use ring::rand::{SecureRandom, SystemRandom};

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The most that a byte may be for every digit to be as likely as any other.
const FAIR_BELOW: u8 = 248;
/// Characters of an administrator's token: 256 bits and more.
const ADMIN_TOKEN_CHARS: usize = 44;

/// Returns a token for an administrator that nobody had before.
pub fn fresh_admin_token() -> String {
    random_text(ADMIN_TOKEN_CHARS)
}

/// Returns that many random letters and digits.
pub(super) fn random_text(chars: usize) -> String {
    let mut text = String::with_capacity(chars);
    while text.len() < chars {
        let fair = random_bytes::<64>().into_iter().filter(|byte| *byte < FAIR_BELOW);
        text.extend(
            fair.map(|byte| char::from(DIGITS[usize::from(byte) % DIGITS.len()])).take(chars - text.len()),
        );
    }
    text
}

/// Returns random bytes.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives randomness to whoever asks");
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn text_is_as_long_as_asked_and_never_the_same() {
        for chars in [0, 1, 12, 32, 100] {
            let text = random_text(chars);
            assert_eq!(text.len(), chars);
            assert!(text.bytes().all(|byte| DIGITS.contains(&byte)), "{text}");
        }
        let many: BTreeSet<String> = (0..1000).map(|_| fresh_admin_token()).collect();
        assert_eq!(many.len(), 1000);
    }

    #[test]
    fn every_digit_is_about_as_likely_as_any_other() {
        let text = random_text(62_000);
        for digit in DIGITS {
            let seen = text.bytes().filter(|byte| byte == digit).count();
            assert!((800..1200).contains(&seen), "{} came {seen} times", char::from(*digit));
        }
    }
}

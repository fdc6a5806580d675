//! Whether a text is a MIME type (RFC 9110, section 8.3.1). Knows nothing of which types are registered.

/// The most characters of a MIME type with its parameters.
const CHARS_MAX: usize = 255;

/// Returns whether a text is a MIME type such as `image/png` or `text/html; charset=utf-8`.
pub fn is_media_type(text: &str) -> bool {
    let (essence, parameters) = text.split_once(';').map_or((text, None), |(one, rest)| (one, Some(rest)));
    let Some((kind, subtype)) = essence.trim_end_matches([' ', '\t']).split_once('/') else { return false };
    text.len() <= CHARS_MAX && is_name(kind) && is_name(subtype) && parameters.is_none_or(are_parameters)
}

/// A registered name (RFC 6838, section 4.2): it begins with a letter or digit.
fn is_name(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    text.len() <= 127 && text.bytes().all(rest) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// What stands after the first semicolon.
fn are_parameters(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches([' ', '\t']);
        let Some((name, rest)) = text.split_once('=') else { return false };
        if name.is_empty() || !name.bytes().all(is_token) {
            return false;
        }
        let Some(rest) = after_value(rest) else { return false };
        match rest.trim_start_matches([' ', '\t']).strip_prefix(';') {
            Some(next) => text = next,
            None => return rest.trim_matches([' ', '\t']).is_empty(),
        }
    }
}

/// Returns what follows a parameter's value: a token, or a text in quotes.
fn after_value(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let length = text.bytes().take_while(|byte| is_token(*byte)).count();
        return (length > 0).then(|| &text[length..]);
    };
    let mut is_escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(&quoted[at + 1..]),
            b'\t' | b' '..=b'~' => {}
            _ => return None,
        }
    }
    None
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_and_without_parameters() {
        let good = [
            "image/png",
            "text/html; charset=utf-8",
            "text/plain;charset=\"utf-8\";format=flowed",
            "application/vnd.oasis.opendocument.text",
            "application/ld+json",
            "model/step ; schema=\"a;\\\"b\"",
            "x/y",
        ];
        for text in good {
            assert!(is_media_type(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_type() {
        let bad = [
            "",
            "png",
            "/png",
            "image/",
            "image/p ng",
            " image/png",
            "image/png;",
            "image/png; charset",
            "image/png; charset=",
            "image/png; =x",
            "image/png; a=\"x",
            "image/png; a=b c",
            "image/*",
            "image/png/x",
            "imag\u{e9}/png",
            "image/png\n",
        ];
        for text in bad {
            assert!(!is_media_type(text), "{text}");
        }
        assert!(!is_media_type(&format!("a/{}", "b".repeat(300))));
    }
}

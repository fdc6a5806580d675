//! What a request presents to say who sends it: at most one credential.

use axum::http::{HeaderMap, HeaderName, header};

/// The header for API keys.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-artel-key");

/// What a request presents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Presented<'a> {
    /// Something in `Authorization: Bearer`: any kind of credential.
    Bearer(&'a str),
    /// Something in `X-Artel-Key`: only an API key.
    Key(&'a str),
}

impl<'a> Presented<'a> {
    /// Finds the credential of a request; nothing when there is none, or more than one: nobody could say whose the
    /// request is.
    pub(super) fn of(headers: &'a HeaderMap) -> Option<Self> {
        let key = only(headers, &KEY_HEADER)?;
        let bearer = only(headers, &header::AUTHORIZATION)?;
        match (key, bearer) {
            (Some(key), None) => Some(Self::Key(key)),
            (None, Some(value)) => Some(Self::Bearer(token(value)?)),
            (Some(key), Some(value)) => (token(value)? == key).then_some(Self::Key(key)),
            (None, None) => None,
        }
    }
}

impl Presented<'_> {
    /// Says whether a request presents something, whether or not it can be used.
    pub(super) fn is_anything(headers: &HeaderMap) -> bool {
        headers.contains_key(&KEY_HEADER) || headers.contains_key(header::AUTHORIZATION)
    }
}

/// Returns the value of a header that may be there once; nothing at all when it is there twice or is no text.
#[expect(clippy::option_option, reason = "whether the header fits, and whether it is there")]
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = match values.next() {
        Some(value) => Some(value.to_str().ok()?.trim()),
        None => None,
    };
    values.next().is_none().then_some(first)
}

/// Returns the token after `Bearer`.
fn token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: Option<Presented<'_>>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        assert_eq!(Presented::of(&map), expected);
    }

    #[test]
    fn one_credential_is_found() {
        check(&[("authorization", "Bearer a")], Some(Presented::Bearer("a")));
        check(&[("authorization", "bearer  a ")], Some(Presented::Bearer("a")));
        check(&[("x-artel-key", "k")], Some(Presented::Key("k")));
        check(&[("x-artel-key", "k"), ("authorization", "Bearer k")], Some(Presented::Key("k")));
    }

    #[test]
    fn none_or_several_are_nothing() {
        check(&[], None);
        check(&[("authorization", "a")], None);
        check(&[("authorization", "Basic a")], None);
        check(&[("x-artel-key", "k"), ("authorization", "Bearer other")], None);
        check(&[("x-artel-key", "k"), ("authorization", "Basic k")], None);
        check(&[("x-artel-key", "k"), ("x-artel-key", "k")], None);
        check(&[("authorization", "Bearer a"), ("authorization", "Bearer b")], None);
    }
}

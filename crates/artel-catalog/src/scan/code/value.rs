//! What is known of a value while data is followed: its text as far as it is constant, and where it comes from.

use std::ops::{BitOr, BitOrAssign};
use std::rc::Rc;

use crate::scan::limits::VALUE_CHARS_MAX;

/// Stands in a text for a part that is not known.
pub(super) const HOLE: char = '\u{fffc}';

/// Where a value comes from, as a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Taint(u16);

impl Taint {
    pub(super) const NONE: Self = Self(0);
    /// A file that holds credentials.
    pub(super) const SECRET: Self = Self(1);
    /// The whole environment.
    pub(super) const ENVIRONMENT: Self = Self(1 << 1);
    /// A variable that holds a key.
    pub(super) const TOKEN: Self = Self(1 << 2);
    /// Personal files, the clipboard, what was typed.
    pub(super) const PERSONAL: Self = Self(1 << 3);
    /// The machine and its user.
    pub(super) const HOST: Self = Self(1 << 4);
    /// Whoever calls the script.
    pub(super) const INPUT: Self = Self(1 << 5);
    /// The network.
    pub(super) const REMOTE: Self = Self(1 << 6);
    /// Something encoded.
    pub(super) const DECODED: Self = Self(1 << 7);
    /// A `.env` file of the project.
    pub(super) const DOTENV: Self = Self(1 << 8);
    /// Something encrypted here.
    pub(super) const ENCRYPTED: Self = Self(1 << 9);

    /// Says whether the set holds all of `other`.
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Says whether the set holds some of `other`.
    pub(super) fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set without `other`.
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Taint {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Taint {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What is known of a value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Value {
    /// The text, with holes; nothing when nothing of it is known.
    pub(super) text: Option<String>,
    /// What it is by name, such as `requests.post` or `requests.Session()`.
    pub(super) name: Option<String>,
    pub(super) taint: Taint,
    /// Variables that hold keys and are part of it.
    pub(super) tokens: Vec<String>,
    /// The address it was fetched from.
    pub(super) url: Option<String>,
    /// Items, when it is a list of known values.
    pub(super) items: Rc<Vec<Value>>,
}

impl Value {
    /// A known text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.len() > VALUE_CHARS_MAX {
            let end = (0..=VALUE_CHARS_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push(HOLE);
        }
        Self { text: Some(text), ..Self::default() }
    }

    /// Something of which only the source is known.
    pub(super) fn from(taint: Taint) -> Self {
        Self { taint, ..Self::default() }
    }

    /// Something that has a name.
    pub(super) fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// A variable of the environment.
    pub(super) fn variable(name: &str) -> Self {
        if holds_key(name) {
            return Self { taint: Taint::TOKEN, tokens: vec![name.to_owned()], ..Self::default() };
        }
        match name {
            "HOME" | "USERPROFILE" => Self::text("~"),
            "IFS" => Self::text(" "),
            "USER" | "USERNAME" | "LOGNAME" | "HOSTNAME" | "COMPUTERNAME" => Self::from(Taint::HOST),
            _ => Self::default(),
        }
    }

    /// Returns the text, with a hole for what is not known.
    pub(super) fn shown(&self) -> String {
        self.text.clone().unwrap_or_else(|| HOLE.to_string())
    }

    /// Returns the text if all of it is known.
    pub(super) fn constant(&self) -> Option<&str> {
        self.text.as_deref().filter(|text| !text.contains(HOLE))
    }

    /// Takes over where another value comes from.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.taint |= other.taint;
        for token in &other.tokens {
            if !self.tokens.contains(token) {
                self.tokens.push(token.clone());
            }
        }
        if self.url.is_none() {
            self.url.clone_from(&other.url);
        }
    }

    /// Returns this value as one that comes from the same sources, with another text.
    pub(super) fn with_text(&self, text: Option<String>) -> Self {
        let mut value = text.map(Self::text).unwrap_or_default();
        value.absorb(self);
        value
    }

    /// Puts values one after the other, with `between` in between.
    pub(super) fn join<'a>(values: impl IntoIterator<Item = &'a Self>, between: &str) -> Self {
        let mut text = String::new();
        let mut joined = Self::default();
        let mut known = false;
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                text.push_str(between);
            }
            match &value.text {
                Some(part) => {
                    known = true;
                    text.push_str(part);
                }
                None => text.push(HOLE),
            }
            joined.absorb(value);
            if text.len() > VALUE_CHARS_MAX {
                break;
            }
        }
        let mut value = if known { Self::text(text) } else { Self::default() };
        value.absorb(&joined);
        value
    }

    /// Returns what is known when the value may be one or the other.
    pub(super) fn either(&self, other: &Self) -> Self {
        let mut value = if self.text.is_some() || self.name.is_some() { self.clone() } else { other.clone() };
        value.absorb(self);
        value.absorb(other);
        value
    }
}

/// Says whether a variable of that name usually holds a key of a service.
pub(super) fn holds_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends =
        ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PAT", "_CREDENTIALS", "APIKEY", "_MNEMONIC"];
    ends.iter().any(|end| name.ends_with(end)) || matches!(name.as_str(), "TOKEN" | "PASSWORD" | "SECRET")
}

/// Decodes pairs of hexadecimal digits; spaces and colons between them do not matter.
pub(in crate::scan) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != ':')
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let pair = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>()).flatten()
}

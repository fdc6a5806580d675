//! Long lists, one page after another.

use artel_model::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;

/// Where the next page begins: opaque to callers, made by the store that reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cursor(pub String);

impl Cursor {
    /// Returns the place right after the item of a list that is ordered by time and id.
    pub fn behind(at: Timestamp, id: Uuid) -> Self {
        Self(format!("{}.{}", at.as_millis(), id.simple()))
    }

    /// Returns the time and id that the cursor stands behind.
    pub fn place(&self) -> Result<(Timestamp, Uuid), StoreError> {
        let (at, id) = self.0.split_once('.').ok_or_else(|| self.unknown())?;
        let at = at.parse().map_err(|_| self.unknown())?;
        let id = Uuid::try_parse(id).map_err(|_| self.unknown())?;
        Ok((Timestamp::from_millis(at), id))
    }

    fn unknown(&self) -> StoreError {
        StoreError::UnknownCursor { cursor: self.0.chars().take(CURSOR_CHARS_SHOWN).collect() }
    }
}

/// How much of a cursor that cannot be read is shown; ours are shorter.
const CURSOR_CHARS_SHOWN: usize = 64;

/// Which page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageRequest {
    /// The end of the page before; nothing for the first.
    pub after: Option<Cursor>,
    /// How many items at most, from 1.
    pub limit: usize,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// Where the next page begins; nothing at the end.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Makes a page of `items`, of which there is one more than `limit` when the list goes on.
    pub fn cut(mut items: Vec<T>, limit: usize, place: impl Fn(&T) -> (Timestamp, Uuid)) -> Self {
        let goes_on = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| goes_on).map(place);
        Self { items, next: last.map(|(at, id)| Cursor::behind(at, id)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_were_written() {
        for millis in [i64::MIN, -1, 0, i64::MAX] {
            let place = (Timestamp::from_millis(millis), Uuid::from_u128(7));
            assert_eq!(Cursor::behind(place.0, place.1).place().unwrap(), place);
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", ".", "1", "1.", "x.00000000000000000000000000000007", "1.7", "\u{fe0f}.\u{fe0f}"] {
            let found = Cursor(text.to_owned()).place();
            assert!(matches!(found, Err(StoreError::UnknownCursor { .. })), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_page_knows_whether_there_is_another() {
        let place = |id: &u128| (Timestamp::from_millis(5), Uuid::from_u128(*id));
        assert_eq!(Page::cut(vec![3, 2], 2, place).next, None);
        let cut = Page::cut(vec![3, 2, 1], 2, place);
        assert_eq!(cut.items, [3, 2]);
        assert_eq!(cut.next.map(|next| next.place().unwrap()), Some(place(&2)));
        assert_eq!(Page::cut(Vec::<u128>::new(), 2, place).next, None);
    }
}

//! Our types as columns, and columns as our types.

use std::error::Error;
use std::str::FromStr;

use artel_model::time::Timestamp;
use artel_store::{Cursor, Fence, LoggedEvent, OwnerId, Page, PageRequest, Revision, RunRow, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row as _, Type};
use uuid::Uuid;

use crate::error::store_error;
use crate::id::Id;
use crate::statement::Statement;

/// The columns of [`run_row`], in its order.
pub(crate) const RUN_COLUMNS: &str = "SELECT summary, revision, owner, fence FROM runs WHERE true";

/// Reads [`RUN_COLUMNS`].
pub(crate) fn run_row(row: &PgRow) -> Result<RunRow, StoreError> {
    let what = "reading a run";
    Ok(RunRow {
        summary: document(what, row, 0)?,
        revision: Revision(count(what, row, 1)?),
        owner: column::<Option<String>>(what, row, 2)?.map(OwnerId),
        fence: Fence(count(what, row, 3)?),
    })
}

/// Reads an event's revision and the event.
pub(crate) fn logged_event(row: &PgRow) -> Result<LoggedEvent, StoreError> {
    let what = "reading an event";
    Ok(LoggedEvent { revision: Revision(count(what, row, 0)?), event: document(what, row, 1)? })
}

/// Reads a column.
pub(crate) fn column<'r, T>(what: &str, row: &'r PgRow, index: usize) -> Result<T, StoreError>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
{
    row.try_get(index).map_err(|error| store_error(what, error))
}

/// Reads a number that cannot be negative.
pub(crate) fn count(what: &str, row: &PgRow, index: usize) -> Result<u64, StoreError> {
    let number: i64 = column(what, row, index)?;
    u64::try_from(number)
        .map_err(|error| StoreError::Corrupt { what: what.to_owned(), source: Box::new(error) })
}

/// Reads a text that stands for something.
pub(crate) fn parsed<T>(what: &str, row: &PgRow, index: usize) -> Result<T, StoreError>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    parsed_text(what, column(what, row, index)?)
}

/// Reads a text that was found in a column and stands for something.
pub(crate) fn parsed_text<T>(what: &str, text: &str) -> Result<T, StoreError>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    text.parse().map_err(|error| StoreError::Corrupt { what: what.to_owned(), source: Box::new(error) })
}

/// Says that an answer makes no sense.
pub(crate) fn corrupt(what: &str, why: &str) -> StoreError {
    StoreError::Corrupt { what: what.to_owned(), source: why.into() }
}

/// Reads a document.
pub(crate) fn document<T: DeserializeOwned>(what: &str, row: &PgRow, index: usize) -> Result<T, StoreError> {
    parsed_json(what, column(what, row, index)?)
}

/// Reads a document that was found in a column.
pub(crate) fn parsed_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Corrupt { what: what.to_owned(), source: Box::new(error) })
}

/// Reads a text that is kept as bytes.
pub(crate) fn text(what: &str, row: &PgRow, index: usize) -> Result<String, StoreError> {
    String::from_utf8(column(what, row, index)?)
        .map_err(|error| StoreError::Corrupt { what: what.to_owned(), source: Box::new(error) })
}

/// Returns a document as text.
pub(crate) fn json<T: Serialize>(document: &T) -> String {
    serde_json::to_string(document).expect("every document of the model has texts as keys")
}

/// Returns a number as a column. What is greater than a column can hold is also greater than whatever is kept in one.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns how many rows a page needs, one more than it shows: it tells whether the list goes on.
pub(crate) fn rows_of(page: &PageRequest) -> i64 {
    bigint(page.limit as u64).saturating_add(1)
}

/// Keeps what has exactly this text, if one is asked for.
pub(crate) fn fitting(statement: Statement, is: &'static str, text: Option<&str>) -> Statement {
    match text {
        Some(text) => statement.then(is).place(text),
        None => statement,
    }
}

/// Keeps what has exactly this text in a column of bytes, if one is asked for.
pub(crate) fn fitting_bytes(statement: Statement, is: &'static str, text: Option<&str>) -> Statement {
    match text {
        Some(text) => statement.then(is).place(text.as_bytes()),
        None => statement,
    }
}

/// Keeps what comes after a page, in a list that is sorted by a time and the number under which an item was kept.
pub(crate) fn numbered_after(
    statement: Statement,
    place: &'static str,
    page: &PageRequest,
) -> Result<Statement, StoreError> {
    let Some(cursor) = &page.after else { return Ok(statement) };
    let (at, number) = cursor.place()?;
    let number = i64::try_from(number.as_u128()).unwrap_or(i64::MAX);
    Ok(statement.then(place).then(" < (").place(at.as_millis()).then(", ").place(number).then(")"))
}

/// Makes a page of rows that begin with their time and the number under which they were kept.
pub(crate) fn numbered_page<T>(
    what: &str,
    rows: &[PgRow],
    page: &PageRequest,
    read: impl Fn(&PgRow) -> Result<T, StoreError>,
) -> Result<Page<T>, StoreError> {
    let placed = |row| {
        let at = Timestamp::from_millis(column(what, row, 0)?);
        Ok(((at, Uuid::from_u128(count(what, row, 1)?.into())), read(row)?))
    };
    let placed = rows.iter().map(placed).collect::<Result<Vec<_>, StoreError>>()?;
    let found = Page::cut(placed, page.limit, |(place, _)| *place);
    Ok(Page { items: found.items.into_iter().map(|(_, item)| item).collect(), next: found.next })
}

/// Keeps what begins within a span.
pub(crate) fn within(
    statement: Statement,
    [from, before]: [&'static str; 2],
    span: [Option<Timestamp>; 2],
) -> Statement {
    let [first, end] = span.map(|moment| moment.map(Timestamp::as_millis));
    let statement = match first {
        Some(first) => statement.then(from).place(first),
        None => statement,
    };
    match end {
        Some(end) => statement.then(before).place(end),
        None => statement,
    }
}

/// Keeps what comes after a page, in a list that is sorted by the columns of `place`, the greatest first.
pub(crate) fn after(
    statement: Statement,
    place: &'static str,
    cursor: Option<&Cursor>,
) -> Result<Statement, StoreError> {
    let Some(cursor) = cursor else { return Ok(statement) };
    let (at, id) = cursor.place()?;
    Ok(statement.then(place).then(" < (").place(at.as_millis()).then(", ").place(Id(id)).then(")"))
}

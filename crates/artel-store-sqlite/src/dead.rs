//! Dead letters as a table: how they come there, and how they are read.

use artel_model::id::AgentId;
use artel_model::message::{DeadLetter, DeadReason};
use artel_model::time::Timestamp;
use artel_store::{Page, StoreError};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use crate::change::Change;
use crate::effort::Effort;
use crate::listing::Place;
use crate::row::{json, natural, parsed, unreadable};

/// Makes dead letters of what lies unread in some mailboxes, in the order it was posted, whoever it was for.
pub(crate) fn bury_unread(connection: &Connection, recipients: &[[u8; 16]], at: i64) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(
        "SELECT place, expires_at <= ?2 FROM deliveries WHERE recipient = ?1 AND is_read = 0",
    )?;
    let mut found: Vec<(i64, bool)> = Vec::new();
    for recipient in recipients {
        let mut rows = find.query(params![recipient, at])?;
        while let Some(row) = rows.next()? {
            found.push((row.get(0)?, row.get(1)?));
        }
    }
    found.sort_unstable();
    for (place, is_expired) in found {
        let reason = if is_expired { DeadReason::Expired } else { DeadReason::RecipientEnded };
        bury_delivery(connection, place, reason, at)?;
        remove_delivery(connection, place)?;
    }
    Ok(())
}

/// Makes a dead letter of what lies somewhere in a mailbox, where it stays. Messages may be long: they are copied inside of
/// the database.
pub(crate) fn bury_delivery(
    connection: &Connection,
    place: i64,
    reason: DeadReason,
    at: i64,
) -> rusqlite::Result<()> {
    let mut copy = connection.prepare_cached(
        "INSERT INTO dead_letters (recipient, reason, at, message) \
         SELECT deliveries.recipient, ?2, ?3, document FROM deliveries JOIN messages ON messages.key = message \
         WHERE place = ?1",
    )?;
    copy.execute(params![place, reason.as_str(), at])?;
    count_one(connection, reason)
}

/// Removes what lies somewhere in a mailbox.
pub(crate) fn remove_delivery(connection: &Connection, place: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM deliveries WHERE place = ?1")?.execute([place])?;
    Ok(())
}

/// Keeps one dead letter and counts it.
pub(crate) fn insert(
    connection: &Connection,
    recipient: Option<[u8; 16]>,
    reason: DeadReason,
    at: i64,
    document: &str,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO dead_letters (recipient, reason, at, message) VALUES (?1, ?2, ?3, ?4)",
    )?;
    insert.execute(params![recipient, reason.as_str(), at, document])?;
    count_one(connection, reason)
}

fn count_one(connection: &Connection, reason: DeadReason) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO dead_counts (reason, letters) VALUES (?1, 1) ON CONFLICT DO UPDATE SET letters = letters + 1",
    )?;
    count.execute([reason.as_str()])?;
    Ok(())
}

/// Removes dead letters beyond a number, the oldest first.
pub(crate) fn keep_latest(connection: &Connection, max: i64) -> rusqlite::Result<()> {
    let mut remove = connection.prepare_cached(
        "DELETE FROM dead_letters WHERE place IN \
         (SELECT place FROM dead_letters ORDER BY at DESC, place DESC LIMIT -1 OFFSET ?1)",
    )?;
    remove.execute([max])?;
    Ok(())
}

/// Keeps dead letters that somebody else noticed.
pub(crate) struct Bury {
    letters: Vec<(Option<[u8; 16]>, DeadReason, i64, String)>,
}

impl Bury {
    pub(crate) fn new(letters: &[DeadLetter]) -> Self {
        let columns = |letter: &DeadLetter| {
            let recipient = letter.recipient_id.map(|agent| agent.0.into_bytes());
            (recipient, letter.reason, letter.at.as_millis(), json(&letter.message))
        };
        Self { letters: letters.iter().map(columns).collect() }
    }
}

impl Change for Bury {
    type Answer = ();
    const WHAT: &'static str = "keep dead letters";

    fn effort(&self) -> Effort {
        Effort::rows(self.letters.len(), self.letters.iter().map(|(.., document)| document.len()).sum())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (recipient, reason, at, document) in &self.letters {
            insert(connection, *recipient, *reason, *at, document)?;
        }
        Ok(())
    }
}

/// Returns the page of dead letters behind `after`, whose id is the place in the table.
pub(crate) fn page(
    connection: &Connection,
    recipient: Option<AgentId>,
    after: Option<Place>,
    limit: usize,
) -> rusqlite::Result<Page<DeadLetter>> {
    let (at, place) = match after {
        Some((at, id)) => (at.as_millis(), i64::try_from(id.as_u128()).unwrap_or(i64::MAX)),
        None => (i64::MAX, i64::MAX),
    };
    let rows_max = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let recipient = recipient.map(|agent| agent.0.into_bytes());
    let filter = if recipient.is_some() { "recipient = ?4" } else { "?4 IS NULL" };
    let sql = format!(
        "SELECT place, recipient, reason, at, message FROM dead_letters \
         WHERE {filter} AND (at, place) < (?1, ?2) ORDER BY at DESC, place DESC LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![at, place, rows_max, recipient], letter)?;
    let rows: Vec<(u64, DeadLetter)> = rows.collect::<Result<_, _>>()?;
    let page = Page::cut(rows, limit, |(place, letter)| (letter.at, Uuid::from_u128((*place).into())));
    Ok(Page { items: page.items.into_iter().map(|(_, letter)| letter).collect(), next: page.next })
}

fn letter(row: &Row<'_>) -> rusqlite::Result<(u64, DeadLetter)> {
    let recipient: Option<[u8; 16]> = row.get(1)?;
    let letter = DeadLetter {
        recipient_id: recipient.map(|bytes| AgentId(Uuid::from_bytes(bytes))),
        reason: reason(row, 2)?,
        at: Timestamp::from_millis(row.get(3)?),
        message: parsed(row, 4)?,
    };
    Ok((natural(row, 0)?, letter))
}

/// Returns how many dead letters there ever were, by reason.
pub(crate) fn counts(connection: &Connection) -> rusqlite::Result<Vec<(DeadReason, u64)>> {
    let mut statement = connection.prepare_cached("SELECT reason, letters FROM dead_counts")?;
    let rows = statement.query_map([], |row| Ok((reason(row, 0)?, natural(row, 1)?)))?;
    let mut counts: Vec<(DeadReason, u64)> = rows.collect::<Result<_, _>>()?;
    counts.sort_by_key(|(reason, _)| DeadReason::ALL.iter().position(|other| other == reason));
    Ok(counts)
}

fn reason(row: &Row<'_>, column: usize) -> rusqlite::Result<DeadReason> {
    let word = row.get_ref(column)?.as_str()?;
    let reason = DeadReason::ALL.iter().copied().find(|reason| reason.as_str() == word);
    reason.ok_or_else(|| unreadable(column, format!("`{word}` is not a reason")))
}

/// Reads a place that a list gave out.
pub(crate) fn place(page: &artel_store::PageRequest) -> Result<Option<Place>, StoreError> {
    page.after.as_ref().map(artel_store::Cursor::place).transpose()
}

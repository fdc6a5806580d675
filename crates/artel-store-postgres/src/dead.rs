//! Dead letters as a table.

use artel_model::id::AgentId;
use artel_model::message::{DeadLetter, DeadReason};
use artel_model::time::Timestamp;
use artel_store::{Page, PageRequest, StoreError};
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::id::Id;
use crate::row::{column, corrupt, count, document, json, parsed_text, rows_of};
use crate::statement::Statement;
use crate::store::PostgresStore;

const BURY: &str = include_str!("sql/bury.sql");
const READING: &str = "listing dead letters";

impl PostgresStore {
    /// Keeps dead letters.
    pub(crate) async fn keep_dead_letters(&self, letters: &[DeadLetter]) -> Result<(), StoreError> {
        let all = || letters.iter();
        let statement = Statement::new(BURY)
            .with(all().map(|letter| letter.recipient_id.map(|agent| Id(agent.0))).collect::<Vec<_>>())
            .with(all().map(|letter| letter.reason.as_str()).collect::<Vec<_>>())
            .with(all().map(|letter| letter.at.as_millis()).collect::<Vec<_>>())
            .with(all().map(|letter| json(&letter.message)).collect::<Vec<_>>());
        self.write("keeping dead letters", &statement).await?;
        Ok(())
    }

    /// Returns one page of them.
    pub(crate) async fn kept_dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        let mut statement =
            Statement::new("SELECT place, recipient::text, reason, at, message FROM dead_letters WHERE true");
        if let Some(agent) = recipient {
            statement = statement.then(" AND recipient = ").place(Id(agent.0));
        }
        if let Some(cursor) = &page.after {
            let (at, place) = cursor.place()?;
            let place = i64::try_from(place.as_u128()).unwrap_or(i64::MAX);
            statement = statement.then(" AND (at, place) < (").place(at.as_millis());
            statement = statement.then(", ").place(place).then(")");
        }
        statement = statement.then(" ORDER BY at DESC, place DESC LIMIT ").place(rows_of(page));
        let answer = self.read(READING, &statement).await?;
        let letters = answer.rows.iter().map(letter).collect::<Result<Vec<_>, _>>()?;
        let found =
            Page::cut(letters, page.limit, |(place, letter)| (letter.at, Uuid::from_u128((*place).into())));
        Ok(Page { items: found.items.into_iter().map(|(_, letter)| letter).collect(), next: found.next })
    }
}

/// Reads a dead letter and its place.
fn letter(row: &PgRow) -> Result<(u64, DeadLetter), StoreError> {
    let recipient: Option<&str> = column(READING, row, 1)?;
    let letter = DeadLetter {
        message: document(READING, row, 4)?,
        recipient_id: recipient.map(|agent| parsed_text(READING, agent)).transpose()?,
        reason: reason(READING, column(READING, row, 2)?)?,
        at: Timestamp::from_millis(column(READING, row, 3)?),
    };
    Ok((count(READING, row, 0)?, letter))
}

/// Returns the reason that a word stands for.
pub(crate) fn reason(what: &str, word: &str) -> Result<DeadReason, StoreError> {
    let reason = DeadReason::ALL.iter().copied().find(|reason| reason.as_str() == word);
    reason.ok_or_else(|| corrupt(what, &format!("no reason is called `{word}`")))
}

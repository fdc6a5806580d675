//! Events of topics as a table. Which topics a pattern means, only the model knows.

use artel_model::message::{Address, Message, Topic, TopicPattern};
use artel_store::{StoreError, TopicEvent};
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{bigint, column, corrupt, count, document, json, parsed};
use crate::statement::Statement;
use crate::store::PostgresStore;

const KEEPING: &str = "keeping an event of a topic";
const READING: &str = "reading events of topics";

impl PostgresStore {
    /// Keeps an event and returns its place.
    pub(crate) async fn keep_topic_event(
        &self,
        message: &Message,
        keep_max: usize,
    ) -> Result<u64, StoreError> {
        let topic = match &message.address {
            Address::Topic(topic) => topic.as_str(),
            // Nobody ever asks for it, but its place is its own.
            Address::Agent(_) | Address::Broadcast => "",
        };
        let statement = Statement::new("SELECT keep_event($1, $2, $3, $4)")
            .with(Id(message.key().0))
            .with(topic)
            .with(json(message))
            .with(bigint(keep_max as u64));
        let answer = self.write(KEEPING, &statement).await?;
        answer.rows.first().map_or_else(|| Err(corrupt(KEEPING, "no answer")), |row| count(KEEPING, row, 0))
    }

    /// Returns the first or the last events after a place that are meant, in order.
    pub(crate) async fn kept_topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError> {
        let places = match pattern.exact() {
            Some(topic) => self.places_of(&topic, after, latest, limit).await?,
            None => self.places_that_match(pattern, after, latest, limit).await?,
        };
        let statement =
            Statement::new("SELECT place, message FROM topic_events WHERE place = ANY($1) ORDER BY place");
        let answer = self.read(READING, &statement.with(places)).await?;
        let event =
            |row| Ok(TopicEvent { place: count(READING, row, 0)?, message: document(READING, row, 1)? });
        answer.rows.iter().map(event).collect()
    }

    async fn places_of(
        &self,
        topic: &Topic,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let end = if latest { " ORDER BY place DESC LIMIT " } else { " ORDER BY place LIMIT " };
        let statement = Statement::new("SELECT place FROM topic_events WHERE place > ").place(bigint(after));
        let statement =
            statement.then(" AND topic = ").place(topic.as_str()).then(end).place(bigint(limit as u64));
        let answer = self.read(READING, &statement).await?;
        answer.rows.iter().map(|row| column(READING, row, 0)).collect()
    }

    async fn places_that_match(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let statement = Statement::new(
            "SELECT place, topic FROM topic_events WHERE place > $1 AND topic <> '' ORDER BY place",
        );
        let answer = self.read(READING, &statement.with(bigint(after))).await?;
        let mut places = Vec::new();
        for row in &answer.rows {
            let (place, topic) = place_and_topic(row)?;
            if pattern.matches(&topic) {
                places.push(place);
            }
        }
        if latest {
            places.drain(..places.len().saturating_sub(limit));
        } else {
            places.truncate(limit);
        }
        Ok(places)
    }
}

fn place_and_topic(row: &PgRow) -> Result<(i64, Topic), StoreError> {
    Ok((column(READING, row, 0)?, parsed(READING, row, 1)?))
}

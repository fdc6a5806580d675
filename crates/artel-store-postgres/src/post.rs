//! Posting: one call of a function of the database, and what its answer means.

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Address, MessageKind, Sender};
use artel_store::{Post, PostRefused, Posted, StoreError};
use sqlx::postgres::PgRow;

use crate::agent::state;
use crate::id::Id;
use crate::row::{bigint, column, corrupt, json, parsed_text};
use crate::statement::Statement;
use crate::store::{PostgresStore, Sent};

const WHAT: &str = "posting a message";

impl PostgresStore {
    /// Puts a message into mailboxes.
    pub(crate) async fn put_into_mailboxes(&self, post: &Post) -> Result<Posted, StoreError> {
        let recipient = match &post.message.address {
            Address::Agent(agent) => Some(*agent),
            Address::Broadcast => None,
            Address::Topic(_) => return Ok(Posted::Delivered(Vec::new())),
        };
        let answer = self.write(WHAT, &post_statement(post, recipient)).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(WHAT, "no answer"))?;
        let posted = posted(post, recipient, row)?;
        if posted == Posted::Duplicate && answer.sent == Sent::Twice {
            // It was posted before the connection was lost, by us or somebody else who sent the same message.
            return self.reached(post).await;
        }
        Ok(posted)
    }

    /// Returns the mailboxes in which a message lies.
    async fn reached(&self, post: &Post) -> Result<Posted, StoreError> {
        let statement =
            Statement::new("SELECT recipient::text FROM deliveries WHERE message = $1 ORDER BY recipient");
        let answer = self.read(WHAT, &statement.with(Id(post.message.key().0))).await?;
        let recipients = answer.rows.iter().map(|row| parsed_text(WHAT, column(WHAT, row, 0)?));
        recipients.collect::<Result<_, _>>().map(Posted::Delivered)
    }
}

fn post_statement(post: &Post, recipient: Option<AgentId>) -> Statement {
    let message = &post.message;
    Statement::new(
        "SELECT outcome, recipient_state, reached \
         FROM post_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .with(Id(message.key().0))
    .with(sender(post).map(|sender| Id(sender.0)))
    .with(recipient.map(|agent| Id(agent.0)))
    .with(message.kind.as_str())
    .with(message.correlation.map(|correlation| Id(correlation.0)))
    .with(i64::from(message.priority.get()))
    .with(message.timestamp.as_millis())
    .with(message.expires_at().as_millis())
    .with(json(message))
    .with(message.kind == MessageKind::Response)
    .with(Id(answered(post).0))
    .with(post.now.as_millis())
    .with(bigint(post.mailbox_max as u64))
}

fn sender(post: &Post) -> Option<AgentId> {
    match post.message.sender {
        Sender::System => None,
        Sender::Agent(agent) => Some(agent),
    }
}

/// Returns the request that a response answers. One without a correlation answers nothing; it is told the one that its
/// request would have had.
fn answered(post: &Post) -> CorrelationId {
    post.message.correlation.unwrap_or(CorrelationId(post.message.id.0))
}

fn posted(post: &Post, recipient: Option<AgentId>, row: &PgRow) -> Result<Posted, StoreError> {
    let outcome: &str = column(WHAT, row, 0)?;
    let refused = match (outcome, recipient, sender(post)) {
        ("delivered", ..) => {
            let reached: Vec<String> = column(WHAT, row, 2)?;
            let reached = reached.into_iter().map(|agent| parsed_text(WHAT, &agent));
            return reached.collect::<Result<_, _>>().map(Posted::Delivered);
        }
        ("duplicate", ..) => return Ok(Posted::Duplicate),
        ("unknown_sender", _, Some(sender)) => PostRefused::UnknownSender(sender),
        ("sender_ended", _, Some(sender)) => PostRefused::SenderEnded(sender),
        ("unknown_recipient", Some(agent), _) => PostRefused::UnknownRecipient(agent),
        ("recipient_ended", Some(agent), _) => PostRefused::RecipientEnded(agent, state(WHAT, row, 1)?),
        ("no_request", ..) => PostRefused::NoSuchRequest(answered(post)),
        ("full", Some(agent), _) => PostRefused::MailboxFull(agent),
        (other, ..) => return Err(corrupt(WHAT, &format!("`{other}` is no outcome"))),
    };
    Ok(Posted::Refused(refused))
}

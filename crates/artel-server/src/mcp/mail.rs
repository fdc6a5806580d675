//! Reading a mailbox in answers of bounded size: only what is handed out counts as read.

use artel_api::messages::{MailRequest, ReadMark};
use artel_app::operations::{mark_read, read_mail};
use artel_app::{App, OperationError};
use artel_model::access::Principal;
use artel_model::limit::MCP_RESULT_BYTES_MAX;
use artel_model::message::MessageDocument;
use rmcp::model::CallToolResult;
use serde_json::json;
use uuid::Uuid;

use super::answer;
use super::arguments::Mail;

/// Reads a mailbox.
pub(super) async fn read(
    app: &App,
    caller: &Principal,
    wish: MailRequest,
) -> Result<CallToolResult, OperationError> {
    let (agent_id, marks) = (wish.agent_id, wish.mark_read.unwrap_or(true));
    let mailbox = read_mail(app, caller, MailRequest { mark_read: Some(false), ..wish }).await?;
    let all = mailbox.items.len();
    let items = fitting(mailbox.items);
    let mail = Mail { has_more: items.len() < all, items };
    if marks && !mail.items.is_empty() {
        let message_ids: Vec<Uuid> = mail.items.iter().map(|message| message.message_id.0).collect();
        mark_read(app, caller, ReadMark { agent_id, message_ids }).await?;
    }
    Ok(answer::text(json!(mail).to_string(), json!(mail)))
}

/// Returns the first messages that fit into one answer, and at least one.
fn fitting(items: Vec<MessageDocument>) -> Vec<MessageDocument> {
    let mut bytes = 0;
    let fits = |message: &MessageDocument| {
        let is_first = bytes == 0;
        bytes += answer::size(&json!(message));
        is_first || bytes <= MCP_RESULT_BYTES_MAX
    };
    items.into_iter().take_while(fits).collect()
}

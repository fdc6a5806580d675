//! The loop: the model is asked, its calls are made, and it hears what came of them, until it has answered or a limit is
//! reached.

use std::sync::Arc;

use artel_api::chat::ChatEvent;
use artel_catalog::shared::View;
use artel_engine::llm::{Conversation, Reply, StopReason, Turn};
use artel_model::access::Principal;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{Assistant, prompt};
use crate::app::App;
use crate::operations::shortened;

/// Events that may wait for a slow reader before the talk waits for them.
const EVENTS_WAITING_MAX: usize = 64;

/// The answer to one message.
pub(super) struct Talk {
    pub(super) app: App,
    pub(super) caller: Principal,
    /// The skills that the assistant offers.
    pub(super) view: Arc<View>,
    pub(super) last_run: Option<Uuid>,
    conversation_id: Uuid,
    events: mpsc::Sender<ChatEvent>,
}

/// Why an answer is not what was wanted.
struct Halt {
    code: &'static str,
    message: String,
}

/// Begins to answer a message; what happens is received, and goes on when nobody does.
pub(crate) fn converse(
    app: &App,
    caller: &Principal,
    assistant: &Assistant,
    view: Arc<View>,
    conversation_id: Uuid,
    message: &str,
) -> mpsc::Receiver<ChatEvent> {
    let (events, received) = mpsc::channel(EVENTS_WAITING_MAX);
    let (app, caller) = (app.clone(), caller.clone());
    let talk = Talk { app, caller, view, last_run: None, conversation_id, events };
    let (assistant, message) = (assistant.clone(), message.to_owned());
    tokio::spawn(async move { talk.answer(&assistant, message).await });
    received
}

impl Talk {
    async fn answer(mut self, assistant: &Assistant, message: String) {
        let user = self.caller.viewer.user.clone();
        let mut turns = self.app.conversations().recall(&user, self.conversation_id);
        turns.push(Turn::User(message));
        let mut conversation = Conversation {
            model: None,
            system: prompt::system(&self.view, assistant.skills_max),
            turns,
            tools: self.app.chat_tools().specs(),
            thinking: None,
        };
        let ended = self.go_on(assistant, &mut conversation).await;
        let ok = ended.is_ok();
        match ended {
            // What broke off is not remembered: a model would take half an exchange for a whole one.
            Ok(()) => self.app.conversations().remember(&user, self.conversation_id, conversation.turns),
            Err(Halt { code, message }) => {
                self.tell(ChatEvent::Error { code: code.to_owned(), message }).await
            }
        }
        let (conversation_id, run_id) = (self.conversation_id, self.last_run);
        self.tell(ChatEvent::Done { conversation_id, run_id, ok, clear: false }).await;
    }

    async fn go_on(&mut self, assistant: &Assistant, conversation: &mut Conversation) -> Result<(), Halt> {
        let mut tokens = 0;
        for _ in 0..assistant.turns_max {
            let reply = assistant.client.converse(conversation).await.map_err(|error| {
                tracing::warn!(%error, "the model behind the chat gave no answer");
                halt("llm_failed", "The assistant cannot answer at the moment. Please try again later.")
            })?;
            tokens += reply.usage.map_or(0, artel_engine::llm::Usage::total);
            let text = reply.text.trim();
            if !text.is_empty() {
                self.tell(ChatEvent::Text { text: shortened(text) }).await;
            }
            if reply.calls.is_empty() {
                return finished(&reply).map(|()| conversation.turns.push(Turn::Model(reply)));
            }
            if tokens >= assistant.tokens_max {
                return Err(halt("too_long", "The answer took more than it may. Ask for less at once."));
            }
            let results = self.calls(&reply).await;
            conversation.turns.extend([Turn::Model(reply), Turn::Tools(results)]);
        }
        Err(halt("too_many_turns", "The assistant did not come to an end. Ask for less at once."))
    }

    /// Tells something to whoever listens.
    pub(super) async fn tell(&self, event: ChatEvent) {
        // The work goes on when nobody does.
        let _ = self.events.send(event).await;
    }
}

/// Says whether the last answer is one.
fn finished(reply: &Reply) -> Result<(), Halt> {
    match &reply.stop {
        StopReason::Refused => Err(halt("refused", "The assistant does not want to answer that.")),
        StopReason::Length => Err(halt("too_long", "The answer was longer than it may be, and ends here.")),
        StopReason::Finished | StopReason::ToolCalls | StopReason::Other(_) => Ok(()),
    }
}

fn halt(code: &'static str, message: &str) -> Halt {
    Halt { code, message: message.to_owned() }
}

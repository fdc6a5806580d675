//! The answer to a message of the chat as a stream: what is said at once, or what happens to a request until it is answered.
//! The request goes on when nobody listens; its runs can be watched by their ids.

use artel_api::chat::ChatEvent;
use artel_engine::Follow;
use artel_model::access::Principal;
use artel_model::id::RunId;
use artel_store::Revision;
use async_trait::async_trait;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use super::ask::read_ask;
use super::chat_telling::{RunTelling, conclusion};
use crate::app::App;
use crate::stream::{Next, Source, StreamEvent};

/// The answer to a message.
pub struct ChatStream {
    /// What is to be said next.
    ready: Vec<ChatEvent>,
    /// The id of the last event.
    number: u64,
    work: Option<Work>,
}

/// What an answer comes from.
enum Work {
    /// A request that plans are made and run for.
    PendingAsk(Box<PendingAsk>),
    /// A model that somebody talks to.
    Talk(mpsc::Receiver<ChatEvent>),
}

/// A request that is being answered.
struct PendingAsk {
    app: App,
    caller: Principal,
    conversation: Uuid,
    ask: Uuid,
    changes: watch::Receiver<u64>,
    /// How many runs of the request were noticed.
    noticed: usize,
    last_run: Option<Uuid>,
    following: Option<(Follow, RunTelling)>,
}

impl ChatStream {
    /// Says these things and nothing else.
    pub(super) fn said(ready: Vec<ChatEvent>) -> Self {
        Self { ready, number: 0, work: None }
    }

    /// Tells what happens to a request.
    pub(super) fn asked(
        app: App,
        caller: Principal,
        conversation: Uuid,
        ask: Uuid,
        changes: watch::Receiver<u64>,
    ) -> Self {
        let asked = PendingAsk {
            app,
            caller,
            conversation,
            ask,
            changes,
            noticed: 0,
            last_run: None,
            following: None,
        };
        Self { ready: Vec::new(), number: 0, work: Some(Work::PendingAsk(Box::new(asked))) }
    }

    /// Tells what a model says and does.
    pub(super) fn talk(events: mpsc::Receiver<ChatEvent>) -> Self {
        Self { ready: Vec::new(), number: 0, work: Some(Work::Talk(events)) }
    }

    fn written(&mut self, event: &ChatEvent) -> StreamEvent {
        self.number += 1;
        StreamEvent::new(self.number, event.kind(), event)
    }
}

#[async_trait]
impl Source for ChatStream {
    async fn next(&mut self) -> Next {
        if self.ready.is_empty() {
            let Some(work) = &mut self.work else { return Next::Over };
            self.ready = match work {
                Work::PendingAsk(asked) => asked.next().await,
                Work::Talk(events) => events.recv().await.into_iter().collect(),
            };
        }
        let ready = std::mem::take(&mut self.ready);
        if matches!(ready.last(), Some(ChatEvent::Done { .. }) | None) {
            self.work = None;
        }
        Next::Events(ready.iter().map(|event| self.written(event)).collect())
    }
}

impl PendingAsk {
    /// Waits for something to tell; nothing when there is nobody left who could say more.
    async fn next(&mut self) -> Vec<ChatEvent> {
        loop {
            if let Some((follow, telling)) = &mut self.following {
                // What cannot be followed any further is told by the answer.
                let events = follow.next().await.unwrap_or_default();
                let told = telling.tell(&events);
                if events.is_empty() {
                    self.following = None;
                }
                if !told.is_empty() {
                    return told;
                }
                continue;
            }
            self.changes.borrow_and_update();
            let told = self.look();
            if !told.is_empty() {
                return told;
            }
            if self.changes.changed().await.is_err() {
                return Vec::new();
            }
        }
    }

    /// Looks whether another run began, or whether there is an answer.
    fn look(&mut self) -> Vec<ChatEvent> {
        let status = match read_ask(&self.app, &self.caller, self.ask) {
            Ok(status) => status,
            Err(error) => {
                let failed = ChatEvent::Error { code: error.code.to_owned(), message: error.message };
                return vec![failed, self.done(false)];
            }
        };
        if let Some(run) = status.runs.get(self.noticed).copied() {
            self.noticed += 1;
            self.last_run = Some(run);
            let follow = self.app.engine().follow(RunId(run), Revision(0));
            self.following = Some((follow, RunTelling::new(RunId(run))));
            return vec![ChatEvent::Run { run_id: run }];
        }
        match status.result {
            Some(result) => vec![conclusion(&result), self.done(result.success)],
            None => Vec::new(),
        }
    }

    fn done(&self, ok: bool) -> ChatEvent {
        ChatEvent::Done { conversation_id: self.conversation, run_id: self.last_run, ok, clear: false }
    }
}

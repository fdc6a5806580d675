//! Tells clients that the lists they know have changed, and only when what they see has.

use artel_app::App;
use artel_model::access::Principal;
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::watch;

/// Waits for changes of what somebody sees.
pub(super) struct Changes {
    app: App,
    caller: Principal,
    generations: watch::Receiver<u64>,
    closing: watch::Receiver<bool>,
    known: Option<String>,
}

impl Changes {
    /// Begins to watch: what changes from this moment on is told.
    pub(super) fn watch(app: &App, caller: &Principal) -> Self {
        let (generations, closing) = (app.catalogs().changes(), app.closing());
        let mut changes =
            Self { app: app.clone(), caller: caller.clone(), generations, closing, known: None };
        changes.known = changes.tag();
        changes
    }

    fn tag(&self) -> Option<String> {
        self.app.catalogs().view(&self.caller.viewer).map(|view| view.etag().to_owned())
    }

    /// Returns when something has changed; nothing when the server ends.
    async fn next(&mut self) -> Option<()> {
        loop {
            tokio::select! {
                changed = self.generations.changed() => changed.ok()?,
                _ = self.closing.wait_for(|is_closing| *is_closing) => return None,
            }
            let tag = self.tag();
            if tag != self.known {
                self.known = tag;
                return Some(());
            }
        }
    }

    /// Tells a client that keeps a session, until it goes away or `over` is dropped.
    pub(super) async fn tell(mut self, peer: Peer<RoleServer>, mut over: watch::Receiver<()>) {
        loop {
            tokio::select! {
                _ = over.changed() => return,
                changed = self.next() => if changed.is_none() { return },
            }
            let tools = peer.notify_tool_list_changed().await;
            let resources = peer.notify_resource_list_changed().await;
            let prompts = peer.notify_prompt_list_changed().await;
            if tools.and(resources).and(prompts).is_err() {
                return;
            }
        }
    }

    /// Tells a client that listens, as long as it does; what it did not ask for is not sent.
    pub(super) async fn tell_listener(mut self, context: &SubscriptionContext) {
        loop {
            tokio::select! {
                () = context.cancelled() => return,
                changed = self.next() => if changed.is_none() { return },
            }
            let (accepted, sink) = (context.accepted(), context.sink());
            if accepted.tools_list_changed == Some(true) {
                let _ = sink.notify_tool_list_changed().await;
            }
            if accepted.resources_list_changed == Some(true) {
                let _ = sink.notify_resource_list_changed().await;
            }
            if accepted.prompts_list_changed == Some(true) {
                let _ = sink.notify_prompt_list_changed().await;
            }
        }
    }
}

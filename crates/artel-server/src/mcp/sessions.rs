//! Conversations over HTTP that last longer than a request. Each belongs to the principal who began it: for everybody else,
//! also for the same user with another key, it does not exist. Revisions of the protocol from 2026-07-28 on have none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_app::OperationError;
use artel_model::access::Principal;
use artel_model::limit::{
    MCP_BODY_BYTES_MAX, MCP_SESSION_IDLE_MS, MCP_SESSIONS_MAX, MCP_SESSIONS_PER_USER_MAX,
};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::McpServer;

use crate::http::Http;

/// Pages of a browser that may call: those of this machine. Others have no business with a credential for tools, and a
/// page that was made to look local by its name server still says its own name.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
    "http://[::1]:*",
    "https://[::1]:*",
];

/// All sessions, and whose they are.
pub(crate) struct McpSessions {
    manager: Arc<LocalSessionManager>,
    config: StreamableHttpServerConfig,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    entries: BTreeMap<String, SessionEntry>,
    /// Counts uses, to know which session was used last.
    uses: u64,
}

struct SessionEntry {
    owner: Principal,
    used: u64,
}

impl Default for McpSessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(Duration::from_millis(MCP_SESSION_IDLE_MS));
        // Whoever comes from a browser is known by `Origin`; a proxy may pass on any `Host`.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_allowed_origins(ORIGINS)
            .enforce_origin_validation()
            .with_max_request_body_bytes(MCP_BODY_BYTES_MAX);
        Self { manager: Arc::new(manager), config, taken: Mutex::default() }
    }
}

impl McpSessions {
    /// Returns who answers the requests of a principal.
    pub(super) fn service(
        &self,
        http: &Http,
        caller: &Principal,
    ) -> StreamableHttpService<McpServer, LocalSessionManager> {
        let (http, caller) = (http.clone(), caller.clone());
        let make = move || Ok(McpServer::over_http(http.clone(), caller.clone()));
        StreamableHttpService::new(make, Arc::clone(&self.manager), self.config.clone())
    }

    /// Says whether a session is the principal's, and notes that it is used.
    pub(super) fn is_of(&self, id: &str, caller: &Principal) -> bool {
        let mut taken = self.taken();
        taken.uses += 1;
        let used = taken.uses;
        let entry = taken.entries.get_mut(id).filter(|entry| entry.owner == *caller);
        entry.map(|entry| entry.used = used).is_some()
    }

    /// Notes whose a session is that has just begun. Whoever has too many loses the one they have not used for longest; when
    /// there are too many altogether, the one that has just begun ends.
    pub(super) async fn take_in(&self, id: &str, owner: &Principal) -> Result<(), OperationError> {
        let alive: Vec<String> = self.manager.sessions.read().await.keys().map(ToString::to_string).collect();
        let (surplus, is_full) = {
            let mut taken = self.taken();
            taken.entries.retain(|id, _| alive.contains(id));
            let surplus = taken.surplus_of(owner);
            for one in &surplus {
                taken.entries.remove(one);
            }
            let is_full = taken.entries.len() >= MCP_SESSIONS_MAX;
            if !is_full {
                taken.uses += 1;
                let entry = SessionEntry { owner: owner.clone(), used: taken.uses };
                taken.entries.insert(id.to_owned(), entry);
            }
            (surplus, is_full)
        };
        for one in surplus {
            self.end(&one).await;
        }
        if is_full {
            self.end(id).await;
            let message = "There are as many sessions as there may be; try again later.";
            return Err(OperationError::unavailable("too_many_sessions", message));
        }
        Ok(())
    }

    /// Ends the sessions of a principal whose credential is not good any more.
    pub(super) async fn end_all_of(&self, owner: &Principal) {
        let ended: Vec<String> = {
            let mut taken = self.taken();
            let own = taken.entries.extract_if(.., |_, entry| entry.owner == *owner);
            own.map(|(id, _)| id).collect()
        };
        for id in ended {
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        let id: Arc<str> = id.into();
        if let Err(error) = self.manager.close_session(&id).await {
            tracing::debug!(%error, "a session cannot be closed");
        }
    }

    /// Ends all streams; clients come back to whoever serves next.
    pub(crate) fn close(&self) {
        self.config.cancellation_token.cancel();
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Returns the sessions that a user must lose to begin another, those first that were not used for longest.
    fn surplus_of(&self, owner: &Principal) -> Vec<String> {
        let own = self.entries.iter().filter(|(_, entry)| entry.owner.viewer.user == owner.viewer.user);
        let mut own: Vec<(u64, &String)> = own.map(|(id, entry)| (entry.used, id)).collect();
        own.sort_unstable();
        let surplus = (own.len() + 1).saturating_sub(MCP_SESSIONS_PER_USER_MAX);
        own.into_iter().take(surplus).map(|(_, id)| id.clone()).collect()
    }
}

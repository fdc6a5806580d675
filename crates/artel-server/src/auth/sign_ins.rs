//! Remembers which teams people have, each time the identity provider tells something else: their keys lose the teams that
//! they have left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use artel_model::access::{KnownTeams, UserId};
use artel_model::limit::SIGN_INS_REMEMBERED_MAX;
use artel_store::PersonStore;

use super::oidc::SignIn;

/// Writes down the teams of those who sign in.
pub(super) struct SignIns {
    people: Arc<dyn PersonStore>,
    /// What was written last, so that a token in use is not written with every request.
    written: Mutex<HashMap<UserId, KnownTeams>>,
}

impl SignIns {
    pub(super) fn new(people: Arc<dyn PersonStore>) -> Self {
        Self { people, written: Mutex::default() }
    }

    /// Remembers the teams of a person, if they are other ones or were told later than what is known.
    pub(super) async fn note(&self, sign_in: &SignIn) {
        let viewer = &sign_in.principal.viewer;
        let known = KnownTeams { teams: viewer.teams.clone(), at: sign_in.told_at };
        if !self.is_news(&viewer.user, &known) {
            return;
        }
        match self.people.remember_teams(&viewer.user, &known).await {
            Ok(()) => self.keep(&viewer.user, known),
            Err(error) => {
                // The token says who the person is; their keys keep the teams that were known before.
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, user = %viewer.user, "cannot remember the teams of a person");
            }
        }
    }

    fn is_news(&self, user: &UserId, known: &KnownTeams) -> bool {
        self.written().get(user).is_none_or(|before| before.at < known.at)
    }

    fn keep(&self, user: &UserId, known: KnownTeams) {
        let mut written = self.written();
        if written.len() >= SIGN_INS_REMEMBERED_MAX {
            // Each is written once more at the next request.
            written.clear();
        }
        written.insert(user.clone(), known);
    }

    fn written(&self) -> std::sync::MutexGuard<'_, HashMap<UserId, KnownTeams>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use artel_model::access::{Credential, Principal, Scope, Viewer};
    use artel_model::time::Timestamp;
    use artel_store::MemoryStore;

    use super::*;

    fn sign_in(teams: &[&str], millis: i64) -> SignIn {
        let teams = teams.iter().map(|team| team.parse().unwrap()).collect();
        let viewer = Viewer { user: "ann".parse().unwrap(), teams };
        let principal = Principal { viewer, scopes: Scope::of_a_person(), credential: Credential::Oidc };
        SignIn { principal, told_at: Timestamp::from_millis(millis) }
    }

    #[tokio::test]
    async fn what_the_provider_told_last_is_remembered() {
        let store = Arc::new(MemoryStore::new());
        let sign_ins = SignIns::new(store.clone());
        let known = async || store.known_teams(&"ann".parse().unwrap()).await.unwrap().unwrap();
        let names = |known: &KnownTeams| known.teams.iter().map(ToString::to_string).collect::<Vec<_>>();
        sign_ins.note(&sign_in(&["blue", "red"], 10)).await;
        assert_eq!(names(&known().await), ["blue", "red"]);
        sign_ins.note(&sign_in(&["red"], 20)).await;
        assert_eq!(names(&known().await), ["red"]);
        // A token of before is good for a while; what it says of teams is old.
        sign_ins.note(&sign_in(&["blue", "red"], 10)).await;
        SignIns::new(store.clone()).note(&sign_in(&["blue", "red"], 10)).await;
        assert_eq!(
            (names(&known().await), known().await.at),
            (vec!["red".to_owned()], Timestamp::from_millis(20))
        );
    }
}

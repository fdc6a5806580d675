//! API keys: made, shown without their secret, revoked. Nobody gives a key more than they have.

use std::collections::BTreeSet;
use std::net::IpAddr;

use artel_api::Paged;
use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_engine::Clock;
use artel_model::access::{Principal, Scope, TeamId, UserId};
use artel_model::catalog::{ApiKey, AuditAction};
use artel_model::limit::{CUSTOM_TEAMS_MAX, KEY_LABEL_CHARS_MAX, KEYS_PER_OWNER_MAX};

use super::owned::owner_filter;
use super::page::{page_request, paged};
use crate::app::{App, Stores};
use crate::audit::audit;
use crate::error::OperationError;
use crate::keys::{KeyRing, KeyText};

/// Where keys are made, listed and revoked: for whoever calls the server, and for whoever has its store in hand.
#[derive(Clone, Copy)]
pub struct KeyOperations<'a> {
    /// What is kept.
    pub stores: &'a Stores,
    /// What time it is.
    pub clock: &'a Clock,
    /// Makes and proves keys.
    pub keys: &'a KeyRing,
}

impl<'a> KeyOperations<'a> {
    /// Returns the operations of an application.
    pub fn of(app: &'a App) -> Self {
        Self { stores: app.stores(), clock: app.clock(), keys: app.keys() }
    }

    /// Makes a key.
    pub async fn make(
        self,
        caller: &Principal,
        from: Option<IpAddr>,
        wish: KeyRequest,
    ) -> Result<MadeKey, OperationError> {
        let now = self.clock.now();
        let owner = owner(caller, wish.owner_user_id)?;
        let scopes = scopes(caller, wish.scopes)?;
        let team_ids = teams(caller, &owner, wish.team_ids)?;
        if wish.expires_at.is_some_and(|until| until <= now) {
            return Err(OperationError::unprocessable(
                "already_expired",
                "`expires_at` must be in the future",
            ));
        }
        let key = KeyText::fresh();
        let row = ApiKey {
            key_id: key.id().to_owned(),
            key_hash: self.keys.hash(&key).await?,
            label: label(&wish.label)?,
            owner_user_id: owner,
            team_ids,
            scopes,
            created_at: now,
            expires_at: wish.expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        if !self.stores.keys.create_key(&row, KEYS_PER_OWNER_MAX).await? {
            let message =
                format!("There are already {KEYS_PER_OWNER_MAX} keys of this owner; revoke one first.");
            return Err(OperationError::conflict("too_many_keys", message));
        }
        self.audit(caller, from, AuditAction::KeyCreated, &row).await?;
        Ok(MadeKey { key: key.reveal(), record: shown(row) })
    }

    /// Returns keys, the last made first.
    pub async fn list(self, caller: &Principal, query: KeysQuery) -> Result<Paged<Key>, OperationError> {
        let owner = owner_filter(caller, query.owner.as_deref())?;
        let page = page_request(query.after, query.limit)?;
        let keys = self.stores.keys.keys(owner.as_ref(), &page).await?;
        Ok(paged(keys, shown))
    }

    /// Revokes a key: from the next request on it is not accepted.
    pub async fn revoke(
        self,
        caller: &Principal,
        from: Option<IpAddr>,
        key_id: &str,
    ) -> Result<(), OperationError> {
        let row = self.stores.keys.key(key_id).await?;
        let row = row.filter(|row| caller.owns(Some(&row.owner_user_id)));
        let row = row.ok_or_else(|| OperationError::not_found("key"))?;
        self.stores.keys.revoke_key(key_id, self.clock.now()).await?;
        self.keys.forget(key_id);
        if row.revoked_at.is_none() {
            self.audit(caller, from, AuditAction::KeyRevoked, &row).await?;
        }
        Ok(())
    }

    async fn audit(
        self,
        caller: &Principal,
        from: Option<IpAddr>,
        action: AuditAction,
        row: &ApiKey,
    ) -> Result<(), OperationError> {
        let (store, now) = (&*self.stores.audit, self.clock.now());
        audit(store, now, caller, from, action, &row.key_id, described(row)).await?;
        Ok(())
    }
}

fn owner(caller: &Principal, asked: Option<UserId>) -> Result<UserId, OperationError> {
    match asked {
        Some(other) if other != caller.viewer.user && !caller.is_admin() => {
            Err(OperationError::forbidden("Only an administrator makes keys for others."))
        }
        Some(owner) => Ok(owner),
        None => Ok(caller.viewer.user.clone()),
    }
}

fn scopes(caller: &Principal, asked: Option<BTreeSet<Scope>>) -> Result<BTreeSet<Scope>, OperationError> {
    let scopes = asked.unwrap_or_else(|| [Scope::CatalogRead].into());
    if scopes.is_empty() {
        return Err(OperationError::unprocessable("no_scopes", "a key without scopes is good for nothing"));
    }
    match scopes.iter().find(|scope| !caller.may(**scope)) {
        Some(scope) => {
            let message = format!("You cannot give a key the scope `{scope}`, which you do not have.");
            Err(OperationError::forbidden(message))
        }
        None => Ok(scopes),
    }
}

fn teams(
    caller: &Principal,
    owner: &UserId,
    asked: Option<BTreeSet<TeamId>>,
) -> Result<BTreeSet<TeamId>, OperationError> {
    let own = &caller.viewer.teams;
    let Some(teams) = asked else {
        return Ok(if *owner == caller.viewer.user { own.clone() } else { BTreeSet::new() });
    };
    if teams.len() > CUSTOM_TEAMS_MAX {
        let message = format!("a key is for at most {CUSTOM_TEAMS_MAX} teams");
        return Err(OperationError::unprocessable("too_many_teams", message));
    }
    match teams.iter().find(|team| !caller.is_admin() && !own.contains(*team)) {
        Some(team) => Err(OperationError::forbidden(format!("You do not belong to the team `{team}`."))),
        None => Ok(teams),
    }
}

fn label(text: &str) -> Result<String, OperationError> {
    let text = text.trim();
    if text.chars().count() > KEY_LABEL_CHARS_MAX || text.chars().any(char::is_control) {
        let message = format!("`label` is one line of at most {KEY_LABEL_CHARS_MAX} characters");
        return Err(OperationError::unprocessable("invalid_label", message));
    }
    Ok(text.to_owned())
}

fn described(row: &ApiKey) -> String {
    let scopes: Vec<&str> = row.scopes.iter().map(|scope| scope.as_str()).collect();
    let until = row.expires_at.map(|until| format!(", until {until}")).unwrap_or_default();
    format!("`{}` of {} for {}{until}", row.label, row.owner_user_id, scopes.join(", "))
}

/// Shows a key: never its hash.
fn shown(row: ApiKey) -> Key {
    Key {
        key_id: row.key_id,
        label: row.label,
        owner_user_id: row.owner_user_id,
        team_ids: row.team_ids,
        scopes: row.scopes,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    }
}

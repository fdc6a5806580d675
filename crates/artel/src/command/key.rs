//! `artel key`: keys for the server, made by whoever has its store in hand.

use artel_api::Paged;
use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_engine::Clock;
use artel_model::time::Timestamp;
use artel_server::ApiError;
use artel_store::Cursor;
use serde_json::json;

use super::context::Context;
use super::runs::tell_next;
use crate::cli::{KeyCreateArgs, KeyListArgs};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago};
use crate::workshop::{KeyCabinet, Store, local_principal, wait_for};

pub(crate) fn create(context: Context<'_>, args: &KeyCreateArgs) -> Result<(), Failure> {
    let wish = KeyRequest {
        label: args.label.clone(),
        scopes: Some(args.scope.iter().copied().collect()).filter(|_| !args.scope.is_empty()),
        team_ids: Some(args.team.iter().cloned().collect()).filter(|_| !args.team.is_empty()),
        expires_at: args.expires.map(|expiry| expiry.after(Clock::system().now())),
        owner_user_id: args.owner.clone(),
    };
    let caller = local_principal(&context.config.environment);
    let MadeKey { key, record } = wait_for(async {
        let cabinet = KeyCabinet::of(Store::open(context.config).await?).await?;
        cabinet.desk().make(&caller, None, wish).await.map_err(|error| refused(&error))
    })?;
    let output = context.output;
    if output.json {
        output.document(&MadeKey { key, record });
        return Ok(());
    }
    output.line(&key);
    let until = record.expires_at.map(|until| format!(", until {until}")).unwrap_or_default();
    output.talk(&format!(
        "key {} of {} for {}{until}; it is shown this once",
        record.key_id,
        record.owner_user_id,
        scopes(&record)
    ));
    Ok(())
}

pub(crate) fn list(context: Context<'_>, args: &KeyListArgs) -> Result<(), Failure> {
    let query = KeysQuery {
        owner: args.owner.as_ref().map(ToString::to_string),
        after: args.page.after.clone(),
        limit: Some(u32::from(args.page.limit)),
    };
    let caller = local_principal(&context.config.environment);
    let page = wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => {
                let cabinet = KeyCabinet::of(store).await?;
                cabinet.desk().list(&caller, query).await.map_err(|error| refused(&error))
            }
            None => Ok(Paged { items: Vec::new(), next: None }),
        }
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
        return Ok(());
    }
    let now = Clock::system().now();
    let mut table =
        Table::new(&[Tone::Strong, Tone::Plain, Tone::Accent, Tone::Faint, Tone::Faint, Tone::Plain]);
    for key in &page.items {
        let owner = key.owner_user_id.to_string();
        let used = key.last_used_at.map_or("never used".to_owned(), |at| format!("used {}", ago(at, now)));
        let cells = [key.key_id.clone(), owner, scopes(key), state(key, now), used, key.label.clone()];
        table.row(cells);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.map(Cursor).as_ref(), "key");
    Ok(())
}

pub(crate) fn revoke(context: Context<'_>, id: &str) -> Result<(), Failure> {
    let unknown = || {
        Failure::failed(format!("there is no key `{id}`"))
            .hint("`artel key list` shows the keys there are; a key's id stands between `artel_` and the dot")
    };
    let caller = local_principal(&context.config.environment);
    wait_for(async {
        let store = Store::open_existing(context.config).await?.ok_or_else(unknown)?;
        let cabinet = KeyCabinet::of(store).await?;
        cabinet.desk().revoke(&caller, None, id).await.map_err(|error| match error.status().as_u16() {
            404 => unknown(),
            _ => refused(&error),
        })
    })?;
    if context.output.json {
        context.output.document(&json!({"key_id": id, "revoked": true}));
    } else {
        context.output.talk(&format!("key {id} is revoked"));
    }
    Ok(())
}

fn scopes(key: &Key) -> String {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    scopes.join(",")
}

fn state(key: &Key, now: Timestamp) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {}", ago(at, now)),
        (None, Some(until)) if until <= now => format!("expired {}", ago(until, now)),
        (None, Some(until)) => format!("until {until}"),
        (None, None) => "good".to_owned(),
    }
}

/// What the server would answer with a status, the command line says with an exit code.
fn refused(error: &ApiError) -> Failure {
    match error.status() {
        status if status.is_server_error() => {
            Failure::missing(error.message()).hint("`artel doctor` checks the store")
        }
        status if matches!(status.as_u16(), 400 | 422) => Failure::usage(error.message()),
        _ => Failure::failed(error.message()),
    }
}

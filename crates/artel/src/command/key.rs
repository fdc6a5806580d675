//! `artel key`: keys for the server, made by whoever has its store in hand, or by its administrator.

use artel_api::Paged;
use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_engine::Clock;
use artel_model::time::Timestamp;
use serde_json::json;

use super::context::Context;
use super::runs::tell_next;
use crate::backend::Backend;
use crate::cli::{KeyCreateArgs, KeyListArgs};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago};
use crate::runtime::wait_for;

pub(crate) fn create(context: Context<'_>, args: &KeyCreateArgs) -> Result<(), Failure> {
    let wish = KeyRequest {
        label: args.label.clone(),
        scopes: Some(args.scope.iter().copied().collect()).filter(|_| !args.scope.is_empty()),
        team_ids: Some(args.team.iter().cloned().collect()).filter(|_| !args.team.is_empty()),
        expires_at: args.expires.map(|expiry| expiry.after(Clock::system().now())),
        owner_user_id: args.owner.clone(),
    };
    let MadeKey { key, record } =
        wait_for(async { Ok(Backend::open_or_make(context).await?.make_key(wish).await?) })?;
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
    let page = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.list_keys(query).await?),
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
    tell_next(context, page.items.len(), page.next.as_deref(), "key");
    Ok(())
}

pub(crate) fn revoke(context: Context<'_>, id: &str) -> Result<(), Failure> {
    let is_revoked = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => backend.revoke_key(id).await,
            None => Ok(false),
        }
    })?;
    if !is_revoked {
        return Err(Failure::failed(format!("there is no key `{id}`")).hint(
            "`artel key list` shows the keys there are; a key's id stands between `artel_` and the dot",
        ));
    }
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

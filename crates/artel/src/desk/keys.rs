//! Keys for a server: made, listed and revoked.

use artel_api::client::ApiPath;
use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_api::{ErrorKind, Paged};

use crate::command::Context;
use crate::failure::{Failure, refused};
use crate::workshop::{KeyCabinet, Store, local_principal};

/// Where keys are, at a server.
const KEYS: &str = "/api/catalog-api-keys";

/// Makes a key. Nobody is shown it again.
pub(crate) async fn make_key(context: Context<'_>, wish: KeyRequest) -> Result<MadeKey, Failure> {
    if let Some(client) = context.remote()? {
        return client.post(&ApiPath::new(KEYS), &wish, None).await.map_err(|error| refused(&error));
    }
    let caller = local_principal(&context.config.environment);
    let cabinet = KeyCabinet::of(Store::open(context.config).await?);
    cabinet
        .desk()
        .make(&caller, None, wish)
        .await
        .map_err(|error| Failure::of_kind(error.kind(), error.message()))
}

/// Lists keys, the last made first.
pub(crate) async fn list_keys(context: Context<'_>, query: KeysQuery) -> Result<Paged<Key>, Failure> {
    if let Some(client) = context.remote()? {
        return client.ask(&ApiPath::new(KEYS), &query).await.map_err(|error| refused(&error));
    }
    let caller = local_principal(&context.config.environment);
    match Store::open_existing(context.config).await? {
        Some(store) => {
            let cabinet = KeyCabinet::of(store);
            cabinet
                .desk()
                .list(&caller, query)
                .await
                .map_err(|error| Failure::of_kind(error.kind(), error.message()))
        }
        None => Ok(Paged { items: Vec::new(), next: None }),
    }
}

/// Revokes a key; says whether there was one.
pub(crate) async fn revoke_key(context: Context<'_>, id: &str) -> Result<bool, Failure> {
    if let Some(client) = context.remote()? {
        return match client.delete(&ApiPath::new(KEYS).name(id)).await {
            Ok(()) => Ok(true),
            Err(error) if error.status() == Some(404) => Ok(false),
            Err(error) => Err(refused(&error)),
        };
    }
    let caller = local_principal(&context.config.environment);
    let Some(store) = Store::open_existing(context.config).await? else { return Ok(false) };
    let cabinet = KeyCabinet::of(store);
    match cabinet.desk().revoke(&caller, None, id).await {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::of_kind(error.kind(), error.message())),
    }
}

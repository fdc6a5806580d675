//! Keys for a server: made, listed and revoked.

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_app::operations::KeyOperations;

use super::error::BackendError;
use super::open::Backend;
use crate::failure::Failure;

/// Where keys are, at a server.
const KEYS: &str = "/api/catalog-api-keys";

impl Backend {
    /// Makes a key. It is not shown again.
    pub(crate) async fn make_key(&self, request: KeyRequest) -> Result<MadeKey, BackendError> {
        match self {
            Self::Local(local) => {
                Ok(KeyOperations::of(&local.app).make(&local.caller, None, request).await?)
            }
            Self::Remote(client) => Ok(client.post(&ApiPath::new(KEYS), &request, None).await?),
        }
    }

    /// Lists keys, the last made first.
    pub(crate) async fn list_keys(&self, query: KeysQuery) -> Result<Paged<Key>, BackendError> {
        match self {
            Self::Local(local) => Ok(KeyOperations::of(&local.app).list(&local.caller, query).await?),
            Self::Remote(client) => Ok(client.ask(&ApiPath::new(KEYS), &query).await?),
        }
    }

    /// Revokes a key, and says whether there was one.
    pub(crate) async fn revoke_key(&self, id: &str) -> Result<bool, Failure> {
        let revoked = match self {
            Self::Local(local) => KeyOperations::of(&local.app)
                .revoke(&local.caller, None, id)
                .await
                .map_err(BackendError::from),
            Self::Remote(client) => {
                client.delete(&ApiPath::new(KEYS).name(id)).await.map_err(BackendError::from)
            }
        };
        match revoked {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

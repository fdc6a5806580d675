//! Whether a credential is still good that something was opened with that lasts: a live stream, a session. A request proves its
//! credential once; what lasts has to look again.

use std::time::Duration;

use artel_model::access::Credential;

use crate::app::App;

/// The shortest time between two looks at the same key.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits until a credential is not good any more: its key was revoked, here or elsewhere, or has expired. Credentials that
/// nobody can take back while the server runs are good for ever.
pub async fn until_refused(app: &App, credential: &Credential) {
    match credential {
        Credential::ApiKey(key) => until_key_is_refused(app, key).await,
        Credential::AdminToken | Credential::Oidc | Credential::MetricsToken | Credential::Local => {
            std::future::pending().await
        }
    }
}

async fn until_key_is_refused(app: &App, key: &str) {
    let mut written = app.poller().subscribe();
    loop {
        let expires_at = match app.stores().keys.key(key).await {
            Ok(Some(row)) if row.is_good(app.clock().now()) => row.expires_at,
            Ok(_) => return,
            // Whether it was revoked can be asked when the store is there again.
            Err(_) => None,
        };
        // A key changes only when something is written, or when its time is up.
        tokio::select! {
            () = app.clock().wait_until(expires_at) => {}
            changed = written.changed() => if changed.is_err() { return },
        }
        if expires_at.is_none_or(|until| app.clock().now() < until) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

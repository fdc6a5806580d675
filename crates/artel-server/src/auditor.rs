//! Who is calling and from where, for handlers that change something and write it down.

use std::net::IpAddr;

use artel_app::{App, OperationError, audit};
use artel_model::access::Principal;
use artel_model::catalog::AuditAction;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::auth::ClientAddress;
use crate::error::ApiError;

/// Whoever changes something.
pub(crate) struct Auditor {
    principal: Principal,
    address: Option<IpAddr>,
}

impl<S: Send + Sync> FromRequestParts<S> for Auditor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let principal =
            parts.extensions.get::<Principal>().cloned().ok_or_else(OperationError::unauthorized)?;
        let address = parts.extensions.get::<ClientAddress>().map(|address| address.0);
        Ok(Self { principal, address })
    }
}

impl Auditor {
    /// Writes down what they did to what. The summary is for people, and must hold nothing secret.
    pub(crate) async fn note(
        &self,
        app: &App,
        action: AuditAction,
        subject: &str,
        summary: &str,
    ) -> Result<(), ApiError> {
        let (store, now) = (&*app.stores().audit, app.clock().now());
        audit(store, now, &self.principal, self.address, action, subject, summary).await?;
        Ok(())
    }
}

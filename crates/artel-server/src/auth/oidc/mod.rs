//! Tokens of an identity provider (OpenID Connect): signed by it, meant for us, and in time.

mod config;
mod issuer;
mod jwk;
mod person;
mod token;
mod verifier;

pub use config::{OidcConfig, OidcConfigError};
pub(crate) use person::SignIn;
pub use verifier::{OidcAnswer, probe_oidc};
pub(crate) use verifier::{OidcRefused, OidcVerifier};

#[cfg(test)]
mod tests;

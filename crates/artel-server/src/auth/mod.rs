//! Who is calling: tokens and keys become principals here, and nowhere else.

mod address;
mod admin;
mod authenticator;
mod oidc;
mod presented;
mod sign_ins;

pub(crate) use address::ClientAddress;
pub use address::{Network, NetworkError};
pub use authenticator::{AuthRefused, Authenticator};
pub use oidc::{OidcAnswer, OidcConfig, OidcConfigError, probe_oidc};

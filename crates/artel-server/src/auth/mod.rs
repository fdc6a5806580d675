//! Who is calling: tokens and keys become principals here, and nowhere else.

mod address;
mod admin;
mod authenticator;
mod key_ring;
mod key_text;
mod oidc;
mod presented;
mod random;
mod sign_ins;
mod slow_hash;

pub(crate) use address::ClientAddress;
pub use address::{Network, NetworkError};
pub(crate) use admin::administrator;
pub use authenticator::{AuthRefused, Authenticator};
pub(crate) use key_text::KeyText;
pub use oidc::{OidcAnswer, OidcConfig, OidcConfigError, probe_oidc};
pub use random::fresh_admin_token;
pub(crate) use random::random_bytes;

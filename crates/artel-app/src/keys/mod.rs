//! API keys: how they are written, how their secrets are hashed, and which of them were proved.

mod key_ring;
mod key_text;
mod random;
mod slow_hash;

pub use key_ring::{KeyRing, Owners, Unproved};
pub use key_text::KeyText;
pub use random::{fresh_admin_token, random_bytes};
pub use slow_hash::{Busy, Lane, Turn};

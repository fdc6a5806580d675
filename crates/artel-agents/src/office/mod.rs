//! The post office: what joins the mailboxes of the store with the live bus.
//!
//! The store is the truth: mail lies there before a send returns, events of topics are kept there for a while. The bus only
//! makes it quick: it rings, and carries live events. Without it everything still comes, found by looking at the store
//! again and again. Knows nothing of what agents do with their mail.

mod announcing;
mod dead;
mod error;
mod line;
mod listen;
mod mail_poller;
mod mailbox;
mod poller;
mod post_office;
mod request;
mod seen;
mod send;
mod wait;

pub use dead::DeadLetterBox;
pub use error::{ListenError, MailError, RequestError, SendError};
pub use listen::Listener;
pub use mailbox::{Awaited, OfficeCounts, ReadOptions};
pub use post_office::{Office, OfficeConfig, OfficeParts};
pub use send::Sent;

//! What travels between artel's server and its clients: wire types, the error envelope, and the description of every
//! endpoint, from which the OpenAPI document is made.
//!
//! Knows nothing of sockets, stores or the engine.

pub mod agents;
pub mod audit;
pub mod chat;
mod endpoint;
mod error;
pub mod events;
pub mod findings;
pub mod hubs;
pub mod keys;
pub mod messages;
mod openapi;
mod page;
pub mod plans;
pub mod runs;
pub mod skills;

pub use endpoint::{Answer, Body, Endpoint, Method, Needs, Payload, Shape, shape};
pub use error::ErrorBody;
pub use openapi::openapi;
pub use page::Paged;

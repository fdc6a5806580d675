//! What travels between artel's server and its clients: wire types, the error envelope, the description of every endpoint,
//! from which the OpenAPI document is made, and a client.
//!
//! Knows nothing of stores, the engine, or how requests are answered.

pub mod agents;
pub mod audit;
pub mod chat;
pub mod client;
mod endpoint;
mod error;
pub mod events;
pub mod findings;
mod header;
pub mod hubs;
pub mod keys;
pub mod messages;
mod number;
mod openapi;
pub mod operator;
mod page;
pub mod plans;
pub mod runs;
mod shapes;
pub mod skills;
pub mod trail;

pub use endpoint::{Answer, Body, Endpoint, Method, Needs, Payload, Shape, shape};
pub use error::{ErrorBody, ErrorKind};
pub use openapi::openapi;
pub use page::Paged;

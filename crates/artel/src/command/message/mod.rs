//! `artel message`: one file a command.

mod dead;
mod draft;
mod listen;
mod read;
mod request;
mod send;

pub(super) use dead::{counts, dead};
pub(super) use listen::listen;
pub(super) use read::read;
pub(super) use request::request;
pub(super) use send::{publish, send};

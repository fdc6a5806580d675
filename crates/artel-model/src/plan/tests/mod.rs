//! Plans from text to steps, as tables and properties.

mod chain;
mod composite;
mod filling;
mod properties;
mod reading;
mod resolving;
mod world;

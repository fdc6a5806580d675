//! Long lists, one page after another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One page of a list, the latest first.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[schemars(rename = "{T}Page")]
pub struct Paged<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins: the `after` of the next request; nothing at the end.
    pub next: Option<String>,
}

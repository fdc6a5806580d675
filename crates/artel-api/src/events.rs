//! Events of topics, live.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which topics somebody wants to hear of.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// The topics: `*` stands for one part, `>` at the end for one or more.
    pub topic: String,
    /// Events before this moment that are told first, when no `Last-Event-ID` is given.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    pub replay: Option<u32>,
}

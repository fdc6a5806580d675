//! Events of topics, live.

use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::TopicPattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which topics somebody wants to hear of.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// The topics: `*` stands for one part, `>` at the end for one or more.
    #[schemars(with = "TopicPattern")]
    pub topic: String,
    /// Events before this moment that are told first, when no `Last-Event-ID` is given.
    #[serde(default)]
    #[schemars(range(min = 0, max = TOPIC_REPLAY_MAX))]
    pub replay: Option<u32>,
}

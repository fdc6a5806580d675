//! What can be typed about messages.

use std::str::FromStr;

use artel_model::message::TopicPattern;
use clap::{Args, Subcommand};

use super::agent::AgentRef;
use super::run::PageArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum MessageCommand {
    /// Send a message to an agent, or to everybody
    #[command(
        after_help = "Examples:\n  artel message send --to scout task=patrol area=kitchen\n  artel message send --to broadcast '{\"announcement\": \"lunch\"}'\n  artel message send --from scout --to chief --type response --correlation 8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c found=true"
    )]
    Send(SendArgs),
    /// Publish an event about a topic, to whoever listens
    #[command(after_help = "Example:\n  artel message publish navigation.complete location=kitchen")]
    Publish(PublishArgs),
    /// Send a request of an agent to another one, and wait for the answer
    #[command(
        after_help = "Example:\n  artel message request --from chief --to scout --timeout 10 question=ready"
    )]
    Request(RequestArgs),
    /// Read an agent's mailbox: the most urgent first, then the earliest
    #[command(
        after_help = "Examples:\n  artel message read scout\n  artel message read scout --peek --all\n  artel message read scout --wait 30 --json"
    )]
    Read(ReadArgs),
    /// Print events about topics as they come: `*` is one part of a topic, `>` the rest
    #[command(
        after_help = "Examples:\n  artel message listen 'navigation.*'\n  artel message listen '>' --replay 10 --limit 20 --json"
    )]
    Listen(ListenArgs),
    /// List dead letters: messages that somebody did not get, and why
    #[command(after_help = "Examples:\n  artel message dead\n  artel message dead scout --json")]
    Dead(DeadArgs),
    /// Count messages
    #[command(after_help = "Example:\n  artel message counts")]
    Counts,
}

/// What a message says, and how.
#[derive(Debug, Args)]
pub(crate) struct ContentArgs {
    /// What it says: a JSON object, @FILE that holds one (@- for stdin), or KEY=VALUE pairs
    #[arg(value_name = "PAYLOAD")]
    pub(crate) payload: Vec<String>,
    /// How urgent it is: 1 first, 10 last [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) priority: Option<u64>,
    /// Seconds it may wait, from 1 to 3600 [default: 60]
    #[arg(long, value_name = "S")]
    pub(crate) ttl: Option<u64>,
    /// The request that it is, or answers
    #[arg(long, value_name = "UUID")]
    pub(crate) correlation: Option<String>,
    /// An id of your own: a second message with the same id is the first one
    #[arg(long, value_name = "UUID")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// To whom: an agent, or `broadcast`
    #[arg(long, value_name = "AGENT|broadcast")]
    pub(crate) to: Recipient,
    /// From which agent [default: the system]
    #[arg(long, value_name = "AGENT")]
    pub(crate) from: Option<AgentRef>,
    /// What kind [default: event, to everybody broadcast]
    #[arg(long = "type", value_name = "KIND", value_parser = ["event", "request", "response", "error", "broadcast"])]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// What it is about: `navigation.complete`
    pub(crate) topic: String,
    /// From which agent [default: the system]
    #[arg(long, value_name = "AGENT")]
    pub(crate) from: Option<AgentRef>,
    /// What kind
    #[arg(long = "type", value_name = "KIND", default_value = "event", value_parser = ["event", "error"])]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// Which agent asks
    #[arg(long, value_name = "AGENT")]
    pub(crate) from: AgentRef,
    /// Whom: an agent, or `broadcast`
    #[arg(long, value_name = "AGENT|broadcast")]
    pub(crate) to: Recipient,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The agent: its id, the beginning of that, or its name
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentRef,
    /// Leave what is shown unread
    #[arg(long)]
    pub(crate) peek: bool,
    /// Show what was read before too
    #[arg(long)]
    pub(crate) all: bool,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) limit: u16,
    /// Wait so many seconds for mail, when there is none
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) wait: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// Which topics: `navigation.complete`, `navigation.*`, `navigation.>`
    pub(crate) pattern: TopicPattern,
    /// Begin with the last so many events
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) replay: u16,
    /// Stop after so many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Stop after so many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct DeadArgs {
    /// Only those that this agent did not get
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<AgentRef>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// To whom a message goes, as it is typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Recipient {
    /// To every living agent but the sender.
    Broadcast,
    /// To one agent.
    Agent(AgentRef),
}

impl FromStr for Recipient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "broadcast" => Ok(Self::Broadcast),
            other => other.parse().map(Self::Agent),
        }
    }
}

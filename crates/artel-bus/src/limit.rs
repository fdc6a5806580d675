//! The limits of the bus. Those of messages and subscriptions are in `artel_model::limit`.

/// Subscriptions of one bus.
pub const SUBSCRIPTIONS_MAX: usize = 1_000_000;
/// Bells that hang on one bus.
pub const BELLS_MAX: usize = 1_000_000;
/// Agents for whom it rang and that are not told to others through Redis yet; for more of them nobody elsewhere is woken.
pub const RINGS_WAITING_MAX: usize = 100_000;
/// Ids of messages that are remembered so that none is delivered twice: 16 bytes each in a list and in a set.
pub const SEEN_MESSAGES_MAX: usize = 65_536;
/// Requests of one bus that wait for an answer.
pub const REQUESTS_WAITING_MAX: usize = 100_000;
/// Messages that Redis keeps for those who read late, about.
pub const STREAM_LEN: usize = 20_000;
/// The most messages that Redis may keep. All of them are remembered as seen, so reading everything again delivers nothing
/// twice.
pub const STREAM_LEN_MAX: usize = 60_000;
/// Answers that Redis keeps for one bus, about.
pub const REPLY_STREAM_LEN_MAX: usize = 20_000;

const _: () = assert!(STREAM_LEN_MAX < SEEN_MESSAGES_MAX && STREAM_LEN <= STREAM_LEN_MAX);

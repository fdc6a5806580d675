//! The limits of the bus, by the names they have here. Their numbers stand with all others in `artel_model::limit`.

pub use artel_model::limit::{
    BUS_BELLS_MAX as BELLS_MAX, BUS_REPLY_STREAM_LEN_MAX as REPLY_STREAM_LEN_MAX,
    BUS_REQUESTS_WAITING_MAX as REQUESTS_WAITING_MAX, BUS_RINGS_WAITING_MAX as RINGS_WAITING_MAX,
    BUS_SEEN_MESSAGES_MAX as SEEN_MESSAGES_MAX, BUS_STREAM_LEN as STREAM_LEN,
    BUS_STREAM_LEN_MAX as STREAM_LEN_MAX, BUS_SUBSCRIPTIONS_MAX as SUBSCRIPTIONS_MAX,
};

// Reading everything that Redis keeps again delivers nothing twice.
const _: () = assert!(STREAM_LEN_MAX < SEEN_MESSAGES_MAX && STREAM_LEN <= STREAM_LEN_MAX);

//! The bounds of a query by their names here, and how the index is cut into pieces.

pub use artel_model::limit::{
    SEARCH_BODY_BYTES_MAX as BODY_BYTES_MAX, SEARCH_FIELD_BYTES_MAX as FIELD_BYTES_MAX,
    SEARCH_QUERY_CHARS_MAX as QUERY_CHARS_MAX, SEARCH_QUERY_WORDS_MAX as QUERY_WORDS_MAX,
    SEARCH_RESULTS_MAX as RESULTS_MAX, SEARCH_TERM_BYTES_MAX as TERM_BYTES_MAX,
};

/// Documents in one shard. Small enough that a build has work for several cores; must fit 16 bits.
pub(super) const SHARD_DOCUMENTS_MAX: usize = 16_384;

/// Documents from which on there are at least two shards, so that two cores can build.
pub(super) const TWO_SHARDS_DOCUMENTS_MIN: usize = 2_048;

/// Adjacent words of a query that are tried joined, at most (beside the whole query).
pub(super) const JOINED_WORDS_MAX: usize = 3;

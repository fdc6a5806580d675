//! The bounds of the index and of a query, in one place.

/// Characters of a query that are read; what follows is cut.
pub const QUERY_CHARS_MAX: usize = 400;

/// Different words of a query that are searched; what follows is cut.
pub const QUERY_WORDS_MAX: usize = 16;

/// Hits in one answer.
pub const RESULTS_MAX: usize = 200;

/// Bytes of a document's body that are indexed; what follows is not searched.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a document's name, title, description and of its tags together that are indexed, each.
pub const FIELD_BYTES_MAX: usize = 8 * 1024;

/// Bytes of one indexed word. Longer words are cut, in documents and in queries alike.
pub const TERM_BYTES_MAX: usize = 64;

/// Documents in one shard. Small enough that a build has work for several cores; must fit 16 bits.
pub(super) const SHARD_DOCUMENTS_MAX: usize = 16_384;

/// Documents from which on there are at least two shards, so that two cores can build.
pub(super) const TWO_SHARDS_DOCUMENTS_MIN: usize = 2_048;

/// Adjacent words of a query that are tried joined, at most (beside the whole query).
pub(super) const JOINED_WORDS_MAX: usize = 3;

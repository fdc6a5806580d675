//! Finding skills by words: an immutable BM25 index in memory, built once for each catalog snapshot.
//!
//! It knows texts and positions of documents, nothing of skills, sources or callers; it does no IO and reads
//! no clock. The same documents and the same query always give the same hits in the same order.
//!
//! - **Fields**: name > title > tags > description > body, weighted together and saturated once (BM25F).
//! - **Words**: Unicode letters and digits, lower case, Latin accents removed. `fetch-object` and
//!   `fetchObject` are indexed as `fetch`, `object` and `fetchobject`; adjacent words of a query are tried
//!   joined as well.
//! - **Matches**, strongest first: the word itself, its plural or singular, a prefix (any word of three
//!   letters or more, and the last word of a query from its first letter), and, when nothing has the word
//!   itself, a typo (one edit for 4 to 7 letters, two from 8; a swap of neighbours is one edit, the first
//!   letter may differ).
//! - **Several words**: a document that has more of them, weighed by how rare each word is, ranks first.
//! - **Views**: a search inside a [`DocumentSet`] gives exactly what an index of those documents alone would
//!   give, scores included, so that a caller learns nothing about documents outside their view.
//! - **Limits**: see the constants. What lies beyond [`BODY_BYTES_MAX`] of a body is not searched; a query
//!   that was cut says so in [`Query::extent`].

mod buffers;
mod build;
mod dictionary;
mod distance;
mod document;
mod explain;
mod field;
mod index;
mod limits;
mod plan;
mod posting;
mod query;
mod rank;
mod text;

#[cfg(test)]
mod naive;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use document::{DocumentSet, SearchDocument};
pub use explain::{MatchKind, TermMatch};
pub use field::{Field, FieldSet};
pub use index::{Found, Hit, SearchIndex, Window};
pub use limits::{
    BODY_BYTES_MAX, FIELD_BYTES_MAX, QUERY_CHARS_MAX, QUERY_WORDS_MAX, RESULTS_MAX, TERM_BYTES_MAX,
};
pub use query::{Query, QueryExtent};

//! What can be chosen about the store, and its limits.

use std::fmt;
use std::str::FromStr;

/// PostgreSQL cuts longer names without a word.
const SCHEMA_NAME_BYTES_MAX: usize = 63;

/// What can be chosen about a store on PostgreSQL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PostgresOptions {
    /// Where its tables are. Several stores can share a database.
    pub schema: SchemaName,
    /// Connections at most, at least one; more work than that waits.
    pub connections_max: u32,
    /// How long an operation waits for a connection, and for a server that just starts.
    pub acquire_ms_max: u64,
    /// How long the server may work on one statement before it gives it up, with nothing written.
    pub statement_ms_max: u64,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: SchemaName("artel".to_owned()),
            connections_max: 16,
            acquire_ms_max: 5_000,
            statement_ms_max: 30_000,
        }
    }
}

/// The name of a schema: lower-case letters, digits and underscores, so that it means the same with and without quotes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaName(String);

/// Why a text cannot name a schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{}` cannot name a schema: 1 to {SCHEMA_NAME_BYTES_MAX} lower-case letters, digits and underscores, \
     a letter or underscore first",
    .0.escape_default()
)]
pub struct SchemaNameError(String);

impl FromStr for SchemaName {
    type Err = SchemaNameError;

    fn from_str(text: &str) -> Result<Self, SchemaNameError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        // Names that begin with `pg_` belong to PostgreSQL.
        let is_ours = !text.starts_with("pg_");
        if starts_well && is_ours && text.len() <= SCHEMA_NAME_BYTES_MAX && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(SchemaNameError(text.to_owned()))
        }
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_names_need_no_quotes() {
        for name in ["artel", "_a", "team_2"] {
            assert_eq!(name.parse::<SchemaName>().unwrap().to_string(), name);
        }
        for name in ["", "2a", "Artel", "a-b", "a b", "a\"; DROP TABLE x", "pg_temp", &"x".repeat(64)] {
            assert!(name.parse::<SchemaName>().is_err(), "{name}");
        }
    }
}

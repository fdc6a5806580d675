//! A statement and its arguments as data, so that it can be sent again on another connection.

use sqlx::postgres::{PgArguments, Postgres};
use sqlx::query::Query;
use sqlx::{Arguments as _, AssertSqlSafe, Encode, Type};

/// Ends a statement whose change is called `changed`: counts the write, and returns a row if anything was changed.
pub(crate) const COUNTED: &str = " UPDATE write_counts SET writes = writes + 1 \
    WHERE slot = pg_backend_pid() % 64 AND EXISTS (SELECT FROM changed) RETURNING true";

/// A statement and its arguments.
pub(crate) struct Statement {
    /// Made of texts of this crate only: everything else is an argument.
    text: String,
    arguments: PgArguments,
    /// Why an argument cannot be sent; told when the statement is.
    refused: Option<sqlx::error::BoxDynError>,
}

impl Statement {
    /// Makes a statement that names its arguments itself, as `$1`, or one that is put together with `place`.
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text: text.to_owned(), arguments: PgArguments::default(), refused: None }
    }

    /// Goes on with more text.
    pub(crate) fn then(mut self, text: &'static str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Adds an argument that the text names.
    pub(crate) fn with<'a, T: Encode<'a, Postgres> + Type<Postgres>>(mut self, value: T) -> Self {
        if let Err(error) = self.arguments.add(value) {
            self.refused.get_or_insert(error);
        }
        self
    }

    /// Adds an argument and its name at the end of the text.
    pub(crate) fn place<'a, T: Encode<'a, Postgres> + Type<Postgres>>(self, value: T) -> Self {
        let mut placed = self.with(value);
        let name = format!("${}", placed.arguments.len());
        placed.text.push_str(&name);
        placed
    }

    /// Returns it as something that can be sent once.
    pub(crate) fn query(&self) -> Result<Query<'static, Postgres, PgArguments>, sqlx::Error> {
        match &self.refused {
            Some(error) => Err(sqlx::Error::Encode(error.to_string().into())),
            None => Ok(sqlx::query_with(AssertSqlSafe(self.text.clone()), self.arguments.clone())),
        }
    }
}

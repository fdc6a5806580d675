//! Which PostgreSQL keeps the tables.

use artel_store::StoreError;

use crate::row::column;
use crate::statement::Statement;
use crate::store::PostgresStore;

const ASKING: &str = "asking for the version of the server";

impl PostgresStore {
    /// Returns the version of the server, as it says it.
    pub async fn server_version(&self) -> Result<String, StoreError> {
        let statement = Statement::new("SELECT current_setting('server_version')");
        let answer = self.read(ASKING, &statement).await?;
        answer.rows.first().map_or_else(|| Ok(String::new()), |row| column(ASKING, row, 0))
    }
}

//! Brings the tables up to date when a store is opened: forward only, all or nothing, one node at a time.

use std::time::Duration;

use artel_store::StoreError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::time::timeout;

use crate::error::store_error;
use crate::options::{PostgresOptions, SchemaName};

/// The version of the tables that this artel makes.
pub const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// The steps from nothing to the tables of this version. A step that was released is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_runs.sql"),
    include_str!("migrations/0002_agents.sql"),
    include_str!("migrations/0003_sync.sql"),
    include_str!("migrations/0004_owners.sql"),
    include_str!("migrations/0005_catalog.sql"),
    include_str!("migrations/0006_trail.sql"),
    include_str!("migrations/0007_health.sql"),
    include_str!("migrations/0008_people.sql"),
    include_str!("migrations/0009_health_probes.sql"),
];

/// The first half of the advisory lock's key, so that it is not taken for somebody else's; the schema is the second.
const LOCK_CLASS: i32 = 0x6172_746c;

const WHAT: &str = "bringing the tables up to date";

/// Brings the tables up to date, on a connection of its own: what it cannot do is told in the server's own words.
pub(crate) async fn migrate(address: &PgConnectOptions, options: &PostgresOptions) -> Result<(), StoreError> {
    let mut connection = connect(address, options).await?;
    refuse_other_encodings(&mut connection).await?;
    let mut transaction = connection.begin().await.map_err(failed)?;
    // Both wait as long as another node works on the tables.
    run(&mut transaction, "SET LOCAL statement_timeout = 0".to_owned()).await?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))");
    let lock = lock.bind(LOCK_CLASS).bind(options.schema.to_string());
    lock.execute(&mut *transaction).await.map_err(failed)?;

    make_version_table(&mut transaction, &options.schema).await?;
    let version = sqlx::query_scalar("SELECT version FROM schema_version");
    let version: i64 = version.fetch_one(&mut *transaction).await.map_err(failed)?;
    for migration in pending(version)? {
        run(&mut transaction, (*migration).to_owned()).await?;
    }
    let update = sqlx::query("UPDATE schema_version SET version = $1 WHERE version <> $1");
    update.bind(MIGRATIONS.len() as i64).execute(&mut *transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    connection.close().await.map_err(failed)
}

async fn connect(address: &PgConnectOptions, options: &PostgresOptions) -> Result<PgConnection, StoreError> {
    let limit = Duration::from_millis(options.acquire_ms_max);
    let connected = timeout(limit, PgConnection::connect_with(address)).await;
    connected
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
        .map_err(|error| store_error("connecting to the PostgreSQL server", error))
}

/// Documents hold every character there is; other encodings would refuse some of them one day.
async fn refuse_other_encodings(connection: &mut PgConnection) -> Result<(), StoreError> {
    let encoding = sqlx::query_scalar("SELECT current_setting('server_encoding')");
    let encoding: String = encoding.fetch_one(connection).await.map_err(failed)?;
    if encoding == "UTF8" {
        return Ok(());
    }
    let source = format!("the encoding of the database is {encoding}, artel needs one with UTF8").into();
    Err(StoreError::Unavailable { what: WHAT.to_owned(), source })
}

/// Makes the schema and its version table, unless somebody made them: a role may be allowed to use a schema but not to
/// make one.
async fn make_version_table(connection: &mut PgConnection, schema: &SchemaName) -> Result<(), StoreError> {
    let found = sqlx::query_as("SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL");
    let found = found.bind(schema.to_string()).bind(format!("{schema}.schema_version"));
    let (has_schema, has_table): (bool, bool) = found.fetch_one(&mut *connection).await.map_err(failed)?;
    if !has_schema {
        run(connection, format!("CREATE SCHEMA {schema}")).await?;
    }
    if !has_table {
        run(connection, "CREATE TABLE schema_version (version bigint NOT NULL)".to_owned()).await?;
        run(connection, "INSERT INTO schema_version VALUES (0)".to_owned()).await?;
    }
    Ok(())
}

/// Returns the migrations that tables of this version lack.
fn pending(version: i64) -> Result<&'static [&'static str], StoreError> {
    let done = usize::try_from(version).ok().and_then(|done| MIGRATIONS.get(done..));
    done.ok_or(StoreError::TooNew { found: version, known: MIGRATIONS.len() as i64 })
}

/// Runs statements that are ours to the last character.
async fn run(connection: &mut PgConnection, statements: String) -> Result<(), StoreError> {
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(connection).await.map_err(failed)?;
    Ok(())
}

fn failed(error: sqlx::Error) -> StoreError {
    store_error(WHAT, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_done_and_the_future_is_refused() {
        let known = MIGRATIONS.len();
        assert_eq!(pending(0).unwrap().len(), known);
        assert_eq!(pending(known as i64).unwrap().len(), 0);
        for version in [-1, known as i64 + 1, i64::MAX] {
            assert!(matches!(pending(version), Err(StoreError::TooNew { .. })), "{version}");
        }
    }
}

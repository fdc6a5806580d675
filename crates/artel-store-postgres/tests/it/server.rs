//! Where tests get a server and an empty store: from `ARTEL_TEST_POSTGRES` if that is set, otherwise they start their
//! own. Every store has a schema of its own.

use std::sync::Arc;
use std::thread;

use artel_store_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::runtime::Builder;

use crate::own_server::OwnServer;

/// A server that other tests may use too.
pub(crate) struct Server {
    url: String,
    own: Option<OwnServer>,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
    pub(crate) fn any() -> Self {
        match std::env::var("ARTEL_TEST_POSTGRES") {
            Ok(url) => Self { url, own: None },
            Err(_) => {
                let own = OwnServer::start();
                Self { url: own.url.clone(), own: Some(own) }
            }
        }
    }
}

impl OwnServer {
    pub(crate) fn start() -> Self {
        Self::start_with("").expect("PostgreSQL starts")
    }
}

/// A schema on a server; it goes with this.
pub(crate) struct Place {
    pub(crate) server: Server,
    pub(crate) options: PostgresOptions,
}

impl Place {
    pub(crate) fn any() -> Self {
        let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
        let schema = schema.parse().expect("a schema's name");
        // Tests run beside each other, and the server has only so many connections.
        let options = PostgresOptions { schema, connections_max: 4, ..PostgresOptions::default() };
        Self { server: Server::any(), options }
    }

    pub(crate) fn url(&self) -> &str {
        &self.server.url
    }

    pub(crate) async fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.url(), self.options.clone()).await.expect("the store opens")
    }

    /// Returns a connection that sees the tables of the schema.
    pub(crate) async fn connection(&self) -> PgConnection {
        let mut connection = PgConnection::connect(self.url()).await.expect("the server is there");
        run(&mut connection, &format!("SET search_path = {}", self.options.schema)).await;
        connection
    }

    /// Does something behind the store's back.
    pub(crate) async fn run(&self, statements: &str) {
        run(&mut self.connection().await, statements).await;
    }
}

async fn run(connection: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(connection).await.expect(statements);
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.server.own.is_some() {
            return;
        }
        // A test's runtime cannot be waited for from within.
        let (url, schema) = (self.server.url.clone(), self.options.schema.to_string());
        let removal = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&url).await.expect("the server is there");
                run(&mut connection, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await;
            });
        });
        drop(removal.join());
    }
}

/// Returns an empty store, and what keeps it alive.
pub(crate) async fn empty_store() -> (Arc<PostgresStore>, Place) {
    let place = Place::any();
    (Arc::new(place.store().await), place)
}

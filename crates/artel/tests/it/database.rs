//! A PostgreSQL database for one test, on the server of `ARTEL_TEST_POSTGRES` or on one that the test starts itself.

use std::process::Command;

use crate::session::Session;

#[path = "../../../artel-store-postgres/tests/it/own_server.rs"]
mod own_server;

use own_server::OwnServer;

/// A database; it goes with this.
pub(crate) struct Database {
    admin: String,
    name: String,
    url: String,
    /// The server, when it is this test's own.
    pub(crate) own: Option<OwnServer>,
}

impl Database {
    #[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
    pub(crate) fn any() -> Self {
        match std::env::var("ARTEL_TEST_POSTGRES") {
            Ok(url) => Self::on(url, None),
            Err(_) => Self::on_own_server(),
        }
    }

    pub(crate) fn on_own_server() -> Self {
        let server = OwnServer::start_with("").unwrap();
        Self::on(server.url.clone(), Some(server))
    }

    fn on(admin: String, own: Option<OwnServer>) -> Self {
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let (place, parameters) = admin.split_once('?').unwrap_or((&admin, ""));
        let (server, _) = place.rsplit_once('/').unwrap();
        let url = format!("{server}/{name}?{parameters}");
        assert!(psql(&admin, &format!("CREATE DATABASE {name} TEMPLATE template0")));
        Self { admin, name, url, own }
    }

    /// Executes a statement in the database.
    pub(crate) fn execute(&self, statement: &str) {
        assert!(psql(&self.url, statement), "{statement}");
    }

    /// Returns a place whose store is this database.
    pub(crate) fn session(&self) -> Session {
        let mut session = Session::new();
        self.used_by(&mut session);
        session
    }

    /// Makes this database the store of a place.
    pub(crate) fn used_by(&self, session: &mut Session) {
        session.set("ARTEL_STORE", &self.url);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.own.is_none() {
            psql(&self.admin, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the test prepares what it needs")]
fn psql(url: &str, statement: &str) -> bool {
    let mut command = Command::new("psql");
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, url]);
    command.status().unwrap().success()
}

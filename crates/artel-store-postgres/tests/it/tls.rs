//! Connections that are encrypted, and servers that are not who they should be.

use std::net::TcpListener;

use artel_store::RunStore as _;
use artel_store_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tempfile::NamedTempFile;

use crate::own_server::OwnServer;

/// Makes an authority, and a certificate of `localhost` signed by it. The server does it, so that the files are its own.
const MAKE_CERTIFICATES: &str = "
    umask 077
    new=\"openssl req -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256\"
    $new -x509 -subj /CN=authority -days 2 -keyout authority.key -out authority.crt
    $new -x509 -subj /CN=other -days 2 -keyout other.key -out other.crt
    $new -subj /CN=localhost -keyout server.key -out server.csr
    echo subjectAltName=DNS:localhost >names
    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
        -extfile names -out server.crt";

/// A server that is reached over TCP.
struct TcpServer {
    server: OwnServer,
    port: u16,
}

impl TcpServer {
    fn start() -> Self {
        // Somebody else may take the port before the server does; then there is another.
        let mut attempts = (0..5).map(|_| {
            let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let port = free.local_addr().expect("it has an address").port();
            drop(free);
            OwnServer::start_with(&format!("-c listen_addresses=127.0.0.1 -c port={port}"))
                .map(|server| Self { server, port })
        });
        attempts.find_map(Result::ok).expect("PostgreSQL starts")
    }

    /// Returns a connection that may do everything.
    async fn connection(&self) -> PgConnection {
        let url = format!("{}&port={}", self.server.url, self.port);
        PgConnection::connect(&url).await.expect("the server is there")
    }

    async fn encrypt(&mut self) {
        let mut connection = self.connection().await;
        let make = format!("COPY (SELECT) TO PROGRAM '{MAKE_CERTIFICATES}'");
        for statement in [make.as_str(), "ALTER SYSTEM SET ssl = on"] {
            let statement = AssertSqlSafe(statement.to_owned());
            sqlx::raw_sql(statement).execute(&mut connection).await.expect("the server obeys");
        }
        self.server.order("restart");
    }

    /// Returns a file of the server's.
    async fn file(&self, name: &str) -> NamedTempFile {
        let text = sqlx::query_scalar("SELECT pg_read_file($1)").bind(name);
        let text: String = text.fetch_one(&mut self.connection().await).await.expect("it is there");
        let file = NamedTempFile::new().expect("files can be made");
        std::fs::write(file.path(), text).expect("files can be written");
        file
    }

    /// Opens a store, and says whether its connections are encrypted, or why there is none.
    async fn open(&self, host: &str, parameters: &str) -> Result<bool, String> {
        let url = format!("postgres://artel:hush@{host}:{}/postgres?{parameters}", self.port);
        let opened = PostgresStore::connect(&url, PostgresOptions::default()).await;
        let store = opened.map_err(|error| {
            let text = format!("{error}: {}", std::error::Error::source(&error).expect("there is a reason"));
            assert!(!format!("{text} {error:?}").contains("hush"), "{error:?}");
            text
        })?;
        store.version().await.expect("the store works");
        let encrypted = sqlx::query_scalar(
            "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE application_name = 'artel'",
        );
        let encrypted = encrypted.fetch_one(&mut self.connection().await).await.expect("it knows");
        store.close().await;
        Ok(encrypted)
    }

    #[track_caller]
    fn refused(answer: Result<bool, String>, expected: &str) {
        let error = answer.expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_server_without_encryption_is_refused_when_it_is_asked_for() {
    let server = TcpServer::start();
    assert_eq!(server.open("127.0.0.1", "").await, Ok(false));
    for mode in ["require", "verify-ca", "verify-full"] {
        let answer = server.open("127.0.0.1", &format!("sslmode={mode}")).await;
        TcpServer::refused(answer, "server does not support TLS");
    }
}

#[tokio::test]
async fn a_server_with_encryption_is_who_it_should_be() {
    let mut server = TcpServer::start();
    server.encrypt().await;
    assert_eq!(server.open("localhost", "").await, Ok(true));
    assert_eq!(server.open("localhost", "sslmode=disable").await, Ok(false));
    assert_eq!(server.open("localhost", "sslmode=require").await, Ok(true));
    TcpServer::refused(server.open("localhost", "sslmode=verify-full").await, "UnknownIssuer");

    let authority = server.file("authority.crt").await;
    let root = |mode: &str| format!("sslmode={mode}&sslrootcert={}", authority.path().display());
    assert_eq!(server.open("localhost", &root("verify-full")).await, Ok(true));
    assert_eq!(server.open("127.0.0.1", &root("verify-ca")).await, Ok(true));
    TcpServer::refused(server.open("127.0.0.1", &root("verify-full")).await, "not valid for name");

    let other = server.file("other.crt").await;
    let parameters = format!("sslmode=require&sslrootcert={}", other.path().display());
    TcpServer::refused(server.open("localhost", &parameters).await, "invalid peer certificate");
    let answer = server.open("localhost", "sslmode=verify-full&sslrootcert=/nowhere.crt");
    TcpServer::refused(answer.await, "No such file");
}

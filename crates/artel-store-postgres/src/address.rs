//! The address of a server. It is read strictly: a wish for encryption that nobody noticed would be a secret told.
//!
//! Errors never hold the address, because it may hold a password.

use artel_store::StoreError;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::error::store_error;
use crate::options::PostgresOptions;

const READING: &str = "reading the address of the PostgreSQL server";

/// What may follow the `?` of an address; `options[NAME]` too.
const PARAMETERS: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// Reads the address, and adds what holds for every connection of ours.
pub(crate) fn address(url: &str, options: &PostgresOptions) -> Result<PgConnectOptions, StoreError> {
    refuse_unknown_parts(url)?;
    let address: PgConnectOptions = url.parse().map_err(|error| store_error(READING, error))?;
    let settings = [
        ("search_path", options.schema.to_string()),
        ("statement_timeout", options.statement_ms_max.to_string()),
    ];
    // What is written may be secret, and a line for every statement helps nobody.
    Ok(encrypted(address).application_name("artel").options(settings).disable_statement_logging())
}

/// The library would ignore them.
fn refuse_unknown_parts(url: &str) -> Result<(), StoreError> {
    if url.contains('#') {
        return Err(refused("a `#` has to be written as `%23`".to_owned()));
    }
    let Some((_, parameters)) = url.split_once('?') else { return Ok(()) };
    // What is taken for parameters may be the rest of a password.
    if parameters.contains('@') {
        return Err(refused(
            "a `?` or `@` in a name or password has to be written as `%3F` or `%40`".to_owned(),
        ));
    }
    let names = parameters.split('&').map(|parameter| parameter.split('=').next().unwrap_or_default());
    let is_known = |name: &str| {
        PARAMETERS.contains(&name) || name.starts_with("options[") || name.starts_with("options%5B")
    };
    match names.filter(|name| !name.is_empty()).find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => {
            let (name, known) = (name.escape_default(), PARAMETERS.join(", "));
            Err(refused(format!("`{name}` means nothing there; what can be said is {known}")))
        }
    }
}

fn refused(why: String) -> StoreError {
    StoreError::Unavailable { what: READING.to_owned(), source: why.into() }
}

/// Makes of what was asked for what PostgreSQL's own programs would: whoever names a certificate wants it to count, and a
/// socket needs no encryption.
fn encrypted(address: PgConnectOptions) -> PgConnectOptions {
    let is_socket = address.get_socket().is_some();
    match address.get_ssl_mode() {
        PgSslMode::Require if names_root(&address) => address.ssl_mode(PgSslMode::VerifyCa),
        PgSslMode::Prefer if is_socket => address.ssl_mode(PgSslMode::Disable),
        PgSslMode::Disable
        | PgSslMode::Allow
        | PgSslMode::Prefer
        | PgSslMode::Require
        | PgSslMode::VerifyCa
        | PgSslMode::VerifyFull => address,
    }
}

/// Says whether it was told, there or by a variable, whose certificates count. Nothing else gives that away.
fn names_root(address: &PgConnectOptions) -> bool {
    address.to_url_lossy().query_pairs().any(|(name, _)| name == "sslrootcert")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<PgConnectOptions, String> {
        let read = address(url, &PostgresOptions::default());
        read.map_err(|error| format!("{error} {}", std::error::Error::source(&error).unwrap()))
    }

    #[test]
    fn how_to_encrypt_is_understood() {
        let check = |parameters: &str, expected: &str| {
            let read = read(&format!("postgres://artel@db.example/artel?{parameters}")).unwrap();
            assert_eq!(format!("{:?}", read.get_ssl_mode()), expected, "{parameters}");
        };
        check("", "Prefer");
        check("sslmode=disable", "Disable");
        check("sslmode=require", "Require");
        check("sslmode=require&sslrootcert=/ca.pem", "VerifyCa");
        check("sslmode=verify-full&sslrootcert=/ca.pem", "VerifyFull");
        check("host=/run/postgresql", "Disable");
        check("host=/run/postgresql&sslmode=require", "Require");
    }

    #[test]
    fn what_would_be_ignored_is_refused_and_secrets_are_kept() {
        let check = |url: &str, expected: &str| {
            let error = read(url).map(drop).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("hush"), "{url}: {error}");
        };
        check("postgres://artel:hush@db/artel?sslmod=require", "`sslmod` means nothing");
        check("postgres://artel:hush@db/artel?sslmode=maybe", "reading the address");
        check("postgres://artel:hush@db/artel?sslmode=require&ssl=hush", "`ssl` means nothing");
        check("postgres://artel:hush#hush@db/artel", "%23");
        check("postgres://artel:hush?hush=hush@db/artel", "%3F");
        check("postgres://artel:hush@db:port/artel", "reading the address");
        assert!(read("postgres://artel:hush@db/artel?options[geqo]=off&options%5Bjit%5D=off&").is_ok());
    }
}

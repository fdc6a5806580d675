//! Where a server is.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

/// The address of a server: `http` or `https`, a host, maybe a port and a folder, nothing else.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ServerUrl(Url);

/// Why a text is not the address of a server.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ServerUrlError {
    /// It cannot be read as an address.
    #[error("`{text}` is not an address like http://127.0.0.1:7420")]
    Unreadable {
        /// What was given.
        text: String,
    },
    /// It is not about HTTP.
    #[error("a server is reached by http or https, not by `{scheme}`")]
    Scheme {
        /// The part before `://`.
        scheme: String,
    },
    /// It holds a name or a password, which would end up in histories and logs.
    #[error("an address holds no name and no password; the token goes into a variable")]
    Credential,
    /// It goes on after the path.
    #[error("an address ends before `?` and `#`")]
    Tail,
}

impl ServerUrl {
    /// Returns the address of an endpoint, whose path begins with a slash.
    pub(crate) fn at(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let folder = self.0.path().trim_end_matches('/');
        url.set_path(&format!("{folder}{path}"));
        url
    }

    /// Says whether what travels is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Says whether the server is on this machine, as far as its address tells.
    pub fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for ServerUrl {
    type Err = ServerUrlError;

    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        let unreadable = || ServerUrlError::Unreadable { text: text.to_owned() };
        let url = Url::parse(text).map_err(|_| unreadable())?;
        if !matches!(url.scheme(), "http" | "https") {
            // `localhost:7420` reads as an address of the scheme `localhost`.
            return Err(match text.contains("://") {
                true => ServerUrlError::Scheme { scheme: url.scheme().to_owned() },
                false => unreadable(),
            });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ServerUrlError::Credential);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ServerUrlError::Tail);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, ServerUrlError>) {
        let read = text.parse::<ServerUrl>().map(|url| url.at("/api/skills").to_string());
        assert_eq!(read, expected.map(str::to_owned));
    }

    #[test]
    fn a_server_is_a_host_and_maybe_a_folder() {
        check("http://127.0.0.1:7420", Ok("http://127.0.0.1:7420/api/skills"));
        check("https://artel.example/", Ok("https://artel.example/api/skills"));
        check("https://example.org/tools/artel/", Ok("https://example.org/tools/artel/api/skills"));
    }

    #[test]
    fn everything_else_is_refused() {
        check("localhost:7420", Err(ServerUrlError::Unreadable { text: "localhost:7420".to_owned() }));
        check("", Err(ServerUrlError::Unreadable { text: String::new() }));
        check("ftp://example.org", Err(ServerUrlError::Scheme { scheme: "ftp".to_owned() }));
        check("http://me:secret@example.org", Err(ServerUrlError::Credential));
        check("http://example.org/?token=secret", Err(ServerUrlError::Tail));
    }
}

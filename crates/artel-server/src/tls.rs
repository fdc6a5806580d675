//! Encrypted connections, with a certificate and a key that the binary has read. Knows nothing of files.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate and its key, both as PEM.
#[derive(Clone)]
pub struct Certificate {
    /// The certificate, and those that vouch for it.
    pub chain_pem: Vec<u8>,
    /// Its key.
    pub key_pem: Vec<u8>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate(…)")
    }
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// It is no PEM, or there is none in it.
    #[error("cannot read the certificate")]
    Certificate(#[source] pem::Error),
    /// There is no certificate in the file.
    #[error("the file of the certificate holds none")]
    Empty,
    /// The key is no PEM, or there is none in it.
    #[error("cannot read the certificate's key")]
    Key(#[source] pem::Error),
    /// The two do not fit together, or are of a kind that is not known.
    #[error("the certificate and its key cannot be used")]
    Unfit(#[source] rustls::Error),
}

/// Encrypts connections.
#[derive(Clone)]
pub(crate) struct Encryption {
    acceptor: TlsAcceptor,
}

impl Encryption {
    pub(crate) fn new(certificate: &Certificate) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate.chain_pem).collect();
        let chain = chain.map_err(TlsError::Certificate)?;
        if chain.is_empty() {
            return Err(TlsError::Empty);
        }
        let key = PrivateKeyDer::from_pem_slice(&certificate.key_pem).map_err(TlsError::Key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unfit)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(TlsError::Unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Greets a client.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_refused() {
        let made = |chain: &str, key: &str| {
            let certificate = Certificate { chain_pem: chain.into(), key_pem: key.into() };
            Encryption::new(&certificate).map(drop).unwrap_err()
        };
        assert!(matches!(made("", ""), TlsError::Empty));
        let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        assert!(matches!(made(broken, ""), TlsError::Certificate(_)));
        let empty = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(made(empty, ""), TlsError::Key(_)));
        let shown = Certificate { chain_pem: Vec::new(), key_pem: b"secret".to_vec() };
        assert!(!format!("{shown:?}").contains("115"));
    }
}

//! Encrypted connections, with a certificate and a key that the binary has read. Knows nothing of files.

mod facts;

use std::fmt;
use std::io;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use facts::CertificateFacts;

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
    /// It does not say until when it is good.
    #[error("the certificate does not say until when it is good")]
    Unreadable,
    /// The two do not fit together, or are of a kind that is not known.
    #[error("the certificate and its key cannot be used")]
    Unfit(#[source] rustls::Error),
}

/// The certificate that connections are encrypted with. Another one can take its place: connections that are open keep
/// theirs. Clones are the same.
#[derive(Clone)]
pub struct ServedCertificate(Arc<Served>);

struct Served(ArcSwap<CertifiedKey>);

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Served(…)")
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl ServedCertificate {
    /// Puts another certificate in place; when it cannot be used, the one before stays.
    pub fn replace(&self, certificate: &Certificate) -> Result<(), TlsError> {
        self.0.0.store(Arc::new(certified(certificate)?));
        Ok(())
    }
}

/// Encrypts connections.
#[derive(Clone)]
pub(crate) struct Encryption {
    acceptor: TlsAcceptor,
    served: ServedCertificate,
}

/// Reads a certificate and its key, and checks that they belong together.
fn certified(certificate: &Certificate) -> Result<CertifiedKey, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate.chain_pem).collect();
    let chain = chain.map_err(TlsError::Certificate)?;
    if chain.is_empty() {
        return Err(TlsError::Empty);
    }
    let key = PrivateKeyDer::from_pem_slice(&certificate.key_pem).map_err(TlsError::Key)?;
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map_err(TlsError::Unfit)
}

impl Encryption {
    pub(crate) fn new(certificate: &Certificate) -> Result<Self, TlsError> {
        let served = ServedCertificate(Arc::new(Served(ArcSwap::from_pointee(certified(certificate)?))));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unfit)?
            .with_no_client_auth()
            .with_cert_resolver(served.0.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), served })
    }

    /// Returns the certificate, to put another one in its place.
    pub(crate) fn served(&self) -> ServedCertificate {
        self.served.clone()
    }

    /// Greets a client.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &[u8] = include_bytes!("../tests/it/keys/test-only-tls.pem");
    const KEY: &[u8] = include_bytes!("../tests/it/keys/test-only-tls.key.pem");
    const OTHER_CHAIN: &[u8] = include_bytes!("../tests/it/keys/test-only-tls-other.pem");
    const OTHER_KEY: &[u8] = include_bytes!("../tests/it/keys/test-only-tls-other.key.pem");

    fn certificate(chain: &[u8], key: &[u8]) -> Certificate {
        Certificate { chain_pem: chain.to_vec(), key_pem: key.to_vec() }
    }

    /// Connects, and returns the connection with the certificate that the server showed.
    async fn greeted(address: std::net::SocketAddr) -> (tokio_rustls::client::TlsStream<TcpStream>, Vec<u8>) {
        let mut roots = rustls::RootCertStore::empty();
        for chain in [CHAIN, OTHER_CHAIN] {
            roots.add(CertificateDer::from_pem_slice(chain).unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = TcpStream::connect(address).await.unwrap();
        let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        let shown = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
        (stream, shown)
    }

    #[tokio::test]
    async fn another_certificate_takes_its_place_and_open_connections_go_on() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let encryption = Encryption::new(&certificate(CHAIN, KEY)).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, served) = (listener.local_addr().unwrap(), encryption.served());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let encryption = encryption.clone();
                tokio::spawn(async move {
                    let mut stream = encryption.accept(stream).await.unwrap();
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).await.is_ok() {
                        stream.write_all(&byte).await.unwrap();
                    }
                });
            }
        });
        let der = |chain: &[u8]| CertificateDer::from_pem_slice(chain).unwrap().to_vec();
        let (mut open, shown) = greeted(address).await;
        assert_eq!(shown, der(CHAIN));
        let mismatched = served.replace(&certificate(OTHER_CHAIN, KEY));
        assert!(matches!(mismatched, Err(TlsError::Unfit(_))));
        assert_eq!(greeted(address).await.1, der(CHAIN), "what does not fit changes nothing");
        served.replace(&certificate(OTHER_CHAIN, OTHER_KEY)).unwrap();
        assert_eq!(greeted(address).await.1, der(OTHER_CHAIN));
        open.write_all(b"x").await.unwrap();
        let mut byte = [0];
        open.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"x", "a connection that was open goes on");
    }

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

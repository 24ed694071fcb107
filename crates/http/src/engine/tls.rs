//! TLS for loads of `https://`, by rustls with ring: the name that the server must show, and whom to believe it from.
//!
//! TLS 1.3 or 1.2, whichever the server prefers, with ALPN `http/1.1`. [`secure`](super::secure) carries it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figure::format::system_error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use serde::{Deserialize, Serialize};

use super::errors;

/// Certificates of whom are believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Of the authorities that this system knows, so that one of the house counts if it is installed. The variables SSL_CERT_FILE and
    /// SSL_CERT_DIR name others.
    Roots,
    /// Of the authorities in this PEM file, and of the servers whose own certificate it holds.
    File(PathBuf),
    /// Of anybody: encrypted, and not authentic. For a server of one's own.
    Insecure,
}

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Neither a name of DNS nor an address.
    #[error("'{0}' is no server name: a name of DNS or an address is needed")]
    Name(String),
    /// This system knows no authorities, or they could not be read.
    #[error("no authority's certificate was found on this system ({0}): name a PEM file by --cacert")]
    Roots(String),
    /// A file could not be read, or holds no certificate that can be used.
    #[error("{0}: {1}")]
    File(PathBuf, String),
    /// rustls refused what it was given.
    #[error("TLS could not be set up: {}", errors::of_tls(.0))]
    Setup(#[from] rustls::Error),
}

/// How connections are encrypted.
///
/// Sessions are resumed as rustls does by default: of use only with a connection for each request, where a handshake is resumed if
/// the thread has a ticket that it has not used yet (with TLS 1.3 each serves once), and is a full one otherwise.
#[derive(Clone, Debug)]
pub struct Tls {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl Tls {
    /// For servers of a name, which is sent to them (SNI, unless it is an address) and which their certificates must bear.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn new(server_name: &str, trust: &Trust) -> Result<Tls, TlsError> {
        let name = ServerName::try_from(server_name.to_owned())
            .map_err(|_| TlsError::Name(server_name.to_owned()))?;
        let provider = Arc::new(ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let config = match trust {
            Trust::Roots => config.with_root_certificates(of_system()?),
            Trust::File(path) => {
                let verifier = Arc::new(Listed::of_file(path, &provider)?);
                config.dangerous().with_custom_certificate_verifier(verifier)
            }
            Trust::Insecure => {
                config.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider)))
            }
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { name, config: Arc::new(config) })
    }

    /// The same with tickets of its own, so that threads do not wait for one another.
    pub(super) fn apart(&self) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::default();
        Tls { name: self.name.clone(), config: Arc::new(config) }
    }

    /// A new session, which has its first message to send.
    pub(crate) fn session(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(self.config.clone(), self.name.clone())
    }
}

fn of_system() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Some of any system's cannot be used; one is enough to begin with.
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let why = if errors.is_empty() { "there is none".to_owned() } else { errors.join(", ") };
        return Err(TlsError::Roots(why));
    }
    Ok(roots)
}

/// Believes the authorities of a file, and servers that show a certificate of the file itself: one that `openssl req -x509` makes says
/// that it is an authority's, and webpki takes none of those for a server's.
#[derive(Debug)]
struct Listed {
    authorities: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Listed {
    fn of_file(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Listed, TlsError> {
        let told = |why: String| TlsError::File(path.to_owned(), why);
        let unread = |error: pem::Error| {
            told(match error {
                pem::Error::Io(error) => system_error(&error),
                pem::Error::NoItemsFound => "it holds no certificate".to_owned(),
                _ => "it is no PEM file".to_owned(),
            })
        };
        let (mut roots, mut certificates) = (RootCertStore::empty(), Vec::new());
        for certificate in CertificateDer::pem_file_iter(path).map_err(unread)? {
            let certificate = certificate.map_err(unread)?;
            roots.add(certificate.clone()).map_err(|error| told(errors::of_tls(&error)))?;
            certificates.push(certificate);
        }
        if roots.is_empty() {
            return Err(told("it holds no certificate".to_owned()));
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .map_err(|_| told("it holds no certificate of an authority".to_owned()))?;
        Ok(Listed { authorities, certificates })
    }
}

impl ServerCertVerifier for Listed {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.authorities.verify_server_cert(server, others, name, ocsp, now) {
            // webpki says so once it has looked at the time, and before it looks at the name.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(why)))
                if errors::is_authority(&why) && self.certificates.contains(server) =>
            {
                verify_server_name(&ParsedCertificate::try_from(server)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Believes everybody; that the server has the key of the certificate that it shows is still verified.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

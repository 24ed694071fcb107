//! TLS for `https://`, with rustls and ring: the expected server name, and the certificates to trust.
//!
//! TLS 1.3 or 1.2, as the server prefers, with ALPN `http/1.1`. [`secure`](super::secure) carries it.

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The CAs of this system, including locally installed ones. SSL_CERT_FILE and SSL_CERT_DIR name others.
    Roots,
    /// The CAs in this PEM file, and servers with a certificate in it.
    File(PathBuf),
    /// Any certificate: encrypted, but not authenticated. For your own server.
    Insecure,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("'{0}' is no server name: a name of DNS or an address is needed")]
    Name(String),
    #[error("no authority's certificate was found on this system ({0}): name a PEM file by --cacert")]
    Roots(String),
    #[error("{0}: {1}")]
    File(PathBuf, String),
    #[error("TLS could not be set up: {}", errors::of_tls(.0))]
    Setup(#[from] rustls::Error),
}

/// Sessions are resumed as by default in rustls. This matters only without keep-alive: a handshake is resumed
/// if the thread has an unused ticket (TLS 1.3 tickets serve once), else it is a full handshake.
#[derive(Clone, Debug)]
pub struct Tls {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl Tls {
    /// The server's certificate must hold this name, which is also sent as SNI unless it is an address.
    pub fn new(server_name: &str, trust: &Trust) -> Result<Tls, TlsError> {
        let name = ServerName::try_from(server_name.to_owned())
            .map_err(|_| TlsError::Name(server_name.to_owned()))?;
        let provider = Arc::new(ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let config = match trust {
            Trust::Roots => config.with_root_certificates(system_roots()?),
            Trust::File(path) => {
                let accepted = Accepted::Of(TrustedFile::read(path, &provider)?);
                config.dangerous().with_custom_certificate_verifier(Arc::new(Verifier { provider, accepted }))
            }
            Trust::Insecure => {
                let verifier = Verifier { provider, accepted: Accepted::Any };
                config.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { name, config: Arc::new(config) })
    }

    /// The same settings with separate tickets, so that threads do not contend for them.
    pub(super) fn with_own_tickets(&self) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::default();
        Tls { name: self.name.clone(), config: Arc::new(config) }
    }

    pub fn session(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(self.config.clone(), self.name.clone())
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let native = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Every system has some that cannot be used; one is enough.
    let (added, _) = roots.add_parsable_certificates(native.certs);
    if added == 0 {
        let errors: Vec<String> = native.errors.iter().map(ToString::to_string).collect();
        let reason = if errors.is_empty() { "there is none".to_owned() } else { errors.join(", ") };
        return Err(TlsError::Roots(reason));
    }
    Ok(roots)
}

/// Trusts the CAs of a file, and servers that show a certificate of the file itself. `openssl req -x509`
/// marks its certificate as a CA, and webpki accepts no CA certificate as a server's.
#[derive(Debug)]
struct TrustedFile {
    authorities: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl TrustedFile {
    fn read(path: &Path, provider: &Arc<CryptoProvider>) -> Result<TrustedFile, TlsError> {
        let failed = |reason: String| TlsError::File(path.to_owned(), reason);
        let unread = |error: pem::Error| {
            failed(match error {
                pem::Error::Io(error) => system_error(&error),
                pem::Error::NoItemsFound => "it holds no certificate".to_owned(),
                _ => "it is no PEM file".to_owned(),
            })
        };
        let (mut roots, mut certificates) = (RootCertStore::empty(), Vec::new());
        for certificate in CertificateDer::pem_file_iter(path).map_err(unread)? {
            let certificate = certificate.map_err(unread)?;
            roots.add(certificate.clone()).map_err(|error| failed(errors::of_tls(&error)))?;
            certificates.push(certificate);
        }
        if roots.is_empty() {
            return Err(failed("it holds no certificate".to_owned()));
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .map_err(|_| failed("it holds no certificate of an authority".to_owned()))?;
        Ok(TrustedFile { authorities, certificates })
    }
}

/// Which certificates are accepted.
#[derive(Debug)]
enum Accepted {
    Any,
    Of(TrustedFile),
}

/// Always verifies that the server holds its key.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    accepted: Accepted,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let trusted = match &self.accepted {
            Accepted::Any => return Ok(ServerCertVerified::assertion()),
            Accepted::Of(trusted) => trusted,
        };
        match trusted.authorities.verify_server_cert(server, others, name, ocsp, now) {
            // webpki reports this after it has checked the validity period, and before it checks the name.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(reason)))
                if errors::is_authority(&reason) && trusted.certificates.contains(server) =>
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
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

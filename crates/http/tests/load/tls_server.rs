//! A small TLS server for tests, with a thread per connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use http::engine::{Tls, Trust};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion, version};

/// Name in its certificate.
pub const NAME: &str = "bench.test";

/// A connection. The first read completes the handshake.
pub type Stream = StreamOwned<ServerConnection, TcpStream>;

/// Settings of the server.
pub struct Setup {
    pub version: &'static SupportedProtocolVersion,
    pub protocol: &'static str,
    /// Whether clients need a certificate.
    pub asks_clients: bool,
    /// Changes its self-signed certificate.
    pub certificate: fn(&mut rcgen::CertificateParams),
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { version: &version::TLS13, protocol: "http/1.1", asks_clients: false, certificate: |_| () }
    }
}

pub struct Server {
    pub address: SocketAddr,
    /// File of its certificate.
    pub file: tempfile::NamedTempFile,
    stop: Arc<AtomicBool>,
    accept: Option<JoinHandle<()>>,
}

impl Server {
    /// Runs `serve` on each connection; an error ends only that connection.
    pub fn start(
        setup: &Setup,
        serve: impl Fn(&mut Stream) -> io::Result<()> + Clone + Send + 'static,
    ) -> Server {
        let mut parameters = rcgen::CertificateParams::new([NAME.to_owned()]).unwrap();
        (setup.certificate)(&mut parameters);
        let signing_key = rcgen::KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&signing_key).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(certificate.pem().as_bytes()).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = config(setup, certificate.der().clone(), key);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = stop.clone();
        let accept = std::thread::spawn(move || {
            let mut threads = Vec::new();
            loop {
                let (socket, _) = listener.accept().unwrap();
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                socket.set_nodelay(true).unwrap();
                let mut stream = Stream::new(ServerConnection::new(config.clone()).unwrap(), socket);
                let serve = serve.clone();
                threads.push(std::thread::spawn(move || drop(serve(&mut stream))));
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        Server { address, file, stop, accept: Some(accept) }
    }

    /// Trusts only its certificate.
    pub fn tls(&self) -> Tls {
        Tls::new(NAME, &Trust::File(self.file.path().to_owned())).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(accept) = self.accept.take() {
            let joined = accept.join();
            assert!(joined.is_ok() || std::thread::panicking());
        }
    }
}

fn config(
    setup: &Setup,
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.clone());
    let config = config.with_protocol_versions(&[setup.version]).unwrap();
    let config = if setup.asks_clients {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        config.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        config.with_no_client_auth()
    };
    let mut config = config.with_single_cert(vec![certificate], key.into()).unwrap();
    config.alpn_protocols = vec![setup.protocol.as_bytes().to_vec()];
    Arc::new(config)
}

/// Answers requests of `length` bytes until the client goes; if `closes`, one request, and then ends the
/// session properly.
pub fn answers(
    request: usize,
    answer: Vec<u8>,
    closes: bool,
) -> impl Fn(&mut Stream) -> io::Result<()> + Clone + Send + 'static {
    move |stream| {
        let mut bytes = vec![0; request];
        loop {
            stream.read_exact(&mut bytes)?;
            stream.write_all(&answer)?;
            if closes {
                stream.conn.send_close_notify();
                return stream.flush();
            }
        }
    }
}

/// A complete answer.
pub fn answer(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

//! `https://` loads.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use http::engine::{self, Carrier, Client, Error, Expect, Load, Request, Tls, TlsError, Trust};
use http::record::Failure;
use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};

use crate::carriers::carriers;
use crate::common::{BODY, load, run};
use crate::tls_server::{NAME, Server, Setup, answer, answers};

fn carriers_and_versions() -> impl Iterator<Item = (Carrier, &'static SupportedProtocolVersion)> {
    carriers().into_iter().flat_map(|carrier| [(carrier, &TLS12), (carrier, &TLS13)])
}

/// A TLS load of this server.
fn secure(server: &Server, connections: u32, requests: u64) -> Load {
    Load { tls: Some(server.tls()), ..load(server.address, connections, requests) }
}

/// Bytes of [`load`]'s request.
fn request() -> usize {
    load(([127, 0, 0, 1], 1).into(), 1, 1).request.bytes.len()
}

/// Answers [`load`] as expected.
fn plain() -> Server {
    Server::start(&Setup::default(), answers(request(), answer(BODY), false))
}

/// The error if no connection was made.
fn refused(mut load: Load) -> String {
    load.ramp.patience = Duration::from_secs(1);
    let error = crate::common::run_window(&load, &Arc::new(AtomicBool::new(false)), |_| Some(0)).unwrap_err();
    assert!(matches!(error, Error::Nothing { .. }), "{error}");
    error.to_string()
}

#[test]
fn answers_are_counted_over_both_carriers_and_versions() {
    for (carrier, version) in carriers_and_versions() {
        let setup = Setup { version, ..Setup::default() };
        let server = Server::start(&setup, answers(request(), answer(BODY), false));
        let outcome = run(&Load { carrier, threads: 2, ..secure(&server, 5, 300) });
        let counts = outcome.stats.counts;
        assert_eq!((outcome.ramp.established, outcome.ramp.connect.count()), (5, 5));
        assert_eq!((counts.answered, counts.failures(), counts.connects, counts.surplus), (300, 0, 0, 0));
        assert_eq!(outcome.ramp.tls_error, None);
    }
}

#[test]
fn sessions_stay_from_window_to_window() {
    for carrier in carriers() {
        let server = plain();
        let load = Load { carrier, ..secure(&server, 4, 100) };
        let client = Client::connect(&load, Arc::new(AtomicBool::new(false))).unwrap();
        for _ in 0..3 {
            let counts =
                client.window(&crate::common::window(&load), engine::time::now()).unwrap().stats.counts;
            assert_eq!((counts.answered, counts.failures(), counts.connects), (100, 0, 0));
        }
        assert_eq!(client.ramp.connect.count(), 4);
    }
}

#[test]
fn large_bodies_arrive_whole_both_ways() {
    let body: Vec<u8> = (0..1_000_000u32).map(|at| (at % 251) as u8).collect();
    // More than the socket buffers of both sides hold: the rest must wait.
    let request = Request::new("POST", NAME, "/", &[], &vec![b'r'; 16_000_000], true).unwrap();
    for carrier in carriers() {
        let length = request.bytes.len();
        let server = Server::start(&Setup::default(), answers(length, answer(&body), false));
        let expect = Expect { status: Some(200), body: Some(1_000_000), same_body: true };
        let request = request.clone();
        let counts = run(&Load { carrier, request, expect, ..secure(&server, 2, 6) }).stats.counts;
        assert_eq!((counts.answered, counts.failures(), counts.connects), (6, 0, 0));
    }
}

#[test]
fn a_connection_for_each_request_counts_its_handshake() {
    let wait = Duration::from_millis(5);
    for (carrier, version) in carriers_and_versions() {
        let request = Request::new("GET", "127.0.0.1", "/", &[], b"", false).unwrap();
        let answer = answers(request.bytes.len(), answer(BODY), true);
        let setup = Setup { version, ..Setup::default() };
        // The connection is made, but its handshake is late.
        let server = Server::start(&setup, move |stream| {
            std::thread::sleep(wait);
            answer(stream)
        });
        let load = Load { carrier, request, keeps_alive: false, ..secure(&server, 4, 60) };
        let stats = run(&load).stats;
        assert_eq!((stats.counts.answered, stats.counts.failures(), stats.counts.connects), (60, 0, 60));
        assert!(stats.connect.quantile(0.0).unwrap() >= wait.as_nanos() as u64);
    }
}

#[test]
fn untrusted_certificates_are_named_and_insecure_accepts_all() {
    let (server, other) = (plain(), plain());
    let with = |tls: Tls| Load { tls: Some(tls), ..secure(&server, 2, 20) };
    let file = |server: &Server| Trust::File(server.file.path().to_owned());
    let name = refused(with(Tls::new("other.test", &file(&server)).unwrap()));
    assert!(
        name.contains(Failure::Tls.text()) && name.contains("for bench.test, not for other.test"),
        "{name}"
    );
    let issuer = refused(with(other.tls()));
    assert!(issuer.contains(Failure::Tls.text()) && issuer.contains("--cacert"), "{issuer}");
    let outcome = run(&with(Tls::new("other.test", &Trust::Insecure).unwrap()));
    assert_eq!((outcome.stats.counts.answered, outcome.stats.counts.failures()), (20, 0));
}

/// As `openssl req -x509` makes it: a CA certificate.
fn authority(certificate: &mut rcgen::CertificateParams) {
    certificate.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
}

/// The same, expired.
fn expired(certificate: &mut rcgen::CertificateParams) {
    authority(certificate);
    certificate.not_before = rcgen::date_time_ymd(2020, 1, 1);
    certificate.not_after = rcgen::date_time_ymd(2020, 2, 1);
}

#[test]
fn a_certificate_that_is_listed_itself_is_believed_and_still_checked() {
    let no_authority = |certificate: &mut rcgen::CertificateParams| {
        certificate.is_ca = rcgen::IsCa::ExplicitNoCa;
    };
    let start = |certificate, version| {
        let setup = Setup { version, certificate, ..Setup::default() };
        Server::start(&setup, answers(request(), answer(BODY), false))
    };
    for version in [&TLS12, &TLS13] {
        for certificate in [authority, no_authority as fn(&mut rcgen::CertificateParams)] {
            let counts = run(&secure(&start(certificate, version), 2, 20)).stats.counts;
            assert_eq!((counts.answered, counts.failures()), (20, 0));
        }
        // Another host, another certificate of the same kind, an expired one.
        let server = start(authority, version);
        let file = Trust::File(server.file.path().to_owned());
        let with = |tls: Tls| Load { tls: Some(tls), ..secure(&server, 1, 1) };
        let name = refused(with(Tls::new("other.test", &file).unwrap()));
        assert!(name.contains("not for other.test"), "{name}");
        let other = refused(with(start(authority, version).tls()));
        assert!(other.contains("--cacert") && other.contains("--insecure"), "{other}");
        let past = refused(secure(&start(expired, version), 1, 1));
        assert!(past.contains("expired") && past.contains("days"), "{past}");
    }
}

#[test]
fn a_refused_certificate_is_named() {
    let setup = Setup { protocol: "h2", ..Setup::default() };
    let server = Server::start(&setup, answers(request(), answer(BODY), false));
    let protocol = refused(secure(&server, 1, 1));
    assert!(protocol.contains(Failure::Tls.text()) && protocol.contains("ALPN"), "{protocol}");
    // In TLS 1.3 the client's handshake is complete before the server refuses its certificate.
    for (carrier, version) in carriers_and_versions() {
        let setup = Setup { version, asks_clients: true, ..Setup::default() };
        let server = Server::start(&setup, |stream| {
            let refused = stream.read(&mut [0]);
            assert!(refused.is_err(), "{refused:?}");
            // Reads what the client sent: a reset would discard the alert.
            while stream.sock.read(&mut [0; 1024])? > 0 {}
            Ok(())
        });
        let text = refused(Load { carrier, ..secure(&server, 1, 1) });
        assert!(text.contains(Failure::Tls.text()) && text.contains("ertificate"), "{text}");
        assert!(!text.contains(Failure::Reset.text()), "{text}");
    }
}

#[test]
fn a_server_that_ends_the_handshake_is_counted() {
    for carrier in carriers() {
        let request = Request::new("GET", "127.0.0.1", "/", &[], b"", false).unwrap();
        let (answer, count) = (answers(request.bytes.len(), answer(BODY), true), AtomicU32::new(0));
        let count = Arc::new(count);
        let server = Server::start(&Setup::default(), move |stream| {
            if count.fetch_add(1, Ordering::SeqCst) % 3 < 2 {
                return answer(stream);
            }
            // Reads a part of the ClientHello, and closes.
            stream.sock.read_exact(&mut [0; 20])
        });
        let load = Load { carrier, request, keeps_alive: false, ..secure(&server, 1, 12) };
        let counts = run(&load).stats.counts;
        // The first one proved the connection; then every third one fails: the second request, and so on.
        assert_eq!((counts.answered, counts.failed_by(Failure::Tls), counts.failures()), (8, 4, 4));
        assert_eq!(counts.unconnected[Failure::Tls as usize], 4);
    }
}

#[test]
fn a_server_without_tls_times_out() {
    let (answering, listening) =
        (crate::common::raw(&answer(BODY)), TcpListener::bind("127.0.0.1:0").unwrap());
    let tls = Tls::new(NAME, &Trust::Insecure).unwrap();
    for carrier in carriers() {
        let secure = |target| Load { carrier, tls: Some(tls.clone()), ..load(target, 1, 1) };
        let silent = Load { timeout: Duration::from_millis(100), ..secure(listening.local_addr().unwrap()) };
        let text = refused(silent);
        assert!(text.contains(Failure::ConnectTimeout.text()), "{text}");
        let text = refused(Load { timeout: Duration::from_millis(100), ..secure(answering.address()) });
        assert!(text.contains("no connection"), "{text}");
    }
}

#[test]
fn a_body_that_ends_without_the_end_of_the_session_is_cut() {
    let both_ends = |carrier| [(carrier, true), (carrier, false)];
    for (carrier, is_ended) in carriers().into_iter().flat_map(both_ends) {
        let size = request();
        let server = Server::start(&Setup::default(), move |stream| {
            stream.read_exact(&mut vec![0; size])?;
            stream.write_all(&[b"HTTP/1.1 200 OK\r\n\r\n", BODY].concat())?;
            if is_ended {
                stream.conn.send_close_notify();
                stream.flush()?;
            }
            Ok(())
        });
        let load = Load { carrier, ..secure(&server, 2, 20) };
        if is_ended {
            let counts = run(&load).stats.counts;
            assert_eq!((counts.answered, counts.failures(), counts.closed_announced), (20, 0, 20));
        } else {
            let text = refused(load);
            assert!(text.contains(Failure::ClosedWithin.text()), "{text}");
        }
    }
}

#[test]
fn invalid_tls_settings_have_a_reason() {
    let error = |name: &str, trust: &Trust| Tls::new(name, trust).unwrap_err();
    assert!(matches!(error("no name", &Trust::Insecure), TlsError::Name(_)));
    let missing = error(NAME, &Trust::File("/no/such.pem".into())).to_string();
    assert!(missing.starts_with("/no/such.pem: "), "{missing}");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(error(NAME, &Trust::File(file.path().to_owned())).to_string().contains("no certificate"));
    file.write_all(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(matches!(error(NAME, &Trust::File(file.path().to_owned())), TlsError::File(..)));
    assert!(Tls::new("127.0.0.1", &Trust::Insecure).is_ok());
    // A system may have no roots.
    match Tls::new(NAME, &Trust::Roots) {
        Ok(_) => {}
        Err(error) => assert!(error.to_string().contains("PEM file"), "{error}"),
    }
}

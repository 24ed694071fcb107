//! Broken and malicious servers, over both carriers: the run ends on time, each failure has its name, and
//! successes stay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::engine::message::Malformed;
use http::engine::{self, Carrier, Load, Outcome, Pacing};
use http::null::{Faults, OneIn};
use http::record::{Counts, Failure};

use crate::budget::{MAX_GROWTH, growth, largest};
use crate::common::{holds_together, load, null, raw, run};
use crate::engine::HAS_URING;
use crate::server::{Peer, Server};

/// The answer that [`load`] expects.
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello, Go!";
const CONNECTIONS: u32 = 4;
const WINDOW: Duration = Duration::from_millis(300);
/// For loads that should time out.
const TIMEOUT: Duration = Duration::from_millis(400);
/// For loads that should not, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(10);
/// A run that exceeds its limit by this much hangs.
const MARGIN: Duration = Duration::from_secs(20);

fn carriers() -> impl Iterator<Item = Carrier> {
    [Carrier::Epoll, Carrier::Uring].into_iter().filter(|carrier| *carrier == Carrier::Epoll || *HAS_URING)
}

/// Runs against a server with a good first connection. The others do `bad` from their second request on;
/// the first one proves them.
fn counts_of(
    bad: impl Fn(&mut Peer) + Clone + Send + Sync + 'static,
    change: impl Fn(Load) -> Load,
    check: impl Fn(&Counts),
) {
    let before = largest();
    for carrier in carriers() {
        let bad = bad.clone();
        let server = Server::start(move |peer| {
            let mut good =
                if peer.number == 0 { u64::MAX } else { u64::from(peer.number < CONNECTIONS.into()) };
            while good > 0 {
                if !peer.read_request() || !peer.send(GOOD) {
                    return;
                }
                good -= 1;
            }
            bad(peer);
        });
        let load = change(Load {
            duration: Some(WINDOW),
            requests: None,
            timeout: PATIENCE,
            carrier,
            ..load(server.address(), CONNECTIONS, 0)
        });
        let began = Instant::now();
        let outcome = run(&load);
        assert!(began.elapsed() < load.timeout + load.drain + MARGIN, "{carrier:?}: {:?}", began.elapsed());
        let counts = outcome.stats.counts;
        assert_eq!(outcome.ramp.established, CONNECTIONS, "{carrier:?}: {:?}", outcome.ramp.failures);
        assert!(counts.answered > 0, "{carrier:?}: {counts:?}");
        check(&counts);
    }
    let growth = growth(before);
    assert!(growth < MAX_GROWTH, "the process grew by {growth} bytes");
}

/// Asserts that there are failures, and all of these kinds.
fn only(kinds: &'static [Failure]) -> impl Fn(&Counts) {
    move |counts| {
        let listed: u64 = kinds.iter().map(|kind| counts.failed_by(*kind)).sum();
        assert!(listed > 0 && listed == counts.failures(), "{kinds:?}: {counts:?}");
    }
}

fn patient(load: Load) -> Load {
    load
}

fn hasty(load: Load) -> Load {
    Load { duration: Some(TIMEOUT * 2), timeout: TIMEOUT, drain: TIMEOUT, ..load }
}

#[test]
fn a_reset_in_the_middle_of_an_answer() {
    let bad = |peer: &mut Peer| {
        if peer.read_request() && peer.send(&GOOD[..30]) {
            peer.resets();
        }
    };
    counts_of(bad, patient, only(&[Failure::Reset]));
}

#[test]
fn an_end_in_the_middle_of_an_answer() {
    let bad = |peer: &mut Peer| {
        let _ = peer.read_request() && peer.send(&GOOD[..30]);
    };
    counts_of(bad, patient, only(&[Failure::ClosedWithin]));
}

/// Sends `head`, then blocks of a body while the client takes them; counts the bytes.
fn endless(peer: &mut Peer, head: &[u8], block: &[u8], sent: &AtomicU64) {
    if peer.read_request() && peer.send(head) {
        while !peer.is_over() && peer.send(block) {
            sent.fetch_add(block.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Heads of endless bodies, and the block that follows repeatedly.
fn endless_bodies() -> [(&'static [u8], Vec<u8>); 3] {
    let chunk = [&b"10000\r\n"[..], &[b'x'; 0x10000], b"\r\n"].concat();
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n", vec![b'x'; 0x10000]),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
        (b"HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 0x10000]),
    ]
}

#[test]
fn bodies_of_ten_gigabytes_time_out() {
    for (head, block) in endless_bodies() {
        let bad = move |peer: &mut Peer| endless(peer, head, &block, &AtomicU64::new(0));
        counts_of(bad, hasty, only(&[Failure::Timeout]));
    }
}

#[test]
fn bodies_of_ten_gigabytes_take_no_memory() {
    for (carrier, (head, block)) in
        carriers().flat_map(|carrier| endless_bodies().map(|body| (carrier, body)))
    {
        let (before, sent) = (largest(), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&sent);
        let server = Server::start(move |peer| {
            if peer.read_request() && peer.send(GOOD) {
                endless(peer, head, &block, &counted);
            }
        });
        let load = Load {
            duration: Some(MARGIN * 3),
            requests: None,
            timeout: MARGIN * 3,
            drain: TIMEOUT,
            carrier,
            ..load(server.address(), CONNECTIONS, 0)
        };
        let abort = Arc::new(AtomicBool::new(false));
        let began = Instant::now();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Much more than the process may grow by.
                while sent.load(Ordering::Relaxed) < 4 * MAX_GROWTH && began.elapsed() < MARGIN * 2 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                abort.store(true, Ordering::Relaxed);
            });
            crate::common::run_window(&load, &abort, |_| Some(engine::time::now())).unwrap()
        });
        let (sent, growth) = (sent.load(Ordering::Relaxed), growth(before));
        assert!(sent >= 4 * MAX_GROWTH, "{carrier:?}: {sent} bytes were taken");
        assert!(growth < MAX_GROWTH, "{carrier:?}: {sent} bytes were sent, and the process grew by {growth}");
        holds_together(&load, &outcome);
        let counts = &outcome.stats.counts;
        assert_eq!((counts.in_flight, counts.failures()), (CONNECTIONS.into(), 0));
    }
}

#[test]
fn one_byte_a_second() {
    let bad = |peer: &mut Peer| {
        if peer.read_request() {
            for byte in GOOD.chunks(1) {
                if !peer.send(byte) {
                    return;
                }
                peer.pause(Duration::from_secs(1));
            }
        }
    };
    counts_of(bad, hasty, only(&[Failure::Timeout]));
}

#[test]
fn no_answer_at_all() {
    counts_of(Peer::wait, hasty, only(&[Failure::Timeout]));
}

#[test]
fn connections_that_are_closed_at_once() {
    // A race in the kernel: the client notices the end before it sends, or gets a reset.
    counts_of(
        |_| (),
        patient,
        |counts| {
            let lost = counts.failed_by(Failure::ClosedBefore) + counts.failed_by(Failure::Reset);
            assert_eq!(counts.failures(), lost, "{counts:?}");
            assert!(lost + counts.closed_idle > 0 && counts.connects > 0, "{counts:?}");
        },
    );
}

#[test]
fn answers_before_they_are_asked_for() {
    let bad = |peer: &mut Peer| {
        while peer.read_request() && peer.send(GOOD) {
            peer.pause(Duration::from_millis(5));
            peer.send(GOOD);
        }
    };
    // So rarely that most connections are idle when the unrequested answer comes.
    let open = |load| Load { pacing: Pacing::Constant { rate: 100.0 }, ..load };
    counts_of(bad, open, |counts| {
        assert!(counts.surplus > 0 && counts.connects > 0, "{counts:?}");
        assert_eq!(
            counts.failures(),
            counts.failed_by(Failure::Reset) + counts.failed_by(Failure::ClosedBefore),
            "{counts:?}"
        );
    });
}

/// Asserts that every failure is malformed for this reason.
fn malformed(bytes: &[u8], kind: Malformed) {
    let bytes: Arc<[u8]> = bytes.into();
    let bad = move |peer: &mut Peer| {
        if peer.read_request() && peer.send(&bytes) {
            peer.wait();
        }
    };
    counts_of(bad, patient, |counts| {
        only(&[Failure::Malformed])(counts);
        assert!(counts.malformed[kind as usize] >= counts.failures(), "{kind:?}: {counts:?}");
    });
}

#[test]
fn two_megabytes_of_header_lines() {
    for (length, kind) in [(40, Malformed::Headers), (4000, Malformed::HeadLong)] {
        let line = format!("X-Line: {}\r\n", "a".repeat(length));
        let lines = line.repeat((2 << 20) / line.len());
        malformed(format!("HTTP/1.1 200 OK\r\n{lines}").as_bytes(), kind);
    }
    malformed(&[b"HTTP/1.1 200 ".to_vec(), vec![b'O'; 2 << 20]].concat(), Malformed::HeadLong);
}

#[test]
fn other_protocols_are_malformed() {
    malformed(b"SSH-2.0-OpenSSH_9.2p1\r\n", Malformed::Head);
    // A TLS server's reply to plain text (RFC 8446, section 6).
    malformed(b"\x15\x03\x01\x00\x02\x02\x46", Malformed::Head);
}

#[test]
fn a_server_that_dies_in_the_middle() {
    let open = Pacing::Constant { rate: 5000.0 };
    for (carrier, pacing) in carriers().flat_map(|carrier| [(carrier, Pacing::Closed), (carrier, open)]) {
        let answered = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&answered);
        let server = Server::start(move |peer| {
            while !peer.is_over() && peer.read_request() && peer.send(GOOD) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        // A number that is never reached: the run ends because the server is gone.
        let load = Load { timeout: TIMEOUT, pacing, carrier, ..load(server.address(), 3, u64::MAX / 2) };
        let began = Instant::now();
        let killer = std::thread::spawn(move || {
            while answered.load(Ordering::Relaxed) < 100 && began.elapsed() < MARGIN {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(server);
        });
        let outcome = crate::common::run_window(&load, &Default::default(), |_| Some(engine::time::now()));
        killer.join().unwrap();
        let outcome = outcome.unwrap();
        holds_together(&load, &outcome);
        let counts = outcome.stats.counts;
        assert!(counts.answered > 0, "{carrier:?}");
        assert!(counts.unconnected[Failure::Refused as usize] >= 3, "{carrier:?}: {counts:?}");
        // Connections that were not yet accepted are reset.
        let kinds = [Failure::Reset, Failure::ClosedBefore, Failure::ClosedWithin];
        let lost = kinds.map(|kind| counts.failed_by(kind));
        assert_eq!(counts.failures(), lost.iter().sum::<u64>(), "{carrier:?}: {counts:?}");
        assert!(began.elapsed() < PATIENCE + MARGIN, "{carrier:?}: {:?}", began.elapsed());
    }
}

/// The error if the load could not run.
fn refusal(target: std::net::SocketAddr, carrier: Carrier) -> String {
    // Enough time for many attempts, or for one on a busy machine.
    let mut load = Load { timeout: TIMEOUT / 8, carrier, ..load(target, CONNECTIONS, 10) };
    load.ramp.patience = TIMEOUT * 2;
    let began = Instant::now();
    let ended: Result<Outcome, _> =
        crate::common::run_window(&load, &Default::default(), |_| Some(engine::time::now()));
    assert!(began.elapsed() < load.ramp.patience + MARGIN);
    ended.unwrap_err().to_string()
}

#[test]
fn servers_that_never_serve_are_named() {
    for carrier in carriers() {
        let check = |target, kind: Failure| {
            let reason = refusal(target, carrier);
            assert!(reason.contains(kind.text()), "{carrier:?}: {reason}");
        };
        let ended = null(Faults::default());
        let address = ended.address();
        drop(ended);
        check(address, Failure::Refused);
        check(raw(b"220 mail ESMTP\r\n").address(), Failure::Malformed);
        check(null(Faults { is_endless: true, ..Faults::default() }).address(), Failure::Timeout);
        check(null(Faults { silent: OneIn::new(1), ..Faults::default() }).address(), Failure::Timeout);
        check(null(Faults { reset: OneIn::new(1), ..Faults::default() }).address(), Failure::Reset);
        check(null(Faults { unavailable: OneIn::new(1), ..Faults::default() }).address(), Failure::Status);
    }
}

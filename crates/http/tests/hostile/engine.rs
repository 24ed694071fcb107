//! The whole engine, against a server that answers, truncates, delays, closes and resets at random.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::engine::{self, Carrier, Error, Expect, Load, Pacing, Request, uring};

use crate::budget::Budget;
use crate::common::{holds_together, load};
use crate::random::Random;
use crate::responses::{mutate, valid};
use crate::server::{Peer, Server};

/// Number of loads in `cargo test`.
const CASES: u64 = 20;
/// Far above the length of these loads: timeouts are tens of milliseconds, and there are few requests.
const HANGS: Duration = Duration::from_secs(120);

pub static HAS_URING: LazyLock<bool> = LazyLock::new(|| uring::available().is_ok());

/// A load of about a second at most.
fn small(random: &mut Random, target: std::net::SocketAddr, is_head: bool) -> Load {
    let milliseconds = |random: &mut Random| Duration::from_millis(20 + random.below(60) as u64);
    let keeps_alive = !random.one_in(4);
    let method = if is_head { "HEAD" } else { "GET" };
    let ends_by_time = random.one_in(2);
    let (timeout, drain) = (milliseconds(random), milliseconds(random));
    let mut load = Load {
        request: Request::new(method, "x", "/", &[], b"", keeps_alive).unwrap(),
        expect: Expect {
            status: random.pick(&[None, Some(200)]),
            body: random.pick(&[None, None, Some(0)]),
            same_body: false,
        },
        threads: 1 + random.below(2) as u32,
        pacing: random.pick(&[
            Pacing::Closed,
            Pacing::Constant { rate: 2000.0 },
            Pacing::Poisson { rate: 1000.0, seed: 5 },
        ]),
        duration: ends_by_time.then(|| milliseconds(random)),
        requests: (!ends_by_time).then_some(1 + random.below(100) as u64),
        timeout,
        drain,
        keeps_alive,
        carrier: if *HAS_URING && random.one_in(2) { Carrier::Uring } else { Carrier::Epoll },
        ..load(target, 2 + random.below(8) as u32, 0)
    };
    load.ramp.patience = Duration::from_millis(150);
    load
}

/// A connection of the case with this seed.
fn serve(peer: &mut Peer, seed: u64, is_head: bool, inputs: &AtomicU64) {
    let mut random = Random::new(seed ^ peer.number.wrapping_mul(0x1234_5678_9ABC_DEF1));
    match random.below(60) {
        0 => return,
        1 => return peer.resets(),
        2 => drop(peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
        _ => {}
    }
    while peer.read_request() {
        let answer = valid(&mut random, is_head);
        let (mut bytes, is_broken) = (answer.bytes, random.one_in(3));
        if is_broken {
            mutate(&mut random, &mut bytes);
        }
        inputs.fetch_add(1, Ordering::Relaxed);
        for ends in random.cuts(bytes.len()).windows(2) {
            if random.one_in(10) {
                peer.pause(Duration::from_micros(random.below(3000) as u64));
            }
            if !peer.send(&bytes[ends[0]..ends[1]]) {
                return;
            }
        }
        match random.below(if is_broken { 4 } else { 24 }) {
            0 => return,
            1 => return peer.resets(),
            2 if is_broken => return peer.wait(),
            _ if answer.ends_by_close => return,
            _ => {}
        }
    }
}

/// Runs one load; returns the number of answers sent.
fn case(seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (is_head, inputs) = (random.one_in(5), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&inputs);
    let server = Server::start(move |peer| serve(peer, seed, is_head, &counted));
    let load = small(&mut random, server.address(), is_head);
    match crate::common::run_window(&load, &Default::default(), |_| Some(engine::time::now())) {
        Ok(outcome) => holds_together(&load, &outcome),
        // This server may answer no connection as expected.
        Err(Error::Nothing { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    drop(server);
    inputs.load(Ordering::Relaxed)
}

/// Aborts the process if the case takes too long: a hanging thread cannot be ended.
fn watched(seed: u64) -> u64 {
    let (ended, ends) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if ends.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
                eprintln!("engine: it hangs; to repeat it: TRUEBENCH_FUZZ_SEED={seed}");
                std::process::abort();
            }
        });
        let inputs = case(seed);
        drop(ended);
        inputs
    })
}

#[test]
fn no_server_confuses_the_engine() {
    Budget::new(CASES).spend("engine", watched);
}

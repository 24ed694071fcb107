//! Open loops: latency from the intended start.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use http::engine::{Load, Pacing};
use http::null::{Faults, Stall};
use http::record::Failure;

use crate::common::{BODY, load, null, run};

#[test]
fn both_arrivals_meet_a_rate() {
    let server = null(Faults::default());
    for pacing in [Pacing::Constant { rate: 2000.0 }, Pacing::Poisson { rate: 2000.0, seed: 1 }] {
        let load = Load {
            pacing,
            duration: Some(Duration::from_millis(500)),
            requests: None,
            threads: 2,
            ..load(server.address(), 10, 0)
        };
        let counts = run(&load).stats.counts;
        let sent = counts.answered + counts.answered_late + counts.unsent;
        let tolerance = if matches!(pacing, Pacing::Constant { .. }) { 0 } else { 200 };
        assert!(sent.abs_diff(1000) <= tolerance, "{pacing:?} {counts:?}");
        assert_eq!(counts.failures() + counts.in_flight, 0);
    }
}

#[test]
fn only_the_intended_start_shows_a_stall() {
    let (every, length) = (Duration::from_millis(500), Duration::from_millis(100));
    let server = null(Faults { stall: Some(Stall { every, length }), ..Faults::default() });
    let load = Load {
        pacing: Pacing::Constant { rate: 1000.0 },
        duration: Some(Duration::from_millis(1700)),
        requests: None,
        ..load(server.address(), 2, 0)
    };
    // The connections are proved at the end of the first stall. The window holds three stalls, and ends in
    // none.
    let stats = run(&load).stats;
    // The n longest of 1700 requests wait at least 100 ms - n / 3 ms: 43 ms and 94 ms, if the server stalls
    // on time. A busy machine only adds to that.
    let p90 = stats.latency.quantile(0.90).unwrap() as f64 / 1e6;
    let p99 = stats.latency.quantile(0.99).unwrap() as f64 / 1e6;
    assert!(p90 > 25.0, "{p90}");
    assert!(p99 > 60.0, "{p99}");
    // Only two of the sent requests met each stall.
    let naive = stats.uncorrected.quantile(0.98).unwrap() as f64 / 1e6;
    assert!(naive < p90 / 2.0, "{naive}");
    // The server causes the delay: no connection was free.
    let busy = stats.lag_busy.mean().unwrap();
    assert!(busy > 5.0 * stats.lag_late.mean().unwrap(), "{busy} {:?}", stats.lag_late.mean());
}

#[test]
fn unsent_requests_are_counted() {
    let length = Duration::from_secs(3600);
    let server = null(Faults { split: Some(Duration::from_millis(20)), ..Faults::default() });
    let load = Load {
        pacing: Pacing::Constant { rate: 1000.0 },
        duration: Some(Duration::from_millis(300)),
        requests: None,
        timeout: length,
        drain: Duration::from_millis(100),
        ..load(server.address(), 1, 0)
    };
    let counts = run(&load).stats.counts;
    assert_eq!(counts.answered + counts.answered_late + counts.unsent + counts.in_flight, 300);
    assert!(counts.unsent >= 250 && counts.failed_by(Failure::Timeout) == 0, "{counts:?}");
    // With enough time the rest is sent after the window, with its full latency.
    let stats = run(&Load { drain: Duration::from_secs(60), ..load }).stats;
    assert_eq!((stats.latency.count(), stats.counts.unsent), (300, 0), "{:?}", stats.counts);
    assert!(stats.latency.quantile(0.9).unwrap() > 4_000_000_000);
}

#[test]
fn connections_that_end_between_requests_are_made_again() {
    let server = null(Faults { close_after: http::null::OneIn::new(3), ..Faults::default() });
    let load = Load {
        pacing: Pacing::Constant { rate: 1000.0 },
        duration: Some(Duration::from_millis(300)),
        requests: None,
        ..load(server.address(), 20, 0)
    };
    let stats = run(&load).stats;
    assert_eq!((stats.counts.answered + stats.counts.answered_late, stats.counts.failures()), (300, 0));
    assert!(stats.counts.connects >= 90, "{:?}", stats.counts);
}

#[test]
fn connections_that_the_server_ends_while_they_wait_cost_no_request() {
    let server = null(Faults { drop_after: http::null::OneIn::new(3), ..Faults::default() });
    let load = Load {
        pacing: Pacing::Constant { rate: 1000.0 },
        duration: Some(Duration::from_millis(300)),
        requests: None,
        ..load(server.address(), 20, 0)
    };
    // A connection idles for 20 ms, and closes at once: few requests meet the close, unless the machine stands still for a while. Then
    // requests wait, and no connection idles: the best of three runs counts.
    let runs: Vec<_> = (0..3).map(|_| run(&load).stats.counts).collect();
    for counts in &runs {
        let ended = counts.answered + counts.answered_late + counts.failures() + counts.failed_late;
        assert_eq!(ended + counts.unsent, 300, "{counts:?}");
    }
    let counts = runs.iter().max_by_key(|counts| counts.closed_idle).unwrap();
    assert!(counts.closed_idle >= 30 && counts.closed_idle <= counts.connects + 20, "{counts:?}");
}

#[test]
fn a_notice_that_ends_an_idle_connection_is_no_second_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    // Each connection is answered once, and then closed with a notice.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve_once(stream));
        }
    });
    let load = Load {
        pacing: Pacing::Constant { rate: 50.0 },
        duration: Some(Duration::from_millis(500)),
        requests: None,
        ..load(target, 1, 0)
    };
    let counts = run(&load).stats.counts;
    assert!(counts.answered > 0 && counts.connects > 0, "{counts:?}");
    assert_eq!(counts.surplus, 0, "{counts:?}");
}

fn serve_once(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4096];
    if stream.read(&mut request)? > 0 {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", BODY.len())?;
        stream.write_all(BODY)?;
        stream
            .write_all(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")?;
    }
    Ok(())
}

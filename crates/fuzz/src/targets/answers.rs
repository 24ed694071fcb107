//! What comes over the network: answers of servers and requests of clients, the variables of a Go server, the kernel's list of sockets.

use figure::Reading;
use http::engine::message::{MAX_HEAD, Malformed};
use http::engine::parse::{End, Outcome, Parser, Response};
use http::null::parse_request;
use http::watch::get::receive;
use http::watch::go::{LATENCIES, Runtime, samples};
use http::watch::listen::parse_answer;

use crate::draw::Draw;
use crate::inputs;
use crate::target::Target;

/// The first byte chooses the reader; where bytes come in pieces, the second is the length of each.
pub const TARGET: Target = Target { name: "answers", one, seeds, longest: 4 << 10 };

/// Bytes of a body at most.
const BODY: usize = 1 << 10;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    match draw.byte() % 5 {
        0 => responses(draw.byte(), draw.rest()),
        1 => {
            let piece = usize::from(draw.byte()) + 1;
            let bytes = draw.rest();
            let (whole, pieces) = (received(bytes, bytes.len().max(1)), received(bytes, piece));
            assert_eq!(whole, pieces);
        }
        2 => variables(draw.rest()),
        3 => requests(draw.rest()),
        _ => {
            let mut found = Vec::new();
            let _ = parse_answer(draw.rest(), &mut found);
            assert!(found.len() <= input.len() / 16);
        }
    }
}

/// What became of bytes: every response, then how they ended.
#[derive(Debug, PartialEq)]
enum Became {
    Response(Response),
    Malformed(Malformed),
    End(End),
}

/// However they are cut, they end the same way, and no more than a head is stored.
fn responses(choice: u8, bytes: &[u8]) {
    let is_head = choice >= 128;
    let whole = became(bytes, bytes.len().max(1), is_head);
    assert_eq!(became(bytes, usize::from(choice % 128) + 1, is_head), whole);
}

fn became(bytes: &[u8], piece: usize, is_head: bool) -> Vec<Became> {
    let (mut parser, mut carry, mut became) = (Parser::new(is_head), Vec::new(), Vec::new());
    for mut rest in bytes.chunks(piece) {
        while !rest.is_empty() {
            match parser.advance(rest, &mut carry, &mut ()) {
                Outcome::More => break,
                Outcome::Complete { response, used } => {
                    assert!((1..=rest.len()).contains(&used) && carry.is_empty());
                    became.push(Became::Response(response));
                    rest = &rest[used..];
                }
                Outcome::Malformed(kind) => {
                    became.push(Became::Malformed(kind));
                    return became;
                }
            }
        }
        assert!(carry.len() < MAX_HEAD);
    }
    became.push(Became::End(parser.end(&mut carry)));
    assert!(carry.is_empty());
    became
}

fn received(bytes: &[u8], piece: usize) -> Result<(u16, Vec<u8>), String> {
    /// Gives a piece at each read.
    struct Pieces<'a>(std::slice::Chunks<'a, u8>);
    impl std::io::Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let piece = self.0.next().unwrap_or_default();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }
    let answer = receive(&mut Pieces(bytes.chunks(piece)), BODY).map_err(|fault| format!("{fault:?}"));
    assert!(answer.as_ref().is_ok_and(|(_, body)| body.len() <= BODY) || answer.is_err());
    answer
}

/// Variables of a Go server, at two moments: one is the end of the other.
fn variables(bytes: &[u8]) {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (before, after) =
        (Runtime::parse(&bytes[..at]), Runtime::parse(bytes.get(at + 1..).unwrap_or_default()));
    for sample in [&before, &after].into_iter().flat_map(samples) {
        assert!(sample.value.value().is_none_or(|value| value.is_finite()), "{sample:?}");
    }
    let histogram = |runtime: &Reading<Runtime>| match runtime {
        Reading::Value(runtime) => runtime.histogram(LATENCIES).into_value(),
        Reading::Unknown(_) => None,
    };
    let (before, after) = (histogram(&before), histogram(&after));
    for one in before.iter().chain(&after) {
        let quantile = one.quantile(0.99);
        assert!(quantile.is_none_or(|(low, high)| low <= high), "{quantile:?}");
    }
    if let (Some(before), Some(after)) = (before, after) {
        let _ = after.since(&before).value().map(|grown| (grown.count(), grown.quantile(0.5)));
    }
}

/// Every request in these bytes.
fn requests(bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(Ok(request)) = parse_request(rest) {
        assert!((1..=rest.len()).contains(&request.end));
        let body = usize::try_from(request.body).unwrap_or(usize::MAX);
        rest = rest.get(request.end.saturating_add(body)..).unwrap_or_default();
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let answers: [&[u8]; 8] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello, Go!",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nHello\r\n0\r\nTrailer: x\r\n\r\n",
        b"HTTP/1.0 200\nContent-Length: 3, 3\nX: \xe9\n\nabc",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2p1\r\n",
    ];
    let mut seeds: Vec<Vec<u8>> = answers
        .iter()
        .flat_map(|answer| [[b"\0\x07", *answer].concat(), [b"\x01\x07", *answer].concat()])
        .collect();
    seeds.extend(
        inputs::files("crates/http/tests/data", ".json")
            .into_iter()
            .map(|(_, text)| [b"\x02", &text[..]].concat()),
    );
    let vars = br#"{"runtime": {"/sched/goroutines:goroutines": 7, "/gc/cycles/total:gc-cycles": 5, "/sched/latencies:seconds": {"counts": [1, 6, 0, 3], "buckets": ["-Inf", 0, 0.5, 1, "+Inf"]}}}"#;
    let list = br#"{"/sched/latencies:seconds": [{"low": null, "high": 0, "count": 1}, {"low": 0, "high": 0.5, "count": 6}]}"#;
    seeds.extend([[b"\x02", &vars[..], b"\0", vars].concat(), [b"\x02", &list[..], b"\0", list].concat()]);
    seeds.push(b"\x03GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcHEAD /x HTTP/1.0\r\nConnection: close\r\n\r\n".to_vec());
    // A struct inet_diag_msg behind its header, and the end of the dump (sock_diag(7)).
    let mut sockets = vec![
        4, 124, 0, 0, 0, 20, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 10, 0, 0, 0x9f, 0x15, 0, 0, 127, 0, 0, 1,
    ];
    sockets.resize(125, 0);
    sockets.extend([20, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    seeds.push(sockets);
    seeds
}

//! Random responses, and mutations of their bytes.

use http::engine::parse::Response;

use crate::random::Random;

/// A valid response, and what the client must find in it.
#[derive(Clone, Debug)]
pub struct Valid {
    pub bytes: Vec<u8>,
    pub response: Response,
    /// The body has no length, and ends with the connection.
    pub ends_by_close: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// `is_head`: the request was HEAD.
pub fn valid(random: &mut Random, is_head: bool) -> Valid {
    let status = match random.below(4) {
        0 => random.pick(&[204, 304, 999, 503]),
        1 => 200 + random.below(800) as u16,
        _ => 200,
    };
    let is_1_1 = !random.one_in(6);
    let framing = match random.below(6) {
        0 => Framing::UntilClose,
        1 | 2 if is_1_1 => Framing::Chunked,
        _ => Framing::Length,
    };
    let body = match random.below(20) {
        0 => 4000 + random.below(70_000),
        1..8 => 0,
        _ => random.below(300),
    };
    let body: Vec<u8> = (0..body).map(|_| b'a' + (random.next() % 26) as u8).collect();
    let ends = random.pick(&["\r\n", "\r\n", "\r\n", "\n"]);

    let mut bytes = Vec::new();
    while is_1_1 && random.one_in(5) && bytes.len() < 500 {
        let interim = random.pick(&["100 Continue", "102 Processing", "103 Early Hints"]);
        bytes.extend(format!("HTTP/1.1 {interim}{ends}Link: </a>{ends}{ends}").bytes());
    }
    bytes.extend(format!("HTTP/1.{} {status}", u8::from(is_1_1)).bytes());
    bytes.extend(format!("{}{ends}", random.pick(&[" OK", " Not Found", " ", ""])).bytes());
    for _ in 0..random.below(6) {
        filler(random, &mut bytes, ends);
    }
    let says = random.pick(&[None, None, None, Some("close"), Some("Keep-Alive"), Some("x, Close")]);
    if let Some(value) = says {
        bytes.extend(format!("{}: {value}{ends}", random.pick(&["Connection", "connection"])).bytes());
    }
    frame(random, &mut bytes, framing, body.len(), ends);
    bytes.extend(ends.bytes());

    let has_body = !is_head && status != 204 && status != 304;
    let mut length = 0;
    if has_body {
        length = body.len() as u64;
        match framing {
            Framing::Chunked => chunks(random, &mut bytes, &body),
            Framing::Length | Framing::UntilClose => bytes.extend(&body),
        }
    }
    let says_stay = match says {
        Some("Keep-Alive") => true,
        Some(_) => false,
        None => is_1_1,
    };
    let ends_by_close = has_body && framing == Framing::UntilClose;
    let response = Response { status, body: length, keeps_alive: says_stay && !ends_by_close };
    Valid { bytes, response, ends_by_close }
}

/// A header line that is irrelevant for the body.
fn filler(random: &mut Random, bytes: &mut Vec<u8>, ends: &str) {
    let name = random.pick(&["Server", "Date", "X", "Content-Type", "connectioN-x", "Content-Lengths"]);
    let length = if random.one_in(40) { random.below(9000) } else { random.below(60) };
    bytes.extend(format!("{name}:{}", random.pick(&["", " ", "  "])).bytes());
    bytes.extend((0..length).map(|_| random.pick(b"abc 0123;,=/\xe9")));
    bytes.extend(ends.bytes());
}

fn frame(random: &mut Random, bytes: &mut Vec<u8>, framing: Framing, length: usize, ends: &str) {
    let name = random.pick(&["Content-Length", "content-length", "CONTENT-LENGTH"]);
    match framing {
        Framing::Length if random.one_in(10) => {
            bytes.extend(format!("{name}: {length}, {length}{ends}{name}: {length}{ends}").bytes());
        }
        Framing::Length => bytes.extend(format!("{name}: {length}{ends}").bytes()),
        Framing::Chunked => {
            if random.one_in(8) {
                // Transfer-Encoding takes precedence (RFC 9112, section 6.3).
                bytes.extend(format!("{name}: 77{ends}").bytes());
            }
            let value = random.pick(&["chunked", "Chunked", "gzip, chunked"]);
            bytes.extend(format!("Transfer-Encoding: {value}{ends}").bytes());
        }
        Framing::UntilClose => {}
    }
}

fn chunks(random: &mut Random, bytes: &mut Vec<u8>, body: &[u8]) {
    for ends in random.cuts(body.len()).windows(2).filter(|ends| ends[0] < ends[1]) {
        let chunk = &body[ends[0]..ends[1]];
        let size =
            random.pick(&[format_lower as fn(usize) -> String, format_upper, format_zeros])(chunk.len());
        let extension = random.pick(&["", "", "", ";a", ";a=b", " ;x=\"y z\"", "\t"]);
        bytes.extend(format!("{size}{extension}\r\n").bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(random.pick(&["0\r\n", "000\r\n", "0;last\r\n"]).bytes());
    for _ in 0..random.below(3) {
        bytes.extend(b"Trailer: some value\r\n");
    }
    bytes.extend(b"\r\n");
}

fn format_lower(size: usize) -> String {
    format!("{size:x}")
}

fn format_upper(size: usize) -> String {
    format!("{size:X}")
}

fn format_zeros(size: usize) -> String {
    format!("000{size:x}")
}

/// Texts that might confuse a parser.
const TRAPS: &[&[u8]] = &[
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b":",
    b",",
    b";",
    b"-1",
    b"0x10",
    b"99999999999999999999",
    b"18446744073709551615",
    b"1125899906842624",
    b"1125899906842625",
    b"ffffffffffffffff",
    b"4000000000000",
    b"Content-Length: 5\r\n",
    b"Content-Length:\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"Connection: close\r\n",
    b" folded\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n",
    b"HTTP/2.0 200 OK\r\n",
];

/// Mutates bytes in one to four places.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at).min(200) + 1);
        match random.below(10) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => bytes[at] = random.next() as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let copy = bytes[at..end].to_vec();
                let most = if random.one_in(10) { 200 } else { 3 };
                let times = 1 + random.below(most);
                bytes.splice(at..at, copy.repeat(times));
            }
            6 => {
                let noise: Vec<u8> = (0..random.below(64)).map(|_| random.next() as u8).collect();
                bytes.splice(at..end, noise);
            }
            7 if random.one_in(8) => {
                let run = vec![random.pick(b"0aA \r\n;:\0"); random.below(80_000)];
                bytes.splice(at..at, run);
            }
            _ => {
                let trap = random.pick(TRAPS);
                // At the start of a line it is parsed as one.
                let lines = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                let count = lines().count();
                let line = if count > 0 {
                    lines().nth(random.below(count)).map(|(index, _)| index + 1)
                } else {
                    None
                };
                let position = if random.one_in(2) { at } else { line.unwrap_or(at) };
                let times = if random.one_in(20) { 40 } else { 1 };
                bytes.splice(position..position, trap.repeat(times));
            }
        }
    }
}

//! Known responses. The fuzz target of tests/hostile covers all others.

use super::*;

/// What the parser found in bytes that came in pieces, followed by the end of the connection.
#[derive(Debug, PartialEq)]
enum ParseResult {
    Response(Response),
    Malformed(Malformed),
    End(End),
}

impl Sink for Vec<u8> {
    fn body(&mut self, piece: &[u8]) {
        self.extend_from_slice(piece);
    }
}

fn read(pieces: &[&[u8]], is_head: bool) -> Vec<ParseResult> {
    let (mut parser, mut carry, mut results) = (Parser::new(is_head), Vec::new(), Vec::new());
    let mut body = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            match parser.advance(rest, &mut carry, &mut body) {
                Outcome::More => break,
                Outcome::Complete { response, used } => {
                    assert!(carry.is_empty());
                    assert_eq!(std::mem::take(&mut body).len() as u64, response.body);
                    results.push(ParseResult::Response(response));
                    rest = &rest[used..];
                }
                Outcome::Malformed(kind) => {
                    results.push(ParseResult::Malformed(kind));
                    return results;
                }
            }
        }
        assert!(carry.len() <= MAX_HEAD);
    }
    results.push(ParseResult::End(parser.end(&mut carry)));
    results
}

fn parse(bytes: &str) -> ParseResult {
    read(&[bytes.as_bytes()], false).remove(0)
}

fn response(status: u16, body: u64, keeps_alive: bool) -> ParseResult {
    ParseResult::Response(Response { status, body, keeps_alive })
}

#[test]
fn bodies_of_every_framing() {
    assert_eq!(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), response(200, 5, true));
    assert_eq!(parse("HTTP/1.1 404 \r\ncontent-length: 0\r\n\r\n"), response(404, 0, true));
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2;a=b\r\nab\r\n0\r\nT: x\r\n\r\n";
    assert_eq!(parse(chunked), response(200, 2, true));
    let until_close = parse("HTTP/1.1 200 OK\r\n\r\nhello");
    assert_eq!(
        until_close,
        ParseResult::End(End::Complete(Response { status: 200, body: 5, keeps_alive: false }))
    );
    assert_eq!(parse("HTTP/1.1 204 No Content\r\n\r\n"), response(204, 0, true));
    assert_eq!(parse("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), response(304, 0, true));
    assert_eq!(
        parse("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello"),
        response(200, 5, true)
    );
    // Transfer-Encoding is believed before Content-Length.
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(parse(bytes), response(200, 0, true));
}

#[test]
fn a_sink_receives_framing_and_body() {
    #[derive(Default)]
    struct RecordingSink(Vec<Framing>, Vec<u8>);
    impl Sink for RecordingSink {
        fn head(&mut self, framing: Framing) {
            self.0.push(framing);
        }
        fn body(&mut self, piece: &[u8]) {
            self.1.body(piece);
        }
    }
    let framing_of = |head: &str, body: &str| {
        let (mut sink, mut carry) = (RecordingSink::default(), Vec::new());
        let bytes = format!("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n{head}\r\n{body}");
        let mut parser = Parser::new(false);
        for piece in bytes.as_bytes().chunks(3) {
            parser.advance(piece, &mut carry, &mut sink);
        }
        assert_eq!(sink.1, b"hello", "{head}");
        let [framing] = sink.0[..] else { panic!("{:?}", sink.0) };
        framing
    };
    let (plain, chunks) = ("hello", "2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nT: x\r\n\r\n");
    assert_eq!(framing_of("Content-Length: 5\r\n", "hello, and more"), Framing::Length(5));
    let chunked = |line: &str| framing_of(&format!("Transfer-Encoding: {line}\r\n"), chunks);
    assert_eq!(chunked("chunked"), Framing::Chunked { is_coded: false });
    assert_eq!(chunked("gzip, chunked"), Framing::Chunked { is_coded: true });
    assert_eq!(chunked("gzip\r\nTransfer-Encoding: chunked"), Framing::Chunked { is_coded: true });
    assert_eq!(framing_of("", plain), Framing::UntilClose { is_coded: false });
    assert_eq!(framing_of("Transfer-Encoding: gzip\r\n", plain), Framing::UntilClose { is_coded: true });
}

#[test]
fn an_answer_to_head_has_no_body() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(read(&[bytes, bytes], true)[..2], [response(200, 0, true), response(200, 0, true)]);
}

#[test]
fn interim_responses_are_skipped() {
    let bytes = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(parse(bytes), response(200, 1, true));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
    assert_eq!(parse(&interim), ParseResult::Malformed(Malformed::Interim));
    assert_eq!(parse("HTTP/1.1 101 Switching Protocols\r\n\r\n"), ParseResult::Malformed(Malformed::Upgrade));
}

#[test]
fn persistence_follows_version_and_header() {
    let answer = |version: &str, line: &str| {
        matches!(
            parse(&format!("HTTP/{version} 200 OK\r\n{line}Content-Length: 0\r\n\r\n")),
            ParseResult::Response(Response { keeps_alive: true, .. })
        )
    };
    assert!(answer("1.1", ""));
    assert!(!answer("1.1", "Connection: foo, Close\r\n"));
    assert!(!answer("1.1", "Connection: close\r\nConnection: keep-alive\r\n"));
    assert!(!answer("1.0", ""));
    assert!(answer("1.0", "Connection: Keep-Alive\r\n"));
}

#[test]
fn malformed_responses_have_a_reason() {
    let head = |line: &str| parse(&format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n"));
    assert_eq!(parse("SSH-2.0-OpenSSH_9.2\r\n"), ParseResult::Malformed(Malformed::Head));
    assert_eq!(parse("HTTP/2.0 200 OK\r\n\r\n"), ParseResult::Malformed(Malformed::Head));
    assert_eq!(parse("HTTP/1.1 099 No\r\n\r\n"), ParseResult::Malformed(Malformed::Head));
    assert_eq!(head("Content-Length: -1"), ParseResult::Malformed(Malformed::Length));
    assert_eq!(head("Content-Length: "), ParseResult::Malformed(Malformed::Length));
    assert_eq!(head("Content-Length: 1\r\nContent-Length: 2"), ParseResult::Malformed(Malformed::Length));
    assert_eq!(
        head("Content-Length: 99999999999999999999999"),
        ParseResult::Malformed(Malformed::LengthAbsurd)
    );
    let old = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(parse(old), ParseResult::Malformed(Malformed::Framing));
    assert_eq!(head(&"A: b\r\n".repeat(200)), ParseResult::Malformed(Malformed::Headers));
    assert_eq!(head(&format!("A: {}", "b".repeat(MAX_HEAD))), ParseResult::Malformed(Malformed::HeadLong));
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert_eq!(parse(chunk), ParseResult::Malformed(Malformed::Chunk));
}

#[test]
fn a_truncated_response_is_detected() {
    let end = |bytes: &str| read(&[bytes.as_bytes()], false).remove(0);
    assert_eq!(read(&[], false), [ParseResult::End(End::NoAnswer)]);
    assert_eq!(end("HTTP/1.1 20"), ParseResult::End(End::Truncated));
    assert_eq!(end("HTTP/1.1 100 Continue\r\n\r\n"), ParseResult::End(End::Truncated));
    assert_eq!(end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), ParseResult::End(End::Truncated));
    assert_eq!(
        end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n"),
        ParseResult::End(End::Truncated)
    );
}

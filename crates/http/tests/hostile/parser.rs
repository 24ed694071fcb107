//! The parser alone: any bytes, however split, have the same result, and it keeps no more than a head.

use http::engine::message::{MAX_HEAD, Malformed};
use http::engine::parse::{End, Outcome, Parser, Response};

use crate::budget::Budget;
use crate::random::Random;
use crate::responses::{mutate, valid};

/// Number of inputs in `cargo test`.
const CASES: u64 = 10_000;
/// Longest input that is fed byte by byte: a head is parsed again with each piece.
const MAX_BYTEWISE: usize = 600;

/// What the parser found: responses, then the end.
#[derive(Debug, PartialEq)]
enum ParseResult {
    Response(Response),
    Malformed(Malformed),
    End(End),
}

/// Parses these pieces, followed by the end of the connection.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, is_head: bool) -> Vec<ParseResult> {
    let (mut parser, mut carry, mut results) = (Parser::new(is_head), Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match parser.advance(rest, &mut carry, &mut ()) {
                Outcome::More => break,
                Outcome::Complete { response, used } => {
                    assert!((1..=rest.len()).contains(&used), "{used} of {}", rest.len());
                    assert!(carry.is_empty(), "{} bytes are left of the head before", carry.len());
                    results.push(ParseResult::Response(response));
                    rest = &rest[used..];
                }
                Outcome::Malformed(kind) => {
                    assert!(carry.is_empty() && parser == Parser::new(is_head));
                    results.push(ParseResult::Malformed(kind));
                    return results;
                }
            }
        }
        assert!(carry.len() < MAX_HEAD && carry.capacity() <= 2 * MAX_HEAD, "{}", carry.capacity());
    }
    results.push(ParseResult::End(parser.end(&mut carry)));
    assert!(carry.is_empty() && parser == Parser::new(is_head));
    results
}

/// Expected results of valid responses; one that ends by close is the last.
fn expected(random: &mut Random, is_head: bool, bytes: &mut Vec<u8>) -> Vec<ParseResult> {
    let mut results = Vec::new();
    for _ in 0..1 + random.below(3) {
        let valid = valid(random, is_head);
        bytes.extend(&valid.bytes);
        if valid.ends_by_close {
            results.push(ParseResult::End(End::Complete(valid.response)));
            return results;
        }
        results.push(ParseResult::Response(valid.response));
    }
    results.push(ParseResult::End(End::NoAnswer));
    results
}

fn case(seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (is_head, mut bytes) = (random.one_in(5), Vec::new());
    let expected = expected(&mut random, is_head, &mut bytes);
    let is_valid = random.one_in(4);
    if !is_valid {
        mutate(&mut random, &mut bytes);
    }
    let whole = read([&bytes[..]].into_iter(), is_head);
    if is_valid {
        assert_eq!(whole, expected, "{}", bytes.escape_ascii());
    }
    let cuts = random.cuts(bytes.len());
    let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
    assert_eq!(read(pieces, is_head), whole, "cut at {cuts:?}: {}", bytes.escape_ascii());
    if bytes.len() <= MAX_BYTEWISE {
        assert_eq!(read(bytes.chunks(1), is_head), whole, "byte by byte: {}", bytes.escape_ascii());
    }
    1
}

#[test]
fn no_bytes_confuse_the_parser() {
    Budget::new(CASES).spend("parser", case);
}

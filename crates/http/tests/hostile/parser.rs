//! The parser alone: whatever the bytes and however they are cut, it ends the same way, and keeps no more than a head.

use http::engine::message::{HEAD_MOST, Malformed};
use http::engine::parse::{End, Outcome, Parser, Response};

use crate::budget::Budget;
use crate::random::Random;
use crate::responses::{mutate, valid};

/// Inputs of `cargo test`.
const CASES: u64 = 10_000;
/// Longer ones are not fed byte by byte: a head is read anew with each piece of it.
const BYTEWISE_MOST: usize = 600;

/// What became of bytes: every response, then how they ended.
#[derive(Debug, PartialEq)]
enum Became {
    Response(Response),
    Malformed(Malformed),
    End(End),
}

/// Reads these pieces, behind which the connection ends.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, is_head: bool) -> Vec<Became> {
    let (mut parser, mut carry, mut became) = (Parser::new(is_head), Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match parser.advance(rest, &mut carry, &mut ()) {
                Outcome::More => break,
                Outcome::Complete { response, used } => {
                    assert!((1..=rest.len()).contains(&used), "{used} of {}", rest.len());
                    assert!(carry.is_empty(), "{} bytes are left of the head before", carry.len());
                    became.push(Became::Response(response));
                    rest = &rest[used..];
                }
                Outcome::Malformed(kind) => {
                    assert!(carry.is_empty() && parser == Parser::new(is_head));
                    became.push(Became::Malformed(kind));
                    return became;
                }
            }
        }
        assert!(carry.len() < HEAD_MOST && carry.capacity() <= 2 * HEAD_MOST, "{}", carry.capacity());
    }
    became.push(Became::End(parser.end(&mut carry)));
    assert!(carry.is_empty() && parser == Parser::new(is_head));
    became
}

/// What valid responses must become; one that ends with the connection is the last.
fn expected(random: &mut Random, is_head: bool, bytes: &mut Vec<u8>) -> Vec<Became> {
    let mut became = Vec::new();
    for _ in 0..1 + random.below(3) {
        let valid = valid(random, is_head);
        bytes.extend(&valid.bytes);
        if valid.ends_by_close {
            became.push(Became::End(End::Complete(valid.response)));
            return became;
        }
        became.push(Became::Response(valid.response));
    }
    became.push(Became::End(End::NoAnswer));
    became
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
    if bytes.len() <= BYTEWISE_MOST {
        assert_eq!(read(bytes.chunks(1), is_head), whole, "byte by byte: {}", bytes.escape_ascii());
    }
    1
}

#[test]
fn no_bytes_confuse_the_parser() {
    Budget::of(CASES).spend("parser", case);
}

//! CPU profiles of Go servers (pprof).

use std::io::Read;

use flate2::read::GzDecoder;
use http::profile::coverage::Coverage;
use http::profile::{buckets, pprof::CpuProfile};

use crate::draw::Draw;
use crate::inputs;
use crate::target::Target;

/// The first byte: the bytes are a message, or gzip of one.
pub const TARGET: Target = Target { name: "profile", one, seeds, longest: 16 << 10 };

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (is_packed, bytes) = (draw.flag(), draw.rest());
    let read = if is_packed { CpuProfile::read(bytes) } else { CpuProfile::unpacked(bytes) };
    let profile = match read {
        Ok(profile) => profile,
        Err(why) => {
            let sentence = why.to_string();
            assert!(!sentence.chars().any(char::is_control) && sentence.len() < 2000, "{sentence:?}");
            return;
        }
    };
    assert!(!profile.functions().iter().any(|name| name.chars().any(char::is_control)));
    let split = buckets::split(&profile);
    let sum = split.buckets.iter().fold(0_u64, |sum, bucket| sum.saturating_add(bucket.nanoseconds));
    assert_eq!(sum, split.nanoseconds);
    for bucket in &split.buckets {
        assert!(split.share(bucket).is_none_or(|share| (0.0..=1.0).contains(&share)), "{bucket:?}");
    }
    let coverage = Coverage::new(&profile, 1.0, 1.0);
    assert!(coverage.ratio().is_none_or(f64::is_finite));
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0], b"\x01\x1f\x8b".to_vec()];
    for (_, packed) in inputs::files("crates/http/tests/data", ".pb.gz") {
        let mut message = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut message).expect("a fixture");
        seeds.push([&[0], &small(&message)[..]].concat());
    }
    seeds
}

/// A message with some of its fields of each kind: fields stand one after the other, each with its number and length (protobuf's encoding).
fn small(message: &[u8]) -> Vec<u8> {
    const MOST: usize = 12;
    let (mut fields, mut counts, mut rest) = (Vec::new(), [0_usize; 32], message);
    while let Some(&tag) = rest.first() {
        let mut length = 1;
        let mut varint = || {
            let (mut value, mut shift) = (0_usize, 0);
            loop {
                let byte = rest[length];
                length += 1;
                value |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        let value = varint();
        if tag & 7 == 2 {
            length += value;
        }
        let (field, after) = rest.split_at(length);
        rest = after;
        let number = usize::from(tag >> 3);
        counts[number] += 1;
        // Names are referred to by their places: more of them, if they are short.
        let most = if number == 6 { MOST * 20 } else { MOST };
        if counts[number] <= most {
            fields.extend(field);
        }
    }
    fields
}

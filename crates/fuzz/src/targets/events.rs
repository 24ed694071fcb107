//! Recorded events of a watched program, from others.

use std::io::{BufReader, Read};

use faults::observe::replay;
use faults::trace::event_log::EventLog;
use figure::Machine;
use flate2::read::GzDecoder;

use crate::draw::Draw;
use crate::target::Target;
use crate::{inputs, looks};

/// The first byte: the bytes are lines, or the file itself.
pub const TARGET: Target = Target { name: "events", one, seeds, longest: 8 << 10 };

/// Lines of a seed at most.
const LINES: usize = 60;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (is_packed, bytes) = (draw.flag(), draw.rest());
    let read = if is_packed {
        EventLog::parse(BufReader::new(GzDecoder::new(bytes)))
    } else {
        EventLog::parse(bytes)
    };
    if let Ok(log) = read {
        looks::judged(replay(log).figures, Machine::default());
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (_, packed) in inputs::files("crates/faults/tests/data", ".gz") {
        let mut text = String::new();
        GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("a fixture");
        let lines: Vec<&str> = text.lines().filter(|line| line.len() < 1000).collect();
        let Some((end, begin)) = lines.split_last() else { continue };
        // The beginning, and a part of the middle, each with head and end.
        let middle = begin.iter().skip(begin.len() / 2);
        for part in [
            begin.iter().take(LINES).collect::<Vec<_>>(),
            begin[..1].iter().chain(middle).take(LINES).collect(),
        ] {
            let text: String = part.into_iter().chain([end]).map(|line| format!("{line}\n")).collect();
            seeds.push([b"\0", text.as_bytes()].concat());
        }
    }
    seeds
}

//! Lines of JSON between processes and machines: worker, agent and client of a load, Go servers.

use figure::Machine;
use http::client::spec::LoadSpec;
use http::driver::wire;
use http::servers::{ServerEntry, StartReport};
use lab::worker::{Reply, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::draw::Draw;
use crate::looks;
use crate::target::Target;

/// The first byte chooses the message that is expected; the rest is the line.
pub const TARGET: Target = Target { name: "lines", one, seeds, longest: 4 << 10 };

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (choice, line) = (draw.byte() % 8, draw.rest());
    match choice {
        0 => drop(again::<Request>(line)),
        1 => reply(line),
        2 => drop(again::<wire::Hello>(line)),
        3 => drop(again::<wire::Order>(line)),
        4 => drop(again::<wire::Answer>(line)),
        5 => {
            if let Some(spec) = again::<LoadSpec>(line) {
                let _ = spec.load();
            }
        }
        6 => drop(serde_json::from_slice::<StartReport>(line)),
        _ => drop(serde_json::from_slice::<ServerEntry>(line)),
    }
}

/// A message that was understood is written, and understood again as the same.
fn again<T: DeserializeOwned + Serialize>(line: &[u8]) -> Option<T> {
    let message: T = serde_json::from_slice(line).ok()?;
    let text = serde_json::to_string(&message).expect("a message is written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&read).expect("a message is written"), text);
    Some(message)
}

/// What a worker answers ends up in a record.
fn reply(line: &[u8]) {
    match again::<Reply>(line) {
        Some(Reply::Finished(facts) | Reply::Ready(facts)) => {
            looks::judged(facts.discovered, Machine::default());
        }
        Some(Reply::Round(round)) => {
            let unit = figure::Unit::of("ns");
            let mut figure = figure::Figure::planned("a.b", "memory", "a", unit, figure::Better::Lower);
            figure.rounds = vec![*round; 7];
            figure.summarise();
            looks::judged(vec![figure], Machine::default());
        }
        _ => {}
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let lines: [(u8, &str); 16] = [
        (0, r#"{"prepare":{"a":1}}"#),
        (0, r#"{"round":"memory.triad"}"#),
        (0, r#""finish""#),
        (1, r#"{"event":{"seen":{"text":"x"}}}"#),
        (1, r#"{"ready":{"evidence":{"a":{"value":1}},"conditions":{"threads":2},"figures":[["a",{}]]}}"#),
        (
            1,
            r#"{"round":{"started":"2026-01-01T00:00:00Z","duration":0.5,"samples":[1.5,2],"evidence":{"cpu.steal":{"value":0.1}},"kept":true,"reason":null}}"#,
        ),
        (1, r#"{"failed":"no"}"#),
        (2, r#"{"protocol":1,"token":"x"}"#),
        (3, r#"{"start_window":{"server":0,"length":{"secs":1,"nanos":5},"profile":3}}"#),
        (3, r#"{"collect":{"server":0,"answered":5.5,"share":0.5}}"#),
        (4, r#"{"welcome":{"machine":"x","boot":"y","servers":["nethttp"]}}"#),
        (4, r#"{"started":{"address":"127.0.0.1:80","facts":{},"cost_rounds":0}}"#),
        (4, r#"{"report":{"facts":{},"timeline":{"columns":[],"start":"x"},"cpu":0.5}}"#),
        (6, r#"{"server":"nethttp","address":"127.0.0.1:80","pid":7}"#),
        (7, r#"{"name":"nethttp","about":"x","modules":["a"]}"#),
        (3, r#"{"prepare":0}"#),
    ];
    let spec = LoadSpec::get_root(([127, 0, 0, 1], 80).into(), 4);
    let spec = serde_json::to_vec(&spec).expect("a message is written");
    let lines = lines.into_iter().map(|(choice, line)| [&[choice], line.as_bytes()].concat());
    lines.chain([[&[5], &spec[..]].concat()]).collect()
}

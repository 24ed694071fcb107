//! Prints a hand-built record, to look at: `cargo run -p truebench-report --example sample -- FORMAT WIDTH RECORD`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::io::stdout;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default: &str| words.get(at).map_or(default.to_owned(), String::clone);
    let record = match word(2, "full").as_str() {
        "quiet" => sample::quiet(),
        "interrupted" => sample::interrupted(),
        "hostile" => sample::hostile(),
        "extreme" => sample::extreme(),
        "curve" => sample::curve(),
        "mix" => sample::modes::mix(),
        "scaling" => sample::modes::scaling(),
        "ladder" => sample::modes::ladder(),
        "latency" => sample::modes::latency(),
        "loaded" => sample::modes::loaded(),
        "family" => sample::family::family(),
        "alignment" => sample::modes::alignment(),
        "c2c" => sample::modes::c2c(),
        "numa" => sample::modes::numa(3),
        "nodes" => sample::modes::numa(12),
        "counters" => sample::modes::counters(),
        "cross" => sample::modes::cross(),
        "no-counters" => sample::modes::no_counters(),
        "unknown" => sample::modes::unknown(),
        "modes" => sample::modes::all(),
        "empty" => sample::empty(),
        _ => sample::full(),
    };
    let format = report::format(&word(0, "text")).unwrap_or(&report::FORMATS[0]);
    let options = report::Options {
        colour: words.iter().any(|word| word == "colour"),
        ascii: words.iter().any(|word| word == "ascii"),
        ..report::Options::new(word(1, "80").parse().unwrap_or(80))
    };
    (format.write)(&record, &options, &mut stdout())
}

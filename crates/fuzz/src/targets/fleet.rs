//! Records of the nodes of a fleet: gathered, judged beside nodes that are known, and shown in every format; and baselines.

use figure::Reading;
use fleet::{Baseline, Gathering, Rules, Table, check, parse};
use report::Options;
use serde_json::{Value, json};

use super::record;
use crate::draw::Draw;
use crate::looks;
use crate::target::Target;

/// The first byte is the number of nodes that are alike, the next two choose their known record. Pieces follow, each with a byte before it:
/// the text of a record, or how a known record is changed. With a first byte from [`BASELINE`] on the rest is a baseline.
pub const TARGET: Target = Target { name: "fleet", one, seeds, longest: 4 << 10 };

const BASELINE: u8 = 192;
/// Nodes that are alike, at most, and records besides.
const ALIKE: u8 = 40;
const OTHERS: usize = 60;

/// Records, and how many files they were.
#[derive(Default)]
struct Files {
    gathering: Gathering,
    count: usize,
}

impl Files {
    /// Nodes that are alike, but for 0.1 % by which their figures differ.
    fn alike(nodes: u8, part: usize) -> Files {
        let mut files = Files::default();
        for number in 0..nodes {
            let mut record = record::known(part);
            record["machine"]["hostname"] = json!(Reading::Value(format!("n{number:02}")));
            for figure in record["figures"].as_array_mut().into_iter().flatten() {
                if let Some(value) = figure["value"].as_f64() {
                    figure["value"] = json!(value * (1.0 + 0.001 * f64::from(number % 7)));
                }
            }
            files.add(record.to_string().as_bytes());
        }
        files
    }

    fn add(&mut self, text: &[u8]) {
        self.count += 1;
        match parse(&format!("rack/n{}\u{1b}[31m.json", self.count), text, Some(1.8e9)) {
            Ok(parsed) => self.gathering.add(parsed),
            Err(unused) => self.gathering.reject(unused),
        }
    }

    /// The table: each file is a row of it, or named with a reason.
    fn table(self) -> Table {
        let table = self.gathering.finish();
        assert_eq!(table.rows.len() + table.unused.len(), self.count);
        table
    }
}

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let choice = draw.byte();
    if choice >= BASELINE {
        match Baseline::read(draw.rest()) {
            Ok(baseline) => judge(Files::alike(choice % ALIKE, 0).table(), Some(&baseline)),
            Err(why) => assert!(!why.chars().any(char::is_control) && why.len() < 1000, "{why:?}"),
        }
        return;
    }
    let mut files = Files::alike(choice % ALIKE, draw.word());
    let most = files.count + OTHERS;
    while !draw.is_empty() && files.count < most {
        let (is_text, piece) = (draw.flag(), draw.piece());
        if is_text {
            files.add(piece);
        } else {
            files.add(record::changed(&mut Draw::new(piece)).to_string().as_bytes());
        }
    }
    let table = files.table();
    let baseline = Baseline::of(&table);
    let text = serde_json::to_vec(&baseline).expect("a baseline is written");
    assert_eq!(Baseline::read(&text).map(|read| read.groups.len()), Ok(baseline.groups.len()));
    judge(table.clone(), None);
    judge(table, Some(&baseline));
}

/// Judges a table. Each node has an answer, and every format shows them.
fn judge(table: Table, baseline: Option<&Baseline>) {
    let rows = table.rows.len();
    let check = check(table, &Rules::default(), baseline);
    assert_eq!(check.nodes.len(), rows);
    for format in report::fleet::FORMATS {
        let mut shown = Vec::new();
        (format.write)(&check, &Options::new(80), &mut shown).expect("memory is written");
        looks::is_harmless(&shown, format.name);
    }
    let (mut csv, mut lines) = (Vec::new(), Vec::new());
    report::fleet::rows::csv(&check, &mut csv).expect("memory is written");
    looks::is_harmless(&csv, "csv");
    report::fleet::rows::json_lines(&check, &mut lines).expect("memory is written");
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let count = lines.filter(|line| serde_json::from_slice::<Value>(line).is_ok()).count();
    assert_eq!(count, rows * check.table.columns.len());
}

fn seeds() -> Vec<Vec<u8>> {
    let piece = |is_text: u8, bytes: &[u8]| [&[is_text], crate::draw::piece(bytes).as_slice()].concat();
    // A value of the first known record in place of another, at several places.
    let changed = |place: u8, kind: u8| piece(0, &[0, 0, place, 0, kind, 3]);
    let others = [
        vec![],
        changed(40, 1),
        [changed(200, 0), changed(90, 2), changed(7, 3)].concat(),
        piece(1, br#"{"schema": 99}"#),
        piece(1, b"\x1f\x8bno record"),
        // Two records of a node that is there, one of them twice.
        [piece(0, &[0, 0]), piece(0, &[0, 0]), piece(0, &[1, 0])].concat(),
    ];
    let nodes = [0, 1, 8, 12, 20, 39].into_iter().zip(others.iter().cycle());
    let mut seeds: Vec<Vec<u8>> =
        nodes.map(|(nodes, other)| [&[nodes, 0, 0], other.as_slice()].concat()).collect();
    seeds.extend((1..8).map(|part| [&[12, part, 0], others[2].as_slice()].concat()));
    let baseline = Baseline::of(&Files::alike(12, 0).table());
    let text = serde_json::to_vec(&baseline).expect("a baseline is written");
    seeds.extend([BASELINE, 210].map(|choice| [&[choice], text.as_slice()].concat()));
    seeds
}

//! Records: read, judged, and shown in every format.

use std::sync::LazyLock;

use figure::Record;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::target::Target;
use crate::{inputs, looks};

// Of the tests of the reports.
#[path = "../../../report/tests/sample/mod.rs"]
mod sample;

/// The first byte is the way of looking. From [`TEXT`] on the rest is the text of a record; else it chooses one that is known, and changes it.
pub const TARGET: Target = Target { name: "record", one, seeds, longest: 4 << 10 };

/// A first byte from here on: a text follows.
const TEXT: u8 = 128;
/// Figures, and rounds of each, of the records that are changed.
const FIGURES: usize = 6;
const ROUNDS: usize = 7;

/// Texts that a record may have in place of a word or a name.
const TEXTS: &[&str] = &[
    "</title></svg>]]><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&|\u{1b}[31m\u{202e}\u{0}\u{ffff}\n# EOF\nevil 1\n",
    "",
    "\u{1b}]0;x\u{7}",
    "=1+1",
    "memory.triad.nt",
    "GB/s",
    "ns",
    "higher",
    "lower",
    "measured",
    "unknown",
    "2026-11-23T13:00:00Z",
    "ａｂｃ\u{301}\u{200d}👩‍👩‍👧",
    "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.0.1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
];
/// Numbers at every end.
const NUMBERS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    1e-9,
    1e9,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    4294967295.0,
    18446744073709551615.0,
    9007199254740993.0,
    1e300,
];

/// Parts of records of every suite and mode, and of the record of the format's first version: of so many figures, as many as make a series.
static KNOWN: LazyLock<Vec<Value>> = LazyLock::new(|| {
    use sample::{alloc, loads, modes, walk, watched};
    let text = std::fs::read(inputs::repository("tests/records/schema-1.json")).expect("a record");
    let walked = Record { figures: walk::figures(), ..sample::empty() };
    let records = [
        walked,
        watched::watched(),
        watched::with_blocks(),
        sample::full(),
        sample::curve(),
        sample::tests(),
        alloc::answer(),
        loads::study(),
        loads::asked(),
        modes::mix(),
        modes::scaling(),
        modes::ladder(),
        modes::latency(),
        modes::loaded(),
        modes::alignment(),
        modes::c2c(),
        modes::numa(3),
        modes::counters(),
        modes::cross(),
        modes::noise(4),
        modes::tried(),
    ];
    let known = [Record::read(&text).expect("a record")];
    let mut parts = Vec::new();
    for record in known.iter().chain(&records) {
        for figures in record.figures.chunks(FIGURES) {
            let mut part = record.clone();
            part.figures = figures.to_vec();
            part.figures.iter_mut().for_each(|figure| figure.rounds.truncate(ROUNDS));
            parts.push(json!(part));
        }
    }
    parts
});

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let choice = draw.byte();
    let read = match choice {
        TEXT.. => Record::read(draw.rest()),
        _ => Record::read(changed(&mut draw).to_string().as_bytes()),
    };
    let way = usize::from(choice % TEXT);
    match read {
        Ok(mut record) => {
            // As it was judged by whoever wrote it, or judged anew.
            if way % 2 == 0 {
                judge::judge(&mut record);
                looks::are_judged(&record);
            }
            looks::hold(&record);
            looks::look(&record, way / 2);
        }
        Err(why) => assert!(!why.chars().any(char::is_control) && why.chars().count() < 1000, "{why:?}"),
    }
}

/// A record that is known.
pub(super) fn known(number: usize) -> Value {
    KNOWN[number % KNOWN.len()].clone()
}

/// A known record, changed as the input says.
pub(super) fn changed(draw: &mut Draw) -> Value {
    let mut record = known(draw.word());
    while !draw.is_empty() {
        let all = count(&record);
        let (place, kind) = (draw.word() % all, draw.byte());
        let other = if kind % 12 == 8 { nth(&mut record, draw.word() % all).cloned() } else { None };
        if let Some(value) = nth(&mut record, place) {
            change(value, kind % 12, other, draw);
        }
    }
    record
}

fn change(value: &mut Value, kind: u8, other: Option<Value>, draw: &mut Draw) {
    let mut of = |count: usize| usize::from(draw.byte()) % count.max(1);
    match (kind, &mut *value) {
        (0, _) => *value = json!(TEXTS[of(TEXTS.len())]),
        (1, _) => *value = json!(NUMBERS[of(NUMBERS.len())]),
        (2, _) => *value = Value::Null,
        (3, Value::Object(fields)) => {
            let key = fields.keys().nth(of(fields.len())).cloned();
            key.and_then(|key| fields.remove(&key));
        }
        (3, Value::Array(values)) if !values.is_empty() => drop(values.remove(of(values.len()))),
        (4, Value::Array(values)) if !values.is_empty() => {
            let (from, times) = (of(values.len()), 1 + of(40));
            let copy = values[from].clone();
            values.extend(std::iter::repeat_n(copy, times));
        }
        (5, Value::Array(values)) => values.clear(),
        (5, Value::Object(fields)) => fields.clear(),
        (6, Value::Array(values)) => values.reverse(),
        (7, Value::Bool(is)) => *is = !*is,
        (8, _) => *value = other.unwrap_or_default(),
        (9, Value::Number(number)) => {
            let factor = [0.0, -1.0, 1e-3, 0.5, 1.01, 2.0, 1e3, 1e18][of(8)];
            *value = json!(number.as_f64().unwrap_or_default() * factor);
        }
        (10, _) => *value = json!(String::from_utf8_lossy(draw.piece())),
        (11, _) => *value = json!(draw.long()),
        _ => {}
    }
}

/// How many values there are, those within others too.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value of this number, in the order in which they are written.
fn nth(value: &mut Value, number: usize) -> Option<&mut Value> {
    fn within<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
        if *left == 0 {
            return Some(value);
        }
        *left -= 1;
        match value {
            Value::Array(values) => values.iter_mut().find_map(|value| within(value, left)),
            Value::Object(fields) => fields.values_mut().find_map(|value| within(value, left)),
            _ => None,
        }
    }
    within(value, &mut { number })
}

fn seeds() -> Vec<Vec<u8>> {
    // Each known part in one way, and each way of looking at one part; and the smallest record as text.
    let ways = 2 * looks::WAYS;
    let seed = |way: usize, part: usize| [&[way as u8][..], &(part as u16).to_le_bytes()].concat();
    let all = (0..KNOWN.len()).map(|part| seed(part % ways, part));
    let ways = all.chain((0..ways).map(|way| seed(way, 1)));
    let mut least = KNOWN[0].clone();
    for field in ["figures", "findings"] {
        least[field] = json!([]);
    }
    least["machine"]["topology"]["cpus"] = json!([]);
    least["machine"]["kernel"]["settings"] = json!([]);
    ways.chain([[&[TEXT], least.to_string().as_bytes()].concat()]).collect()
}

//! UnixBench's tests: a record for each case, and the twin on which it changes.

use crate::records::*;
use figure::evidence::*;
use figure::{Better, CpuList, Figure, Record, Unit};
use serde_json::{Value, json};

/// A test of a class with so many copies.
pub fn test(name: &str, class: &str, copies: f64, values: &[f64]) -> Figure {
    let id = if copies > 1.0 { format!("system.{name}.x{copies}") } else { format!("system.{name}") };
    let figure = plain(&id, Unit::LPS, Better::Higher, 1.0).values(values);
    figure.with(TEST, name.to_owned()).with(TEST_CLASS, class.to_owned()).with(COPIES, copies)
}

/// One copy and two of a test; on two CPUs.
pub fn pair(class: &str, one: &[f64], two: &[f64]) -> Record {
    let mut record = record(vec![test("pipe", class, 1.0, one), test("pipe", class, 2.0, two)]);
    let cpus: CpuList = "0-1".parse().unwrap();
    (record.machine.topology.online, record.machine.topology.allowed) = (cpus.clone(), cpus);
    record
}

/// A record, a figure, and the rule, case and values that explain it.
pub type Situation = (Record, &'static str, &'static str, Value);

/// The records alone.
pub fn records(situations: Vec<Situation>) -> Vec<Record> {
    situations.into_iter().map(|(record, ..)| record).collect()
}

/// Each record has its explanation.
#[track_caller]
pub fn explains(situations: Vec<Situation>) {
    situations.into_iter().for_each(|(record, id, name, values)| case(&record, id, name, values));
}

const COPY: &str = "system.pipe.x2";

/// A test with what it rests on apart from the machine.
fn any(class: &str, fill: impl FnOnce(Figure) -> Figure) -> Record {
    record(vec![fill(test("any", class, 1.0, &six(100.0)))])
}

fn shell(collate: &str) -> Record {
    let dash = "/usr/bin/dash".to_owned();
    any("shell", |figure| figure.with(SHELL, dash).with(LOCALE_COLLATE, collate.to_owned()))
}

fn process() -> Record {
    let image = |figure: Figure| figure.with(CELL_BYTES, 51e3).with(CELL_LIBRARIES, 1.0);
    any("process", |figure| image(figure).with(CELL_LINKAGE, "dynamic".into()))
}

fn compute() -> Record {
    let strcmp = "__strcmp_avx2".to_owned();
    any("compute", |figure| figure.with(LIBC, "glibc 2.36".into()).with(LIBC_STRCMP, strcmp))
}

/// A test with tasks that waited for a device in this share of the time.
fn waited(class: &str, share: Option<f64>, file_system: &str) -> Record {
    let figure = test("fstime", class, 1.0, &six(100.0)).with(FS_TYPE, file_system.to_owned());
    record(vec![match share {
        Some(share) => figure.with(PSI_IO, share * ROUND_SECONDS),
        None => figure.unknown(PSI_IO, "no pressure information"),
    }])
}

fn expected() -> Vec<Situation> {
    let copies = |class, cpus: &str, each: f64, name| {
        let mut record = pair(class, &six(100.0), &six(200.0 * each));
        record.machine.topology.allowed = cpus.parse().unwrap();
        let one = json!({"figure": "system.pipe", "value": 100, "ratio": 2.0 * each});
        (record, COPY, name, json!({"copies": 2, "each": each, "one": one}))
    };
    let files = |share, on, name, values| (waited("files", share, on), "system.fstime", name, values);
    vec![
        copies("syscall", "0-1", 1.0, "copies/copies-scale"),
        copies("syscall", "0-1", 0.75, "copies/copies-limited"),
        copies("switching", "0-1", 0.75, "copies/copies-limited"),
        copies("syscall", "0-1", 1.5, "copies/copies-exceed-one"),
        copies("switching", "0-1", 1.5, "copies/copies-placed"),
        copies("syscall", "0", 0.5, "copies/copies-take-turns"),
        files(Some(0.0), "ext4", "page-cache/files-in-page-cache", json!({"waited": 0})),
        files(Some(0.3), "ext4", "page-cache/files-wait-for-device", json!({"waited": 0.3})),
        files(None, "ext4", "page-cache/files-perhaps-wait", json!({})),
        files(Some(0.0), "tmpfs", "page-cache/files-in-memory", json!({"file_system": "tmpfs"})),
    ]
}

pub fn situations() -> Vec<Record> {
    let surroundings = [shell("C"), process(), compute()].map(Record::judged);
    records(expected()).into_iter().chain(surroundings).collect()
}

#[test]
fn copies_and_copied_files() {
    explains(expected());
    no_case(&pair("syscall", &six(100.0), &[100.0, 300.0, 120.0, 280.0, 110.0, 250.0]), COPY, "copies");
    no_case(&pair("syscall", &six(100.0), &six(200.0)).only(|id| id == COPY), COPY, "copies");
    no_case(&waited("syscall", Some(0.0), "ext4"), "system.fstime", "page-cache");
}

#[test]
fn tests_rest_on_libraries_programs_and_locale() {
    for locale in ["C (there is no en_US.utf8)", "C.UTF-8"] {
        let values = json!({"locale": locale, "shell": "/usr/bin/dash"});
        case(&shell(locale), "system.any", "surroundings/bytewise-order", values);
    }
    no_case(&shell("en_US.utf8"), "system.any", "surroundings");
    let values = json!({"linkage": "dynamic", "size": 51e3, "libraries": 1});
    case(&process(), "system.any", "surroundings/program-image", values);
    let values = json!({"library": "glibc 2.36", "strcmp": "__strcmp_avx2"});
    case(&compute(), "system.any", "surroundings/c-library", values);
    no_case(&any("compute", |figure| figure.unknown(LIBC, "not read")), "system.any", "surroundings");
}

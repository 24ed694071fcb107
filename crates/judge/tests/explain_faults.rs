//! By what a mechanism of page faults was recognised, what its faults cost and what may help: each sentence, and the twin record on which it
//! must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Severity, Status, Unit};

pub const CAUSE: &str = "faults.mechanism";
const ANSWER: &str = "faults.gain";

/// A mechanism of 62 % of the faults, of which half met a page that had been there before.
pub fn by(mechanism: &str, memory: &str) -> Record {
    let mut figure = Figure::planned(CAUSE, "faults", mechanism, Unit::ONE, Better::Neither);
    (figure.value, figure.status) = (Some(0.62), Status::Measured);
    figure.conditions.set(WATCHED, "server".to_owned());
    figure.conditions.set(MECHANISM, mechanism.to_owned());
    figure.conditions.set(MEMORY_KIND, memory.to_owned());
    figure.evidence.put(FAULT_REFAULTS, 0.5);
    record(vec![figure])
}

/// The same with one fact more, or another.
pub fn with(mut record: Record, key: Key<f64>, value: f64) -> Record {
    record.figures[0].evidence.put(key, value);
    record
}

fn managed(mut record: Record, manager: &str) -> Record {
    record.figures[0].conditions.set(MANAGER, manager.to_owned());
    record
}

#[test]
fn pages_that_were_there_before_are_told_as_far_as_they_were_seen() {
    let churn = by("map-churn", "mapping");
    let met = "50 % of the faults at the mapping met a page that had been there before";
    says(&churn, CAUSE, &[&format!("{met}; 0 % of those seen twice lay in a new mapping by then.")]);
    says(&with(churn.clone(), FAULT_BLOCK, 65536.0), CAUSE, &[&format!("{met}, in runs of 64 KiB;")]);
    silent(&with(churn.clone(), FAULT_BLOCK, 0.0), CAUSE, &["in runs of"]);
    says(&with(churn.clone(), AGAIN_MAPPED, 0.9), CAUSE, &["90 % of those seen twice lay in a new mapping"]);
    // Others were not new either: too few of those are not told.
    let unmet = with(churn.clone(), FAULT_UNMET, 0.3);
    says(&unmet, CAUSE, &[met, "; 30 % of the others were not new either; 0 % of those seen twice"]);
    silent(&with(churn, FAULT_UNMET, 0.04), CAUSE, &["not new"]);
    // Hardly a page was seen twice: what was seen of such pages is not told.
    let unseen = with(with(unmet, FAULT_REFAULTS, 0.01), AGAIN_MAPPED, 0.9);
    says(&unseen, CAUSE, &["30 % of the faults at the mapping were not new: memory did not grow by them"]);
    silent(&unseen, CAUSE, &["seen twice", "had been there before"]);
}

#[test]
fn who_maps_blocks_is_told_by_who_writes_their_headers() {
    let churn = with(with(by("map-churn", "mapping"), BLOCK_HEADERS, 0.9), BLOCK_MAPPED, 2097152.0);
    let own = "; of the first faults at new mappings 90 % were malloc's own";
    let glibc = managed(churn.clone(), "glibc");
    says(&glibc, CAUSE, &["(most bytes in mappings of 2 MiB)", &format!("{own}, writing a block's size.")]);
    says(&managed(churn.clone(), "program"), CAUSE, &[&format!("{own}: the program maps them itself.")]);
    for nobody in [churn.clone(), managed(churn, "jemalloc"), managed(by("map-churn", "mapping"), "glibc")] {
        silent(&nobody, CAUSE, &["malloc's own"]);
    }
}

#[test]
fn each_mechanism_is_told_by_its_own_evidence() {
    let cut = "40 % of those seen twice were in a heap that had been cut and grown again.";
    let trim = with(by("heap-trim", "heap"), AGAIN_CUT, 0.4);
    says(&trim, CAUSE, &["50 % of the faults at the heap met a page", cut]);
    let silently = "for 70 % of those seen twice nothing had been mapped, cut or forked since: they were given back by \
                    advice (madvise).";
    for (mechanism, memory) in [("arena-trim", "arena"), ("purge", "mapping")] {
        let advised = with(by(mechanism, memory), AGAIN_SILENTLY, 0.7);
        says(&advised, CAUSE, &[silently]);
        let unseen = with(with(advised, FAULT_REFAULTS, 0.01), FAULT_UNMET, 0.5);
        silent(&unseen, CAUSE, &["advice"]);
    }
    silent(&with(with(trim, FAULT_REFAULTS, 0.01), FAULT_UNMET, 0.5), CAUSE, &["cut and grown"]);
    let stacks = with(by("stacks", "thread-stack"), THREADS_ENDED, 300.0);
    says(&stacks, CAUSE, &["300 threads ended and others took their places."]);
    says(&by("stacks", "thread-stack"), CAUSE, &["Unexplained"]);
    let grows = by("growth", "heap");
    says(&grows, CAUSE, &["They met pages for the first time, most of them at the heap."]);
    says(&with(grows, FAULT_BLOCK, 65536.0), CAUSE, &["most of them at the heap, in runs of 64 KiB."]);
    for (mechanism, memory, told) in [
        ("file", "file", "They met pages of files that were mapped"),
        ("numa-hinting", "unknown", "as many hinting faults meanwhile (numa_hint_faults)"),
        ("huge-pages", "mapping", "as many huge pages meanwhile (thp_fault_alloc)"),
        (
            "unexplained",
            "heap",
            "50 % of the faults at the heap met a page that had been there before; no rule fits.",
        ),
    ] {
        says(&by(mechanism, memory), CAUSE, &[told]);
        // The twin: it is a point of a series, and no mechanism's share of all faults.
        let mut point = by(mechanism, memory);
        point.figures[0].series = Some("faults.sites".to_owned());
        says(&point, CAUSE, &["Unexplained"]);
    }
}

#[test]
fn copies_after_a_fork_are_told_with_what_was_seen_of_them() {
    let forked = with(by("copy-on-write", "heap"), PROGRAM_FORKS, 12.0);
    says(&forked, CAUSE, &["The program forked 12.0 times while it was watched."]);
    let copies = "Of the faults that told what they met 80 % wrote to a page that was there.";
    says(&with(forked.clone(), FAULT_COPIES, 0.8), CAUSE, &[copies]);
    silent(&forked, CAUSE, &["wrote to a page"]);
    says(&with(forked, FAULT_UNMET, 0.3), CAUSE, &["watched; 30 % of its first touches were not new"]);
    says(&by("copy-on-write", "heap"), CAUSE, &["Unexplained"]);
}

/// What the findings say of a program of which page faults cost this share; 0.5 without more.
fn findings(gain: f64, mechanism: &Record) -> Vec<(String, Severity)> {
    let measured = |id: &str, unit: Unit, value: f64| {
        let mut figure = Figure::planned(id, "faults", id, unit, Better::Neither);
        (figure.value, figure.status) = (Some(value), Status::Measured);
        figure
    };
    let mut answer = measured(ANSWER, Unit::ONE, gain);
    answer.evidence.put(FAULT_TOTAL, 1e6);
    answer.evidence.put(PROGRAM_CPU, 3.0);
    let price = measured("faults.prices.minor.write", Unit::NANOSECONDS, 1500.0);
    let mut record = record([vec![answer, price], mechanism.figures.clone()].concat());
    judge::judge(&mut record);
    record.findings.into_iter().map(|finding| (finding.text(), finding.severity)).collect()
}

#[track_caller]
fn finds(gain: f64, mechanism: &Record, words: &str) -> Severity {
    let all = findings(gain, mechanism);
    let found = all.iter().find(|(text, _)| text.contains(words));
    found.unwrap_or_else(|| panic!("no '{words}' in {all:#?}")).1
}

#[test]
fn little_to_gain_is_told_as_such_and_no_lever_with_it() {
    let mut trim = with(by("heap-trim", "heap"), AGAIN_CUT, 0.4);
    trim.figures[0].name = "the heap given back".to_owned();
    let conditions = &mut trim.figures[0].conditions;
    conditions.set(LEVER_ABOUT, "keep the heap".to_owned());
    conditions.set(LEVER_PRICE, "memory stays".to_owned());
    conditions.set(LEVER_CODE, "mallopt(3);".to_owned());
    let much = "Page faults cost about 50 % of the program's CPU time: 1000000 minor faults";
    assert_eq!(finds(0.5, &trim, much), Severity::Warning);
    finds(0.5, &trim, "62 % of the faults: the heap given back. 50 % of the faults at the heap met a page");
    finds(0.5, &trim, "What may help: keep the heap; in the program: mallopt(3);. It costs: memory stays.");
    let little =
        "Next to nothing to gain: page faults cost about 1.0 % of the program's CPU time (1000000 minor";
    assert_eq!(finds(0.01, &trim, little), Severity::Note);
    assert!(findings(0.01, &trim).iter().all(|(text, _)| !text.contains("What may help")));
    trim.figures[0].conditions.set(LEVER_ENVIRONMENT, "MALLOC_TOP_PAD_=1".to_owned());
    finds(
        0.5,
        &trim,
        "keep the heap; MALLOC_TOP_PAD_=1 for one run; whether it helps: truebench faults --prove",
    );
    // A small part of the faults is not told.
    trim.figures[0].value = Some(0.05);
    assert!(findings(0.5, &trim).iter().all(|(text, _)| !text.contains("the heap given back")));
}

#[test]
fn the_blocks_with_most_faults_are_told_with_who_allocates_them() {
    let blocks = |share: f64, most: f64| {
        let mut row = Figure::planned("faults.block.1", "faults", "x", Unit::ONE, Better::Neither);
        (row.value, row.status) = (Some(share), Status::Measured);
        row.series = Some("faults.blocks".to_owned());
        row.conditions.set(BLOCK_SITE, "answer (server.c:41)".to_owned());
        row.evidence.put(BLOCK_LEAST, 65536.0);
        row.evidence.put(BLOCK_MOST, most);
        record(vec![row])
    };
    finds(
        0.5,
        &blocks(0.62, 65536.0),
        "62 % of the faults are in blocks of 64 KiB that answer (server.c:41) allocates.",
    );
    finds(0.5, &blocks(0.62, 131072.0), "in blocks of 64 KiB to 128 KiB that");
    assert!(findings(0.5, &blocks(0.05, 65536.0)).iter().all(|(text, _)| !text.contains("in blocks of")));
}

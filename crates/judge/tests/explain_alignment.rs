//! What is said of alignment and of lines from core to core: the record on which a sentence appears, and the twin on which
//! it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Figure, Record, Unit, Verdict};

/// A point of the sweep with vectors of 64 B.
fn point(level: &str, stores: &str, offset: f64, misalignment: f64, value: f64) -> Figure {
    let mut figure = bandwidth("copy", stores, &six(value));
    let nt = if stores == "nt" { ".nt" } else { "" };
    let series = format!("memory.alignment.copy{nt}.{level}");
    figure.id = format!("{series}.o{offset}.m{misalignment}");
    figure.series = Some(series);
    figure.conditions.set(LEVEL, level.to_owned());
    figure.conditions.set(OFFSET_BYTES, offset);
    figure.conditions.set(MISALIGNMENT, misalignment);
    figure.conditions.set(VECTOR_BYTES, 64.0);
    figure
}

/// Misaligned by 8 B it is half as fast in L1; 64 B apart three quarters; in memory neither matters.
pub fn sweep() -> Record {
    record(vec![
        point("L1", "regular", 0.0, 0.0, 400.0),
        point("L1", "regular", 0.0, 8.0, 200.0),
        point("L1", "regular", 64.0, 0.0, 300.0),
        point("L1", "regular", 64.0, 8.0, 190.0),
        point("L1", "regular", 2048.0, 0.0, 396.0),
        point("memory", "regular", 0.0, 0.0, 29.0),
        point("memory", "regular", 0.0, 8.0, 28.9),
        point("memory", "regular", 64.0, 0.0, 28.8),
        point("memory", "nt", 0.0, 0.0, 46.4),
    ])
}

const COPY_L1: &str = "memory.alignment.copy.L1";
const COPY: &str = "memory.alignment.copy.memory";

#[test]
fn split_lines_cost_where_the_arrays_are_near() {
    let mut record = sweep();
    let id = format!("{COPY_L1}.o0.m8");
    let aligned = format!("0.500x [0.500, 0.500] of {COPY_L1}.o0.m0");
    says(
        &record,
        &id,
        &["8 B off alignment, every vector of 64 B straddles two lines and takes two accesses", &aligned],
    );
    // The twins: no loss; a gain; a loss without a straddling vector.
    set(&mut record, &id, 398.0);
    says(&record, &id, &["No effect seen 8 B off alignment"]);
    silent(&record, &id, &["takes two accesses"]);
    set(&mut record, &id, 500.0);
    says(&record, &id, &["Faster 8 B off alignment", "not explained by alignment"]);
    set(&mut record, &id, 200.0);
    let figure = record.figures.iter_mut().find(|figure| figure.id == id).unwrap();
    figure.conditions.set(VECTOR_BYTES, 8.0);
    says(&record, &id, &["no vector of 8 B straddles two lines: not explained by split lines"]);
}

#[test]
fn narrow_vectors_straddle_fewer_lines() {
    let mut record = sweep();
    let id = format!("{COPY_L1}.o0.m8");
    for (vector, words) in [(32.0, "every second vector of 32 B"), (16.0, "every fourth vector of 16 B")] {
        let figure = record.figures.iter_mut().find(|figure| figure.id == id).unwrap();
        figure.conditions.set(VECTOR_BYTES, vector);
        says(&record, &id, &[words]);
    }
}

#[test]
fn a_distance_that_costs_fits_aliasing_and_none_at_all_does_not() {
    let mut record = sweep();
    let id = format!("{COPY_L1}.o64.m0");
    says(
        &record,
        &id,
        &[
            "Written 64 B behind what is read",
            "0.750x [0.750, 0.750] of memory.alignment.copy.L1.o0.m0, the best aligned",
            "fits 4 KiB aliasing, where a load 64 B further on",
        ],
    );
    says(&record, &format!("{COPY_L1}.o64.m8"), &["0.633x", "The distance costs besides", "0.750x"]);
    says(&record, &format!("{COPY_L1}.o2048.m0"), &["No effect of the distance seen"]);
    says(&record, &format!("{COPY_L1}.o0.m0"), &["The best of 3 aligned points in L1."]);
    // The twin: the same distance costs nothing, and equal addresses do.
    set(&mut record, &id, 410.0);
    set(&mut record, &format!("{COPY_L1}.o0.m0"), 300.0);
    silent(&record, &id, &["fits 4 KiB aliasing"]);
    says(&record, &format!("{COPY_L1}.o0.m0"), &["not 4 KiB aliasing"]);
}

#[test]
fn memory_hides_what_l1_shows() {
    let mut record = sweep();
    let (misaligned, apart) = (format!("{COPY}.o0.m8"), format!("{COPY}.o64.m0"));
    says(
        &record,
        &misaligned,
        &["No effect seen", "in L1 the same is 0.500x", "which hides behind memory here"],
    );
    says(&record, &apart, &["No effect of the distance", "in L1 the same is 0.750x"]);
    set(&mut record, &format!("{COPY_L1}.o0.m8"), 400.0);
    says(&record, &misaligned, &["nor in L1: 1.000x"]);
    set(&mut record, &misaligned, 20.0);
    says(&record, &misaligned, &["takes two accesses: it is 0.690x"]);
}

#[test]
fn non_temporal_stores_are_what_misaligned_arrays_lose() {
    let mut record = sweep();
    let id = "memory.alignment.copy.nt.memory.o0.m0";
    let lost = format!("misaligned arrays lose them: they are 1.606x [1.606, 1.606] of {COPY}.o0.m8");
    says(&record, id, &[&lost]);
    set(&mut record, &format!("{COPY}.o0.m8"), 46.4);
    says(&record, id, &["they are 1.000x"]);
}

#[test]
fn one_finding_tells_the_sweep() {
    let mut record = sweep();
    let finding = |record: &Record| {
        let mut record = record.clone();
        judge::judge(&mut record);
        let found = record.findings.into_iter().find(|finding| finding.text().starts_with("Alignment: "));
        found.map(|finding| (finding.text(), finding.figures))
    };
    let (text, figures) = finding(&record).unwrap();
    assert_eq!(
        text,
        "Alignment: in L1 misaligned vectors down to 0.500x [0.500, 0.500] (memory.alignment.copy.L1.o0.m8), the distance of \
         arrays down to 0.750x [0.750, 0.750] (memory.alignment.copy.L1.o64.m0); in memory misaligned vectors no effect, \
         the distance of arrays no effect."
    );
    assert_eq!(figures.len(), 2);
    set(&mut record, "memory.alignment.copy.memory.o0.m8", 20.0);
    assert!(finding(&record).unwrap().0.contains("in memory misaligned vectors down to 0.690x"));
    record.figures.retain(|figure| figure.conditions.get(MISALIGNMENT) == Some(0.0));
    let (text, _) = finding(&record).unwrap();
    assert!(
        text.contains("in memory misaligned vectors not measured, the distance of arrays no effect"),
        "{text}"
    );
    record.figures.clear();
    assert_eq!(finding(&record), None);
}

/// A line from CPU 0 to CPU 1 in `ns`.
pub fn line(state: &str, pair: &str, ns: f64) -> Figure {
    let mut figure = bandwidth("read", "none", &six(ns));
    figure.id = format!("memory.c2c.{state}.{pair}");
    figure.series = Some(format!("memory.c2c.{state}"));
    figure.unit = Unit::NANOSECONDS;
    figure.conditions.set(KERNEL, "c2c".to_owned());
    figure.conditions.set(LINE_STATE, state.to_owned());
    figure.conditions.set(PAIR, pair.to_owned());
    figure.conditions.set(PAIR_BASIS, "share an L3 of 32 MiB".to_owned());
    figure.conditions.set(CPUS, vec![0.0, 1.0]);
    for round in &mut figure.rounds {
        round.evidence.put(C2C_OWN, 5.0);
        round.evidence.put(C2C_MEMORY, 100.0);
    }
    figure
}

#[test]
fn a_line_between_own_cache_and_memory_came_from_a_cache() {
    let mut record = record(vec![line("clean", "llc", 50.0), line("modified", "llc", 60.0)]);
    let (clean, modified) = ("memory.c2c.clean.llc", "memory.c2c.modified.llc");
    says(
        &record,
        clean,
        &[
            "A clean line of CPU 0 takes CPU 1 10.0x as long as its own cache (5.00 ns)",
            "0.500x",
            "as long as memory (100 ns): it came from a cache, and memory is ruled out",
            "(the two CPUs: share an L3 of 32 MiB)",
        ],
    );
    // The twins: as long as memory; longer.
    set_line(&mut record, clean, 101.0);
    says(&record, clean, &["that memory answered is not ruled out"]);
    set_line(&mut record, modified, 101.0);
    says(&record, modified, &["memory does not hold it, but asking the other core takes as long"]);
    set_line(&mut record, modified, 150.0);
    says(&record, modified, &["asking the other core costs more than memory"]);
    // Without the walk from memory the rival cannot be excluded.
    for round in &mut record.figures[0].rounds {
        round.evidence.put_unknown(C2C_MEMORY, "not walked");
    }
    says(&record, clean, &["what memory takes was not measured"]);
}

#[test]
fn clean_against_modified() {
    let mut record = record(vec![line("clean", "llc", 50.0), line("modified", "llc", 60.0)]);
    let (clean, modified) = ("memory.c2c.clean.llc", "memory.c2c.modified.llc");
    says(
        &record,
        modified,
        &[
            "Modified is 1.200x [1.200, 1.200] of clean (60.0 ns against 50.0 ns; memory.c2c.clean.llc)",
            "which costs 20 %",
        ],
    );
    set_line(&mut record, modified, 50.5);
    says(&record, clean, &["Clean or modified makes no difference"]);
    set_line(&mut record, modified, 40.0);
    says(
        &record,
        clean,
        &[
            "of clean (40.0 ns against 50.0 ns; memory.c2c.modified.llc)",
            "comes from elsewhere or later",
            "Modified is 0.800x",
        ],
    );
    // Of other CPUs nothing is said.
    record.figures[1].conditions.set(CPUS, vec![0.0, 2.0]);
    silent(&record, clean, &["Modified is"]);
}

#[test]
fn siblings_share_the_cache() {
    let record = record(vec![line("clean", "smt", 5.2)]);
    says(
        &record,
        "memory.c2c.clean.smt",
        &["1.0x as long as its own cache", "hardware threads of one core share it"],
    );
}

/// New values, with the walks beside them as they were.
pub fn set_line(record: &mut Record, id: &str, ns: f64) {
    let figure = record.figures.iter_mut().find(|figure| figure.id == id).unwrap();
    for (round, value) in figure.rounds.iter_mut().zip(six(ns)) {
        round.samples = vec![value];
    }
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
}

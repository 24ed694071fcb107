//! Every explanation: the record on which its sentence appears, and the twin on which it must change.

use crate::relations_records;

use crate::relations_records::*;
use figure::Reading;
use figure::Verdict::{Invalid, Suspect, Unverified};
use figure::check::{CheckResult, Outcome};
use figure::evidence::*;
use judge::check::Answer;

// Study 1: the conclusions of its steps 6 to 8.

#[test]
fn study_1_step_6_the_write_allocate_is_the_gap() {
    let record = study_1();
    for (id, moved, gain) in [
        ("memory.add.regular", "151 GB/s counted is 202 GB/s moved", "memory.add.nt"),
        ("memory.triad.regular", "153 GB/s counted is 204 GB/s moved", "gains 1.29x of the 1.33x"),
        ("memory.copy.regular", "137 GB/s counted is 205 GB/s moved", "gains 1.34x of the 1.50x"),
        ("memory.scale.regular", "135 GB/s counted is 203 GB/s moved", "memory.scale.nt"),
    ] {
        says(&record, id, &["Write-allocate explains it", moved, gain, "rules out placement and clock"]);
    }
}

#[test]
fn study_1_step_7_non_temporal_stores_move_what_they_count() {
    says(
        &study_1(),
        "memory.triad.nt",
        &[
            "Moves only what it counts",
            "gains over memory.triad.regular 1.29x",
            "77 % of the theoretical peak of 256 GB/s",
        ],
    );
}

#[test]
fn study_1_step_8_copy_is_below_triad_by_the_mix() {
    let record = study_1();
    says(
        &record,
        "memory.copy.nt",
        &[
            "Below memory.triad.nt (197 GB/s) by the mix of reads and writes, 1:1 against 2:1",
            "a slower loop is ruled out, as with regular stores both move the same (205 GB/s and 204 GB/s)",
        ],
    );
    says(
        &record,
        "memory.copy.regular",
        &["The rest is the mix of reads and writes, 2:1 here and 1:1 there"],
    );
}

#[test]
fn study_1_findings() {
    let mut record = study_1();
    judge::judge(&mut record);
    let texts: Vec<_> = record.findings.iter().map(|finding| finding.text()).collect();
    let all = texts.join("\n");
    assert!(
        all.contains("Memory moves up to 205 GB/s here (memory.copy.regular, write-allocate included): 80 %"),
        "{all}"
    );
    assert!(
        all.contains(
            "would show 153 GB/s for triad where memory moves 204 GB/s; non-temporal stores reach 197 GB/s"
        ),
        "{all}"
    );
    assert!(all.contains("Over 4 kernels they gain 1.29x to 1.36x"), "{all}");
}

// Twins of study 1, in which one number is another.

#[test]
fn without_a_gain_the_write_allocate_explains_nothing() {
    let mut record = study_1();
    set(&mut record, "memory.triad.nt", 154.0);
    silent(&record, "memory.triad.regular", &["explains it"]);
}

#[test]
fn a_gain_far_below_the_prediction_is_explained_in_part_only() {
    let mut record = study_1();
    set(&mut record, "memory.copy.nt", 150.0);
    says(&record, "memory.copy.regular", &["explains only a part", "gains 1.10x of the 1.50x"]);
    says(&record, "memory.copy.nt", &["only 1.10x of the 1.50x"]);
    says(&record, "memory.copy.nt", &["the processor avoids part of those reads by itself, or its"]);
    silent(&record, "memory.copy.regular", &["The rest is the mix"]);
}

#[test]
fn copy_below_triad_with_both_stores_is_a_slower_loop_and_not_the_mix() {
    let mut record = study_1();
    set(&mut record, "memory.copy.regular", 120.0);
    silent(&record, "memory.copy.nt", &["mix"]);
    let mut record = study_1();
    set(&mut record, "memory.copy.nt", 197.0);
    silent(&record, "memory.copy.nt", &["mix"]);
}

#[test]
fn without_regular_figures_the_rival_of_the_mix_is_named() {
    let mut record = study_1();
    record.figures.retain(|figure| figure.id.ends_with(".nt"));
    says(&record, "memory.copy.nt", &["by the mix", "a slower loop is not ruled out"]);
}

#[test]
fn an_invalid_partner_explains_nothing() {
    let mut record = study_1();
    judged(&mut record, "memory.triad.nt", Invalid, "verified", Answer::fail("a wrong sum", "report it"));
    for id in ["memory.triad.regular", "memory.copy.nt"] {
        silent(&record, id, &["memory.triad.nt"]);
    }
}

// More gain than write-allocate explains: two threads that keep their lines in flight.

pub fn two_threads() -> figure::Record {
    let mut record = record(vec![
        bandwidth("copy", "regular", &six(18.0)),
        bandwidth("copy", "nt", &six(30.0)),
        bandwidth("scale", "regular", &six(17.9)),
        bandwidth("triad", "regular", &six(20.2)),
        bandwidth("triad", "nt", &six(29.5)),
        bandwidth("read", "none", &six(22.5)),
        bandwidth("update", "regular", &six(26.0)),
        bandwidth("write", "regular", &six(14.0)),
        bandwidth("write", "nt", &six(27.0)),
        bandwidth("copy", "libc", &six(29.9)),
        bandwidth("copy", "compiler", &six(29.8)),
        bandwidth("scale", "compiler", &six(17.8)),
        bandwidth("triad", "compiler", &six(20.0)),
    ]);
    for figure in &mut record.figures {
        figure.conditions.set(THREADS, 2.0);
    }
    record
}

#[test]
fn lines_in_flight_explain_what_is_left() {
    let mut record = two_threads();
    // 20.2 GB/s x 32/24 x 3/4 read / 2 threads = 10.1 GB/s; x 100 ns / 64 B = 15.8 lines.
    says(
        &record,
        "memory.triad.regular",
        &[
            "explains 1.33x of the 1.46x that memory.triad.nt gains",
            "a thread reads 10.1 GB/s, which at a latency of 100 ns, assumed, is 16 lines",
            "allow up to 1.50x",
            "memory itself is not ruled out (its peak is unknown)",
            "page walks are ruled out (100 % in huge pages)",
        ],
    );
    says(
        &record,
        "memory.triad.nt",
        &["Gains 1.46x over memory.triad.regular", "waits for 15 of them at a time, and for 16"],
    );
    // Writing reads nothing with non-temporal stores: its gain has no bound. 14 x 16/8 x 1/2 / 2 = 7 GB/s read.
    set(&mut record, "memory.write.nt", 35.0);
    says(
        &record,
        "memory.write.regular",
        &["2.00x of the 2.50x", "is 11 lines", "non-temporal stores read none"],
    );
    says(&record, "memory.write.nt", &["waits for none of them at a time, and for 11 with regular stores"]);
    record.figures[3].evidence.put(PAGES_HUGE_SHARE, 0.02);
    says(&record, "memory.triad.regular", &["page walks are not (2.0 % in huge pages: try --pages thp)"]);
    record.figures[3].evidence.put_unknown(PAGES_HUGE_SHARE, "no smaps");
    says(&record, "memory.triad.regular", &["page walks are not (page size unknown: no smaps)"]);
}

#[test]
fn a_measured_latency_replaces_the_assumption() {
    let mut record = two_threads();
    let mut latency = bandwidth("read", "none", &six(80.0));
    latency.id = "memory.latency".into();
    latency.unit = figure::Unit::NANOSECONDS;
    latency.conditions.set(KERNEL, "latency".to_owned());
    record.figures.push(latency);
    says(&record, "memory.triad.regular", &["at a latency of 80.0 ns, by memory.latency, is 13 lines"]);
}

#[test]
fn near_the_peak_or_beyond_the_saved_reads_it_is_not_lines_in_flight() {
    let mut record = two_threads();
    let peak = |bytes_per_s| {
        let basis = "2 x 2000 (--dimms)".into();
        Reading::Value(figure::host::Peak { channels: 2, mt_per_s: 2000, bytes_per_s, basis })
    };
    record.machine.memory.peak = peak(59e9);
    says(
        &record,
        "memory.triad.regular",
        &[
            "The rest fits a limit of lines in flight in each core",
            "memory itself is ruled out, at 50 % of its peak",
        ],
    );
    record.machine.memory.peak = peak(32e9);
    silent(&record, "memory.triad.regular", &["lines in flight"]);
    let mut record = two_threads();
    set(&mut record, "memory.triad.nt", 35.0);
    silent(&record, "memory.triad.regular", &["lines in flight"]);
    // A gain that the bytes explain leaves no rest.
    set(&mut record, "memory.triad.nt", 27.0);
    silent(&record, "memory.triad.regular", &["lines in flight"]);
}

// No gain: avoided, or slow.

#[test]
fn no_gain_beyond_what_memory_moves_is_an_avoided_write_allocate() {
    let mut record = record(vec![
        bandwidth("triad", "regular", &six(190.0)),
        bandwidth("triad", "nt", &six(191.0)),
        bandwidth("read", "none", &six(210.0)),
    ]);
    says(
        &record,
        "memory.triad.regular",
        &[
            "avoids the write-allocate by itself: non-temporal against regular stores is 1.01x (memory.triad.nt)",
            "would move 253 GB/s, beyond 210 GB/s (memory.read.regular)",
        ],
    );
    // The twin: memory moves as much as regular stores with their write-allocate; so the nt store is slow.
    set(&mut record, "memory.read.regular", 260.0);
    says(
        &record,
        "memory.triad.nt",
        &["Non-temporal stores are slow here", "as memory.read.regular shows (260 GB/s)"],
    );
    silent(&record, "memory.triad.regular", &["avoids"]);
    // And the theoretical peak decides before any figure does.
    record.machine.memory.peak = Reading::Value(figure::host::Peak {
        channels: 1,
        mt_per_s: 1,
        bytes_per_s: 250e9,
        basis: "a test".into(),
    });
    says(&record, "memory.triad.regular", &["beyond 250 GB/s (the theoretical peak)"]);
}

// Kernels that are no store miss.

#[test]
fn reading_alone_is_held_against_the_best_mix() {
    let mut record = two_threads();
    says(
        &record,
        "memory.read.regular",
        &[
            "0.75x the 30.0 GB/s of memory.copy.nt (1:1)",
            "limit of lines in flight",
            "(18 a thread at 100 ns, assumed)",
        ],
    );
    set(&mut record, "memory.read.regular", 33.0);
    says(&record, "memory.read.regular", &["never turns between reads and writes: 1.10x"]);
    silent(&record, "memory.read.regular", &["lines in flight"]);
    set(&mut record, "memory.read.regular", 30.3);
    says(&record, "memory.read.regular", &["turns between reads and writes cost nothing here"]);
    let read = record.figures.iter_mut().find(|figure| figure.id == "memory.read.regular").unwrap();
    for (round, value) in read.rounds.iter_mut().zip([20.0, 40.0, 22.0, 38.0, 25.0, 35.0]) {
        round.samples = vec![value];
    }
    says(
        &record,
        "memory.read.regular",
        &["Reads only, and 1.01x the 30.0 GB/s", "the best mix; their rounds differ"],
    );
}

#[test]
fn update_is_no_store_miss_and_write_is_half_write_allocate() {
    let mut record = two_threads();
    says(&record, "memory.update.regular", &["No store miss", "1:1 like memory.copy.nt, it moves 0.87x"]);
    let mut alone = record.clone();
    alone.figures.retain(|figure| !figure.id.starts_with("memory.copy"));
    says(
        &alone,
        "memory.update.regular",
        &["no write-allocate hides in it and its 1:1 mix moves what is counted, 26.0 GB/s"],
    );
    says(&record, "memory.write.regular", &["8 of 16 B moved", "14.0 GB/s counted is 28.0 GB/s moved"]);
    says(&record, "memory.write.nt", &["Writes only (0:1)", "0.90x the 30.0 GB/s"]);
    set(&mut record, "memory.write.nt", 30.0);
    silent(&record, "memory.write.nt", &["Writes only"]);
}

// Figures that test others.

#[test]
fn repeated_figures_say_what_they_prove() {
    let triad = || bandwidth("triad", "nt", &six(200.0));
    let with = |again: f64, doubled: f64| {
        record(vec![
            triad(),
            in_role(bandwidth("triad", "nt", &six(again)), "again"),
            in_role(bandwidth("triad", "nt", &six(doubled)), "doubled"),
        ])
    };
    let record = with(201.0, 199.0);
    says(&record, "memory.triad.nt.again", &["memory.triad.nt measured again", "1.005x [1.005, 1.005]"]);
    says(
        &record,
        "memory.triad.nt.doubled",
        &["Cache plays no part: with 1.2 GiB instead of 610 MiB arrays"],
    );
    let record = with(201.0, 150.0);
    says(&record, "memory.triad.nt.doubled", &["Part of memory.triad.nt comes from cache"]);
    let record = with(201.0, 250.0);
    says(&record, "memory.triad.nt.doubled", &["Cache is ruled out, as larger arrays are no slower"]);
}

// The peak, the cause, and nothing.

#[test]
fn an_unknown_peak_is_told_once_on_the_most_traffic() {
    let mut record = study_1();
    record.machine.memory.peak = Reading::unknown("the machine shows no memory modules");
    let telling: Vec<_> = record
        .figures
        .iter()
        .filter(|figure| why(&record, &figure.id).contains("--dimms"))
        .map(|figure| figure.id.as_str())
        .collect();
    assert!(telling.len() <= 1, "{telling:?}");
    record.figures.retain(|figure| figure.id.contains("triad"));
    says(
        &record,
        "memory.triad.regular",
        &[
            "share of the theoretical peak is unknown (the machine shows no memory modules)",
            "--dimms 12x2666",
        ],
    );
}

#[test]
fn what_libc_moves_is_not_claimed() {
    let mut record = with_peak(two_threads());
    says(&record, "memory.update.regular", &["of the theoretical peak"]);
    silent(&record, "memory.copy.libc", &["theoretical peak"]);
    record.figures.retain(|figure| figure.id == "memory.copy.libc");
    says(&record, "memory.copy.libc", &["Unexplained"]);
}

#[test]
fn the_cause_comes_first_and_says_what_it_does() {
    let mut record = study_1();
    let few = || Answer::fail("2 threads, but only 1 CPUs are allowed (0)", "use --threads 1");
    judged(&mut record, "memory.triad.regular", Invalid, "threads-within-mask", few());
    let why = why(&record, "memory.triad.regular");
    assert!(
        why.starts_with("Invalid (threads-within-mask): 2 threads, but only 1 CPUs are allowed (0), so that"),
        "{why}"
    );
    assert!(why.contains("took turns") && !why.contains("Write-allocate"), "{why}");

    let stolen = || Answer::warn("3 % of the CPU time was stolen", "move");
    judged(&mut record, "memory.add.regular", Suspect, "steal", stolen());
    let why = relations_records::why(&record, "memory.add.regular");
    assert!(why.starts_with("Suspect (steal): 3 %") && why.contains("Write-allocate explains it"), "{why}");

    judged(&mut record, "memory.copy.regular", Unverified, "steal", Answer::unknown("no steal column"));
    silent(&record, "memory.copy.regular", &["steal"]);
}

#[test]
fn what_no_rule_explains_says_what_was_ruled_out() {
    let mut record = record(vec![bandwidth("add", "regular", &six(50.0))]);
    says(&record, "memory.add.regular", &["Unexplained; nothing could be ruled out."]);
    let pass = |id: &str| CheckResult {
        id: id.into(),
        outcome: Outcome::Pass,
        detail: String::new(),
        fix: None,
        essential: false,
        cause: None,
    };
    record.figures[0].checks = vec![pass("steal"), pass("verified"), pass("frequency")];
    says(&record, "memory.add.regular", &["Unexplained; ruled out: steal, frequency."]);
    // Near the peak there is nothing to explain.
    let record = with_peak(study_1());
    let mut near = record.clone();
    near.figures.retain(|figure| figure.id == "memory.add.regular");
    silent(&near, "memory.add.regular", &["Unexplained"]);
}

#[test]
fn a_figure_without_a_value_has_no_why_and_no_figure_has_more_than_two_cases() {
    let mut record = two_threads();
    record.figures[0].value = None;
    judge::judge(&mut record);
    assert_eq!(record.figures[0].why(), None);
    for figure in &record.figures[1..] {
        assert!((1..=2).contains(&figure.explanations.len()), "{:?}", figure.explanations);
    }
}

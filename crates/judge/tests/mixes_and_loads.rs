//! What is said of mixes of reads and writes and of latency under load: the record on which a sentence appears, and
//! the twin on which it must change.

use crate::relations_records::*;
use figure::check::Outcome::{Pass, Unknown, Warn};
use figure::evidence::*;
use figure::{Better, Convention, Figure, Record, Unit, Verdict};
use judge::check::Answer;

fn texts(mut record: Record) -> String {
    judge::judge(&mut record);
    record.findings.iter().map(|finding| finding.text()).collect::<Vec<_>>().join("\n")
}

/// A walk in a mix by 48 threads.
fn walk(mix: &str, value: f64) -> Figure {
    let mut figure = bandwidth("read", "none", &six(value));
    figure.id = format!("memory.mix.{mix}");
    figure.series = Some("memory.mix".into());
    figure.convention = Some(Convention::EstimatedTraffic);
    figure.conditions.set(KERNEL, "mix".to_owned());
    figure.conditions.set(STORES, "nt".to_owned());
    figure.conditions.set(MIX, mix.to_owned());
    figure
}

/// Study 1, step 4: what Intel MLC found.
pub fn mlc() -> Record {
    record(vec![
        walk("1:0", 223.7),
        walk("3:1", 204.5),
        walk("2:1", 203.2),
        walk("1:1", 187.9),
        walk("0:1", 150.0),
        walk("triad-like", 199.8),
    ])
}

#[test]
fn study_1_step_4_writes_cost_bandwidth() {
    let record = mlc();
    says(
        &record,
        "memory.mix.1:1",
        &[
            "With 50 % writes it is 0.84x of reads alone (memory.mix.1:0: 224 GB/s)",
            "as the walk is the same, the turns between reads and writes cost that",
            "Below memory.mix.2:1 (203 GB/s) by its writes alone, 0.92x",
            "puts a non-temporal copy (1:1) below a non-temporal triad (2:1)",
        ],
    );
    says(&record, "memory.mix.3:1", &["With 25 % writes it is 0.91x"]);
    silent(&record, "memory.mix.3:1", &["triad"]);
    says(&record, "memory.mix.0:1", &["Writes alone are 0.67x", "takes them more slowly"]);
    says(
        &record,
        "memory.mix.1:0",
        &["Reads alone", "4.66 GB/s for each thread", "lines under way at 100 ns, assumed"],
    );
    says(&record, "memory.mix.triad-like", &["0.98x of memory.mix.2:1", "the loop does not matter"]);
    let findings = texts(record);
    let wanted = "Mixes: best memory.mix.1:0 (224 GB/s), worst memory.mix.0:1 (150 GB/s). Bandwidth falls with the share \
                  of writes: memory's turns between reads and writes cost it (1:0 224, 3:1 204, 2:1 203, 1:1 188 GB/s).";
    assert!(findings.contains(wanted), "{findings}");
}

#[test]
fn bandwidth_that_rises_with_writes_is_limited_by_reads_under_way() {
    let mut record = mlc();
    set(&mut record, "memory.mix.1:1", 300.0);
    says(
        &record,
        "memory.mix.1:1",
        &[
            "it is 1.34x of reads alone",
            "the reads under way in each core are the limit (3.12 GB/s for each thread, 4.66 GB/s when it only reads)",
            "Above memory.mix.2:1",
            "does not put a non-temporal copy (1:1) below",
        ],
    );
    silent(&record, "memory.mix.1:1", &["turns between reads and writes cost that"]);
    assert!(texts(record.clone()).contains("rises with the share of writes"));
    // More reads with writes than without are no limit of reads.
    set(&mut record, "memory.mix.1:1", 500.0);
    says(&record, "memory.mix.1:1", &["even reads faster", "reads alone are disturbed"]);
    set(&mut record, "memory.mix.1:1", 224.0);
    set(&mut record, "memory.mix.2:1", 224.0);
    says(&record, "memory.mix.1:1", &["cost nothing here", "does not set a non-temporal copy apart"]);
    assert!(texts(record.clone()).contains("does not depend on the share of writes"));
    set(&mut record, "memory.mix.triad-like", 180.0);
    says(&record, "memory.mix.triad-like", &["0.80x", "the loop costs that, not memory"]);
    set(&mut record, "memory.mix.triad-like", 260.0);
    says(&record, "memory.mix.triad-like", &["1.16x", "prefetched ahead, they keep more under way"]);
    set(&mut record, "memory.mix.0:1", 250.0);
    says(&record, "memory.mix.0:1", &["they wait for nothing"]);
}

#[test]
fn rounds_that_differ_too_much_tell_nothing_of_mixes() {
    let mut record = mlc();
    for (index, figure) in record.figures.iter_mut().enumerate() {
        for (number, round) in figure.rounds.iter_mut().enumerate() {
            // Those that are held against others, and the others, by turns.
            let times = if (usize::from(matches!(index, 0 | 2)) + number) % 2 == 0 { 0.6 } else { 1.4 };
            round.samples.iter_mut().for_each(|sample| *sample *= times);
        }
    }
    for id in ["memory.mix.3:1", "memory.mix.1:1", "memory.mix.0:1", "memory.mix.triad-like"] {
        says(&record, id, &["their rounds differ too much to tell which is higher"]);
        silent(&record, id, &["turns between reads and writes cost", "loop costs", "by its writes alone"]);
    }
    assert!(texts(record).contains("was too disturbed to tell whether it depends on the share of writes"));
}

#[test]
fn a_memcpy_that_moves_more_in_the_same_mix_leaves_the_loop() {
    let with = |libc: f64| {
        let mut record = study_1();
        record.figures.push(bandwidth("copy", "libc", &six(libc)));
        record
    };
    let rival = "by its own loop, not by the mix of reads and writes: libc's memcpy, 1:1 too, moves 205 GB/s (memory.copy.libc)";
    says(&with(205.0), "memory.copy.nt", &[&format!("Below memory.triad.nt (197 GB/s) {rival}.")]);
    says(&with(205.0), "memory.copy.regular", &[&format!("The rest is lost by memory.copy.nt {rival}.")]);
    says(&with(185.0), "memory.copy.nt", &["by the mix of reads and writes, 1:1 against 2:1"]);
    for id in ["memory.copy.nt", "memory.copy.regular"] {
        silent(&with(185.0), id, &["its own loop"]);
    }
}

#[test]
fn kernels_and_walks_cite_one_another() {
    let mut record = study_1();
    record.figures.extend(mlc().figures);
    let both = "memory.mix.1:1 is 0.92x of memory.mix.2:1 (188 GB/s and 203 GB/s)";
    says(
        &record,
        "memory.copy.nt",
        &[
            "Below memory.triad.nt (197 GB/s) by the mix of reads and writes: by walks that differ in the mix alone",
            both,
        ],
    );
    says(&record, "memory.mix.1:1", &["they are at 183 GB/s and 197 GB/s (memory.copy.nt, memory.triad.nt)"]);
    // The twin: walks in both mixes move the same, so copy's own loop is slow.
    set(&mut record, "memory.mix.1:1", 203.0);
    says(
        &record,
        "memory.copy.nt",
        &["by its own loop, not by the mix of reads and writes: memory.mix.1:1 is 1.00x"],
    );
    // Copy above triad, with walks that say so too, and with walks that do not.
    set(&mut record, "memory.copy.nt", 220.0);
    says(&record, "memory.copy.nt", &["Above memory.triad.nt", "by its own loop and not by the mix"]);
    set(&mut record, "memory.mix.1:1", 230.0);
    says(
        &record,
        "memory.copy.nt",
        &["Above memory.triad.nt", "writes cost nothing here, as memory.mix.1:1 is 1.13x"],
    );
    // Walks by other threads, or invalid ones, say nothing.
    let walk = record.figures.iter_mut().find(|figure| figure.id == "memory.mix.1:1").unwrap();
    walk.conditions.set(THREADS, 2.0);
    silent(&record, "memory.copy.nt", &["memory.mix"]);
    judged(
        &mut record,
        "memory.mix.1:1",
        Verdict::Invalid,
        "verified",
        Answer::fail("a wrong sum", "report it"),
    );
    silent(&record, "memory.copy.nt", &["memory.mix"]);
}

/// The idle chase, or one against injectors that spin `delay` times, by 8 threads.
fn chase(id: &str, delay: Option<f64>, latency: f64) -> Figure {
    let mut figure = bandwidth("read", "none", &six(latency));
    figure.id = format!("memory.loaded.{id}");
    (figure.unit, figure.better, figure.convention) = (Unit::NANOSECONDS, Better::Lower, None);
    figure.conditions.set(KERNEL, "loaded-latency".to_owned());
    figure.conditions.set(THREADS, if delay.is_some() { 8.0 } else { 1.0 });
    figure.series = Some("memory.loaded.idle".into());
    if let Some(delay) = delay {
        figure.series = Some("memory.loaded.2:1".into());
        figure.conditions.set(MIX, "2:1".to_owned());
        figure.conditions.set(DELAY, delay);
    }
    figure
}

/// The bandwidth of its rounds.
fn injected(latency: &Figure, value: f64) -> Figure {
    let mut figure = bandwidth("read", "none", &six(value));
    figure.id = format!("{}.bandwidth", latency.id);
    figure.conditions = latency.conditions.clone();
    figure.series = Some("memory.loaded.2:1.bandwidth".into());
    figure.derived_from = vec![latency.id.clone()];
    figure
}

/// A memory of 100 GB/s that queues as it fills.
pub fn curve() -> Record {
    let mut figures = vec![chase("idle", None, 90.0)];
    for (delay, latency, bandwidth) in [
        (20_000.0, 91.0, 2.0),
        (700.0, 100.0, 40.0),
        (200.0, 115.0, 75.0),
        (50.0, 160.0, 93.0),
        (0.0, 260.0, 98.0),
    ] {
        let latency = chase(&format!("2:1.d{delay}"), Some(delay), latency);
        figures.push(injected(&latency, bandwidth));
        figures.push(latency);
    }
    let mut all = walk("2:1", 100.0);
    all.id = "memory.loaded.2:1.all".into();
    all.conditions.set(THREADS, 8.0);
    figures.push(all);
    record(figures)
}

#[test]
fn a_point_says_what_of_it_is_waiting() {
    let record = curve();
    says(
        &record,
        "memory.loaded.2:1.d50",
        &[
            "1.78x the idle latency (memory.loaded.idle: 90.0 ns): 70.0 ns of it are waiting",
            "with 93.0 GB/s injected (memory.loaded.2:1.d50.bandwidth)",
            // 93 x 160 / 64 + 1.
            "Little's law 234 lines of 64 B are under way",
        ],
    );
    says(
        &record,
        "memory.loaded.2:1.d20000",
        &["As without load (memory.loaded.idle: 90.0 ns): nothing waits"],
    );
    silent(&record, "memory.loaded.2:1.d20000", &["lines"]);
    says(
        &record,
        "memory.loaded.2:1.d50.bandwidth",
        &[
            "Injected by 7 threads with 50 spins after each line, in the rounds of memory.loaded.2:1.d50 (160 ns)",
            "93 % of what all CPUs move (memory.loaded.2:1.all: 100 GB/s)",
        ],
    );
    says(
        &record,
        "memory.loaded.idle",
        &["each waiting for the one before", "100 % of its memory is in huge pages"],
    );
    says(&record, "memory.loaded.2:1.d0.bandwidth", &["Injected by 7 threads at full speed"]);
    let mut record = record;
    let idle = record.figures.iter_mut().find(|figure| figure.id == "memory.loaded.idle").unwrap();
    idle.evidence.put_unknown(PAGES_HUGE_SHARE, "no smaps");
    says(&record, "memory.loaded.idle", &["the size of its pages is not known"]);
    let one = record.figures.iter_mut().find(|figure| figure.id == "memory.loaded.2:1.d0.bandwidth").unwrap();
    one.conditions.set(THREADS, 2.0);
    says(&record, "memory.loaded.2:1.d0.bandwidth", &["Injected by 1 thread at"]);
    let mut disturbed = record.clone();
    let idle = disturbed.figures.iter_mut().find(|figure| figure.id == "memory.loaded.idle").unwrap();
    for (round, times) in idle.rounds.iter_mut().zip([0.4, 1.9, 0.5, 1.8, 0.6, 1.7]) {
        round.samples.iter_mut().for_each(|sample| *sample *= times);
    }
    says(&disturbed, "memory.loaded.2:1.d50", &["1.78x the idle latency", "differ too much to tell which"]);
    silent(&disturbed, "memory.loaded.2:1.d50", &["are waiting"]);
    set(&mut record, "memory.loaded.2:1.d20000", 80.0);
    says(&record, "memory.loaded.2:1.d20000", &["Below the idle latency"]);
    record.figures.retain(|figure| figure.id != "memory.loaded.idle");
    says(&record, "memory.loaded.2:1.d50", &["With 93.0 GB/s injected"]);
}

#[test]
fn the_knee_is_where_bandwidth_for_latency_is_highest() {
    // 75 / 115 = 0.65 against 93 / 160 = 0.58 and 40 / 100.
    let mut record = curve();
    says(&record, "memory.loaded.2:1.d200", &["The knee: bandwidth for latency is highest here"]);
    says(&record, "memory.loaded.2:1.d0", &["the knee was at 75.0 GB/s and 115 ns (delay 200)"]);
    for other in ["d20000", "d700", "d50"] {
        silent(&record, &format!("memory.loaded.2:1.{other}"), &["knee"]);
    }
    set(&mut record, "memory.loaded.2:1.d50", 130.0);
    says(&record, "memory.loaded.2:1.d50", &["The knee"]);
    silent(&record, "memory.loaded.2:1.d200", &["The knee"]);
}

#[test]
fn a_queue_at_what_all_cpus_move_is_saturation() {
    let mut record = curve();
    let end = "memory.loaded.2:1.d0";
    assert_eq!(outcome("saturation", &record, end), Pass);
    says(
        &record,
        end,
        &[
            "Memory saturates: 7 injectors move 98.0 GB/s at delay 0, 98 % of the 100 GB/s that all 8 CPUs move \
             (memory.loaded.2:1.all), and the latency is 2.89x the idle one",
        ],
    );
    assert!(apply("saturation", &record, "memory.loaded.2:1.d50").is_none(), "no end");
    assert!(apply("saturation", &record, "memory.loaded.idle").is_none());
    let findings = texts(record.clone());
    let wanted = "Latency under load, 2:1: 90.0 ns idle, 260 ns with 98.0 GB/s injected; its knee is at 75.0 GB/s and 115 ns \
                  (delay 200); memory saturates.";
    assert!(findings.contains(wanted), "{findings}");
    // All CPUs but one move nearly as much as all: without a queue that proves nothing.
    set(&mut record, end, 100.0);
    assert_eq!(outcome("saturation", &record, end), Unknown);
    says(&record, end, &["is not known", "but the latency is 1.11x the idle one: nothing queues yet"]);
}

#[test]
fn too_few_injectors_are_named() {
    let mut record = curve();
    let end = "memory.loaded.2:1.d0";
    set(&mut record, "memory.loaded.2:1.all", 190.0);
    assert_eq!(outcome("saturation", &record, end), Warn);
    says(
        &record,
        end,
        &["Not saturated, as too few CPUs are left to inject", "52 % of the 190 GB/s", "is not seen here"],
    );
    let curve = |record: &Record| {
        let told = texts(record.clone());
        told.lines().find(|text| text.starts_with("Latency under load")).unwrap().to_owned()
    };
    assert!(
        curve(&record).contains("; too few CPUs are left to saturate memory: 7 injectors"),
        "{}",
        curve(&record)
    );
    let mut judged = record.clone();
    judge::judge(&mut judged);
    let shape: Vec<_> =
        judged.figure(end).unwrap().checks.iter().filter(|check| check.id == "saturation").collect();
    assert_eq!(shape.len(), 1);
    // Without a figure of all CPUs nobody knows; the walk of memory mix is one.
    record.figures.retain(|figure| figure.id != "memory.loaded.2:1.all");
    assert_eq!(outcome("saturation", &record, end), Unknown);
    says(&record, end, &["is not known", "there is no sound figure"]);
    assert!(curve(&record).contains("; whether memory saturates is not known: "), "{}", curve(&record));
    let mut other = walk("2:1", 150.0);
    other.conditions.set(THREADS, 8.0);
    record.figures.push(other);
    assert_eq!(outcome("saturation", &record, end), Warn);
    says(&record, end, &["65 % of the 150 GB/s that all 8 CPUs move (memory.mix.2:1)"]);
    // Near the theoretical peak it is saturated whatever others move.
    let mut record = with_peak(record);
    record.machine.memory.peak = figure::Reading::Value(figure::host::Peak {
        channels: 2,
        mt_per_s: 6400,
        bytes_per_s: 110e9,
        basis: "a test".into(),
    });
    assert_eq!(outcome("saturation", &record, end), Pass);
    says(&record, end, &["89 % of the theoretical peak (a test)"]);
}

#[test]
fn a_latency_that_still_pays_has_no_knee_yet() {
    let mut record = curve();
    set(&mut record, "memory.loaded.2:1.d0", 120.0);
    set(&mut record, "memory.loaded.2:1.d50", 118.0);
    says(&record, "memory.loaded.2:1.d0", &["the knee is beyond"]);
    assert!(texts(record.clone()).contains("its knee is beyond"));
    record.figures.retain(|figure| {
        !figure.id.contains("d50") && !figure.id.contains("d200") && !figure.id.contains("d700")
    });
    says(&record, "memory.loaded.2:1.d0", &["too few points to show a knee"]);
}

#[test]
fn a_latency_under_load_is_no_latency_of_memory_for_others() {
    let mut record = curve();
    record.figures.push(bandwidth("read", "none", &six(30.0)));
    record.figures.push(bandwidth("copy", "nt", &six(60.0)));
    says(&record, "memory.read.regular", &["100 ns, assumed"]);
}

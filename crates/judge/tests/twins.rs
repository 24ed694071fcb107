//! Every rule with a record on which it speaks, and the twin, other in the deciding evidence alone, on which it says something else or nothing.
//! What each of its sentences says is tested beside.

use crate::relations_records::*;
use crate::{
    cores, explain, explain_alignment, explain_alloc, explain_counters, explain_faults, explain_http,
    explain_levels, explain_noise, explain_numa, explain_prices, explain_scaling, explain_switch,
    explain_system, mixes_and_loads, programs, second_instrument, settings, walk,
};
use figure::evidence::*;
use figure::{Figure, Record};
use judge::check::Subject;
use judge::explain::RULES;

/// A rule's name, the record, the figure of which it speaks, and what makes the twin.
type Twin = (&'static str, fn() -> Record, &'static str, fn(&mut Record));

const TWINS: &[Twin] = &[
    (
        "mechanism",
        || explain_faults::by("heap-trim", "heap"),
        explain_faults::CAUSE,
        |record| {
            of(record, explain_faults::CAUSE).evidence.put_unknown(FAULT_REFAULTS, "no burst");
        },
    ),
    (
        "switch-free",
        || explain_switch::young(&["0", "1"], 0.99),
        explain_switch::YOUNG,
        |record| {
            rounds(record, "system.switch.free", HOP_TOGETHER, 0.05);
        },
    ),
    ("switch-pinned", switches, "system.switch.llc", |record| set(record, "system.switch.llc", 392e3)),
    ("switch-cost", switches, "system.switch.same-cpu", |record| set(record, "system.pipe", 0.7e6)),
    (
        "wake-up",
        || explain_switch::woken(50e3, 4e3, 1.0, 0.98),
        explain_switch::WOKEN,
        |record| {
            rounds(record, explain_switch::WOKEN, HOP_TOGETHER, 0.0);
        },
    ),
    (
        "noise-lost",
        || explain_noise::noise(explain_noise::HOGGED, false),
        explain_noise::WHOLE,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_GAPS, vec![0.0, 0.0]);
        },
    ),
    (
        "noise-short",
        || explain_noise::noise(explain_noise::HOGGED, false),
        explain_noise::WHOLE,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_LOST, vec![0.001, 0.001]);
        },
    ),
    (
        "noise-longest",
        || explain_noise::noise(explain_noise::HOGGED, false),
        explain_noise::LONGEST,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_LONGEST_WAITED, vec![0.0, 0.0]);
        },
    ),
    (
        "cores",
        || cores::hidden_threads(11.0),
        "system.cores.llc",
        |record| {
            record.figures.retain(|figure| figure.id == "system.cores.llc" || figure.id.ends_with("0-1"));
        },
    ),
    ("c2c", lines, "memory.c2c.clean.llc", |record| {
        explain_alignment::set_line(record, "memory.c2c.clean.llc", 101.0);
    }),
    ("c2c-states", lines, "memory.c2c.clean.llc", |record| {
        explain_alignment::set_line(record, "memory.c2c.modified.llc", 50.5);
    }),
    ("misaligned", explain_alignment::sweep, "memory.alignment.copy.L1.o0.m8", |record| {
        set(record, "memory.alignment.copy.L1.o0.m8", 398.0);
    }),
    ("aliased", explain_alignment::sweep, "memory.alignment.copy.L1.o64.m0", |record| {
        set(record, "memory.alignment.copy.L1.o64.m0", 398.0);
    }),
    ("allocators-placement", || allocators(30.0), "alloc.pair.a.t1", |record| *record = allocators(10.0)),
    (
        "allocators-overhead",
        || allocators(30.0),
        "alloc.overhead.a.t1",
        |record| {
            set(record, "alloc.overhead.a.t1", 1.0);
        },
    ),
    (
        "allocators-retained",
        || allocators(30.0),
        "alloc.overhead.a.t1",
        |record| {
            of(record, "alloc.overhead.a.t1").evidence.put_unknown(RETAINED, "no smaps_rollup");
        },
    ),
    (
        "allocators-kernel",
        || allocators(30.0),
        "alloc.steady.a.t1",
        |record| {
            rounds(record, "alloc.steady.a.t1", PAIR_SYSTEM, 2.0);
        },
    ),
    (
        "allocators-load",
        || allocators(30.0),
        "alloc.steady.a.t1",
        |record| {
            record.figures.retain(|figure| figure.id != "alloc.steady.void.t1");
        },
    ),
    (
        "allocators-calls",
        || allocators(30.0),
        "alloc.steady.a.t1",
        |record| {
            of(record, "alloc.steady.a.t1").rounds[0].evidence.put_unknown(CALL_FREE, "not sampled");
        },
    ),
    ("price", prices, "faults.prices.minor.write", |record| {
        set(record, "faults.prices.minor.read", 1410.0);
    }),
    ("repeated", doubled, "memory.triad.nt.doubled", |record| set(record, "memory.triad.nt.doubled", 150.0)),
    ("numa", explain_numa::two_packages, explain_numa::FAR, |record| set(record, explain_numa::FAR, 81.0)),
    (
        "counted",
        || counters(133.0, 67.0),
        "memory.counters.copy.regular.total",
        |record| {
            *record = counters(100.0, 100.0);
        },
    ),
    ("scaling", scaling, "memory.scaling.cores.48", |record| set(record, "memory.scaling.cores.16", 150.0)),
    (
        "second-instrument",
        || instruments(1.0),
        second_instrument::THEIRS,
        |record| *record = instruments(1.2),
    ),
    ("baseline", explain::two_threads, "memory.copy.libc", |record| set(record, "memory.copy.libc", 18.2)),
    ("write-allocate", study_1, "memory.triad.regular", |record| set(record, "memory.triad.nt", 154.0)),
    ("avoided", explain::no_gain, "memory.triad.regular", |record| set(record, "memory.read.regular", 260.0)),
    ("in-flight", explain::two_threads, "memory.triad.regular", |record| {
        set(record, "memory.triad.nt", 27.0)
    }),
    ("mix", study_1, "memory.copy.nt", |record| set(record, "memory.copy.regular", 120.0)),
    ("one-way", explain::two_threads, "memory.read.regular", |record| {
        set(record, "memory.read.regular", 33.0)
    }),
    ("by-mix", mixes_and_loads::mlc, "memory.mix.1:1", |record| set(record, "memory.mix.1:0", 188.0)),
    ("loaded", mixes_and_loads::curve, "memory.loaded.2:1.d50", |record| {
        set(record, "memory.loaded.idle", 160.0)
    }),
    ("edge", explain_levels::ladder, "edge.L2", |record| {
        of(record, "edge.L2").evidence.put_unknown(EDGE_BEHIND, "the sizes end there");
    }),
    ("level", explain_levels::ladder, "random.64K", |record| {
        of(record, "edge.L1").evidence.put(EDGE_TO, 131_072.0);
    }),
    ("page-walks", explain_levels::ladder, "pages.4096K", |record| set(record, "small.4096K", 60.0)),
    ("copies", || copies(200.0), "system.pipe.x2", |record| set(record, "system.pipe.x2", 150.0)),
    ("page-cache", files, "system.fstime", |record| rounds(record, "system.fstime", PSI_IO, 0.3)),
    ("setting", || setting(6.0), "faults.prove.cpu.bounded", |record| *record = setting(600.0)),
    ("program", || program(2.4), "alloc.try.cpu.other", |record| *record = program(2.001)),
    (
        "walk",
        || record(walk::sample::figures()),
        "faults.walk.frozen.free-d",
        |record| {
            let rounds = &mut of(record, "faults.walk.frozen.free-d").rounds;
            rounds.iter_mut().for_each(|round| round.evidence.put_unknown(WALK_FAULTS, "no rusage"));
        },
    ),
    ("surroundings", shell, "system.shell", |record| {
        of(record, "system.shell").evidence.put(LOCALE_COLLATE, "en_US.utf8".to_owned());
    }),
    ("http-limit", servers, "http.saturation.fasthttp.c200", |record| {
        rounds(record, "http.saturation.fasthttp.c200", http::SERVER_SYSTEM, 0.1);
    }),
    ("http-cost", servers, "http.saturation.fasthttp.c200.cpu", |record| {
        let load = of(record, "http.saturation.fasthttp.c200");
        load.rounds[0].evidence.put_unknown(http::SERVER_SYSTEM, "not read");
    }),
    ("http-latency", at_a_rate, "http.equal-rate.fasthttp.c200.p50", |record| {
        rounds(record, "http.equal-rate.fasthttp.c200", http::UNCORRECTED, vec![200.0 / 30e3; 5]);
    }),
    ("http-goroutines", servers, "http.saturation.fasthttp.c200.goroutines", |record| {
        of(record, "http.saturation.fasthttp.c200.goroutines").value = None;
    }),
    ("http-memory", servers, "http.saturation.fasthttp.c200.memory", |record| {
        of(record, "http.saturation.fasthttp.c200").evidence.put_unknown(http::RESIDENT_BEFORE, "not read");
    }),
];

fn of<'a>(record: &'a mut Record, id: &str) -> &'a mut Figure {
    record.figures.iter_mut().find(|figure| figure.id == id).expect(id)
}

/// Puts a fact into all rounds of a figure.
fn rounds<T: FactType + Clone>(record: &mut Record, id: &str, key: Key<T>, value: T) {
    of(record, id).rounds.iter_mut().for_each(|round| round.evidence.put(key, value.clone()));
}

fn lines() -> Record {
    record(
        [("clean", 50.0), ("modified", 60.0)]
            .map(|(state, ns)| explain_alignment::line(state, "llc", ns))
            .into(),
    )
}

/// One that takes so many nanoseconds, and one of 60.
fn allocators(ns: f64) -> Record {
    let mut record = explain_alloc::of(vec![
        explain_alloc::allocator("a", "t1", ns, 1.5),
        explain_alloc::allocator("b", "t1", 60.0, 1.5),
    ]);
    of(&mut record, "alloc.overhead.a.t1").evidence.put(RETAINED, 0.25);
    let steady = "alloc.steady.a.t1";
    of(&mut record, steady).conditions.set(STEPS, 2e6);
    for (key, times) in [(CALL_MALLOC, vec![20.0; 5]), (CALL_FREE, vec![15.0; 5])] {
        rounds(&mut record, steady, key, times);
    }
    for (key, value) in [(PAIR_CPU, 200.0), (PAIR_SYSTEM, 40.0), (FAULT_MINOR, 4e3)] {
        rounds(&mut record, steady, key, value);
    }
    record
}

fn prices() -> Record {
    record(vec![explain_prices::price("minor.write", 1400.0), explain_prices::price("minor.read", 700.0)])
}

fn doubled() -> Record {
    let triad = || bandwidth("triad", "nt", &six(200.0));
    record(vec![triad(), in_role(triad(), "doubled")])
}

fn counters(read: f64, written: f64) -> Record {
    explain_counters::of(explain_counters::counted("copy", "regular", read, written, 137.0))
}

fn scaling() -> Record {
    record(
        [(1, 12.0), (16, 100.0), (48, 152.0)]
            .map(|(threads, value)| explain_scaling::point(threads, value, 2.1))
            .into(),
    )
}

fn instruments(factor: f64) -> Record {
    second_instrument::pair("copy", "regular", factor, Some("regular"))
}

fn copies(two: f64) -> Record {
    explain_system::pair("syscall", &six(100.0), &six(two))
}

fn files() -> Record {
    let mut record = record(vec![explain_system::test("fstime", "files", 1.0, &six(100.0))]);
    rounds(&mut record, "system.fstime", PSI_IO, 0.0);
    record
}

fn shell() -> Record {
    let mut figure = explain_system::test("shell", "shell", 1.0, &six(100.0));
    figure.evidence.put(SHELL, "/usr/bin/dash".to_owned());
    figure.evidence.put(LOCALE_COLLATE, "C".to_owned());
    record(vec![figure])
}

/// A setting with which munmap is called so often, 600 times without.
fn setting(munmap: f64) -> Record {
    settings::trial(&[settings::tried("bounded", 1.0, 100e6, 1000.0, munmap)])
}

/// So many seconds under another allocator, 2 under the first.
fn program(seconds: f64) -> Record {
    let tried = |name, seconds| programs::tried(name, seconds, 0.25, 100e6, 1000.0);
    record(vec![tried("first", 2.0), tried("other", seconds)])
}

fn servers() -> Record {
    explain_http::two(60e3, 40e3)
}

fn at_a_rate() -> Record {
    explain_http::at_rate(0.001)
}

/// The case without its values: other numbers make no twin.
fn case_name(case: Option<judge::cases::Case>) -> Option<String> {
    let case = case.map(|case| serde_json::to_value(case).unwrap())?;
    // A rule that has no cases yet: its sentence without its numbers.
    let words = |text: &str| text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
    Some(case["case"].as_str().map_or_else(|| words(case.as_str().unwrap_or_default()), str::to_owned))
}

#[test]
fn each_rule_says_something_else_or_nothing_of_a_twin() {
    for rule in RULES {
        let of_rule: Vec<&Twin> = TWINS.iter().filter(|twin| twin.0 == rule.name).collect();
        let [(name, record, id, change)] = of_rule.as_slice() else {
            panic!("{} twins of {}, not one", of_rule.len(), rule.name)
        };
        let says =
            |record: &Record| case_name((rule.says)(&Subject { figure: record.figure(id).unwrap(), record }));
        let mut record = record();
        let said = says(&record);
        assert!(said.is_some(), "{name}: nothing of {id}");
        change(&mut record);
        assert_ne!(says(&record), said, "{name}: the same of the twin of {id}");
    }
    assert_eq!(TWINS.len(), RULES.len(), "twins of rules that there are not");
}

fn switches() -> Record {
    explain_switch::piped("system.switch.llc", 96e3)
}

//! Every rule with a record on which it speaks, and the twin, other in the deciding evidence alone, on which it says something else or nothing.
//! What each of its sentences says is tested beside.

use crate::relations_records::*;
use crate::{
    cores, explain, explain_alignment, explain_alloc, explain_counters, explain_faults, explain_http,
    explain_levels, explain_noise, explain_numa, explain_prices, explain_scaling, explain_switch,
    explain_system, levers, mixes_and_loads, programs, second_instrument, walk,
};
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit};
use judge::check::Subject;
use judge::explain::RULES;

/// A rule's name, the record, the figure of which it speaks, and what makes the twin.
type Twin = (&'static str, fn() -> Record, &'static str, fn(&mut Record));

const TWINS: &[Twin] = &[
    (
        "fault",
        || explain_faults::by("heap-trim", "heap"),
        explain_faults::CAUSE,
        |record| {
            *record = explain_faults::with(record.clone(), FAULT_UNMET, 0.3);
        },
    ),
    (
        "switch-free",
        || explain_switch::guest(false, 400e3, 0.99),
        "system.switch.free",
        |record| {
            record.machine.caches.instances[0].cpus = "0-1".parse().unwrap();
            record.machine.caches.instances.truncate(1);
        },
    ),
    ("switch-pinned", explain_switch::piped, "system.switch.llc", |record| {
        set(record, "system.switch.llc", 392e3);
    }),
    ("switch-cost", explain_switch::piped, "system.switch.same-cpu", |record| {
        set(record, "system.pipe", 0.7e6)
    }),
    ("switch-ways", explain_switch::piped, "system.switch.same-cpu.futex", |record| {
        set(record, "system.switch.same-cpu.futex", 393e3);
    }),
    (
        "switch-wakes",
        || explain_switch::woken(4000.0, 1.0, 0.98),
        explain_switch::WOKEN,
        |record| {
            rounds(record, explain_switch::WOKEN, HOP_TOGETHER, 0.0);
        },
    ),
    (
        "noise-lost",
        || explain_noise::heard(&explain_noise::hogged(), false),
        explain_noise::WHOLE,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_WAITED, vec![0.0, 0.0]);
        },
    ),
    (
        "noise-short",
        || explain_noise::heard(&explain_noise::hogged(), false),
        explain_noise::WHOLE,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_LOST, vec![0.001, 0.001]);
        },
    ),
    (
        "noise-longest",
        || explain_noise::heard(&explain_noise::hogged(), false),
        explain_noise::LONGEST,
        |record| {
            rounds(record, explain_noise::WHOLE, NOISE_LONGEST_WAITED, vec![0.0, 0.0]);
        },
    ),
    (
        "cores",
        || cores::hidden_threads(11.0),
        "system.cores.0-1",
        |record| *record = cores::hidden_threads(40.0),
    ),
    (
        "cores-classes",
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
    ("allocators-pair", || allocators(30.0), "alloc.pair.a.t1", |record| *record = allocators(90.0)),
    ("allocators-places", || allocators(30.0), "alloc.pair.a.t1", |record| *record = allocators(10.0)),
    (
        "allocators-overhead",
        || allocators(30.0),
        "alloc.overhead.a.t1",
        |record| {
            set(record, "alloc.overhead.a.t1", 1.0);
        },
    ),
    (
        "allocators-retains",
        || allocators(30.0),
        "alloc.overhead.a.t1",
        |record| {
            of(record, "alloc.overhead.a.t1").evidence.put_unknown(RETAINED, "no smaps_rollup");
        },
    ),
    (
        "allocators-in-kernel",
        || allocators(30.0),
        "alloc.steady.a.t1",
        |record| {
            rounds(record, "alloc.steady.a.t1", PAIR_SYSTEM, 2.0);
        },
    ),
    (
        "allocators-steady",
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
    ("price-parts", prices, "faults.prices.minor.write", |record| {
        set(record, "faults.prices.minor.read", 1410.0);
    }),
    ("price-crowd", prices, "faults.prices.concurrent.8", |record| {
        set(record, "faults.prices.concurrent.8", 1000.0);
    }),
    ("price-files", prices, "faults.prices.file.around", |record| {
        record.figures.retain(|figure| figure.id != "faults.prices.file.read");
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
    ("avoided", no_gain, "memory.triad.regular", |record| set(record, "memory.read.regular", 260.0)),
    ("in-flight", explain::two_threads, "memory.triad.regular", |record| {
        set(record, "memory.triad.nt", 27.0)
    }),
    ("mix", study_1, "memory.copy.nt", |record| set(record, "memory.copy.regular", 120.0)),
    ("one-way", explain::two_threads, "memory.read.regular", |record| {
        set(record, "memory.read.regular", 33.0)
    }),
    ("by-mix", mixes_and_loads::mlc, "memory.mix.1:1", |record| set(record, "memory.mix.1:0", 188.0)),
    ("by-mix-triad", mixes_and_loads::mlc, "memory.mix.1:1", |record| set(record, "memory.mix.2:1", 188.0)),
    ("loaded", mixes_and_loads::curve, "memory.loaded.2:1.d50", |record| {
        set(record, "memory.loaded.idle", 160.0)
    }),
    ("loaded-shape", mixes_and_loads::curve, "memory.loaded.2:1.d200", |record| {
        set(record, "memory.loaded.2:1.d50", 130.0);
    }),
    ("edge", explain_levels::ladder, "edge.L2", |record| of(record, "edge.L2").evidence.put(EDGE_OWN, false)),
    ("level", explain_levels::ladder, "random.64K", |record| {
        of(record, "edge.L1").evidence.put(EDGE_TO, 131_072.0);
    }),
    ("page-walks", explain_levels::ladder, "pages.4096K", |record| set(record, "small.4096K", 60.0)),
    ("copies", || copies(200.0), "system.pipe.x2", |record| set(record, "system.pipe.x2", 150.0)),
    ("page-cache", files, "system.fstime", |record| rounds(record, "system.fstime", PSI_IO, 0.3)),
    ("lever", || lever(6.0), "faults.prove.cpu.bounded", |record| *record = lever(600.0)),
    (
        "lever-follows",
        || lever(6.0),
        "faults.prove.memory.bounded",
        |record| {
            of(record, "faults.prove.memory.bounded").derived_from.push("faults.prove.cpu.base".to_owned());
        },
    ),
    ("program", || program(2.4), "alloc.try.cpu.other", |record| *record = program(2.001)),
    (
        "walk",
        || record(walk::sample::figures()),
        "faults.walk.frozen.free-d",
        |record| {
            rounds(record, "faults.walk.frozen.free-d", WALK_BREAK, 450_560.0);
        },
    ),
    ("surroundings", shell, "system.shell", |record| {
        of(record, "system.shell").evidence.put(LOCALE_COLLATE, "en_US.utf8".to_owned());
    }),
    ("http-rate-bound", servers, "http.saturation.fasthttp.c200", |record| {
        rounds(record, "http.saturation.fasthttp.c200", http::SERVER_SYSTEM, 0.1);
    }),
    ("http-cost", servers, "http.saturation.fasthttp.c200.cpu", |record| {
        of(record, "http.saturation.fasthttp.c200.cpu").parts.reverse();
        of(record, "http.saturation.fasthttp.c200.cpu").parts[0].share = 0.9;
    }),
    ("http-littles-law", servers, "http.saturation.fasthttp.c200.p50", |record| {
        rounds(record, "http.saturation.fasthttp.c200", http::LATENCY_MEAN, 0.1);
    }),
    ("http-goroutines", servers, "http.saturation.fasthttp.c200.goroutines", |record| {
        set(record, "http.saturation.fasthttp.c200.goroutines", 20.0);
    }),
    ("http-memory", servers, "http.saturation.fasthttp.c200.memory", |record| {
        of(record, "http.saturation.fasthttp.c200").evidence.put_unknown(http::RESIDENT_BEFORE, "not read");
    }),
    ("http-waits", servers, "http.saturation.fasthttp.c200.runnable", |record| {
        of(record, "http.saturation.fasthttp.c200").evidence.put(http::GOMAXPROCS, 2.0);
    }),
    ("http-open", at_a_rate, "http.equal-rate.fasthttp.c200.p50", |record| {
        rounds(record, "http.equal-rate.fasthttp.c200", http::UNCORRECTED, vec![200.0 / 30e3; 5]);
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
    of(&mut record, "alloc.overhead.a.t1").evidence.put(OVERHEAD_WITH_SLOTS, 1.4);
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
    use explain_prices::{on, price, took};
    record(vec![
        price("minor.write", 1400.0),
        price("minor.read", 700.0),
        price("file.read", 1000.0),
        took(price("file.around", 100.0), 1600.0, 100.0, 0.0),
        on(price("concurrent", 1000.0), 1.0, false),
        on(price("concurrent", 3000.0), 8.0, false),
    ])
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

fn no_gain() -> Record {
    record(vec![
        bandwidth("triad", "regular", &six(190.0)),
        bandwidth("triad", "nt", &six(191.0)),
        bandwidth("read", "none", &six(210.0)),
    ])
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

/// A lever with which munmap is called so often, 600 times without; and memory that follows from its starts.
fn lever(munmap: f64) -> Record {
    let bounded = levers::tried("bounded", 1.0, 100e6, 9.0, munmap);
    let mut memory =
        Figure::planned("faults.prove.memory.bounded", "faults", "memory", Unit::BYTES, Better::Lower);
    memory.derived_from = vec![bounded.id.clone()];
    levers::judged(vec![levers::base(), bounded, memory])
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
    let mut figure = explain_http::load("equal-rate", "fasthttp", 200.0, 30e3);
    figure.conditions.set(http::PACING, "poisson".to_owned());
    explain_http::of(vec![(
        explain_http::with(figure, http::UNCORRECTED, vec![0.001; 5]),
        explain_http::EVEN,
    )])
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

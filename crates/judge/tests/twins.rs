//! Every rule with a record on which it speaks, and the twin, other in the deciding evidence alone, on which it says something else or nothing.
//! Each of its sentences is tested in the files of the rules.

use std::collections::BTreeMap;

use crate::records::*;
use crate::{
    cores, explain, explain_alignment, explain_alloc, explain_counters, explain_faults, explain_http,
    explain_levels, explain_noise, explain_numa, explain_prices, explain_scaling, explain_switch,
    explain_system, mixes_and_loads, programs, second_instrument, settings, walk,
};
use figure::Record;
use figure::evidence::*;
use judge::check::Subject;
use judge::explain::RULES;

/// By the name of each rule the record, its twin, and the figure that the rule explains.
fn twins() -> BTreeMap<&'static str, (Record, Record, &'static str)> {
    let mut twins = BTreeMap::new();
    let mut twin = |rule, record: Record, id, change: &dyn Fn(Record) -> Record| {
        assert!(twins.insert(rule, (record.clone(), change(record), id)).is_none(), "two twins of {rule}");
    };
    let id = explain_faults::CAUSE;
    let no_burst = |record: Record| record.unknown(id, FAULT_REFAULTS, "no burst");
    twin("mechanism", explain_faults::by("heap-trim", "heap"), id, &no_burst);

    let apart = |record: Record| record.fact("system.switch.free", HOP_TOGETHER, 0.05);
    twin("switch-free", explain_switch::young(&["0", "1"], 0.99), explain_switch::YOUNG, &apart);
    let (switches, id) = (|| explain_switch::piped("system.switch.llc", 96e3), "system.switch.llc");
    twin("switch-pinned", switches(), id, &|record| record.value(id, 392e3));
    twin("switch-cost", switches(), "system.switch.same-cpu", &|record| record.value("system.pipe", 0.7e6));
    let id = explain_switch::WOKEN;
    let elsewhere = |record: Record| record.fact(id, HOP_TOGETHER, 0.0);
    twin("wake-up", explain_switch::woken(50e3, 4e3, 1.0, 0.98), id, &elsewhere);

    let (noise, id) = (|| explain_noise::noise(explain_noise::HOGGED, false), explain_noise::WHOLE);
    twin("noise-lost", noise(), id, &|record| record.fact(id, NOISE_GAPS, vec![0.0, 0.0]));
    twin("noise-short", noise(), id, &|record| record.fact(id, NOISE_LOST, vec![0.001, 0.001]));
    let brief = |record: Record| record.fact(id, NOISE_LONGEST_WAITED, vec![0.0, 0.0]);
    twin("noise-longest", noise(), explain_noise::LONGEST, &brief);

    let one_pair = |record: Record| record.only(|id| id == "system.cores.llc" || id.ends_with("0-1"));
    twin("cores", cores::hidden_threads(11.0), "system.cores.llc", &one_pair);
    let (clean, modified) = ("memory.c2c.clean.llc", "memory.c2c.modified.llc");
    twin("c2c", explain_alignment::lines(50.0, 60.0), clean, &|record| record.value(clean, 101.0));
    twin("c2c-states", explain_alignment::lines(50.0, 60.0), clean, &|record| record.value(modified, 50.5));
    for (rule, id) in
        [("misaligned", "memory.alignment.copy.L1.o0.m8"), ("aliased", "memory.alignment.copy.L1.o64.m0")]
    {
        twin(rule, explain_alignment::sweep(), id, &|record| record.value(id, 398.0));
    }

    let (pair, steady, overhead) = ("alloc.pair.a.t1", "alloc.steady.a.t1", "alloc.overhead.a.t1");
    let other = |record: Record| record.only(|id| id != "alloc.steady.void.t1");
    twin("allocators-placement", allocators(30.0), pair, &|_| allocators(10.0));
    twin("allocators-overhead", allocators(30.0), overhead, &|record| record.value(overhead, 1.0));
    twin("allocators-retained", allocators(30.0), overhead, &|record| {
        record.unknown(overhead, RETAINED, "x")
    });
    twin("allocators-kernel", allocators(30.0), steady, &|record| record.fact(steady, PAIR_SYSTEM, 2.0));
    twin("allocators-load", allocators(30.0), steady, &other);
    twin("allocators-calls", allocators(30.0), steady, &|record| record.unknown(steady, CALL_FREE, "x"));

    let (write, read) = ("faults.prices.minor.write", "faults.prices.minor.read");
    let prices = record(vec![
        explain_prices::price("minor.write", 1400.0),
        explain_prices::price("minor.read", 700.0),
    ]);
    twin("price", prices, write, &|record| record.value(read, 1410.0));
    let (doubled, triad) = ("memory.triad.nt.doubled", || bandwidth("triad", "nt", &six(200.0)));
    let repeated = record(vec![triad(), in_role(triad(), "doubled")]);
    twin("repeated", repeated, doubled, &|record| record.value(doubled, 150.0));
    let far = explain_numa::FAR;
    twin("numa", explain_numa::two_packages(), far, &|record| record.value(far, 81.0));
    let counters = |read, written| explain_counters::controllers("copy", "regular", [read, written, 137.0]);
    let equal = |_: Record| counters(100.0, 100.0);
    twin("counted", counters(133.0, 67.0), "memory.counters.copy.regular.total", &equal);
    let scaling = explain_scaling::curve([(1, 12.0), (16, 100.0), (48, 152.0)]);
    let flat = |record: Record| record.value("memory.scaling.cores.16", 150.0);
    twin("scaling", scaling, "memory.scaling.cores.48", &flat);
    let instruments = |factor| second_instrument::pair("copy", "regular", factor, Some("regular"));
    twin("second-instrument", instruments(1.0), second_instrument::THEIRS, &|_| instruments(1.2));

    let two = explain::two_threads;
    let (regular, read, libc) = ("memory.triad.regular", "memory.read.regular", "memory.copy.libc");
    let nt = "memory.triad.nt";
    twin("baseline", two(), libc, &|record| record.value(libc, 18.2));
    twin("write-allocate", study_1(), regular, &|record| record.value(nt, 154.0));
    twin("avoided", explain::no_gain(), regular, &|record| record.value(read, 260.0));
    twin("in-flight", two(), regular, &|record| record.value(nt, 27.0));
    twin("mix", study_1(), "memory.copy.nt", &|record| record.value("memory.copy.regular", 120.0));
    twin("one-way", two(), read, &|record| record.value(read, 33.0));
    twin("by-mix", mixes_and_loads::mlc(), "memory.mix.1:1", &|record| record.value("memory.mix.1:0", 188.0));
    let idle = |record: Record| record.value("memory.loaded.idle", 160.0);
    let slower = |record: Record| record.fact("memory.loaded.2:1.d0", CANARY_BEFORE, 2.8);
    twin("falls-back", mixes_and_loads::wave(), mixes_and_loads::FALLEN, &slower);
    let onset = "memory.loaded.2:1.onset";
    twin("curve", mixes_and_loads::properties(), onset, &|record| {
        record.only(|id| id != "memory.loaded.idle")
    });
    twin("loaded", mixes_and_loads::curve(), "memory.loaded.2:1.d50", &idle);

    let ladder = explain_levels::ladder;
    twin("edge", ladder(), "edge.L2", &|record| {
        record.unknown("edge.L2", EDGE_BEHIND, "the sizes end there")
    });
    twin("level", ladder(), "random.64K", &|record| record.fact("edge.L1", EDGE_TO, 131_072.0));
    twin("page-walks", ladder(), "pages.4096K", &|record| record.value("small.4096K", 60.0));

    let test = |name, class| record(vec![explain_system::test(name, class, 1.0, &six(100.0))]);
    let (pipes, pipe) = (explain_system::pair("syscall", &six(100.0), &six(200.0)), "system.pipe.x2");
    twin("copies", pipes, pipe, &|record| record.value(pipe, 150.0));
    let (files, id) = (test("fstime", "files"), "system.fstime");
    twin("page-cache", files.fact(id, PSI_IO, 0.0), id, &|record| record.fact(id, PSI_IO, 0.3));
    let (shell, id) = (test("shell", "shell"), "system.shell");
    let shell = shell.fact(id, SHELL, "/usr/bin/dash".into()).fact(id, LOCALE_COLLATE, "C".into());
    let words = |record: Record| record.fact(id, LOCALE_COLLATE, "en_US.utf8".into());
    twin("surroundings", shell, id, &words);

    // Calls of munmap, 600 without the setting; and seconds under another allocator, 2 under the first.
    let setting = |munmap| settings::trial(&[settings::tried("bounded", 1.0, 100e6, 1000.0, munmap)]);
    twin("setting", setting(6.0), "faults.prove.cpu.bounded", &|_| setting(600.0));
    let tried = |name, seconds| programs::tried(name, seconds, 0.25, 100e6, 1000.0);
    let program = |seconds| record(vec![tried("first", 2.0), tried("other", seconds)]);
    twin("program", program(2.4), "alloc.try.cpu.other", &|_| program(2.001));
    let id = "faults.walk.frozen.free-d";
    twin("walk", record(walk::sample::figures()), id, &|record| record.unknown(id, WALK_FAULTS, "no rusage"));

    let (servers, load) = (|| explain_http::two(60e3, 40e3), "http.saturation.fasthttp.c200");
    let goroutines = "http.saturation.fasthttp.c200.goroutines";
    let missing =
        |record: Record| record.change(goroutines, |figure| figure::Figure { value: None, ..figure });
    let hidden = |record: Record| record.unknown(load, http::SERVER_SYSTEM, "not read");
    let small = |record: Record| record.unknown(load, http::RESIDENT_BEFORE, "not read");
    twin("http-limit", servers(), load, &|record| record.fact(load, http::SERVER_SYSTEM, 0.1));
    twin("http-cost", servers(), "http.saturation.fasthttp.c200.cpu", &hidden);
    twin("http-goroutines", servers(), goroutines, &missing);
    twin("http-memory", servers(), "http.saturation.fasthttp.c200.memory", &small);
    let (open, due) = ("http.equal-rate.fasthttp.c200", vec![200.0 / 30e3; 5]);
    let late = |record: Record| record.fact(open, http::UNCORRECTED, due.clone());
    twin("http-latency", explain_http::at_rate(0.001), "http.equal-rate.fasthttp.c200.p50", &late);
    twins
}

/// One that takes so many nanoseconds, and one of 60.
fn allocators(ns: f64) -> Record {
    let steady = "alloc.steady.a.t1";
    let both = [("a", ns), ("b", 60.0)].map(|(name, ns)| explain_alloc::allocator(name, "t1", ns, 1.5));
    explain_alloc::of(both.into())
        .fact("alloc.overhead.a.t1", RETAINED, 0.25)
        .fact(steady, STEPS, 2e6)
        .fact(steady, CALL_MALLOC, vec![20.0; 5])
        .fact(steady, CALL_FREE, vec![15.0; 5])
        .fact(steady, PAIR_CPU, 200.0)
        .fact(steady, PAIR_SYSTEM, 40.0)
        .fact(steady, FAULT_MINOR, 4e3)
}

#[test]
fn each_rule_says_something_else_or_nothing_of_a_twin() {
    let mut twins = twins();
    for (name, rule) in RULES {
        let (record, twin, id) = twins.remove(name).unwrap_or_else(|| panic!("{name} has no twin"));
        // The case without its values: other numbers make no twin.
        let says = |record: &Record| {
            rule(&Subject { figure: record.figure(id).unwrap(), record }).map(|case| case.name)
        };
        assert!(says(&record).is_some(), "{name}: nothing of {id}");
        assert_ne!(says(&twin), says(&record), "{name}: the same of the twin of {id}");
    }
    assert!(twins.is_empty(), "twins of rules that there are not: {:?}", twins.keys());
}

//! Prices of faults: each explained by the price of a part of it; and the twin records on which another sentence must be told.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit, Verdict};

/// A price by one thread, in nanoseconds, of a thousand units with as many minor faults in each round.
pub fn price(word: &str, ns: f64) -> Figure {
    let id = format!("faults.prices.{word}");
    let mut figure = Figure::planned(id, "faults", word, Unit::NANOSECONDS, Better::Lower);
    figure.conditions.set(PRICE, word.to_owned());
    figure.conditions.set(THREADS, 1.0);
    figure.conditions.set(CPUS, vec![0.0]);
    figure.conditions.set(PRICE_BYTES, 4096.0);
    figure.conditions.set(PRICE_REGION, 2097152.0);
    figure.rounds = bandwidth("read", "none", &six(ns)).rounds;
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    took(figure, 1000.0, 1000.0, 0.0)
}

pub fn took(mut figure: Figure, units: f64, minor: f64, major: f64) -> Figure {
    for round in &mut figure.rounds {
        round.evidence.put(PRICE_UNITS, units);
        round.evidence.put(PRICE_MINOR, minor);
        round.evidence.put(PRICE_MAJOR, major);
        round.evidence.put(PRICE_CPU, 20_000.0);
    }
    figure
}

fn in_us(mut figure: Figure) -> Figure {
    figure.unit = Unit::of("us");
    figure
}

/// A call, or a fault, on so many threads.
pub fn on(mut figure: Figure, threads: f64, is_one: bool) -> Figure {
    let word = figure.conditions.get(PRICE).unwrap();
    figure.id = format!("faults.prices.{word}.{threads}");
    figure.series = Some(format!("faults.prices.{word}"));
    figure.conditions.set(THREADS, threads);
    figure.conditions.set(CPUS, (0..threads as u32).map(f64::from).collect());
    if is_one {
        figure.conditions.set(PRICE_OTHERS, threads - 1.0);
    } else {
        figure.conditions.set(MINOR_DUE, 1.0);
    }
    figure
}

fn why(record: &Record, id: &str) -> String {
    judge_why(record, &format!("faults.prices.{id}"))
}

fn judge_why(record: &Record, id: &str) -> String {
    crate::relations_records::why(record, id)
}

#[test]
fn a_first_write_is_a_fault_and_a_page() {
    let told = why(&record(vec![price("minor.write", 1400.0), price("minor.read", 700.0)]), "minor.write");
    assert!(
        told.contains("700 ns (faults.prices.minor.read); the other 700 ns (50 %) are a page of its own"),
        "{told}"
    );
    assert!(!told.contains("huge"), "{told}");
    let same = why(&record(vec![price("minor.write", 1400.0), price("minor.read", 1410.0)]), "minor.write");
    assert!(same.contains("nothing is left for a page of its own"), "{same}");
    let alone = why(&record(vec![price("minor.write", 1400.0)]), "minor.write");
    assert!(alone.starts_with("Unexplained"), "{alone}");
    let mut void = price("minor.read", 700.0);
    void.verdict = Some(Verdict::Invalid);
    assert!(why(&record(vec![price("minor.write", 1400.0), void]), "minor.write").starts_with("Unexplained"));
}

#[test]
fn copies_and_the_file_system_are_what_is_left() {
    let figures = vec![
        price("cow.copy", 1800.0),
        price("cow.reuse", 800.0),
        price("minor.read", 700.0),
        price("file.read", 1000.0),
        price("file.shared", 1500.0),
        price("file.private", 2000.0),
    ];
    let record = record(figures);
    for (id, part) in [
        ("cow.copy", "(56 %) are the copy: another page"),
        ("cow.reuse", "1.14x of the fault that maps the page of zeros, 700 ns"),
        ("file.shared", "(33 %) are the file system"),
        ("file.private", "(50 %) are the copy: a page of its own"),
        ("file.read", "1.43x of the fault"),
        ("minor.read", "1.00 fault a page, and none of them allocates"),
    ] {
        let told = why(&record, id);
        assert!(told.contains(part), "{id}: {told}");
    }
}

#[test]
fn a_huge_page_by_the_small_page() {
    let mut huge = in_us(took(price("huge", 100.0), 4.0, 4.0, 0.0));
    huge.conditions.set(PRICE_BYTES, 2097152.0);
    let by_page = |ns: f64, huge: &Figure| {
        let mut figure = price("huge", ns);
        figure.id = "faults.prices.huge.by_page".to_owned();
        (figure.derived_from, figure.conditions) = (vec![huge.id.clone()], huge.conditions.clone());
        figure
    };
    let with = |ns: f64| {
        record(vec![
            huge.clone(),
            by_page(ns, &huge),
            price("minor.write", 1400.0),
            price("minor.read", 700.0),
        ])
    };
    let cheap = with(200.0);
    assert!(why(&cheap, "huge.by_page").contains("7.00x cheaper than one by one, 1.40 us"));
    assert!(why(&cheap, "huge").contains("zeroed at 21.0 GB/s at least"), "{}", why(&cheap, "huge"));
    assert!(why(&cheap, "minor.write").contains("as part of a huge page it is zeroed in 200 ns"));
    assert!(why(&with(1500.0), "huge.by_page").contains("No cheaper than one by one"));
}

#[test]
fn what_a_block_costs_that_is_mapped_for_each_use() {
    let record = record(vec![
        price("mmap", 2000.0),
        price("minor.write", 1400.0),
        price("munmap", 280.0),
        price("brk", 4000.0),
    ]);
    let told = why(&record, "mmap");
    // 2 us + 512 x (1.4 + 0.28) us.
    assert!(told.contains("A block of 2 MiB that is mapped, touched and unmapped costs 862 us"), "{told}");
    assert!(
        told.contains("the calls are 0.23 %") && told.contains("take 717 us") && told.contains("143 us"),
        "{told}"
    );
    assert!(why(&record, "munmap").contains("0.200x of the first write that brought the page"));
    assert!(why(&record, "brk").contains("2.00x of mmap and munmap of as much"));
}

#[test]
fn files_bring_neighbours_along_or_wait_for_the_disk() {
    let figures = vec![
        took(price("file.around", 100.0), 1600.0, 100.0, 0.0),
        price("file.read", 1000.0),
        price("minor.write", 1000.0),
        in_us(took(price("major", 80.0), 100.0, 0.0, 100.0)),
        in_us(took(price("scan.cold", 2.0), 1e6 / 4.096, 0.0, 100.0)),
        in_us(took(price("scan.warm", 0.2), 16384.0, 512.0, 0.0)),
    ];
    let record = record(figures);
    let around = why(&record, "file.around");
    assert!(around.contains("One fault maps 16.0 pages, so that a page costs 10.0x less"), "{around}");
    let major = why(&record, "major");
    assert!(
        major.contains("80.0x of a minor fault") && major.contains("20.0 us of it (25 %) are CPU time"),
        "{major}"
    );
    let cold = why(&record, "scan.cold");
    assert!(
        cold.contains("10.0x of the same file in the page cache")
            && cold.contains("0.100 major faults for each MB"),
        "{cold}"
    );
    assert!(why(&record, "scan.warm").contains("32.0 pages a fault"), "{}", why(&record, "scan.warm"));
}

#[test]
fn prices_that_do_not_differ_or_cannot_be_told_apart_have_no_rest() {
    let restless = |mut figure: Figure| {
        for (round, times) in figure.rounds.iter_mut().zip([0.4, 1.9, 0.5, 1.8, 0.6, 1.7]) {
            round.samples.iter_mut().for_each(|sample| *sample *= times);
        }
        figure
    };
    let untold = "differ too much to tell";
    let others = |ns: f64| on(price("madvise", ns), 4.0, true);
    let crowd = |ns: f64| on(price("concurrent", ns), 4.0, false);
    let alone = |word: &str, is_one: bool| on(price(word, 1000.0), 1.0, is_one);
    for (figure, part, same) in [
        (price("minor.write", 700.0), price("minor.read", 700.0), "No more than 700 ns"),
        (
            price("munmap", 1400.0),
            price("minor.write", 1400.0),
            "As much as the first write that brought the page, 1.40 us",
        ),
        (
            price("minor.large", 1400.0),
            price("minor.write", 1400.0),
            "Not dearer than 2 MiB at a time, 1.40 us",
        ),
        (others(1000.0), alone("madvise", true), "No more than while no other thread runs"),
        (crowd(1000.0), alone("concurrent", false), "nobody waits"),
        (alone("fork", true), price("fork", 1000.0), "No more than a page in a call about many, 1.00 us"),
    ] {
        let id = figure.id.clone();
        let record = |figure: Figure, part: Figure| record(vec![figure, part]);
        let told = judge_why(&record(figure.clone(), part.clone()), &id);
        assert!(told.contains(same), "{id}: {told}");
        let told = judge_why(&record(figure, restless(part)), &id);
        assert!(told.contains(untold) && !told.contains(same), "{id}: {told}");
    }
    let larger =
        why(&record(vec![price("minor.large", 2100.0), price("minor.write", 1400.0)]), "minor.large");
    assert!(
        larger.contains("1.50x of 2 MiB at a time, 1.40 us (faults.prices.minor.write): pages that are"),
        "{larger}"
    );
}

#[test]
fn what_has_no_fault_of_its_own_is_told_by_the_page_or_by_its_source() {
    let all = |ns: f64| {
        record(vec![price("concurrent", ns), price("fork", 51_200.0), price("minor.write", 1000.0)])
    };
    assert!(
        why(&all(1500.0), "concurrent").contains("1.50x of a first write by CPU time in smaller regions")
    );
    // 512 pages of 2 MiB.
    assert!(
        why(&all(1500.0), "fork").contains("At most 100 ns for each touched page"),
        "{}",
        why(&all(1.0), "fork")
    );
    let follows = |of: &str| {
        let source = price(of, 1000.0);
        let mut figure = price("added", 1.0);
        (figure.derived_from, figure.conditions) = (vec![source.id.clone()], source.conditions.clone());
        why(&record(vec![source, figure]), "added")
    };
    assert_eq!(follows("scan.cold"), "See faults.prices.scan.cold.");
    assert!(!follows("huge").contains("See"), "a huge page has a sentence of its own");
}

#[test]
fn other_threads_cost_what_they_add() {
    let one = on(price("madvise", 1000.0), 1.0, true);
    let with =
        |ns: f64| record(vec![one.clone(), on(price("madvise", ns), 4.0, true), price("dontneed", 250.0)]);
    let told = why(&with(10_000.0), "madvise.4");
    assert!(
        told.contains("9.00 us more than while no other thread runs") && told.contains("3.00 us for each"),
        "{told}"
    );
    assert!(why(&with(1000.0), "madvise.4").contains("No more than while no other thread runs"));
    let alone = why(&with(1000.0), "madvise.1");
    assert!(alone.contains("takes 250 ns") && alone.contains("the other 750 ns are the call"), "{alone}");
}

#[test]
fn threads_that_fault_at_once_wait_or_do_not() {
    let one = on(price("concurrent", 1000.0), 1.0, false);
    let with = |ns: f64| record(vec![one.clone(), on(price("concurrent", ns), 8.0, false)]);
    assert!(why(&with(3000.0), "concurrent.8").contains("3.00x of one thread alone"));
    assert!(why(&with(1000.0), "concurrent.8").contains("nobody waits"));
}

#[test]
fn the_studys_rate_at_this_machines_price() {
    let findings = |figures: Vec<Figure>| {
        let mut record = record(figures);
        judge::judge(&mut record);
        record.findings.into_iter().map(|finding| finding.text()).collect::<Vec<_>>().join("\n")
    };
    let told = findings(vec![price("minor.write", 2000.0), in_us(price("major", 100.0))]);
    assert!(
        told.contains("2.00 us of CPU time") && told.contains("10000 a second are 2.0 % of one CPU"),
        "{told}"
    );
    assert!(told.contains("20 % of a CPU would need 100000 a second"), "{told}");
    assert!(told.contains("50.0 minor faults: at random 10000 a second"), "{told}");
    assert!(!told.contains("page by page"), "{told}");
    let scanned = findings(vec![
        price("minor.write", 2000.0),
        in_us(price("major", 100.0)),
        in_us(price("scan.cold", 3.0)),
        in_us(price("scan.warm", 0.2)),
    ]);
    assert!(scanned.contains("takes 15.0x as long as from the page cache"), "{scanned}");
    assert!(!findings(vec![price("minor.read", 700.0)]).contains("minor fault takes"));
}

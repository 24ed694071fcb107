//! Prices of faults: each explained by the price of a part of it; and the twin records on which there is no explanation.

use crate::explain_faults::{find, finds, judged_record as judged};
use crate::relations_records::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit, Verdict};
use serde_json::{Value, json};

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
    took(figure, 1000.0, 1000.0)
}

fn took(mut figure: Figure, units: f64, minor: f64) -> Figure {
    for round in &mut figure.rounds {
        for (key, value) in
            [(PRICE_UNITS, units), (PRICE_MINOR, minor), (PRICE_MAJOR, 0.0), (PRICE_CPU, 20_000.0)]
        {
            round.evidence.put(key, value);
        }
    }
    figure
}

fn in_us(mut figure: Figure) -> Figure {
    figure.unit = Unit::of("µs");
    figure
}

/// A call, or a fault, on so many threads.
fn on(mut figure: Figure, threads: f64, is_one: bool) -> Figure {
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

/// Rounds that differ by more than prices do.
fn restless(mut figure: Figure) -> Figure {
    for (round, times) in figure.rounds.iter_mut().zip([0.4, 1.9, 0.5, 1.8, 0.6, 1.7]) {
        round.samples.iter_mut().for_each(|sample| *sample *= times);
    }
    figure
}

fn by_page() -> Figure {
    let mut figure = price("huge", 200.0);
    (figure.id, figure.derived_from) =
        ("faults.prices.huge.by_page".into(), vec!["faults.prices.huge".into()]);
    figure
}

/// One of everything.
fn all() -> Vec<Figure> {
    vec![
        price("minor.write", 1400.0),
        price("minor.read", 700.0),
        price("cow.copy", 1800.0),
        price("cow.reuse", 800.0),
        price("file.read", 1000.0),
        price("file.shared", 1500.0),
        price("file.private", 2000.0),
        took(price("file.around", 100.0), 1600.0, 100.0),
        price("mmap", 2000.0),
        price("munmap", 280.0),
        price("dontneed", 250.0),
        price("fork", 51_200.0),
        by_page(),
        in_us(price("major", 70.0)),
        in_us(price("scan.cold", 3.0)),
        in_us(price("scan.warm", 0.2)),
        on(price("madvise", 1000.0), 1.0, true),
        on(price("madvise", 10_000.0), 4.0, true),
        on(price("concurrent", 1000.0), 1.0, false),
        on(price("concurrent", 3000.0), 8.0, false),
    ]
}

#[test]
fn a_price_is_made_of_parts() {
    let record = record(all());
    let part = |id: &str| json!({"figure": format!("faults.prices.{id}")});
    let of_part = |id, rest: f64, share: f64| json!({"part": part(id), "rest": rest * 1e-9, "share": share});
    let cases: [(&str, &str, Value); 14] = [
        ("minor.write", "part-of-price", of_part("minor.read", 700.0, 0.5)),
        ("cow.copy", "part-of-price", of_part("cow.reuse", 1000.0, 0.5556)),
        ("file.shared", "part-of-price", of_part("file.read", 500.0, 0.3333)),
        ("file.private", "part-of-price", of_part("file.read", 1000.0, 0.5)),
        ("minor.read", "minimum-cost", json!({})),
        ("huge.by_page", "huge-page", json!({"ratio": 1.0 / 7.0, "single": part("minor.write")})),
        // 2 us + 512 x (1.4 + 0.28) us.
        (
            "mmap",
            "mapped-block",
            json!({"size": 2097152.0, "whole": 862.16e-6, "calls": 0.00232, "pages": 512.0}),
        ),
        ("mmap", "mapped-block", json!({"touch": 716.8e-6, "back": 143.36e-6, "unmap": part("munmap")})),
        ("fork", "fork-by-page", json!({"page": 100e-9})),
        ("file.around", "fault-around", json!({"pages": 16.0, "ratio": 0.1, "alone": part("file.read")})),
        (
            "major",
            "major-fault",
            json!({"ratio": 50.0, "minor": part("minor.write"), "cpu": 20e-6, "share": 0.2857}),
        ),
        ("madvise.1", "call-itself", json!({"call": 750e-9, "region": 2097152.0, "page": part("dontneed")})),
        ("madvise.4", "shootdown", json!({"added": 9e-6, "each": 3e-6, "alone": part("madvise.1")})),
        ("concurrent.8", "faults-wait", json!({"ratio": 3.0, "alone": part("concurrent.1")})),
    ];
    for (id, name, values) in cases {
        case(&record, &format!("faults.prices.{id}"), &format!("price/{name}"), values);
    }
}

#[test]
fn a_price_that_is_not_clearly_higher_has_no_parts() {
    let alone = |word, is_one| on(price(word, 1000.0), 1.0, is_one);
    for (figure, part) in [
        (price("minor.write", 700.0), price("minor.read", 700.0)),
        (price("file.shared", 1000.0), price("file.read", 1000.0)),
        (alone("fork", true), price("fork", 1000.0)),
        (on(price("madvise", 1000.0), 4.0, true), alone("madvise", true)),
        (on(price("concurrent", 1000.0), 8.0, false), alone("concurrent", false)),
    ] {
        let mut invalid = price("other", 1.0);
        (invalid.conditions, invalid.verdict) = (part.conditions.clone(), Some(Verdict::Invalid));
        for other in [part.clone(), restless(part), invalid] {
            no_case(&record(vec![figure.clone(), other]), &figure.id, "price");
        }
    }
}

#[test]
fn the_studys_rate_at_this_machines_price() {
    let minor = || vec![price("minor.write", 2000.0), in_us(price("major", 100.0))];
    let record = judged(minor());
    finds(&record, "prices/minor-fault-price", json!({"price": 2e-6, "share": 0.02, "rate": 1e5}));
    finds(
        &record,
        "prices/disk-page-price",
        json!({"price": 1e-4, "minor": 50.0, "rate": 1e4, "scan": null}),
    );
    let scans = vec![in_us(price("scan.cold", 3.0)), in_us(price("scan.warm", 0.2))];
    let found = judged([minor(), scans].concat());
    let figures = &finds(&found, "prices/disk-page-price", json!({"scan": 15.0})).figures;
    let expected = ["major", "minor.write", "scan.cold", "scan.warm"].map(|id| format!("faults.prices.{id}"));
    assert_eq!(*figures, expected);
    assert_eq!(find(&judged(vec![price("minor.read", 700.0)]), "minor-fault-price"), None);
}

pub fn situations() -> Vec<Record> {
    vec![judged(all())]
}

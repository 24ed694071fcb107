//! Prices of faults: each explained by the price of a part of it; and the twin records on which there is no explanation.

use crate::records::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit, Verdict};
use serde_json::json;

/// A price by one thread, in nanoseconds, of a thousand units with as many minor faults in each round.
pub fn price(word: &str, ns: f64) -> Figure {
    plain(&format!("faults.prices.{word}"), Unit::NANOSECONDS, Better::Lower, ns)
        .with(PRICE, word.to_owned())
        .with(THREADS, 1.0)
        .with(CPUS, vec![0.0])
        .with(PRICE_BYTES, 4096.0)
        .with(PRICE_REGION, 2097152.0)
        .with(PRICE_UNITS, 1000.0)
        .with(PRICE_MINOR, 1000.0)
        .with(PRICE_MAJOR, 0.0)
        .with(PRICE_CPU, 20_000.0)
}

fn in_us(mut figure: Figure) -> Figure {
    figure.unit = Unit::of("µs");
    figure
}

/// A call, or a fault, on so many threads.
fn on(figure: Figure, threads: f64, is_one: bool) -> Figure {
    let series = figure.id.clone();
    let cpus = (0..threads as u32).map(f64::from).collect();
    let figure = figure.named(format!("{series}.{threads}")).with(THREADS, threads).with(CPUS, cpus);
    let figure = Figure { series: Some(series), ..figure };
    if is_one { figure.with(PRICE_OTHERS, threads - 1.0) } else { figure.with(MINOR_DUE, 1.0) }
}

fn by_page() -> Figure {
    let derived_from = vec!["faults.prices.huge".into()];
    Figure { derived_from, ..price("huge", 200.0).named("faults.prices.huge.by_page") }
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
        price("file.around", 100.0).with(PRICE_UNITS, 1600.0).with(PRICE_MINOR, 100.0),
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
    let block = json!({"size": 2097152.0, "whole": 862.16e-6, "calls": 0.00232, "pages": 512.0});
    let major = json!({"ratio": 50.0, "minor": part("minor.write"), "cpu": 20e-6, "share": 0.2857});
    for (id, name, values) in [
        ("minor.write", "part-of-price", of_part("minor.read", 700.0, 0.5)),
        ("cow.copy", "part-of-price", of_part("cow.reuse", 1000.0, 0.5556)),
        ("file.shared", "part-of-price", of_part("file.read", 500.0, 0.3333)),
        ("file.private", "part-of-price", of_part("file.read", 1000.0, 0.5)),
        ("minor.read", "minimum-cost", json!({})),
        ("huge.by_page", "huge-page", json!({"ratio": 1.0 / 7.0, "single": part("minor.write")})),
        // 2 us + 512 x (1.4 + 0.28) us.
        ("mmap", "mapped-block", block),
        ("mmap", "mapped-block", json!({"touch": 716.8e-6, "back": 143.36e-6, "unmap": part("munmap")})),
        ("fork", "fork-by-page", json!({"page": 100e-9})),
        ("file.around", "fault-around", json!({"pages": 16.0, "ratio": 0.1, "alone": part("file.read")})),
        ("major", "major-fault", major),
        ("madvise.1", "call-itself", json!({"call": 750e-9, "region": 2097152.0, "page": part("dontneed")})),
        ("madvise.4", "shootdown", json!({"added": 9e-6, "each": 3e-6, "alone": part("madvise.1")})),
        ("concurrent.8", "faults-wait", json!({"ratio": 3.0, "alone": part("concurrent.1")})),
    ] {
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
    let record = record(minor());
    finding(&record, "prices/minor-fault-price", json!({"price": 2e-6, "share": 0.02, "rate": 1e5}));
    let disk = json!({"price": 1e-4, "minor": 50.0, "rate": 1e4, "scan": null});
    finding(&record, "prices/disk-page-price", disk);
    let scans = vec![in_us(price("scan.cold", 3.0)), in_us(price("scan.warm", 0.2))];
    let all = judged([minor(), scans].concat());
    let expected = ["major", "minor.write", "scan.cold", "scan.warm"].map(|id| format!("faults.prices.{id}"));
    assert_eq!(finds(&all, "prices/disk-page-price", json!({"scan": 15.0})).figures, expected);
    assert_eq!(find(&judged(vec![price("minor.read", 700.0)]), "minor-fault-price"), None);
}

pub fn situations() -> Vec<Record> {
    vec![judged(all())]
}

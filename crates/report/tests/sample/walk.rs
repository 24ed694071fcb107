//! A walk through the heap of glibc 2.36, as it was once: `walk.txt` has a line for each step, of arm, step, the heap's end, runs of
//! its pages, bytes mapped, bytes in memory, faults, and blocks.

use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Evidence, Figure, Round, Unit};

/// The figures, six rounds each.
pub fn figures() -> Vec<Figure> {
    include_str!("walk.txt").lines().map(figure).collect()
}

fn figure(line: &str) -> Figure {
    let words: Vec<&str> = line.split('|').collect();
    let &[arm, step, end, pages, mapped, value, faults, blocks] = words.as_slice() else { panic!("{line}") };
    let number = |word: &str| -> f64 { word.parse().unwrap() };
    let series = format!("faults.walk.{arm}");
    let id = format!("{series}.{}", step.replace(' ', "-"));
    let mut figure =
        Figure::planned(id, "faults", format!("Resident after {step}"), Unit::BYTES, Better::Neither);
    let at = Coordinate { value: CoordinateValue::Name(step.to_owned()), unit: None };
    figure.at.insert("step".to_owned(), at);
    figure.series = Some(series);
    figure.conditions.set(WALK_ARM, arm.to_owned());
    figure.conditions.set(TIMELESS, true);
    figure.evidence.put(LIBRARY, "/usr/lib/x86_64-linux-gnu/libc.so.6".to_owned());
    figure.evidence.put(WALK_GLIBC, 2036.0);
    figure.evidence.put(WALK_ENVIRONMENT, String::new());
    let mut evidence = Evidence::default();
    evidence.put(WALK_BREAK, number(end));
    evidence.put(WALK_HEAP_PAGES, pages.split(' ').map(run).collect::<String>());
    evidence.put(WALK_MAPPED, number(mapped));
    evidence.put(WALK_FAULTS, number(faults));
    evidence.put(WALK_BLOCKS, blocks.to_owned());
    let round =
        |_| Round::new("2026-03-01T10:20:30Z".to_owned(), 0.01, vec![number(value)], evidence.clone());
    figure.rounds = (0..6).map(round).collect();
    figure.summarise();
    figure
}

/// `18#`: eighteen pages in memory.
fn run(text: &str) -> String {
    let (count, sign) = text.split_at(text.len() - 1);
    sign.repeat(count.parse().unwrap())
}

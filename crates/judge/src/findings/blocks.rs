//! Which large blocks a program's page faults are in, and who allocates them.

use figure::evidence::*;
use figure::{Explanation, Figure, Record, Severity, format};

use super::finding;

/// Blocks with a smaller share are not told.
const LEAST: f64 = 0.1;
/// A block that is faulted in so soon after it was allocated, in seconds, is young: it was allocated to be filled.
const YOUNG: f64 = 0.1;
/// Blocks of which such a share is freed come and go.
const MOSTLY: f64 = 0.5;

/// The kind of block with most faults, if that is a good part of them.
pub(super) fn blocks(record: &Record) -> Option<Explanation> {
    let rows = record.figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.blocks"));
    let main = rows.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let share = main.value.filter(|share| *share >= LEAST)?;
    let site = main.conditions.get(BLOCK_SITE).filter(|site| !site.is_empty())?;
    let text = format!(
        "{} of the faults are in blocks of {} that {} allocates{}{}.",
        format::percent(share),
        size(main)?,
        format::plain(&site),
        touched(main, &site),
        age(main)
    );
    Some(finding(Severity::Note, text, &[main]))
}

fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

fn size(figure: &Figure) -> Option<String> {
    let (least, most) = (format::bytes(fact(figure, BLOCK_LEAST)?), format::bytes(fact(figure, BLOCK_MOST)?));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// Who touches them first, if it is another.
fn touched(figure: &Figure, site: &str) -> String {
    let calls = figure.conditions.get(SITE_CALLS).unwrap_or_default();
    let function = calls.split(" < ").next().unwrap_or_default();
    let allocates = site.rsplit_once(" (").map_or(site, |(name, _)| name);
    match function {
        "" => String::new(),
        function if function == allocates => " and touches first itself".to_owned(),
        function => format!(" and {} touches first", format::plain(function)),
    }
}

fn age(figure: &Figure) -> String {
    let Some(age) = fact(figure, BLOCK_AGE) else { return String::new() };
    let is_freed = fact(figure, BLOCK_FREED).is_some_and(|share| share >= MOSTLY);
    let told = format!("; the blocks are {} old then (median)", format::seconds(age));
    match age < YOUNG && is_freed {
        true => {
            format!("{told}, and are freed later: one that is kept and used again is not faulted in anew")
        }
        false => told,
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::{Better, Unit};

    fn row(age: f64, touch: &str) -> Figure {
        let mut figure = Figure::planned("faults.block.1", "faults", "x", Unit::ONE, Better::Neither);
        (figure.value, figure.series) = (Some(0.62), Some("faults.blocks".to_owned()));
        figure.conditions.set(BLOCK_SITE, "Server::answer (server.c:41)".to_owned());
        figure.conditions.set(SITE_CALLS, touch.to_owned());
        figure.evidence.put(BLOCK_LEAST, 2097152.0);
        figure.evidence.put(BLOCK_MOST, 2097152.0);
        figure.evidence.put(BLOCK_AGE, age);
        figure
    }

    #[test]
    fn who_touches_and_how_old_they_are_is_told() {
        assert_eq!(size(&row(1.0, "")).as_deref(), Some("2 MiB"));
        assert_eq!(age(&row(2.0, "")), "; the blocks are 2.00 s old then (median)");
        let mut freed = row(0.0002, "");
        assert!(!age(&freed).contains("freed"), "{}", age(&freed));
        freed.evidence.put(BLOCK_FREED, 0.9);
        assert!(age(&freed).contains("freed later"), "{}", age(&freed));
        let site = "Server::answer (server.c:41)";
        assert_eq!(touched(&row(1.0, "memset < main"), site), " and memset touches first");
        assert_eq!(touched(&row(1.0, "Server::answer < main"), site), " and touches first itself");
        assert_eq!(touched(&row(1.0, ""), site), "");
    }
}

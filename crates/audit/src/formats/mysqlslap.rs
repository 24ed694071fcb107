//! mysqlslap (MySQL, MariaDB): the time that clients took for their queries, of one run or several.

use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first};

pub(super) const FORMAT: Format =
    Format::lines("mysqlslap", &["number of seconds to run all queries:"], starts, None, parse);

/// Seconds that a run must last: clients connect in its first tenth of a second.
const LEAST: f64 = 1.0;
const MEAN: &str = "Average number of seconds to run all queries:";
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with(MEAN),
    |line| line.starts_with("Minimum number of seconds to run all queries:"),
    |line| line.starts_with("Maximum number of seconds to run all queries:"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(MARKS, before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let time = |label: &str| Printed::of(first(run.after(label)?)?);
    let mean = time(MEAN).ok_or("has no line of the mean time")?;
    let samples = Statistics {
        least: time("Minimum number of seconds to run all queries:"),
        mean: Some(mean),
        most: time("Maximum number of seconds to run all queries:"),
        ..Statistics::default()
    };
    let [clients, queries] = ["Number of clients running queries:", "Average number of queries per client:"]
        .map(|label| run.number(label));
    let subject = clients
        .zip(queries)
        .map_or(String::new(), |(clients, queries)| format!("{clients} clients, {queries} queries each"));
    let quantity = Quantity::of(
        "mysqlslap",
        "time".to_owned(),
        "time of all queries by mysqlslap".to_owned(),
        mean,
        Unit::SECONDS,
        Better::Lower,
    );
    let quantity =
        Quantity { subject, seconds: Some(mean.value), least_seconds: Some(LEAST), samples, ..quantity };
    Ok(vec![quantity.figure(known)])
}

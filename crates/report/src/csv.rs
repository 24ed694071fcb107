//! One line for each figure, for spreadsheets and data frames.
//!
//! The columns are the same for every record: a later version may append some, but never renames, reorders
//! or removes one. Numbers are as exact as in the record; what a figure does not have is an empty field.

use std::io::{self, Write};

use figure::evidence::{CPUS, Fact, Scope};
use figure::format::{exact, plain};
use figure::series::{Coordinate, CoordinateValue, SeriesInfo};
use figure::{Figure, Record};

use crate::format::{Format, Options};
use crate::names::serialised;
use crate::{names, reasons, summary};

pub(crate) const FORMAT: Format = Format { name: "csv", about: "one line for each figure", write };

/// A column: its name, and the field of a figure, by what its series is called.
type Column = (&'static str, fn(&Figure, Option<&SeriesInfo>) -> String);

/// The columns before the conditions.
const COLUMNS: &[Column] = &[
    ("id", |figure, _| text(&figure.id)),
    ("suite", |figure, _| text(&figure.suite)),
    ("name", |figure, _| text(&figure.name)),
    ("status", |figure, _| serialised(&figure.status)),
    ("value", |figure, _| optional(figure.value)),
    ("unit", |figure, _| text(figure.unit.symbol())),
    ("convention", |figure, _| serialised(&figure.convention)),
    ("better", |figure, _| serialised(&figure.better)),
    ("interval_low", |figure, _| optional(figure.interval.as_ref().map(|interval| interval.low))),
    ("interval_high", |figure, _| optional(figure.interval.as_ref().map(|interval| interval.high))),
    ("best", |figure, _| optional(figure.best)),
    ("rounds", |figure, _| figure.used_rounds().count().to_string()),
    ("limit", |figure, _| optional(figure.limit.as_ref().map(|limit| limit.value))),
    ("limit_basis", |figure, _| figure.limit.as_ref().map_or_else(String::new, |limit| text(&limit.basis))),
    ("verdict", |figure, _| serialised(&figure.verdict)),
    ("check", |figure, _| reasons::of(figure).first().map_or_else(String::new, |reason| text(&reason.id))),
    ("reason", |figure, _| reason(figure)),
    ("series", |figure, _| figure.series.as_deref().map_or_else(String::new, text)),
    ("at", |figure, _| at(figure)),
    ("axis", |figure, info| axis(figure, info, 0, |name, _| text(name))),
    ("axis_value", |figure, info| axis(figure, info, 0, |_, place| position(place))),
    ("axis_unit", |figure, info| axis(figure, info, 0, |_, place| unit(place))),
    ("axis2", |figure, info| axis(figure, info, 1, |name, _| text(name))),
    ("axis2_value", |figure, info| axis(figure, info, 1, |_, place| position(place))),
    ("axis2_unit", |figure, info| axis(figure, info, 1, |_, place| unit(place))),
];

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let conditions: Vec<&str> =
        figure::evidence::all().filter(|key| key.scope == Scope::Condition).map(|key| key.name).collect();
    let mut table = ::csv::Writer::from_writer(out);
    let heads = COLUMNS.iter().map(|(name, _)| *name).chain(conditions.iter().copied());
    table.write_record(heads).map_err(cause)?;
    for figure in &record.figures {
        let info = names::info(record, names::mode_of_figure(figure));
        let fields = COLUMNS.iter().map(|(_, field)| field(figure, info));
        let more = conditions.iter().map(|key| condition(figure, key));
        table.write_record(fields.chain(more)).map_err(cause)?;
    }
    table.flush()
}

/// What the writer answered, as it answered it.
fn cause(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The first reason why a figure is not valid, or why it has no value.
fn reason(figure: &Figure) -> String {
    let reason = reasons::of(figure).into_iter().next().map(|reason| reason.detail);
    reason.or_else(|| figure.reason.clone()).map_or_else(String::new, |reason| text(&reason))
}

/// `array=65536 B; node=0`.
fn at(figure: &Figure) -> String {
    let places = figure.at.iter().map(|(axis, place)| {
        let value = match &place.value {
            CoordinateValue::Number(value) => exact(*value),
            CoordinateValue::Name(name) => name.clone(),
        };
        let unit = place.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        format!("{axis}={value}{unit}")
    });
    text(&places.collect::<Vec<_>>().join("; "))
}

/// One axis of a figure alone, so that a data frame can plot along it; in the order of tables and charts.
fn axis(
    figure: &Figure,
    info: Option<&SeriesInfo>,
    which: usize,
    show: fn(&str, &Coordinate) -> String,
) -> String {
    let mut axes: Vec<(&String, &Coordinate)> = figure.at.iter().collect();
    axes.sort_by_key(|(name, _)| names::rank(info, name));
    axes.get(which).map_or_else(String::new, |(name, place)| show(name, place))
}

fn position(place: &Coordinate) -> String {
    match &place.value {
        CoordinateValue::Number(value) => exact(*value),
        CoordinateValue::Name(name) => text(name),
    }
}

fn unit(place: &Coordinate) -> String {
    place.unit.as_ref().map_or_else(String::new, |unit| text(unit.symbol()))
}

fn condition(figure: &Figure, key: &str) -> String {
    match figure.conditions.iter().find(|(name, _)| *name == key) {
        None => String::new(),
        Some((_, Fact::Flag(flag))) => flag.to_string(),
        Some((_, Fact::Number(value))) => exact(*value),
        Some((_, Fact::Text(value))) => text(value),
        Some((name, Fact::Numbers(values))) if name == CPUS.name => summary::cpu_list(values).to_string(),
        Some((_, Fact::Numbers(values))) => {
            values.iter().map(|value| exact(*value)).collect::<Vec<_>>().join(" ")
        }
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, exact)
}

/// Foreign text. A spreadsheet takes a field that begins with one of these signs for a formula (OWASP, "CSV
/// injection"), so an apostrophe goes before it.
fn text(foreign: &str) -> String {
    let shown = plain(foreign);
    if shown.starts_with(['=', '+', '-', '@']) { format!("'{shown}") } else { shown }
}

//! One line for each figure, for spreadsheets and data frames.
//!
//! The columns are the same for every record: a later version may append some, but never renames, reorders
//! or removes one. Numbers are as exact as in the record; what a figure does not have is an empty field.

use std::io::{self, Write};
use std::ops::Deref;

use figure::evidence::{CPUS, Fact, Scope};
use figure::format::plain;
use figure::series::{Coordinate, CoordinateValue, SeriesInfo};
use figure::{Figure, Record};

use crate::names::serialised;
use crate::{Format, Options, names, reasons, summary};
use figure::format::exact;

pub(crate) const FORMAT: Format = Format { name: "csv", about: "one line for each figure", write };

/// A column: its name, and the field of a figure.
type Column = (&'static str, fn(&Row) -> String);

/// A figure, and what its series is called.
struct Row<'a> {
    figure: &'a Figure,
    info: Option<&'a SeriesInfo>,
}

impl Deref for Row<'_> {
    type Target = Figure;

    fn deref(&self) -> &Figure {
        self.figure
    }
}

/// The columns before the conditions.
const COLUMNS: &[Column] = &[
    ("id", |figure| text(&figure.id)),
    ("suite", |figure| text(&figure.suite)),
    ("name", |figure| text(&figure.name)),
    ("status", |figure| serialised(&figure.status)),
    ("value", |figure| optional(figure.value)),
    ("unit", |figure| text(figure.unit.symbol())),
    ("convention", |figure| figure.convention.as_ref().map_or_else(String::new, serialised)),
    ("better", |figure| serialised(&figure.better)),
    ("interval_low", |figure| optional(figure.interval.as_ref().map(|interval| interval.low))),
    ("interval_high", |figure| optional(figure.interval.as_ref().map(|interval| interval.high))),
    ("best", |figure| optional(figure.best)),
    ("rounds", |figure| figure.kept().count().to_string()),
    ("limit", |figure| optional(figure.limit.as_ref().map(|limit| limit.value))),
    ("limit_basis", |figure| figure.limit.as_ref().map_or_else(String::new, |limit| text(&limit.basis))),
    ("verdict", |figure| figure.verdict.map_or_else(String::new, |verdict| verdict.to_string())),
    ("check", |figure| reasons::of(figure).first().map_or_else(String::new, |reason| text(&reason.id))),
    ("reason", |figure| reason(figure)),
    ("series", |figure| figure.series.as_deref().map_or_else(String::new, text)),
    ("at", |figure| at(figure)),
    ("axis", |figure| axis(figure, 0, |name, _| text(name))),
    ("axis_value", |figure| axis(figure, 0, |_, place| position(place))),
    ("axis_unit", |figure| axis(figure, 0, |_, place| unit(place))),
    ("axis2", |figure| axis(figure, 1, |name, _| text(name))),
    ("axis2_value", |figure| axis(figure, 1, |_, place| position(place))),
    ("axis2_unit", |figure| axis(figure, 1, |_, place| unit(place))),
];

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let conditions: Vec<&str> =
        figure::evidence::all().filter(|key| key.scope == Scope::Condition).map(|key| key.name).collect();
    let mut table = ::csv::Writer::from_writer(out);
    table
        .write_record(COLUMNS.iter().map(|(name, _)| *name).chain(conditions.iter().copied()))
        .map_err(cause)?;
    for figure in &record.figures {
        let row = Row { figure, info: names::info(record, names::mode_of_figure(figure)) };
        let fields = COLUMNS.iter().map(|(_, field)| field(&row));
        table
            .write_record(fields.chain(conditions.iter().map(|key| condition(figure, key))))
            .map_err(cause)?;
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
    match (reasons::of(figure).first(), &figure.reason) {
        (Some(reason), _) => text(&reason.detail),
        (None, Some(reason)) => text(reason),
        (None, None) => String::new(),
    }
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
fn axis(figure: &Row, which: usize, show: fn(&str, &Coordinate) -> String) -> String {
    let mut axes: Vec<(&String, &Coordinate)> = figure.at.iter().collect();
    axes.sort_by_key(|(name, _)| names::rank(figure.info, name));
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

//! The figures by which suites are known.

use figure::format::plain_to;

use super::section::{half_width, interval, of_limit};
use super::{Column, Kind, Row, Table};
use crate::digits::with_unit;
use crate::headlines::Named;

/// The longest name of a figure.
const MAX_NAME: usize = 24;
/// From these widths on there is room for the share of the limit, of one suite and of several, and for the interval.
const FOR_LIMIT: [usize; 2] = [52, 100];
const FOR_INTERVAL: usize = 120;

/// The table of these figures, by suite.
pub(crate) fn table<'a>(suites: &[(&str, Vec<Named<'a>>)]) -> Table<'a> {
    let figures = suites.iter().flat_map(|(suite, figures)| figures.iter().map(move |named| (*suite, named)));
    let row = |(suite, (name, figure)): (&str, &Named<'a>)| {
        Row::judged(
            [
                plain_to(suite, 20),
                plain_to(name, MAX_NAME),
                figure.value.map_or_else(String::new, |value| with_unit(value, &figure.unit)),
                half_width(figure),
                interval(figure, None),
                of_limit(figure),
            ],
            figure,
        )
    };
    let rows: Vec<Row> = figures.map(row).collect();
    let has_limit = rows.iter().filter_map(|row| row.judged).any(|figure| figure.limit.is_some());
    let for_limit = if has_limit { FOR_LIMIT[usize::from(suites.len() > 1)] } else { usize::MAX };
    let column = |head: &str, kind, least| Column { head: head.to_owned(), kind, least };
    let columns = vec![
        column("suite", Kind::Group, 0),
        column("figure", Kind::Words, 0),
        column("value", Kind::Values, 0),
        column("±", Kind::Numbers, 0),
        column("95 % interval", Kind::Numbers, FOR_INTERVAL),
        column("of limit", Kind::Shares, for_limit),
    ];
    Table { title: String::new(), columns, rows, is_grouped: true, is_short: true, ..Table::default() }
}

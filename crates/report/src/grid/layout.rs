//! The layout of series: which are side by side, on which axes, and which figures are in which rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use figure::format::plain_to;
use figure::series::{CoordinateValue, SeriesInfo};
use figure::{Figure, Unit};

use super::mode::{Column, Grid, Position};
use crate::groups;
use crate::names::{self, Axis};
use crate::outline::coordinate;

/// The longest label of a row.
const MAX_LABEL: usize = 60;

/// The most cells of a matrix (pairs of CPUs of the largest machine: 512 squared); a larger one is listed one figure below the other.
const MOST_CELLS: usize = 300_000;
/// The most series side by side.
const MOST_BESIDE: usize = 200;
/// The most columns of a matrix of several axes; more are listed one below the other.
const MAX_ACROSS: usize = 6;
/// The most columns that figures without a series are arranged in by the last word of their ids.
const MAX_LAST_WORDS: usize = 4;

/// A series with its axes, rows first.
struct Series<'a> {
    name: &'a str,
    axes: Vec<&'a str>,
    /// Positions on each axis.
    lengths: Vec<usize>,
    unit: Option<&'a Unit>,
    figures: Vec<&'a Figure>,
}

impl<'a> Series<'a> {
    fn of(info: Option<&SeriesInfo>, name: &'a str, figures: &[&'a Figure]) -> Self {
        let mut distinct: BTreeMap<&str, Vec<&CoordinateValue>> = BTreeMap::new();
        for (axis, coordinate) in figures.iter().flat_map(|figure| &figure.at) {
            let values = distinct.entry(axis).or_default();
            if !values.contains(&&coordinate.value) {
                values.push(&coordinate.value);
            }
        }
        let mut axes: Vec<&str> = distinct.keys().copied().collect();
        axes.sort_by_key(|axis| (names::rank(info, axis), std::cmp::Reverse(distinct[axis].len())));
        let lengths = axes.iter().map(|axis| distinct[axis].len()).collect();
        Series { name, axes, lengths, unit: common_unit(figures), figures: figures.to_vec() }
    }

    /// Whether it has the rates at which the points of `other` were observed.
    fn is_companion_of(&self, other: &Series) -> bool {
        let word = self.name.strip_prefix(other.name).and_then(|rest| rest.strip_prefix('.'));
        word.is_some_and(|word| !word.contains('.')) && self.unit != other.unit && self.axes == other.axes
    }
}

/// Curves that share an axis and a unit side by side, and aspects of the same things; companions beside their curve; matrices each alone.
pub(super) fn curves<'a>(info: Option<&SeriesInfo>, series: &[(&'a str, Vec<&'a Figure>)]) -> Vec<Grid<'a>> {
    let series: Vec<Series> = series.iter().map(|(name, figures)| Series::of(info, name, figures)).collect();
    let by_name: HashMap<&str, &Series> = series.iter().map(|one| (one.name, one)).collect();
    let base = |one: &Series| {
        let base = by_name.get(one.name.rsplit_once('.')?.0)?;
        one.is_companion_of(base).then_some(base.name)
    };
    let with_companion: HashSet<&str> = series.iter().filter_map(base).collect();
    let is_alone = |one: &Series| one.axes.len() != 1 || with_companion.contains(one.name);
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for one in series.iter().filter(|one| one.axes.len() != 1 || base(one).is_none()) {
        let fits = |group: &&mut Vec<&Series>| {
            let first = group[0];
            let is_like = first.unit == one.unit || names::are_aspects(info);
            is_like && first.axes == one.axes && !is_alone(first) && group.len() < MOST_BESIDE
        };
        match groups.iter_mut().find(fits).filter(|_| !is_alone(one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let grids = groups.into_iter().map(|group| {
        let one = group[0];
        let label = names::label(info, one.name);
        match one.axes.as_slice() {
            [down] if with_companion.contains(one.name) => {
                let companions = series.iter().filter(|other| other.is_companion_of(one));
                let group: Vec<&Series> = group.into_iter().chain(companions).collect();
                let name =
                    |series: &Series| names::words(series.name.strip_prefix(one.name).unwrap_or_default());
                Grid { label, is_companion: true, ..side_by_side(info, down, &group, &name) }
            }
            [down] => side_by_side(info, down, &group, &|series| names::label(info, series.name)),
            [down, across] if one.lengths.iter().product::<usize>() <= MOST_CELLS => {
                matrix(info, label, &[down], across, one)
            }
            axes => several_axes(info, label, axes, one),
        }
    });
    grids.collect()
}

/// Many curves with companions as one matrix: for each the column of its values, and that of the rates.
pub(crate) fn merged<'a>(grids: &[&Grid<'a>], across: Axis) -> Option<Grid<'a>> {
    let down = grids.first()?.down.clone();
    let rows = groups::in_order(grids.iter().flat_map(|grid| grid.rows.iter().map(|row| (row.clone(), ()))));
    let mut rows: Vec<(Position, ())> = rows.into_iter().map(|(row, _)| (row, ())).collect();
    sort(&mut rows);
    let column = |grid: &Grid<'a>, column: &Column<'a>| {
        let cell = |(place, ()): &(Position, ())| {
            let at = grid.rows.iter().position(|row| row == place)?;
            column.cells[at]
        };
        Column { label: grid.label.clone(), unit: column.unit, cells: rows.iter().map(cell).collect() }
    };
    let columns = grids.iter().flat_map(|grid| grid.columns.iter().map(|one| column(grid, one))).collect();
    let rows = rows.iter().map(|(place, ())| place.clone()).collect();
    Some(Grid { down, across: Some(across), rows, columns, ..Grid::default() })
}

/// Series with one axis, each a column.
fn side_by_side<'a>(
    info: Option<&SeriesInfo>,
    down: &str,
    group: &[&Series<'a>],
    name: &dyn Fn(&Series) -> String,
) -> Grid<'a> {
    let columns = group.iter().map(|series| (name(series), series.figures.clone())).collect();
    table(String::new(), Axis::of(info, &[down]), columns, &|figure| position(figure, down))
}

/// The last axis across, the others downwards, each combination a row.
fn matrix<'a>(
    info: Option<&SeriesInfo>,
    label: String,
    downs: &[&str],
    across: &str,
    series: &Series<'a>,
) -> Grid<'a> {
    let place = |figure: &Figure| match downs {
        [down] => position(figure, down),
        downs => joined(figure, downs),
    };
    let figures = series.figures.iter();
    let mut columns = groups::in_order(figures.map(|figure| (position(figure, across), *figure)));
    sort(&mut columns);
    let columns = columns.into_iter().map(|(place, figures)| (place.label, figures)).collect();
    Grid { across: Some(Axis::of(info, &[across])), ..table(label, Axis::of(info, downs), columns, &place) }
}

/// Three axes or more: a matrix, if every row then has something to compare; else one figure below the other. A
/// figure without axes has its name.
fn several_axes<'a>(
    info: Option<&SeriesInfo>,
    label: String,
    axes: &[&str],
    series: &Series<'a>,
) -> Grid<'a> {
    let across = axes.split_last().filter(|_| series.lengths.last().is_some_and(|most| *most <= MAX_ACROSS));
    if let Some((across, downs)) = across {
        let grid = matrix(info, label.clone(), downs, across, series);
        let compares =
            |row: usize| grid.columns.iter().filter(|column| column.cells[row].is_some()).count() > 1;
        if (0..grid.rows.len()).all(compares) {
            return grid;
        }
    }
    let place = |figure: &Figure| match axes {
        [] => named(figure),
        axes => joined(figure, axes),
    };
    table(label, Axis::of(info, axes), vec![(String::new(), series.figures.clone())], &place)
}

/// Figures without a series. Ids that differ in the last word side by side, if every row then is full:
/// `read`, `write` and `total` of each kernel.
pub(super) fn list<'a>(key: &str, figures: &[&'a Figure]) -> Option<Grid<'a>> {
    let parts = |figure: &'a Figure| {
        let rest = figure.id.strip_prefix(key)?.strip_prefix('.')?;
        rest.rsplit_once('.')
    };
    let words = groups::in_order(figures.iter().filter_map(|figure| Some((parts(figure)?.1, *figure))));
    if common_unit(figures).is_some() && (2..=MAX_LAST_WORDS).contains(&words.len()) {
        let columns = words.into_iter().map(|(word, figures)| (plain_to(word, 32), figures)).collect();
        let row = |figure: &Figure| {
            let word = figure.id.rsplit_once('.').map_or(figure.id.as_str(), |(row, _)| row);
            let row = word.get(key.len() + 1..).unwrap_or_default();
            Position::named(plain_to(&row.replace('.', " "), MAX_LABEL))
        };
        let grid = table(String::new(), Axis::default(), columns, &row);
        if grid.rows.len() * grid.columns.len() == figures.len() {
            return Some(grid);
        }
    }
    let columns = vec![(String::new(), figures.to_vec())];
    (!figures.is_empty()).then(|| table(String::new(), Axis::default(), columns, &named))
}

/// Figures in columns, a row for each place. A place that a column has several times has as many rows.
fn table<'a>(
    label: String,
    down: Axis,
    columns: Vec<(String, Vec<&'a Figure>)>,
    place: &dyn Fn(&Figure) -> Position,
) -> Grid<'a> {
    let mut rows: Vec<(Position, Vec<Option<&Figure>>)> = Vec::new();
    // The row of a place, and of its repetitions.
    let mut row_of: HashMap<((String, Option<u64>), usize), usize> = HashMap::new();
    for (at, (_, figures)) in columns.iter().enumerate() {
        let mut repetitions: HashMap<(String, Option<u64>), usize> = HashMap::new();
        for figure in figures {
            let here = place(figure);
            let key = (here.label.clone(), here.number.map(f64::to_bits));
            let times = repetitions.entry(key.clone()).or_default();
            *times += 1;
            let row = *row_of.entry((key, *times)).or_insert(rows.len());
            if row == rows.len() {
                rows.push((here, vec![None; columns.len()]));
            }
            rows[row].1[at] = Some(figure);
        }
    }
    sort(&mut rows);
    let column = |(at, (label, figures)): (usize, (String, Vec<&'a Figure>))| Column {
        label,
        unit: common_unit(&figures),
        cells: rows.iter().map(|(_, cells)| cells[at]).collect(),
    };
    let columns = columns.into_iter().enumerate().map(column).collect();
    Grid { label, down, rows: rows.into_iter().map(|(place, _)| place).collect(), columns, ..Grid::default() }
}

/// Numbers ascending; names stay in the order in which they first appear.
fn sort<T>(places: &mut [(Position, T)]) {
    if places.iter().all(|(place, _)| place.number.is_some()) {
        let number = |(place, _): &(Position, T)| place.number.unwrap_or_default();
        places.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
}

fn position(figure: &Figure, axis: &str) -> Position {
    let Some(at) = figure.at.get(axis) else { return Position::named("—".to_owned()) };
    let number = match at.value {
        CoordinateValue::Number(number) => Some(number),
        CoordinateValue::Name(_) => None,
    };
    Position { label: coordinate(at), number, unit: at.unit.clone() }
}

/// Positions on several axes as one name: `triad, nt`.
fn joined(figure: &Figure, axes: &[&str]) -> Position {
    let places: Vec<String> = axes.iter().filter_map(|axis| figure.at.get(*axis)).map(coordinate).collect();
    Position::named(plain_to(&places.join(", "), MAX_LABEL))
}

fn named(figure: &Figure) -> Position {
    Position::named(plain_to(&figure.name, MAX_LABEL))
}

fn common_unit<'a>(figures: &[&'a Figure]) -> Option<&'a Unit> {
    let first = &figures.first()?.unit;
    figures.iter().all(|figure| figure.unit == *first).then_some(first)
}

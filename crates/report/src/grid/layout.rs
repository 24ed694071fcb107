//! Which series stand side by side, on which axes, and which figures in which rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use figure::format::plain_to;
use figure::series::{CoordinateValue, SeriesInfo};
use figure::{Figure, Unit};

use super::{Column, Grid, Position};
use crate::names::{self, Axis};
use crate::outline::coordinate;

/// The longest label of a row.
const MAX_LABEL: usize = 60;

/// The most cells of a matrix (pairs of CPUs of the largest machine: 512 squared); a larger one is told one figure below the other.
const MOST_CELLS: usize = 300_000;
/// The most series side by side.
const MOST_BESIDE: usize = 200;

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

    /// Whether it tells at what rate the points of `other` were observed.
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
    let has_companion = |one: &Series| with_companion.contains(one.name);
    let mut grids: Vec<(Grid, Vec<&Series>)> = Vec::new();
    for one in &series {
        let label = names::label(info, one.name);
        match one.axes.as_slice() {
            [down, across] if one.lengths.iter().product::<usize>() <= MOST_CELLS => {
                grids.push((matrix(info, label, &[down], across, one), Vec::new()));
            }
            [down] => {
                if base(one).is_some() {
                    continue;
                }
                let alone = has_companion(one);
                let beside = |(_, members): &&mut (Grid, Vec<&Series>)| {
                    members.first().is_some_and(|first| {
                        let fits = first.unit == one.unit || names::are_aspects(info);
                        let has_room = members.len() < MOST_BESIDE;
                        has_room && !alone && !has_companion(first) && first.axes == one.axes && fits
                    })
                };
                match grids.iter_mut().find(beside) {
                    Some((_, members)) => members.push(one),
                    None => {
                        let companions = series.iter().filter(|other| other.is_companion_of(one));
                        let members: Vec<&Series> = std::iter::once(one).chain(companions).collect();
                        let grid = Grid {
                            label: if alone { label } else { String::new() },
                            down: Axis::of(info, &[down]),
                            across: None,
                            rows: Vec::new(),
                            columns: Vec::new(),
                            is_companion: alone,
                        };
                        grids.push((grid, members));
                    }
                }
            }
            axes => grids.push((several_axes(info, label, axes, one), Vec::new())),
        }
    }
    grids
        .into_iter()
        .map(|(grid, members)| if members.is_empty() { grid } else { side_by_side(info, grid, &members) })
        .collect()
}

fn side_by_side<'a>(info: Option<&SeriesInfo>, mut grid: Grid<'a>, members: &[&Series<'a>]) -> Grid<'a> {
    let axis = grid.down.names.join(", ");
    let place = |figure: &Figure| position(figure, &axis);
    grid.rows = positions(members.iter().flat_map(|series| series.figures.iter().copied()), &place);
    for series in members {
        let label = match members.first().filter(|_| grid.is_companion) {
            Some(base) => names::words(series.name.strip_prefix(base.name).unwrap_or_default()),
            None => names::label(info, series.name),
        };
        grid.columns.push(column(label, &grid.rows, series.figures.iter().copied(), &place));
    }
    grid
}

/// The last axis across, the others downwards, each combination a row.
fn matrix<'a>(
    info: Option<&SeriesInfo>,
    label: String,
    downs: &[&str],
    across: &str,
    series: &Series<'a>,
) -> Grid<'a> {
    let all = || series.figures.iter().copied();
    let place = |figure: &Figure| match downs {
        [down] => position(figure, down),
        downs => joined(figure, downs),
    };
    let mut places = positions(all(), &|figure| position(figure, across));
    places.dedup();
    let mut counts: Vec<(Position, usize)> = Vec::new();
    let columns: Vec<(String, Vec<&Figure>)> = places
        .into_iter()
        .map(|here| (here.label.clone(), all().filter(|figure| position(figure, across) == here).collect()))
        .collect();
    // A row as often as any column needs it.
    for (_, figures) in &columns {
        let rows = positions(figures.iter().copied(), &place);
        for row in &rows {
            let times = rows.iter().filter(|other| *other == row).count();
            match counts.iter_mut().find(|(known, _)| known == row) {
                Some((_, most)) => *most = (*most).max(times),
                None => counts.push((row.clone(), times)),
            }
        }
    }
    let rows = sorted(counts);
    let columns =
        columns.into_iter().map(|(label, figures)| column(label, &rows, figures.into_iter(), &place));
    let columns = columns.collect();
    let (down, across) = (Axis::of(info, downs), Some(Axis::of(info, &[across])));
    Grid { label, down, across, rows, columns, is_companion: false }
}

/// The most columns that an axis of several gives; more are told one below the other.
const MAX_ACROSS: usize = 6;

/// Three axes or more: a matrix, if every row then has something to compare; else one figure below the other. A
/// figure without axes is told by its name.
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
    let name = |figure: &Figure| match axes {
        [] => plain_to(&figure.name, MAX_LABEL),
        axes => joined(figure, axes).label,
    };
    let mut list = listed(label, series.figures.iter().map(|figure| (name(figure), *figure)).collect());
    list.down = Axis::of(info, axes);
    list
}

/// The figures of a series at their rows.
fn column<'a>(
    label: String,
    rows: &[Position],
    figures: impl Iterator<Item = &'a Figure>,
    place: &dyn Fn(&Figure) -> Position,
) -> Column<'a> {
    let mut cells: Vec<Option<&Figure>> = vec![None; rows.len()];
    for figure in figures {
        let here = place(figure);
        // The same position may be there several times, as often as any series needs it.
        let free = (0..rows.len()).find(|at| rows[*at] == here && cells[*at].is_none());
        if let Some(free) = free {
            cells[free] = Some(figure);
        }
    }
    let present: Vec<&Figure> = cells.iter().flatten().copied().collect();
    Column { label, unit: common_unit(&present), cells }
}

fn position(figure: &Figure, axis: &str) -> Position {
    match figure.at.get(axis) {
        None => Position { label: "—".to_owned(), number: None, unit: None },
        Some(at) => {
            let number = match at.value {
                CoordinateValue::Number(number) => Some(number),
                CoordinateValue::Name(_) => None,
            };
            Position { label: coordinate(at), number, unit: at.unit.clone() }
        }
    }
}

/// Positions on several axes as one name: `triad, nt`.
fn joined(figure: &Figure, axes: &[&str]) -> Position {
    let places: Vec<String> = axes.iter().filter_map(|axis| figure.at.get(*axis)).map(coordinate).collect();
    Position { label: plain_to(&places.join(", "), MAX_LABEL), number: None, unit: None }
}

/// The distinct positions of figures. One that a series has several times is there as often.
fn positions<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    place: &dyn Fn(&Figure) -> Position,
) -> Vec<Position> {
    let mut found: Vec<(Position, usize, Vec<&str>)> = Vec::new();
    for figure in figures {
        let (here, series) = (place(figure), figure.series.as_deref().unwrap_or_default());
        match found.iter_mut().find(|(known, ..)| *known == here) {
            Some((_, times, holders)) => {
                holders.push(series);
                *times = (*times).max(holders.iter().filter(|holder| **holder == series).count());
            }
            None => found.push((here, 1, vec![series])),
        }
    }
    sorted(found.into_iter().map(|(position, times, _)| (position, times)).collect())
}

/// Numbers ascending, names as they first appear; each as often as it is needed.
fn sorted(mut counts: Vec<(Position, usize)>) -> Vec<Position> {
    if counts.iter().all(|(position, _)| position.number.is_some()) {
        counts
            .sort_by(|(a, _), (b, _)| a.number.unwrap_or_default().total_cmp(&b.number.unwrap_or_default()));
    }
    counts.into_iter().flat_map(|(position, times)| std::iter::repeat_n(position, times)).collect()
}

/// The most columns that figures without a series are arranged in by the last word of their ids.
const MAX_LAST_WORDS: usize = 4;

/// Figures without a series. Ids that differ in the last word side by side, if every row then is full:
/// `read`, `write` and `total` of each kernel.
pub(super) fn list<'a>(key: &str, figures: &[&'a Figure]) -> Option<Grid<'a>> {
    if figures.is_empty() {
        return None;
    }
    let parts = |figure: &'a Figure| {
        let rest = figure.id.strip_prefix(key)?.strip_prefix('.')?;
        rest.rsplit_once('.')
    };
    let mut rows: Vec<&str> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for (row, word) in figures.iter().filter_map(|figure| parts(figure)) {
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let is_full = rows.len() * words.len() == figures.len() && common_unit(figures).is_some();
    if !is_full || !(2..=MAX_LAST_WORDS).contains(&words.len()) {
        let labels = figures.iter().map(|figure| plain_to(&figure.name, MAX_LABEL));
        return Some(listed(String::new(), labels.zip(figures.iter().copied()).collect()));
    }
    let columns = words.iter().map(|word| {
        let cells: Vec<Option<&Figure>> = rows
            .iter()
            .map(|row| figures.iter().copied().find(|figure| parts(figure) == Some((*row, *word))))
            .collect();
        Column { label: plain_to(word, 32), unit: common_unit(figures), cells }
    });
    let columns = columns.collect();
    let rows = rows.iter().map(|row| Position {
        label: plain_to(&row.replace('.', " "), MAX_LABEL),
        number: None,
        unit: None,
    });
    Some(Grid {
        label: String::new(),
        down: Axis::default(),
        across: None,
        rows: rows.collect(),
        columns,
        is_companion: false,
    })
}

/// One figure below the other.
fn listed<'a>(label: String, figures: Vec<(String, &'a Figure)>) -> Grid<'a> {
    let unit = common_unit(&figures.iter().map(|(_, figure)| *figure).collect::<Vec<_>>());
    let cells = figures.iter().map(|(_, figure)| Some(*figure)).collect();
    let rows = figures.into_iter().map(|(label, _)| Position { label, number: None, unit: None }).collect();
    let column = Column { label: String::new(), unit, cells };
    Grid { label, down: Axis::default(), across: None, rows, columns: vec![column], is_companion: false }
}

fn common_unit<'a>(figures: &[&'a Figure]) -> Option<&'a Unit> {
    let first = &figures.first()?.unit;
    figures.iter().all(|figure| figure.unit == *first).then_some(first)
}

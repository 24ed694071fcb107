//! Which series stand side by side, on which axes, and which figures in which rows.

use std::collections::BTreeMap;

use figure::format::plain_to;
use figure::series::CoordinateValue;
use figure::{Figure, Unit};

use super::{Column, Grid, Position};
use crate::names;
use crate::outline::coordinate;

/// A series with its axes, rows first.
struct Series<'a> {
    name: &'a str,
    axes: Vec<&'a str>,
    unit: Option<&'a Unit>,
    figures: Vec<&'a Figure>,
}

impl<'a> Series<'a> {
    fn of(name: &'a str, figures: &[&'a Figure]) -> Self {
        let mut distinct: BTreeMap<&str, Vec<&CoordinateValue>> = BTreeMap::new();
        for (axis, coordinate) in figures.iter().flat_map(|figure| &figure.at) {
            let values = distinct.entry(axis).or_default();
            if !values.contains(&&coordinate.value) {
                values.push(&coordinate.value);
            }
        }
        let mut axes: Vec<&str> = distinct.keys().copied().collect();
        axes.sort_by_key(|axis| (names::rank(axis), std::cmp::Reverse(distinct[axis].len())));
        Series { name, axes, unit: common_unit(figures), figures: figures.to_vec() }
    }

    /// Whether it tells at what rate the points of `other` were observed.
    fn is_companion_of(&self, other: &Series) -> bool {
        let word = self.name.strip_prefix(other.name).and_then(|rest| rest.strip_prefix('.'));
        word.is_some_and(|word| !word.contains('.')) && self.unit != other.unit && self.axes == other.axes
    }
}

/// Curves that share an axis and a unit side by side; companions beside their curve; matrices each alone.
pub(super) fn curves<'a>(series: &[(&'a str, Vec<&'a Figure>)]) -> Vec<Grid<'a>> {
    let series: Vec<Series> = series.iter().map(|(name, figures)| Series::of(name, figures)).collect();
    let has_companion = |one: &Series| series.iter().any(|other| other.is_companion_of(one));
    let mut grids: Vec<(Grid, Vec<&Series>)> = Vec::new();
    for one in &series {
        let label = names::label(one.name);
        match one.axes.as_slice() {
            [down, across] => grids.push((matrix(label, down, across, one), Vec::new())),
            [down] => {
                if series.iter().any(|base| one.is_companion_of(base)) {
                    continue;
                }
                let alone = has_companion(one);
                let beside = |(_, members): &&mut (Grid, Vec<&Series>)| {
                    members.first().is_some_and(|first| {
                        !alone && !has_companion(first) && first.axes == one.axes && first.unit == one.unit
                    })
                };
                match grids.iter_mut().find(beside) {
                    Some((_, members)) => members.push(one),
                    None => {
                        let companions = series.iter().filter(|other| other.is_companion_of(one));
                        let members: Vec<&Series> = std::iter::once(one).chain(companions).collect();
                        let grid = Grid {
                            label: if alone { label } else { String::new() },
                            down: (*down).to_owned(),
                            across: None,
                            rows: Vec::new(),
                            columns: Vec::new(),
                            is_companion: alone,
                        };
                        grids.push((grid, members));
                    }
                }
            }
            axes => {
                let labels = one.figures.iter().map(|figure| {
                    let places: Vec<String> =
                        axes.iter().filter_map(|axis| figure.at.get(*axis)).map(coordinate).collect();
                    if places.is_empty() { plain_to(&figure.name, 60) } else { places.join(", ") }
                });
                let figures = one.figures.iter().copied();
                let mut list = listed(label, labels.zip(figures).collect());
                list.down = axes.join(", ");
                grids.push((list, Vec::new()));
            }
        }
    }
    grids
        .into_iter()
        .map(|(grid, members)| if members.is_empty() { grid } else { side_by_side(grid, &members) })
        .collect()
}

fn side_by_side<'a>(mut grid: Grid<'a>, members: &[&Series<'a>]) -> Grid<'a> {
    let axis = grid.down.clone();
    let figures = || members.iter().flat_map(|series| series.figures.iter().copied());
    grid.rows = positions(figures(), &axis);
    for series in members {
        let label = match members.first().filter(|_| grid.is_companion) {
            Some(base) => names::words(series.name.strip_prefix(base.name).unwrap_or_default()),
            None => names::label(series.name),
        };
        grid.columns.push(column(label, &grid.rows, series.figures.iter().copied(), &axis));
    }
    grid
}

fn matrix<'a>(label: String, down: &str, across: &str, series: &Series<'a>) -> Grid<'a> {
    let all = || series.figures.iter().copied();
    let rows = positions(all(), down);
    let mut places = positions(all(), across);
    places.dedup();
    let columns = places.into_iter().map(|position| {
        let here = all().filter(|figure| self::position(figure, across) == position);
        column(position.label.clone(), &rows, here, down)
    });
    let columns = columns.collect();
    Grid { label, down: down.to_owned(), across: Some(across.to_owned()), rows, columns, is_companion: false }
}

/// The figures of a series at their rows.
fn column<'a>(
    label: String,
    rows: &[Position],
    figures: impl Iterator<Item = &'a Figure>,
    axis: &str,
) -> Column<'a> {
    let mut cells: Vec<Option<&Figure>> = vec![None; rows.len()];
    for figure in figures {
        let here = position(figure, axis);
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

/// The distinct positions on an axis: numbers ascending, names as they first appear. A position that a series
/// has several times is there as often.
fn positions<'a>(figures: impl Iterator<Item = &'a Figure>, axis: &str) -> Vec<Position> {
    let mut found: Vec<(Position, usize)> = Vec::new();
    let mut counts: BTreeMap<(&str, String, String), usize> = BTreeMap::new();
    for figure in figures {
        let here = position(figure, axis);
        // Another axis may tell them apart.
        let others: Vec<String> =
            figure.at.iter().filter(|(name, _)| *name != axis).map(|(_, at)| coordinate(at)).collect();
        let series = figure.series.as_deref().unwrap_or_default();
        let key = format!("{}{:?}", here.label, here.number.map(f64::to_bits));
        let count = counts.entry((series, others.join("\n"), key)).or_default();
        *count += 1;
        match found.iter_mut().find(|(known, _)| *known == here) {
            Some((_, times)) => *times = (*times).max(*count),
            None => found.push((here, 1)),
        }
    }
    if found.iter().all(|(position, _)| position.number.is_some()) {
        found.sort_by(|(a, _), (b, _)| a.number.unwrap_or_default().total_cmp(&b.number.unwrap_or_default()));
    }
    found.into_iter().flat_map(|(position, times)| std::iter::repeat_n(position, times)).collect()
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
        let labels = figures.iter().map(|figure| plain_to(&figure.name, 60));
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
        label: plain_to(&row.replace('.', " "), 60),
        number: None,
        unit: None,
    });
    Some(Grid {
        label: String::new(),
        down: String::new(),
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
    Grid { label, down: String::new(), across: None, rows, columns: vec![column], is_companion: false }
}

fn common_unit<'a>(figures: &[&'a Figure]) -> Option<&'a Unit> {
    let first = &figures.first()?.unit;
    figures.iter().all(|figure| figure.unit == *first).then_some(first)
}

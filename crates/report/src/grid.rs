//! The figures of a mode laid out: positions on an axis downwards, series (or a second axis) across.
//!
//! Text, Markdown and charts show the same grids, so that a point is found at the same place in each of them.

use std::collections::BTreeMap;

use figure::evidence::ROLE;
use figure::format::{plain, plain_to};
use figure::series::CoordinateValue;
use figure::{Convention, Figure, Record, Status, Unit};

use crate::outline::coordinate;
use crate::{digits, names};

/// All figures of one mode.
#[derive(Debug)]
pub(crate) struct Mode<'a> {
    /// The first two words of its series or ids: `memory.ladder`.
    pub key: &'a str,
    /// Its curves, matrices and lists.
    pub grids: Vec<Grid<'a>>,
    /// Figures that were computed from others and stand for the whole: edges, knees.
    pub derived: Vec<&'a Figure>,
}

/// A table of figures that can be compared.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    /// What it holds, where a mode has several; else empty.
    pub label: String,
    /// The axis downwards, by its name in the record; empty for a list of figures.
    pub down: String,
    /// For a matrix: the axis across.
    pub across: Option<String>,
    /// The positions downwards.
    pub rows: Vec<Position>,
    /// What stands across.
    pub columns: Vec<Column<'a>>,
    /// Whether the second column tells at what (rate) the first was observed, in another unit.
    pub is_companion: bool,
}

/// A position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Position {
    /// As people read it: `64 KiB`.
    pub label: String,
    /// On an axis of numbers.
    pub number: Option<f64>,
    /// The number's unit.
    pub unit: Option<Unit>,
}

/// A series, or a position on the axis across.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    /// Its name; empty for a mode's only series.
    pub label: String,
    /// The unit of all its figures.
    pub unit: Option<&'a Unit>,
    /// For each row the figure, if one was planned there.
    pub cells: Vec<Option<&'a Figure>>,
}

impl<'a> Column<'a> {
    /// The figures that have a value.
    pub fn measured(&self) -> impl Iterator<Item = &'a Figure> {
        self.cells.iter().flatten().copied().filter(|figure| figure.value.is_some())
    }
}

impl<'a> Grid<'a> {
    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.columns.iter().flat_map(|column| column.cells.iter().flatten().copied())
    }

    /// Whether rows stand on an axis of numbers, with an order and distances.
    pub fn is_curve(&self) -> bool {
        self.rows.iter().all(|row| row.number.is_some())
    }

    /// Decimals for a column: the same for all columns of its unit; `None` where its own units differ.
    pub fn decimals(&self, column: &Column) -> Option<usize> {
        column.unit?;
        let alike = self.columns.iter().filter(|other| other.unit == column.unit);
        digits::of(alike.flat_map(Column::measured).filter_map(|figure| figure.value))
    }

    /// The unit, if it is the same for all.
    pub fn unit(&self) -> Option<&'a Unit> {
        let first = self.columns.first()?.unit?;
        self.columns.iter().all(|column| column.unit == Some(first)).then_some(first)
    }
}

impl<'a> Mode<'a> {
    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.grids.iter().flat_map(Grid::figures).chain(self.derived.iter().copied())
    }

    /// The byte convention, if it is the same for all bandwidths.
    pub fn convention(&self) -> Option<Convention> {
        let mut conventions =
            self.grids.iter().flat_map(Grid::figures).filter_map(|figure| figure.convention);
        let first = conventions.next()?;
        conventions.all(|convention| convention == first).then_some(first)
    }

    /// Its heading: `memory.ladder: bandwidth by array size, in GB/s, STREAM-counted bytes`.
    pub fn title(&self) -> String {
        let mut title = plain_to(self.key, 60);
        if let Some(known) = names::mode(self.key) {
            title.push_str(&format!(": {known}"));
        }
        let unit = self.unit();
        if let Some(unit) = unit.filter(|unit| **unit != Unit::ONE) {
            title.push_str(&format!(", in {}", plain_to(unit.symbol(), digits::MAX_UNIT)));
        }
        if let Some(convention) = self.convention() {
            let bandwidths = if unit.is_none() { " bandwidths in" } else { "" };
            title.push_str(&format!(",{bandwidths} {convention}"));
        }
        title
    }

    /// The unit, if it is the same for all but the figures that were computed.
    pub fn unit(&self) -> Option<&'a Unit> {
        let first = self.grids.first()?.unit()?;
        self.grids.iter().all(|grid| grid.unit() == Some(first)).then_some(first)
    }
}

/// The modes of a record whose figures form curves, matrices or lists of their own, in the record's order.
pub(crate) fn modes(record: &Record) -> Vec<Mode<'_>> {
    let mut figures: Vec<(&str, Vec<&Figure>)> = Vec::new();
    for figure in &record.figures {
        let Some(key) = key(record, figure) else { continue };
        match figures.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(figure),
            None => figures.push((key, vec![figure])),
        }
    }
    figures.into_iter().map(|(key, figures)| mode(key, &figures)).collect()
}

/// The mode that a figure is shown with; `None` for single figures, which have tables of their own.
pub(crate) fn key<'a>(record: &'a Record, figure: &'a Figure) -> Option<&'a str> {
    // Baselines and controls stand apart.
    if figure.conditions.get(ROLE).is_some_and(|role| !role.is_empty()) {
        return None;
    }
    if let Some(series) = &figure.series {
        return Some(names::mode_of(series));
    }
    let key = names::mode_of(&figure.id);
    let has_series = |other: &Figure| other.series.as_deref().is_some_and(|s| names::mode_of(s) == key);
    (names::mode(key).is_some() || record.figures.iter().any(has_series)).then_some(key)
}

fn mode<'a>(key: &'a str, figures: &[&'a Figure]) -> Mode<'a> {
    let mut series: Vec<(&str, Vec<&Figure>)> = Vec::new();
    let (mut single, mut derived) = (Vec::new(), Vec::new());
    for figure in figures {
        match &figure.series {
            Some(name) => match series.iter_mut().find(|(known, _)| known == name) {
                Some((_, members)) => members.push(*figure),
                None => series.push((name, vec![figure])),
            },
            None if figure.derived_from.is_empty() => single.push(*figure),
            None => derived.push(*figure),
        }
    }
    let mut grids = curves(&series);
    grids.extend(list(key, &single));
    if let [grid] = grids.as_mut_slice() {
        grid.label.clear();
    }
    Mode { key, grids, derived }
}

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
fn curves<'a>(series: &[(&'a str, Vec<&'a Figure>)]) -> Vec<Grid<'a>> {
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
fn list<'a>(key: &str, figures: &[&'a Figure]) -> Option<Grid<'a>> {
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

/// Points without a value, those of the same status and reason together: which they are, in words.
pub(crate) fn missing(mode: &Mode) -> Vec<(Status, String, String)> {
    let mut groups: Vec<(Status, String, Vec<String>, usize)> = Vec::new();
    let mut tell = |status: Status, reason: &Option<String>, what: String, count: usize| {
        let reason = plain(reason.as_deref().unwrap_or("no reason was recorded"));
        match groups.iter_mut().find(|group| (group.0, &group.1) == (status, &reason)) {
            Some((_, _, told, all)) => {
                if !told.contains(&what) {
                    told.push(what);
                }
                *all += count;
            }
            None => groups.push((status, reason, vec![what], count)),
        }
    };
    for grid in &mode.grids {
        for column in &grid.columns {
            let mut kinds: Vec<(Status, &Option<String>, Vec<&Position>)> = Vec::new();
            for (row, figure) in grid.rows.iter().zip(&column.cells) {
                let Some(figure) = figure.filter(|figure| figure.value.is_none()) else { continue };
                match kinds.iter_mut().find(|kind| (kind.0, kind.1) == (figure.status, &figure.reason)) {
                    Some((.., rows)) => rows.push(row),
                    None => kinds.push((figure.status, &figure.reason, vec![row])),
                }
            }
            let planned = column.cells.iter().flatten().count();
            for (status, reason, rows) in kinds {
                let some = if rows.len() < planned { rows.as_slice() } else { &[] };
                let what = format!("{} {}", grid.label, place(grid, column, some));
                tell(status, reason, what.trim().to_owned(), rows.len());
            }
        }
    }
    for figure in mode.derived.iter().filter(|figure| figure.value.is_none()) {
        tell(figure.status, &figure.reason, plain_to(&figure.name, 60), 1);
    }
    let all = mode.figures().count();
    let told = |told: Vec<String>, count: usize| {
        let told: Vec<String> = told.into_iter().filter(|what| !what.is_empty()).collect();
        if count == all || told.is_empty() { String::new() } else { shortened(&told) }
    };
    groups.into_iter().map(|(status, reason, what, count)| (status, reason, told(what, count))).collect()
}

/// Points in a few words: `random small at 1 GiB, 2 GiB`; without rows the whole column.
pub(crate) fn place(grid: &Grid, column: &Column, rows: &[&Position]) -> String {
    // A companion is missing where its figure is.
    let label = if grid.is_companion { "" } else { column.label.as_str() };
    let mut places = Vec::new();
    let names = match &grid.across {
        Some(across) => {
            places.push(format!("{} {label}", names::head(across)));
            ""
        }
        None => label,
    };
    if !rows.is_empty() {
        // A size says what it is, a bare number does not.
        let is_bare = rows.iter().any(|row| row.number.is_some() && row.unit.is_none());
        let head = if is_bare || grid.across.is_some() { names::head(&grid.down) } else { String::new() };
        places.insert(0, format!("{head} {}", spanned(rows)).trim_start().to_owned());
    }
    let places = places.join(", ");
    if names.is_empty() || places.is_empty() {
        format!("{names}{places}")
    } else {
        format!("{names} at {places}")
    }
}

/// Positions in a few words: `1 GiB, 2 GiB`; `64 KiB to 4 GiB (17 points)`.
fn spanned(rows: &[&Position]) -> String {
    let labels: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    match (rows.first(), rows.last()) {
        (Some(first), Some(last)) if rows.len() > 3 && rows.iter().all(|row| row.number.is_some()) => {
            format!("{} to {} ({} points)", first.label, last.label, rows.len())
        }
        _ => shortened(&labels),
    }
}

/// A list, cut where it becomes long.
fn shortened(words: &[String]) -> String {
    const MOST: usize = 6;
    if words.len() > MOST {
        format!("{} and {} more", words[..MOST - 1].join(", "), words.len() - MOST + 1)
    } else {
        words.join(", ")
    }
}

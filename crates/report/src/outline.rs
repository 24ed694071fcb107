//! The order in which people read figures: headlines in tables, kernels with their store types one below the
//! other, then baselines and controls; what has no value apart. Curves and matrices: see [`grid`].

use figure::evidence::{COPIES, KERNEL, ROLE, STORES, TEST};
use figure::format::{bytes, counted, exact, number, plain, plain_to};
use figure::series::{Coordinate, CoordinateValue};
use figure::{Convention, Figure, Record, Status, Unit, Verdict};
use suites::loads::is_ceiling;

use crate::{grid, loads};

/// The longest label in a table; longer ones are cut, the id is in the other formats.
const MAX_LABEL: usize = 60;
/// The most figures that are listed by name in one place.
const MAX_LISTED: usize = 12;
/// The most points of one curve that are listed by name.
const MAX_POINTS: usize = 3;

/// A table of figures that can be compared: one suite, one purpose, one byte convention.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// What its figures have in common.
    pub title: String,
    /// Whether these are the suite's own figures, not its baselines and controls.
    pub headline: bool,
    /// The unit, if it is the same for all.
    pub unit: Option<&'a Unit>,
    /// Heads of the label columns.
    pub heads: Vec<String>,
    /// The head over [`Row::gain`].
    pub gain: &'static str,
    /// The figures.
    pub rows: Vec<Row<'a>>,
}

/// One figure in a table.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Its labels, as many as the section has heads.
    pub labels: Vec<String>,
    /// The figure, measured.
    pub figure: &'a Figure,
    /// The value as a multiple of its partner's, if neither is invalid: of non-temporal stores to regular ones, of several
    /// copies to one.
    pub gain: Option<f64>,
}

/// What puts figures into the same section.
#[derive(PartialEq)]
struct Kind<'a> {
    suite: &'a str,
    role: Option<String>,
    series: Option<&'a str>,
    convention: Option<Convention>,
    kernel: bool,
    test: bool,
}

impl<'a> Kind<'a> {
    fn of(figure: &'a Figure) -> Self {
        let role = figure.conditions.get(ROLE).filter(|role| !role.is_empty());
        let series = figure.series.as_deref();
        let kernel = series.is_none()
            && figure.conditions.get(KERNEL).is_some()
            && figure.conditions.get(STORES).is_some();
        let test = series.is_none() && figure.conditions.get(TEST).is_some();
        Kind { suite: &figure.suite, role, series, convention: figure.convention, kernel, test }
    }

    fn is_headline(&self) -> bool {
        self.role.is_none()
    }

    fn title(&self) -> String {
        let mut title = plain_to(self.suite, MAX_LABEL);
        match (self.role.as_deref(), self.series) {
            (Some("baseline"), _) => title.push_str(", baselines: other code on the same arrays"),
            (Some("doubled"), _) => title.push_str(", control: twice the arrays must give the same"),
            (Some("again"), _) => title.push_str(", control: measured again, apart in time"),
            (Some(role), _) => title.push_str(&format!(", {}", plain_to(role, MAX_LABEL))),
            (None, Some(series)) => title = plain(series),
            (None, None) => {}
        }
        if let Some(convention) = self.convention {
            title.push_str(&format!(", {convention}"));
        }
        title
    }
}

/// The sections of a record, headlines first; within one kind, the record's order. Curves and matrices are not
/// among them: see [`grid::modes`].
pub(crate) fn sections(record: &Record) -> Vec<Section<'_>> {
    let mut groups: Vec<(Kind, Vec<&Figure>)> = Vec::new();
    let alone = |figure: &&Figure| {
        figure.status == Status::Measured && grid::key(record, figure).is_none() && !is_ceiling(figure)
    };
    for figure in record.figures.iter().filter(alone) {
        let kind = Kind::of(figure);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, figures)) => figures.push(figure),
            None => groups.push((kind, vec![figure])),
        }
    }
    groups.sort_by_key(|(kind, _)| !kind.is_headline());
    groups.into_iter().map(|(kind, figures)| section(&kind, figures)).collect()
}

fn section<'a>(kind: &Kind, mut figures: Vec<&'a Figure>) -> Section<'a> {
    let (heads, rows) = if kind.test {
        // One test's figures together, tests in the order in which they first appear.
        let order: Vec<String> = figures.iter().map(|figure| test(figure)).collect();
        figures.sort_by_key(|figure| order.iter().position(|name| *name == test(figure)));
        let rows = figures.iter().map(|figure| Row {
            labels: vec![test(figure), copies(figure).map_or_else(String::new, |copies| copies.to_string())],
            figure,
            gain: over_one_copy(figure, &figures),
        });
        (vec!["test".to_owned(), "copies".to_owned()], rows.collect())
    } else if kind.kernel {
        // All stores of one kernel together, kernels in the order in which they first appear.
        let order: Vec<String> = figures.iter().map(|figure| kernel(figure)).collect();
        figures.sort_by_key(|figure| order.iter().position(|name| *name == kernel(figure)));
        let rows = figures.iter().map(|figure| Row {
            labels: vec![kernel(figure), stores(figure)],
            figure,
            gain: gain(figure, &figures),
        });
        // What libc or a compiler does about stores is not known; theirs is a name of the code.
        let way = if kind.role.as_deref() == Some("baseline") { "code" } else { "stores" };
        (vec!["kernel".to_owned(), way.to_owned()], rows.collect())
    } else if kind.series.is_some() {
        let axes: Vec<&String> = figures.first().map_or_else(Vec::new, |figure| figure.at.keys().collect());
        let rows = figures.iter().map(|figure| Row {
            labels: axes
                .iter()
                .map(|axis| figure.at.get(*axis).map_or_else(String::new, coordinate))
                .collect(),
            figure,
            gain: None,
        });
        (axes.iter().map(|axis| plain_to(axis, MAX_LABEL)).collect(), rows.collect())
    } else {
        let rows = figures.iter().map(|figure| Row {
            labels: vec![plain_to(&figure.name, MAX_LABEL)],
            figure,
            gain: None,
        });
        (vec!["figure".to_owned()], rows.collect::<Vec<_>>())
    };
    let unit = figures.first().map(|figure| &figure.unit);
    let unit = unit.filter(|unit| figures.iter().all(|figure| figure.unit == **unit));
    let gain = if kind.test { "× one" } else { "nt/reg." };
    Section { title: kind.title(), headline: kind.is_headline(), unit, heads, gain, rows }
}

fn test(figure: &Figure) -> String {
    plain_to(&figure.conditions.get(TEST).unwrap_or_default(), MAX_LABEL)
}

fn copies(figure: &Figure) -> Option<f64> {
    figure.conditions.get(COPIES)
}

/// How several copies of a test compare with one.
fn over_one_copy(figure: &Figure, figures: &[&Figure]) -> Option<f64> {
    copies(figure).filter(|copies| *copies > 1.0)?;
    let one = figures.iter().find(|other| copies(other) == Some(1.0) && test(other) == test(figure))?;
    times(figure, one)
}

/// One value as a multiple of another, if neither is invalid.
fn times(figure: &Figure, of: &Figure) -> Option<f64> {
    let sound = [figure, of].iter().all(|f| f.verdict.is_some_and(|v| v != Verdict::Invalid));
    let ratio = figure.value? / of.value?;
    (sound && ratio.is_finite()).then_some(ratio)
}

fn kernel(figure: &Figure) -> String {
    plain_to(&figure.conditions.get(KERNEL).unwrap_or_default(), MAX_LABEL)
}

fn stores(figure: &Figure) -> String {
    plain_to(&figure.conditions.get(STORES).unwrap_or_default(), MAX_LABEL)
}

/// How a non-temporal figure compares with the regular one of the same kernel.
fn gain(figure: &Figure, figures: &[&Figure]) -> Option<f64> {
    if stores(figure) != "nt" {
        return None;
    }
    let regular =
        figures.iter().find(|other| stores(other) == "regular" && kernel(other) == kernel(figure))?;
    times(figure, regular)
}

/// A position on an axis: `64 KiB`, `12`, `node 1`.
pub(crate) fn coordinate(coordinate: &Coordinate) -> String {
    match (&coordinate.value, &coordinate.unit) {
        (CoordinateValue::Name(name), _) => plain_to(name, MAX_LABEL),
        (CoordinateValue::Number(value), Some(unit)) if *unit == Unit::BYTES => bytes(*value),
        (CoordinateValue::Number(value), Some(unit)) if *unit != Unit::ONE => {
            format!("{} {}", number(*value), plain_to(unit.symbol(), MAX_LABEL))
        }
        (CoordinateValue::Number(value), _) if value.fract() == 0.0 && value.abs() < 1e15 => exact(*value),
        (CoordinateValue::Number(value), _) => number(*value),
    }
}

/// Ids as short as they can be: without the suite's name where the record has only one suite.
pub(crate) fn short_id(record: &Record, figure: &Figure) -> String {
    short(record, &figure.suite, &figure.id)
}

fn short(record: &Record, suite: &str, dotted: &str) -> String {
    let one_suite = record.figures.iter().all(|other| other.suite == suite);
    let short = dotted.strip_prefix(suite).and_then(|rest| rest.strip_prefix('.'));
    plain_to(short.filter(|_| one_suite).unwrap_or(dotted), 64)
}

/// Several points of a series in a few words: `ladder from 64 KiB to 4 MiB (7 points)`.
pub(crate) fn span(record: &Record, series: &str, points: &[&Figure]) -> String {
    let name = short(record, points.first().map_or("", |figure| figure.suite.as_str()), series);
    let places = points.iter().filter_map(|figure| match figure.at.values().next() {
        Some(place) if figure.at.len() == 1 => match place.value {
            CoordinateValue::Number(number) => Some((number, place)),
            CoordinateValue::Name(_) => None,
        },
        _ => None,
    });
    let mut places: Vec<(f64, &Coordinate)> = places.collect();
    places.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    match (places.first(), places.last()) {
        (Some((_, first)), Some((_, last))) if places.len() == points.len() => {
            format!(
                "{name} from {} to {} ({})",
                coordinate(first),
                coordinate(last),
                counted(points.len(), "point")
            )
        }
        _ => format!("{name} ({})", counted(points.len(), "point")),
    }
}

/// Whether these are several figures that were computed from loads.
fn is_of_loads(figures: &[&Figure]) -> bool {
    figures.len() > MAX_POINTS && figures.iter().all(|figure| loads::is_computed(figure))
}

/// Figures by name, as many as one line bears; many points of one curve together.
pub(crate) fn listed(record: &Record, figures: &[&Figure]) -> String {
    if is_of_loads(figures) {
        return format!("{} latencies, costs and counts", figures.len());
    }
    let measured = record.figures.iter().filter(|figure| figure.status == Status::Measured).count();
    if figures.len() == measured && measured > 2 {
        return format!("all {measured} figures");
    }
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut listed: Vec<&str> = Vec::new();
    for figure in figures {
        let series = figure.series.as_deref().unwrap_or_default();
        if listed.contains(&series) {
            continue;
        }
        let points: Vec<&Figure> =
            figures.iter().copied().filter(|other| other.series.as_deref() == Some(series)).collect();
        if points.len() > MAX_POINTS {
            listed.push(series);
            names.push((span(record, series, &points), points.len()));
        } else {
            names.push((short_id(record, figure), 1));
        }
    }
    if names.len() > MAX_LISTED {
        let more: usize = names[MAX_LISTED - 2..].iter().map(|(_, count)| count).sum();
        let names: Vec<String> = names.into_iter().take(MAX_LISTED - 2).map(|(name, _)| name).collect();
        format!("{} and {more} more", names.join(", "))
    } else {
        names.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }
}

/// Figures without a value, those of the same status and reason together; those of curves and matrices are listed
/// with them.
pub(crate) fn without_value(record: &Record) -> Vec<(Status, String, Vec<&Figure>)> {
    let mut groups: Vec<(Status, String, Vec<&Figure>)> = Vec::new();
    let alone = |figure: &&Figure| figure.status != Status::Measured && grid::key(record, figure).is_none();
    for figure in record.figures.iter().filter(alone) {
        let reason = plain(figure.reason.as_deref().unwrap_or("no reason was recorded"));
        match groups.iter_mut().find(|(status, known, _)| *status == figure.status && *known == reason) {
            Some((_, _, figures)) => figures.push(figure),
            None => groups.push((figure.status, reason, vec![figure])),
        }
    }
    groups
}

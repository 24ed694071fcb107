//! benchstat: medians of two sets of runs of `go test -bench`, and their change; its tables of before and since 2023.

use figure::evidence::audit::SIDES;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{Rows, continues, is_of_one, word};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines("benchstat", &[" vs base", "time/op", "(p=0.", "± 0%", "± 1%"], starts, None, parse);

/// Lines between two of a run: empty ones, footnotes, heads of tables, the machine.
const WITHIN: usize = 12;
/// Names that files of the same code have, but for a number behind them.
const SAME: &[&str] = &[
    "a", "base", "baseline", "before", "control", "head", "main", "master", "old", "orig", "original",
    "parent", "same", "trunk",
];
const ONE: &str = "one run of each: nothing in the text shows how far another would lie; needs -count 6";
/// The name of the row of the geometric mean.
const GEOMEAN: &str = "geomean";
/// What a value may end in: both tables scale it (benchunit, by its unit).
const SCALES: &[(&str, f64)] = &[
    ("n", 1e-9),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("u", 1e-6),
    ("m", 1e-3),
    ("", 1.0),
    ("k", 1e3),
    ("Ki", 1024.0),
    ("M", 1e6),
    ("Mi", 1_048_576.0),
    ("G", 1e9),
    ("Gi", 1_073_741_824.0),
];

/// A row of a table.
struct Row<'a> {
    name: &'a str,
    /// Median of each set, and its error as a share, where it is printed.
    medians: Vec<(Printed, Option<f64>)>,
    /// Whether all are times by their suffix.
    is_time: bool,
    /// Ratio to the first set, of each set behind it with a change that is no chance.
    ratios: Vec<(usize, f64)>,
    /// Sets that do not differ by more than chance.
    alike: usize,
    /// Unit of old tables.
    unit: Option<&'static str>,
    /// Whether each set is one run, `n=1+1`.
    is_of_one: bool,
}

/// `817.6n`, `2.27s`, `338µs`, `1.89GB`, `13.0M`: the value, and the unit of old tables.
fn value(token: &str) -> Option<(Printed, &'static str, bool)> {
    let end = token.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(token.len());
    let (digits, suffix) = token.split_at(end);
    let is_digits = token.starts_with(|c: char| c.is_ascii_digit());
    let (scale, unit) = match suffix {
        _ if suffix.ends_with("B/s") => (&suffix[..suffix.len() - 3], "B/s"),
        _ if suffix.ends_with('s') => (&suffix[..suffix.len() - 1], "s"),
        _ if suffix.ends_with('B') => (&suffix[..suffix.len() - 1], "B"),
        _ => (suffix, ""),
    };
    let (name, factor) = SCALES.iter().find(|(name, _)| *name == scale)?;
    let is_small = matches!(*name, "n" | "µ" | "μ" | "u" | "m");
    is_digits.then(|| {
        Some((Printed::of(digits)?.times(*factor), unit, unit == "s" || unit.is_empty() && is_small))
    })?
}

/// A share: `±`, `7%` or `±24%`; `∞` is of too few runs.
fn share(token: &str) -> Option<Option<f64>> {
    let digits = token.trim_start_matches('±').strip_suffix('%');
    match digits {
        Some(digits) => Some(Some(number(digits)? / 100.0)),
        None => (token.trim_start_matches('±') == "∞").then_some(None),
    }
}

/// `-13.42%`, `+0.34%`: new over old.
fn ratio(token: &str) -> Option<f64> {
    let digits = token.strip_suffix('%')?;
    let (sign, digits) = match digits.strip_prefix(['-', '−']) {
        Some(digits) => (-1.0, digits),
        None => (1.0, digits.strip_prefix('+')?),
    };
    Some(1.0 + sign * number(digits)? / 100.0).filter(|ratio| *ratio >= 0.0)
}

fn row(line: &str) -> Option<Row<'_>> {
    let (first, rest) = match line.strip_prefix("[Geo mean]") {
        Some(rest) => (GEOMEAN, rest),
        None => line.split_once(char::is_whitespace)?,
    };
    let is_note = |token: &&str| !token.starts_with(['¹', '²', '³', '⁴']);
    let mut tokens = rest.split_whitespace().take(80).filter(is_note).peekable();
    let name = Some(first).filter(|name| number(name).is_none())?;
    let is_mean = name == GEOMEAN;
    let mut own = Row {
        name,
        medians: Vec::new(),
        is_time: true,
        ratios: Vec::new(),
        alike: 0,
        unit: None,
        is_of_one: false,
    };
    while let Some(token) = tokens.next() {
        if let Some(ratio) = ratio(token).filter(|_| own.medians.len() > 1) {
            own.ratios.push((own.medians.len(), ratio));
        } else if token == "~" {
            own.alike += 1;
        } else if let Some((median, unit, is_time)) = value(token) {
            let next = tokens.peek().copied().unwrap_or_default();
            let error = if next == "±" {
                tokens.next();
                share(tokens.next().unwrap_or_default())?
            } else if next.starts_with('±') {
                share(tokens.next().unwrap_or_default())?
            } else {
                None
            };
            own.medians.push((median, error));
            own.is_time &= is_time;
            own.unit = Some(unit);
        } else if !(token.starts_with("(p=")
            || token.starts_with("n=")
            || token.starts_with('(')
            || token.ends_with(')')
            || token == "?")
        {
            return None;
        }
    }
    let ones = ["n=1+1)", "n=1)"];
    own.is_of_one = ones.iter().any(|one| rest.contains(one)) || rest.trim_end().ends_with("n=1");
    let has_error = own.medians.iter().any(|(_, error)| error.is_some()) || line.contains("± ∞");
    let is_row = has_error || is_mean && own.medians.len() > 1 && !own.ratios.is_empty();
    is_row.then_some(own)
}

/// A head of a table: of since 2023 two lines with drawn bars, the names of the files and the units; of before one line.
fn is_head(line: &str) -> bool {
    line.contains('│') || line.contains(" vs base") || of_old_head(line).is_some()
}

/// The unit that an old head names: `name  time/op`, `name  old time/op  new time/op  delta`, or a metric of a benchmark's own.
fn of_old_head(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.strip_prefix("name ")?.split_whitespace().take(8).collect();
    match words.as_slice() {
        ["old", unit, "new", other, ..] if unit == other => Some(unit),
        [unit] if number(unit).is_none() => Some(unit),
        _ => words.into_iter().find(|word| word.ends_with("/op") || *word == "speed"),
    }
}

fn is_own(line: &str) -> bool {
    row(line).is_some() || line.contains(" vs base")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_first = |is: fn(&str) -> bool| !continues(before, WITHIN, is);
    if is_head(line) {
        let mut near = rest.iter().skip(1).take(3).take_while(|line| is_head(line) || row(line).is_some());
        return near.any(|line| row(line).is_some()) && is_first(|line| is_own(line) || is_head(line));
    }
    row(line).is_some() && is_first(|line| is_own(line) || is_head(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let (mut labels, mut unit): (Vec<&str>, String) = (Vec::new(), String::new());
    let mut alike = 0;
    // The bars around a single column are off.
    let is_unit = |line: &str| !line.contains(char::is_whitespace) && of_head(line).is_some();
    unit.extend(run.before.last().filter(|line| is_unit(line)).and_then(|line| of_head(line)));
    let has_ratio = run.lines.iter().filter_map(|line| row(line)).any(|row| !row.ratios.is_empty());
    for line in run.lines {
        if (is_head(line) || is_unit(line)) && row(line).is_none() {
            match of_head(line) {
                Some(own) => unit = own,
                None => labels = names(line),
            }
            if line.starts_with("name ") {
                labels = old_names(line);
            }
            continue;
        }
        let Some(row) = row(line) else { continue };
        alike += row.alike;
        let of = if unit.is_empty() {
            row.unit.map(per_operation).unwrap_or_default().to_owned()
        } else {
            unit.clone()
        };
        // The part of an id: that of time has none.
        let (kind, is_timed) = match of.as_str() {
            "sec/op" | "time/op" => ("", true),
            "" => ("", row.is_time),
            "B/s" | "speed" => ("speed", true),
            _ => (of.as_str(), false),
        };
        let Some(id) = rows.id(row.name) else { continue };
        let table = Table {
            id: if kind.is_empty() { id } else { format!("{id}.{}", word(kind)) },
            title: format!("{}{}{kind}", row.name, if kind.is_empty() { "" } else { ", " }),
            unit: of.clone(),
            is_timed,
        };
        if has_ratio {
            let ratios = row.ratios.iter().map(|change| table.ratio(&row, *change, &labels, known));
            ratios.for_each(|figure| rows.push(figure));
        } else {
            table.medians(&row, known).into_iter().for_each(|figure| rows.push(figure));
        }
    }
    if alike > 0 {
        rows.note("rows without a significant difference");
    }
    rows.figures("has no row of a median with its error")
}

/// The unit that a head names.
fn of_head(line: &str) -> Option<String> {
    if let Some(unit) = of_old_head(line) {
        return Some(unit.to_owned());
    }
    let words = line.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty());
    let units: Vec<&str> =
        words.filter(|word| word.ends_with("/op") || word.ends_with("/s") || *word == "speed").collect();
    units.first().map(|unit| (*unit).to_owned())
}

/// The unit of an old table without its head.
fn per_operation(unit: &str) -> &'static str {
    match unit {
        "s" => "time/op",
        "B/s" => "speed",
        _ => "",
    }
}

/// Names of files between the bars of a head.
fn names(line: &str) -> Vec<&str> {
    line.split('│').map(str::trim).filter(|name| !name.is_empty()).take(20).collect()
}

/// Those of an old head, `name  old time/op  new time/op  delta`.
fn old_names(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split_whitespace().take(40).collect();
    words
        .windows(2)
        .filter(|pair| pair[1].ends_with("/op") || pair[1] == "speed")
        .map(|pair| pair[0])
        .collect()
}

/// Whether two files are of the same code, by their names: `before1` and `before2`.
fn are_same(one: &str, other: &str) -> bool {
    let stem = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or_default().to_lowercase();
        let file = file.split('.').next().unwrap_or_default().to_owned();
        file.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | ' ')).to_owned()
    };
    let (one, other) = (stem(one), stem(other));
    one == other && SAME.contains(&one.as_str())
}

/// A row of one table.
struct Table {
    id: String,
    title: String,
    unit: String,
    /// Whether it is of time, which drifts.
    is_timed: bool,
}

impl Table {
    /// The ratio of a set of runs to the first.
    fn ratio(&self, row: &Row, (set, ratio): (usize, f64), labels: &[&str], known: &Known) -> Figure {
        let (part, number) =
            if set > 2 { (format!(".{set}"), format!(" ({set})")) } else { Default::default() };
        let value = Printed { value: ratio, off: 0.0 };
        let title = format!("{}{number}, new over old, by benchstat", self.title);
        let id = format!("{}.ratio{part}", self.id);
        let mut own = Quantity::of("benchstat", id, title, value, Unit::ONE, Better::Neither);
        let sides = row.medians.first().zip(set.checked_sub(1).and_then(|at| row.medians.get(at)));
        if let Some(((old, old_error), (new, new_error))) = sides {
            let again = new.value / old.value;
            let off = again * (old.share() + new.share()).min(1.0);
            own.again = (old.value > 0.0).then_some(Printed { value: again, off });
            own.error_of_mean = [*old_error, *new_error].into_iter().flatten().reduce(f64::max);
        }
        let mut figure = own.figure(known);
        if row.is_of_one {
            is_of_one(&mut figure, ONE);
        }
        if self.is_timed && !row.is_of_one {
            let names = labels.first().zip(set.checked_sub(1).and_then(|at| labels.get(at)));
            let same = names.is_some_and(|(old, new)| are_same(old, new));
            figure.evidence.put(SIDES, if same { "same" } else { "other" }.to_owned());
        }
        figure
    }

    /// The medians of the sets.
    fn medians(&self, row: &Row, known: &Known) -> Vec<Figure> {
        let is_speed = self.title.ends_with(", speed");
        let (factor, unit, better) = match self.is_timed {
            true if is_speed => (1.0, Unit::of("B/s"), Better::Higher),
            true => (1e9, Unit::NANOSECONDS, Better::Lower),
            false if self.unit.is_empty() => (1.0, Unit::ONE, Better::Lower),
            false => (1.0, Unit(plain_to(&self.unit, 20).into()), Better::Lower),
        };
        let of = |(at, (median, error)): (usize, &(Printed, Option<f64>))| {
            let (part, number) =
                if at > 0 { (format!(".{}", at + 1), format!(" ({})", at + 1)) } else { Default::default() };
            let title = format!("{}{number} by benchstat", self.title);
            let id = format!("{}{part}", self.id);
            let mut own = Quantity::of("benchstat", id, title, median.times(factor), unit.clone(), better);
            own.error_of_mean = *error;
            let mut figure = own.figure(known);
            if row.is_of_one {
                is_of_one(&mut figure, ONE);
            }
            figure
        };
        row.medians.iter().enumerate().map(of).collect()
    }
}

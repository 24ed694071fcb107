//! Lines of `perf stat`: an event, its count, and what perf derives from it; as text, CSV (-x) or JSON (-j), each also by intervals (-I).

use serde_json::Value;

use crate::text::{Printed, fields, number, number_between};

/// Units that may stand between a count and its event.
const UNITS: &[&str] = &[
    "msec", "nsec", "ns", "usec", "sec", "Bytes", "bytes", "KiB", "MiB", "GiB", "MB", "Joules", "C", "'C",
    "rpm", "capacity",
];
/// perf prints moments with nine decimals, in seconds.
const DECIMALS: usize = 9;
/// Separators of CSV.
const SEPARATORS: [char; 3] = [',', ';', '\t'];
/// Older versions of perf cut the share of the time to whole percents in CSV and JSON.
const CUT_PERCENT: f64 = 0.99;
/// Numbers that may have been counted.
const SANE: std::ops::RangeInclusive<f64> = 1e-100..=1e18;
/// Fields of JSON that say where events were counted.
const PLACES: &[&str] = &["cpu", "core", "die", "cluster", "cache", "socket", "node", "thread", "cgroup"];

/// One line of events.
#[derive(Clone, Debug)]
pub struct Event {
    /// When its interval ended, in seconds since counting began; `None` where it is of the whole run.
    pub at: Option<f64>,
    /// Where it was counted, if perf counted in several places: `CPU3`, `S0-D0-C1`.
    pub place: String,
    /// As perf prints it: `cycles:u`, `cpu_core/cycles/`.
    pub name: String,
    /// What it is counted in, where that is no number of events.
    pub unit: String,
    /// Its count, or perf's word for why there is none.
    pub count: Result<Printed, &'static str>,
    /// Seconds that it was counted, where they are printed.
    pub seconds: Option<f64>,
    /// What perf derives from it, and what it calls that.
    pub metric: Option<(Printed, String)>,
    /// Share of the time in which it was counted, where that is printed.
    pub share: Option<f64>,
    /// Error of the mean over several runs, where that is printed.
    pub error: Option<f64>,
}

impl Event {
    /// The event without what says where it was counted: `cycles` of `cpu_core/cycles/` and `cycles:u`.
    pub fn plain(&self) -> &str {
        let mut parts = self.name.split('/');
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        let name = second.filter(|name| !name.is_empty()).unwrap_or(first);
        name.split(':').next().unwrap_or(name)
    }

    /// The name of another event that was counted in the same place.
    pub fn beside(&self, other: &str) -> String {
        self.name.replacen(self.plain(), other, 1)
    }

    /// Its count, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.count.ok().map(|count| count.value)
    }
}

/// perf's words for a count that is none.
fn count(token: &str) -> Option<Result<Printed, &'static str>> {
    match token {
        "<not counted>" => Some(Err("not counted")),
        "<not supported>" => Some(Err("not supported")),
        _ => Printed::of(token).map(Ok),
    }
}

/// The moment at the beginning of a line, and what follows it.
fn moment(line: &str) -> (Option<f64>, &str) {
    let Some((token, rest)) = line.split_once(char::is_whitespace) else { return (None, line) };
    match seconds(token) {
        Some(at) => (Some(at), rest.trim_start()),
        None => (None, line),
    }
}

/// A moment as perf prints it: `1.000520165`.
fn seconds(token: &str) -> Option<f64> {
    let (_, decimals) = token.split_once('.')?;
    let is_moment = decimals.len() == DECIMALS && decimals.bytes().all(|byte| byte.is_ascii_digit());
    number(token).filter(|_| is_moment)
}

/// Whether a word names a place: `CPU3`; `S0`, `S0-D0`, `S0-D0-C1`, `N0`, behind which the number of its CPUs stands.
fn place(token: &str) -> Option<bool> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if token.strip_prefix("CPU").is_some_and(digits) {
        return Some(false);
    }
    let is_part = |part: &str| {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
        name.len() < part.len()
            && (1..=3).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    (token.starts_with(['S', 'N']) && token.split('-').all(is_part)).then_some(true)
}

/// The place at the beginning of a line, and what follows it.
fn placed(line: &str) -> (&str, &str) {
    let Some((token, rest)) = line.split_once(char::is_whitespace) else { return ("", line) };
    let rest = rest.trim_start();
    match place(token) {
        Some(false) => (token, rest),
        Some(true) => match rest.split_once(char::is_whitespace) {
            Some((cpus, rest)) if number(cpus).is_some() => (token, rest.trim_start()),
            _ => ("", line),
        },
        None => {
            // A thread: `cc1-4711`.
            let is_thread = token.rsplit_once('-').is_some_and(|(name, id)| {
                name.starts_with(|c: char| c.is_ascii_alphabetic())
                    && id.bytes().all(|byte| byte.is_ascii_digit())
                    && !id.is_empty()
            });
            if is_thread { (token, rest) } else { ("", line) }
        }
    }
}

/// A line of text: moment, place, count, unit, event, `#` what is derived, share of the time that it was counted.
pub fn text(line: &str) -> Option<Event> {
    let (at, rest) = moment(line);
    let (place, rest) = placed(rest);
    let (counts, notes) = rest.split_once('#').unwrap_or((rest, rest));
    let (token, behind) = match counts.strip_prefix('<') {
        Some(behind) => {
            let end = behind.find('>')?;
            (&counts[..end + 2], &behind[end + 1..])
        }
        None => counts.split_once(char::is_whitespace)?,
    };
    let count = count(token)?;
    let mut words = behind.split_whitespace();
    let (mut unit, mut name) = ("", words.next()?);
    if UNITS.contains(&name) {
        (unit, name) = (name, words.next()?);
    }
    // Times and prose begin with a number as well.
    let is_event = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(name, "seconds" | "+-");
    let next = words.next();
    // --for-each-cgroup prints the group behind the event.
    let group = next.filter(|word| [".slice", ".scope", ".service"].iter().any(|end| word.ends_with(end)));
    let is_alone = group.is_some() || next.is_none_or(|word| word.starts_with(['(', '[']));
    if let Some(own) = next.and_then(|word| UNITS.iter().find(|unit| word == format!("({unit})"))) {
        unit = own;
    }
    if !is_event || !is_alone {
        return None;
    }
    // `cycles [cpu_core]`.
    let unit_of = next.and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let unit_of = unit_of.filter(|unit| unit.starts_with(|c: char| c.is_ascii_alphabetic()));
    let name = unit_of.map_or(name.to_owned(), |unit| format!("{unit}/{name}/"));
    Some(Event {
        at,
        place: group.unwrap_or(place).to_owned(),
        name,
        unit: unit.to_owned(),
        count,
        seconds: None,
        metric: rest.contains('#').then(|| derived(notes)).flatten(),
        share: share(notes),
        error: error(notes),
    })
}

/// What stands behind `#`: a number and its name.
fn derived(notes: &str) -> Option<(Printed, String)> {
    let own = notes.split(['(', '[']).next().unwrap_or_default().trim();
    let (token, name) = own.split_once(char::is_whitespace).unwrap_or((own, ""));
    Some((Printed::of(token.trim_end_matches('%'))?, metric_name(token, name)))
}

/// What perf calls a derived number; its percent sign may stand at the number.
fn metric_name(token: &str, name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if token.ends_with('%') { format!("% {name}").trim_end().to_owned() } else { name }
}

/// The name of a derived number that stands in a line without an event: `#  0.33  stalled cycles per insn`, `TopdownL1 #  68.7 %  tma_…`.
pub fn text_metric(line: &str) -> Option<String> {
    let (head, notes) = moment(line).1.split_once('#')?;
    let head = placed(head).1.trim();
    let is_group = head.is_empty()
        || head.starts_with("Topdown")
        || head.ends_with(')') && !head.starts_with(['(', '<']);
    let own = notes.split(['(', '[']).next().unwrap_or_default().trim();
    let (token, name) = own.split_once(char::is_whitespace)?;
    let is_number = token == "nan" || Printed::of(token.trim_end_matches('%')).is_some();
    let name = metric_name(token, name);
    (is_group && is_number && !name.is_empty()).then_some(name)
}

/// The share of the time in parentheses or brackets: `(83.40%)`, `[83.43%]`.
pub fn share(notes: &str) -> Option<f64> {
    notes.split(['(', '[']).skip(1).find_map(|part| {
        let digits = part.split([')', ']']).next()?.trim().strip_suffix('%')?;
        number_between(digits, 0.0, 100.0).map(|percent| percent / 100.0)
    })
}

/// The error of the mean: `( +-  2.58% )`.
pub fn error(notes: &str) -> Option<f64> {
    let digits = notes.rsplit_once("( +-")?.1.split('%').next()?;
    number_between(digits.trim(), 0.0, 1e6).map(|percent| percent / 100.0)
}

/// A share in percent that may have been cut.
fn cut(percent: f64) -> f64 {
    let most = if percent.fract() == 0.0 && percent > 0.0 { percent + CUT_PERCENT } else { percent };
    most.min(100.0) / 100.0
}

/// A line of `perf stat -x,`: moment, place, count, unit, event, error, nanoseconds, percent, and what is derived.
pub fn csv(line: &str) -> Option<Event> {
    // A percent has decimals.
    if line.len() > 1000 || !line.contains('.') {
        return None;
    }
    // Count, unit, event, time and percent.
    SEPARATORS
        .iter()
        .filter(|separator| line.matches(**separator).count() >= 4)
        .find_map(|separator| of_fields(line, *separator))
}

fn of_fields(line: &str, separator: char) -> Option<Event> {
    let all = fields(line, separator);
    let mut cells: Vec<&str> = all.iter().map(|field| field.trim()).collect();
    if cells.first() == Some(&"summary") {
        cells.remove(0);
    }
    // Behind a moment there is a count or a place, and no unit.
    let is_moment = cells.get(1).is_some_and(|cell| !cell.is_empty() && !UNITS.contains(cell));
    let at = cells.first().and_then(|cell| seconds(cell)).filter(|_| is_moment);
    if at.is_some() {
        cells.remove(0);
    }
    let mut own = String::new();
    let is_thread = |cell: &str| is_name(cell) && count(cell).is_none() && cell.contains('-');
    match cells.first().map(|cell| (place(cell), is_thread(cell)))? {
        (Some(has_cpus), _) => {
            own = cells.remove(0).to_owned();
            if has_cpus && cells.get(1).is_some_and(|cell| count(cell).is_some()) {
                cells.remove(0);
            }
        }
        (None, true) => own = cells.remove(0).to_owned(),
        _ => {}
    }
    let (first, unit) = (count(cells.first()?)?, *cells.get(1)?);
    // Terms of an event are parted by commas as well: `cpu/event=0x3c,umask=0x0/`.
    let mut name = (*cells.get(2)?).to_owned();
    let mut rest = 3;
    while name.matches('/').count() == 1 && separator == ',' && rest < cells.len().min(20) {
        name = format!("{name},{}", cells[rest]);
        rest += 1;
    }
    let is_nanoseconds = |cell: &str| !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
    // A control group.
    if cells.get(rest).is_some_and(|cell| !is_nanoseconds(cell) && !cell.ends_with('%') && is_name(cell)) {
        own = format!("{own} {}", cells[rest]).trim_start().to_owned();
        rest += 1;
    }
    let error = cells.get(rest).and_then(|cell| number_between(cell.strip_suffix('%')?, 0.0, 1e6));
    rest += usize::from(error.is_some());
    let time = *cells.get(rest)?;
    let percent = number_between(cells.get(rest + 1)?, 0.0, 100.0)?;
    let is_unit = unit.is_empty() || UNITS.contains(&unit);
    if !(is_name(&name) && !name.contains(char::is_whitespace) && is_unit && is_nanoseconds(time)) {
        return None;
    }
    let metric = cells.get(rest + 2).and_then(|metric| Printed::of(metric));
    Some(Event {
        at,
        place: own,
        name,
        unit: unit.to_owned(),
        count: first,
        seconds: number(time).map(|nanoseconds| nanoseconds / 1e9),
        metric: metric.zip(cells.get(rest + 3)).map(|(metric, name)| (metric, metric_name("", name))),
        share: Some(cut(percent)),
        error: error.map(|percent| percent / 100.0),
    })
}

fn is_name(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
}

/// The name of a derived number in a line of CSV without an event: `,,,,,70.1,%  tma_backend_bound`; of a group of them,
/// `,225849327050,100.00,,,,TopdownL1`.
pub fn csv_metric(line: &str) -> Option<String> {
    let separator = SEPARATORS.into_iter().find(|separator| line.contains(*separator))?;
    let cells = fields(line, separator);
    let empty = cells.iter().filter(|cell| cell.trim().is_empty()).count();
    let name = cells.last()?.trim();
    let is_own = empty >= 3
        && (5..16).contains(&cells.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%');
    (is_own && line.len() < 300).then(|| metric_name("", name))
}

/// A line of `perf stat -j`: an event, or the name of a derived number that stands without one.
pub fn json(line: &str) -> Option<Result<Event, String>> {
    let is_own =
        ["\"counter-value\"", "\"metric-value\"", "\"metricgroup\""].iter().any(|key| line.contains(key));
    if !line.starts_with('{') || !is_own || line.len() > 4000 {
        return None;
    }
    // Before 6.13 a comma may stand behind the last field.
    let whole = line.trim_end_matches(',');
    let document: Value = serde_json::from_str(whole)
        .or_else(|_| serde_json::from_str(&format!("{}}}", whole.trim_end_matches(['}', ' ', ',']))))
        .ok()?;
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let value = |key: &str| {
        let own = document.get(key)?;
        own.as_f64().filter(|value| *value == 0.0 || SANE.contains(value)).or_else(|| number(own.as_str()?))
    };
    let metric_unit = text("metric-unit")
        .filter(|unit| !unit.is_empty() && *unit != "(null)")
        .map(|unit| metric_name("", unit));
    let Some(name) = text("event") else {
        return metric_unit.or(text("metricgroup").map(str::to_owned)).map(Err);
    };
    // A number of the metric has six decimals.
    let metric = value("metric-value").map(|value| Printed { value, off: 0.5e-6 });
    let place: Vec<&str> = PLACES.iter().filter_map(|key| text(key)).collect();
    Some(Ok(Event {
        at: value("interval"),
        place: place.join(" "),
        name: name.to_owned(),
        unit: text("unit").unwrap_or_default().to_owned(),
        count: count(text("counter-value")?)?,
        seconds: value("event-runtime").map(|nanoseconds| nanoseconds / 1e9),
        metric: metric.zip(metric_unit),
        share: value("pcnt-running").filter(|percent| (0.0..=100.0).contains(percent)).map(cut),
        error: value("variance").map(|percent| percent / 100.0),
    }))
}

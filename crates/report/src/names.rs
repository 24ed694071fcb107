//! What modes, series and axes are called: by the record's own words for them, else under their own names.

use figure::format::plain_to;
use figure::series::{AxisInfo, Layout, SeriesInfo, mode_of};
use figure::{Figure, Record, Unit};

/// The longest name that goes into a heading or the head of a column.
const MAX_NAME: usize = 32;
/// The longest title of a mode, and question of a chart.
const MAX_TITLE: usize = 80;

/// What the series of this mode are called, if the record says it.
pub(crate) fn info<'a>(record: &'a Record, key: &str) -> Option<&'a SeriesInfo> {
    record.series.iter().find(|info| info.key == key)
}

/// The mode of a figure.
pub(crate) fn mode_of_figure(figure: &Figure) -> &str {
    mode_of(figure.series.as_ref().unwrap_or(&figure.id))
}

/// A text of the record, unless it is empty.
fn shown(text: &str) -> Option<String> {
    Some(plain_to(text, MAX_TITLE)).filter(|text| !text.is_empty())
}

/// The title of a mode's tables: `bandwidth by array size`.
pub(crate) fn title(info: Option<&SeriesInfo>) -> Option<String> {
    info.and_then(|info| shown(&info.title))
}

/// The question that a mode's charts answer; of several, which: `How does latency rise with load, reads:writes 2:1?`
pub(crate) fn question(info: Option<&SeriesInfo>, key: &str, which: &str) -> String {
    let question = info.and_then(|info| shown(&info.question));
    let question = question.unwrap_or_else(|| format!("What was measured by {}?", plain_to(key, MAX_TITLE)));
    match which {
        "" => question,
        which => format!("{}, {which}?", question.trim_end_matches('?')),
    }
}

/// An axis, or several one after the other, as a table and a chart call it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The head of its column.
    pub head: String,
    /// Its title in a chart.
    pub title: String,
    /// Whether its numbers only name things.
    pub is_naming: bool,
    /// Its names in the record.
    pub names: Vec<String>,
}

impl Axis {
    /// The axes of these names.
    pub fn of(info: Option<&SeriesInfo>, names: &[&str]) -> Axis {
        let joined = |text: fn(&AxisInfo) -> &str| {
            let known = |name: &str| info.and_then(|info| info.axes.iter().find(|axis| axis.name == name));
            let words: Vec<&str> = names.iter().map(|name| known(name).map_or(*name, text)).collect();
            plain_to(&words.join(", "), 2 * MAX_NAME)
        };
        Axis {
            head: joined(|axis| &axis.head),
            title: joined(|axis| &axis.title),
            is_naming: info.is_some_and(|info| info.layout == Layout::Named),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Whether it is this one.
    pub fn is(&self, name: &str) -> bool {
        self.names == [name]
    }
}

/// Where an axis stands among the others of its mode; those that the record does not name come last.
pub(crate) fn rank(info: Option<&SeriesInfo>, axis: &str) -> usize {
    let axes = info.map_or(&[][..], |info| &info.axes);
    axes.iter().position(|known| known.name == axis).unwrap_or(axes.len())
}

/// Whether the series of a mode are aspects of the same things.
pub(crate) fn are_aspects(info: Option<&SeriesInfo>) -> bool {
    info.is_some_and(|info| info.layout == Layout::Aspects)
}

/// A table's label among the others of its mode: `reads:writes 2:1`.
pub(crate) fn grid(info: Option<&SeriesInfo>, label: &str) -> String {
    let names = info.map_or("", |info| &info.names);
    format!("{} {label}", plain_to(names, MAX_NAME)).trim_start().to_owned()
}

/// What the words in these labels mean, each once: `packed: …`.
pub(crate) fn meanings<'a>(info: Option<&SeriesInfo>, labels: impl Iterator<Item = &'a str>) -> Vec<String> {
    let labels: Vec<&str> = labels.flat_map(|label| label.split(' ')).collect();
    let words = info.into_iter().flat_map(|info| &info.words);
    words
        .filter(|(word, meaning)| !meaning.is_empty() && labels.contains(&word.as_str()))
        .map(|(word, meaning)| plain_to(&format!("{word}: {meaning}"), 2 * MAX_TITLE))
        .collect()
}

/// What is measured in a unit.
const QUANTITIES: &[(&str, &str)] = &[
    ("GB/s", "bandwidth"),
    ("ns", "time"),
    ("µs", "time"),
    ("ms", "time"),
    ("s", "time"),
    ("lps", "loops a second"),
    ("req/s", "requests a second"),
    ("1/s", "events a second"),
    ("B", "memory"),
    ("%", "share of time"),
    ("1", "ratio"),
];

/// A unit at an axis of a chart: `bandwidth, GB/s`.
pub(crate) fn quantity(unit: &Unit) -> String {
    let symbol = plain_to(unit.symbol(), MAX_NAME);
    match QUANTITIES.iter().find(|(known, _)| *known == symbol) {
        Some((_, quantity)) if [Unit::ONE, Unit::BYTES].contains(unit) => (*quantity).to_owned(),
        Some((_, quantity)) => format!("{quantity}, {symbol}"),
        None => symbol,
    }
}

/// A series within its mode: `random huge` of `memory.latency.random.huge`; empty if it is the mode's only name, or its rows say what
/// it is.
pub(crate) fn label(info: Option<&SeriesInfo>, series: &str) -> String {
    let label = words(series.get(mode_of(series).len()..).unwrap_or_default());
    let mut words = info.into_iter().flat_map(|info| &info.words);
    let is_in_rows = words.any(|(word, about)| *word == label && about.is_empty());
    if is_in_rows { String::new() } else { label }
}

/// Dotted names as words: `random huge` of `.random.huge`.
pub(crate) fn words(dotted: &str) -> String {
    plain_to(dotted.replace('.', " ").trim(), MAX_NAME)
}

/// The name that a value has in the JSON record: `not_available`.
pub(crate) fn serialised(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use figure::series::{AxisText, SeriesText};

    use super::*;

    const SCALING: SeriesText = SeriesText {
        key: "memory.scaling",
        title: "bandwidth by threads",
        question: "How does bandwidth grow with threads?",
        axes: &[AxisText { name: "threads", head: "threads", title: "number of threads" }],
        words: &[("cores", "a place is a core"), ("anonymous", ""), ("dynamic", "threads take small blocks")],
        ..SeriesText::EMPTY
    };

    #[test]
    fn modes_series_and_axes_have_the_names_of_the_record_or_their_own() {
        let info = SeriesInfo::from(&SCALING);
        assert_eq!(label(None, "memory.latency.random.huge"), "random huge");
        assert_eq!(label(Some(&info), "memory.scaling.anonymous"), "", "its rows say what it is");
        assert_eq!((label(None, "memory.ladder"), label(None, "é.ü.ö")), (String::new(), "ö".to_owned()));
        let axis = Axis::of(None, &["stride"]);
        assert_eq!((axis.head.as_str(), axis.title.as_str()), ("stride", "stride"));
        assert_eq!((rank(Some(&info), "threads"), rank(Some(&info), "stride")), (0, 1));
        assert_eq!(Axis::of(Some(&info), &["threads", "stride"]).title, "number of threads, stride");
        assert_eq!(question(None, "memory.strides", ""), "What was measured by memory.strides?");
        let of_cores = question(Some(&info), "memory.scaling", "cores");
        assert_eq!(of_cores, "How does bandwidth grow with threads, cores?");
        // Only words that occur are explained.
        let all = meanings(Some(&info), ["cores", "cores dynamic", "anonymous"].into_iter());
        assert_eq!(all, ["cores: a place is a core", "dynamic: threads take small blocks"]);
    }
}

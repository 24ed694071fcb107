//! Shapes beyond a single number: points of a curve or matrix, distributions, timelines, sums split up.
//!
//! A curve or a matrix is many figures that share [`Figure::series`](crate::Figure::series) and differ in
//! [`Figure::at`](crate::Figure::at), so that each point has a verdict of its own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Where on the axes of its series a figure stands, by axis name: `{"array": {"value": 65536, "unit": "B"}}`.
pub type At = BTreeMap<String, Coordinate>;

/// A position on one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coordinate {
    /// A number (array bytes, threads), or a name on an axis without order (`"node 1"`).
    pub value: CoordinateValue,
    /// The number's unit; absent for names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// A coordinate's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CoordinateValue {
    /// A point on a numeric axis.
    Number(f64),
    /// A point on an axis of names.
    Name(String),
}

/// What the figures of one mode are called, as the suite that measures them defines it.
#[derive(Clone, Copy, Debug)]
pub struct SeriesText {
    /// The first two words of their series or ids: `memory.ladder`.
    pub key: &'static str,
    /// The title of their tables: `bandwidth by array size`.
    pub title: &'static str,
    /// The question that their charts answer.
    pub question: &'static str,
    /// The axes of the suite, rows before columns.
    pub axes: &'static [AxisText],
    /// Words in the names of series, with what they mean; a series of a word without meaning is called nothing, as its rows
    /// say what they are.
    pub words: &'static [(&'static str, &'static str)],
    /// What the names of series are, where they do not say it: `reads:writes`.
    pub names: &'static str,
    /// How they are laid out.
    pub layout: Layout,
}

impl SeriesText {
    /// Without a name.
    pub const EMPTY: SeriesText = SeriesText {
        key: "",
        title: "",
        question: "",
        axes: &[],
        words: &[],
        names: "",
        layout: Layout::Curves,
    };
}

/// An axis, as a suite defines it.
#[derive(Clone, Copy, Debug)]
pub struct AxisText {
    /// Its name in [`At`].
    pub name: &'static str,
    /// The head of its column.
    pub head: &'static str,
    /// Its title in a chart.
    pub title: &'static str,
}

impl AxisText {
    /// An axis with the same label in tables and charts.
    pub const fn of(name: &'static str, title: &'static str) -> AxisText {
        AxisText { name, head: title, title }
    }
}

/// How the series of a mode are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Series of one unit side by side.
    #[default]
    Curves,
    /// Aspects of the same things, in units of their own, side by side.
    Aspects,
    /// The numbers of the axis are names, so that the worst of many points are shown.
    Named,
}

/// What the figures of one mode are called, for readers of a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesInfo {
    /// The first two words of their series or ids: `memory.ladder`.
    pub key: String,
    /// The title of their tables.
    pub title: String,
    /// The question that their charts answer.
    pub question: String,
    /// Their axes, rows before columns.
    #[serde(default)]
    pub axes: Vec<AxisInfo>,
    /// Words in the names of series, with what they mean.
    #[serde(default)]
    pub words: Vec<(String, String)>,
    /// What the names of series are, where they do not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub names: String,
    /// How they are laid out.
    #[serde(default)]
    pub layout: Layout,
}

/// An axis, for readers of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisInfo {
    /// Its name in [`At`].
    pub name: String,
    /// The head of its column.
    pub head: String,
    /// Its title in a chart.
    pub title: String,
}

impl From<&SeriesText> for SeriesInfo {
    fn from(text: &SeriesText) -> SeriesInfo {
        let axis = |axis: &AxisText| AxisInfo {
            name: axis.name.to_owned(),
            head: axis.head.to_owned(),
            title: axis.title.to_owned(),
        };
        SeriesInfo {
            key: text.key.to_owned(),
            title: text.title.to_owned(),
            question: text.question.to_owned(),
            axes: text.axes.iter().map(axis).collect(),
            names: text.names.to_owned(),
            words: text.words.iter().map(|(word, about)| ((*word).to_owned(), (*about).to_owned())).collect(),
            layout: text.layout,
        }
    }
}

/// The mode of a series or an id: its first two words, `memory.ladder`.
pub fn mode_of(dotted: &str) -> &str {
    let end = dotted.match_indices('.').nth(1).map_or(dotted.len(), |(at, _)| at);
    &dotted[..end]
}

/// A histogram of single observations (latencies, gaps), in the figure's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Number of observations.
    pub count: u64,
    /// Smallest observation.
    pub min: f64,
    /// Largest observation.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Quantiles, ascending in `q`.
    pub quantiles: Vec<Quantile>,
    /// Buckets, ascending, without overlap; empty ones left out.
    pub buckets: Vec<Bucket>,
}

/// A quantile of a [`Distribution`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantile {
    /// 0 to 1: 0.999 is the 99.9th percentile.
    pub q: f64,
    /// The value that a share `q` of the observations does not exceed.
    pub value: f64,
}

/// A bucket of a [`Distribution`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Lowest value that falls in.
    pub low: f64,
    /// Highest value that falls in.
    pub high: f64,
    /// Observations in it.
    pub count: u64,
}

/// The most points that a [`Timeline`] keeps; longer ones are thinned by whoever records them.
pub const MAX_TIMELINE_POINTS: usize = 600;

/// Columns over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Seconds since the figure began, ascending.
    pub seconds: Vec<f64>,
    /// Columns, each as long as `seconds`.
    pub columns: Vec<Column>,
}

/// One column of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// A value for each moment; `None` where nothing was observed.
    pub values: Vec<Option<f64>>,
}

/// One part of a figure that is a sum, in the figure's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// How much of the figure.
    pub value: f64,
    /// The same as a share, 0 to 1.
    pub share: f64,
}

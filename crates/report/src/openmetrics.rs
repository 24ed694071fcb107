//! OpenMetrics text, for the textfile collector of Prometheus' node_exporter: a gauge for each unit, a sample for each figure.
//!
//! The lines are those of OpenMetrics 1.0 that the older text format (0.0.4) has as well or takes for comments (`# UNIT`, `# EOF`),
//! because node_exporter reads that one. So all are gauges: it knows neither `info` nor `stateset`. So no sample has a timestamp: it
//! refuses the whole file for one; when the run began is a gauge of its own. Units are base units (`# UNIT` and the end of the name):
//! 28.8 ns are 2.88e-8 seconds. A unit that is not listed here is a label.
//!
//! A figure that is invalid has no value here, only a verdict: what is drawn and alerted on without a look at verdicts is never a
//! number that is not what its name says. The other values have their verdict as a label.

use std::collections::HashSet;
use std::io::{self, Write};

use figure::format::{exact, plain, plain_to};
use figure::{Figure, Record, Status, Verdict};
use indexmap::IndexMap;

use crate::format::{Format, Options};
use crate::mark::VERDICTS;
use crate::names::serialised;
use crate::reasons;

pub(crate) const FORMAT: Format = Format {
    name: "openmetrics",
    about: "OpenMetrics text for node_exporter's textfile collector: values that are not invalid, all verdicts",
    write,
};

/// A unit: its symbol here, its name there, and by what a value is multiplied and divided for it.
type Base = (&'static str, &'static str, f64, f64);

/// Units with their base units (Prometheus, *Metric and label naming*). UnixBench's kilobyte has 1024 bytes.
const UNITS: &[Base] = &[
    ("s", "seconds", 1.0, 1.0),
    ("ms", "seconds", 1.0, 1e3),
    ("µs", "seconds", 1.0, 1e6),
    ("ns", "seconds", 1.0, 1e9),
    ("ns/pair", "seconds_per_pair", 1.0, 1e9),
    ("cycles/pair", "cycles_per_pair", 1.0, 1.0),
    ("B", "bytes", 1.0, 1.0),
    ("GB/s", "bytes_per_second", 1e9, 1.0),
    ("KBps", "bytes_per_second", 1024.0, 1.0),
    ("lps", "loops_per_second", 1.0, 1.0),
    ("lpm", "loops_per_second", 1.0, 60.0),
    ("MWIPS", "whetstones_per_second", 1e6, 1.0),
    ("req/s", "requests_per_second", 1.0, 1.0),
    ("1/s", "per_second", 1.0, 1.0),
    ("GHz", "hertz", 1e9, 1.0),
    ("%", "ratio", 1.0, 100.0),
    ("CPUs", "cpus", 1.0, 1.0),
    ("threads", "threads", 1.0, 1.0),
];

/// A number of a figure: the name of its metrics without the unit, what it is, and which number it is.
type Aspect = (&'static str, &'static str, fn(&Figure) -> Option<f64>);

const ASPECTS: &[Aspect] = &[
    ("truebench_figure", "Median of the rounds.", |figure| figure.value),
    ("truebench_figure_low", "Lower end of the 95 % interval of the median.", |figure| {
        Some(figure.interval.as_ref()?.low)
    }),
    ("truebench_figure_high", "Upper end of the 95 % interval of the median.", |figure| {
        Some(figure.interval.as_ref()?.high)
    }),
    ("truebench_figure_limit", "What the figure is compared with.", |figure| {
        Some(figure.limit.as_ref()?.value)
    }),
];

/// Figures without a value, by what became of them.
const MISSING: [Status; 3] = [Status::NotAvailable, Status::Failed, Status::Interrupted];
/// The longest name and the longest unit.
const MAX_NAME: usize = 80;
const MAX_UNIT: usize = 20;

/// A metric: its name without the base unit, the unit, and what it is.
type Metric<'a> = (&'a str, Option<&'static str>, &'static str);

/// The lines before the samples of a metric, and its samples: labels, escaped, and values.
type Family = (String, Vec<(String, f64)>);

/// Families by name, in the order in which they are written.
#[derive(Default)]
struct Families(IndexMap<String, Family>);

impl Families {
    /// Adds a sample, if there is a number.
    fn add(&mut self, (name, unit, help): Metric, labels: &[(&str, &str)], value: Option<f64>) {
        let name = unit.map_or_else(|| name.to_owned(), |unit| format!("{name}_{unit}"));
        let (_, samples) = self.0.entry(name).or_insert_with_key(|name| {
            let unit = unit.map_or_else(String::new, |unit| format!("# UNIT {name} {unit}\n"));
            (format!("# HELP {name} {help}\n# TYPE {name} gauge\n{unit}"), Vec::new())
        });
        let label = |(name, text): &(&str, &str)| format!("{name}=\"{}\"", escaped(text));
        let labels: Vec<String> = labels.iter().map(label).collect();
        samples.extend(value.filter(|value| value.is_finite()).map(|value| (labels.join(","), value)));
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, (head, samples)) in self.0.iter().filter(|(_, (_, samples))| !samples.is_empty()) {
            write!(out, "{head}")?;
            for (labels, value) in samples {
                let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                writeln!(out, "{name}{labels} {}", exact(*value))?;
            }
        }
        out.write_all(b"# EOF\n")
    }
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    // Two samples with the same labels would make a reader refuse all.
    let mut ids = HashSet::new();
    let figures: Vec<&Figure> =
        record.figures.iter().filter(|figure| ids.insert(plain(&figure.id))).collect();
    let mut families = Families::default();
    add_run(&mut families, record);
    add_counts(&mut families, &figures);
    add_verdicts(&mut families, &figures);
    for aspect in ASPECTS {
        add_values(&mut families, aspect, &figures);
    }
    families.write(out)
}

/// Foreign text as the value of a label (OpenMetrics 1.0, `escaped-string`); line feeds are gone already.
fn escaped(text: &str) -> String {
    plain(text).replace('\\', r"\\").replace('"', "\\\"")
}

/// What the run was.
fn add_run(families: &mut Families, record: &Record) {
    let (tool, machine) = (&record.tool, &record.machine);
    let known = |value: Option<&String>| value.cloned().unwrap_or_default();
    let labels = [
        ("tool", tool.name.as_str()),
        ("version", &tool.version),
        ("build", &tool.build),
        ("hostname", &known(machine.hostname.value())),
        ("cpu", &known(machine.cpu.model.value())),
        ("kernel", &known(machine.kernel.release.value())),
    ];
    let started = record.started.parse::<jiff::Timestamp>().ok();
    let started = started.map(|started| started.as_millisecond() as f64 / 1e3);
    let is_interrupted = f64::from(u8::from(record.interrupted.is_some()));
    let seconds = Some("seconds");
    families.add(("truebench_run_info", None, "The run: program and machine."), &labels, Some(1.0));
    let start = ("truebench_run_start_time", seconds, "When the run began, since the epoch.");
    families.add(start, &[], started);
    families.add(("truebench_run_duration", seconds, "What the run took."), &[], Some(record.duration));
    let interrupted = ("truebench_run_interrupted", None, "Whether the run ended before its plan did.");
    families.add(interrupted, &[], Some(is_interrupted));
}

/// How many figures are worth what; zeros too, or the first one would alarm no reader.
fn add_counts(families: &mut Families, figures: &[&Figure]) {
    let count = |is_meant: &dyn Fn(&Figure) -> bool| {
        Some(figures.iter().filter(|figure| is_meant(figure)).count() as f64)
    };
    let judged = ("truebench_figures", None, "Figures that have a value, by verdict.");
    for verdict in VERDICTS.into_iter().map(Some).chain([None]) {
        let count = count(&|figure| figure.value.is_some() && figure.verdict == verdict);
        families.add(judged, &[("verdict", &word(verdict))], count);
    }
    let missing = ("truebench_figures_missing", None, "Figures that have no value, by what became of them.");
    for status in MISSING {
        let count = count(&|figure| figure.value.is_none() && figure.status == status);
        families.add(missing, &[("status", &serialised(&status))], count);
    }
}

/// Of every figure its verdict, and the first reason.
fn add_verdicts(families: &mut Families, figures: &[&Figure]) {
    let help = "1 for the verdict of a figure; check: the first reason.";
    for figure in figures.iter().filter(|figure| figure.value.is_some()) {
        let reason = reasons::of(figure).into_iter().next().map_or_else(String::new, |reason| reason.id);
        let labels = [
            ("id", figure.id.as_str()),
            ("suite", &figure.suite),
            ("name", &plain_to(&figure.name, MAX_NAME)),
            ("verdict", &word(figure.verdict)),
            ("check", &reason),
        ];
        families.add(("truebench_figure_verdict", None, help), &labels, Some(1.0));
    }
}

/// The verdict of a figure that has a value.
fn word(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(|| "none".to_owned(), |verdict| verdict.to_string())
}

/// A number of all figures that are not invalid: a family for each unit.
fn add_values(families: &mut Families, (name, help, number): &Aspect, figures: &[&Figure]) {
    let is_meant = |figure: &&&Figure| figure.value.is_some() && figure.verdict != Some(Verdict::Invalid);
    for figure in figures.iter().filter(is_meant) {
        let base = UNITS.iter().find(|(symbol, ..)| *symbol == figure.unit.symbol());
        let value = number(figure).map(|value| base.map_or(value, |(_, _, times, by)| value * times / by));
        let verdict = word(figure.verdict);
        let convention = serialised(&figure.convention);
        let symbol = base.map_or_else(|| plain_to(figure.unit.symbol(), MAX_UNIT), |_| String::new());
        let mut labels = vec![
            ("id", figure.id.as_str()),
            ("suite", &figure.suite),
            ("verdict", &verdict),
            ("convention", &convention),
            ("unit", &symbol),
        ];
        labels.retain(|(name, text)| !text.is_empty() || !["convention", "unit"].contains(name));
        families.add((name, base.map(|base| base.1), help), &labels, value);
    }
}

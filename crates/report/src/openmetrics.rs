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

use figure::format::{plain, plain_to};
use figure::{Figure, Record, Status, Unit, Verdict};

use crate::mark::VERDICTS;
use crate::names::serialised;
use crate::{Format, Options, reasons};
use figure::format::exact;

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

/// A number of a figure: the name of its metrics without the unit, what it is, and where it is found.
type Aspect = (&'static str, &'static str, fn(&Figure) -> Option<f64>);

const ASPECTS: &[Aspect] = &[
    ("truebench_figure", "Median of the rounds.", |figure| figure.value),
    ("truebench_figure_low", "Lower end of the 95 % interval of the median.", |figure| {
        figure.interval.as_ref().map(|interval| interval.low)
    }),
    ("truebench_figure_high", "Upper end of the 95 % interval of the median.", |figure| {
        figure.interval.as_ref().map(|interval| interval.high)
    }),
    ("truebench_figure_limit", "What the figure is held against.", |figure| {
        figure.limit.as_ref().map(|limit| limit.value)
    }),
];

/// Figures without a value, by what became of them.
const MISSING: [Status; 3] = [Status::NotAvailable, Status::Failed, Status::Interrupted];
/// What a figure that has a value and no verdict is.
const NOT_JUDGED: &str = "none";
/// The longest name and the longest unit.
const MAX_NAME: usize = 80;
const MAX_UNIT: usize = 20;

/// The samples of one name.
struct Family {
    name: String,
    unit: Option<&'static str>,
    help: &'static str,
    /// Labels, escaped, and values.
    samples: Vec<(String, f64)>,
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    // Two samples with the same labels would make a reader refuse all.
    let mut ids = HashSet::new();
    let figures: Vec<&Figure> =
        record.figures.iter().filter(|figure| ids.insert(plain(&figure.id))).collect();
    let mut families = of_run(record);
    families.extend(counts(&figures));
    families.push(verdicts(&figures));
    families.extend(ASPECTS.iter().flat_map(|aspect| values(aspect, &figures)));
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        family.write(out)?;
    }
    out.write_all(b"# EOF\n")
}

impl Family {
    fn of(name: impl Into<String>, unit: Option<&'static str>, help: &'static str) -> Family {
        Family { name: name.into(), unit, help, samples: Vec::new() }
    }

    /// A family of one sample.
    fn single(name: &str, unit: Option<&'static str>, help: &'static str, value: Option<f64>) -> Family {
        let mut family = Family::of(name, unit, help);
        family.add(&[], value);
        family
    }

    /// Adds a sample, if there is a number.
    fn add(&mut self, labels: &[(&str, &str)], value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let labels: Vec<String> =
                labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
            self.samples.push((labels.join(","), value));
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = &self.name;
        writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", self.help)?;
        if let Some(unit) = self.unit {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        for (labels, value) in &self.samples {
            match labels.as_str() {
                "" => writeln!(out, "{name} {}", exact(*value))?,
                labels => writeln!(out, "{name}{{{labels}}} {}", exact(*value))?,
            }
        }
        Ok(())
    }
}

/// Foreign text as the value of a label (OpenMetrics 1.0, `escaped-string`); line feeds are gone already.
fn escaped(text: &str) -> String {
    plain(text).replace('\\', r"\\").replace('"', "\\\"")
}

/// What the run was.
fn of_run(record: &Record) -> Vec<Family> {
    let (tool, machine) = (&record.tool, &record.machine);
    let known = |value: Option<&String>| value.cloned().unwrap_or_default();
    let mut info = Family::of("truebench_run_info", None, "The run: program and machine.");
    info.add(
        &[
            ("tool", &tool.name),
            ("version", &tool.version),
            ("build", &tool.build),
            ("hostname", &known(machine.hostname.value())),
            ("cpu", &known(machine.cpu.model.value())),
            ("kernel", &known(machine.kernel.release.value())),
        ],
        Some(1.0),
    );
    let started = record.started.parse::<jiff::Timestamp>().ok();
    let started = started.map(|started| started.as_millisecond() as f64 / 1e3);
    let is_interrupted = f64::from(u8::from(record.interrupted.is_some()));
    let seconds = Some("seconds");
    vec![
        info,
        Family::single(
            "truebench_run_start_time_seconds",
            seconds,
            "When the run began, since the epoch.",
            started,
        ),
        Family::single(
            "truebench_run_duration_seconds",
            seconds,
            "What the run took.",
            Some(record.duration),
        ),
        Family::single(
            "truebench_run_interrupted",
            None,
            "Whether the run ended before its plan did.",
            Some(is_interrupted),
        ),
    ]
}

/// How many figures are worth what; zeros too, or nobody could be alarmed by the first one.
fn counts(figures: &[&Figure]) -> [Family; 2] {
    let mut judged = Family::of("truebench_figures", None, "Figures that have a value, by verdict.");
    let with_value = || figures.iter().filter(|figure| figure.value.is_some());
    for verdict in VERDICTS.into_iter().map(Some).chain([None]) {
        let count = with_value().filter(|figure| figure.verdict == verdict).count();
        judged.add(&[("verdict", &word(verdict))], Some(count as f64));
    }
    let mut missing =
        Family::of("truebench_figures_missing", None, "Figures that have no value, by what became of them.");
    for status in MISSING {
        let count = figures.iter().filter(|figure| figure.value.is_none() && figure.status == status).count();
        missing.add(&[("status", &serialised(&status))], Some(count as f64));
    }
    [judged, missing]
}

/// Of every figure its verdict, and the first reason.
fn verdicts(figures: &[&Figure]) -> Family {
    let mut family = Family::of(
        "truebench_figure_verdict",
        None,
        "1 for the verdict of a figure; check: the first reason.",
    );
    for figure in figures.iter().filter(|figure| figure.value.is_some()) {
        let reason = reasons::of(figure).into_iter().next().map_or_else(String::new, |reason| reason.id);
        let labels = [
            ("id", figure.id.as_str()),
            ("suite", &figure.suite),
            ("name", &plain_to(&figure.name, MAX_NAME)),
            ("verdict", &word(figure.verdict)),
            ("check", &reason),
        ];
        family.add(&labels, Some(1.0));
    }
    family
}

fn word(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(|| NOT_JUDGED.to_owned(), |verdict| verdict.to_string())
}

/// A number of all figures that are not invalid: a family for each unit.
fn values((name, help, number): &Aspect, figures: &[&Figure]) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    let is_meant = |figure: &&&Figure| figure.value.is_some() && figure.verdict != Some(Verdict::Invalid);
    for figure in figures.iter().filter(is_meant) {
        let base = base(&figure.unit);
        let value = number(figure).map(|value| base.map_or(value, |(_, _, times, by)| value * times / by));
        let unit = base.map(|(_, unit, ..)| *unit);
        let at = families.iter().position(|family| family.unit == unit).unwrap_or_else(|| {
            let name = unit.map_or_else(|| (*name).to_owned(), |unit| format!("{name}_{unit}"));
            families.push(Family::of(name, unit, help));
            families.len() - 1
        });
        let verdict = word(figure.verdict);
        let convention = figure.convention.as_ref().map(serialised);
        let symbol = plain_to(figure.unit.symbol(), MAX_UNIT);
        let labels = [("id", figure.id.as_str()), ("suite", &figure.suite), ("verdict", &verdict)];
        let more =
            [("convention", convention.as_deref()), ("unit", base.is_none().then_some(symbol.as_str()))];
        let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
        families[at].add(&labels.into_iter().chain(more).collect::<Vec<_>>(), value);
    }
    families
}

fn base(unit: &Unit) -> Option<&'static Base> {
    UNITS.iter().find(|(symbol, ..)| *symbol == unit.symbol())
}

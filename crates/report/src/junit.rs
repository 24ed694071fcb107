//! JUnit XML, for CI servers that show tests: a suite is a testsuite, a figure a testcase.
//!
//! The layout is the one that Ant's junit task wrote and that Jenkins, GitLab and others read; it keeps to the strictest schema in use,
//! the junit-10.xsd of Jenkins' xUnit plugin, by which a testcase has no properties: its numbers are in what it printed. A test is green only where the figure is valid. One that is invalid or suspect is a failure of that
//! type, with its reasons; one that is unverified, or has no value, is skipped, with its reason; one that was tried and did not
//! work is an error.

use std::io::{self, Write};

use figure::format::{decimals, number, plain, plain_to};
use figure::{Figure, Record, Status, Verdict};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesStart, BytesText, Event};

use crate::digits::{exact, rounds, with_unit};
use crate::names::serialised;
use crate::{Format, Options, outline, reasons, summary, svg};

pub(crate) const FORMAT: Format =
    Format { name: "junit", about: "JUnit XML: a figure is a test, green only if it is valid", write };

/// The longest name of a suite, and the longest unit.
const MAX_SUITE: usize = 40;
const MAX_UNIT: usize = 20;

/// What became of a test.
enum Outcome {
    Passed,
    /// The element that says so, its type where it has one, a line, and the whole.
    Other {
        element: &'static str,
        kind: Option<String>,
        message: String,
        text: String,
    },
}

/// A figure as a test.
struct Test<'a> {
    figure: &'a Figure,
    outcome: Outcome,
    /// Seconds that were measured.
    seconds: f64,
}

/// How many there are, and how long they took.
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let tests: Vec<Test> = record.figures.iter().map(Test::of).collect();
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = Counts::of(tests.iter()).on(element("testsuites", &[("name", &record.tool.name)]), false);
    inside(&mut xml, root, |xml| {
        for name in summary::suites(record) {
            suite(record, name, &tests, xml)?;
        }
        Ok(())
    })?;
    out.write_all(b"\n")
}

/// An element with its contents.
fn inside<W: Write>(
    xml: &mut Writer<W>,
    start: BytesStart,
    contents: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    let end = start.to_end().into_owned();
    xml.write_event(Event::Start(start))?;
    contents(xml)?;
    xml.write_event(Event::End(end))
}

/// A start tag; values are made plain.
fn element<'a>(name: &'a str, attributes: &[(&str, &str)]) -> BytesStart<'a> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        start.push_attribute((*name, safe(value).as_str()));
    }
    start
}

/// Foreign text, without what XML does not allow; markup is escaped by the writer.
fn safe(text: &str) -> String {
    plain(text).chars().filter(|c| svg::is_xml(*c)).collect()
}

fn suite<W: Write>(record: &Record, name: &str, tests: &[Test], xml: &mut Writer<W>) -> io::Result<()> {
    let own = || tests.iter().filter(|test| test.figure.suite == name);
    let shown = plain_to(name, MAX_SUITE);
    let mut start = Counts::of(own()).on(element("testsuite", &[("name", &shown)]), true);
    if let Ok(started) = record.started.parse::<jiff::Timestamp>() {
        // The schema knows no zone: UTC.
        start.push_attribute(("timestamp", started.strftime("%Y-%m-%dT%H:%M:%S").to_string().as_str()));
    }
    if let Some(host) = record.machine.hostname.value() {
        start.push_attribute(("hostname", safe(host).as_str()));
    }
    let tool = &record.tool;
    inside(xml, start, |xml| {
        let about = [
            ("tool", format!("{} {} ({})", tool.name, tool.version, tool.build)),
            ("machine", summary::machine(&record.machine)),
            ("interrupted", record.interrupted.clone().unwrap_or_default()),
        ];
        properties(xml, &about)?;
        own().try_for_each(|test| test.write(&shown, xml))
    })
}

/// What has a value; nothing at all if none has.
fn properties<W: Write>(xml: &mut Writer<W>, all: &[(&str, String)]) -> io::Result<()> {
    let known: Vec<_> = all.iter().filter(|(_, value)| !value.is_empty()).collect();
    if known.is_empty() {
        return Ok(());
    }
    inside(xml, BytesStart::new("properties"), |xml| {
        known.iter().try_for_each(|(name, value)| {
            xml.write_event(Event::Empty(element("property", &[("name", name), ("value", value)])))
        })
    })
}

impl<'a> Test<'a> {
    fn of(figure: &'a Figure) -> Test<'a> {
        let seconds = figure.seconds();
        let is_time = seconds.is_finite() && seconds >= 0.0;
        Test { figure, outcome: Outcome::of(figure), seconds: if is_time { seconds } else { 0.0 } }
    }

    fn write<W: Write>(&self, suite: &str, xml: &mut Writer<W>) -> io::Result<()> {
        let figure = self.figure;
        let mut start = element("testcase", &[("classname", suite), ("name", &figure.id)]);
        start.push_attribute(("time", seconds(self.seconds).as_str()));
        inside(xml, start, |xml| {
            if let Outcome::Other { element: name, kind, message, text } = &self.outcome {
                let mut start = element(name, &[("message", message)]);
                if let Some(kind) = kind {
                    start.push_attribute(("type", kind.as_str()));
                }
                inside(xml, start, |xml| write_text(xml, text))?;
            }
            inside(xml, BytesStart::new("system-out"), |xml| write_text(xml, &told(figure)))
        })
    }
}

/// Text of ours with foreign parts that are plain already, in lines.
fn write_text<W: Write>(xml: &mut Writer<W>, text: &str) -> io::Result<()> {
    let text: String = text.chars().filter(|c| svg::is_xml(*c)).collect();
    xml.write_event(Event::Text(BytesText::new(&text)))
}

impl Outcome {
    fn of(figure: &Figure) -> Outcome {
        let skipped = |message: String| Outcome::Other {
            element: "skipped",
            kind: None,
            text: message.clone(),
            message,
        };
        if figure.value.is_none() {
            let reason = plain(figure.reason.as_deref().unwrap_or("no reason was recorded"));
            let message = format!("{}: {reason}", outline::state(figure.status));
            return match figure.status {
                Status::Failed => Outcome::Other {
                    element: "error",
                    kind: Some("failed".to_owned()),
                    text: message.clone(),
                    message,
                },
                Status::Measured => skipped("it has no value".to_owned()),
                Status::NotAvailable | Status::Interrupted => skipped(message),
            };
        }
        let reasons = reasons::of(figure);
        let lines = reasons.iter().map(|reason| {
            let fix = reason.fix.as_ref().map_or_else(String::new, |fix| format!(" Do: {fix}"));
            format!("{}: {}.{fix}", reason.id, reason.detail)
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let first = reasons.first().map(|reason| format!("{}: {}", reason.id, reason.detail));
        match figure.verdict {
            Some(Verdict::Valid) => Outcome::Passed,
            Some(verdict @ (Verdict::Invalid | Verdict::Suspect)) => Outcome::Other {
                element: "failure",
                kind: Some(verdict.to_string()),
                message: first.unwrap_or_else(|| verdict.to_string()),
                text,
            },
            Some(Verdict::Unverified) => {
                skipped(format!("unverified: {}", first.as_deref().unwrap_or("no reason was recorded")))
            }
            None => skipped("not judged".to_owned()),
        }
    }
}

impl Counts {
    fn of<'a>(tests: impl Iterator<Item = &'a Test<'a>>) -> Counts {
        let mut counts = Counts { tests: 0, failures: 0, errors: 0, skipped: 0, seconds: 0.0 };
        for test in tests {
            counts.tests += 1;
            counts.seconds += test.seconds;
            match test.outcome {
                Outcome::Passed => {}
                Outcome::Other { element: "failure", .. } => counts.failures += 1,
                Outcome::Other { element: "error", .. } => counts.errors += 1,
                Outcome::Other { .. } => counts.skipped += 1,
            }
        }
        counts
    }

    /// As attributes; by the schema only a suite says how many are skipped.
    fn on(self, mut start: BytesStart, with_skipped: bool) -> BytesStart {
        let counts = [("tests", self.tests), ("failures", self.failures), ("errors", self.errors)];
        let skipped = with_skipped.then_some(("skipped", self.skipped));
        for (name, count) in counts.into_iter().chain(skipped) {
            start.push_attribute((name, count.to_string().as_str()));
        }
        start.push_attribute(("time", seconds(self.seconds).as_str()));
        start
    }
}

/// Seconds as decimals: readers know no exponents.
fn seconds(seconds: f64) -> String {
    decimals(seconds, 3)
}

/// The figure's numbers, exact.
fn facts(figure: &Figure) -> Vec<(&'static str, String)> {
    let text = |value: Option<f64>| value.map_or_else(String::new, exact);
    let interval = figure.interval.as_ref();
    vec![
        ("verdict", figure.verdict.map_or_else(String::new, |verdict| verdict.to_string())),
        ("value", text(figure.value)),
        ("unit", plain_to(figure.unit.symbol(), MAX_UNIT)),
        ("convention", figure.convention.as_ref().map_or_else(String::new, serialised)),
        ("better", serialised(&figure.better)),
        ("interval_low", text(interval.map(|interval| interval.low))),
        ("interval_high", text(interval.map(|interval| interval.high))),
        ("limit", text(figure.limit.as_ref().map(|limit| limit.value))),
        ("rounds", rounds(figure).unwrap_or(0).to_string()),
    ]
}

/// The figure in words, for those who read what a test printed, and its numbers line by line, for programs.
fn told(figure: &Figure) -> String {
    let mut text = plain_to(&figure.name, 80);
    if let Some(value) = figure.value {
        text.push_str(&format!(": {}", with_unit(value, &figure.unit)));
    }
    if let Some(interval) = &figure.interval {
        text.push_str(&format!(", 95 % interval {} to {}", number(interval.low), number(interval.high)));
    }
    if let Some(limit) = &figure.limit {
        text.push_str(&format!(
            ", limit {} ({})",
            with_unit(limit.value, &figure.unit),
            plain_to(&limit.basis, 100)
        ));
    }
    if let Some(why) = figure.why() {
        text.push_str(&format!("\n{}", plain(&why)));
    }
    for (name, value) in facts(figure).into_iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("\n{name}: {value}"));
    }
    text
}

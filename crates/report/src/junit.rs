//! JUnit XML, for CI servers that show tests: a suite is a testsuite, a figure a testcase.
//!
//! A test is green only where the figure is valid. One that is invalid or suspect is a failure of that type, with its
//! reasons; one that is unverified, or has no value, is skipped, with its reason; one that was tried and did not work is an
//! error. The strictest schema in use (junit-10.xsd of Jenkins' xUnit plugin) has no properties of a testcase: its numbers
//! are in what it printed.

use std::io::{self, Write};
use std::time::Duration;

use figure::format::{exact, number, plain, plain_to};
use figure::{Figure, Record, Status, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::digits::{rounds, with_unit};
use crate::format::{Format, Options};
use crate::names::serialised;
use crate::{reasons, summary};

pub(crate) const FORMAT: Format =
    Format { name: "junit", about: "JUnit XML: a figure is a test, green only if it is valid", write };

/// The longest name of a suite, and the longest unit.
const MAX_SUITE: usize = 40;
const MAX_UNIT: usize = 20;

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new(plain(&record.tool.name));
    report.set_time(measured(record.figures.iter()));
    report.add_test_suites(summary::suites(record).into_iter().map(|name| suite(record, name)));
    // Written at once, so that an error of the writer keeps its kind.
    out.write_all(report.to_string().map_err(io::Error::other)?.as_bytes())
}

fn suite(record: &Record, name: &str) -> TestSuite {
    let figures = || record.figures.iter().filter(|figure| figure.suite == name);
    let shown = plain_to(name, MAX_SUITE);
    let mut suite = TestSuite::new(shown.as_str());
    suite.set_time(measured(figures()));
    if let Ok(started) = record.started.parse::<jiff::Timestamp>() {
        // The schema knows no zone: UTC.
        suite.extra.insert("timestamp".into(), started.strftime("%Y-%m-%dT%H:%M:%S").to_string().into());
    }
    if let Some(host) = record.machine.hostname.value() {
        suite.extra.insert("hostname".into(), plain(host).into());
    }
    let tool = &record.tool;
    let about = [
        ("tool", format!("{} {} ({})", tool.name, tool.version, tool.build)),
        ("machine", record.machine.summary()),
        ("interrupted", record.interrupted.clone().unwrap_or_default()),
    ];
    let known = about.into_iter().filter(|(_, value)| !value.is_empty());
    suite.add_properties(known.map(|(name, value)| (name.to_owned(), plain(&value))));
    suite.add_test_cases(figures().map(|figure| test(figure, &shown)));
    suite
}

fn test(figure: &Figure, suite: &str) -> TestCase {
    let mut test = TestCase::new(plain(&figure.id), status(figure));
    test.set_classname(suite).set_time(measured([figure].into_iter())).set_system_out(output(figure));
    test
}

/// How long figures were measured.
fn measured<'a>(figures: impl Iterator<Item = &'a Figure>) -> Duration {
    Duration::try_from_secs_f64(figures.map(Figure::seconds).sum()).unwrap_or_default()
}

fn status(figure: &Figure) -> TestCaseStatus {
    let with = |mut status: TestCaseStatus, message: &str, text: &str| {
        status.set_message(message).set_description(text);
        status
    };
    let skipped = |message: &str| with(TestCaseStatus::skipped(), message, message);
    let failed = |kind: NonSuccessKind, name: &str, message: &str, text: &str| {
        let mut status = with(TestCaseStatus::non_success(kind), message, text);
        status.set_type(name);
        status
    };
    if figure.value.is_none() {
        let reason = plain(figure.reason.as_deref().unwrap_or("no reason was recorded"));
        let message = format!("{}: {reason}", figure.status);
        return match figure.status {
            Status::Failed => failed(NonSuccessKind::Error, "failed", &message, &message),
            Status::Measured => skipped("it has no value"),
            Status::NotAvailable | Status::Interrupted => skipped(&message),
        };
    }
    let reasons = reasons::of(figure);
    let first = reasons.first().map(|reason| format!("{}: {}", reason.id, reason.detail));
    match figure.verdict {
        Some(Verdict::Valid) => TestCaseStatus::success(),
        Some(verdict @ (Verdict::Invalid | Verdict::Suspect)) => {
            let lines = reasons.iter().map(|reason| {
                let fix = reason.fix.as_ref().map_or_else(String::new, |fix| format!(" Do: {fix}"));
                format!("{}: {}.{fix}", reason.id, reason.detail)
            });
            let (name, text) = (verdict.to_string(), lines.collect::<Vec<_>>().join("\n"));
            failed(NonSuccessKind::Failure, &name, first.as_ref().unwrap_or(&name), &text)
        }
        Some(Verdict::Unverified) => {
            skipped(&format!("unverified: {}", first.as_deref().unwrap_or("no reason was recorded")))
        }
        None => skipped("not judged"),
    }
}

/// What a test printed: the figure in words, then its numbers, exact, line by line, for programs.
fn output(figure: &Figure) -> String {
    let mut text = plain_to(&figure.name, 80);
    let (unit, interval, limit) = (&figure.unit, figure.interval.as_ref(), figure.limit.as_ref());
    if let Some(value) = figure.value {
        text.push_str(&format!(": {}", with_unit(value, unit)));
    }
    if let Some(interval) = interval {
        text.push_str(&format!(", 95 % interval {} to {}", number(interval.low), number(interval.high)));
    }
    if let Some(limit) = limit {
        let basis = plain_to(&limit.basis, 100);
        text.push_str(&format!(", limit {} ({basis})", with_unit(limit.value, unit)));
    }
    if let Some(why) = figure.why() {
        text.push_str(&format!("\n{}", plain(&why)));
    }
    let exact = |value: Option<f64>| value.map_or_else(String::new, exact);
    for (name, value) in [
        ("verdict", serialised(&figure.verdict)),
        ("value", exact(figure.value)),
        ("unit", plain_to(unit.symbol(), MAX_UNIT)),
        ("convention", serialised(&figure.convention)),
        ("better", serialised(&figure.better)),
        ("interval_low", exact(interval.map(|interval| interval.low))),
        ("interval_high", exact(interval.map(|interval| interval.high))),
        ("limit", exact(limit.map(|limit| limit.value))),
        ("rounds", rounds(figure).unwrap_or(0).to_string()),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("\n{name}: {value}"));
        }
    }
    text
}

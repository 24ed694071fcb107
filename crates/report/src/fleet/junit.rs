//! JUnit XML: a node is a test. A slow node is a failure, one without a measurement an error; one that was disturbed, or is not
//! comparable, is skipped.

use std::io::{self, Write};

use figure::format::{number, percent, plain};
use fleet::{Answer, Check, Node};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::format::Options;

pub(super) fn write(check: &Check, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("truebench fleet");
    for group in &check.groups {
        let name = format!("group {}", plain(&group.letter));
        let mut suite = TestSuite::new(name.as_str());
        let nodes = check.nodes.iter().filter(|node| node.group == group.letter);
        suite.add_test_cases(nodes.map(|node| test(node, &name)));
        report.add_test_suite(suite);
    }
    let missing = check.missing.iter().map(|one| error("no record", &one.node, &one.why));
    let unused = check.read.unused.iter().map(|one| error("files", &one.file, &one.why));
    for (name, tests) in [("no record", missing.collect::<Vec<_>>()), ("files", unused.collect())] {
        if !tests.is_empty() {
            let mut suite = TestSuite::new(name);
            suite.add_test_cases(tests);
            report.add_test_suite(suite);
        }
    }
    out.write_all(report.to_string().map_err(io::Error::other)?.as_bytes())
}

fn error(kind: &str, name: &str, why: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind).set_message(plain(why));
    let mut test = TestCase::new(plain(name), status);
    test.set_classname(kind);
    test
}

fn test(node: &Node, group: &str) -> TestCase {
    let why = plain(&node.why);
    let not_passed = |mut status: TestCaseStatus| {
        status.set_message(why.as_str());
        status
    };
    let of_kind = |kind| {
        let mut status = not_passed(TestCaseStatus::non_success(kind));
        status.set_type(node.answer.to_string()).set_description(low(node));
        status
    };
    let status = match node.answer {
        Answer::Healthy => TestCaseStatus::success(),
        Answer::Slow => of_kind(NonSuccessKind::Failure),
        Answer::NotMeasured => of_kind(NonSuccessKind::Error),
        Answer::Disturbed | Answer::NotComparable => not_passed(TestCaseStatus::skipped()),
    };
    let mut test = TestCase::new(plain(&node.name), status);
    test.set_classname(group);
    test
}

/// The figures that accuse a node, one a line.
fn low(node: &Node) -> String {
    let line = |low: &fleet::Low| {
        let (value, expected) = (number(low.value), number(low.expected));
        format!(
            "{}: {} worse: {value} {}, others {expected}",
            plain(&low.figure),
            percent(low.deficit),
            plain(&low.unit)
        )
    };
    node.low.iter().map(line).collect::<Vec<_>>().join("\n")
}

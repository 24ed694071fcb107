//! Every format groups what was computed under its first cause, and all counts agree.

use figure::check::Cause;
use figure::{CheckResult, Outcome, Record};
use report::Options;

use crate::sample;

/// A figure that lost time, two that were computed from it, and one that is valid.
fn record() -> Record {
    let steal =
        sample::check("steal", Outcome::Fail, "30 % of the CPU time was stolen", Some("another host"));
    let cause = Some(Cause { check: "steal".into(), figure: "memory.triad.nt".into() });
    let passed_on = CheckResult { id: "inputs".into(), cause, ..steal.clone() };
    let figure = |id: &str, checks: &[CheckResult]| {
        let mut figure = sample::kernel("triad", "nt", 20.0, 8);
        figure.id = id.into();
        sample::judged(figure, checks.to_vec())
    };
    let figures = vec![
        figure("memory.ratio", std::slice::from_ref(&passed_on)),
        figure("memory.triad.nt", &[steal]),
        figure("memory.share", &[passed_on]),
        figure("memory.copy.nt", &[]),
    ];
    Record { figures, ..sample::empty() }
}

fn write(format: &str, record: &Record) -> String {
    crate::write(format, record, &Options::new(200)).unwrap()
}

#[test]
fn counts_agree_and_no_format_calls_sources_a_cause() {
    let record = record();
    let text = write("text", &record);
    assert!(text.contains("3 invalid (2 computed from others)"), "{text}");
    assert!(text.contains("3 invalid: steal (triad.nt, and 2 computed from it)"), "{text}");
    for format in ["text", "markdown", "csv", "junit", "openmetrics"] {
        let text = write(format, &record);
        assert!(text.contains("steal") && !text.contains("inputs"), "{format}: {text}");
    }
    let page = write("html", &record);
    assert!(page.contains("<strong>3 invalid: steal</strong>") && !page.contains("invalid: inputs"));
    assert!(page.contains("and 2 computed from it"), "one item for all three");
}

/// Where only what was computed is wrong, it is named itself.
#[test]
fn what_follows_alone_is_named() {
    let mut record = record();
    record.figures.remove(1);
    let text = write("text", &record);
    assert!(text.contains("2 invalid: steal (ratio, share)"), "{text}");
    assert!(text.contains("2 invalid (2 computed from others)"), "{text}");
}

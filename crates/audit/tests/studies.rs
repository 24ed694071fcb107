//! The studies' conclusions, from their figures alone (studies/).

mod judged;

use audit::Known;
use figure::{Record, Verdict};
use judged::judged;

fn reasons(record: &Record, id: &str) -> Vec<String> {
    judge::reasons(record.figure(id).unwrap_or_else(|| panic!("no {id}")))
        .map(|check| check.id.clone())
        .collect()
}

const DEFAULT: &str = include_str!("../../../studies/1-stream-default.txt");
const BOUND: &str = include_str!("../../../studies/1-stream-bound.txt");
const MLC: &str = include_str!("../../../studies/1-mlc.txt");

/// The two sockets' caches, and their cores.
fn server() -> Known {
    Known { llc: Some((66.0 * 1024.0 * 1024.0, "2 x 33 MB".into())), cores: Some(48.0), ..Known::default() }
}

#[test]
fn arrays_of_the_default_size_are_no_memory_and_do_not_repeat() {
    let of = |known: &Known| reasons(&judged(&[("default", DEFAULT)], known), "audit.stream.triad");
    assert_eq!(of(&server())[0], "array-size");
    // Without the caches the ten runs speak for themselves.
    let blind = of(&Known::default());
    assert_eq!(blind[..2], ["rounds-agree", "repeats"], "{blind:?}");
    assert!(blind.contains(&"array-size".to_owned()), "told as missing: {blind:?}");
}

#[test]
fn bound_threads_repeat_and_agree_with_the_second_instrument() {
    let record = judged(&[("bound", BOUND), ("mlc", MLC)], &server());
    let triad = record.figures.iter().find(|figure| figure.id.ends_with(".triad")).unwrap();
    assert_eq!(triad.verdict, Some(Verdict::Unverified), "{:#?}", triad.checks);
    assert!(
        triad.why.as_deref().is_some_and(|why| why.contains("32 B") && why.contains("204 GB/s")),
        "{:?}",
        triad.why
    );
    let finding = record.findings.iter().find(|finding| finding.text.contains("both are right"));
    assert!(
        finding.is_some_and(|finding| finding.text.contains("204 GB/s of traffic")),
        "{:#?}",
        record.findings
    );
    // Instruments that do not agree under any count are not made to.
    let other = MLC.replace("199753.85", "99753.85");
    let record = judged(&[("bound", BOUND), ("mlc", &other)], &server());
    assert!(
        record.findings.iter().any(|finding| finding.text.contains("neither agrees")),
        "{:#?}",
        record.findings
    );
}

#[test]
fn forty_nine_threads_on_forty_eight_cores_are_no_case_of_stream() {
    let record = judged(&[("49", &BOUND.replace("counted = 48", "counted = 49"))], &server());
    assert_eq!(reasons(&record, "audit.stream.triad")[0], "threads-even");
}

#[test]
fn the_abnormal_test_is_named_and_no_normal_one() {
    let (xeon, atom) =
        (include_str!("../../../studies/2-xeon.txt"), include_str!("../../../studies/2-atom.txt"));
    let record = judged(&[("xeon", xeon), ("atom", atom)], &Known::default());
    let finding =
        record.findings.iter().find(|finding| finding.text.contains("abnormal")).expect("one is abnormal");
    for part in ["Pipe-based Context Switching", "1.26 x", "2.13 x", "2.30 us", "2.37 us"] {
        assert!(finding.text.contains(part), "{part}: {}", finding.text);
    }
    for figure in record.figures.iter().filter(|figure| figure.value.is_some()) {
        let is_context = figure.id.contains("context1");
        assert_eq!(figure.verdict == Some(Verdict::Unverified), !is_context, "{}", figure.id);
    }
    // Where the switches are as unequal as the CPUs, nothing is abnormal.
    let alike = judged(&[("xeon", xeon), ("the same", xeon)], &Known::default());
    assert!(!alike.findings.iter().any(|finding| finding.text.contains("abnormal")), "{:#?}", alike.findings);
}

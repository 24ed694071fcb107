//! The studies' conclusions, from their figures alone (studies/).

use crate::judged::{explained, finding, holds, judged};
use audit::Known;
use figure::evidence::audit::SUBJECT;
use figure::{Record, Verdict};

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
    assert!(blind.contains(&"array-size".to_owned()), "reported as missing: {blind:?}");
}

#[test]
fn bound_threads_repeat_and_agree_with_the_second_instrument() {
    let record = judged(&[("bound", BOUND), ("mlc", MLC)], &server());
    let triad = record.figures.iter().find(|figure| figure.id.ends_with(".triad")).unwrap();
    assert_eq!(triad.verdict, Some(Verdict::Unverified), "{:#?}", triad.checks);
    let stores = explained(triad, "audited/unknown-stores");
    holds(stores, "moved", 32.0);
    holds(stores, "traffic", 204.0);
    let both = finding(&record, "instruments").expect("two instruments");
    assert_eq!(both.case, "stream-counts-less");
    holds(both, "traffic", 204.0);
    // Instruments that do not agree under any count are not made to.
    let other = MLC.replace("199753.85", "99753.85");
    let record = judged(&[("bound", BOUND), ("mlc", &other)], &server());
    assert_eq!(finding(&record, "instruments").expect("two instruments").case, "stream-disagrees");
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
    let abnormal = finding(&record, "switching").expect("one is abnormal");
    assert_eq!(abnormal.case, "switching-abnormal");
    for (name, value) in [("rates", 1.26), ("passes", 2.13), ("first", 2.3e-6), ("second", 2.37e-6)] {
        holds(abnormal, name, value);
    }
    for figure in record.figures.iter().filter(|figure| figure.value.is_some()) {
        let is_context = figure.id.contains("context1");
        assert_eq!(figure.verdict == Some(Verdict::Valid), !is_context, "{}", figure.id);
    }
    // Where the switches are as unequal as the CPUs, nothing is abnormal.
    let alike = judged(&[("xeon", xeon), ("the same", xeon)], &Known::default());
    assert_eq!(finding(&alike, "switching"), None);
}

/// The profiles of fasthttp at 200, 8000 and 16000 connections.
const PROFILES: [(&str, &str); 3] = [
    ("200", include_str!("../../../studies/3-fasthttp-200.txt")),
    ("8000", include_str!("../../../studies/3-fasthttp-8000.txt")),
    ("16000", include_str!("../../../studies/3-fasthttp-16000.txt")),
];

/// The value of the figure of the profile in this file; `None` where the text does not show it.
fn share(record: &Record, file: &str, what: &str) -> Option<f64> {
    let is = |figure: &&figure::Figure| {
        figure.id.ends_with(&format!(".{what}")) && figure.conditions.get(SUBJECT).as_deref() == Some(file)
    };
    record.figures.iter().find(is).unwrap_or_else(|| panic!("{what} of {file}")).value
}

#[test]
fn with_more_connections_the_scheduler_takes_what_the_handler_had() {
    let record = judged(&PROFILES, &Known::default());
    let of = |what: &str| ["200", "8000", "16000"].map(|file| share(&record, file, what));
    assert_eq!(of("scheduler"), [None, Some(40.13), Some(55.74)]);
    assert_eq!(of("syscall"), [Some(56.04), Some(52.18), Some(40.70)]);
    assert_eq!(of("netpoll"), [None, None, Some(46.35)]);
    let grows = finding(&record, "scheduling").expect("it grows");
    holds(grows, "most", 0.5574);
    holds(grows, "least", 0.4013);
    for (name, profile) in [("one", "16000"), ("other", "8000")] {
        assert_eq!(grows.values[name], profile);
    }
    assert_eq!(grows.values["not_shown"][0], "200");
    // One that does not grow is no finding; nor is one profile.
    let alike = judged(&[("a", PROFILES[2].1), ("b", PROFILES[2].1)], &Known::default());
    assert_eq!(finding(&alike, "scheduling"), None);
    assert_eq!(finding(&judged(&PROFILES[1..2], &Known::default()), "scheduling"), None);
    let on_a_clock =
        PROFILES[2].1.replace("Showing", "Duration: 30s, Total samples = 275.17s (917.23%)\nShowing");
    let record = judged(&[("16000", &on_a_clock)], &Known::default());
    assert_eq!(reasons(&record, "audit.pprof.scheduler")[0], "sample-count");
}

#[test]
fn the_server_takes_minor_faults_alone_and_with_both_settings_none() {
    let (before, after) =
        (include_str!("../../../studies/4-ps-before.txt"), include_str!("../../../studies/4-ps-after.txt"));
    let faults = |text: &str| {
        let record = judged(&[("ps", text)], &Known::default());
        let of = |id: &str| record.figure(id).unwrap_or_else(|| panic!("no {id}")).clone();
        (of("audit.ps.minor"), of("audit.ps.major"))
    };
    let (minor, major) = faults(before);
    assert_eq!((minor.value, major.value), (Some(10_000.0), Some(0.0)));
    explained(&major, "audited/no-disk-read");
    // A rate is no diagnosis: what a fault costs is to be measured.
    assert!(explained(&minor, "audited/minor-faults").fix.is_some());
    assert_eq!(minor.verdict, Some(Verdict::Valid));
    let (minor, major) = faults(after);
    assert_eq!((minor.value, major.value), (Some(0.0), Some(0.0)));
    // One reading is a life's sum, and no rate.
    let once = before.split("$ sleep").next().unwrap();
    assert_eq!(
        reasons(&judged(&[("ps", once)], &Known::default()), "audit.ps.minor.life")[0],
        "interval-unknown"
    );
}

#[test]
fn without_a_read_before_each_store_both_instruments_agree_as_they_are() {
    let nt = include_str!("../../../studies/1-stream-nt.txt");
    let record = judged(&[("nt", nt), ("mlc", MLC)], &server());
    let agree = finding(&record, "instruments").expect("two instruments");
    assert_eq!(agree.case, "stream-agrees");
    holds(agree, "triad", 197.0);
    // With streaming stores switched off it is as gcc makes it.
    let off = include_str!("../../../studies/1-stream-nt-off.txt");
    let record = judged(&[("off", off), ("mlc", MLC)], &server());
    assert_eq!(finding(&record, "instruments").expect("two instruments").case, "stream-counts-less");
}

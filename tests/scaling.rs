//! Bandwidth by threads: one thread more than CPUs is uneven, which is found out and shown.

use figure::check::{Outcome, Verdict};
use figure::{Figure, Record, Status, evidence};

use crate::bench::{reasons, record, run, stderr, stdout};

/// Two allowed CPUs on cores of their own; `None` where there are none.
fn two_cpus() -> Option<String> {
    let host = run(&["host", "--format", "json"]);
    let machine: figure::Machine = serde_json::from_slice(&host.stdout).unwrap();
    let allowed: Vec<u32> = lab::affinity::get().expect("an affinity mask").iter().collect();
    let core = |cpu: u32| machine.cpu(cpu).map(|logical| logical.core);
    let second = allowed.iter().find(|cpu| core(**cpu) != core(allowed[0]))?;
    Some(format!("{},{second}", allowed[0]))
}

fn figure<'a>(record: &'a Record, id: &str) -> &'a Figure {
    let figure = record.figure(id).unwrap_or_else(|| panic!("no {id}"));
    assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
    figure
}

fn outcome(figure: &Figure, check: &str) -> Option<Outcome> {
    figure.checks.iter().find(|result| result.id == check).map(|result| result.outcome)
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn three_threads_on_two_cpus_are_uneven() {
    let Some(cpus) = two_cpus() else {
        println!("one core is allowed here: not tested");
        return;
    };
    // Arrays that fit in cache, which is judged too and does not hide the cause.
    let small = ["memory", "scaling", "--array-size", "16MiB", "--rounds", "6", "--format", "json"];
    let output = run(&[&small[..], &["--places", &cpus]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record = record(&output);

    let fixed = figure(&record, "memory.scaling.cores.3");
    let elements = |figure: &Figure| figure.evidence.get(evidence::THREAD_ELEMENTS).into_value().unwrap();
    let shares = elements(fixed);
    let (least, most) = figure::stats::range(&shares).unwrap();
    assert!(shares.len() == 3 && most - least <= 64.0, "equal shares: {shares:?}");
    assert_eq!(shares.iter().sum::<f64>(), 16.0 * 131_072.0);
    assert_eq!(fixed.verdict, Some(Verdict::Invalid));
    let answer = fixed.checks.iter().find(|check| check.id == "uneven-cores").unwrap();
    assert!(answer.detail.starts_with("3 threads on 2 "), "{}", answer.detail);
    // A stranger on the CPU of the thread that is alone makes things even again.
    if outcome(fixed, "foreign-load") == Some(Outcome::Pass) {
        assert_eq!(answer.outcome, Outcome::Fail, "{}", answer.detail);
        assert_eq!(reasons(&record, &fixed.id)[0], "uneven-cores");
        let cause = &fixed.explanations[0];
        assert_eq!((cause.rule.as_str(), &cause.values["check"]), ("cause", &"uneven-cores".into()));
    }

    let dynamic = figure(&record, "memory.scaling.cores.dynamic.3");
    assert_eq!(elements(dynamic).len(), 3);
    let taken: f64 = elements(dynamic).iter().sum();
    assert!((taken / (16.0 * 131_072.0) - 1.0).abs() < 0.5, "medians of what each took: {taken}");
    assert_eq!(outcome(dynamic, "threads-within-mask"), Some(Outcome::Pass), "{:?}", dynamic.checks);
    assert_eq!(outcome(dynamic, "threads-on-distinct-cores"), None);

    for threads in [1, 2] {
        let even = figure(&record, &format!("memory.scaling.cores.{threads}"));
        assert_eq!(outcome(even, "uneven-cores"), Some(Outcome::Pass));
        assert_eq!(even.conditions.get(evidence::CPUS).unwrap().len(), threads);
    }
    for figure in record.figures.iter().filter(|figure| figure.series.is_some() && figure.value.is_some()) {
        assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{}", figure.id);
        assert_eq!(figure.evidence.get(evidence::PLACE_READBACK).into_value(), Some(true), "{}", figure.id);
        for round in figure.used_rounds() {
            let waits = round.evidence.get(evidence::THREAD_WAIT).into_value().unwrap();
            let busy = round.evidence.get(evidence::THREAD_BUSY).into_value().unwrap();
            let whole = waits.iter().zip(&busy).all(|(wait, busy)| (0.0..=1.0).contains(&(wait + busy)));
            assert!(whole, "{}: {waits:?} {busy:?}", figure.id);
            assert!(waits.contains(&0.0), "the last one does not wait");
        }
    }
    let knee = record.figure("memory.scaling.cores.knee").unwrap();
    assert!(matches!(knee.value, Some(1.0 | 2.0)) && knee.unit.symbol() == "threads", "{knee:?}");
    assert!(!knee.derived_from.contains(&fixed.id));
}

#[test]
fn bad_input_is_one_line() {
    for (arguments, part) in [
        (&["--schedule", "guided"][..], "static, dynamic"),
        (&["--places", "9999"], "CPU 9999"),
        (&["--threads", "0"], "--threads 0"),
        (&["--array-size", "9999G"], "at most"),
        (&["--kernel", "update", "--stores", "nt"], "no such figure"),
    ] {
        let output = run(&[&["memory", "scaling"], arguments].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(stdout(&output).is_empty() && message.contains(part), "{arguments:?}: {message}");
    }
}

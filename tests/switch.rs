//! `system switch`: two tasks that wake one another, where they were put.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use figure::{Figure, Reading, Record, Status, evidence};
use lab::copies::{Copies, CopiesSpec};
use lab::failure::Failure;
use workload::ping_pong::{FREE, PING_PONGS};

use crate::bench::{record, run};

/// A run of few short rounds.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| {
        record(&run(&["system", "switch", "--rounds", "2", "--duration", "100ms", "--format", "json"]))
    })
}

/// The CPUs on which the two tasks ran, and how often, over all kept rounds.
fn cpu_pairs(figure: &Figure) -> Vec<[f64; 3]> {
    let rounds = figure.over_rounds(evidence::HOP_PAIRS).into_value().unwrap();
    rounds.iter().flat_map(|round| round.chunks_exact(3)).map(|pair| [pair[0], pair[1], pair[2]]).collect()
}

#[test]
fn the_two_tasks_hop_where_they_were_put() {
    let record = short();
    let classes = lab::pairs::CLASSES.map(lab::pairs::Class::word);
    if record.machine.topology.unknown.is_none() {
        for class in classes {
            assert!(record.figure(&format!("system.switch.{class}")).is_some(), "no figure for {class}");
        }
    }
    for way in ["", ".threads", ".eventfd", ".futex", ".socket"] {
        for place in ["free", "same-cpu"] {
            let id = format!("system.switch.{place}{way}");
            let figure = record.figure(&id).unwrap_or_else(|| panic!("no {id}"));
            assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
        }
    }
    for figure in &record.figures {
        let id = &figure.id;
        if figure.status == Status::NotAvailable {
            assert!(classes.iter().any(|class| *id == format!("system.switch.{class}")), "{id}");
            let reason = figure.reason.as_deref().unwrap();
            assert!(reason.contains("there are no two") || reason.contains("it takes two CPUs"), "{reason}");
            continue;
        }
        assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
        assert!(figure.value.unwrap() > 0.0 && figure.used_rounds().count() == 2, "{id}");
        let hops = figure.sum(evidence::HOPS).into_value().unwrap();
        assert!(hops >= 2.0, "{id}: every round made a round trip");
        match figure.conditions.get(evidence::CPUS) {
            // Every look of every round found both tasks exactly where they belong.
            Some(cpus) => {
                for [x, y, count] in cpu_pairs(figure) {
                    assert!([x, y] == cpus[..] && count > 0.0, "{id}: {count} times on {x} and {y}");
                }
                assert_eq!(figure.sum(evidence::PLACE_STRAYED), Reading::Value(0.0), "{id}");
            }
            None => assert!(id.contains(".free") && figure.name.contains("placement-dependent"), "{id}"),
        }
    }
}

#[test]
fn what_both_tasks_say_of_themselves_agrees() {
    let record = short();
    let same = record.figure("system.switch.same-cpu").unwrap();
    for round in same.used_rounds() {
        let fact = |key| round.evidence.get(key).into_value().unwrap_or_else(|| panic!("{}", key.name));
        let (hops, seconds) = (fact(evidence::HOPS), fact(evidence::HOP_SECONDS));
        // One value: the rate is what was counted, by the time that it took.
        let rate = round.value().unwrap();
        assert!((rate * seconds * 2.0 / hops - 1.0).abs() < 1e-9);
        // On one CPU a task runs only after a switch from the other: about one switch a hop, whatever else runs.
        let both = |key| fact_of(round, key).iter().sum::<f64>();
        let switches = both(evidence::HOP_VOLUNTARY) + both(evidence::HOP_INVOLUNTARY);
        assert!(switches > 0.5 * hops, "{switches} switches, {hops} hops");
        // Two tasks on one CPU cannot use more than that.
        let ran = both(evidence::HOP_CPU);
        assert!(ran > 0.0 && ran < 1.2 * seconds, "{ran} s of {seconds} s");
    }
    let latency = record.figure("system.switch.wake.same-cpu.busy50").unwrap();
    let all = latency.distribution.as_ref().expect("a distribution of all rounds");
    assert_eq!(
        all.count as f64 * 2.0,
        latency.sum(evidence::HOPS).into_value().unwrap(),
        "one for each trip"
    );
    assert!(all.min <= latency.value.unwrap() && latency.value.unwrap() <= all.max);
    assert!(latency.checks.iter().all(|check| check.id != "run-queue-delay"), "waiting is what is measured");
}

fn fact_of(round: &figure::Round, key: evidence::Key<Vec<f64>>) -> Vec<f64> {
    round.evidence.get(key).into_value().unwrap_or_else(|| panic!("{}", key.name))
}

#[test]
fn the_free_figure_is_never_plainly_valid() {
    let record = short();
    for figure in record.figures.iter().filter(|figure| figure.id.contains(".free")) {
        let check = figure.checks.iter().find(|check| check.id == "placement-dependent");
        let check = check.unwrap_or_else(|| panic!("{}: not checked", figure.id));
        assert!(matches!(check.outcome, figure::Outcome::Warn | figure::Outcome::Fail), "{}", check.detail);
        assert_ne!(figure.verdict, Some(figure::Verdict::Valid), "{}", figure.id);
    }
    for figure in record.figures.iter().filter(|figure| !figure.id.contains(".free")) {
        assert!(figure.checks.iter().all(|check| check.id != "placement-dependent"), "{}", figure.id);
    }
}

/// Two tasks that last, after two hops at rest, and end with their owner.
fn lasting(hop: &'static str, words: [&str; 3]) -> Result<Copies, Failure> {
    let [ping, echo, busy] = words;
    let ask = CopiesSpec {
        name: hop,
        copies: 1,
        threads: 1,
        duration: Duration::from_millis(20),
        arguments: [ping, echo, busy, "2"].map(Into::into).to_vec(),
        directory: "/".into(),
        cpus: lab::affinity::get().expect("our own mask"),
        environment: Vec::new(),
    };
    Copies::start(Path::new(env!("CARGO_BIN_EXE_truebench-workload")), &ask)
}

#[test]
fn a_pair_that_lasts_begins_every_pass_anew() {
    use workload::ping_pong::fields;
    let first = lab::affinity::get().unwrap().first().unwrap().to_string();
    let passes = |hop: &workload::ping_pong::PingPong| {
        let mut pair = lasting(hop.name, [&first, &first, "0"]).unwrap();
        for pass in 1..=3 {
            let copies = pair.pass().unwrap_or_else(|error| panic!("{}, pass {pass}: {error}", hop.name));
            let copy = &copies[0];
            assert!(
                copy.count > 0 && copy.seconds > 0.019,
                "{}: {} in {}",
                hop.name,
                copy.count,
                copy.seconds
            );
            // What was written is of this pass alone: one latency and one look for each round trip.
            assert_eq!(copy.notes[fields::WAKES], copy.count, "{}, pass {pass}", hop.name);
            let buckets = &copy.notes[fields::WAKE_BUCKETS..fields::WAKE_BUCKETS + fields::BUCKETS];
            assert_eq!(buckets.iter().sum::<u64>(), copy.count, "{}, pass {pass}", hop.name);
            assert!(copy.notes[fields::SAMPLES].abs_diff(copy.count / 64) <= 1, "{}, pass {pass}", hop.name);
            assert_eq!(
                copy.notes[fields::TOGETHER],
                copy.notes[fields::SAMPLES],
                "both are pinned to CPU {first}"
            );
            let ran: u64 = copy.notes[fields::RAN..fields::RAN + 2].iter().sum();
            assert!(ran > 0 && (ran as f64) < 1.2e9 * copy.seconds, "{}: {ran} ns", hop.name);
        }
    };
    // They rest side by side.
    std::thread::scope(|scope| PING_PONGS.iter().for_each(|hop| drop(scope.spawn(|| passes(hop)))));
}

#[test]
fn a_pair_that_lasts_says_what_it_could_not_do() {
    let free = FREE.to_str().unwrap();
    for hop in PING_PONGS {
        for words in [["1024", free, free], [free, "1024", free]] {
            let error = lasting(hop.name, words).unwrap_err().to_string();
            assert!(error.contains("setting the CPU affinity"), "{}: {error}", hop.name);
        }
    }
}

/// A pass with its two tasks asked to be on these CPUs.
fn pass(hop: &'static str, words: [&str; 4]) -> Result<u64, Failure> {
    let ask = CopiesSpec {
        name: hop,
        copies: 1,
        threads: 1,
        duration: Duration::from_millis(20),
        arguments: words.map(Into::into).to_vec(),
        directory: "/".into(),
        cpus: lab::affinity::get().expect("our own mask"),
        environment: Vec::new(),
    };
    let copies = Copies::start(Path::new(env!("CARGO_BIN_EXE_truebench-workload")), &ask)?.run()?;
    Ok(copies[0].count)
}

#[test]
fn a_task_that_cannot_be_put_where_it_belongs_is_a_failure_and_no_figure() {
    let free = FREE.to_str().unwrap();
    // More CPUs than a mask of the C library holds: there is none.
    let nowhere = "1024";
    for hop in PING_PONGS {
        assert!(pass(hop.name, [free; 4]).unwrap() > 0, "{}", hop.name);
        for words in [[nowhere, free, free, free], [free, nowhere, free, free]] {
            let error = pass(hop.name, words).unwrap_err().to_string();
            assert!(error.contains("setting the CPU affinity"), "{}: {error}", hop.name);
        }
        let error = pass(hop.name, ["x", free, free, free]).unwrap_err().to_string();
        assert!(error.contains("the arguments"), "{}: {error}", hop.name);
    }
}

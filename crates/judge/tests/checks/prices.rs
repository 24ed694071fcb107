//! Prices of faults: what is priced must be what was taken, and CPU time knows nothing of who else had the CPU.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;

use crate::build::{Case, at, is_blind, quiet_vm};

/// A first write to a thousand pages in each round, by the CPU time of one thread.
pub fn price(word: &str) -> Case {
    quiet_vm()
        .without(ARRAY_BYTES)
        .without(KERNEL)
        .with(THREADS, 1.0)
        .with(CPUS, vec![0.0])
        .with(PRICE, word.to_owned())
        .with(PRICE_CLOCK, "cpu".into())
        .with(MINOR_DUE, 1.0)
        .with(MAJOR_DUE, 0.0)
        .with(PRICE_UNITS, 1000.0)
        .with(PRICE_MINOR, 1000.0)
        .with(PRICE_MAJOR, 0.0)
}

#[test]
fn as_many_faults_as_are_priced() {
    let taken = |minor| price("minor.write").with(PRICE_MINOR, minor);
    at("faults-counted", taken, [1000.0, 1009.0, 991.0], [Pass; 3]);
    // Without any, the pages were there already.
    at("faults-counted", taken, [1011.0, 980.0, 1060.0, 0.0], [Warn, Warn, Fail, Fail]);
    assert_eq!(price("minor.write").judged().0, Verdict::Valid);
    let (verdict, reasons) = taken(0.0).judged();
    assert_eq!((verdict, &*reasons[0]), (Verdict::Invalid, "faults-counted"));
    assert_eq!(quiet_vm().answer("faults-counted"), None, "an array is no price");
    // Without huge pages the faults are small.
    let huge = |minor| price("huge").with(PRICE_UNITS, 4.0).with(PRICE_MINOR, minor);
    at("faults-counted", huge, [4.0, 2048.0], [Pass, Fail]);
}

#[test]
fn only_what_is_due_is_asked() {
    let cached = price("file.around").without(MINOR_DUE);
    assert_eq!(cached.clone().with(PRICE_MINOR, 33.0).says("faults-counted"), Pass, "neighbours came along");
    assert_eq!(cached.clone().with(PRICE_MAJOR, 60.0).says("faults-counted"), Fail);
    assert_eq!(cached.without(MAJOR_DUE).answer("faults-counted"), None);
}

#[test]
fn what_was_not_counted_is_unknown() {
    for key in [PRICE_UNITS, PRICE_MINOR, PRICE_MAJOR] {
        is_blind(&price("minor.write").without(key), "faults-counted");
    }
}

#[test]
fn cpu_time_stands_still_while_others_have_the_cpu() {
    let shared = price("minor.write").of_time(CPU_FOREIGN, 0.9).of_time(RUN_DELAY_WORST, 0.5);
    let shared = shared.of_time(RUN_DELAY, 0.5).with(INVOLUNTARY_SWITCHES, 900.0);
    for id in ["foreign-load", "run-queue-delay", "involuntary-switches"] {
        assert_eq!(shared.answer(id), None, "{id}");
        let by_wall = shared.clone().with(PRICE_CLOCK, "wall".into());
        assert!(by_wall.answer(id).is_some_and(|answer| answer.outcome != Pass), "{id}");
        // Where the others must run, they must have their CPUs.
        assert!(shared.clone().with(CPUS, vec![0.0, 1.0]).answer(id).is_some(), "{id}");
    }
}

#[test]
fn who_waits_for_a_disk_leaves_the_cpu_to_others() {
    let waits = price("major").with(PRICE_CLOCK, "disk".into()).of_time(CPU_FOREIGN, 0.5);
    assert_eq!(waits.answer("foreign-load"), None);
    assert_eq!(waits.clone().with(INVOLUNTARY_SWITCHES, 900.0).answer("involuntary-switches"), None);
    assert_eq!(waits.of_time(RUN_DELAY_WORST, 0.5).says("run-queue-delay"), Fail);
}

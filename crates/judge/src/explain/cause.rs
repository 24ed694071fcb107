//! What made a figure invalid or suspect, and what that does to the number.

use figure::{Better, CheckResult, Verdict};

use super::support::*;

/// What lost time makes of a rate.
const TOO_LOW: &str = "too low";
/// What caches make of one.
const TOO_HIGH: &str = "too high";

/// What a condition that did not hold does to a bandwidth or rate, and the checks of which: each check with a consequence of its own,
/// once. [`TOO_LOW`] and [`TOO_HIGH`] change places for a latency or cost.
const EFFECTS: &[(&str, &str)] = &[
    ("the work may not have been done", "verified"),
    ("this is no latency between two cores", "line-transfer"),
    ("the value exceeds a physical limit", "above-limit"),
    ("it is computed from figures that are not valid", "inputs"),
    ("it measures a debug build", "debug-build"),
    ("it measures the emulator", "emulated"),
    ("too low, as the threads took turns", "threads-within-mask quota throttled"),
    ("too low, as two threads shared a core", "threads-on-distinct-cores"),
    ("too high for memory, as caches served a part", "array-size doubling first-touch"),
    ("it includes the kernel's work on pages", "swap faults"),
    ("the pages are not those requested", "page-size"),
    ("threads or memory were not where they should be", "placement-held numa-placement numa-balancing"),
    ("the clock that timed it is wrong", "clock-jump clock-granularity"),
    (
        "too low, as CPU time was lost",
        "steal server-host interrupts off-cpu foreign-load sibling-load run-queue-delay \
         involuntary-switches memory-errors",
    ),
    ("the clock frequency changed", "thermal frequency"),
    ("it is the speed of no kind of core, as several took part", "mixed-cores"),
    ("it is the speed of the slowest thread", "uneven-cores unequal-cores stragglers"),
    ("it is the latency at that bandwidth, not at the highest", "saturation"),
    (
        "the counters do not show what this kernel moved",
        "traffic-channels traffic-multiplexed traffic-background",
    ),
    ("it depends on where the scheduler places the tasks", "placement-dependent"),
    ("it counts hops without a context switch", "switches-per-hop"),
    ("the CPUs lose more, as gaps were missed", "heartbeat"),
    ("the rounds have two modes, the median is neither", "bimodal"),
    ("one of the two instruments is wrong", "second-instrument"),
    ("another run may give another value", "drift rounds-agree aa-pair copy-scale write-allocate"),
];

/// The first reason, with its consequence, of an invalid or suspect figure.
pub(super) fn case(subject: &Subject) -> Option<General> {
    let (verdict, first) = first(subject.figure)?;
    let check = first.root().to_owned();
    Some(match consequence(&first.id, subject.figure.better) {
        Some(consequence) => General::NotValid { verdict, check, consequence },
        None => General::NotValidSoFar { verdict, check },
    })
}

pub(super) fn is(subject: &Subject, id: &str) -> bool {
    first(subject.figure).is_some_and(|(_, check)| check.id == id)
}

fn first(figure: &Figure) -> Option<(Verdict, &CheckResult)> {
    let verdict = figure.verdict.filter(|verdict| matches!(verdict, Verdict::Invalid | Verdict::Suspect))?;
    crate::reasons(figure).next().map(|check| (verdict, check))
}

fn consequence(id: &str, better: Better) -> Option<String> {
    let (consequence, _) =
        EFFECTS.iter().find(|(_, checks)| checks.split_whitespace().any(|check| check == id))?;
    Some(match better {
        Better::Lower if consequence.contains(TOO_LOW) => consequence.replace(TOO_LOW, TOO_HIGH),
        Better::Lower => consequence.replace(TOO_HIGH, TOO_LOW),
        Better::Higher | Better::Neither => (*consequence).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_time_lowers_a_rate_and_raises_a_latency() {
        let of = |id, better| consequence(id, better).unwrap();
        assert!(of("steal", Better::Higher).starts_with("too low"));
        assert!(of("steal", Better::Lower).starts_with("too high"));
        assert!(of("array-size", Better::Higher).contains("too high for memory"));
        assert!(of("array-size", Better::Lower).contains("too low for memory"));
    }

    #[test]
    fn the_table_names_checks_that_exist_each_once() {
        let mut ids: Vec<_> = EFFECTS.iter().flat_map(|(_, checks)| checks.split_whitespace()).collect();
        for id in &ids {
            assert!(crate::all().any(|check| check.id == *id), "no check {id}");
        }
        let named = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), named);
    }
}

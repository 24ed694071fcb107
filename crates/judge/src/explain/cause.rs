//! What made a figure invalid or suspect, and what that does to the number.

use figure::{Better, CheckResult, Figure, Verdict};

use crate::cases::General;
use crate::check::Subject;

/// What a condition that did not hold does to a bandwidth or rate.
struct Effect {
    /// The consequence. [`TOO_LOW`] and [`TOO_HIGH`] change places for a latency or cost.
    consequence: &'static str,
    /// Ids of the checks that have it.
    checks: &'static [&'static str],
}

/// What lost time makes of a rate.
const TOO_LOW: &str = "too low";
/// What caches make of one.
const TOO_HIGH: &str = "too high";

/// Each check with a consequence of its own, once.
const EFFECTS: &[Effect] = &[
    Effect { consequence: "the work may not have been done", checks: &["verified"] },
    Effect { consequence: "this is no latency between two cores", checks: &["line-transfer"] },
    Effect { consequence: "the value exceeds a physical limit", checks: &["above-limit"] },
    Effect { consequence: "it is computed from figures that are not valid", checks: &["inputs"] },
    Effect { consequence: "it measures a debug build", checks: &["debug-build"] },
    Effect { consequence: "it measures the emulator", checks: &["emulated"] },
    Effect {
        consequence: "too low, as the threads took turns",
        checks: &["threads-within-mask", "quota", "throttled"],
    },
    Effect { consequence: "too low, as two threads shared a core", checks: &["threads-on-distinct-cores"] },
    Effect {
        consequence: "too high for memory, as caches served a part",
        checks: &["array-size", "doubling", "first-touch"],
    },
    Effect { consequence: "it includes the kernel's work on pages", checks: &["swap", "faults"] },
    Effect { consequence: "the pages are not those requested", checks: &["page-size"] },
    Effect {
        consequence: "threads or memory were not where they should be",
        checks: &["placement-held", "numa-placement", "numa-balancing"],
    },
    Effect { consequence: "the clock that timed it is wrong", checks: &["clock-jump", "clock-granularity"] },
    Effect {
        consequence: "too low, as CPU time was lost",
        checks: &[
            "steal",
            "server-host",
            "interrupts",
            "off-cpu",
            "foreign-load",
            "sibling-load",
            "run-queue-delay",
            "involuntary-switches",
            "memory-errors",
        ],
    },
    Effect { consequence: "the clock frequency changed", checks: &["thermal", "frequency"] },
    Effect {
        consequence: "it is the speed of the slowest thread",
        checks: &["uneven-cores", "mixed-cores", "unequal-cores", "stragglers"],
    },
    Effect {
        consequence: "it is the latency at that bandwidth, not at the highest",
        checks: &["saturation"],
    },
    Effect {
        consequence: "the counters do not show what this kernel moved",
        checks: &["traffic-channels", "traffic-multiplexed", "traffic-background"],
    },
    Effect {
        consequence: "it depends on where the scheduler places the tasks",
        checks: &["placement-dependent"],
    },
    Effect { consequence: "it counts hops without a context switch", checks: &["switches-per-hop"] },
    Effect { consequence: "the CPUs lose more, as gaps were missed", checks: &["heartbeat"] },
    Effect { consequence: "the rounds have two modes, the median is neither", checks: &["bimodal"] },
    Effect { consequence: "one of the two instruments is wrong", checks: &["second-instrument"] },
    Effect {
        consequence: "another run may give another value",
        checks: &["drift", "rounds-agree", "aa-pair", "copy-scale", "write-allocate"],
    },
];

/// The first reason, with its consequence, of an invalid or suspect figure.
pub(super) fn says(subject: &Subject) -> Option<General> {
    let (verdict, first) = first(subject.figure)?;
    let (check, detail) = (first.root().to_owned(), first.detail.clone());
    Some(match consequence(&first.id, subject.figure.better) {
        Some(consequence) => General::NotValid { verdict, check, consequence, detail },
        None => General::NotValidSoFar { verdict, check, detail },
    })
}

/// Whether that reason is this check.
pub(super) fn is(subject: &Subject, id: &str) -> bool {
    first(subject.figure).is_some_and(|(_, check)| check.id == id)
}

fn first(figure: &Figure) -> Option<(Verdict, &CheckResult)> {
    let verdict = figure.verdict.filter(|verdict| matches!(verdict, Verdict::Invalid | Verdict::Suspect))?;
    crate::reasons(figure).next().map(|check| (verdict, check))
}

fn consequence(id: &str, better: Better) -> Option<String> {
    let consequence = EFFECTS.iter().find(|effect| effect.checks.contains(&id))?.consequence;
    Some(match better {
        Better::Lower if consequence.contains(TOO_LOW) => consequence.replace(TOO_LOW, TOO_HIGH),
        Better::Lower => consequence.replace(TOO_HIGH, TOO_LOW),
        Better::Higher | Better::Neither => consequence.to_owned(),
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
        let mut ids: Vec<_> = EFFECTS.iter().flat_map(|effect| effect.checks).collect();
        for id in &ids {
            assert!(crate::all().any(|check| check.id == **id), "no check {id}");
        }
        let named = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), named);
    }
}

//! What made a figure invalid or suspect, and what that does to the number.

use figure::{Better, CheckResult, Figure, Verdict};

use crate::check::Subject;

/// What a condition that did not hold does to a bandwidth or rate.
struct Effect {
    /// The consequence, to follow "so that". [`TOO_LOW`] and [`TOO_HIGH`] change places for a latency or cost.
    consequence: &'static str,
    /// Ids of the checks that have it.
    checks: &'static [&'static str],
}

/// What lost time makes of a rate.
const TOO_LOW: &str = "too low";
/// What caches make of one.
const TOO_HIGH: &str = "too high";

/// The class table. A check that is not in it is told without a consequence.
const EFFECTS: &[Effect] = &[
    Effect {
        consequence: "the number means nothing: the work may not have been done",
        checks: &["verified"],
    },
    Effect { consequence: "the figure is no latency between two cores", checks: &["line-transfer"] },
    Effect { consequence: "the number cannot be right", checks: &["above-limit"] },
    Effect { consequence: "the figure is no better", checks: &["inputs"] },
    Effect { consequence: "the figure is of this build and not of the machine", checks: &["debug-build"] },
    Effect { consequence: "rates and times are the emulator's", checks: &["emulated"] },
    Effect {
        consequence: "the figure is too low for so many threads: they took turns",
        checks: &["threads-within-mask", "quota", "throttled"],
    },
    Effect {
        consequence: "the figure is too low for the cores in use: two threads share the buffers of one, and all wait",
        checks: &["threads-on-distinct-cores"],
    },
    Effect {
        consequence: "the figure is too high for memory",
        checks: &["array-size", "doubling", "first-touch"],
    },
    Effect {
        consequence: "the figure holds the kernel's work on pages besides that of memory",
        checks: &["swap", "faults"],
    },
    Effect {
        consequence: "the figure holds other page walks than its name says, and another run may get other pages",
        checks: &["page-size"],
    },
    Effect {
        consequence: "the figure belongs to no one placement of threads and memory",
        checks: &["placement-held", "numa-placement", "numa-balancing"],
    },
    Effect {
        consequence: "no figure that rests on these times can be trusted",
        checks: &["clock-jump", "clock-granularity"],
    },
    Effect {
        consequence: "the figure is too low: it tells of the lost time as much as of the machine",
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
    Effect { consequence: "the figure belongs to no one clock", checks: &["thermal", "frequency"] },
    Effect {
        consequence: "the figure is the speed of the slowest thread, for which all waited",
        checks: &["uneven-cores", "mixed-cores", "unequal-cores", "stragglers"],
    },
    Effect {
        consequence: "it is the latency at that bandwidth and not at the most that memory moves",
        checks: &["saturation"],
    },
    Effect {
        consequence: "the counters do not tell what this kernel moved",
        checks: &["traffic-channels", "traffic-multiplexed", "traffic-background"],
    },
    Effect {
        consequence: "the figure tells where the scheduler puts two tasks as much as what a switch costs",
        checks: &["placement-dependent"],
    },
    Effect {
        consequence: "the figure counts hops that no task was switched to for",
        checks: &["switches-per-hop"],
    },
    Effect {
        consequence: "the CPUs lose more than it tells: gaps went by unnoticed",
        checks: &["heartbeat"],
    },
    Effect { consequence: "the median describes neither value", checks: &["bimodal"] },
    Effect {
        consequence: "at least one of the two does not measure what is expected of it",
        checks: &["second-instrument"],
    },
    Effect {
        consequence: "another run may give another value",
        checks: &["drift", "rounds-agree", "aa-pair", "copy-scale", "write-allocate"],
    },
];

/// The first reason, with its consequence, of an invalid or suspect figure.
pub(super) fn says(subject: &Subject) -> Option<String> {
    let (word, first) = first(subject.figure)?;
    Some(sentence(word, first, subject.figure.better))
}

/// Whether that reason is this check.
pub(super) fn is(subject: &Subject, id: &str) -> bool {
    first(subject.figure).is_some_and(|(_, check)| check.id == id)
}

fn first(figure: &Figure) -> Option<(&'static str, &CheckResult)> {
    let word = match figure.verdict? {
        Verdict::Invalid => "Invalid",
        Verdict::Suspect => "Suspect",
        Verdict::Valid | Verdict::Unverified => return None,
    };
    crate::reasons(figure).next().map(|check| (word, check))
}

fn sentence(word: &str, check: &CheckResult, better: Better) -> String {
    let detail = check.detail.trim_end_matches('.');
    match consequence(&check.id, better) {
        Some(consequence) => format!("{word} ({}): {detail}, so that {consequence}.", check.root()),
        None => format!("{word} ({}): {detail}.", check.root()),
    }
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
        assert!(of("steal", Better::Higher).starts_with("the figure is too low"));
        assert!(of("steal", Better::Lower).starts_with("the figure is too high"));
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

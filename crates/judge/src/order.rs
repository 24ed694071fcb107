//! The order of the reasons of a figure: causes before what they cause.

use std::cmp::Reverse;

use figure::{CheckResult, Outcome};

/// What takes CPU time from our threads, or slows them down.
const TAKEN: &str = "threads-within-mask threads-on-distinct-cores quota throttled swap numa-balancing placement-held steal off-cpu \
                     foreign-load interrupts sibling-load";
/// What changes the clock frequency, as our canary measures it: also who takes its time.
const SLOWED: &str = "quota throttled steal off-cpu foreign-load interrupts sibling-load thermal";
/// What else makes the rounds, or the threads of one, differ, than what takes CPU time.
const UNEVEN: &str = "mixed-cores uneven-cores memory-limit numa-placement memory-errors faults clock-jump placement-dependent \
                      run-queue-delay thermal frequency unequal-cores";

/// Checks that can fail only because another does, and which. Every pair is in the order of [`crate::all`].
const FOLLOWS: &[(&str, &[&str])] = &[
    ("throttled", &["quota"]),
    ("faults", &["memory-limit swap first-touch numa-balancing"]),
    ("numa-placement", &["numa-balancing"]),
    // Threads that wait for a page from the disk, or that the hypervisor stopped.
    ("off-cpu", &["quota throttled swap steal"]),
    // A CPU that our threads cannot use is taken by others.
    ("foreign-load", &["quota throttled off-cpu"]),
    // Timers, rescheduling and packets of the other processes.
    ("interrupts", &["foreign-load"]),
    ("run-queue-delay involuntary-switches", &[TAKEN]),
    ("frequency unequal-cores advertised-cache", &[SLOWED]),
    ("delayed-ack", &["throttled steal foreign-load"]),
    ("listen-overflow", &["quota throttled steal foreign-load"]),
    ("connections-served", &["throttled steal foreign-load listen-overflow"]),
    ("errors-as-work", &["listen-overflow"]),
    ("client-saturated", &["shared-cpus quota throttled steal foreign-load"]),
    ("server-not-saturated", &["client-saturated"]),
    ("rate-met coordinated-omission", &["throttled steal foreign-load client-saturated"]),
    ("littles-law", &["throttled steal foreign-load clock-jump"]),
    ("trend", &["throttled steal foreign-load thermal frequency"]),
    ("copies-overlap threads-overlap stragglers rates-steady bimodal drift rounds-agree", &[TAKEN, UNEVEN]),
    ("aa-pair doubling saturation copy-scale second-instrument", &[TAKEN, UNEVEN]),
];

/// The names in a list.
fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}

/// A disturbance that warns explains a failure whose size is at most this many times its own: what is lost on average may come in few
/// rounds, or on one of two CPUs.
const AT_MOST: f64 = 2.0;

/// Whether the first can be the cause of the second.
fn is_cause(cause: &str, of: &str) -> bool {
    let is_of = |ids: &'static str| names(ids).any(|id| id == of);
    FOLLOWS
        .iter()
        .any(|(ids, causes)| is_of(ids) && causes.iter().any(|list| names(list).any(|id| id == cause)))
}

/// An answer, and the share of the figure that it is about.
pub(crate) type Weighed = (CheckResult, Option<f64>);

/// Sorts answers that are given in the order of [`crate::all`]: the worst first; but a cause that only warns stands before a failure
/// that it is large enough to explain. Of what is unknown, the caches, which the caller can supply, stand before a check that a text does
/// not show.
pub(crate) fn causes_first(mut answers: Vec<Weighed>) -> Vec<CheckResult> {
    // Stable: within one outcome the causal order of the list stays.
    answers.sort_by_key(|(answer, _)| Reverse(answer.outcome));
    let unknown = |id: &str| {
        answers.iter().position(|(answer, _)| answer.id == id && answer.outcome == Outcome::Unknown)
    };
    if let Some((lost, supplied)) = unknown("verified").zip(unknown("array-size"))
        && lost < supplied
    {
        answers[lost..=supplied].rotate_right(1);
    }
    for at in 0..answers.len() {
        let explained = answers[..at].iter().position(|failure| explains(&answers[at], failure));
        if let Some(before) = explained {
            answers[before..=at].rotate_right(1);
        }
    }
    answers.into_iter().map(|(answer, _)| answer).collect()
}

/// Whether a warning is the cause of a failure.
fn explains((cause, lost): &Weighed, (failure, off): &Weighed) -> bool {
    (cause.outcome, failure.outcome) == (Outcome::Warn, Outcome::Fail)
        && is_cause(&cause.id, &failure.id)
        && lost.zip(*off).is_some_and(|(lost, off)| off <= AT_MOST * lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str, outcome: Outcome, share: Option<f64>) -> Weighed {
        (CheckResult { id: id.to_owned(), outcome, ..CheckResult::default() }, share)
    }

    fn order(answers: Vec<Weighed>) -> Vec<String> {
        causes_first(answers).into_iter().map(|answer| answer.id).collect()
    }

    fn rank(id: &str) -> usize {
        crate::all().position(|check| check.id == id).unwrap_or_else(|| panic!("no check {id}"))
    }

    fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
        let causes = |lists: &'static [&str]| lists.iter().flat_map(|list| names(list));
        FOLLOWS.iter().flat_map(move |(ids, lists)| {
            names(ids).flat_map(move |id| causes(lists).map(move |cause| (cause, id)))
        })
    }

    #[test]
    fn causes_stand_before_what_follows_from_them_in_the_list() {
        for (cause, id) in pairs() {
            assert!(rank(cause) < rank(id), "{cause} stands behind {id}");
        }
    }

    #[test]
    fn a_cause_is_first_whenever_it_is_as_bad_or_explains_it() {
        for (cause, id) in pairs() {
            let of = |outcome, lost, off| {
                order(vec![answer(cause, outcome, lost), answer(id, Outcome::Fail, off)])
            };
            assert_eq!(of(Outcome::Fail, None, None), [cause, id]);
            assert_eq!(of(Outcome::Warn, Some(0.08), Some(0.15)), [cause, id]);
            assert_eq!(of(Outcome::Warn, Some(0.03), Some(0.15)), [id, cause], "too small to explain it");
            assert_eq!(of(Outcome::Warn, None, Some(0.15)), [id, cause], "of unknown size");
            assert_eq!(of(Outcome::Pass, Some(0.08), Some(0.15)), [id, cause]);
        }
    }

    #[test]
    fn another_failure_stays_before_the_cause_of_the_next() {
        let answers = vec![
            answer("verified", Outcome::Fail, None),
            answer("foreign-load", Outcome::Warn, Some(0.09)),
            answer("thermal", Outcome::Warn, None),
            answer("run-queue-delay", Outcome::Fail, Some(0.11)),
            answer("drift", Outcome::Unknown, None),
        ];
        assert_eq!(order(answers), ["verified", "foreign-load", "run-queue-delay", "thermal", "drift"]);
    }
}

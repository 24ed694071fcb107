//! Figures that other tools printed: which checks they are asked.
//!
//! A text holds little of what the checks read. Those that it may hold something of are listed here; the others would only say, one
//! by one, that it holds nothing, which `conditions-told` says for all of them.

use figure::evidence::audit::TOOL;
use figure::{CheckResult, Outcome};

use crate::check::{Check, Subject};
use crate::checks::{
    above_limit, adds_up, answers_alike, array_size, channels_read, clock_granularity, conditions_told,
    coordinated_omission, counted_throughout, difference_stands, errors_as_work, lasted, left_out,
    littles_law, memory_latency, precision, rate_met, rate_told, repeats, results_kept, rounds, rounds_agree,
    sampled_enough, sources, switch_sizes, switches_placed, threads_even, verified,
};

/// The checks of an audited figure, in causal order.
pub const CHECKS: &[&Check] = &[
    &verified::CHECK,
    &lasted::CHECK,
    &adds_up::CHECK,
    &threads_even::CHECK,
    &array_size::CHECK,
    &clock_granularity::CHECK,
    &errors_as_work::CHECK,
    &answers_alike::CHECK,
    &rate_met::CHECK,
    &results_kept::CHECK,
    &left_out::CHECK,
    &littles_law::CHECK,
    &coordinated_omission::CHECK,
    &rate_told::CHECK,
    &counted_throughout::CHECK,
    &sampled_enough::CHECK,
    &channels_read::CHECK,
    &memory_latency::CHECK,
    &switch_sizes::CHECK,
    &switches_placed::CHECK,
    &difference_stands::CHECK,
    &rounds_agree::CHECK,
    &repeats::CHECK,
    &above_limit::CHECK,
    &conditions_told::CHECK,
    // What is computed is no better than what it is computed from.
    &sources::CHECK,
    &rounds::CHECK,
    &precision::CHECK,
];

/// What the checks say of an audited figure. An answer that is unknown and of which no option could make more is not worth a line, unless the
/// verdict hangs on it.
pub(crate) fn answers(subject: &Subject) -> Vec<(CheckResult, Option<f64>)> {
    let all = CHECKS.iter().filter_map(|check| check.weigh(subject));
    all.filter(|(answer, _)| {
        answer.outcome != Outcome::Unknown || answer.essential || answer.detail.contains("--")
    })
    .collect()
}

/// Whether another tool printed the figure (reads [`TOOL`]).
pub fn is_audited(subject: &Subject) -> bool {
    subject.condition(TOOL).is_some()
}

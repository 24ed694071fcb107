//! Figures that other tools printed: which checks they are asked.
//!
//! A text holds little of what the checks read. Those that it may hold something of are listed here; the others would only say, one
//! by one, that it holds nothing, which `environment-unknown` says for all of them.

use figure::evidence::audit::TOOL;
use figure::{CheckResult, Outcome};

use crate::check::{Check, Subject};
use crate::checks::{
    above_limit, array_size, channels_read, clock_granularity, coordinated_omission, counter_coverage,
    environment_unknown, errors_as_work, inconsistent_totals, inputs, insignificant_difference,
    interval_unknown, littles_law, memory_latency, placement_unknown, precision, rate_met, repeats,
    response_length_varies, results_truncated, rounds, rounds_agree, sample_count, switch_sizes,
    threads_even, timeouts_excluded, too_short, verified,
};

/// The checks of an audited figure, in causal order.
pub const CHECKS: &[&Check] = &[
    &verified::CHECK,
    &too_short::CHECK,
    &inconsistent_totals::CHECK,
    &threads_even::CHECK,
    &array_size::CHECK,
    &clock_granularity::CHECK,
    &errors_as_work::CHECK,
    &response_length_varies::CHECK,
    &rate_met::CHECK,
    &results_truncated::CHECK,
    &timeouts_excluded::CHECK,
    &littles_law::CHECK,
    &coordinated_omission::CHECK,
    &interval_unknown::CHECK,
    &counter_coverage::CHECK,
    &sample_count::CHECK,
    &channels_read::CHECK,
    &memory_latency::CHECK,
    &switch_sizes::CHECK,
    &placement_unknown::CHECK,
    &insignificant_difference::CHECK,
    &rounds_agree::CHECK,
    &repeats::CHECK,
    &above_limit::CHECK,
    &environment_unknown::CHECK,
    // What is computed is no better than what it is computed from.
    &inputs::CHECK,
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

/// Whether another tool printed the figure.
pub fn is_audited(subject: &Subject) -> bool {
    subject.condition(TOOL).is_some()
}

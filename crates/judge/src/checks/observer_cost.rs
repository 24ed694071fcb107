//! Did watching or profiling change the load?

use figure::evidence::http::{ANSWERED, PROFILED, SECONDS, SERVER_SYSTEM, SERVER_USER, WATCH_COST};
use figure::format::counted;

use super::levels::LOST_TIME;
use crate::load::{cpus, of_server};
use crate::prelude::*;

/// Rounds of each kind of which there must be so many to compare them: of 4 and 4 that do not differ, one kind lies apart by chance in 3 % of
/// the cases.
const ROUNDS: usize = 4;

/// The server's CPU time for each answer in rounds with a profile and in rounds without, and what watching took.
pub const CHECK: Check = Check::new(page!("observer-cost"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let [cost, seconds] = observed!(subject.sums([WATCH_COST, SECONDS]));
    let whole = seconds * (cpus(subject.figure).len() as f64).max(1.0);
    let watching = cost / whole.max(f64::MIN_POSITIVE);
    let case = |profiling| Loads::Watching { watching: Share(watching), profiling };
    let watched = LOST_TIME.answer(watching, case(None));
    if watched.outcome > Outcome::Pass {
        return watched;
    }
    let profiled = observed!(subject.rounds(PROFILED));
    if !profiled.contains(&true) {
        return watched;
    }
    // CPU seconds for each answer.
    let cost = |[user, system, answered]: [f64; 3]| (user + system) / answered.max(1.0);
    let costs = observed!(subject.each_round([SERVER_USER, SERVER_SYSTEM, ANSWERED], cost));
    let of = |wanted: bool| -> Vec<f64> {
        let rounds = profiled.iter().zip(&costs).filter(|(profiled, _)| **profiled == wanted);
        rounds.map(|(_, cost)| *cost).collect()
    };
    let (with, without) = (of(true), of(false));
    if with.len() < ROUNDS || without.len() < ROUNDS {
        let with = counted(with.len(), "round");
        return Answer::unknown(format!("{with} with a profile and {} without: too few", without.len()));
    }
    let quantiles = |q| stats::quantile(&with, q).zip(stats::quantile(&without, q));
    let (Some(least), Some((a, b)), Some(most)) = (quantiles(0.0), quantiles(0.5), quantiles(1.0)) else {
        return Answer::unknown("no CPU time for an answer");
    };
    let change = a / b - 1.0;
    // Rounds of the two kinds that overlap show no difference.
    let apart = least.0 > most.1 || least.1 > most.0;
    // What the other rounds show stands: never more than a warning.
    Answer::warn_if(apart && change.abs() >= LOST_TIME.warn, case(Some(Share(change))))
}

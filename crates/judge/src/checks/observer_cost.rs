//! Did watching or profiling change the load?

use figure::evidence::http::{ANSWERED, PROFILED, SECONDS, SERVER_SYSTEM, SERVER_USER, WATCH_COST};
use figure::format::counted;
use figure::{Outcome, Reading, stats};

use super::loss::LOST_TIME;
use crate::cases::Loads;
use crate::check::{Answer, Check, Subject, never, observed, page};
use crate::load::{cpus, of_server, together};
use crate::values::Share;

/// Rounds of each kind of which there must be so many to compare them: of 4 and 4 that do not differ, one kind lies apart by chance in 3 % of
/// the cases.
const ROUNDS: usize = 4;

/// The server's CPU time for each answer in rounds with a profile and in rounds without, and what watching took.
pub const CHECK: Check =
    Check { id: "observer-cost", page: page!("observer-cost"), applies: of_server, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let cost = observed!(figure.sum(WATCH_COST));
    let whole = observed!(figure.sum(SECONDS)) * (cpus(subject).len() as f64).max(1.0);
    let watching = cost / whole.max(f64::MIN_POSITIVE);
    let case = |profiling| Loads::Watching { watching: Share(watching), profiling };
    let watched = LOST_TIME.answer(watching, case(None));
    if watched.outcome > Outcome::Pass {
        return watched;
    }
    let profiled = observed!(figure.over_rounds(PROFILED));
    if !profiled.contains(&true) {
        return watched;
    }
    let costs = observed!(costs(subject));
    let of = |wanted: bool| -> Vec<f64> {
        profiled
            .iter()
            .zip(&costs)
            .filter(|(profiled, _)| **profiled == wanted)
            .map(|(_, cost)| *cost)
            .collect()
    };
    let (with, without) = (of(true), of(false));
    if with.len() < ROUNDS || without.len() < ROUNDS {
        let with = counted(with.len(), "round");
        return Answer::unknown(format!("{with} with a profile and {} without: too few", without.len()));
    }
    let (Some(a), Some(b)) = (stats::median(&with), stats::median(&without)) else {
        return Answer::unknown("no CPU time for an answer");
    };
    let change = a / b - 1.0;
    // Where rounds of the two kinds lie among one another, they do not tell them apart.
    let apart = match (stats::range(&with), stats::range(&without)) {
        (Some(with), Some(without)) => with.0 > without.1 || without.0 > with.1,
        _ => false,
    };
    let case = case(Some(Share(change)));
    // What the other rounds show stands: never more than a warning.
    if apart && change.abs() >= LOST_TIME.warn { Answer::warn(case) } else { Answer::pass(case) }
}

/// CPU seconds for each answer, of each round.
fn costs(subject: &Subject) -> Reading<Vec<f64>> {
    let rounds = [SERVER_USER, SERVER_SYSTEM, ANSWERED].map(|key| subject.figure.over_rounds(key));
    together(rounds).map(|[user, system, answered]| {
        let times = user.iter().zip(&system).zip(&answered);
        times.map(|((user, system), answered)| (user + system) / answered.max(1.0)).collect()
    })
}

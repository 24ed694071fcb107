//! Did the server have its machine to itself?

use figure::evidence::http::{AGENT, HOST_FOREIGN, HOST_STEAL, HOST_THROTTLED, SECONDS, SOFTIRQ};

use super::levels::LOST_TIME;
use crate::load::{of_load, server_time};
use crate::prelude::*;

/// What others may use of that machine, in times of what the server's CPUs could: on which of its CPUs they ran is not known, so that it is never
/// more than a reason to look.
const OTHERS: Levels = Levels { warn: LOST_TIME.fail, fail: f64::INFINITY };

/// What the agent on the server's machine read there in the window: steal and throttling, against the time of the server's CPUs, as those
/// of this machine against that of truebench's; and others' CPU time, the kernel's for packets not counted.
pub const CHECK: Check =
    Check::new(page!("server-host"), |subject| of_load(subject) && subject.condition(AGENT).is_some(), rule);

fn rule(subject: &Subject) -> Answer {
    let all = observed!(server_time(subject));
    let cpus = all / subject.sum(SECONDS).into_value().unwrap_or(all).max(f64::MIN_POSITIVE);
    let [stolen, throttled, foreign] = observed!(subject.sums([HOST_STEAL, HOST_THROTTLED, HOST_FOREIGN]));
    let others = (foreign - subject.sum(SOFTIRQ).into_value().unwrap_or(0.0)).max(0.0);
    let [stolen, throttled, others] = [stolen, throttled, others].map(|seconds| Share(seconds / all));
    let outcome = LOST_TIME.outcome(stolen.0.max(throttled.0)).max(OTHERS.outcome(others.0));
    let cpus = Counted(cpus.round(), "CPU");
    Answer::of(outcome, Loads::ServerHost { stolen, throttled, others, cpus })
}

//! Did the server have its machine to itself?

use figure::evidence::http::{AGENT, HOST_FOREIGN, HOST_STEAL, HOST_THROTTLED, SECONDS, SOFTIRQ};

use super::loss::LOST_TIME;
use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::{of_load, server_time, together};
use crate::values::{Counted, Share};

/// What others may use of that machine, in times of what the server's CPUs could: on which of its CPUs they ran is not known, so that it is never
/// more than a reason to look.
const OTHERS: Levels = Levels { warn: LOST_TIME.fail, fail: f64::INFINITY };

/// What the agent on the server's machine read there in the window: steal and throttling, held against the time of the server's CPUs as the same
/// of this machine is held against that of ours; and others' CPU time, the kernel's for packets not counted.
pub const CHECK: Check = Check {
    id: "server-host",
    page: page!("server-host"),
    applies: |subject| of_load(subject) && subject.condition(AGENT).is_some(),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let of_all = observed!(server_time(subject));
    let cpus = of_all / figure.sum(SECONDS).into_value().unwrap_or(of_all).max(f64::MIN_POSITIVE);
    let lost = [HOST_STEAL, HOST_THROTTLED, HOST_FOREIGN].map(|key| figure.sum(key));
    let [stolen, throttled, foreign] = observed!(together(lost));
    let packets = figure.sum(SOFTIRQ).into_value().unwrap_or(0.0);
    let [stolen, throttled, others] =
        [stolen, throttled, (foreign - packets).max(0.0)].map(|seconds| seconds / of_all);
    Answer::of(
        LOST_TIME.outcome(stolen.max(throttled)).max(OTHERS.outcome(others)),
        Loads::ServerHost {
            stolen: Share(stolen),
            throttled: Share(throttled),
            others: Share(others),
            cpus: Counted(cpus.round(), "CPU"),
        },
    )
}

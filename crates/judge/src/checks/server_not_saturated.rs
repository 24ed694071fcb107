//! Was the server at the limit of its CPUs?

use figure::evidence::http::{ANSWERED, SECONDS, SERVER_DELAY, SERVER_SWITCHES};

use crate::load::{
    DOUBLED, FULL, HEADROOM, SATURATION, aims_at, headroom, is_closed, of_server, server_used, sums,
};
use crate::prelude::*;

/// The share of its CPUs' time that the server left unused. At a tenth it is at its limit for all purposes; with three tenths the rate is that
/// of what it waits for.
const IDLE: Levels = Levels { warn: 1.0 - FULL, fail: 0.30 };

/// utime and stime of the server against its CPUs and the window.
pub const CHECK: Check = Check::essential(
    page!("server-not-saturated"),
    |subject| of_server(subject) && is_closed(subject) && aims_at(subject, &[SATURATION, DOUBLED]),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let used = observed!(server_used(subject.figure));
    let outcome = IDLE.outcome(1.0 - used.with_network);
    let is_idle = outcome > Outcome::Pass;
    // What a client can do that has this much left, bounds nothing.
    let headroom = headroom(subject).filter(|times| is_idle && *times >= HEADROOM);
    let outcome = if headroom.is_some() { Outcome::Warn } else { outcome };
    let (delay, sleeps) = if is_idle { waits(subject) } else { (None, None) };
    let case = Loads::ServerUsed {
        used: Share(used.own),
        cpus: Counted(used.cpus, "CPU"),
        with_network: Share(used.with_network),
        delay: delay.map(Share),
        sleeps: sleeps.map(Number),
        headroom: headroom.map(Times),
    };
    Answer::of(outcome, case)
}

/// Where it was instead of on a CPU, as far as the kernel shows: the share of the time for which its threads waited for one, and how
/// often they slept for each answer.
fn waits(subject: &Subject) -> (Option<f64>, Option<f64>) {
    let delay = subject.sums([SERVER_DELAY, SECONDS]);
    let delay = delay.map(|[delay, seconds]| delay / seconds.max(f64::MIN_POSITIVE));
    let switches = sums(subject.figure, SERVER_SWITCHES).and(subject.sum(ANSWERED));
    let voluntary = |switches: Vec<f64>| switches.first().copied().unwrap_or(0.0);
    let sleeps = switches.map(|(switches, answered)| voluntary(switches) / answered.max(1.0));
    (delay.into_value(), sleeps.into_value())
}

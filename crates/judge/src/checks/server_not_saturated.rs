//! Was the server at the limit of its CPUs?

use figure::evidence::http::{ANSWERED, SECONDS, SERVER_DELAY, SERVER_SWITCHES};
use figure::format::{number, percent};
use figure::{Outcome, Reading};

use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{
    DOUBLED, FULL, HEADROOM, SATURATION, aims_at, headroom, is_closed, of_server, server_used, sums,
};

/// The share of its CPUs' time that the server left unused. At a tenth it is at its limit for all purposes; with three tenths the rate is that
/// of what it waits for.
const IDLE: Levels = Levels { warn: 1.0 - FULL, fail: 0.30 };

/// utime and stime of the server against its CPUs and the window.
pub const CHECK: Check = Check {
    id: "server-not-saturated",
    page: page!("server-not-saturated"),
    applies: |subject| of_server(subject) && is_closed(subject) && aims_at(subject, &[SATURATION, DOUBLED]),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let used = observed!(server_used(subject));
    let told = format!(
        "the server used {} of its {} CPU{} ({} with soft interrupts)",
        percent(used.own),
        number(used.cpus),
        if used.cpus == 1.0 { "" } else { "s" },
        percent(used.with_network)
    );
    let outcome = IDLE.outcome(1.0 - used.with_network);
    if outcome == Outcome::Pass {
        return Answer::pass(told);
    }
    let waits = waits(subject);
    let fix = "use more connections (-c N) and a client that is not full; see the server's profile for what it waits for";
    // What a client can do that has this much left, bounds nothing.
    match headroom(subject) {
        Some(times) if times >= HEADROOM => Answer::warn(
            format!("{told}{waits}, though the client can do {times:.1} times as much: it waits for itself"),
            fix,
        ),
        _ => Answer::of(outcome, format!("{told}{waits}: the rate is no capacity of these CPUs"), fix),
    }
}

/// Where it was instead of on a CPU, as far as the kernel tells.
fn waits(subject: &Subject) -> String {
    let figure = subject.figure;
    let mut told = String::new();
    if let (Some(delay), Some(seconds)) =
        (figure.sum(SERVER_DELAY).into_value(), figure.sum(SECONDS).into_value())
    {
        told += &format!(
            "; its threads waited for a CPU {} of the time",
            percent(delay / seconds.max(f64::MIN_POSITIVE))
        );
    }
    if let (Reading::Value(switches), Some(answered)) =
        (sums(figure, SERVER_SWITCHES), figure.sum(ANSWERED).into_value())
    {
        let voluntary = switches.first().copied().unwrap_or(0.0) / answered.max(1.0);
        told += &format!("; they slept {} times for each answer", number(voluntary));
    }
    told
}

//! Do the samples account for the faults that the program took?

use figure::evidence::{
    FAULT_COUNTED, FAULT_IN_KERNEL, FAULT_LOST, FAULT_NEWS_LOST, FAULT_SAMPLES, FAULT_SEEN, FAULT_TOTAL,
    WATCH_UNSEEN,
};
use figure::{Outcome, format};

use crate::check::{Answer, Check, Subject, always, observed, page};

/// The share of the faults that samples must stand for, and below which they say nothing.
const SEEN: (f64, f64) = (0.5, 0.1);
/// The share that must be seen or known to be lost.
const KNOWN: f64 = 0.8;
/// The share of the records of processes and mappings that may be lost: so many faults may be told of a wrong place.
const NEWS_LOST: f64 = 0.05;
/// Samples that there must be, and below which they say nothing.
const SAMPLES: (f64, f64) = (50.0, 10.0);

/// Samples against the kernel's books.
pub const CHECK: Check = Check {
    id: "fault-coverage",
    page: page!("fault-coverage"),
    applies: |subject| subject.figure.evidence.iter().any(|(name, _)| name == FAULT_SEEN.name),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let total = observed!(evidence.get(FAULT_TOTAL));
    let counted = observed!(evidence.get(FAULT_COUNTED));
    let seen = observed!(evidence.get(FAULT_SEEN));
    let lost = observed!(evidence.get(FAULT_LOST));
    let samples = observed!(evidence.get(FAULT_SAMPLES));
    let sees_kernel = observed!(evidence.get(FAULT_IN_KERNEL));
    // Older records have none.
    let news_lost = evidence.get(FAULT_NEWS_LOST).into_value().unwrap_or(0.0);
    let unseen = evidence.get(WATCH_UNSEEN).into_value().filter(|names| !names.is_empty());
    if total <= 0.0 {
        return Answer::pass("there was no fault to see");
    }
    let share = |faults: f64| faults / total;
    let outcome = if share(seen) < SEEN.1 || samples < SAMPLES.1 {
        Outcome::Fail
    } else if share(seen) < SEEN.0
        || share(seen + lost) < KNOWN
        || samples < SAMPLES.0
        || news_lost > NEWS_LOST
    {
        Outcome::Warn
    } else {
        Outcome::Pass
    };
    let uncounted = share((total - counted).max(0.0));
    let short = share((counted - seen - lost).max(0.0));
    let mut gaps = Vec::new();
    let other = if sees_kernel {
        "populated ahead, or before the watch began"
    } else {
        "in system calls, which only root may see, or populated ahead"
    };
    let rights = unseen.as_ref().map(|names| {
        let names = format::plain_to(names, 200);
        format!("in {names} (set-user-ID or the like: the kernel lets only root watch it on), or {other}")
    });
    for (gap, what) in [
        (uncounted, rights.as_deref().unwrap_or(other)),
        (share(lost), "of samples that found no room"),
        (short, "of tasks that ended before their next sample"),
    ] {
        if gap >= 0.005 {
            gaps.push(format!("{} {what}", format::percent(gap)));
        }
    }
    if news_lost > 0.0 {
        gaps.push(format!(
            "{} of what the kernel tells of processes and mappings found no room: faults there may be told of a wrong kind of memory",
            format::percent(news_lost)
        ));
    }
    let rest = if gaps.is_empty() { String::new() } else { format!("; {}", gaps.join(", ")) };
    let text = format!(
        "{} stand for {} of {}{rest}",
        format::quantity(samples, "sample"),
        format::percent(share(seen).min(1.0)),
        format::quantity(total, "minor fault")
    );
    let fix = if unseen.is_some() {
        "run truebench itself as root: sudo truebench faults -- COMMAND"
    } else {
        "watch longer; as root faults within system calls are seen as well"
    };
    Answer::of(outcome, text, fix)
}

//! Did the load client have time to spare?

use figure::evidence::http::{CLIENT_BUSIEST, CLIENT_DELAY, FULL_WAITS, LATENCY, RESIDENCE};

use crate::load::{FULL, HEADROOM, P99, headroom, is_open, of_server, typical_at};
use crate::prelude::*;

/// CPU time of the busiest thread in a closed loop, which sleeps whenever no answer is there, and what a thread waited for a CPU. What is left
/// at the upper level is what the kernel takes to wake it.
const BUSY: Levels = Levels { warn: FULL, fail: 0.98 };
/// The share of the time for which a thread of a closed loop had no CPU though it wanted one: so much later it read answers and sent the next
/// requests. At half of the time the rate depends on who had the CPU.
const CPU_WAIT: Levels = Levels { warn: 0.10, fail: 0.50 };
/// Waits that found as many events as they can take: more were there.
const FULL_SHARE: f64 = 0.5;
/// Of the 99th percentile of a rate's latency what lay in the client: answers that had come and were not yet read.
const RESIDENCE_SHARE: Levels = Levels { warn: 0.10, fail: 0.50 };

/// CPU time (CLOCK_THREAD_CPUTIME_ID) and waiting (schedstat) of the client's threads, and how long answers lay unread.
pub const CHECK: Check = Check::essential(page!("client-saturated"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let waited = observed!(subject.typical(CLIENT_DELAY));
    if is_open(subject) {
        return by_residence(subject, Share(waited));
    }
    let [busiest, full] = observed!(subject.typicals([CLIENT_BUSIEST, FULL_WAITS]));
    // Who waits for a CPU would use it.
    let by_time = BUSY.outcome(busiest + waited).max(CPU_WAIT.outcome(waited));
    let outcome = if full >= FULL_SHARE { by_time.max(Outcome::Warn) } else { by_time };
    // Threads that have more to do at once do it in larger batches: that they can do more is shown, not supposed.
    let headroom = headroom(subject).filter(|times| *times >= HEADROOM && outcome > Outcome::Pass);
    let outcome = match (headroom, outcome) {
        (None, outcome) => outcome,
        (Some(_), Outcome::Fail) => Outcome::Warn,
        (Some(_), _) => Outcome::Pass,
    };
    let (busiest, full, waited) = (Share(busiest), Share(full), Share(waited));
    Answer::of(outcome, Loads::ClientBusy { busiest, full, waited, headroom: headroom.map(Times) })
}

/// A rate's client waits for the next moment by looking at the clock, so that it may be busy all the time: what counts is how long
/// answers lay there, also because of a missing CPU.
fn by_residence(subject: &Subject, waited: Share) -> Answer {
    let unread = observed!(subject.typical(RESIDENCE));
    let latency = observed!(typical_at(subject.figure, LATENCY, P99));
    let share = unread / latency.max(f64::MIN_POSITIVE);
    let (unread, latency) = (Seconds(unread), Seconds(latency));
    RESIDENCE_SHARE.answer(share, Loads::AnswersUnread { unread, latency, waited })
}

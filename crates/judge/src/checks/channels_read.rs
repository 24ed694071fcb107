//! Could pcm-memory read every memory channel?

use figure::evidence::audit::{CHANNELS_FOUND, CHANNELS_LOST, CHANNELS_SHOWN};

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};
use crate::values::{Count, Counted};

/// Channels that a sum is of, as far as the text shows.
///
/// Channels that count nothing are not printed at all (`pcm-memory.cpp`): those without modules, and those that cannot be read. Which of the two
/// the text does not show, and the number that is said to be found is of the processor's kind, so that fewer are no defect.
pub const CHECK: Check = Check {
    id: "channels-read",
    page: page!("channels-read"),
    applies: |subject| {
        is_audited(subject)
            && measured(subject)
            && subject.figure.over_rounds(CHANNELS_LOST).value().is_some()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let lost = observed!(subject.figure.over_rounds(CHANNELS_LOST)).into_iter().fold(0.0, f64::max);
    let shown = subject.figure.evidence.get(CHANNELS_SHOWN).into_value().unwrap_or(0.0);
    if lost > 0.0 {
        return Answer::fail(Texts::ChannelsLost { lost: Counted(lost, "channel") });
    }
    if shown == 0.0 {
        return Answer::unknown("the text does not show the channels");
    }
    // The others have no modules, or count nothing.
    let found = subject.figure.evidence.get(CHANNELS_FOUND).into_value().filter(|found| *found > shown);
    Answer::pass(Texts::ChannelsShown { shown: Counted(shown, "channel"), found: found.map(Count) })
}

//! Could pcm-memory read every memory channel?

use figure::evidence::audit::{CHANNELS_FOUND, CHANNELS_LOST, CHANNELS_SHOWN};

use crate::prelude::*;

/// Channels that a sum is of, as far as the text shows.
///
/// Channels that count nothing are not printed at all (`pcm-memory.cpp`): those without modules, and those that cannot be read. Which of the two
/// the text does not show. The printed number of channels is that of the processor model, so that fewer are no defect.
pub const CHECK: Check =
    Check::new(page!("channels-read"), |subject| prints(subject, CHANNELS_LOST), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let lost = observed!(subject.largest(CHANNELS_LOST));
    let shown = subject.fact(CHANNELS_SHOWN).into_value().unwrap_or(0.0);
    if lost > 0.0 {
        return Answer::fail(Texts::ChannelsLost { lost: Counted(lost, "channel") });
    }
    if shown == 0.0 {
        return Answer::unknown("the text does not show the channels");
    }
    // The others have no modules, or count nothing.
    let found = subject.fact(CHANNELS_FOUND).into_value().filter(|found| *found > shown);
    Answer::pass(Texts::ChannelsShown { shown: Counted(shown, "channel"), found: found.map(Count) })
}

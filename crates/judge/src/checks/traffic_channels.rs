//! Is every summed memory channel real and counted only once?

use figure::evidence::{TRAFFIC_CHANNELS, TRAFFIC_DISTINCT, TRAFFIC_LEFT_OUT};

use crate::prelude::*;

/// What the channels counted under load before the first round.
pub const CHECK: Check = Check::essential(page!("traffic-channels"), of_counters, rule);

fn rule(subject: &Subject) -> Answer {
    let are_distinct = observed!(subject.fact(TRAFFIC_DISTINCT));
    let channels = Counted(observed!(subject.fact(TRAFFIC_CHANNELS)), "channel");
    let left_out = subject.fact(TRAFFIC_LEFT_OUT).into_value().filter(|left_out| !left_out.is_empty());
    Answer::fail_if(!are_distinct, Arrays::Channels { channels, are_distinct, left_out })
}

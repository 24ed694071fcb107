//! Is every summed memory channel real and counted only once?

use figure::evidence::{TRAFFIC_CHANNELS, TRAFFIC_DISTINCT, TRAFFIC_LEFT_OUT};

use crate::cases::Arrays;
use crate::check::{Answer, Check, Subject, always, observed, of_counters, page};
use crate::values::Counted;

/// What the channels counted under load before the first round.
pub const CHECK: Check = Check {
    id: "traffic-channels",
    page: page!("traffic-channels"),
    applies: of_counters,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let distinct = observed!(evidence.get(TRAFFIC_DISTINCT));
    let channels = observed!(evidence.get(TRAFFIC_CHANNELS));
    let left_out = evidence.get(TRAFFIC_LEFT_OUT).into_value().filter(|left_out| !left_out.is_empty());
    let channels =
        Arrays::Channels { channels: Counted(channels, "channel"), are_distinct: distinct, left_out };
    if distinct { Answer::pass(channels) } else { Answer::fail(channels) }
}

//! Is every summed memory channel real and counted only once?

use figure::evidence::{TRAFFIC_CHANNELS, TRAFFIC_DISTINCT, TRAFFIC_LEFT_OUT};

use crate::check::{Answer, Check, Subject, always, observed, of_counters, page};

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
    let left_out = match evidence.get(TRAFFIC_LEFT_OUT).into_value() {
        Some(left_out) if !left_out.is_empty() => {
            format!("; left out: {left_out}")
        }
        _ => String::new(),
    };
    if distinct {
        Answer::pass(format!("{channels} summed, each counts by itself{left_out}"))
    } else {
        Answer::fail(
            format!("the {channels} channels that were summed could not be told apart{left_out}"),
            "report the record, with truebench host --capture, as a defect of truebench",
        )
    }
}

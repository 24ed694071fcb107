//! Is every summed memory channel real and counted only once?

use figure::evidence::{TRAFFIC_CHANNELS, TRAFFIC_DISTINCT, TRAFFIC_LEFT_OUT, TRAFFIC_PART};

use crate::check::{Answer, Check, Subject, always, observed, of_counters};

/// What the channels counted under load before the first round.
pub const CHECK: Check = Check {
    id: "traffic-channels",
    question: "Is every summed memory channel real and counted only once?",
    reads: &[TRAFFIC_PART.name, TRAFFIC_DISTINCT.name, TRAFFIC_CHANNELS.name, TRAFFIC_LEFT_OUT.name],
    page: include_str!("../../../../docs/checks/traffic-channels.md"),
    applies: of_counters,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let distinct = observed!(evidence.get(TRAFFIC_DISTINCT));
    let channels = observed!(evidence.get(TRAFFIC_CHANNELS));
    let timeouts_excluded = match evidence.get(TRAFFIC_LEFT_OUT).into_value() {
        Some(timeouts_excluded) if !timeouts_excluded.is_empty() => {
            format!("; left out: {timeouts_excluded}")
        }
        _ => String::new(),
    };
    if distinct {
        Answer::pass(format!("{channels} summed, each counts by itself{timeouts_excluded}"))
    } else {
        Answer::fail(
            format!("the {channels} channels that were summed could not be told apart{timeouts_excluded}"),
            "report the record, with truebench host --capture, as a defect of truebench",
        )
    }
}

//! Which channels are summed: those that count, and count something else than any other, under load.

use figure::Evidence;
use figure::evidence::{TRAFFIC_CHANNELS, TRAFFIC_DISTINCT, TRAFFIC_LEFT_OUT, TRAFFIC_SOURCE};
use figure::host::UncoreChannel;
use lab::failure::Failure;
use lab::traffic::{Distinct, Traffic, distinct};

/// How the worker begins to say that there are no counts to be had, after all.
pub(crate) const NO_COUNTS: &str = "the memory controllers' counters ";

pub(crate) const TOGETHER: &str = "these counters count reads and writes together";

/// Intervals under load. Two real channels would have to agree in all of them, reads and writes, by chance.
pub const INTERVALS: usize = 6;
/// A counter that ran less than this share of the time was multiplexed: equal counts then mean nothing.
pub const ALL_THE_TIME: f64 = 0.999;
const MOST_NAMES: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSelection {
    pub channels: Vec<usize>,
    pub evidence: Evidence,
}

pub fn select(channels: &[UncoreChannel], intervals: &[Traffic]) -> Result<ChannelSelection, Failure> {
    let counts: Vec<_> = intervals.iter().map(|traffic| traffic.counts.clone()).collect();
    let compared = distinct(&counts);
    if compared.channels.is_empty() {
        let shown = channels.len();
        let answer = "channels are shown and none is real, as where a hypervisor shows its host's devices";
        return Err(Failure::new(format!("{NO_COUNTS}count nothing while memory is under load"))
            .answer(format!("{shown} {answer}")));
    }
    let mut evidence = Evidence::default();
    evidence.put(TRAFFIC_CHANNELS, compared.channels.len() as f64);
    evidence.put(TRAFFIC_LEFT_OUT, left_out(channels, &compared));
    evidence.put(TRAFFIC_SOURCE, source(&channels[compared.channels[0]]));
    let running = intervals.iter().map(|traffic| traffic.running).fold(1.0, f64::min);
    if running < ALL_THE_TIME {
        let share = figure::format::percent(running);
        evidence.put_unknown(
            TRAFFIC_DISTINCT,
            format!(
                "counters took turns (multiplexing, {share} of the time): equal counts cannot be detected"
            ),
        );
    } else {
        evidence.put(TRAFFIC_DISTINCT, true);
    }
    Ok(ChannelSelection { channels: compared.channels, evidence })
}

/// `uncore_imc_5 (CPU 0), … never count; uncore_imc_3 (CPU 0) counts what uncore_imc_2 (CPU 0) counts`.
fn left_out(channels: &[UncoreChannel], compared: &Distinct) -> String {
    let label = |at: &usize| channels.get(*at).map_or_else(String::new, UncoreChannel::label);
    let bounded = |mut texts: Vec<String>| {
        let more = texts.len().saturating_sub(MOST_NAMES);
        texts.truncate(MOST_NAMES);
        if more > 0 {
            texts.push(format!("{more} more"));
        }
        texts.join(", ")
    };
    let mut parts = Vec::new();
    if !compared.silent.is_empty() {
        let count = if compared.silent.len() == 1 { "never counts" } else { "never count" };
        parts.push(format!("{} {count}", bounded(compared.silent.iter().map(label).collect())));
    }
    if !compared.twins.is_empty() {
        let twin =
            |(twin, other): &(usize, usize)| format!("{} counts what {} counts", label(twin), label(other));
        parts.push(bounded(compared.twins.iter().map(twin).collect()));
    }
    parts.join("; ")
}

/// What is counted: `cas_count_read (64 B), cas_count_write (64 B) of uncore_imc_0 and others of its kind`.
fn source(channel: &UncoreChannel) -> String {
    let events: Vec<String> =
        channel.events.iter().map(|event| format!("{} ({} B)", event.name, event.bytes)).collect();
    format!("{} of {} and its like", events.join(", "), channel.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::{Direction, UncoreEvent};

    fn channels(count: u32) -> Vec<UncoreChannel> {
        let event = UncoreEvent {
            name: "cas_count_read".into(),
            direction: Direction::Read,
            config: [0; 3],
            bytes: 64.0,
        };
        let channel = |n| UncoreChannel {
            name: format!("uncore_imc_{n}"),
            cpu: 0,
            pmu: n,
            events: vec![event.clone()],
        };
        (0..count).map(channel).collect()
    }

    fn interval(counts: &[f64], running: f64) -> Traffic {
        let moved =
            counts.iter().map(|count| lab::traffic::Moved { read: count * 64.0, ..Default::default() });
        Traffic {
            channels: moved.collect(),
            counts: counts.iter().map(|count| vec![*count]).collect(),
            running,
        }
    }

    #[test]
    fn what_is_left_out_is_named() {
        let intervals: Vec<Traffic> = (0..INTERVALS)
            .map(|n| {
                interval(&[1e6 + 977.0 * n as f64, 0.0, 1e6 - 400.0 * n as f64, 1e6 + 977.0 * n as f64], 1.0)
            })
            .collect();
        let selection = select(&channels(4), &intervals).unwrap();
        assert_eq!(selection.channels, [0, 2]);
        let evidence = &selection.evidence;
        assert_eq!(evidence.get(TRAFFIC_CHANNELS).into_value(), Some(2.0));
        assert_eq!(
            evidence.get(TRAFFIC_LEFT_OUT).into_value().unwrap(),
            "uncore_imc_1 (CPU 0) never counts; uncore_imc_3 (CPU 0) counts what uncore_imc_0 (CPU 0) counts"
        );
        assert_eq!(evidence.get(TRAFFIC_DISTINCT).into_value(), Some(true));
        let source = evidence.get(TRAFFIC_SOURCE).into_value().unwrap();
        assert_eq!(source, "cas_count_read (64 B) of uncore_imc_0 and its like");
    }

    #[test]
    fn many_names_are_counted() {
        let mut counts = vec![0.0; 40];
        counts[7] = 1e6;
        let selection = select(&channels(40), &[interval(&counts, 1.0)]).unwrap();
        let text = selection.evidence.get(TRAFFIC_LEFT_OUT).into_value().unwrap();
        assert!(text.ends_with("31 more never count") && text.len() < 300, "{text}");
    }

    #[test]
    fn counters_that_take_turns_prove_nothing() {
        let selection = select(&channels(2), &[interval(&[1e6, 2e6], 0.5)]).unwrap();
        let reason = selection.evidence.get(TRAFFIC_DISTINCT).reason().unwrap().to_owned();
        assert!(reason.contains("multiplexing, 50 %"), "{reason}");
    }

    #[test]
    fn counters_that_stand_still_are_none() {
        let reason = select(&channels(3), &[interval(&[0.0; 3], 1.0)]).unwrap_err().to_string();
        assert!(reason.starts_with(NO_COUNTS) && reason.contains("3 channels"), "{reason}");
    }
}

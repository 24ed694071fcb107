//! Performance counters of the memory controllers: PMUs, events, and permission to open them
//! (Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format).
//!
//! Each counting unit is a channel. Only the first family of the table that this machine has is used, because
//! two families count the same bytes in two places.

mod families;
mod terms;

use figure::host::{Uncore, UncoreChannel, UncoreEvent};
use figure::{CpuList, Reading};

use self::families::{Event, FAMILIES, Family, UNUSED};
use self::terms::TermError;
use crate::Tree;
use crate::perf::{PARANOID_ALL_CPUS, paranoid_refusal};
use crate::tree::printable;

const DEVICES: &str = "/sys/bus/event_source/devices";
/// Name patterns of the families, for messages.
const PATTERNS: &str =
    "uncore_imc*, amd_umc_*, amd_df, nvidia_scf_pmu_*, nvidia_ucf_pmu_*, hisi_sccl*_ddrc*, ali_drw_*";
/// PMUs of one family at most. The largest machines have some hundred memory channels.
const MAX_DEVICES: usize = 4096;
/// Characters of a name or event that are reported.
const MAX_NAME: usize = 64;
/// Most PMUs with a reported problem; further ones are counted.
const MAX_PROBLEMS: usize = 2;

/// Why a PMU is not used. The message follows the name of the PMU.
#[derive(Debug, thiserror::Error)]
enum PmuError {
    /// The reason of a [`Reading`]: the file, and what is wrong with it.
    #[error("{0}")]
    Unreadable(String),
    #[error("its cpumask is empty")]
    NoCpu,
    #[error("it has none of the events {}", .0.join(", "))]
    NoEvents(Vec<&'static str>),
    #[error("the event {0} cannot be read")]
    NoTerms(&'static str),
    #[error("{event}: {error}")]
    Term { event: &'static str, error: TermError },
    #[error("the scale of {0} is not understood")]
    BadScale(&'static str),
    #[error("{0} has no scale")]
    NoScale(&'static str),
}

pub fn describe(tree: &Tree) -> Uncore {
    let refused = paranoid_refusal(tree, PARANOID_ALL_CPUS);
    let devices = tree.names(DEVICES);
    let mut problems = Vec::new();
    for family in FAMILIES.iter().filter(|family| (family.holds)(tree)) {
        let mut channels = Vec::new();
        for device in members(&devices, family.devices) {
            match device_channels(tree, device, family) {
                Ok(device_channels) => channels.extend(device_channels),
                Err(problem) => problems.push(format!("{}: {problem}", printable(device, MAX_NAME))),
            }
        }
        if !channels.is_empty() {
            return Uncore { channels, unknown: summary(&problems), refused };
        }
    }
    for (pattern, reason) in UNUSED {
        if let Some(device) = devices.iter().find(|device| fits(device, pattern)) {
            problems.push(format!("{}: {reason}", printable(device, MAX_NAME)));
        }
    }
    let unknown = summary(&problems).unwrap_or_else(|| match devices.is_empty() {
        // A kernel with events has at least those of software.
        true => {
            format!("no uncore PMU: {DEVICES} shows no events at all: a kernel without them, or hidden here")
        }
        false => format!("no uncore PMU (searched: {PATTERNS})"),
    });
    Uncore { channels: Vec::new(), unknown: Some(unknown), refused }
}

pub(crate) fn files(tree: &Tree) -> Vec<String> {
    let devices = tree.names(DEVICES);
    let mut files = Vec::new();
    for device in FAMILIES.iter().flat_map(|family| members(&devices, family.devices)) {
        let directory = format!("{DEVICES}/{device}");
        files.push(format!("{directory}/cpumask"));
        for part in ["format", "events"] {
            let names = tree.names(format!("{directory}/{part}"));
            files.extend(names.into_iter().map(|name| format!("{directory}/{part}/{name}")));
        }
    }
    files.iter().map(|path| path.trim_start_matches('/').to_owned()).collect()
}

fn members<'a>(devices: &'a [String], patterns: &'static [&'static str]) -> impl Iterator<Item = &'a String> {
    let member = |device: &&String| patterns.iter().any(|pattern| fits(device, pattern));
    devices.iter().filter(member).take(MAX_DEVICES)
}

/// Whether a name matches a pattern in which `*` stands for one or several numbers, decimal or hexadecimal.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return name == pattern };
    let Some(rest) = name.strip_prefix(before) else { return false };
    let number = rest.bytes().take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'_').count();
    (1..=number).any(|length| fits(&rest[length..], after))
}

/// The channels of a PMU: one for each CPU of its mask, or for each event.
fn device_channels(tree: &Tree, device: &str, family: &Family) -> Result<Vec<UncoreChannel>, PmuError> {
    let directory = format!("{DEVICES}/{device}");
    let pmu = value(tree.number::<u32>(format!("{directory}/type")))?;
    let cpus: CpuList = value(tree.list(format!("{directory}/cpumask")))?;
    if cpus.is_empty() {
        return Err(PmuError::NoCpu);
    }
    let has =
        |event: &Event| event.terms.is_some() || tree.exists(format!("{directory}/events/{}", event.name));
    let Some(layout) = family.layouts.iter().find(|layout| layout.iter().all(has)) else {
        let names = family.layouts.iter().flat_map(|layout| layout.iter()).map(|event| event.name);
        return Err(PmuError::NoEvents(names.collect()));
    };
    let events = layout.iter().map(|event| encode(tree, &directory, event));
    let events: Vec<UncoreEvent> = events.collect::<Result<_, _>>()?;
    let name = printable(device, MAX_NAME);
    let mut channels = Vec::new();
    for cpu in cpus.iter() {
        if family.channel_per_event {
            channels.extend(events.iter().map(|event| {
                let name = format!("{name}/{}", event.name);
                UncoreChannel { name, cpu, pmu, events: vec![event.clone()] }
            }));
        } else {
            channels.push(UncoreChannel { name: name.clone(), cpu, pmu, events: events.clone() });
        }
    }
    Ok(channels)
}

fn encode(tree: &Tree, directory: &str, event: &Event) -> Result<UncoreEvent, PmuError> {
    let file = |suffix: &str| tree.text(format!("{directory}/events/{}{suffix}", event.name)).into_value();
    let terms = match event.terms {
        Some(terms) => terms.to_owned(),
        None => file("").ok_or(PmuError::NoTerms(event.name))?,
    };
    let format = |field: &str| tree.text(format!("{directory}/format/{field}")).into_value();
    let config =
        terms::encode(&terms, format).map_err(|error| PmuError::Term { event: event.name, error })?;
    let bytes = match file(".scale") {
        Some(scale) => bytes(&scale, file(".unit").as_deref()).ok_or(PmuError::BadScale(event.name))?,
        None => event.bytes.ok_or(PmuError::NoScale(event.name))?,
    };
    Ok(UncoreEvent { name: event.name.to_owned(), direction: event.direction, config, bytes })
}

/// Bytes per count: the scale in the unit that sysfs names.
fn bytes(scale: &str, unit: Option<&str>) -> Option<f64> {
    let unit = match unit {
        Some("B" | "Bytes" | "bytes") => 1.0,
        Some("KiB") => 1024.0,
        Some("MiB") => 1024.0 * 1024.0,
        Some("GiB") => 1024.0 * 1024.0 * 1024.0,
        Some("MB") => 1e6,
        _ => return None,
    };
    let bytes = scale.parse::<f64>().ok()? * unit;
    // 6.103515625e-5 MiB is exactly 64 B. A value close to an integer is meant as an integer.
    let rounded = bytes.round();
    let bytes = if (bytes - rounded).abs() < 1e-6 * rounded { rounded } else { bytes };
    (bytes.is_finite() && bytes > 0.0).then_some(bytes)
}

fn value<T>(reading: Reading<T>) -> Result<T, PmuError> {
    match reading {
        Reading::Value(value) => Ok(value),
        Reading::Unknown(reason) => Err(PmuError::Unreadable(reason)),
    }
}

/// The problems in one sentence; `None` if there are none.
fn summary(problems: &[String]) -> Option<String> {
    let mut text = problems.iter().take(MAX_PROBLEMS).cloned().collect::<Vec<_>>().join("; ");
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        text += &format!("; and {more} more");
    }
    (!problems.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_a_number_or_several() {
        assert!(fits("uncore_imc_12", "uncore_imc_*") && fits("hisi_sccl3_ddrc0_1", "hisi_sccl*_ddrc*"));
        assert!(fits("ali_drw_40021080", "ali_drw_*") && fits("amd_df", "amd_df"));
        for (name, pattern) in [
            ("uncore_imc_free_running_0", "uncore_imc_*"),
            ("uncore_imc_", "uncore_imc_*"),
            ("hisi_sccl1_l3c0", "hisi_sccl*_ddrc*"),
            ("amd_df_1", "amd_df"),
            ("uncore_imc_0\u{e9}", "uncore_imc_*"),
        ] {
            assert!(!fits(name, pattern), "{name}");
        }
    }

    #[test]
    fn scales_are_bytes() {
        assert_eq!(bytes("6.103515625e-5", Some("MiB")), Some(64.0));
        assert_eq!(bytes("6.1035156E-5", Some("MiB")), Some(64.0), "fewer printed digits");
        assert_eq!(bytes("32", Some("Bytes")), Some(32.0));
        assert_eq!(bytes("3.814697266e-6", Some("MiB")), Some(4.0), "free-running counters in Linux 5.8");
        for (scale, unit) in
            [("64", None), ("64", Some("Joules")), ("x", Some("MiB")), ("-1", Some("B")), ("inf", Some("B"))]
        {
            assert_eq!(bytes(scale, unit), None, "{scale} {unit:?}");
        }
    }

    #[test]
    fn every_family_is_named() {
        for device in FAMILIES.iter().flat_map(|family| family.devices) {
            let is_pattern_of =
                |word: &str| word == *device || device.starts_with(word.trim_end_matches('*'));
            assert!(PATTERNS.split(", ").any(is_pattern_of), "{device}");
        }
    }

    #[test]
    fn the_summary_of_problems_is_bounded() {
        let problems: Vec<String> = (0..40).map(|n| format!("imc_{n}: broken")).collect();
        assert_eq!(summary(&problems).unwrap(), "imc_0: broken; imc_1: broken; and 38 more");
        assert_eq!(summary(&[]), None);
    }
}

//! `truebench alloc load`: allocators under one load.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use alloc::find::{self, Places};
use alloc::mode::Options;
use alloc::profile::{KNOWN, Profile};
use figure::Machine;
use lab::schedule::Rules;

use crate::args::alloc::Load;
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};

/// With --quick the load takes 85 s, so that with start and end it is done within 90.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.354 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Load) -> Result<ExitCode, CommandError> {
    let machine =
        here::machine(arguments.measuring.class.as_deref(), &here::listed(arguments.places.as_ref()), None)?;
    execute(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// The load that is to be measured.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &Load, machine: &Machine) -> Result<Vec<Part>, CommandError> {
    let chosen = find::chosen(&arguments.allocators, &Places::live()).map_err(CommandError::usage)?;
    let profile = profile(arguments)?;
    let options = |rules: Rules| Options {
        allocators: chosen.clone(),
        profile: profile.clone(),
        is_sized: arguments.slots.is_some() || arguments.ram.is_some(),
        access: arguments.access,
        threads: arguments.threads.clone(),
        places: arguments.places.clone(),
        is_compat: arguments.compat,
        remote: arguments.remote_free.unwrap_or(0.0),
        processes: arguments.processes,
        siblings: arguments.siblings,
        rules,
    };
    plans(alloc::MODES.to_vec(), machine, &arguments.measuring, TIMES, &options).map(parts)
}

/// The load that is asked for.
fn profile(arguments: &Load) -> Result<Profile, CommandError> {
    let word = &arguments.profile;
    let wrong = |reason: &dyn Display| CommandError::usage(format!("--profile {word}: {reason}"));
    let mut profile = match Profile::named(word) {
        Some(profile) => profile,
        None => {
            let text = std::fs::read_to_string(Path::new(word)).map_err(|error| {
                let advice = format!("there are {}, and files of size,rate,lifetime", KNOWN.join(", "));
                wrong(&format!("{error}; {advice}"))
            })?;
            Profile::of_histogram(word, &text).map_err(|reason| wrong(&reason))?
        }
    };
    if let Some(bytes) = arguments.max_size {
        profile = profile
            .with_largest(bytes)
            .map_err(|reason| CommandError::usage(format!("--max-size {reason}")))?;
    }
    if let Some(bytes) = arguments.ram {
        profile = profile.in_about(bytes);
    }
    if let Some(slots) = arguments.slots {
        profile = profile.with_slots(slots);
    }
    if let Some(steps) = arguments.steps {
        profile.steps = steps;
    }
    if let Some(seed) = arguments.seed {
        profile.seed = seed;
    }
    Ok(profile)
}

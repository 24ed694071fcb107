//! `truebench alloc`.

mod attempt;
mod record;

use std::path::Path;
use std::process::ExitCode;

use alloc::allocators::ALLOCATORS;
use alloc::find::{self, Installed, Places};
use alloc::mode::{Mode, Options};
use alloc::profile::{KNOWN, Profile};
use figure::Machine;
use figure::format::plain;
use lab::schedule::Rules;
use machine::{Asked, Tree};

use crate::args::Alloc;
use crate::failure::Failure;
use crate::output;
use crate::plans::{Part, Times, carry_out, parts, plans};

/// With --quick the load takes 85 s, so that with start and end it is done within 90.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.354 };

/// The load where none is asked for.
pub const PROFILE: &str = "ithare";

/// What is done, by the first word: list, try, record; any other is an allocator's.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Alloc) -> Result<ExitCode, Failure> {
    let places = Places::live();
    let (word, others) = match arguments.allocators.split_first() {
        Some((word, others)) => (word.as_str(), others),
        None => ("", &[][..]),
    };
    match word {
        "list" if others.is_empty() => {
            output::print(list(&places).as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        "list" => Err(Failure::usage(format!("list takes no more words, and there is '{}'", others[0]))),
        "try" => attempt::run(arguments, others, &places),
        "record" => record::run(arguments, others),
        _ if !arguments.command.is_empty() => {
            Err(Failure::usage("a command is for try or record: truebench alloc try -- COMMAND"))
        }
        _ => {
            let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
            carry_out(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
        }
    }
}

/// The load that is to be measured.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &Alloc, machine: &Machine) -> Result<Vec<Part>, Failure> {
    let chosen = find::chosen(&arguments.allocators, &Places::live()).map_err(Failure::usage)?;
    let profile = profile(arguments)?;
    let options = |rules: Rules| Options {
        allocators: chosen.clone(),
        profile: profile.clone(),
        is_sized: is_sized(arguments),
        access: arguments.access,
        threads: arguments.threads.clone(),
        places: arguments.places.clone(),
        is_compat: arguments.compat,
        remote: arguments.remote_free.unwrap_or(0.0),
        processes: arguments.processes,
        siblings: arguments.siblings,
        rules,
    };
    let modes: Vec<&'static Mode> = alloc::MODES.to_vec();
    plans(modes, machine, &arguments.measuring, TIMES, &options).map(parts)
}

/// The load that is asked for.
fn profile(arguments: &Alloc) -> Result<Profile, Failure> {
    let word = &arguments.profile;
    let wrong = |reason: String| Failure::usage(format!("--profile {word}: {reason}"));
    let mut profile = match Profile::known(word) {
        Some(profile) => profile,
        None => {
            let text = std::fs::read_to_string(Path::new(word)).map_err(|error| {
                wrong(format!("{error}; there are {}, and files of size,rate,lifetime", KNOWN.join(", ")))
            })?;
            Profile::of_histogram(word, &text).map_err(wrong)?
        }
    };
    if let Some(bytes) = arguments.max_size {
        profile =
            profile.with_largest(bytes).map_err(|reason| Failure::usage(format!("--max-size {reason}")))?;
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

fn is_sized(arguments: &Alloc) -> bool {
    arguments.slots.is_some() || arguments.ram.is_some()
}

/// Which allocators there are, which version, where, and how to get the others. The path, which may be long, stands last.
fn list(places: &Places) -> String {
    const NONE: &str = "–";
    let rows: Vec<(&str, String, String)> = ALLOCATORS
        .iter()
        .map(|one| {
            let installed = find::installed(one, places);
            let version = installed.as_ref().and_then(|one| one.version.as_ref());
            let version = version.map_or_else(|| NONE.to_owned(), |version| version.number.clone());
            let place = match installed {
                Some(Installed { library: Some(library), .. }) => library.display().to_string(),
                Some(Installed { library: None, .. }) => match places.libc() {
                    Some(library) => format!("the C library's own: {}", library.display()),
                    None => "the C library's own".to_owned(),
                },
                None => places.missing(one),
            };
            (one.name, plain(&version), plain(&place))
        })
        .collect();
    let name = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let version = rows.iter().map(|row| row.1.chars().count()).max().unwrap_or(0);
    let entries = rows.into_iter().map(|row| (format!("{:<name$}  {:<version$}", row.0, row.1), row.2));
    output::list(entries) + "\nAny other one: NAME=/path/lib.so\n"
}

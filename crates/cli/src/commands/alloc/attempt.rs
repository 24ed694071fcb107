//! `truebench alloc try`: a program of the user's under each allocator.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use alloc::attempt::{MODE, Options};
use alloc::find::{self, Places};
use lab::schedule::Rules;
use lab::start::Program;
use machine::{Asked, Tree};

use super::TIMES;
use crate::args::Alloc;
use crate::failure::Failure;
use crate::plans::{carry_out, plans};

/// What is said where there is no command.
const HOW: &str =
    "try needs a program of yours, behind two hyphens: truebench alloc try [ALLOCATOR…] -- COMMAND [ARG…]";

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Alloc, words: &[String], places: &Places) -> Result<ExitCode, Failure> {
    let Some(command) = arguments.command.first() else { return Err(Failure::usage(HOW)) };
    if let Some(option) = of_load(arguments) {
        return Err(Failure::usage(format!(
            "{option} is of the load, and try runs a program of yours instead: leave it out (CPUs are chosen by taskset -c \
             LIST truebench …)"
        )));
    }
    let allocators = find::chosen(words, places).map_err(Failure::usage)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = file(command, &path).ok_or_else(|| {
        Failure::usage(format!("{}: no such program; a shell's own commands need sh -c '…'", told(command)))
    })?;
    // The worker may be killed at any time; what is in here goes with us.
    let directory = tempfile::Builder::new().prefix("truebench-try-").tempdir();
    let directory =
        directory.map_err(|error| Failure::measuring(format!("a directory for the proof: {error}")))?;
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    let options = |rules: Rules| Options {
        allocators: allocators.clone(),
        program: Program { file: file.clone(), arguments: arguments.command.clone() },
        directory: directory.path().to_owned(),
        rules,
    };
    let plans = plans(vec![&MODE], &machine, &arguments.measuring, TIMES, &options)?;
    carry_out(plans, machine, &arguments.measuring, &arguments.output)
}

/// An option that was given although it says something of the load alone.
fn of_load(arguments: &Alloc) -> Option<&'static str> {
    let given = [
        ("--profile", arguments.profile != super::PROFILE),
        ("--access", arguments.access != cell::load::touch::Access::Full),
        ("--threads", !arguments.threads.is_empty()),
        ("--places", arguments.places.is_some()),
        ("--siblings", arguments.siblings),
        ("--slots", arguments.slots.is_some()),
        ("--ram", arguments.ram.is_some()),
        ("--max-size", arguments.max_size.is_some()),
        ("--steps", arguments.steps.is_some()),
        ("--seed", arguments.seed.is_some()),
        ("--remote-free", arguments.remote_free.is_some()),
        ("--processes", arguments.processes),
        ("--compat", arguments.compat),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
}

/// The file that a command means: one with a slash itself, any other the first of its name in PATH.
fn file(command: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let is_program = |file: &Path| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if command.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(command)).filter(|file| is_program(file));
    }
    std::env::split_paths(path).map(|directory| directory.join(command)).find(|file| is_program(file))
}

fn told(command: &OsString) -> String {
    figure::format::plain_to(&command.to_string_lossy(), 80)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_command_is_looked_for_as_a_shell_does() {
        let directory = tempfile::tempdir().unwrap();
        let (program, other) = (directory.path().join("program"), directory.path().join("text"));
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&other, "").unwrap();
        let path = std::env::join_paths([Path::new("/nonexistent"), directory.path()]).unwrap();
        assert_eq!(file(OsStr::new("program"), &path), Some(program.clone()));
        assert_eq!(file(OsStr::new("text"), &path), None);
        assert_eq!(file(program.as_os_str(), OsStr::new("")), Some(program));
        assert_eq!(file(OsStr::new("./program"), &path), None);
    }
}

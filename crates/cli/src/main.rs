//! The truebench binary: arguments -> plan -> suites -> judge -> report.

mod args;
mod commands;
mod failure;
mod output;
mod run;
mod values;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::Failure;

/// The workers that this binary can be: `suite.mode`.
fn worker_of(name: &str) -> Option<lab::worker::Prepare> {
    match name.split_once('.')? {
        (memory::SUITE, mode) => memory::mode(mode).map(|mode| mode.prepare),
        _ => None,
    }
}

fn main() -> ExitCode {
    // Before anything is parsed or allocated: this may be a worker, and its process is what is measured.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == lab::guardian::MARKER => return guardian(arguments),
        Some(first) if first == lab::worker::MARKER => return worker(arguments),
        _ => {}
    }
    match dispatch(Args::parse()) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch(args: Args) -> Result<ExitCode, Failure> {
    match args.command {
        Command::Host(host) => commands::host::run(&host),
        Command::Memory(memory) => commands::memory::run(&memory),
        Command::Report(report) => commands::report::run(&report),
        Command::Explain(explain) => commands::explain::run(&explain),
        Command::Schema => commands::schema::run(),
        Command::Completions(completions) => commands::completions::run(&completions),
    }
}

fn guardian(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let lifeline = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let name = arguments.next().and_then(|name| name.into_string().ok());
    match (lifeline, name) {
        (Some(lifeline), Some(name)) => lab::guardian::main(lifeline, &name),
        _ => ExitCode::from(failure::USAGE),
    }
}

fn worker(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let name = arguments.next();
    let Some(prepare) = name.as_deref().and_then(std::ffi::OsStr::to_str).and_then(worker_of) else {
        return ExitCode::from(failure::USAGE);
    };
    match lab::worker::serve(prepare) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(failure::NOT_MEASURED),
    }
}

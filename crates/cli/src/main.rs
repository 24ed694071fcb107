//! The truebench binary: arguments -> plan -> suites -> judge -> report.

mod args;
mod commands;
mod effect;
mod failure;
mod output;
mod plans;
mod program;
mod run;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;
use std::str::FromStr;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command};
use failure::Failure;

/// The workers that this binary can be: `suite.mode`.
fn worker_of(name: &str) -> Option<lab::worker::Prepare> {
    match name.split_once('.')? {
        (memory::SUITE, mode) => memory::mode(mode).map(|mode| mode.prepare),
        (alloc::SUITE, mode) => alloc::worker(mode),
        (faults::SUITE, mode) => faults::worker(mode),
        (http::SUITE, mode) => http::modes::worker(mode),
        (system::SUITE, mode) => system::mode(mode).map(|mode| mode.prepare),
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
    let matches = Args::command().get_matches();
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match effect::check(&args.command, &matches).and_then(|()| dispatch(args)) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch(args: Args) -> Result<ExitCode, Failure> {
    match args.command {
        Command::Run(run) => commands::run::run(&run),
        Command::Host(host) => commands::host::run(&host),
        Command::Memory(memory) => commands::memory::run(&memory),
        Command::System(system) => commands::system::run(&system),
        Command::Alloc(alloc) => commands::alloc::run(&alloc),
        Command::Faults(faults) => commands::faults::run(&faults),
        Command::Http(http) => commands::http::run(&http),
        Command::Selftest(selftest) => commands::selftest::run(&selftest),
        Command::Compare(compare) => commands::compare::run(&compare),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Report(report) => commands::report::run(&report),
        Command::Explain(explain) => commands::explain::run(&explain),
        Command::Schema(schema) => commands::schema::run(&schema),
        Command::Completions(completions) => commands::completions::run(&completions),
        Command::Man(man) => commands::man::run(&man),
    }
}

fn guardian(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match number(arguments.next()) {
        Some(lifeline) => lab::guardian::main(lifeline, &arguments.collect::<Vec<_>>()),
        None => ExitCode::from(failure::USAGE),
    }
}

fn number<T: FromStr>(argument: Option<OsString>) -> Option<T> {
    argument?.to_str()?.parse().ok()
}

fn worker(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let name = arguments.next().and_then(|name| name.into_string().ok());
    let (Some(name), Some(parent)) = (name, number(arguments.next())) else {
        return ExitCode::from(failure::USAGE);
    };
    let served = if name == http::client::WORKER {
        http::client::serve(parent)
    } else if let Some(prepare) = worker_of(&name) {
        lab::worker::serve(prepare, parent)
    } else {
        return ExitCode::from(failure::USAGE);
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(failure::NOT_MEASURED),
    }
}

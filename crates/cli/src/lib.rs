//! The command line: arguments -> plan -> suites -> judge -> report.

mod args;
mod commands;
mod definition;
mod effect;
mod examples;
mod exit;
mod here;
mod input;
mod lock;
mod manual;
mod markdown;
mod output;
mod plans;
mod program;
mod run;
#[cfg(test)]
mod testing;
mod tiers;
mod values;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use clap::FromArgMatches;

use args::http::TOKEN;
use args::{Args, Command};
use exit::CommandError;
use figure::secrets;
use rustix::process::{Resource, getrlimit};

/// The workers that this binary can be: `suite.mode`.
fn worker_of(name: &str) -> Option<&'static dyn lab::worker::Body> {
    match name.split_once('.')? {
        (memory::SUITE, mode) => memory::worker(mode),
        (alloc::SUITE, mode) => alloc::worker(mode),
        (faults::SUITE, mode) => faults::worker(mode),
        (http::SUITE, mode) => http::modes::worker(mode),
        (system::SUITE, mode) => system::worker(mode),
        _ => None,
    }
}

/// A limit of the stack (ulimit -s) below which truebench runs on a thread with a stack of its own, and the
/// size of that, in bytes.
const SMALL_STACK: u64 = 2 << 20;
const STACK: usize = 8 << 20;

/// The main function of truebench, and of the workers and guardians that it starts as itself.
pub fn main() -> ExitCode {
    // A set-user-ID program must trust nothing of its caller: not PATH, not HOME, not the program to run.
    if lab::trust::is_set_id() {
        let refusal = "truebench is set-user-ID or set-group-ID, and runs what its user names: remove that mode, and use sudo";
        return CommandError::usage(refusal).report();
    }
    // Guardians and workers are executed as /proc/self/exe: ps, top and our own reports would call them
    // `exe`.
    let _ = rustix::thread::set_name(c"truebench");
    if getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= SMALL_STACK) {
        return start();
    }
    match std::thread::Builder::new().stack_size(STACK).spawn(start) {
        Ok(running) => running.join().unwrap_or(ExitCode::from(exit::NOT_MEASURED)),
        Err(error) => {
            CommandError::measuring(format!("the stack is too small (ulimit -s), and a larger one: {error}"))
                .report()
        }
    }
}

fn start() -> ExitCode {
    // Before anything is parsed or allocated: this may be a worker, and its process is what is measured.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == lab::guardian::MARKER => return guardian(arguments),
        Some(first) if first == lab::worker::MARKER => return worker(arguments),
        Some(first) if first == lab::warden::MARKER => return warden(arguments),
        Some(first) if first == lab::timed::MARKER => return timed(arguments),
        _ => {}
    }
    let matches = definition::definition().try_get_matches().unwrap_or_else(|error| exit(&error));
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| exit(&error));
    let limit = lab::exit_status::survive_file_limit()
        .map_err(|error| CommandError::measuring(format!("signal handlers could not be installed: {error}")));
    let done = limit.and_then(|()| match args.command {
        Some(command) => effect::check(&command, &matches).and_then(|()| dispatch(&command)),
        None => commands::start::run(),
    });
    let code = done.unwrap_or_else(CommandError::report);
    lab::warden::dismiss();
    code
}

/// Reports wrong arguments without their secrets, and exits.
fn exit(error: &clap::Error) -> ! {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let masked = secrets::command(&words);
    let mut hidden: Vec<(&str, &str)> = Vec::new();
    for (word, masked) in words.iter().zip(&masked).filter(|(word, masked)| word != masked) {
        hidden.push((word, masked));
        // Of `--name=value` the value alone is quoted.
        hidden.extend(
            word.split_once('=').zip(masked.split_once('=')).map(|((_, word), (_, masked))| (word, masked)),
        );
    }
    let token = std::env::var(TOKEN).unwrap_or_default();
    hidden.push((&token, secrets::MASK));
    let wrong_mode = definition::wrong_mode(error, &words).map(|message| format!("truebench: {message}\n"));
    let is_clap_text = wrong_mode.is_none();
    let text = wrong_mode.unwrap_or_else(|| error.to_string());
    let masked = hidden.iter().fold(text.clone(), |text, (word, masked)| {
        text.replace(&format!("'{word}'"), &format!("'{masked}'"))
    });
    if masked == text && is_clap_text {
        error.exit();
    }
    // Nothing can be done where even stderr is closed.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), masked.as_bytes());
    std::process::exit(error.exit_code())
}

fn dispatch(command: &Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Run(run) => commands::run::run(run),
        Command::Host(host) => commands::host::run(host),
        Command::Memory(memory) => commands::memory::run(memory),
        Command::System(system) => commands::system::run(system),
        Command::Alloc(alloc) => commands::alloc::run(alloc),
        Command::Faults(faults) => commands::faults::run(faults),
        Command::Http(http) => commands::http::run(http),
        Command::Selftest(selftest) => commands::selftest::run(selftest),
        Command::Compare(compare) => commands::compare::run(compare),
        Command::Fleet(fleet) => commands::fleet::run(fleet),
        Command::Audit(audit) => commands::audit::run(audit),
        Command::Report(report) => commands::report::run(report),
        Command::Explain(explain) => commands::explain::run(explain),
        Command::Schema(schema) => commands::schema::run(schema),
        Command::Completions(completions) => commands::completions::run(completions),
        Command::Man(man) => commands::man::run(man),
    }
}

fn guardian(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match number(arguments.next()) {
        Some(lifeline) => lab::guardian::main(lifeline, &arguments.collect::<Vec<_>>()),
        None => ExitCode::from(exit::USAGE),
    }
}

fn warden(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match (number(arguments.next()), arguments.next().and_then(|mark| mark.into_string().ok())) {
        (Some(socket), Some(mark)) => lab::warden::main(socket, &mark),
        _ => ExitCode::from(exit::USAGE),
    }
}

fn timed(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match arguments.next() {
        Some(file) => lab::timed::main(Path::new(&file), &arguments.collect::<Vec<_>>()),
        None => ExitCode::from(exit::USAGE),
    }
}

fn number<T: FromStr>(argument: Option<OsString>) -> Option<T> {
    argument?.to_str()?.parse().ok()
}

fn worker(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let name = arguments.next().and_then(|name| name.into_string().ok());
    let (Some(name), Some(parent)) = (name, number(arguments.next())) else {
        return ExitCode::from(exit::USAGE);
    };
    let served = if name == http::client::WORKER {
        http::client::serve(parent)
    } else if let Some(body) = worker_of(&name) {
        lab::worker::serve(body, parent)
    } else {
        return ExitCode::from(exit::USAGE);
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(exit::NOT_MEASURED),
    }
}

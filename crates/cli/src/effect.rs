//! Refuses an option that no mode of the command line reads, before anything runs.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command as Definition};

use crate::args::http::{self, Http};
use crate::args::modes::SharedArgs;
use crate::args::{Command, faults, memory, system};
use crate::definition::definition;
use crate::exit::CommandError;

#[cfg(test)]
mod tests;

/// The options, by clap's ids, that a mode reads.
enum Reads {
    AllBut(&'static [&'static str]),
    Only(Vec<&'static str>),
}

/// A mode that does not read every option of its command.
struct Mode {
    name: String,
    reads: Reads,
    /// What the user can do instead of giving an option that it does not read.
    advice: &'static str,
}

impl Mode {
    fn of_suite<O: SharedArgs>(suite: &str, mode: &str) -> Mode {
        let mut options = O::read_by(mode);
        options.push(ONLY);
        Mode { name: format!("{suite} {mode}"), reads: Reads::Only(options), advice: LEAVE_OUT }
    }

    fn all_but(name: &str, unread: &'static [&'static str], advice: &'static str) -> Mode {
        Mode { name: name.to_owned(), reads: Reads::AllBut(unread), advice }
    }

    fn only(name: &str, read: &[&'static str]) -> Mode {
        Mode { name: name.to_owned(), reads: Reads::Only(read.to_vec()), advice: LEAVE_OUT }
    }

    fn reads(&self, id: &str) -> bool {
        match &self.reads {
            Reads::AllBut(unread) => !unread.contains(&id),
            Reads::Only(read) => read.contains(&id),
        }
    }
}

/// The option of `all` that chooses modes.
const ONLY: &str = "only";
/// Options of rounds and of the cores that they run on.
const MEASURING: &[&str] =
    &["quick", "thorough", "rounds", "max_time", "target", "class", "dry_run", "strict"];
/// Advice where there is none better.
const LEAVE_OUT: &str = "leave it out";

/// The modes that a command line runs, if each of them leaves options unread. `effect/tests.rs` changes each
/// option of each mode and compares the plans.
fn modes(command: &Command) -> Vec<Mode> {
    match command {
        Command::Run(run) if run.resume.is_some() => {
            vec![Mode::only("run --resume", &["resume", "quiet", "no_color"])]
        }
        Command::Host(host) if host.capture.is_some() => vec![Mode::only("host --capture", &["capture"])],
        Command::Memory(memory) => match memory.chosen() {
            memory::Chosen::Modes(names, _) => {
                names.into_iter().map(|name| Mode::of_suite::<memory::Options>("memory", name)).collect()
            }
            memory::Chosen::Inspect(_) => Vec::new(),
        },
        Command::System(system) => {
            let (names, _) = system.chosen();
            names.into_iter().map(|name| Mode::of_suite::<system::Options>("system", name)).collect()
        }
        Command::Selftest(selftest) if selftest.list => {
            vec![Mode::only("selftest --list", &["which", "all", "list", "max_time", "programs"])]
        }
        Command::Audit(audit) if audit.list => vec![Mode::only("audit --list", &["list"])],
        Command::Faults(faults) => of_faults(faults),
        Command::Http(http) => of_http(http),
        _ => Vec::new(),
    }
}

fn of_faults(faults: &faults::Faults) -> Vec<Mode> {
    let of_watch = |watch: &faults::Watch| {
        let unread = (!watch.prove.prove).then(|| Mode::all_but("faults", MEASURING, "it needs --prove"));
        unread.into_iter().collect()
    };
    match &faults.mode {
        None => of_watch(&faults.watch),
        Some(faults::Mode::Watch(watch)) => of_watch(watch),
        Some(faults::Mode::Demo(demo)) if demo.list => vec![Mode::only("faults demo --list", &["list"])],
        Some(faults::Mode::Demo(demo)) if !demo.prove => {
            vec![Mode::all_but("faults demo", MEASURING, "it needs --prove")]
        }
        _ => Vec::new(),
    }
}

fn of_http(http: &Http) -> Vec<Mode> {
    let of_study = |study: &http::Study| {
        let is_here = study.servers.remote.is_none();
        is_here.then(|| Mode::all_but("http without --remote", &["token"], "it needs --remote"))
    };
    let unread = match &http.mode {
        None => of_study(&http.study),
        Some(http::Mode::Study(study)) => of_study(study),
        Some(http::Mode::Load(load)) if load.target.url.scheme() == "http" => {
            Some(Mode::all_but("http load --url http://…", &["cacert", "insecure", "target"], LEAVE_OUT))
        }
        Some(http::Mode::Load(_)) => Some(Mode::all_but("http load", &["target"], LEAVE_OUT)),
        Some(http::Mode::Serve(serve)) if serve.no_token => {
            Some(Mode::all_but("http serve --no-token", &["token"], LEAVE_OUT))
        }
        _ => None,
    };
    unread.into_iter().collect()
}

/// Refuses an option of the command line that no mode of it reads.
///
/// # Errors
/// Wrong usage: the option, and the modes.
pub fn check(command: &Command, matches: &ArgMatches) -> Result<(), CommandError> {
    let modes = modes(command);
    if modes.is_empty() {
        return Ok(());
    }
    let unread = |option: &Arg| modes.iter().all(|mode| !mode.reads(option.get_id().as_str()));
    let Some(option) = given(&definition(), matches).into_iter().find(unread) else { return Ok(()) };
    let names: Vec<&str> = modes.iter().map(|mode| mode.name.as_str()).collect();
    let advice = match readers(command, option.get_id().as_str()) {
        readers if readers.is_empty() => modes[0].advice.to_owned(),
        readers => format!("it is for {}", readers.join(", ")),
    };
    Err(CommandError::usage(format!("{} has no effect with {}: {advice}", flag(&option), names.join(", "))))
}

/// The modes of the same suite that read an option.
fn readers(command: &Command, id: &str) -> Vec<String> {
    match command {
        Command::Memory(_) => readers_of::<memory::Options>("memory", id),
        Command::System(_) => readers_of::<system::Options>("system", id),
        _ => Vec::new(),
    }
}

fn readers_of<O: SharedArgs>(suite: &str, id: &str) -> Vec<String> {
    let read = O::MODES.iter().filter(|mode| mode.options.contains(&id));
    read.map(|mode| format!("{suite} {}", mode.name)).collect()
}

/// The options that stand on the command line, of its innermost subcommand.
fn given(definition: &Definition, matches: &ArgMatches) -> Vec<Arg> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(definition) = definition.find_subcommand(name)
    {
        return given(definition, matches);
    }
    let is_given =
        |option: &&Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
    definition.get_arguments().filter(is_given).cloned().collect()
}

/// An option as people write it; an operand by its name in the help.
fn flag(option: &Arg) -> String {
    let operand = || option.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let long = option.get_long().map(|long| format!("--{long}"));
    long.or_else(operand).unwrap_or_else(|| option.get_id().to_string())
}

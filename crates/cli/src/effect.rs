//! Which options each mode reads. An option without effect is refused before anything runs.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command as Definition, CommandFactory};

use crate::args::http::{Http, Load, What};
use crate::args::{Alloc, Args, Command, Memory, System, faults};
use crate::commands;
use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// The options, by clap's ids, that a mode reads.
enum Reads {
    AllBut(&'static [&'static str]),
    Only(&'static [&'static str]),
}
use Reads::{AllBut, Only};

/// A mode of a command, with what it reads and what to do instead of an option that it does not read.
struct Mode {
    name: &'static str,
    reads: Reads,
    instead: &'static str,
}

const fn mode(name: &'static str, reads: Reads) -> Mode {
    Mode { name, reads, instead: "" }
}

/// Modes that do not read every option of their command. `effect/tests.rs` changes each option of each mode and compares the plans.
const MODES: &[Mode] = &[
    mode("memory --bandwidth", AllBut(&["schedule"])),
    mode("memory --mix", AllBut(&["schedule", "kernel", "stores", "offset"])),
    mode("memory --scaling", AllBut(&["bind"])),
    mode("memory --ladder", AllBut(&["schedule", "array_size", "kernel", "stores", "offset"])),
    mode(
        "memory --latency",
        AllBut(&["schedule", "array_size", "kernel", "stores", "offset", "simd", "threads"]),
    ),
    mode("memory --loaded", AllBut(&["schedule", "kernel", "stores", "offset"])),
    mode("memory --alignment", AllBut(&["schedule", "offset"])),
    mode(
        "memory --c2c",
        AllBut(&["schedule", "array_size", "kernel", "stores", "offset", "simd", "threads", "bind"]),
    ),
    mode("memory --numa", AllBut(&["schedule", "kernel", "stores", "offset"])),
    mode("memory --counters", AllBut(&["schedule"])),
    mode("memory --cross-check", AllBut(&["schedule"])),
    mode("memory --inspect", Only(&["inspect", "format", "dimms"])),
    mode("system cross-check", AllBut(&["copies", "unixbench", "passes"])),
    mode("system switch", AllBut(&["copies", "unixbench", "passes", "directory"])),
    mode("system cores", AllBut(&["copies", "unixbench", "passes", "duration", "directory"])),
    mode("system noise", AllBut(&["copies", "unixbench", "passes", "directory"])),
    mode("alloc list", Only(&["allocators"])),
    Mode {
        name: "alloc try",
        reads: AllBut(&[
            "profile",
            "access",
            "threads",
            "places",
            "siblings",
            "slots",
            "ram",
            "max_size",
            "steps",
            "seed",
            "remote_free",
            "processes",
            "compat",
        ]),
        instead: "; it runs a program of yours, and taskset -c LIST truebench alloc try … chooses its CPUs",
    },
    mode("alloc record", Only(&["allocators", "command", "format", "output", "quiet"])),
    mode("run --resume", Only(&["resume", "quiet", "no_color"])),
    mode("host --capture", Only(&["capture"])),
    mode(
        "selftest --list",
        AllBut(&["repeat", "clean_runs", "only_clean", "format", "output", "quiet", "no_color"]),
    ),
    Mode { name: "faults", reads: AllBut(MEASURING), instead: ": it needs --prove" },
    Mode { name: "faults demo", reads: AllBut(MEASURING), instead: ": it needs --prove" },
    mode("faults demo --list", Only(&["list"])),
    mode("http --url http://…", AllBut(&["servers", "pools", "token", "target", "cacert", "insecure"])),
    mode("http --url https://…", AllBut(&["servers", "pools", "token", "target"])),
    Mode { name: "http without --remote", reads: AllBut(&["token"]), instead: ": it needs --remote" },
    mode("http serve --no-token", AllBut(&["token"])),
];

/// Options of rounds.
const MEASURING: &[&str] = &["quick", "thorough", "rounds", "max_time", "target", "dry_run", "strict"];

/// The modes of [`MODES`] that a command line runs. An option must have an effect in one of them.
fn modes(command: &Command) -> Vec<String> {
    let one = |name: &str| vec![name.to_owned()];
    match command {
        Command::Run(run) if run.resume.is_some() => one("run --resume"),
        Command::Host(host) if host.capture.is_some() => one("host --capture"),
        Command::Memory(memory) => of_memory(memory),
        Command::System(system) => of_system(system),
        Command::Alloc(alloc) => of_alloc(alloc),
        Command::Selftest(selftest) if selftest.list => one("selftest --list"),
        Command::Faults(faults::Faults { what: None, watch }) if !watch.prove.prove => one("faults"),
        Command::Faults(faults::Faults { what: Some(faults::What::Demo(demo)), .. }) => {
            match (demo.list, demo.prove) {
                (true, _) => one("faults demo --list"),
                (false, true) => Vec::new(),
                (false, false) => one("faults demo"),
            }
        }
        Command::Http(http) => of_http(http),
        _ => Vec::new(),
    }
}

fn of_memory(memory: &Memory) -> Vec<String> {
    if memory.modes.inspect.is_some() {
        return vec!["memory --inspect".to_owned()];
    }
    commands::memory::modes(memory).iter().map(|mode| format!("memory --{}", mode.name)).collect()
}

fn of_system(system: &System) -> Vec<String> {
    commands::system::modes(system).iter().map(|mode| format!("system {}", mode.name)).collect()
}

fn of_alloc(alloc: &Alloc) -> Vec<String> {
    alloc.allocators.first().map(|word| format!("alloc {word}")).into_iter().collect()
}

fn of_http(http: &Http) -> Vec<String> {
    let Load { target, servers, .. } = &http.load;
    let name = match (&http.what, &target.url) {
        (Some(What::Serve(serve)), _) if serve.no_token => Some("http serve --no-token"),
        (Some(_), _) => None,
        (None, Some(url)) if url.scheme() == "https" => Some("http --url https://…"),
        (None, Some(_)) => Some("http --url http://…"),
        (None, None) => servers.remote.is_none().then_some("http without --remote"),
    };
    name.map(str::to_owned).into_iter().collect()
}

/// Refuses an option of the command line that no mode of it reads.
///
/// # Errors
/// Wrong usage: the option, and the modes.
pub fn check(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let names = modes(command);
    let reads = |name: &String| MODES.iter().find(|mode| mode.name == name);
    let modes: Vec<&Mode> = names.iter().filter_map(reads).collect();
    // A mode that is not listed reads everything.
    if modes.is_empty() || modes.len() < names.len() {
        return Ok(());
    }
    let without = given(&Args::command(), matches).into_iter().find(|option| {
        let id = option.get_id().as_str();
        modes.iter().all(|mode| match mode.reads {
            AllBut(not) => not.contains(&id),
            Only(only) => !only.contains(&id),
        })
    });
    let Some(option) = without else { return Ok(()) };
    let instead = modes.iter().map(|mode| mode.instead).find(|text| !text.is_empty()).unwrap_or_default();
    let instead = if instead.is_empty() { ": leave it out" } else { instead };
    Err(Failure::usage(format!("{} has no effect with {}{instead}", flag(&option), names.join(", "))))
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

/// An option as people write it.
fn flag(option: &Arg) -> String {
    option.get_long().map_or_else(|| option.get_id().to_string(), |long| format!("--{long}"))
}

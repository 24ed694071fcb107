use std::collections::BTreeMap;

use clap::{Command as Definition, FromArgMatches};
use figure::Machine;

use super::*;
use crate::args::Args;
use crate::args::modes::ModeArgs;
use crate::testing;

/// Options that change what is printed, the exit code, or what is known of the machine and used of it, and no plan.
const NOT_IN_PLANS: &[&str] = &[
    "format", "output", "quiet", "no_color", "strict", "dry_run", "dimms", "class", "with", "url", "help",
    "version",
];
/// wrk's and wrk2's words for details that the report of `http load` always has.
const ALWAYS_SHOWN: &[&str] = &["latency", "u_latency"];

/// A value other than the default of each option that takes one; where another option must be there as well,
/// that too.
fn sample<'a>(command: &str, id: &'a str, file: &'a str) -> Option<Vec<&'a str>> {
    let samples: BTreeMap<&str, &[&str]> = match command {
        "memory" => BTreeMap::from([
            ("array_size", &["--array-size=1M"][..]),
            ("bind", &["--bind=spread"]),
            ("kernel", &["--kernel=read"]),
            ("mix", &["--mix=3:1"]),
            ("nodes", &["--nodes=0"]),
            ("offset", &["--offset=64"]),
            ("pages", &["--pages=small"]),
            ("places", &["--places={0},{1}"]),
            ("schedule", &["--schedule=dynamic"]),
            ("simd", &["--simd=sse2"]),
            ("sizes", &["--sizes=16K..64M"]),
            ("stores", &["--stores=regular"]),
            ("threads", &["--threads=3"]),
        ]),
        "system" => BTreeMap::from([
            ("copies", &["--copies=3"][..]),
            ("directory", &["--dir=/"]),
            ("duration", &["--duration=3s"]),
            ("placement", &["--placement=same-cpu"]),
            ("way", &["--way=futex"]),
            ("passes", &["--unixbench", "--passes=5"]),
        ]),
        "alloc" => BTreeMap::from([
            ("access", &["--access=none"][..]),
            ("max_size", &["--max-size=1KiB"]),
            ("places", &["--places={0}"]),
            ("profile", &["--profile=uniform"]),
            ("ram", &["--ram=2GB"]),
            ("remote_free", &["--remote-free=10%"]),
            ("seed", &["--seed=9"]),
            ("slots", &["--slots=6000000"]),
            ("steps", &["--steps=77"]),
            ("threads", &["--threads=3"]),
        ]),
        "http" => BTreeMap::from([
            ("arrival", &["--rate=1k", "--arrival=constant"][..]),
            ("body", &["--body=x"]),
            ("client_cpus", &["--client-cpus=1"]),
            ("connections", &["--connections=7"]),
            ("cost", &["--cost=5us"]),
            ("duration", &["--duration=3s"]),
            ("engine", &["--engine=io_uring"]),
            ("env", &["--env=A=b"]),
            ("expect_body_bytes", &["--expect-body-bytes=3"]),
            ("expect_status", &["--expect-status=204"]),
            ("headers", &["--header=A: b"]),
            ("loads", &["--loads=saturation"]),
            ("method", &["--method=PUT"]),
            ("pools", &["--pools=3"]),
            ("pprof", &["--pprof=127.0.0.1:1"]),
            ("processes", &["--processes=2"]),
            ("ramp", &["--ramp=5"]),
            ("rate", &["--rate=1k"]),
            ("remote", &["--remote=127.0.0.1:1"]),
            ("requests", &["--requests=600"]),
            ("server", &["--server=true"]),
            ("server_cpus", &["--server-cpus=3"]),
            ("server_pid", &["--server-pid=1"]),
            ("servers", &["--servers=nethttp"]),
            ("sleep", &["--sleep=5ms"]),
            ("slo", &["--slo=p99<5ms"]),
            ("sources", &["--sources=127.0.0.1"]),
            ("threads", &["--threads=3"]),
            ("timeout", &["--timeout=3s"]),
            ("token", &["--token=0123456789abcdef0123456789abcdef"]),
            ("warmup", &["--warmup=3s"]),
        ]),
        other => panic!("no samples for {other}"),
    };
    let measuring = BTreeMap::from([
        ("max_time", &["--max-time=777s"][..]),
        ("rounds", &["--rounds=17"]),
        ("target", &["--target=9%"]),
    ]);
    let words = samples.get(id).or_else(|| measuring.get(id)).copied().map(<[&str]>::to_vec);
    words.or_else(|| ["body_file", "cacert"].contains(&id).then(|| vec![file]))
}

/// What a command line would measure, in full; `Err` where it is refused.
fn plan(words: &[&str], machine: &Machine) -> Result<String, String> {
    let words = std::iter::once(&"truebench").chain(words);
    let matches = definition().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let args = Args::from_arg_matches(&matches).map_err(|error| error.to_string())?;
    is_read(&args, &matches)?;
    testing::plan(args, machine)
}

/// Refuses an option without effect, as the program does.
fn is_read(args: &Args, matches: &ArgMatches) -> Result<(), String> {
    let command = args.command.as_ref().expect("a command");
    check(command, matches).map_err(|failure| failure.message().to_owned())
}

/// The innermost command that words name.
fn named<'a>(definition: &'a Definition, words: &[&str]) -> &'a Definition {
    let names = words.iter().take_while(|word| !word.starts_with('-'));
    names.fold(definition, |command, name| command.find_subcommand(name).unwrap_or(command))
}

/// With each option that the command has, a mode has another plan, or the option is refused; and it is
/// refused only where the plan would be the same.
fn every_option_counts(mode: &[&str], machine: &Machine) -> Vec<String> {
    let definition = definition();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a body").unwrap();
    let before = plan(mode, machine).unwrap_or_else(|why| panic!("{mode:?}: {why}"));
    let mut wrong = Vec::new();
    for option in named(&definition, mode).get_arguments().filter(|option| !option.is_positional()) {
        let id = option.get_id().as_str();
        if NOT_IN_PLANS.contains(&id) || mode[0] == "http" && ALWAYS_SHOWN.contains(&id) {
            continue;
        }
        let long = option.get_long().expect("every option has a long form");
        if mode.iter().any(|word| word.trim_start_matches('-').split('=').next() == Some(long)) {
            continue;
        }
        let of_file = format!("--{long}={}", file.path().display());
        let switch = format!("--{long}");
        let words = match option.get_action().takes_values() {
            true => sample(mode[0], id, &of_file).unwrap_or_else(|| panic!("no sample of {mode:?} --{long}")),
            false => vec![switch.as_str()],
        };
        let words = [mode, &words].concat();
        let matches = definition.clone().try_get_matches_from(std::iter::once(&"truebench").chain(&words));
        let Ok(matches) = matches else { continue };
        let args = Args::from_arg_matches(&matches).unwrap();
        let is_refused = is_read(&args, &matches).is_err();
        match testing::plan(args, machine) {
            Ok(after) if after == before && !is_refused => wrong.push(format!("{words:?} changes nothing")),
            Ok(after) if after != before && is_refused => {
                wrong.push(format!("{words:?} is refused and would change the plan"));
            }
            _ => {}
        }
    }
    wrong
}

#[test]
fn an_option_changes_the_plan_or_is_refused() {
    let machine = testing::server();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut line = |words: &[&str]| lines.push(words.iter().map(|word| (*word).to_owned()).collect());
    line(&["memory"]);
    // The tools to compare with are searched on PATH.
    for mode in memory::Options::MODES.iter().filter(|mode| mode.name != "cross-check") {
        line(&["memory", mode.name]);
        line(&["memory", "all", &format!("--only={}", mode.name)]);
    }
    let unixbench = tempfile::tempdir().unwrap();
    for file in ["pgms/pipe", "pgms/syscall", "testdir/sort.src"].map(|file| unixbench.path().join(file)) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    let with = format!("--with={}", unixbench.path().display());
    line(&["system"]);
    for mode in system::Options::MODES {
        let only = format!("--only={}", mode.name);
        match mode.name {
            "cross-check" => {
                line(&["system", mode.name, "pipe", &with]);
                line(&["system", "all", &only, "pipe", &with]);
            }
            name => {
                line(&["system", name]);
                line(&["system", "all", &only]);
            }
        }
    }
    line(&["alloc", "glibc"]);
    line(&["alloc", "load", "glibc"]);
    line(&["http", "load", "--url=http://127.0.0.1:9/"]);
    line(&["http", "load", "--url=http://127.0.0.1:9/", "--server=true"]);
    line(&["http", "load", "--url=https://127.0.0.1:9/"]);
    if ::http::servers::program().is_ok() {
        line(&["http"]);
        line(&["http", "study"]);
    } else {
        eprintln!("skipped: the study's options: no servers and no Go");
    }
    let wrong: Vec<String> = lines
        .iter()
        .flat_map(|words| {
            every_option_counts(&words.iter().map(String::as_str).collect::<Vec<_>>(), &machine)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_modes_are_those_of_the_suites() {
    let names = |modes: &[ModeArgs]| modes.iter().map(|mode| mode.name).collect::<Vec<_>>();
    let suite: Vec<&str> = ::memory::MODES.iter().map(|mode| mode.name()).collect();
    assert_eq!(names(memory::Options::MODES), suite);
    let suite: Vec<&str> = ::system::MODES.iter().map(|mode| mode.name()).collect();
    assert_eq!(names(system::Options::MODES), suite);
}

#[test]
fn a_mode_shows_the_options_that_it_reads() {
    let definition = definition();
    let shown = |words: &[&str]| -> Vec<String> {
        let visible = named(&definition, words).get_arguments().filter(|arg| !arg.is_hide_set());
        let mut ids: Vec<String> = visible.map(|arg| arg.get_id().to_string()).collect();
        ids.sort_unstable();
        ids
    };
    let sorted = |mut ids: Vec<&'static str>| {
        ids.sort_unstable();
        ids
    };
    for mode in memory::Options::MODES {
        let read = sorted(memory::Options::read_by(mode.name));
        assert_eq!(shown(&["memory", mode.name]), read, "{}", mode.name);
    }
    for mode in system::Options::MODES {
        let read = sorted(system::Options::read_by(mode.name));
        assert_eq!(shown(&["system", mode.name]), read, "{}", mode.name);
    }
    assert_eq!(shown(&["memory"]), shown(&["memory", "bandwidth"]));
    assert_eq!(shown(&["system"]), shown(&["system", "index"]));
}

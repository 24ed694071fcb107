//! What a command line would measure, for tests.

use clap::Parser;
use figure::Machine;
use machine::synthetic;

use crate::args::{Args, Command, alloc, faults, http, memory};
use crate::commands;
use crate::plans::Part;
use crate::run::Work;

/// Plans in full, as text; `Err` where they are refused.
pub fn plan(args: Args, machine: &Machine) -> Result<String, String> {
    parts(args, machine).map(text)
}

/// Plans; `Err` where they are refused.
pub fn parts(args: Args, machine: &Machine) -> Result<Vec<Part>, String> {
    let parts = match args.command.expect("a command") {
        Command::Memory(memory) => match memory.chosen() {
            memory::Chosen::Modes(names, options) => {
                commands::memory::planned(&names, options, &options.measuring, machine)
            }
            other => panic!("no plan of {other:?}"),
        },
        Command::System(system) => {
            let (names, options) = system.chosen();
            commands::system::planned(&names, options, machine)
        }
        Command::Alloc(alloc) => match &alloc.mode {
            None => commands::alloc::load::planned(&alloc.load, machine),
            Some(alloc::Mode::Load(load)) => commands::alloc::load::planned(load, machine),
            other => panic!("no plan of {other:?}"),
        },
        Command::Faults(faults) => match &faults.mode {
            Some(faults::Mode::Prices(prices)) => commands::faults::prices::planned(prices, machine),
            Some(faults::Mode::Demo(demo)) => commands::faults::demo::planned(demo).map(|part| vec![part]),
            other => panic!("no plan of {other:?}"),
        },
        Command::Http(http) => match &http.mode {
            None => commands::http::study::planned(&http.study, machine),
            Some(http::Mode::Study(study)) => commands::http::study::planned(study, machine),
            Some(http::Mode::Load(load)) => commands::http::load::planned(load, machine),
            other => panic!("no plan of {other:?}"),
        },
        other => panic!("no plan of {other:?}"),
    };
    parts.map_err(|failure| failure.message().to_owned())
}

/// Without the pages that a fault maps: each plan tries a new file, whose folios may be of another size.
fn without_probed(plan: String) -> String {
    let cut =
        plan.split_once(r#""around":"#).and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)));
    cut.map(|(before, after)| format!("{before}{after}")).unwrap_or(plan)
}

/// Plans in full, as text. The target says nothing where the number of rounds is fixed.
pub fn text(parts: Vec<Part>) -> String {
    let plan = |part: Part| match part.work {
        Work::Rounds(mut suite) => {
            let rules = &mut suite.plan.rules;
            rules.target = if rules.least == rules.most { 0.0 } else { rules.target };
            without_probed(format!("{:?}", suite.plan))
        }
        Work::Once(once) => format!("{}\n{}", part.description, once.what),
    };
    parts.into_iter().map(plan).collect()
}

/// The arguments that words mean.
pub fn parsed(words: &str) -> Args {
    let args = Args::try_parse_from(["truebench"].into_iter().chain(words.split(' ')));
    args.unwrap_or_else(|error| panic!("{words}: {error}"))
}

/// A machine with two sockets and SMT.
pub fn server() -> Machine {
    synthetic::described(synthetic::two_socket_smt_server)
}

//! `truebench http null`.

use std::process::ExitCode;

use figure::format::system_error;
use http::null::{Answer, Faults, Null};
use rustix::event::{PollFd, PollFlags, poll};

use crate::args::http::null::Null as Asked;
use crate::exit::CommandError;
use crate::output;
use crate::run::interrupt;

/// Serves until Ctrl-C.
///
/// # Errors
/// The address cannot be had; what stopped one of its threads.
pub(super) fn run(arguments: &Asked) -> Result<ExitCode, CommandError> {
    let interrupt = interrupt()?;
    let faults = &arguments.faults;
    let null = Null {
        address: arguments.bind,
        threads: arguments.threads,
        cpus: arguments.cpus.clone(),
        backlog: arguments.backlog,
        answer: Answer::with_body(arguments.body.as_bytes()),
        faults: Faults {
            stall: faults.stall,
            unavailable: faults.unavailable,
            silent: faults.silent,
            reset: faults.reset,
            twice: faults.twice,
            cut: faults.cut,
            other: faults.other,
            delay: faults.delay,
            drift: faults.drift,
            neglect: faults.neglect,
            accept: faults.accept,
            close_after: faults.close_after,
            drop_after: faults.drop_after,
            split: faults.split,
            trickle: faults.trickle,
            is_endless: faults.endless,
        },
    };
    let responder = null.start().map_err(|error| {
        CommandError::usage(format!("--bind {}: {}", arguments.bind, system_error(&error)))
    })?;
    output::print(format!("http://{}/\n", responder.address()).as_bytes())?;
    let signal = interrupt.descriptor();
    let input = std::io::stdin();
    let mut sources = vec![PollFd::new(&signal, PollFlags::IN)];
    if arguments.until_eof {
        sources.push(PollFd::new(&input, PollFlags::IN));
    }
    while interrupt.requested().is_none() {
        match poll(&mut sources, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Err(CommandError::measuring(format!(
                    "waiting for Ctrl-C: {}",
                    system_error(&error.into())
                )));
            }
        }
        let has_input = sources.get(1).is_some_and(|input| !input.revents().is_empty());
        if has_input && rustix::io::read(&input, &mut [0; 64]).is_ok_and(|count| count == 0) {
            break;
        }
    }
    let requests = responder
        .stop()
        .map_err(|error| CommandError::measuring(format!("it ended before: {}", system_error(&error))))?;
    // Whoever started it for a measurement does not ask.
    if !arguments.until_eof {
        eprintln!("truebench: {} read", figure::format::counted(requests as usize, "request"));
    }
    Ok(ExitCode::SUCCESS)
}

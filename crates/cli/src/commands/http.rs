//! `truebench http`.

mod list;
pub mod load;
mod null;
mod serve;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use figure::format::plain;
use http::servers::{self, ServerEntry};

use crate::args::http::{Http, What};
use crate::failure::Failure;

/// Does what is asked for.
///
/// # Errors
/// Wrong usage; what could not be had.
pub fn run(arguments: &Http) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(What::List) => list::run(),
        Some(What::Null(arguments)) => null::run(arguments),
        Some(What::Serve(arguments)) => serve::run(arguments),
        None => load::run(&arguments.load),
    }
}

/// The program of the servers under test, and which servers there are. Where it must be built first, that is told: it takes a while.
///
/// # Errors
/// They are not there, and cannot be built.
fn servers() -> Result<(PathBuf, Vec<ServerEntry>), Failure> {
    let told = |go: &str, at: &std::path::Path| {
        let [go, at] = [go, &at.display().to_string()].map(plain);
        // Progress is worth no failure.
        let _ = writeln!(
            std::io::stderr(),
            "Building the HTTP servers, once, which can take a minute: {go}, into {at}"
        );
    };
    let program = servers::program_or_build(told).map_err(Failure::measuring)?;
    let listed = servers::list(&program).map_err(Failure::measuring)?;
    Ok((program, listed))
}

//! The servers of the study, for every mode that needs them.

use std::io::Write;
use std::path::{Path, PathBuf};

use figure::format::plain;
use http::servers::{self, ServerEntry};

use crate::exit::CommandError;

/// The program of the servers, and the servers that it holds. If it must be built first, stderr says so: that
/// can take a minute.
///
/// # Errors
/// They are not there, and cannot be built.
pub(super) fn available() -> Result<(PathBuf, Vec<ServerEntry>), CommandError> {
    let announce = |go: &str, directory: &Path| {
        let [go, directory] = [go, &directory.display().to_string()].map(plain);
        // Progress is worth no failure.
        let _ = writeln!(
            std::io::stderr(),
            "Building the HTTP servers, once, which can take a minute: {go}, into {directory}"
        );
    };
    let program = servers::program_or_build(announce).map_err(CommandError::measuring)?;
    let listed = servers::list(&program).map_err(CommandError::measuring)?;
    Ok((program, listed))
}

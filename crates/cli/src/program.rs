//! The program that a command line names, and its file.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lab::start::Program;

use crate::exit::CommandError;

/// The program that a command means.
///
/// # Errors
/// Wrong usage: there is none of this name.
pub fn find(command: &[OsString]) -> Result<Program, CommandError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = command.first().map(OsString::as_os_str).unwrap_or_default();
    let file = file(name, &path).ok_or_else(|| {
        let name = figure::format::plain_to(&name.to_string_lossy(), 80);
        CommandError::usage(format!("{name}: no such program; a shell's own commands need sh -c '…'"))
    })?;
    Ok(Program { file, arguments: command.to_vec() })
}

/// The file of a command: itself if it has a slash, else the first of its name in PATH.
fn file(command: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let is_program = |file: &Path| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if command.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(command)).filter(|file| is_program(file));
    }
    std::env::split_paths(path).map(|directory| directory.join(command)).find(|file| is_program(file))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_command_is_searched_as_a_shell_does() {
        let directory = tempfile::tempdir().unwrap();
        let (program, other) = (directory.path().join("program"), directory.path().join("text"));
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&other, "").unwrap();
        let path = std::env::join_paths([Path::new("/nonexistent"), directory.path()]).unwrap();
        assert_eq!(file(OsStr::new("program"), &path), Some(program.clone()));
        assert_eq!(file(OsStr::new("text"), &path), None);
        assert_eq!(file(program.as_os_str(), OsStr::new("")), Some(program));
        assert_eq!(file(OsStr::new("./program"), &path), None);
    }
}

//! `truebench alloc record`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use alloc::record::{Histogram, RecordError, record};
use figure::format;

use crate::args::alloc::Record;
use crate::exit::CommandError;
use crate::output::Target;
use crate::run::begin_beside_program;

/// Runs the command with its own input, output and exit code; what was recorded goes to a file, and what
/// there is to say about it to stderr.
///
/// # Errors
/// Wrong usage; nothing recorded, or not written.
pub(super) fn run(arguments: &Record) -> Result<ExitCode, CommandError> {
    let command = arguments.command.as_slice();
    let program = command.first().map(OsString::as_os_str).unwrap_or_default();
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => unused(program)?,
    };
    let target = Target::check(&path)?;
    let interrupt = begin_beside_program()?;
    let recorded = record(command, &interrupt).map_err(|error| match error {
        RecordError::Start(..) => CommandError::usage(error),
        _ => CommandError::measuring(error),
    })?;
    let histogram = &recorded.histogram;
    if histogram.allocated() == 0 {
        let failure = CommandError::measuring(nothing(program, histogram, recorded.status));
        // A failed program's exit code says more than truebench's.
        return match code_of(recorded.status) {
            0 => Err(failure),
            code => Err(failure.with_code(code)),
        };
    }
    target.write_text(&histogram.csv(&shown(command)))?;
    if !arguments.quiet {
        print_summary(histogram, &path);
    }
    Ok(ExitCode::from(code_of(recorded.status)))
}

/// A file of the program's name in the current directory that is not there yet.
fn unused(program: &OsStr) -> Result<PathBuf, CommandError> {
    let mut file = Path::new(program).file_name().unwrap_or(program).to_owned();
    file.push(".alloc.csv");
    let path = PathBuf::from(file);
    match path.symlink_metadata() {
        Err(_) => Ok(path),
        Ok(_) => Err(CommandError::usage(format!(
            "{} is there already: name another file, or this one, by -o",
            format::plain(&path.to_string_lossy())
        ))),
    }
}

/// Why nothing was recorded.
fn nothing(program: &OsStr, histogram: &Histogram, status: ExitStatus) -> String {
    let program = format::plain(&program.to_string_lossy());
    let cause = match (histogram.refused, histogram.processes) {
        (Some(errno), _) => format!(
            "the system has no memory that a fork clears, which came with Linux 4.14 ({})",
            std::io::Error::from_raw_os_error(errno)
        ),
        (None, 0) => format!(
            "{program} did not load the recorder: it is linked statically, or runs with the rights of another user, or drops \
             LD_PRELOAD from its environment"
        ),
        (None, _) => format!(
            "{program} did not call the malloc that it loads: it has an allocator of its own linked in, or allocated nothing"
        ),
    };
    let ended =
        if status.success() { String::new() } else { format!("; it {}", lab::exit_status::describe(status)) };
    format!("nothing was recorded: {cause}{ended}")
}

fn print_summary(histogram: &Histogram, path: &Path) {
    let path = format::plain(&path.to_string_lossy());
    let mut text: String =
        histogram.sentences().into_iter().map(|sentence| format!("truebench: {sentence}\n")).collect();
    text += &format!("truebench: written to {path}; next: truebench alloc --profile {path}\n");
    // Nothing can be done where even stderr is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The command on one line, without its secrets.
fn shown(command: &[OsString]) -> String {
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    figure::secrets::command(&words).join(" ")
}

/// The code that a shell would give: of a program that was killed, 128 and the signal.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

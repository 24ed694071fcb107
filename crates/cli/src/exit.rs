//! Exit codes (public API) and the one message that goes with them.

use std::fmt::Display;
use std::process::ExitCode;

use figure::format::plain;
use figure::{Record, Status, Verdict};

/// Measured, nothing invalid.
pub const OK: u8 = 0;
/// Could not measure, or could not deliver.
pub const NOT_MEASURED: u8 = 1;
/// Wrong usage.
pub const USAGE: u8 = 2;
/// Some figure is invalid; with `--strict`: suspect or unverified.
pub const INVALID: u8 = 3;
/// Compared, but no required figure could be judged.
pub const NOT_JUDGED: u8 = 4;
/// Interrupted; finished figures stay in the record.
pub const INTERRUPTED: u8 = 130;

/// Why a command ends without its result.
#[derive(Debug)]
pub struct CommandError {
    code: u8,
    message: String,
}

impl CommandError {
    /// The user must change something.
    pub fn usage(message: impl Display) -> Self {
        CommandError { code: USAGE, message: message.to_string() }
    }

    /// The machine did not let us.
    pub fn measuring(message: impl Display) -> Self {
        CommandError { code: NOT_MEASURED, message: message.to_string() }
    }

    /// Figures that had to be judged were not.
    pub fn judging(message: impl Display) -> Self {
        CommandError { code: NOT_JUDGED, message: message.to_string() }
    }

    /// The same message with another exit code.
    pub fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Adds to the message.
    pub fn with(mut self, more: &str) -> Self {
        self.message.push_str(more);
        self
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints the message and gives the exit code.
    pub fn report(self) -> ExitCode {
        // Nothing can be done where even stderr is closed.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("truebench: {}\n", self.message).as_bytes(),
        );
        ExitCode::from(self.code)
    }
}

/// Ends a command by its judged record. Where nothing was measured, stderr gets one line with the reason,
/// whatever is printed elsewhere.
pub fn end(record: &Record, strict: bool) -> ExitCode {
    match code_of(record, strict) {
        NOT_MEASURED => CommandError::measuring(nothing_measured(record)).report(),
        code => ExitCode::from(code),
    }
}

/// The first reason of a figure that failed; of one that is not available where none failed.
fn nothing_measured(record: &Record) -> String {
    let reason = |status: Status| {
        let figure =
            record.figures.iter().find(|figure| figure.status == status && figure.reason.is_some())?;
        Some(format!("{}: {}", figure.id, figure.reason.as_deref()?))
    };
    let reason = reason(Status::Failed).or_else(|| reason(Status::NotAvailable));
    let reason = reason.map_or_else(|| "no figure was planned".to_owned(), |reason| plain(&reason));
    format!("nothing was measured: {reason}")
}

/// The exit code that a judged record asks for.
fn code_of(record: &Record, strict: bool) -> u8 {
    let measured = record.figures.iter().filter(|figure| figure.value.is_some()).count();
    let bad = record.figures.iter().any(|figure| match (figure.status, figure.verdict) {
        (_, Some(Verdict::Invalid)) => true,
        // What cannot be measured here is no defect of this run; what could and was not is.
        (Status::NotAvailable, _) => false,
        (_, verdict) => strict && verdict != Some(Verdict::Valid),
    });
    if record.interrupted.is_some() {
        INTERRUPTED
    } else if measured == 0 {
        NOT_MEASURED
    } else if bad {
        INVALID
    } else {
        OK
    }
}

//! Where reports go: stdout, or a file that appears whole or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use figure::Record;
use tempfile::NamedTempFile;

use crate::args;
use crate::failure::Failure;

/// Columns where stdout is no terminal and COLUMNS is not set.
const DEFAULT_WIDTH: usize = 80;

/// Endings of files and the format that they mean.
const ENDINGS: &[(&str, &str)] = &[("json", "json"), ("csv", "csv"), ("md", "markdown"), ("txt", "text")];

/// A place for output, checked before anything is measured.
#[derive(Debug)]
pub struct Destination {
    format: &'static report::Format,
    file: Option<(PathBuf, NamedTempFile)>,
    quiet: bool,
    no_color: bool,
}

impl Destination {
    /// Opens the destination that the options ask for.
    ///
    /// # Errors
    /// Wrong usage: the file cannot be written.
    pub fn open(options: &args::Output) -> Result<Destination, Failure> {
        let file = match &options.output {
            Some(path) => Some((path.clone(), beside(path)?)),
            None => None,
        };
        let ending = options.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
        let by_ending = ENDINGS.iter().find(|(known, _)| ending == Some(known)).map(|(_, name)| *name);
        let default = if file.is_some() { by_ending.unwrap_or("json") } else { "text" };
        let format = options.format.or_else(|| report::format(default));
        let format = format.ok_or_else(|| Failure::usage(format!("no format {default}")))?;
        Ok(Destination { format, file, quiet: options.quiet, no_color: options.no_color })
    }

    /// Writes the record: to the file, if there is one, in the chosen format; and to stdout, as text if there
    /// is a file.
    ///
    /// # Errors
    /// What could not be written where; a format that does not suit the record.
    pub fn write(self, record: &Record) -> Result<(), Failure> {
        let mut saved_to = None;
        if let Some((path, mut file)) = self.file {
            let problem = |error: io::Error| unwritable(&path, &error);
            let plain = report::Options::new(DEFAULT_WIDTH);
            (self.format.write)(record, &plain, file.as_file_mut()).map_err(problem)?;
            file.as_file().sync_all().map_err(problem)?;
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            let _ = std::fs::set_permissions(file.path(), mode);
            file.persist(&path).map_err(|error| unwritable(&path, &error.error))?;
            saved_to = Some(path.display().to_string());
            if self.quiet {
                return Ok(());
            }
        }
        let format = if saved_to.is_some() { report::FORMATS[0].name } else { self.format.name };
        let format = report::format(format).unwrap_or(self.format);
        let colour = colour(self.no_color);
        let options = report::Options { width: width(), colour, saved_to: saved_to.clone() };
        let mut text = Vec::new();
        (format.write)(record, &options, &mut text).map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => Failure::usage(error),
            _ => Failure::measuring(error),
        })?;
        print(&text).map_err(|failure| match &saved_to {
            Some(_) => failure,
            None => failure.or_lost(),
        })
    }
}

impl Failure {
    /// Adds what would have kept the result.
    fn or_lost(self) -> Failure {
        self.with(" (with -o FILE the record is kept whatever becomes of stdout)")
    }
}

/// Bytes to stdout.
///
/// # Errors
/// stdout is closed or full.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::BrokenPipe => "its reader closed it".to_owned(),
            _ => error.to_string(),
        };
        Failure::measuring(format!("the output could not be written to stdout: {reason}"))
    })
}

/// Whether stdout takes colours.
pub fn colour(no_color: bool) -> bool {
    !no_color && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Columns of the terminal on stdout, else COLUMNS, else 80.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(io::stdout()).ok());
    let terminal = terminal.flatten().map(|size| usize::from(size.ws_col)).filter(|&width| width > 0);
    terminal.or(columns).unwrap_or(DEFAULT_WIDTH)
}

/// A temporary file in the directory of `path`, to take its place later.
fn beside(path: &Path) -> Result<NamedTempFile, Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("-o {}: is a directory; name a file", path.display())));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    NamedTempFile::new_in(directory.unwrap_or(Path::new("."))).map_err(|error| {
        Failure::usage(format!("-o {}: cannot be written: {}", path.display(), error.kind()))
    })
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::Unsupported => Failure::usage(error),
        _ => Failure::measuring(format!("-o {}: could not be written: {error}", path.display())),
    }
}

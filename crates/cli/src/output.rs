//! Where reports go: stdout, or a file that appears whole or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use figure::Record;
use figure::format::system_error;
use lab::exit_status::file_limit_note;
use tempfile::NamedTempFile;
use textwrap::WordSplitter;

use crate::args;
use crate::exit::CommandError;

/// Columns where stdout is no terminal and COLUMNS is not set.
pub const DEFAULT_WIDTH: usize = 80;
/// Columns of running text at most: longer lines are hard to read.
const READABLE: usize = 100;

/// Links in a row, as the kernel has it (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Endings of files and the format that they mean.
const ENDINGS: &[(&str, &str)] = &[
    ("json", "json"),
    ("csv", "csv"),
    ("md", "markdown"),
    ("txt", "text"),
    ("svg", "svg"),
    ("html", "html"),
    ("htm", "html"),
    ("xml", "junit"),
    ("prom", "openmetrics"),
];

/// A place for output, checked before anything is measured.
#[derive(Debug)]
pub struct Destination {
    format: &'static report::Format,
    file: Option<Target>,
    quiet: bool,
    no_color: bool,
    /// Whether stdout is another one's: a program of the user's. Then text goes to stderr.
    is_beside: bool,
}

impl Destination {
    /// Where stdout is another one's: like [`open`](Self::open), with stderr in its place.
    ///
    /// # Errors
    /// Wrong usage: the file cannot be written.
    pub fn beside(options: &args::Output) -> Result<Destination, CommandError> {
        Ok(Destination { is_beside: true, ..Destination::open(options)? })
    }

    /// Opens the destination that the options ask for.
    ///
    /// # Errors
    /// Wrong usage: the file cannot be written.
    pub fn open(options: &args::Output) -> Result<Destination, CommandError> {
        let file = match &options.output {
            Some(path) => Some(Target::check(path)?),
            None => None,
        };
        let format = format(options.format, options.output.as_deref(), "a record", report::format)?;
        Ok(Destination { format, file, quiet: options.quiet, no_color: options.no_color, is_beside: false })
    }

    /// Writes the record: to the file, if there is one, in the chosen format; and to stdout, as text if there
    /// is a file. Where the file fails, the text still comes, quiet or not: it is all that is left of the
    /// run.
    ///
    /// # Errors
    /// What could not be written where; a format that does not suit the record.
    pub fn write(self, record: &Record) -> Result<(), CommandError> {
        let (mut saved_to, mut lost) = (None, None);
        if let Some(target) = &self.file {
            match target.write(self.format, record) {
                Ok(()) if self.quiet => return Ok(()),
                Ok(()) => saved_to = Some(target.asked.display().to_string()),
                Err(error) => lost = Some(unwritable(&target.asked, &error)),
            }
        }
        let format = if self.file.is_some() { report::FORMATS[0].name } else { self.format.name };
        let format = report::format(format).unwrap_or(self.format);
        let on_stdout = report::Options { saved_to: saved_to.clone(), ..self::options(self.no_color) };
        let options = match self.is_beside {
            true => report::Options {
                width: width_of(&io::stderr()),
                colour: colour_of(&io::stderr(), self.no_color),
                ..on_stdout
            },
            false => on_stdout,
        };
        let mut text = Vec::new();
        (format.write)(record, &options, &mut text).map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => CommandError::usage(error),
            _ => CommandError::measuring(error),
        })?;
        let printed = match self.is_beside {
            true => put("stderr", &mut io::stderr().lock(), &text),
            false => print(&text),
        };
        let printed = printed.map_err(|failure| match &saved_to {
            Some(_) => failure,
            None => failure.or_lost(),
        });
        lost.map_or(printed, Err)
    }
}

/// The format of a report: that of `--format`, else text on stdout, and in a file what its ending means, JSON if it means nothing. `what` is
/// reported, `named` finds its formats.
///
/// # Errors
/// Wrong usage: `what` is not written in the format that the ending means.
pub fn format<F>(
    asked: Option<&'static F>,
    file: Option<&Path>,
    what: &str,
    named: impl FnOnce(&str) -> Option<&'static F>,
) -> Result<&'static F, CommandError> {
    let name = file.map_or("text", |path| format_of_ending(path).unwrap_or("json"));
    asked.or_else(|| named(name)).ok_or_else(|| {
        let path = file.unwrap_or(Path::new("-"));
        CommandError::usage(format!(
            "-o {}: {what} is not written as {name}; choose with --format",
            path.display()
        ))
    })
}

/// The format that a file's ending means.
fn format_of_ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ENDINGS.iter().find(|(known, _)| ending == Some(known)).map(|(_, name)| *name)
}

/// How to write to stdout.
pub fn options(no_color: bool) -> report::Options {
    report::Options { width: width(), colour: colour(no_color), ascii: ascii(), saved_to: None }
}

/// The file of `-o`.
#[derive(Debug)]
pub struct Target {
    /// As the user named it.
    asked: PathBuf,
    /// Behind all symbolic links, so that a link stays one.
    path: PathBuf,
    /// What is there, open, if it is no regular file (a pipe, /dev/null): written to, never replaced.
    stream: Option<File>,
    /// Permissions of the file that is there.
    permissions: Option<Permissions>,
}

impl Target {
    /// Finds out whether it can be written, and leaves nothing behind.
    ///
    /// # Errors
    /// Wrong usage: it cannot.
    pub fn check(asked: &Path) -> Result<Target, CommandError> {
        if asked.is_dir() {
            return Err(CommandError::usage(format!("-o {}: is a directory; name a file", asked.display())));
        }
        let unusable = |error: io::Error| {
            CommandError::usage(format!(
                "-o {}: cannot be written: {}",
                asked.display(),
                system_error(&error)
            ))
        };
        let existing = match std::fs::metadata(asked) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(error)),
        };
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let stream = Some(OpenOptions::new().write(true).open(asked).map_err(unusable)?);
            let path = asked.to_owned();
            return Ok(Target { asked: path.clone(), path, stream, permissions: None });
        }
        let target = Target {
            path: behind_links(asked).map_err(unusable)?,
            asked: asked.to_owned(),
            stream: None,
            permissions: existing.map(|metadata| metadata.permissions()),
        };
        target.beside().map_err(unusable)?;
        Ok(target)
    }

    /// A temporary file in the same directory, to take its place.
    fn beside(&self) -> io::Result<NamedTempFile> {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        lab::warden::tell(directory);
        lab::scratch::file(directory, std::process::id())
    }

    /// Writes a record in a format.
    ///
    /// # Errors
    /// It could not be written.
    pub fn export(&self, format: &report::Format, record: &Record) -> Result<(), CommandError> {
        self.write(format, record).map_err(|error| unwritable(&self.asked, &error))
    }

    /// Writes a text.
    ///
    /// # Errors
    /// It could not be written.
    pub fn write_text(&self, text: &str) -> Result<(), CommandError> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// It could not be written.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        self.put(|to| to.write_all(bytes)).map_err(|error| unwritable(&self.asked, &error))
    }

    /// Writes what a function writes.
    ///
    /// # Errors
    /// It could not be written.
    pub fn write_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CommandError> {
        self.put(write).map_err(|error| unwritable(&self.asked, &error))
    }

    fn write(&self, format: &report::Format, record: &Record) -> io::Result<()> {
        let options = report::Options::new(DEFAULT_WIDTH);
        self.put(|to| (format.write)(record, &options, to))
    }

    fn put(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        // A format writes word by word: unbuffered, a record of some megabytes takes a second of system
        // calls.
        let buffered = |file: &File| {
            let mut buffer = BufWriter::new(file);
            write(&mut buffer)?;
            buffer.flush()
        };
        if let Some(stream) = &self.stream {
            return buffered(stream);
        }
        let file = self.beside()?;
        buffered(file.as_file())?;
        if let Some(permissions) = &self.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        file.as_file().sync_all()?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

/// The file that a path means, behind all symbolic links; it need not be there.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

impl CommandError {
    /// Adds the option that would have saved the result.
    fn or_lost(self) -> CommandError {
        self.with(" (with -o FILE the record is written whatever happens to stdout)")
    }
}

/// Bytes to stdout.
///
/// # Errors
/// stdout is closed or full.
pub fn print(bytes: &[u8]) -> Result<(), CommandError> {
    put("stdout", &mut io::stdout().lock(), bytes)
}

fn put(name: &str, to: &mut dyn Write, bytes: &[u8]) -> Result<(), CommandError> {
    to.write_all(bytes).and_then(|()| to.flush()).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::BrokenPipe => "its reader closed it".to_owned(),
            _ => format!("{error}{}", file_limit_note(&error)),
        };
        CommandError::measuring(format!("the output could not be written to {name}: {reason}"))
    })
}

/// Whether stdout takes colours.
pub fn colour(no_color: bool) -> bool {
    colour_of(&io::stdout(), no_color)
}

fn colour_of(stream: &impl anstream::stream::RawStream, no_color: bool) -> bool {
    !no_color && AutoStream::choice(stream) != ColorChoice::Never
}

/// Whether the locale names another character set than UTF-8. One that is not set (containers, cron) names
/// none, and what reads such output today reads UTF-8.
fn ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    // In the order of POSIX, XBD 8.2.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| !["utf-8", "utf8"].iter().any(|set| locale.to_lowercase().contains(set)))
}

/// Columns of the terminal on stdout, else COLUMNS, else 80.
pub fn width() -> usize {
    width_of(&io::stdout())
}

/// Columns of running text on stdout.
pub fn text_width() -> usize {
    width().min(READABLE)
}

/// A list for stdout: names in one column, texts in another; a text goes below its name if that column leaves less than
/// half of the width. No word is cut, so that paths can be copied.
pub fn list(entries: impl IntoIterator<Item = (String, String)>) -> String {
    list_within(&entries.into_iter().collect::<Vec<_>>(), text_width())
}

fn list_within(entries: &[(String, String)], width: usize) -> String {
    let column = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    let is_below = column * 2 > width;
    let rest = " ".repeat(if is_below { 4 } else { column });
    let entry = |(name, text): &(String, String)| {
        let first = if is_below { format!("{}\n{rest}", name.trim_end()) } else { format!("{name:column$}") };
        let whole =
            textwrap::Options::new(width).break_words(false).word_splitter(WordSplitter::NoHyphenation);
        // textwrap counts what stands before the first line.
        let options = whole.initial_indent(&rest).subsequent_indent(&rest);
        first + textwrap::fill(text, options).trim_start() + "\n"
    };
    entries.iter().map(entry).collect()
}

fn width_of(stream: &(impl IsTerminal + AsFd)) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = stream.is_terminal().then(|| rustix::termios::tcgetwinsize(stream).ok());
    let terminal = terminal.flatten().map(|size| usize::from(size.ws_col)).filter(|&width| width > 0);
    terminal.or(columns).unwrap_or(DEFAULT_WIDTH)
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::Unsupported => CommandError::usage(error),
        _ => CommandError::measuring(format!(
            "-o {}: could not be written: {error}{}",
            path.display(),
            file_limit_note(error)
        )),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_list_stands_in_columns_or_below_its_names() {
        let list = |width| {
            let entries = [("memory/hog", "a busy loop on /each/of-the-CPUs"), ("http", "none")];
            list_within(&entries.map(|(name, text)| (name.to_owned(), text.to_owned())), width)
        };
        assert_eq!(list(30), "memory/hog  a busy loop on\n            /each/of-the-CPUs\nhttp        none\n");
        assert_eq!(list(20), "memory/hog\n    a busy loop on\n    /each/of-the-CPUs\nhttp\n    none\n");
    }
}

//! A line for each second while a program is watched: for people, or for programs.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use faults::watch::Window;
use figure::Record;
use figure::format::{bytes, number, plain_to, system_error};

use crate::args::Output;
use crate::exit::CommandError;

/// Seconds after which the heads of columns are written again.
const AGAIN: usize = 20;
/// Processes named in a line.
const NAMED: usize = 2;

/// Where lines go, and what they are.
pub struct Stream {
    out: Box<dyn Write>,
    kind: Kind,
    lines: usize,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For people.
    Table,
    Json,
    Csv,
    Silent,
}

impl Stream {
    /// For programs where --format is json or csv: to the file of -o, else to stdout if truebench owns it,
    /// else to stderr. For people on a terminal.
    ///
    /// # Errors
    /// Wrong usage: the file cannot be written.
    pub fn open(output: &Output, owns_stdout: bool) -> Result<Stream, CommandError> {
        let kind = match output.format.map(|format| format.name) {
            Some("json") => Kind::Json,
            Some("csv") => Kind::Csv,
            _ if !output.quiet && io::stderr().is_terminal() => Kind::Table,
            _ => Kind::Silent,
        };
        let out: Box<dyn Write> = match (&output.output, kind) {
            (Some(path), Kind::Json | Kind::Csv) => Box::new(File::create(path).map_err(|error| {
                CommandError::usage(format!(
                    "-o {}: cannot be written: {}",
                    path.display(),
                    system_error(&error)
                ))
            })?),
            (None, Kind::Json | Kind::Csv) if owns_stdout => Box::new(io::stdout()),
            _ => Box::new(io::stderr()),
        };
        let mut stream = Stream { out, kind, lines: 0 };
        if kind == Kind::Csv {
            stream.write(
                "seconds,minor_per_s,major_per_s,user,system,resident_bytes,processes,threads\n".to_owned(),
            );
        }
        Ok(stream)
    }

    /// Whether it is for programs: then the report is in it.
    pub fn is_for_programs(&self) -> bool {
        matches!(self.kind, Kind::Json | Kind::Csv)
    }

    /// A second has gone by.
    pub fn second(&mut self, window: &Window) {
        let rate = |count: f64| count / window.seconds.max(1e-9);
        let (used, look) = (&window.used, &window.reading);
        let (minor, major) = (rate(used.minor), rate(used.major));
        let (user, system) = (rate(used.user), rate(used.system));
        let line = match self.kind {
            Kind::Silent => return,
            Kind::Csv => format!(
                "{:.3},{minor:.1},{major:.1},{user:.3},{system:.3},{},{},{}\n",
                window.end, look.totals.resident, look.processes, look.threads
            ),
            Kind::Json => {
                let processes: Vec<_> = look
                    .rows
                    .iter()
                    .map(|row| {
                        serde_json::json!({"pid": row.process, "command": row.name, "majflt": row.major, "minflt": row.minor})
                    })
                    .collect();
                let second = serde_json::json!({"second": {
                    "seconds": window.end, "minor_per_s": minor, "major_per_s": major, "user": user, "system": system,
                    "resident_bytes": look.totals.resident, "threads": look.threads, "processes": processes,
                }});
                format!("{second}\n")
            }
            Kind::Table => {
                let head = if self.lines.is_multiple_of(AGAIN) {
                    "   time  minflt/s  majflt/s   user    sys       RSS  processes\n"
                } else {
                    ""
                };
                let time = format!("{:.0} s", window.end);
                format!(
                    "{head}{time:>7} {:>9} {:>9} {:>5.0}% {:>5.0}% {:>9}  {}\n",
                    number(minor),
                    number(major),
                    user * 100.0,
                    system * 100.0,
                    bytes(look.totals.resident),
                    named(window),
                )
            }
        };
        self.lines += 1;
        self.write(line);
    }

    /// The whole, in the end: as JSON it is the last line.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(&mut self, record: &Record) -> Result<(), CommandError> {
        let written = match self.kind {
            Kind::Json => serde_json::to_vec(record)
                .map_err(io::Error::from)
                .and_then(|line| self.out.write_all(&line))
                .and_then(|()| self.out.write_all(b"\n")),
            _ => Ok(()),
        };
        let written = written.and_then(|()| self.out.flush());
        written.map_err(|error| {
            let limit = lab::exit_status::file_limit_note(&error);
            CommandError::measuring(format!("the figures could not be written: {error}{limit}"))
        })
    }

    /// A line that cannot be written is dropped: the program goes on.
    fn write(&mut self, line: String) {
        let _ = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// The processes with most faults by name, and the number of the others.
fn named(window: &Window) -> String {
    let mut rows: Vec<_> = window.reading.rows.iter().collect();
    rows.sort_by(|a, b| b.minor.total_cmp(&a.minor));
    let names: Vec<String> =
        rows.iter().take(NAMED).map(|row| format!("{} {}", row.process, plain_to(&row.name, 16))).collect();
    match rows.len() - names.len() {
        0 => names.join(", "),
        others => format!("{}, {others} more", names.join(", ")),
    }
}

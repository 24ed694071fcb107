//! The directory of a run: its record, and what is done.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use figure::{Figure, Machine, Record};
use lab::trust::{self, Untrusted};
use serde::{Deserialize, Serialize};

use crate::args::RunRequest;
use crate::commands::report::read_opened;
use crate::exit::CommandError;
use crate::input;
use crate::lock::Lock;
use crate::output::Target;
use crate::run::{Checkpoint, tool};

/// The record's file.
pub const RECORD: &str = "record.json";
/// What is done.
const STATE: &str = "run.json";
/// Between two records that are written while figures are measured.
const BETWEEN: Duration = Duration::from_secs(2);

/// What was asked for, and what is done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// What was asked for when it was begun.
    request: RunRequest,
    /// What is done.
    done: Vec<Done>,
}

/// A part that is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Done {
    worker: String,
    /// Ids of its figures.
    figures: Vec<String>,
}

/// A run's directory, updated after each step.
pub struct RunDirectory {
    path: PathBuf,
    record: Target,
    file: Target,
    state: State,
    last: Option<Instant>,
    /// The first thing that could not be written.
    lost: Option<CommandError>,
    // As long as the run is at work.
    _lock: Lock,
}

impl RunDirectory {
    /// Makes the directory, or takes one in which no run was begun.
    ///
    /// # Errors
    /// Wrong usage: a run was begun there, or nothing can be written.
    pub fn begin(directory: &Path, request: &RunRequest) -> Result<RunDirectory, CommandError> {
        let shown = directory.display();
        fs::create_dir_all(directory)
            .map_err(|error| CommandError::usage(format!("-o {shown}: cannot be made: {error}")))?;
        let lock = Lock::take(directory)?;
        if directory.join(RECORD).exists() || directory.join(STATE).exists() {
            return Err(CommandError::usage(format!(
                "-o {shown}: there is a run already; go on with it (--resume {shown}), or name another directory"
            )));
        }
        let state = State { request: request.clone(), done: Vec::new() };
        let mut begun = RunDirectory::new(directory, state, lock)?;
        begun.write_state();
        begun.lost.take().map_or(Ok(begun), Err)
    }

    /// Opens the directory of a run that ended early: its request, and the figures that are done.
    ///
    /// # Errors
    /// Wrong usage: there is none, or it was begun elsewhere or by another truebench.
    pub fn resume(
        directory: &Path,
        machine: &Machine,
    ) -> Result<(RunDirectory, RunRequest, Vec<Figure>), CommandError> {
        let shown = directory.display();
        let file = directory.join(STATE);
        let none = |error: &dyn std::fmt::Display| {
            CommandError::usage(format!("--resume {shown}: no run was begun there: {error}"))
        };
        fs::metadata(&file).map_err(|error| none(&error))?;
        let lock = Lock::take(directory)?;
        let text = input::of_file(opened(&file)?, input::RECORD).map_err(|error| none(&error))?;
        let mut state: State = serde_json::from_slice(&text)
            .map_err(|error| CommandError::usage(format!("{}: cannot be read: {error}", file.display())))?;
        // Without a record nothing is done.
        let path = directory.join(RECORD);
        let record = read_opened(&path, opened(&path)?).ok();
        let figures = match &record {
            Some(record) => {
                same(record, machine).map_err(|what| {
                    CommandError::usage(format!(
                        "--resume {shown}: {what} is another since; begin anew: truebench run"
                    ))
                })?;
                state.done.retain(|done| done.figures.iter().all(|id| record.figure(id).is_some()));
                let ids: Vec<&String> = state.done.iter().flat_map(|done| &done.figures).collect();
                record.figures.iter().filter(|figure| ids.contains(&&figure.id)).cloned().collect()
            }
            None => {
                state.done.clear();
                Vec::new()
            }
        };
        let request = state.request.clone();
        Ok((RunDirectory::new(directory, state, lock)?, request, figures))
    }

    fn new(directory: &Path, state: State, lock: Lock) -> Result<RunDirectory, CommandError> {
        let record = Target::check(&directory.join(RECORD))?;
        let file = Target::check(&directory.join(STATE))?;
        let path = directory.to_owned();
        Ok(RunDirectory { path, record, file, state, last: None, lost: None, _lock: lock })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the part of this worker is done.
    pub fn has(&self, worker: &str) -> bool {
        self.state.done.iter().any(|done| done.worker == worker)
    }

    /// Writes the whole record.
    ///
    /// # Errors
    /// The first thing that could not be written, now or before.
    pub fn end(mut self, record: &Record) -> Result<(), CommandError> {
        self.write(record);
        self.lost.map_or(Ok(()), Err)
    }

    fn write(&mut self, record: &Record) {
        let Some(json) = report::format("json") else { return };
        let written = self.record.export(json, record);
        self.last = Some(Instant::now());
        self.note(written);
    }

    fn write_state(&mut self) {
        let text = serde_json::to_string(&self.state).map_err(CommandError::measuring);
        let written = text.and_then(|text| self.file.write_text(&text));
        self.note(written);
    }

    /// Measuring goes on: the first failure is reported at the end.
    fn note(&mut self, written: Result<(), CommandError>) {
        if let Err(failure) = written {
            self.lost.get_or_insert(failure);
        }
    }
}

impl Checkpoint for RunDirectory {
    fn progress(&mut self, record: &dyn Fn() -> Record) {
        if self.last.is_none_or(|last| last.elapsed() >= BETWEEN) {
            self.write(&record());
        }
    }

    fn finished(&mut self, worker: &str, ids: Vec<String>, record: &dyn Fn() -> Record) {
        self.write(&record());
        self.state.done.push(Done { worker: worker.to_owned(), figures: ids });
        self.write_state();
    }
}

/// Opens a file of a run, to go on with it.
///
/// # Errors
/// Wrong usage: it may be another user's work.
fn opened(path: &Path) -> Result<io::Result<File>, CommandError> {
    match trust::open_saved(path) {
        Ok(file) => Ok(Ok(file)),
        Err(Untrusted::System(_, error)) => Ok(Err(error)),
        Err(why) => Err(CommandError::usage(format!("--resume: {why}; begin anew: truebench run"))),
    }
}

/// Whether new figures belong into a record; else what has changed since.
fn same(record: &Record, machine: &Machine) -> Result<(), &'static str> {
    let now = tool();
    let then = &record.machine;
    let pairs = [
        ("truebench", record.tool.version == now.version && record.tool.build == now.build),
        ("the processor", then.cpu.model.value() == machine.cpu.model.value()),
        ("the number of CPUs", then.topology.permitted() == machine.topology.permitted()),
        ("the kernel", then.kernel.release.value() == machine.kernel.release.value()),
    ];
    pairs.into_iter().find(|(_, is_same)| !is_same).map_or(Ok(()), |(what, _)| Err(what))
}

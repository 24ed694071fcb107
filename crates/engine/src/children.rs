//! Tasks that are child processes of this one: [`local`](crate::local) and [`ssh`](crate::ssh).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use flate2::read::GzDecoder;

use crate::engine::{Availability, Engine, Offer, Refusal, State, Task};
use crate::programs;

/// The option by which a task ends with its stdin, if something came by that before: what this process holds open, directly or through ssh,
/// closes however this process ends. Where a user's ssh takes stdin from /dev/null nothing comes.
const LIFELINE: &str = "--lifeline";

/// A command that ends with this process.
pub fn with_lifeline(words: Vec<String>) -> Vec<String> {
    words.into_iter().chain([LIFELINE.to_owned()]).collect()
}

/// How a task becomes a command of this machine.
pub trait Launch {
    /// The command, with a lifeline.
    fn words(&self, task: &Task) -> Vec<String>;

    /// Whether the record comes by stdout, because the node does not share the directory.
    const BY_STDOUT: bool;

    /// The nodes without a list.
    ///
    /// # Errors
    /// A list is needed.
    fn nodes(&self) -> Result<Vec<String>, String>;
}

/// An engine of children.
pub struct Children<L> {
    launch: L,
    running: HashMap<String, Running>,
}

struct Running {
    child: Child,
    record: PathBuf,
    /// Where the record arrives.
    part: Option<PathBuf>,
}

impl<L> Children<L> {
    pub fn new(launch: L) -> Children<L> {
        Children { launch, running: HashMap::new() }
    }
}

impl<L: Launch> Children<L> {
    fn spawn(&self, task: &Task) -> io::Result<Result<Running, String>> {
        for path in [&task.record, &task.log] {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
        }
        let log = fresh(&task.log)?;
        let part = L::BY_STDOUT.then(|| part_of(&task.record));
        let out = match &part {
            Some(part) => Stdio::from(fresh(part)?),
            None => Stdio::from(log.try_clone()?),
        };
        let child = programs::spawn(&self.launch.words(task), out, log.into());
        Ok(child.map(|child| Running { child, record: task.record.clone(), part }))
    }
}

impl<L: Launch> Engine for Children<L> {
    fn nodes(&mut self, list: Option<&[String]>) -> Result<Vec<Offer>, String> {
        let nodes = list.map_or_else(|| self.launch.nodes(), |list| Ok(list.to_vec()))?;
        let idle = |node| Offer { node, availability: Availability::Idle };
        Ok(nodes.into_iter().map(idle).collect())
    }

    fn start(&mut self, task: &Task) -> Result<String, Refusal> {
        // The disk may get room, and this process descriptors.
        let running = self.spawn(task).map_err(|error| Refusal::Later(format!("{}: {error}", task.node)))?;
        let running = running.map_err(Refusal::Never)?;
        let handle = running.child.id().to_string();
        self.running.insert(handle.clone(), running);
        Ok(handle)
    }

    fn poll(&mut self, handles: &[String]) -> Result<Vec<State>, String> {
        let states = handles.iter().map(|handle| {
            let Some(running) = self.running.get_mut(handle) else {
                return State::Ended("the process that started it ended".to_owned());
            };
            let status = match running.child.try_wait() {
                Ok(None) => return State::Runs,
                Ok(Some(status)) => how(status),
                Err(error) => error.to_string(),
            };
            let arrived = running.part.as_deref().map_or(Ok(()), |part| arrive(part, &running.record));
            self.running.remove(handle);
            State::Ended(match arrived {
                Ok(()) => status,
                Err(why) => format!("{status}; {why}"),
            })
        });
        Ok(states.collect())
    }

    fn stop(&mut self, handles: &[String]) {
        for handle in handles {
            if let Some(mut running) = self.running.remove(handle) {
                programs::kill(&mut running.child);
                if let Some(part) = running.part {
                    // What is left of it is no record.
                    let _ = fs::remove_file(part);
                }
            }
        }
    }
}

/// A new file. What a process of a run that was killed still writes goes to the old one, which has no name any more.
fn fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create(path),
    }
}

/// Where a record arrives before it is whole.
fn part_of(record: &Path) -> PathBuf {
    let name = record.file_name().unwrap_or_default().to_string_lossy();
    record.with_file_name(format!(".tmp-{name}"))
}

/// Takes a record that has arrived to its place, if it is whole.
fn arrive(part: &Path, record: &Path) -> Result<(), String> {
    let check = || -> io::Result<bool> {
        let file = File::open(part)?;
        if file.metadata()?.len() == 0 {
            return Ok(false);
        }
        // It ends with a checksum of its contents.
        io::copy(&mut GzDecoder::new(&file), &mut io::sink())?;
        file.sync_all()?;
        fs::rename(part, record)?;
        Ok(true)
    };
    let checked = check();
    if !matches!(checked, Ok(true)) {
        // What is left of it is no record.
        let _ = fs::remove_file(part);
    }
    match checked {
        Ok(true) => Ok(()),
        Ok(false) => Err("no record came".to_owned()),
        Err(error) => Err(format!("its record came cut off or damaged: {error}")),
    }
}

/// How a process ended.
fn how(status: ExitStatus) -> String {
    // "exit status: 1", "signal: 9 (SIGKILL)"
    status.to_string()
}

//! What an engine is.

use std::path::PathBuf;

/// A kind of engine.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its word on the command line.
    pub name: &'static str,
    /// Tasks that are outstanding at the same time, unless the user says otherwise.
    pub window: usize,
    /// Seconds between two looks at what is outstanding.
    pub poll: f64,
    /// Whether tasks go on where the process that started them ends.
    pub outlives: bool,
    /// The program on its nodes, unless the user says otherwise. `None`: at the path of this one.
    pub program: Option<&'static str>,
    /// Opens it.
    pub open: fn(&Settings) -> Box<dyn Engine>,
}

/// What a user says about an engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Names this run to the engine: jobs of an earlier process are found by it.
    pub run: String,
    /// The partition (Slurm) or namespace (Kubernetes).
    pub partition: Option<String>,
    /// Options for the command that starts a task (sbatch, ssh), word by word.
    pub options: Vec<String>,
    /// The container image (Kubernetes).
    pub image: Option<String>,
    /// The volume claim that is mounted at the results' directory (Kubernetes).
    pub claim: Option<String>,
}

/// A node on which a command could be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub node: String,
    /// Whether it is free.
    pub availability: Availability,
}

/// Whether a node is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// A task would start at once.
    Idle,
    /// A task would wait for others.
    Busy,
    /// No task can start; the state and its reason.
    Down(String),
}

/// The command of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The node.
    pub node: String,
    /// The command, which writes the node's record below a directory that it is given: see [`Task::into`].
    pub command: Vec<String>,
    /// The directory that all nodes share.
    pub directory: PathBuf,
    /// Where the record will be.
    pub record: PathBuf,
    /// Where its other output goes.
    pub log: PathBuf,
    /// Seconds that it may take.
    pub seconds: f64,
}

impl Task {
    /// The command for a node that shares the directory.
    pub fn into_directory(&self) -> Vec<String> {
        self.into(&self.directory.to_string_lossy())
    }

    /// The command for a node that does not: the record goes to stdout.
    pub fn into_stdout(&self) -> Vec<String> {
        self.into("-")
    }

    fn into(&self, target: &str) -> Vec<String> {
        self.command.iter().cloned().chain(["--into".to_owned(), target.to_owned()]).collect()
    }
}

/// Why a task was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It can be started later: a limit of the site, or a service that does not answer.
    Later(String),
    /// Never on this node.
    Never(String),
}

/// What the user gives to a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name of its file.
    pub name: &'static str,
    /// Its text.
    pub text: String,
    /// The command that applies a file of it.
    pub apply: &'static str,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for its node.
    Waits,
    /// It runs.
    Runs,
    /// It has ended; why, as far as the engine knows. Whether it answered, its record shows.
    Ended(String),
    /// The engine does not know it: it ended long ago, or a controller that was killed has forgotten it.
    Unknown,
}

/// Starts tasks, looks after them, and stops them. Handles name tasks beyond the life of a process.
pub trait Engine {
    /// The nodes that it has; those of a list, where there is one.
    ///
    /// # Errors
    /// Why they are not known.
    fn nodes(&mut self, list: Option<&[String]>) -> Result<Vec<Offer>, String>;

    /// Starts a task; returns its handle.
    ///
    /// # Errors
    /// Why not, and whether it is worth trying again.
    fn start(&mut self, task: &Task) -> Result<String, Refusal>;

    /// What became of these handles, in their order.
    ///
    /// # Errors
    /// Why it is not known now: the tasks may go on all the same.
    fn poll(&mut self, handles: &[String]) -> Result<Vec<State>, String>;

    /// Stops these tasks.
    fn stop(&mut self, handles: &[String]);

    /// Tasks of this run that an earlier process started: nodes with handles.
    ///
    /// # Errors
    /// Why they are not known now.
    fn adopt(&mut self) -> Result<Vec<(String, String)>, String> {
        Ok(Vec::new())
    }

    /// All tasks as one manifest that the user gives to the scheduler, where they are not started one by one.
    ///
    /// # Errors
    /// What is missing for it.
    fn manifest(&self, _tasks: &[Task]) -> Result<Option<Manifest>, String> {
        Ok(None)
    }

    /// Takes nodes out of service: a command for each, with the reason.
    ///
    /// # Errors
    /// There is nothing to take them out of.
    fn drain(&self, nodes: &[(String, String)]) -> Result<Vec<Vec<String>>, String> {
        let _ = nodes;
        Err("has no queue to take nodes from; use --engine slurm or kubernetes".to_owned())
    }

    /// Returns to service those of these nodes that [`drain`](Self::drain) took out: a command for each.
    ///
    /// # Errors
    /// There is nothing to return them to, or it is not known who took them out.
    fn resume(&self, nodes: &[String]) -> Result<Vec<Vec<String>>, String> {
        let _ = nodes;
        Err("has no queue to return nodes to; use --engine slurm or kubernetes".to_owned())
    }
}

//! The directory of a fleet's run, which is all of its state:
//!
//! - `fleet.json`: the plan
//! - `journal.jsonl`: what was started, and what ended without an answer
//! - `nodes/XX/NODE.json.gz`: the record of a node that answered
//! - `logs/XX/NODE.log`: what its command printed besides
//!
//! XX is a hash of the name: file systems that many nodes share are slow with thousands of files in one directory.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use twox_hash::XxHash64;

use crate::engine::Settings;

/// The version of the plan and the journal.
const SCHEMA: u32 = 1;
/// The file of the plan.
const PLAN: &str = "fleet.json";
/// The directory of records.
const RECORDS: &str = "nodes";
const JOURNAL: &str = "journal.jsonl";
/// The largest plan: a million names of 255 letters.
const MOST_PLAN: u64 = 300 << 20;
/// What every record ends in.
const RECORD: &str = ".json.gz";

/// What is measured on which nodes, and by which engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of this format.
    pub schema: u32,
    /// Names the run to the engine.
    pub run: String,
    /// When it was planned: RFC 3339.
    pub planned: String,
    /// The engine's word.
    pub engine: String,
    /// The partition or namespace.
    pub partition: Option<String>,
    /// Options of the command that starts a task.
    pub options: Vec<String>,
    /// The container image.
    #[serde(default)]
    pub image: Option<String>,
    /// The volume claim.
    #[serde(default)]
    pub claim: Option<String>,
    /// The program on the nodes.
    pub program: String,
    /// What is measured: a tier, unless there is a list of the user's.
    pub tier: String,
    /// The user's list of commands.
    #[serde(default)]
    pub measure: Vec<String>,
    /// Seconds that a node may take.
    pub seconds: f64,
    /// The nodes, in the order in which they are measured.
    pub nodes: Vec<String>,
}

impl Plan {
    /// A plan of today.
    pub fn new(engine: &str, program: &str, tier: &str, seconds: f64, nodes: Vec<String>) -> Plan {
        let now = Timestamp::now();
        Plan {
            schema: SCHEMA,
            run: format!("truebench-{}-{}", now.as_second(), std::process::id()),
            planned: now.to_string(),
            engine: engine.to_owned(),
            partition: None,
            options: Vec::new(),
            image: None,
            claim: None,
            program: program.to_owned(),
            tier: tier.to_owned(),
            measure: Vec::new(),
            seconds,
            nodes,
        }
    }

    /// What is measured, for people.
    pub fn what(&self) -> String {
        if self.measure.is_empty() { format!("tier {}", self.tier) } else { self.measure.join("; ") }
    }

    /// What the engine is opened with.
    pub fn settings(&self) -> Settings {
        Settings {
            run: self.run.clone(),
            partition: self.partition.clone(),
            options: self.options.clone(),
            image: self.image.clone(),
            claim: self.claim.clone(),
        }
    }
}

/// What happened to a node's task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Event {
    /// When: RFC 3339.
    at: String,
    node: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
enum What {
    Started { handle: String },
    Ended { why: String },
}

/// What is known of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was not started.
    Waits,
    /// It was started, under this handle, so many seconds ago.
    Outstanding(String, f64),
    /// Its record is there.
    Answered,
    /// It ended without a record; why.
    Missing(String),
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no plan in it.
    #[error("no fleet was run there (it has no {PLAN})")]
    NoPlan,
    /// There is one already.
    #[error("a fleet was run there already; go on with it (--resume), or name another directory")]
    HasPlan,
    /// A plan that this program does not know.
    #[error("{PLAN} cannot be read: {0}")]
    Plan(String),
    /// The file system.
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
}

/// The directory of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// A directory by its path; nothing is made or read.
    pub fn at(path: &Path) -> Directory {
        Directory { path: path.to_owned() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it holds a plan.
    pub fn has_plan(&self) -> bool {
        self.path.join(PLAN).exists()
    }

    /// Writes the plan.
    ///
    /// # Errors
    /// There is one, or it cannot be written.
    pub fn begin(&self, plan: &Plan) -> Result<(), Problem> {
        fs::create_dir_all(&self.path).map_err(|error| self.problem(error))?;
        if self.has_plan() {
            return Err(Problem::HasPlan);
        }
        let text = serde_json::to_vec(plan).map_err(|error| Problem::Plan(error.to_string()))?;
        self.write_whole(&self.path.join(PLAN), &text)
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// There is none, or it is another version's.
    pub fn plan(&self) -> Result<Plan, Problem> {
        let file = match File::open(self.path.join(PLAN)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Problem::NoPlan),
            other => other.map_err(|error| self.problem(error))?,
        };
        let mut text = Vec::new();
        file.take(MOST_PLAN).read_to_end(&mut text).map_err(|error| self.problem(error))?;
        let plan: Plan = serde_json::from_slice(&text).map_err(|error| Problem::Plan(error.to_string()))?;
        match plan.schema {
            0..=SCHEMA => Ok(plan),
            newer => Err(Problem::Plan(format!("format {newer}; this truebench knows {SCHEMA}"))),
        }
    }

    /// The directory of all records.
    pub fn records(&self) -> PathBuf {
        self.path.join(RECORDS)
    }

    /// Where a node's record is.
    pub fn record(&self, node: &str) -> PathBuf {
        self.below(RECORDS, node, RECORD)
    }

    /// Where a node's other output is.
    pub fn log(&self, node: &str) -> PathBuf {
        self.below("logs", node, ".log")
    }

    fn below(&self, kind: &str, node: &str, ending: &str) -> PathBuf {
        let hash = XxHash64::oneshot(0, node.as_bytes()) & 0xff;
        self.path.join(kind).join(format!("{hash:02x}")).join(format!("{node}{ending}"))
    }

    /// Writes a node's record, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_record(&self, node: &str, packed: &[u8]) -> Result<(), Problem> {
        let path = self.record(node);
        self.make_parent(&path)?;
        self.write_whole(&path, packed)
    }

    /// Makes the directory of a file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_parent(&self, path: &Path) -> Result<(), Problem> {
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| self.problem(error))
    }

    /// A file appears with all of its bytes, on the disk, or not at all.
    fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), Problem> {
        let parent = path.parent().unwrap_or(&self.path);
        let write = || {
            let mut file = NamedTempFile::with_prefix_in(".tmp", parent)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| Problem::System(path.to_owned(), error))
    }

    /// Notes that a node's task was started.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn note_started(&self, node: &str, handle: &str) -> Result<(), Problem> {
        self.note(node, What::Started { handle: handle.to_owned() })
    }

    /// Notes that a node's task ended without a record.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn note_ended(&self, node: &str, why: &str) -> Result<(), Problem> {
        self.note(node, What::Ended { why: why.to_owned() })
    }

    fn note(&self, node: &str, what: What) -> Result<(), Problem> {
        let event = Event { at: Timestamp::now().to_string(), node: node.to_owned(), what };
        let path = self.path.join(JOURNAL);
        let write = || {
            // One write, so that a line is not torn by another process.
            let mut file = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
            // What a full disk left of a line must not take this one with it.
            let begin = if ends_a_line(&file)? { "" } else { "\n" };
            let line = serde_json::to_string(&event).map_err(io::Error::other)?;
            file.write_all(format!("{begin}{line}\n").as_bytes())?;
            file.sync_data()
        };
        write().map_err(|error| Problem::System(path.clone(), error))
    }

    /// What is known of each node of a plan, in its order.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn outcomes(&self, plan: &Plan) -> Result<Vec<Outcome>, Problem> {
        let mut last: HashMap<String, (What, f64)> = HashMap::new();
        for event in self.events()? {
            let age = event
                .at
                .parse::<Timestamp>()
                .map_or(0.0, |at| (Timestamp::now().as_millisecond() - at.as_millisecond()) as f64 / 1e3);
            last.insert(event.node, (event.what, age));
        }
        let outcome = |node: &String| {
            if self.record(node).exists() {
                return Outcome::Answered;
            }
            match last.get(node) {
                None => Outcome::Waits,
                Some((What::Started { handle }, age)) => Outcome::Outstanding(handle.clone(), *age),
                Some((What::Ended { why }, _)) => Outcome::Missing(why.clone()),
            }
        };
        Ok(plan.nodes.iter().map(outcome).collect())
    }

    /// The lines of the journal that can be read: the last one may be cut off, where a process was killed or the disk was full.
    fn events(&self) -> Result<Vec<Event>, Problem> {
        let file = match File::open(self.path.join(JOURNAL)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| self.problem(error))?,
        };
        let lines = BufReader::new(file).split(b'\n');
        let lines = lines.collect::<Result<Vec<_>, _>>().map_err(|error| self.problem(error))?;
        Ok(lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// The last line that a node's command printed.
    pub fn last_words(&self, node: &str) -> Option<String> {
        const TAIL: usize = 4096;
        let bytes = fs::read(self.log(node)).ok()?;
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL)..]).into_owned();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }

    fn problem(&self, error: io::Error) -> Problem {
        Problem::System(self.path.clone(), error)
    }
}

/// Whether a file is empty, or its last line is whole.
fn ends_a_line(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut last = *b"\n";
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(nodes: &[&str]) -> Plan {
        Plan::new("local", "truebench", "15s", 60.0, nodes.iter().map(|node| (*node).to_owned()).collect())
    }

    #[test]
    fn the_directory_is_the_state() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::at(&scratch.path().join("new"));
        assert!(matches!(directory.plan(), Err(Problem::NoPlan)));
        let plan = plan(&["a", "b", "c", "d"]);
        directory.begin(&plan).unwrap();
        assert!(matches!(directory.begin(&plan), Err(Problem::HasPlan)));
        assert_eq!(directory.plan().unwrap(), plan);
        directory.note_started("a", "1").unwrap();
        directory.note_started("b", "2").unwrap();
        directory.note_started("c", "3").unwrap();
        directory.note_ended("c", "timed out").unwrap();
        directory.write_record("a", b"record").unwrap();
        // As a full disk leaves it.
        let journal = directory.path().join(JOURNAL);
        let mut file = OpenOptions::new().append(true).open(journal).unwrap();
        file.write_all(b"{\"at\": \"2026-").unwrap();
        let outcomes = directory.outcomes(&plan).unwrap();
        assert_eq!(outcomes[0], Outcome::Answered);
        assert!(matches!(&outcomes[1], Outcome::Outstanding(handle, age) if handle == "2" && *age < 60.0));
        assert_eq!(outcomes[2], Outcome::Missing("timed out".into()));
        assert_eq!(outcomes[3], Outcome::Waits);
        // Once the disk has room again, the next line is whole.
        directory.note_ended("b", "exit status: 1").unwrap();
        assert_eq!(directory.outcomes(&plan).unwrap()[1], Outcome::Missing("exit status: 1".into()));
    }

    #[test]
    fn a_plan_of_a_newer_truebench_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::at(scratch.path());
        directory.begin(&Plan { schema: SCHEMA + 1, ..plan(&[]) }).unwrap();
        assert!(matches!(directory.plan(), Err(Problem::Plan(why)) if why.contains("format 2")));
    }

    #[test]
    fn files_spread_over_directories() {
        let directory = Directory::at(Path::new("d"));
        let parents: std::collections::HashSet<_> =
            (0..1000).map(|at| directory.record(&format!("n{at}")).parent().unwrap().to_owned()).collect();
        assert!(parents.len() > 200, "{}", parents.len());
        assert!(directory.log("n1").to_string_lossy().ends_with("/n1.log"));
    }
}

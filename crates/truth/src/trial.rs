//! Planting: truebench run as a user runs it, with a defect around it or without.

use std::fs::File;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use figure::Record;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::defect::{Defect, Stage, Words};

/// Shell functions that scripts share.
const PRELUDE: &str = include_str!("../../../tests/defects/prelude.sh");

/// The exit code by which a script says that the defect cannot be planted here (as Automake's tests do).
const SKIP: i32 = 77;
/// The exit codes of truebench with a record: nothing invalid; something invalid; nothing could be measured.
const WITH_RECORD: [i32; 3] = [0, 3, 1];
/// What a trial may take, for what it should take. More, and it hangs.
const SLOW: f64 = 20.0;
/// The least time that a trial is given.
const LEAST: Duration = Duration::from_secs(60);
/// Between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// The most that is read of what a run says.
const MAX_BYTES: u64 = 64 << 20;

/// Where trials are run.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The program.
    pub truebench: &'a Path,
    /// The CPUs that may be used.
    pub cpus: &'a [u32],
    /// Whether to stop: asked all the time.
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// What came of a trial.
#[derive(Debug)]
pub enum Trial {
    /// A record.
    Record(Box<Record>),
    /// It cannot be planted here: why.
    NotHere(String),
    /// The run itself went wrong: how.
    Broken(String),
}

impl Site<'_> {
    /// Runs with the defect.
    pub fn plant(&self, defect: &Defect) -> Trial {
        self.run(defect, &defect.plant)
    }

    /// Runs the clean twin.
    pub fn clean(&self, defect: &Defect) -> Trial {
        self.run(defect, &defect.clean)
    }

    fn run(&self, defect: &Defect, stage: &Stage) -> Trial {
        match self.attempt(defect, stage) {
            Ok(trial) => trial,
            Err(error) => Trial::Broken(format!("{}: {error}", defect.id)),
        }
    }

    fn attempt(&self, defect: &Defect, stage: &Stage) -> std::io::Result<Trial> {
        let directory = tempfile::Builder::new().prefix("truebench-selftest-").tempdir()?;
        let at = |name: &str| directory.path().join(name);
        let mut names: Vec<(String, String)> = vec![
            ("DIR".to_owned(), directory.path().display().to_string()),
            ("TRUEBENCH".to_owned(), self.truebench.display().to_string()),
            ("CPUS".to_owned(), self.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
        ];
        names.extend(
            self.cpus.iter().enumerate().take(4).map(|(at, cpu)| (format!("CPU{at}"), cpu.to_string())),
        );
        if let Some(missing) = missing(defect, stage, &names) {
            return Ok(Trial::NotHere(missing));
        }
        let words = arguments(defect, stage, self.truebench, free_port()?);
        let words: Vec<String> = words.into_iter().map(|word| filled(&word, &names)).collect();
        let script = format!("{PRELUDE}\n{}", stage.script.as_deref().unwrap_or("\"$@\""));
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(self.truebench).args(&words);
        command.envs(names).env_remove("COLUMNS").env_remove("NO_COLOR").current_dir(directory.path());
        // Files, not pipes: what a script leaves behind would keep a pipe open.
        command.stdin(Stdio::null()).stdout(File::create(at(".out"))?).stderr(File::create(at(".err"))?);
        let status = self.ended(command.process_group(0), time_for(defect))?;
        let Some(status) = status else {
            let why = if (self.is_interrupted)() {
                "interrupted".to_owned()
            } else {
                format!("not ended after {:?}", time_for(defect))
            };
            return Ok(Trial::Broken(format!("{}: {why}", defect.id)));
        };
        let said = text(&at(".err"))?;
        if status.code() == Some(SKIP) {
            return Ok(Trial::NotHere(said.lines().next_back().unwrap_or("its script says so").to_owned()));
        }
        let record = status.code().filter(|code| WITH_RECORD.contains(code));
        let record = match record {
            Some(_) => serde_json::from_str(&text(&at(".out"))?).ok(),
            None => None,
        };
        let broken = || format!("{}: {status}: {}", defect.id, said.trim());
        Ok(record.map_or_else(|| Trial::Broken(broken()), |record| Trial::Record(Box::new(record))))
    }

    /// Runs to the end, with all that it started; `None` where it had to be killed.
    fn ended(&self, command: &mut Command, most: Duration) -> std::io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                None if start.elapsed() < most && !(self.is_interrupted)() => std::thread::sleep(LOOK),
                status => break status,
            }
        };
        // What a script left running: load that it planted.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        if status.is_none() {
            child.wait()?;
        }
        Ok(status)
    }
}

/// The arguments of truebench: a record as JSON on stdout.
fn arguments(defect: &Defect, stage: &Stage, truebench: &Path, port: u16) -> Vec<String> {
    let mut words: Vec<String> = defect.run.iter().chain(stage.with.iter()).map(str::to_owned).collect();
    // The twin of what a responder does wrong is one that does nothing wrong.
    if let Some(null) = stage.null.as_ref().or(defect.plant.null.as_ref().map(|_| &NOTHING)) {
        let options: Vec<&str> = null.iter().collect();
        let server =
            format!("'{}' http null --bind 127.0.0.1:{port} {}", truebench.display(), options.join(" "));
        words.extend(["--no-ceiling", "--url"].map(str::to_owned));
        words.extend([format!("http://127.0.0.1:{port}/"), "--server".to_owned(), server]);
    }
    words.extend(["--format", "json"].map(str::to_owned));
    words
}

/// No options.
static NOTHING: Words = Words::List(Vec::new());

/// The CPU that is asked for and is not there.
fn missing(defect: &Defect, stage: &Stage, names: &[(String, String)]) -> Option<String> {
    let text = defect.run.iter().chain(stage.with.iter()).chain(stage.script.as_deref());
    let text: Vec<&str> = text.collect();
    let asks = |cpu: usize| text.iter().any(|text| text.contains(&format!("$CPU{cpu}")));
    let lacks = |cpu: usize| !names.iter().any(|(name, _)| *name == format!("CPU{cpu}"));
    (0..4).find(|cpu| asks(*cpu) && lacks(*cpu)).map(|cpu| format!("needs {} CPUs", cpu + 1))
}

/// `$NAME` replaced by its value.
fn filled(word: &str, names: &[(String, String)]) -> String {
    let mut longest_first: Vec<_> = names.iter().collect();
    longest_first.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    longest_first.iter().fold(word.to_owned(), |word, (name, value)| word.replace(&format!("${name}"), value))
}

fn time_for(defect: &Defect) -> Duration {
    Duration::from_secs_f64((defect.seconds * SLOW).clamp(LEAST.as_secs_f64(), 3600.0))
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A port of 127.0.0.1 that was free a moment ago.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

//! Planting: truebench run as a user runs it, with a defect around it or without.

use std::fs::File;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use figure::Record;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::defect::{Defect, Stage, Words};

/// Shell functions that scripts share.
const PRELUDE: &str = include_str!("../../../tests/defects/prelude.sh");
/// What their C programs are made of, in $DIR: an allocator, and a program that allocates.
const SOURCES: &[(&str, &str)] = &[
    ("bump.h", include_str!("../../../tests/allocators/bump.h")),
    ("blocks.c", include_str!("../../../tests/allocators/blocks.c")),
];

/// The exit code by which a script says that the defect cannot be planted here (as Automake's tests do), and the file by which it does so from
/// within a pipe, because the code of a pipe is that of its last command.
const SKIP: i32 = 77;
const SKIPPED: &str = ".skip";
/// The exit code of truebench for what cannot be asked for.
const WRONG_USAGE: i32 = 2;
/// The exit codes of truebench with a record: nothing invalid; something invalid; nothing could be measured.
const WITH_RECORD: [i32; 3] = [0, 3, 1];
/// What a trial may take, for what it should take. More, and it hangs.
const SLOW: f64 = 20.0;
/// The least and the most seconds that a trial is given. First touch of the arrays for a cache of 480 MiB (11 GiB) takes a minute and
/// more where a busy loop has half of the CPU.
const LEAST: f64 = 300.0;
const MOST: f64 = 3600.0;
/// The CPUs that have names.
const MOST_CPUS: usize = 4;
/// Time that scripts have to undo their changes after SIGTERM.
const UNDO: Duration = Duration::from_secs(3);
/// Between two checks whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// The most that is read of a run's output, in bytes.
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
    /// Truebench refuses to do that here, by exit code 2: why. It may ask for what this machine has not.
    Refused(String),
    /// The run itself went wrong: how.
    Broken(String),
    /// The user stopped it, or the time is over: it says nothing.
    Interrupted,
}

/// What is run.
struct Task<'a> {
    /// For messages.
    name: &'a str,
    /// What it takes, about.
    seconds: f64,
    /// Around it.
    script: Option<&'a str>,
    /// The arguments of truebench, with names in them.
    words: Vec<String>,
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

    /// Runs truebench with these arguments, and nothing around it.
    pub fn alone(&self, arguments: &str) -> Trial {
        let words = Words::Text(arguments.to_owned());
        self.trial(&Task { name: arguments, seconds: 0.0, script: None, words: with_json(words.iter()) })
    }

    fn run(&self, defect: &Defect, stage: &Stage) -> Trial {
        let (name, seconds, script) = (&defect.id, defect.seconds, stage.script.as_deref());
        self.trial(&Task { name, seconds, script, words: arguments(defect, stage) })
    }

    fn trial(&self, task: &Task) -> Trial {
        self.attempt(task).unwrap_or_else(|error| Trial::Broken(format!("{}: {error}", task.name)))
    }

    fn attempt(&self, task: &Task) -> std::io::Result<Trial> {
        let directory = tempfile::Builder::new().prefix("truebench-selftest-").tempdir()?;
        let at = |name: &str| directory.path().join(name);
        let names = self.names(directory.path(), free_port()?);
        if let Some(missing) = missing(task, &names) {
            return Ok(Trial::NotHere(missing));
        }
        for (name, source) in SOURCES {
            std::fs::write(at(name), source)?;
        }
        let words: Vec<String> = task.words.iter().map(|word| filled(word, &names)).collect();
        let script = format!("{PRELUDE}\n{}", task.script.unwrap_or("\"$@\""));
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(self.truebench).args(&words);
        command.envs(names).env_remove("COLUMNS").env_remove("NO_COLOR").current_dir(directory.path());
        // Files, not pipes: what a script leaves behind would keep a pipe open. The prelude waits for the end of stdin.
        command.stdin(Stdio::piped()).stdout(File::create(at(".out"))?).stderr(File::create(at(".err"))?);
        let most = Duration::from_secs_f64((task.seconds * SLOW).clamp(LEAST, MOST));
        let status = self.ended(command.process_group(0), most)?;
        // Also where it ended by itself: what stopped us may have stopped it too, and all that it says is of that.
        if (self.is_interrupted)() {
            return Ok(Trial::Interrupted);
        }
        let Some(status) = status else {
            return Ok(Trial::Broken(format!("{}: not ended after {most:?}", task.name)));
        };
        let errors = text(&at(".err"))?;
        let skipped = match at(SKIPPED).exists() {
            true => Some(text(&at(SKIPPED))?),
            false => (status.code() == Some(SKIP)).then(|| errors.clone()),
        };
        if let Some(why) = skipped {
            return Ok(Trial::NotHere(why.lines().next_back().unwrap_or("its script says so").to_owned()));
        }
        let record = match status.code() {
            Some(WRONG_USAGE) => return Ok(Trial::Refused(errors.trim().to_owned())),
            Some(code) if WITH_RECORD.contains(&code) => Record::read(text(&at(".out"))?.as_bytes()).ok(),
            _ => None,
        };
        let broken = || format!("{}: {status}: {}", task.name, errors.trim());
        Ok(record.map_or_else(|| Trial::Broken(broken()), |record| Trial::Record(Box::new(record))))
    }

    /// What arguments and scripts may name by `$NAME`.
    fn names(&self, directory: &Path, port: u16) -> Vec<(String, String)> {
        let all: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        let each = all.iter().enumerate().take(MOST_CPUS).map(|(at, cpu)| (format!("CPU{at}"), cpu.clone()));
        let whole = [
            ("DIR", directory.display().to_string()),
            ("TRUEBENCH", self.truebench.display().to_string()),
            ("CPUS", all.join(",")),
            ("PORT", port.to_string()),
        ];
        each.chain(whole.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    /// Runs to the end, with all that it started; `None` where it had to be ended.
    fn ended(&self, command: &mut Command, most: Duration) -> std::io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                None if start.elapsed() < most && !(self.is_interrupted)() => std::thread::sleep(LOOK),
                status => break status,
            }
        };
        if status.is_none() {
            // What they altered they put back: a clock, control groups, files.
            let _ = kill_process_group(group, Signal::TERM);
            let start = Instant::now();
            let is_any = |child: &mut Child| {
                child.try_wait().is_ok_and(|status| status.is_none())
                    || test_kill_process_group(group).is_ok()
            };
            while start.elapsed() < UNDO && is_any(&mut child) {
                std::thread::sleep(LOOK);
            }
        }
        // What a script left running: load that it planted.
        let _ = kill_process_group(group, Signal::KILL);
        if status.is_none() {
            child.wait()?;
        }
        Ok(status)
    }
}

/// The arguments of truebench: a record as JSON on stdout.
fn arguments(defect: &Defect, stage: &Stage) -> Vec<String> {
    let mut words: Vec<String> = defect.run.iter().chain(stage.with.iter()).map(str::to_owned).collect();
    // The twin of what a responder does wrong is one that does nothing wrong.
    if let Some(null) = stage.null.as_ref().or(defect.plant.null.as_ref().map(|_| &NOTHING)) {
        let options: Vec<&str> = null.iter().collect();
        let server = format!("'$TRUEBENCH' http null --bind 127.0.0.1:$PORT {}", options.join(" "));
        words.extend(["--no-ceiling", "--url", "http://127.0.0.1:$PORT/", "--server"].map(str::to_owned));
        words.push(server);
    }
    with_json(words.iter().map(String::as_str))
}

/// A record on stdout.
fn with_json<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.chain(["--format", "json"]).map(str::to_owned).collect()
}

/// No options.
static NOTHING: Words = Words::List(Vec::new());

/// The CPU that is asked for and is not there.
fn missing(task: &Task, names: &[(String, String)]) -> Option<String> {
    let asks =
        |name: &str| task.words.iter().map(String::as_str).chain(task.script).any(|text| text.contains(name));
    let lacks = |cpu: usize| !names.iter().any(|(name, _)| *name == format!("CPU{cpu}"));
    let cpu = (0..MOST_CPUS).find(|cpu| asks(&format!("$CPU{cpu}")) && lacks(*cpu))?;
    Some(format!("needs {} CPUs", cpu + 1))
}

/// `$NAME` replaced by its value.
fn filled(word: &str, names: &[(String, String)]) -> String {
    names.iter().fold(word.to_owned(), |word, (name, value)| word.replace(&format!("${name}"), value))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a script around a program that does nothing, and gives no record.
    fn came(script: &str) -> Trial {
        let defect = Defect::sample(script, "verdict = 'invalid', cause = 'steal'");
        Site { truebench: Path::new("true"), cpus: &[0], is_interrupted: &|| false }.plant(&defect)
    }

    #[test]
    fn skips_are_reported_from_wherever_they_are_noticed() {
        for script in [
            "skip no compiler; \"$@\"",
            "echo x | skip no compiler; \"$@\"",
            "echo no compiler >&2; exit 77; \"$@\"",
        ] {
            assert!(matches!(came(script), Trial::NotHere(why) if why == "no compiler"), "{script}");
        }
        assert!(
            matches!(came("needs no-such-tool | cat; \"$@\""), Trial::NotHere(why) if why == "needs no-such-tool")
        );
        assert!(matches!(came("\"$@\" $CPU1"), Trial::NotHere(why) if why == "needs 2 CPUs"));
        assert!(matches!(came("\"$@\""), Trial::Broken(_)));
        assert!(matches!(came("\"$@\"; echo no such >&2; exit 2"), Trial::Refused(why) if why == "no such"));
    }

    #[test]
    fn who_is_stopped_undoes_what_was_done() {
        let room = tempfile::tempdir().unwrap();
        let [altered, undone] = ["altered", "undone"].map(|name| room.path().join(name));
        let script = format!(
            "trap '>{}; exit' TERM; >{}; while :; do sleep 0.1; done; \"$@\"",
            undone.display(),
            altered.display()
        );
        let defect = Defect::sample(&script, "verdict = 'invalid', cause = 'steal'");
        let is_altered = || altered.exists();
        let site = Site { truebench: Path::new("true"), cpus: &[0], is_interrupted: &is_altered };
        assert!(matches!(site.plant(&defect), Trial::Interrupted));
        assert!(undone.exists());
    }
}

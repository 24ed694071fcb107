//! Where scripts run: a directory of their own, names for what is in it, and the end of all that they started.

use std::fs::File;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tempfile::TempDir;

/// Shell functions that scripts share.
const PRELUDE: &str = include_str!("../../../tests/defects/prelude.sh");
/// What their C programs are made of, in $DIR: an allocator, and a program that allocates.
const SOURCES: &[(&str, &str)] = &[
    ("bump.h", include_str!("../../../tests/allocators/bump.h")),
    ("blocks.c", include_str!("../../../tests/allocators/blocks.c")),
];

/// The exit code by which a script says that it cannot be run here (as Automake's tests do), and the file by which it does so from within a
/// pipe, because the code of a pipe is that of its last command.
const SKIP: i32 = 77;
const SKIPPED: &str = ".skip";
/// The CPUs that have names.
pub(crate) const MOST_CPUS: usize = 4;
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

/// A directory in which scripts run; it is removed with this.
pub(crate) struct Room<'a> {
    site: Site<'a>,
    directory: TempDir,
    /// What arguments and scripts may name by `$NAME`.
    names: Vec<(String, String)>,
}

/// How a script ended.
pub(crate) struct Came {
    /// `None` where it had to be ended.
    pub status: Option<ExitStatus>,
    /// Why it cannot be run here, if it says so.
    pub skipped: Option<String>,
    /// Its stderr.
    pub errors: String,
}

impl<'a> Room<'a> {
    pub fn new(site: Site<'a>) -> std::io::Result<Room<'a>> {
        let directory = tempfile::Builder::new().prefix("truebench-selftest-").tempdir()?;
        for (name, source) in SOURCES {
            std::fs::write(directory.path().join(name), source)?;
        }
        let all: Vec<String> = site.cpus.iter().map(u32::to_string).collect();
        let each = all.iter().enumerate().take(MOST_CPUS).map(|(at, cpu)| (format!("CPU{at}"), cpu.clone()));
        let whole = [
            ("DIR", directory.path().display().to_string()),
            ("TRUEBENCH", site.truebench.display().to_string()),
            ("CPUS", all.join(",")),
            ("PORT", free_port()?.to_string()),
        ];
        let names = each.chain(whole.map(|(name, value)| (name.to_owned(), value))).collect();
        Ok(Room { site, directory, names })
    }

    /// Whether arguments may name this.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(one, _)| one == name)
    }

    /// `$NAME` replaced by its value.
    pub fn filled(&self, word: &str) -> String {
        self.names
            .iter()
            .fold(word.to_owned(), |word, (name, value)| word.replace(&format!("${name}"), value))
    }

    /// A file of the directory.
    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Its text; of a long one the beginning.
    pub fn text(&self, name: &str) -> std::io::Result<String> {
        let mut bytes = Vec::new();
        File::open(self.at(name))?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The stdout of what ran last.
    pub fn output(&self) -> std::io::Result<String> {
        self.text(".out")
    }

    /// Runs a script of sh(1), in which these words are "$@".
    pub fn run(&self, script: &str, words: &[String], most: Duration) -> std::io::Result<Came> {
        let script = format!("{PRELUDE}\n{script}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args(words);
        let names = self.names.iter().map(|(name, value)| (name, value));
        command.envs(names).env_remove("COLUMNS").env_remove("NO_COLOR").current_dir(self.directory.path());
        // Files, not pipes: what a script leaves behind would keep a pipe open. The prelude waits for the end of stdin.
        let [out, err] = [".out", ".err"].map(|name| File::create(self.at(name)));
        command.stdin(Stdio::piped()).stdout(out?).stderr(err?);
        let status = self.ended(command.process_group(0), most)?;
        let errors = self.text(".err")?;
        let skipped = match self.at(SKIPPED).exists() {
            true => Some(self.text(SKIPPED)?),
            false => status.is_some_and(|status| status.code() == Some(SKIP)).then(|| errors.clone()),
        };
        let skipped = skipped.map(|why| why.lines().next_back().unwrap_or("its script says so").to_owned());
        Ok(Came { status, skipped, errors })
    }

    /// Runs to the end, with all that it started; `None` where it had to be ended.
    fn ended(&self, command: &mut Command, most: Duration) -> std::io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                None if start.elapsed() < most && !(self.site.is_interrupted)() => std::thread::sleep(LOOK),
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

/// A port of 127.0.0.1 that was free a moment ago.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

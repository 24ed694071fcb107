//! Control groups with limits, of the first version or the second.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A limit of a group.
#[derive(Clone, Copy)]
pub enum Limit {
    /// CPU time: so many CPUs.
    Cpus(f64),
    /// Memory: so many bytes.
    Memory(u64),
}

/// The period of a quota, in microseconds.
const PERIOD: u32 = 100_000;

impl Limit {
    /// The controller, its file and what is written to it in the first version.
    fn first(self) -> (&'static str, &'static str, String) {
        match self {
            Limit::Cpus(share) => ("cpu", "cpu.cfs_quota_us", quota(share).to_string()),
            Limit::Memory(bytes) => ("memory", "memory.limit_in_bytes", bytes.to_string()),
        }
    }

    /// The file and what is written to it in the second.
    fn second(self) -> (&'static str, String) {
        match self {
            Limit::Cpus(share) => ("cpu.max", format!("{} {PERIOD}", quota(share))),
            Limit::Memory(bytes) => ("memory.max", bytes.to_string()),
        }
    }
}

fn quota(share: f64) -> u32 {
    (f64::from(PERIOD) * share) as u32
}

/// Groups that set these limits together: one for each controller in the first version, one in the second. Removed when dropped.
pub struct Group(Vec<PathBuf>);

impl Group {
    /// Groups with these limits; `None` where they cannot be made (no rights, no controller).
    pub fn with(limits: &[Limit]) -> Option<Group> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("truebench-test-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let root = Path::new("/sys/fs/cgroup");
        let firsts = limits.iter().map(|limit| {
            let (controller, file, value) = limit.first();
            (root.join(controller).join(&name), file, value)
        });
        let seconds = limits.iter().map(|limit| {
            let (file, value) = limit.second();
            (root.join(&name), file, value)
        });
        Group::made(firsts).or_else(|| Group::made(seconds))
    }

    fn made(limits: impl Iterator<Item = (PathBuf, &'static str, String)>) -> Option<Group> {
        let mut group = Group(Vec::new());
        for (directory, file, value) in limits {
            if !group.0.contains(&directory) {
                fs::create_dir(&directory).ok()?;
                group.0.push(directory.clone());
            }
            fs::write(directory.join(file), value).ok()?;
        }
        Some(group)
    }

    /// The files that a process writes 0 to, to come into it with all that it starts.
    pub fn entries(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|directory| directory.join("cgroup.procs"))
    }

    /// A program that will run inside.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "while [ \"$1\" != -- ]; do echo 0 > \"$1\"; shift; done; shift; exec \"$@\"", "sh"])
            .args(self.entries())
            .args(["--", program])
            .stdin(Stdio::null());
        command
    }

    /// Runs truebench inside.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_truebench")).args(arguments).output().expect("sh starts")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for directory in &self.0 {
            let _ = fs::remove_dir(directory);
        }
    }
}

//! What a run measures of each suite, and how long.

use clap::Parser;
use figure::Machine;

use crate::args::http::Http;
use crate::args::{Args, Command, Run, faults};
use crate::commands;
use crate::failure::Failure;
use crate::plans::Part;

/// A suite's part of a run: the command that measures the same alone.
pub struct Share {
    /// Its word on the command line.
    pub suite: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The command.
    command: &'static [&'static str],
    /// What it has besides with `--quick`: fewer figures, each whole.
    quick: &'static [&'static str],
    /// Seconds of `--quick`, and usual ones.
    seconds: (f64, f64),
    /// Whether it is measured in rounds; else once, for so many seconds.
    has_rounds: bool,
}

/// Seconds of what is watched once, at least.
const LEAST: f64 = 1.0;

/// All, in the order in which they are measured: what fills the page cache and what leaves connections behind comes last.
pub const SHARES: &[Share] = &[
    Share {
        suite: memory::SUITE,
        title: "memory",
        command: &["memory"],
        quick: &[],
        seconds: (40.0, 170.0),
        has_rounds: true,
    },
    Share {
        suite: alloc::SUITE,
        title: "allocators",
        command: &["alloc"],
        quick: &["--threads", "1"],
        seconds: (30.0, 135.0),
        has_rounds: true,
    },
    Share {
        suite: ::faults::SUITE,
        title: "page faults",
        command: &["faults", "prices"],
        quick: &[
            "minor.write",
            "minor.read",
            "cow",
            "file.read",
            "munmap",
            "mmap",
            "huge",
            "major",
            "concurrent",
            "watching",
        ],
        seconds: (20.0, 60.0),
        has_rounds: true,
    },
    Share {
        suite: ::faults::SUITE,
        title: "page faults of a program",
        command: &["faults", "demo", "--rate", "2000", "--seconds"],
        quick: &[],
        seconds: (5.0, 8.0),
        has_rounds: false,
    },
    Share {
        suite: system::SUITE,
        title: "operating system",
        command: &["system"],
        quick: &["syscall", "pipe", "context1", "spawn", "execl", "fstime", "shell1"],
        seconds: (58.0, 235.0),
        has_rounds: true,
    },
    Share {
        suite: http::SUITE,
        title: "HTTP serving",
        command: &["http"],
        quick: &["--connections", "200,8000", "--loads", "saturation"],
        seconds: (75.0, 295.0),
        has_rounds: true,
    },
];

/// The words of all suites.
pub fn suites() -> Vec<&'static str> {
    let mut words: Vec<&str> = SHARES.iter().map(|share| share.suite).collect();
    words.dedup();
    words
}

impl Share {
    /// The words of its command, without the program's.
    pub fn words(&self, run: &Run) -> Vec<String> {
        let measuring = &run.measuring;
        let mut words: Vec<String> = self.command.iter().map(|word| (*word).to_owned()).collect();
        if !self.has_rounds {
            let seconds = self.share_of(run).unwrap_or(self.seconds.1).clamp(LEAST, self.seconds.1);
            words.push(format!("{seconds:.0}"));
            return words;
        }
        let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        if measuring.quick {
            add(&["--quick"]);
            add(self.quick);
        }
        if measuring.thorough {
            add(&["--thorough"]);
        }
        if let Some(rounds) = measuring.rounds {
            add(&["--rounds", &rounds.to_string()]);
        }
        if let Some(target) = measuring.target {
            add(&["--target", &format!("{}%", target * 100.0)]);
        }
        if let Some(seconds) = self.share_of(run) {
            add(&["--max-time", &format!("{seconds:.1}s")]);
        }
        words
    }

    /// Seconds that it may take; `None`: as long as it takes.
    fn share_of(&self, run: &Run) -> Option<f64> {
        let measuring = &run.measuring;
        let of = |share: &Share| if measuring.quick { share.seconds.0 } else { share.seconds.1 };
        let is_asked =
            |share: &&Share| run.suites.is_empty() || run.suites.iter().any(|suite| suite == share.suite);
        let all: f64 = SHARES.iter().filter(is_asked).map(of).sum();
        match measuring.max_time {
            Some(time) => Some(time * of(self) / all),
            None if measuring.thorough || measuring.rounds.is_some() => None,
            None => Some(of(self)),
        }
    }

    /// What it measures.
    ///
    /// # Errors
    /// What its command has against it here.
    pub fn planned(&self, run: &Run, machine: &Machine) -> Result<Vec<Part>, Failure> {
        let of_whole = |failure: Failure| match run.measuring.max_time.zip(self.share_of(run)) {
            Some((whole, share)) => {
                failure.with(&format!(" ({share:.1}s is its part of --max-time {whole}s)"))
            }
            None => failure,
        };
        self.resolved(run, machine).map_err(of_whole)
    }

    fn resolved(&self, run: &Run, machine: &Machine) -> Result<Vec<Part>, Failure> {
        let words = ["truebench".to_owned()].into_iter().chain(self.words(run));
        let arguments = Args::try_parse_from(words).map_err(Failure::usage)?;
        match arguments.command {
            Command::Memory(memory) => commands::memory::planned(&memory, machine),
            Command::Alloc(alloc) => commands::alloc::planned(&alloc, machine),
            Command::System(system) => commands::system::planned(&system, machine),
            Command::Faults(faults::Faults { what: Some(faults::What::Prices(prices)), .. }) => {
                commands::faults::prices::planned(&prices, machine)
            }
            Command::Faults(faults::Faults { what: Some(faults::What::Demo(demo)), .. }) => {
                commands::faults::demo::planned(&demo).map(|part| vec![part])
            }
            Command::Http(http) => {
                let Http { load, .. } = *http;
                commands::http::load::planned(&load, machine)
            }
            _ => Err(Failure::usage(format!("{}: no suite", self.suite))),
        }
    }
}

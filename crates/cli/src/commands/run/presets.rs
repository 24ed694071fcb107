//! What a run measures of each suite, and how long.

use figure::Machine;

use crate::args::faults::{Demo, Prices};
use crate::args::modes::SharedArgs;
use crate::args::{Measuring, RunRequest, alloc, defaults, http, memory, system};
use crate::commands;
use crate::exit::CommandError;
use crate::plans::Part;

#[cfg(test)]
mod tests;

/// A suite's part of a run: what its own command measures with these options.
pub struct Preset {
    /// The suite's word on the command line.
    pub suite: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What is measured.
    work: Work,
    /// Seconds of `--quick`, and usual ones.
    seconds: (f64, f64),
}

/// What a preset measures. With `--quick` there are fewer figures, each with all its rounds.
enum Work {
    Memory,
    Alloc {
        quick_threads: u32,
    },
    Prices {
        quick: &'static [&'static str],
    },
    /// Watched once, as long as the time allows.
    Demo {
        rate: u64,
    },
    System {
        quick: &'static [&'static str],
    },
    /// Round trips of two tasks.
    Switches {
        placements: &'static [&'static str],
        ways: &'static [&'static str],
    },
    Http {
        quick_connections: &'static [u32],
        quick_load: &'static str,
    },
}

/// The shortest watch of a program, in seconds.
const LEAST_WATCHED: f64 = 1.0;

/// All, in the order in which they are measured. What fills the page cache and what leaves connections behind
/// comes last.
pub const PRESETS: &[Preset] = &[
    Preset { suite: ::memory::SUITE, title: "memory", work: Work::Memory, seconds: (40.0, 170.0) },
    Preset {
        suite: ::alloc::SUITE,
        title: "allocators",
        work: Work::Alloc { quick_threads: 1 },
        seconds: (30.0, 135.0),
    },
    Preset {
        suite: ::faults::SUITE,
        title: "page faults",
        work: Work::Prices {
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
        },
        seconds: (20.0, 60.0),
    },
    Preset {
        suite: ::faults::SUITE,
        title: "page faults of a program",
        work: Work::Demo { rate: 2000 },
        seconds: (5.0, 8.0),
    },
    Preset {
        suite: ::system::SUITE,
        title: "operating system",
        work: Work::System { quick: &["syscall", "pipe", "spawn", "execl", "fstime", "shell1"] },
        seconds: (50.0, 225.0),
    },
    // Where the scheduler puts two tasks decides what a free switch costs: these can be quoted.
    Preset {
        suite: ::system::SUITE,
        title: "context switches",
        work: Work::Switches { placements: &["same-cpu", "nearest"], ways: &["pipe"] },
        seconds: (8.0, 10.0),
    },
    Preset {
        suite: ::http::SUITE,
        title: "HTTP serving",
        work: Work::Http { quick_connections: &[200, 8000], quick_load: "saturation" },
        seconds: (75.0, 295.0),
    },
];

/// Those of the suites that are asked for, in the order in which they are measured.
pub fn chosen(request: &RunRequest) -> impl Iterator<Item = &'static Preset> {
    let suites = request.suites.clone();
    PRESETS.iter().filter(move |preset| suites.is_empty() || suites.iter().any(|suite| suite == preset.suite))
}

impl Preset {
    /// The command that measures the same, without the program's name: for people.
    pub fn words(&self, request: &RunRequest) -> String {
        let quick = request.measuring.quick;
        let command = match &self.work {
            Work::Memory => "memory".to_owned(),
            Work::Alloc { quick_threads } if quick => format!("alloc --threads {quick_threads}"),
            Work::Alloc { .. } => "alloc".to_owned(),
            Work::Prices { quick: prices } if quick => format!("faults prices {}", prices.join(" ")),
            Work::Prices { .. } => "faults prices".to_owned(),
            // It has no rounds.
            Work::Demo { rate } => {
                return format!("faults demo --rate {rate} --seconds {}", self.watched_seconds(request));
            }
            Work::System { quick: tests } if quick => format!("system {}", tests.join(" ")),
            Work::System { .. } => "system".to_owned(),
            Work::Switches { placements, ways } => {
                format!("system switch --placement {} --way {}", placements.join(","), ways.join(","))
            }
            Work::Http { quick_connections, quick_load } if quick => {
                let numbers: Vec<String> = quick_connections.iter().map(u32::to_string).collect();
                format!("http --connections {} --loads {quick_load}", numbers.join(","))
            }
            Work::Http { .. } => "http".to_owned(),
        };
        let measuring = self.measuring(request);
        let options = [
            measuring.quick.then(|| "--quick".to_owned()),
            measuring.thorough.then(|| "--thorough".to_owned()),
            measuring.rounds.map(|rounds| format!("--rounds {rounds}")),
            measuring.target.map(|target| format!("--target {}%", target * 100.0)),
            measuring.class.as_ref().map(|class| format!("--class {class}")),
            measuring.max_time.map(|seconds| format!("--max-time {seconds:.1}s")),
        ];
        options.into_iter().flatten().fold(command, |command, option| format!("{command} {option}"))
    }

    /// What it measures.
    ///
    /// # Errors
    /// What its command has against it here.
    pub fn planned(&self, request: &RunRequest, machine: &Machine) -> Result<Vec<Part>, CommandError> {
        let with_share = |failure: CommandError| match request.measuring.max_time.zip(self.time(request)) {
            Some((whole, share)) => {
                failure.with(&format!(" ({share:.1}s is its part of --max-time {whole}s)"))
            }
            None => failure,
        };
        self.parts(request, machine).map_err(with_share)
    }

    fn parts(&self, request: &RunRequest, machine: &Machine) -> Result<Vec<Part>, CommandError> {
        let quick = request.measuring.quick;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let measuring = self.measuring(request);
        match &self.work {
            Work::Memory => {
                let modes = memory::Options::unnamed(measuring.thorough);
                commands::memory::planned(&modes, &defaults(), &measuring, machine)
            }
            Work::Alloc { quick_threads } => {
                let threads = if quick { vec![*quick_threads] } else { Vec::new() };
                commands::alloc::load::planned(&alloc::Load { threads, measuring, ..defaults() }, machine)
            }
            Work::Prices { quick: prices } => {
                let prices = if quick { words(prices) } else { Vec::new() };
                commands::faults::prices::planned(&Prices { prices, measuring, ..defaults() }, machine)
            }
            Work::Demo { rate } => {
                let demo = Demo { rate: Some(*rate), seconds: self.watched_seconds(request), ..defaults() };
                commands::faults::demo::planned(&demo).map(|part| vec![part])
            }
            Work::System { quick: tests } => {
                let modes = system::Options::unnamed(measuring.thorough);
                let tests = if quick { words(tests) } else { Vec::new() };
                let options = system::Options { tests, measuring, ..defaults() };
                commands::system::planned(&modes, &options, machine)
            }
            Work::Switches { placements, ways } => {
                let (placement, way) = (words(placements), words(ways));
                let options = system::Options { placement, way, measuring, ..defaults() };
                commands::system::planned(&["switch"], &options, machine)
            }
            Work::Http { quick_connections, quick_load } => {
                let mut study = http::Study { measuring, ..defaults() };
                if quick {
                    study.connections = quick_connections.to_vec();
                    study.servers.loads = vec![(*quick_load).to_owned()];
                }
                commands::http::study::planned(&study, machine)
            }
        }
    }

    /// The run's options of rounds, with this preset's part of the time in tenths of a second, as `words` prints it.
    fn measuring(&self, request: &RunRequest) -> Measuring {
        let time = self.time(request).map(|seconds| ((seconds * 10.0).round() / 10.0).max(0.1));
        Measuring { max_time: time, dry_run: false, strict: false, ..request.measuring.clone() }
    }

    /// Seconds that it may take; `None`: as long as it takes.
    fn time(&self, request: &RunRequest) -> Option<f64> {
        let measuring = &request.measuring;
        let usual = |preset: &Preset| if measuring.quick { preset.seconds.0 } else { preset.seconds.1 };
        let all: f64 = chosen(request).map(usual).sum();
        match measuring.max_time {
            Some(time) => Some(time * usual(self) / all),
            None if measuring.thorough || measuring.rounds.is_some() => None,
            None => Some(usual(self)),
        }
    }

    /// Whole seconds for which a program is watched.
    fn watched_seconds(&self, request: &RunRequest) -> u64 {
        let most = self.seconds.1;
        self.time(request).unwrap_or(most).clamp(LEAST_WATCHED, most).round() as u64
    }
}

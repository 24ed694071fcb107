//! Running a program: watched, with settings, with and without truebench.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use figure::Record;
use figure::stats::{Ratio, paired_ratio};
use lab::timed::{self, Times};

use super::diagnosis::{Diagnosis, agreement, proved};
use super::program::Program;
use super::table::{Cost, Row};
use crate::room::{Room, Site};

/// Shell functions that scripts of programs share.
const PRELUDE: &str = include_str!("../../../../tests/programs/prelude.sh");
/// What `--prove` is given: the fewest starts with an interval, and time for some settings of a program of ten seconds.
const PROVE: [&str; 5] = ["--prove", "--rounds", "6", "--max-time", "4min"];
/// What a run may take, for what it should take: it is watched, and its prices are measured.
const SLOW: f64 = 10.0;
const LEAST: Duration = Duration::from_secs(120);
/// … and with settings.
const PROVE_MOST: Duration = Duration::from_secs(900);
/// For so long, pairs of runs are made that give the cost of watching, whatever they show.
const PAIRS_TIME: Duration = Duration::from_secs(120);
/// The fewest and the most pairs: fewer give no interval.
const PAIRS: Range<usize> = 6..48;
/// The most for preparations.
const PREPARE_MOST: Duration = Duration::from_secs(600);
/// Where a watched run leaves its record.
const RECORD: &str = "record.json";
/// Where a timed run leaves its times.
const TIMES: &str = "times.json";

/// How much is done with each program.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Watched runs.
    pub runs: u32,
    /// Whether settings are tried.
    pub prove: bool,
    /// Whether runs that are watched are compared with others, in pairs.
    pub cost: bool,
}

impl Site<'_> {
    /// Runs a program so often, and says what came of it. `progress` gets what is done.
    pub fn program(&self, program: &Program, amount: Amount, progress: &dyn Fn(&str)) -> Row {
        let mut row = Row::new(program);
        if let Err(error) = self.runs(program, amount, progress, &mut row) {
            row.note(error);
        }
        row
    }

    fn runs(
        &self,
        program: &Program,
        amount: Amount,
        progress: &dyn Fn(&str),
        row: &mut Row,
    ) -> Result<(), String> {
        if let Some(missing) = program.commands().find(|command| !is_there(command)) {
            row.not_here = Some(format!("needs {missing}, of {}", program.packages().join(", ")));
            return Ok(());
        }
        let room = Room::new(*self).map_err(|error| format!("no directory: {error}"))?;
        if let Some(why) = prepare(&room, program)? {
            row.not_here = Some(why);
            return Ok(());
        }
        let bench = Bench { room, program, truebench: self.truebench };
        let is_over = || (self.is_interrupted)();
        let mut all = Vec::new();
        for _ in 0..amount.runs {
            let record = bench.watched(&[]);
            if is_over() {
                return Ok(());
            }
            let diagnosis = Diagnosis::of(&record?);
            let verdict = row.watched(&diagnosis, &program.truth);
            progress(&verdict);
            all.push(diagnosis);
        }
        row.agreement = agreement(&all);
        if amount.prove && !is_over() {
            let record = bench.watched(&PROVE);
            if is_over() {
                return Ok(());
            }
            let record = record?;
            row.advised(&Diagnosis::of(&record), &program.truth);
            row.proved = proved(&record);
            progress(&row.proved.join("; "));
        }
        if amount.cost {
            row.cost = bench.cost(&is_over)?;
        }
        Ok(())
    }
}

/// Makes what it works on; says why that cannot be made here.
fn prepare(room: &Room, program: &Program) -> Result<Option<String>, String> {
    let Some(script) = &program.prepare else { return Ok(None) };
    let came = room
        .run(&format!("{PRELUDE}\n(set -e\n{script}\n)"), &[], PREPARE_MOST)
        .map_err(|error| format!("not prepared: {error}"))?;
    match came.status {
        _ if came.skipped.is_some() => Ok(came.skipped),
        Some(status) if status.success() => Ok(None),
        status => Err(format!("not prepared: {}: {}", ended(status), last(&came.errors))),
    }
}

/// A program with what it works on.
struct Bench<'a> {
    room: Room<'a>,
    program: &'a Program,
    truebench: &'a Path,
}

impl Bench<'_> {
    /// Watches one run, or more with settings: the record.
    fn watched(&self, options: &[&str]) -> Result<Record, String> {
        self.run(
            &self.watching(options, self.command()),
            if options.is_empty() { LEAST } else { PROVE_MOST },
        )?;
        let text = self.room.text(RECORD).map_err(|error| format!("no record: {error}"))?;
        Record::read(text.as_bytes())
    }

    /// Runs in pairs, watched and not, the first of them in turn.
    fn cost(&self, is_over: &dyn Fn() -> bool) -> Result<Option<Cost>, String> {
        let [mut watched, mut alone] = [Vec::new(), Vec::new()];
        let started = Instant::now();
        while alone.len() < PAIRS.start || alone.len() < PAIRS.end && started.elapsed() < PAIRS_TIME {
            let pair = alone.len();
            for is_watched in [pair % 2 == 0, pair % 2 != 0] {
                let times = self.timed(is_watched);
                if is_over() {
                    return Ok(None);
                }
                if is_watched { &mut watched } else { &mut alone }.push(times?);
            }
        }
        Ok(cost_of(&watched, &alone))
    }

    /// One run: what the program and all that it started used, without truebench's own.
    fn timed(&self, is_watched: bool) -> Result<Times, String> {
        let [program, file] = [self.truebench, &self.room.at(TIMES)].map(|path| path.display().to_string());
        let timed = [program, timed::MARKER.to_owned(), file].into_iter().chain(self.command()).collect();
        let words = if is_watched { self.watching(&["--no-prices"], timed) } else { timed };
        self.run(&words, LEAST)?;
        let text = self.room.text(TIMES).map_err(|error| format!("no times: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("times of another form: {error}: {text}"))
    }

    fn watching(&self, options: &[&str], command: Vec<String>) -> Vec<String> {
        let program = self.truebench.display().to_string();
        let record = self.room.at(RECORD).display().to_string();
        let words = [&program, "faults", "-q", "-o", &record].into_iter().chain(options.iter().copied());
        words.chain(["--"]).map(str::to_owned).chain(command).collect()
    }

    fn command(&self) -> Vec<String> {
        self.program.command.iter().map(|word| self.room.filled(word)).collect()
    }

    /// Runs this within the program's script. The program's own exit code does not matter, as servers are ended by signals.
    fn run(&self, words: &[String], least: Duration) -> Result<(), String> {
        for name in [RECORD, TIMES] {
            // What there is of the run before.
            let _ = std::fs::remove_file(self.room.at(name));
        }
        let script = self.program.script.as_deref().unwrap_or("\"$@\"");
        let most = least.max(Duration::from_secs_f64(self.program.seconds * SLOW));
        let came = self.room.run(&format!("{PRELUDE}\n{script}"), words, most);
        match came.map_err(|error| error.to_string())? {
            came if came.status.is_none() => Err(format!("not ended after {most:?}: {}", last(&came.errors))),
            _ => Ok(()),
        }
    }
}

fn cost_of(watched: &[Times], alone: &[Times]) -> Option<Cost> {
    let ratio = |of: fn(&Times) -> f64| -> Option<Ratio> {
        let [watched, alone] = [watched, alone].map(|all| all.iter().map(of).collect::<Vec<_>>());
        paired_ratio(&watched, &alone)
    };
    Some(Cost { cpu: ratio(|times| times.cpu)?, wall: ratio(|times| times.wall)? })
}

/// Whether a command is there, by path or in PATH.
fn is_there(command: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    match command.contains('/') {
        true => Path::new(command).exists(),
        false => std::env::split_paths(&paths).any(|directory| directory.join(command).is_file()),
    }
}

fn ended(status: Option<std::process::ExitStatus>) -> String {
    status.map_or_else(|| "not ended in time".to_owned(), |status| status.to_string())
}

/// The last line that says something.
fn last(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(script: &str, needs: &str) -> Program {
        let text = format!(
            "program = 'p'\nneeds = ['{needs}:package']\nseconds = 1\ncommand = ['true']\nprepare = '''{script}'''\n\
             [truth]\ncauses = ['growth']\nshown = 's'\nsource = 'c'\n"
        );
        Program::parse("one", &text).unwrap()
    }

    #[test]
    fn what_is_missing_is_reported() {
        let site = Site { truebench: Path::new("true"), cpus: &[0], is_interrupted: &|| false };
        let amount = Amount { runs: 1, prove: false, cost: false };
        let row = |script, needs| site.program(&program(script, needs), amount, &|_| {});
        let not_here = |script, needs| row(script, needs).not_here.unwrap();
        assert_eq!(not_here("", "no-such-tool"), "needs no-such-tool, of package");
        assert_eq!(not_here("skip no library", "sh"), "no library");
        assert!(row("echo broken >&2; false", "sh").notes[0].ends_with("broken"));
        // `true` in place of truebench writes no record.
        assert!(row("", "sh").notes[0].starts_with("no record"));
    }
}

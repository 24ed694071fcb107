//! Running a program: watched, with settings, with and without truebench.

use std::path::Path;
use std::time::Duration;

use figure::Record;
use figure::stats::{Ratio, paired_ratio};

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
/// After so many pairs it is seen whether the cost of watching is decided. The first is the fewest with an interval.
const PAIRS: [usize; 2] = [6, 12];
/// The most for preparations.
const PREPARE_MOST: Duration = Duration::from_secs(600);
/// Where a watched run leaves its record.
const RECORD: &str = "record.json";
/// Where a timed run leaves its times: those of times(1p), and the machine's uptime before and after.
const TIMES: &str = "times";
/// "$1" is the file, and the rest the program. All are commands of the shell itself, so that none takes time.
const TIMED: &str = r#"file=$1; shift; read -r from _ </proc/uptime; "$@"; code=$?; read -r to _ </proc/uptime
{ times; echo "$from $to"; } >"$file"; exit $code"#;

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

/// CPU time and time of a run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    cpu: f64,
    wall: f64,
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

    /// Runs in pairs, watched and not, the first of them in turn, until it is decided whether that costs too much.
    fn cost(&self, is_over: &dyn Fn() -> bool) -> Result<Option<Cost>, String> {
        let [mut watched, mut alone] = [Vec::new(), Vec::new()];
        let mut cost = None;
        for pairs in PAIRS {
            while alone.len() < pairs {
                let pair = alone.len();
                for is_watched in [pair % 2 == 0, pair % 2 != 0] {
                    let times = self.timed(is_watched);
                    if is_over() {
                        return Ok(None);
                    }
                    if is_watched { &mut watched } else { &mut alone }.push(times?);
                }
            }
            cost = cost_of(&watched, &alone);
            if cost.is_none_or(|cost| cost.is_within().is_some()) {
                break;
            }
        }
        Ok(cost)
    }

    /// One run: CPU time of the program and of all that it waited for, and its time, without truebench's own.
    fn timed(&self, is_watched: bool) -> Result<Times, String> {
        let file = self.room.at(TIMES).display().to_string();
        let start = ["sh", "-c", TIMED, "sh", &file].map(str::to_owned);
        let timed: Vec<String> = start.into_iter().chain(self.command()).collect();
        let words = if is_watched { self.watching(&["--no-prices"], timed) } else { timed };
        self.run(&words, LEAST)?;
        let text = self.room.text(TIMES).map_err(|error| format!("no times: {error}"))?;
        times(&text).ok_or_else(|| format!("times of another form: {text}"))
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

/// Of times(1p), whose second line is of the children, and the uptime before and after: `0m1.25s 0m0.50s`, then `100.25 102.50`.
fn times(text: &str) -> Option<Times> {
    let mut lines = text.lines().skip(1);
    let cpu = lines.next()?.split_whitespace().map(minutes).sum::<Option<f64>>()?;
    let (from, to) = lines.next()?.split_once(' ')?;
    Some(Times { cpu, wall: to.trim().parse::<f64>().ok()? - from.parse::<f64>().ok()? })
}

/// Seconds of `1m2.5s`.
fn minutes(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_children() {
        let text = "0m0.000000s 0m0.010000s\n1m2.500000s 0m0.250000s\n100.25 163.50\n";
        assert_eq!(times(text), Some(Times { cpu: 62.75, wall: 63.25 }));
        assert_eq!(times("0m0s 0m0s\n"), None);
        assert_eq!(times("0m0s 0m0s\nx 0m1s\n1 2\n"), None);
    }

    #[test]
    fn the_shell_writes_times_that_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(TIMES);
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3";
        let mut command = std::process::Command::new("sh");
        let status = command.args(["-c", TIMED, "sh"]).arg(&file).args(["sh", "-c", busy]).status().unwrap();
        assert_eq!(status.code(), Some(3));
        let times = times(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert!(times.cpu > 0.0 && times.wall >= times.cpu / 2.0, "{times:?}");
    }

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

//! `ps -o majflt,minflt`: page faults of processes since they began; two readings of one process make a rate.

use figure::evidence::audit::{COUNT, LIFETIME, MOMENTS, SUBJECT};
use figure::format::plain_to;
use figure::{Better, Evidence, Figure, Status, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{number, round};

pub(super) const FORMAT: Format =
    Format::lines("ps -o majflt,minflt", &["MAJFL", "MINFL", "MAJFLT", "MINFLT"], starts, None, parse);

/// Heads of the columns, as procps and the BSDs write them.
const MAJOR: &[&str] = &["MAJFL", "MAJFLT"];
const MINOR: &[&str] = &["MINFL", "MINFLT"];
/// Columns that hold no spaces, so that those behind them can be counted.
const OTHERS: &[&str] = &[
    "PID", "PPID", "TID", "LWP", "NLWP", "PSR", "P", "%CPU", "%MEM", "PRI", "NI", "TIME", "C", "F", "SZ",
    "VSZ", "RSS", "ELAPSED", "USER", "UID", "S", "STAT", "TTY", "TT", "PCPU", "PMEM", "POL", "CLS", "RTPRIO",
    "WCHAN", "TRS", "DRS", "SIZE", "SWAP", "SHRD", "LIB", "DT",
];
/// Columns that name a process and may hold spaces: they must be the last.
const NAMES: &[&str] = &["COMMAND", "CMD", "COMM", "ARGS", "UCMD"];
/// More processes than anybody reads.
const MOST_ROWS: usize = 500;
/// Lines before the first reading in which the commands may stand.
const COMMANDS: usize = 12;
/// Most readings of one process.
const MOST_READINGS: usize = 2000;

fn is_head(line: &str) -> bool {
    let has = |names: &[&str]| line.split_whitespace().any(|word| names.contains(&word));
    line.contains("FL") && has(MAJOR) && has(MINOR) && line.split_whitespace().all(is_column)
}

fn is_column(word: &str) -> bool {
    [MAJOR, MINOR, OTHERS, NAMES].iter().any(|names| names.contains(&word))
}

/// All readings of a text are one run: they make sense together.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line)) && !before.iter().rev().any(|line| is_head(line))
}

/// One line: who, when, and the counts.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    /// The process: its number, else its place among the lines of a reading; and its name.
    who: String,
    major: f64,
    minor: f64,
    /// Seconds since the process began.
    age: Option<f64>,
    /// Seconds of sleep between two readings, if the text shows them.
    slept: Option<f64>,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut processes: Vec<(String, Vec<Reading>)> = Vec::new();
    for reading in readings(run) {
        match processes.iter().position(|(who, _)| *who == reading.who) {
            Some(at) if processes[at].1.len() < MOST_READINGS => processes[at].1.push(reading),
            None if processes.len() < MOST_ROWS => processes.push((reading.who.clone(), vec![reading])),
            _ => {}
        }
    }
    if processes.is_empty() {
        return Err("has no line of a process".to_owned());
    }
    Ok(processes.iter().flat_map(|(_, readings)| of_process(readings, known)).collect())
}

/// The lines of all readings, in order.
fn readings(run: &Run) -> Vec<Reading> {
    // The commands may stand before all that they printed.
    let asked = run.before.iter().rev().take(COMMANDS).find_map(|line| sleep(line));
    let (mut readings, mut columns, mut place, mut slept) = (Vec::new(), Vec::new(), 0, asked);
    for line in run.lines {
        if is_head(line) {
            (columns, place) = (line.split_whitespace().collect(), 0);
        } else if let Some(reading) = reading(line, &columns, place, slept) {
            readings.push(reading);
            place += 1;
        } else if let Some(seconds) = sleep(line) {
            slept = Some(seconds);
        }
    }
    readings
}

/// `sleep 3`, typed between two readings.
fn sleep(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || c == ';').collect();
    let at = words.iter().position(|word| *word == "sleep")?;
    let word = words.get(at + 1)?;
    number(word.strip_suffix('s').unwrap_or(word)).filter(|seconds| *seconds > 0.0)
}

fn reading(line: &str, columns: &[&str], place: usize, slept: Option<f64>) -> Option<Reading> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // What may hold spaces comes last, or is not read.
    let named = columns.iter().position(|column| NAMES.contains(column));
    let fits = match named {
        Some(at) => at + 1 == columns.len() && words.len() >= columns.len() || words.len() == columns.len(),
        None => words.len() == columns.len(),
    };
    if !fits || columns.is_empty() {
        return None;
    }
    let cell = |names: &[&str]| words.get(columns.iter().position(|column| names.contains(column))?).copied();
    let name = named.map_or(String::new(), |at| words[at].to_owned());
    let who = match cell(&["PID"]) {
        Some(pid) => format!("{pid} {name}"),
        None => format!("line {} {name}", place + 1),
    };
    Some(Reading {
        who: who.trim_end().to_owned(),
        major: count(cell(MAJOR)?)?,
        minor: count(cell(MINOR)?)?,
        age: cell(&["ELAPSED"]).and_then(age),
        slept,
    })
}

/// A count; `1.5K` is one that numfmt made short.
fn count(word: &str) -> Option<f64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| number(word)).flatten()
}

/// `etimes` in seconds, or `etime` as [[DD-]hh:]mm:ss.
fn age(word: &str) -> Option<f64> {
    let (days, rest) = word.split_once('-').unwrap_or(("0", word));
    let clock = rest.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + number(part)?))?;
    Some(number(days)? * 86400.0 + clock)
}

/// The figures of one process: rates from one reading to the next, or the counts of its life.
fn of_process(readings: &[Reading], known: &Known) -> Vec<Figure> {
    let Some(first) = readings.first() else { return Vec::new() };
    let subject = plain_to(&first.who, 60);
    let of = |word: &str, name: &str, unit: Unit| {
        let id = format!("{SUITE}.ps.{word}");
        let mut figure = Figure::planned(id, SUITE, format!("{name} by ps"), unit, Better::Lower);
        figure.conditions.set(SUBJECT, subject.clone());
        figure.conditions.set(MOMENTS, true);
        figure
    };
    let mut figures = Vec::new();
    for (word, name, is_major) in [("minor", "minor faults", false), ("major", "major faults", true)] {
        let count = |reading: &Reading| if is_major { reading.major } else { reading.minor };
        if readings.len() == 1 {
            let mut figure =
                of(&format!("{word}.life"), &format!("{name} since the process began"), Unit::ONE);
            let mut evidence = Evidence::default();
            evidence.put(LIFETIME, true);
            evidence.put(COUNT, count(first));
            figure.rounds.push(round(first.age.unwrap_or(0.0), count(first), evidence));
            figures.push(figure);
            continue;
        }
        let mut figure = of(word, name, Unit::PER_S);
        for pair in readings.windows(2) {
            let [from, to] = pair else { continue };
            let aged = to.age.zip(from.age).map(|(to, from)| to - from).filter(|seconds| *seconds > 0.0);
            let seconds = aged.or(to.slept).or(known.interval);
            let more = count(to) - count(from);
            if more < 0.0 {
                figure.status = Status::Failed;
                figure.reason =
                    Some("the second count is below the first: these are two processes".to_owned());
            } else if let Some(seconds) = seconds {
                let mut evidence = Evidence::default();
                evidence.put(LIFETIME, false);
                evidence.put(COUNT, more);
                figure.rounds.push(round(seconds, more / seconds, evidence));
            } else if figure.rounds.is_empty() {
                figure.status = Status::Failed;
                figure.reason = Some(format!(
                    "unknown without --interval: {more} more from one reading to the next, and the text does not show the seconds between them"
                ));
            }
        }
        figures.push(figure);
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_as_ps_prints_them() {
        assert_eq!(age("75"), Some(75.0));
        assert_eq!(age("01:15"), Some(75.0));
        assert_eq!(age("2-01:00:05"), Some(2.0 * 86400.0 + 3605.0));
        assert_eq!(age("-"), None);
    }

    #[test]
    fn readings_by_their_columns() {
        let columns: Vec<&str> = "PID MINFL MAJFL CMD".split(' ').collect();
        let of = |line: &str| reading(line, &columns, 0, None).map(|reading| (reading.who, reading.minor));
        assert_eq!(
            of("2827 146187 0 /bin/bash /usr/sbin/makewhatis"),
            Some(("2827 /bin/bash".into(), 146187.0))
        );
        assert_eq!(of("2827 1.5K 0 bash"), None, "made short by numfmt");
        assert_eq!(of("2827 0"), None);
    }
}

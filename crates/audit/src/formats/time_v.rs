//! `time -v` and `time` (GNU, busybox), `time -l` (macOS, BSD), `time` of tcsh: page faults of a command, and its times.

use figure::evidence::audit::{COUNT, LIFETIME, SUBJECT, UNJUDGED};
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::prompt::without_prompt;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::shell::basename;
use crate::text::{Printed, begins, first, number};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines(
    "time -v",
    &["Minor (reclaiming a frame)", "Elapsed (wall clock)", "page reclaims", "maxresident)k", "pf+"],
    starts,
    None,
    parse,
);

const COMMAND: &str = "Command being timed:";
const USER: &str = "User time (seconds):";
const SYSTEM: &str = "System time (seconds):";
const PERCENT: &str = "Percent of CPU this job got:";
const ELAPSED: &str = "Elapsed (wall clock) time (h:mm:ss or m:ss):";
const MAJOR: &str = "Major (requiring I/O) page faults:";
const MINOR: &str = "Minor (reclaiming a frame) page faults:";
/// What stands first where the command did not end as it should.
const ENDS: &[&str] =
    &["Command exited with non-zero status", "Command terminated by signal", "Command stopped by signal"];
/// Lines of GNU time in their order, one of each in a report.
const GNU: &[fn(&str) -> bool] = &[
    |line| ENDS.iter().any(|end| line.starts_with(end)),
    |line| line.starts_with(COMMAND),
    |line| line.starts_with(USER),
    |line| line.starts_with(SYSTEM),
    |line| line.starts_with(PERCENT),
    |line| line.starts_with(ELAPSED),
    |line| line.starts_with(MAJOR),
    |line| line.starts_with(MINOR),
    |line| line.starts_with("Voluntary context switches:"),
    |line| line.starts_with("Exit status:"),
];
/// The same of the BSDs' time.
const BSD: &[fn(&str) -> bool] = &[
    |line| is_times(line),
    |line| is_labelled(line, RESIDENT),
    |line| is_labelled(line, RECLAIMS),
    |line| is_labelled(line, FAULTS),
    |line| is_labelled(line, "swaps"),
];
const RESIDENT: &str = "maximum resident set size";
const RECLAIMS: &str = "page reclaims";
const FAULTS: &str = "page faults";
/// Lines before a report in which its command may stand.
const RUN_LINES: usize = 16;
/// Lines from the times to the size that follows them.
const NEAR: usize = 6;
/// Hundredths of a second are printed, and the rest is cut off (GNU time, src/time.c).
const HUNDREDTH: f64 = 0.01;
/// From this share on the digits of a time are too few for a figure.
const COARSE: f64 = 0.25;
/// Of a process: its first instruction is in a page that was not mapped before.
const NOT_COUNTED: &str =
    "0 page faults, and no process starts without one: this system, or this time, does not count them";
/// What else is printed.
const OTHERS: &str = "memory sizes; context switches; input and output";

fn is_labelled(line: &str, label: &str) -> bool {
    line.strip_suffix(label).is_some_and(|digits| digits.ends_with(' ') && number(digits.trim()).is_some())
}

/// `0.30 real 3.36 user 0.23 sys`, `0.30s real 3.36s user 0.23s sys` with -h, or `real 0.30` with -p.
fn is_times(line: &str) -> bool {
    if !line.contains("real") {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [real, "real", user, "user", sys, "sys"] => {
            [real, user, sys].iter().all(|word| elapsed(word).is_some())
        }
        ["real", real] => elapsed(real).is_some(),
        _ => false,
    }
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    // Any program may print its times so.
    let has_size = || rest.iter().take(NEAR).any(|line| is_labelled(line, RESIDENT));
    let is_bsd =
        || rest.first().is_some_and(|line| !is_times(line) || has_size()) && begins(BSD, before, rest);
    let is_short = || {
        let (own, next) =
            (rest.first().copied().unwrap_or_default(), rest.get(1).copied().unwrap_or_default());
        let is_behind = before.last().is_some_and(|line| short_times(line).is_some());
        tcsh(own).is_some()
            || short_times(own).is_some() && short_faults(next).is_some()
            || short_faults(own).is_some() && !is_behind
    };
    begins(GNU, before, rest) || is_bsd() || is_short()
}

/// User, system and elapsed time of `0.50user 0.01system 0:00.52elapsed 98%CPU (0avgtext+0avgdata 1704maxresident)k`.
fn short_times(line: &str) -> Option<Usage> {
    let word = |end: &str| line.split_whitespace().find_map(|word| word.strip_suffix(end));
    let cut = |end: &str| Some(Printed { value: number(word(end)?)?, off: HUNDREDTH });
    Some(Usage {
        user: Some(cut("user")?),
        system: Some(cut("system")?),
        elapsed: Some(word("elapsed").and_then(elapsed)?),
        percent: word("%CPU").and_then(number),
        ..Usage::default()
    })
}

/// Major and minor faults of `0inputs+8outputs (3major+74minor)pagefaults 0swaps`.
fn short_faults(line: &str) -> Option<(f64, f64)> {
    let (_, rest) = line.split_once("outputs (")?;
    let (major, rest) = rest.split_once("major+")?;
    Some((number(major)?, number(rest.split_once("minor)pagefaults")?.0)?))
}

/// `4957.462u 33.135s 1:23:42.39 99.3% 0+0k 14142944+32io 5pf+0w`: its faults are the major ones (tcsh(1), time).
fn tcsh(line: &str) -> Option<Usage> {
    let words: Vec<&str> = line.trim_matches('`').split_whitespace().collect();
    let [user, system, elapsed_for, percent, _, _, faults] = words[..] else { return None };
    let printed = |word: &str, end: &str| Printed::of(word.strip_suffix(end)?);
    let (faults, _) = faults.split_once("pf+")?;
    Some(Usage {
        user: Some(printed(user, "u")?),
        system: Some(printed(system, "s")?),
        elapsed: Some(elapsed(elapsed_for)?),
        percent: number(percent.strip_suffix('%')?).map(f64::floor),
        major: Some(number(faults)?),
        ..Usage::default()
    })
}

/// What a command used.
#[derive(Default)]
struct Usage {
    subject: String,
    /// How it ended, where that is not as it should.
    end: Option<String>,
    user: Option<Printed>,
    system: Option<Printed>,
    elapsed: Option<Printed>,
    /// CPU time over elapsed time, cut off to whole percents.
    percent: Option<f64>,
    minor: Option<f64>,
    major: Option<f64>,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let first_line = run.lines.first().copied().unwrap_or_default();
    let mut usage = if let Some(own) = tcsh(first_line) {
        own
    } else if let Some(faults) = run.lines.iter().take(2).find_map(|line| short_faults(line)) {
        let times = short_times(first_line).unwrap_or_default();
        Usage { major: Some(faults.0), minor: Some(faults.1), ..times }
    } else if run.lines.iter().any(|line| is_labelled(line, RECLAIMS)) {
        bsd(run)
    } else {
        gnu(run)
    };
    if usage.subject.is_empty() {
        usage.subject = command_before(run);
    }
    let contradiction = (usage.minor == Some(0.0)).then(|| NOT_COUNTED.to_owned());
    let major = usage.major.filter(|_| contradiction.is_none());
    let seconds = usage.elapsed.map(|elapsed| elapsed.value);
    let of = |part: &str, name: &str, value: Printed, unit: Unit| {
        let mut own =
            Quantity::of("time", part.to_owned(), format!("{name} by time"), value, unit, Better::Lower);
        own.subject = plain_to(&usage.subject, MAX_SUBJECT);
        own.seconds = seconds;
        own
    };
    let mut figures = Vec::new();
    for (part, name, count) in [("minor", "minor faults", usage.minor), ("major", "major faults", major)] {
        let Some(count) = count else { continue };
        let mut own = of(part, name, Printed { value: count, off: 0.0 }, Unit::ONE);
        own.contradiction = contradiction.clone();
        let mut figure = own.figure(known);
        for round in figure.rounds.iter_mut().filter(|round| round.duration > 0.0) {
            round.evidence.put(LIFETIME, false);
            round.evidence.put(COUNT, count);
        }
        figures.push(figure);
    }
    let cpu = usage.user.zip(usage.system);
    let cpu =
        cpu.map(|(user, system)| Printed { value: user.value + system.value, off: user.off + system.off });
    if let (Some(minor), Some(cpu)) = (usage.minor.filter(|_| contradiction.is_none()), cpu) {
        let name = "minor faults in a second of CPU time";
        if cpu.share() <= COARSE {
            let rate = minor / cpu.value;
            let rate = Printed { value: rate, off: rate * cpu.share() };
            figures.push(of("minor-rate", name, rate, Unit::PER_S).figure(known));
        } else {
            let id = format!("{SUITE}.time.minor-rate");
            let mut figure =
                Figure::planned(id, SUITE, format!("{name} by time"), Unit::PER_S, Better::Lower);
            if let Some(subject) = figures.first().and_then(|first| first.conditions.get(SUBJECT)) {
                figure.conditions.set(SUBJECT, subject);
            }
            figures.push(figure.not_available("the command used less CPU time than the digits show"));
        }
    }
    let elapsed = usage.elapsed.filter(|elapsed| elapsed.share() <= COARSE);
    if let (Some(cpu), Some(elapsed)) = (cpu, elapsed.filter(|_| is_fine(cpu, elapsed))) {
        let busy = cpu.value / elapsed.value;
        let off = busy * (cpu.share() + elapsed.share());
        let mut own = of("cpus", "CPUs used", Printed { value: busy, off }, Unit::of("CPUs"));
        own.better = Better::Neither;
        own.again = usage.percent.map(|percent| Printed { value: (percent + 0.5) / 100.0, off: 0.005 });
        figures.push(own.figure(known));
    }
    if let Some(elapsed) = elapsed {
        figures.push(of("elapsed", "time elapsed", elapsed, Unit::SECONDS).figure(known));
    }
    if figures.is_empty() {
        return Err("has neither page faults nor times that have digits enough".to_owned());
    }
    let others = match &usage.end {
        Some(end) => format!("{end}; {OTHERS}"),
        None => OTHERS.to_owned(),
    };
    figures[0].evidence.put(UNJUDGED, plain_to(&others, MAX_SUBJECT));
    Ok(figures)
}

/// The command in the lines before a report that does not name it; without one, which of the reports it is.
fn command_before(run: &Run) -> String {
    let near = run.before.get(run.previous..).unwrap_or_default().iter().rev().take(RUN_LINES);
    let mut lines: Vec<&str> = near.copied().collect();
    lines.reverse();
    let Some(at) = lines.iter().rposition(|line| calls(line)) else { return String::new() };
    let more = lines[at..].windows(2).take_while(|pair| pair[0].ends_with('\\')).count();
    lines[at..=at + more].iter().map(|line| line.trim_end_matches('\\').trim()).collect::<Vec<_>>().join(" ")
}

/// Whether a line has `time` as the word of a command, behind a prompt or a path.
fn calls(line: &str) -> bool {
    let mut words = without_prompt(line).split_whitespace();
    words.next().is_some_and(|word| matches!(basename(word), "time" | "gtime")) && words.next().is_some()
}

/// Whether the quotient of two times has digits enough.
fn is_fine(one: Option<Printed>, other: Option<Printed>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.share() + other.share() <= COARSE)
}

fn gnu(run: &Run) -> Usage {
    let cut = |label: &str| Some(Printed { value: run.number(label)?, off: HUNDREDTH });
    let end = run.lines.iter().find(|line| ENDS.iter().any(|end| line.starts_with(end)));
    Usage {
        subject: run.after(COMMAND).unwrap_or_default().trim_matches('"').to_owned(),
        end: end.map(|line| (*line).to_owned()),
        user: cut(USER),
        system: cut(SYSTEM),
        elapsed: run.after(ELAPSED).and_then(elapsed),
        percent: run.after(PERCENT).and_then(|rest| number(rest.trim_end_matches('%'))),
        minor: run.number(MINOR),
        major: run.number(MAJOR),
    }
}

/// `5:29:16`, `0:31.54`; busybox writes `0m 31.54s` and `1h 02m 31s`.
fn elapsed(text: &str) -> Option<Printed> {
    let plain = text.replace(['h', 'm'], ":").replace(['s', ' '], "");
    let last = plain.rsplit(':').next()?;
    let value = plain.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + number(part)?))?;
    Some(Printed { value, off: if last.contains('.') { HUNDREDTH } else { 1.0 } })
}

fn bsd(run: &Run) -> Usage {
    let labelled = |label: &str| {
        let line = run.lines.iter().find(|line| is_labelled(line, label))?;
        number(first(line)?)
    };
    // `0.30 real 3.36 user 0.23 sys`, or a line for each.
    let time = |label: &str| {
        run.lines.iter().take(NEAR).find_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == label)?;
            elapsed(words.get(if at == 0 { 1 } else { at - 1 })?)
        })
    };
    Usage {
        user: time("user"),
        system: time("sys"),
        elapsed: time("real"),
        minor: labelled(RECLAIMS),
        major: labelled(FAULTS),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_elapsed_as_they_are_printed() {
        let of = |text: &str| elapsed(text).map(|elapsed| elapsed.value);
        assert_eq!(
            (of("5:29:16"), of("0:31.54"), of("0m 31.54s")),
            (Some(19756.0), Some(31.54), Some(31.54))
        );
        assert_eq!((of("1h 02m 31s"), of("x"), of("")), (Some(3751.0), None, None));
    }
}

//! `perf trace -F all`: page faults, one by one, and by thread (-s).

use figure::evidence::audit::{CONTRADICTION, COUNT, COUNTED_SHARE, LIFETIME, MOMENTS, SUBJECT, UNJUDGED};
use figure::format::{number as shown, plain_to};
use figure::{Better, Evidence, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format =
    Format::lines("perf trace -F", &["minfault", "majfault"], starts, Some(&COMMAND), parse);

/// perf-trace(1): its options end where the command begins that is traced.
const COMMAND: Grammar = Grammar {
    programs: &["perf"],
    style: Style::Getopt,
    values: &[
        "-F",
        "--pf",
        "-e",
        "--event",
        "-p",
        "--pid",
        "-t",
        "--tid",
        "-C",
        "--cpu",
        "-o",
        "--output",
        "--max-events",
    ],
    flags: &["-a", "--all-cpus", "-s", "-S", "--no-syscalls", "--syscalls", "-T", "-v"],
    hidden: &[],
    operand: |word| word.text == "trace",
    operands: 1..=1,
};

/// The most lines that are read.
const MOST_LINES: usize = 200_000;

/// A fault: `0.000 ( 0.000 ms): tee/569900 majfault [elf_load+0x20f] => 0x59e5e5c74098 (?k)`.
struct Fault<'a> {
    /// Seconds since the trace began.
    at: f64,
    /// The thread, `tee/569900`.
    thread: &'a str,
    is_major: bool,
}

fn fault(line: &str) -> Option<Fault<'_>> {
    let (head, rest) = line.split_once("fault [")?;
    rest.contains("] => ").then_some(())?;
    let (head, kind) = head.rsplit_once(' ')?;
    let is_major = match kind {
        "maj" => true,
        "min" => false,
        _ => return None,
    };
    // Threads have a name of several words.
    let (times, thread) = head.split_once("): ").unwrap_or(("", head));
    let at = number(times.split_whitespace().next().unwrap_or("0"))? / 1e3;
    thread.contains('/').then_some(Fault { at, thread, is_major })
}

/// A line of the summary, ` cat (1234), 60 events, 6.6%, 3 majfaults, 120 minfaults`: major and minor faults of a thread.
fn summary(line: &str) -> Option<(f64, f64)> {
    let (_, rest) = line.split_once("), ")?;
    let count = |word: &str| {
        let part = rest.split(", ").find(|part| part.ends_with(word))?;
        number(part.split_whitespace().next()?)
    };
    rest.contains(" events, ").then_some(())?;
    let (major, minor) = (count("majfaults"), count("minfaults"));
    (major.is_some() || minor.is_some()).then(|| (major.unwrap_or(0.0), minor.unwrap_or(0.0)))
}

fn is_own(line: &str) -> bool {
    line.contains("fault") && (fault(line).is_some() || summary(line).is_some())
}

/// All faults of a text are one run; its times begin anew with each trace.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_own(line)) && !before.iter().rev().any(|line| is_own(line))
}

/// The faults of one trace.
#[derive(Default)]
struct Trace {
    /// Major and minor faults that are listed.
    listed: [f64; 2],
    /// The same by the summary.
    summed: [f64; 2],
    is_summed: bool,
    /// Times of the first fault and the last one.
    span: Option<(f64, f64)>,
    /// Events that were lost.
    lost: f64,
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    // Events may be lost before the first that is a fault.
    let before: f64 = run.before.iter().rev().map_while(|line| lost(line)).take(MOST_LINES).sum();
    let mut traces = vec![Trace { lost: before, ..Trace::default() }];
    let mut threads: Vec<&str> = Vec::new();
    for line in run.lines.iter().take(MOST_LINES) {
        let last = traces.last().and_then(|trace| trace.span).map_or(0.0, |(_, last)| last);
        if let Some(own) = fault(line) {
            // CPUs may be out of order by a little.
            if own.at + 1.0 < last || traces.last().is_some_and(|trace| trace.is_summed) {
                traces.push(Trace::default());
            }
            if threads.len() < 2 && !threads.contains(&own.thread) {
                threads.push(own.thread);
            }
            let Some(trace) = traces.last_mut() else { continue };
            trace.listed[usize::from(!own.is_major)] += 1.0;
            trace.span = Some(
                trace.span.map_or((own.at, own.at), |(first, last)| (first.min(own.at), last.max(own.at))),
            );
        } else if let (Some((major, minor)), Some(trace)) = (summary(line), traces.last_mut()) {
            trace.summed[0] += major;
            trace.summed[1] += minor;
            trace.is_summed = true;
        } else if let (Some(lost), Some(trace)) = (lost(line), traces.last_mut()) {
            trace.lost += lost;
        }
    }
    let subject = match threads[..] {
        [one] => one,
        _ => "",
    };
    // Which faults were asked for: none of a kind is an answer only where it was.
    let asked = run.command.map(|command| command.values(&["-F", "--pf"]));
    let is_timed = traces.iter().all(|trace| trace.span.is_some_and(|(first, last)| last > first));
    let has_lost = traces.iter().any(|trace| trace.lost > 0.0);
    let mut figures = Vec::new();
    for (part, name, at) in [("minor", "minor faults", 1), ("major", "major faults", 0)] {
        let word = if at == 0 { "maj" } else { "min" };
        let is_asked =
            asked.as_ref().is_some_and(|asked| asked.iter().any(|own| *own == "all" || *own == word));
        let seen = traces.iter().any(|trace| trace.listed[at] + trace.summed[at] > 0.0);
        if !seen && !is_asked {
            continue;
        }
        let id = format!("{SUITE}.perf-trace.{part}");
        let mut figure =
            Figure::planned(id, SUITE, format!("{name} by perf trace"), Unit::ONE, Better::Lower);
        figure.conditions.set(MOMENTS, true);
        if !subject.is_empty() {
            figure.conditions.set(SUBJECT, plain_to(&figure::secrets::text(subject), MAX_SUBJECT));
        }
        for trace in &traces {
            let seconds = trace.span.map_or(0.0, |(first, last)| last - first);
            let count = if trace.is_summed { trace.summed[at] } else { trace.listed[at] };
            if trace.is_summed && trace.listed[at] > trace.summed[at] {
                let why = format!(
                    "{} are listed, and {} are in the summary",
                    shown(trace.listed[at]),
                    shown(trace.summed[at])
                );
                figure.evidence.put(CONTRADICTION, why);
            }
            let mut evidence = Evidence::default();
            if is_timed {
                evidence.put(LIFETIME, false);
                evidence.put(COUNT, count);
            }
            if has_lost {
                let all = (trace.listed[0] + trace.listed[1]).max(trace.summed[0] + trace.summed[1]);
                evidence.put(COUNTED_SHARE, all / (all + trace.lost).max(1.0));
            }
            figure.rounds.push(round(seconds, count, evidence));
        }
        figures.push(figure);
    }
    match figures.first_mut() {
        Some(first) => {
            first.evidence.put(UNJUDGED, "callers and addresses of single faults; system calls".to_owned())
        }
        None => return Err("has no line of a fault".to_owned()),
    }
    Ok(figures)
}

/// `LOST 11 events!`
fn lost(line: &str) -> Option<f64> {
    number(line.strip_prefix("LOST ")?.strip_suffix(" events!")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_faults_and_threads() {
        let own =
            fault("35.338 ( 0.000 ms): Web Content/569918 majfault [0x14984] => /etc/ld.so.cache@0x0 (d.)")
                .unwrap();
        assert_eq!((own.at, own.thread, own.is_major), (0.035338, "Web Content/569918", true));
        assert!(fault("0.1 ( 0.000 ms): cat/1 segfault [x] => y (d.)").is_none());
        assert_eq!(summary("cat (1234), 60 events, 6.6%, 3 majfaults, 120 minfaults"), Some((3.0, 120.0)));
        assert_eq!(summary("cat (1234), 60 events, 6.6%"), None);
        assert_eq!(lost("LOST 11 events!"), Some(11.0));
    }
}

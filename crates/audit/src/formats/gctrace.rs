//! Go's `GODEBUG=gctrace=1`: a line for each collection of garbage.

use figure::evidence::audit::{CONTRADICTION, MOMENTS, SUBJECT, UNJUDGED};
use figure::format::number as shown;
use figure::{Better, Evidence, Figure, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, number, round};

pub(super) const FORMAT: Format = Format::lines("gctrace", &[" ms clock, "], starts, None, parse);

const MEBIBYTE: f64 = 1_048_576.0;
/// The most lines that are read.
const MOST_LINES: usize = 100_000;
/// The most processes of a run: a build starts hundreds of compilers.
const MOST_PROCESSES: usize = 100;

/// `gc 4 @1.550s 0%: 2.1+37+0.33 ms clock, 27+16/40/0.29+4.3 ms cpu, 47->48->47 MB, 64 MB goal, 40 P` (runtime/mgc.go).
struct Collection {
    count: f64,
    /// Seconds since the program began.
    at: f64,
    /// Percent of its CPU time that collections took, cut to whole ones.
    share: f64,
    /// Seconds of its phases: all tasks stop in the first and the last.
    clock: Vec<Printed>,
    /// CPU seconds of the first and the last.
    cpu: Option<[Printed; 2]>,
    /// MiB of the heap at its begin, at its end, and what is alive.
    heap: [f64; 3],
    processors: f64,
}

fn collection(line: &str) -> Option<Collection> {
    let (head, rest) = line.strip_prefix("gc ")?.split_once(": ")?;
    let mut words = head.split_whitespace();
    let (count, at, share) = (words.next()?, words.next()?, words.next()?);
    let times = |text: &str| -> Option<Vec<Printed>> {
        text.split('+').map(|time| Some(Printed::of(time)?.times(1e-3))).collect()
    };
    let (clock, rest) = rest.split_once(" ms clock, ")?;
    let (cpu, rest) = rest.split_once(" ms cpu, ")?;
    let (heap, rest) = rest.split_once(" MB, ")?;
    let heap: Option<Vec<f64>> = heap.split("->").map(number).collect();
    let heap: [f64; 3] = heap?.try_into().ok()?;
    let processors = rest.split(", ").find_map(|part| {
        let mut words = part.split_whitespace();
        let count = number(words.next()?)?;
        (words.next()? == "P").then_some(count)
    })?;
    let ends = |text: &str| times(&format!("{}+{}", text.split('+').next()?, text.rsplit('+').next()?));
    Some(Collection {
        count: number(count)?,
        at: number(at.strip_prefix('@')?.strip_suffix('s')?)?,
        share: number(share.strip_suffix('%')?)?,
        clock: times(clock).filter(|times| times.len() >= 3)?,
        cpu: ends(cpu).and_then(|ends| ends.try_into().ok()),
        heap,
        processors,
    })
}

impl Collection {
    /// Seconds in which all tasks stood still.
    fn pause(&self) -> f64 {
        self.clock.first().zip(self.clock.last()).map_or(0.0, |(first, last)| first.value + last.value)
    }

    /// Why it cannot be.
    fn against(&self) -> Option<String> {
        let [_, end, alive] = self.heap;
        if alive > end + 1.0 {
            return Some(format!("{} MB are alive in a heap of {} MB", shown(alive), shown(end)));
        }
        let stops = self.clock.first().zip(self.clock.last()).zip(self.cpu);
        let ((first, last), cpu) = stops?;
        let other = [(first, cpu[0]), (last, cpu[1])]
            .into_iter()
            .find(|(clock, cpu)| cpu.value - cpu.off > (clock.value + clock.off) * self.processors);
        other.map(|(clock, cpu)| {
            format!(
                "{} of CPU time within {} on {} processors",
                figure::format::seconds(cpu.value),
                figure::format::seconds(clock.value),
                shown(self.processors)
            )
        })
    }
}

/// The collections of one process, in the order in which it printed them.
struct Process {
    /// Its first line among those of the run, from 0.
    line: usize,
    collections: Vec<Collection>,
}

impl Process {
    /// How well a collection goes on here: it is the next one, or a later one, and time has passed. `None` where it is of another process.
    fn continues(&self, next: &Collection) -> Option<(bool, bool, f64)> {
        let last = self.collections.last()?;
        let (is_next, is_later) = (next.count == last.count + 1.0, next.at >= last.at);
        (is_next || is_later && next.count > last.count).then_some((is_later, is_next, last.at))
    }
}

/// The processes in these lines. Those that run at once print by turns.
fn processes(lines: &[&str]) -> Vec<Process> {
    let mut all: Vec<Process> = Vec::new();
    let collections = lines.iter().take(MOST_LINES).enumerate();
    for (line, next) in collections.filter_map(|(line, text)| Some((line, collection(text)?))) {
        let fit = |(at, process): (usize, &Process)| Some((process.continues(&next)?, at));
        let best = all.iter().enumerate().filter_map(fit).max_by(|((late, is_next, at), _), (other, _)| {
            (late, is_next).cmp(&(&other.0, &other.1)).then(at.total_cmp(&other.2))
        });
        match best {
            Some((_, at)) => all[at].collections.push(next),
            None if all.len() < MOST_PROCESSES => all.push(Process { line, collections: vec![next] }),
            None => {}
        }
    }
    all
}

/// Whether a run begins: the first collection, or one that does not go on with the count behind lines of another kind. Processes without
/// such lines between them are of one run.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(own) = rest.first().and_then(|line| collection(line)) else { return false };
    let last = before.iter().rev().find_map(|line| collection(line));
    last.is_none_or(|last| {
        own.count <= last.count && before.last().is_some_and(|line| collection(line).is_none())
    })
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let all = processes(run.lines);
    if all.is_empty() {
        return Err("has no line of a collection".to_owned());
    }
    let is_first = !run.before.iter().any(|line| collection(line).is_some());
    let mut figures: Vec<Figure> = all
        .iter()
        .flat_map(|process| {
            let line = run.before.len() + process.line + 1;
            let is_only = is_first && std::ptr::eq(process, &all[0]);
            of_process(
                &process.collections,
                if is_only { String::new() } else { format!("process from line {line}") },
            )
        })
        .collect();
    let more = if all.len() < MOST_PROCESSES { "" } else { "; processes beyond the first 100" };
    let unjudged = format!("time of marking; goals of the heap; help by allocating tasks{more}");
    figures[0].evidence.put(UNJUDGED, unjudged);
    Ok(figures)
}

fn of_process(all: &[Collection], subject: String) -> Vec<Figure> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let back = all.windows(2).find(|pair| pair[1].at < pair[0].at);
    let back = back.map(|pair| {
        format!(
            "collection {} is at {} s, after one at {} s",
            shown(pair[1].count),
            shown(pair[1].at),
            shown(pair[0].at)
        )
    });
    let contradiction = all.iter().find_map(Collection::against).or(back);
    let of = |part: &str, name: &str, unit: Unit, rows: &mut dyn Iterator<Item = (f64, f64)>| {
        let id = format!("{SUITE}.gctrace.{part}");
        let mut figure = Figure::planned(id, SUITE, format!("{name} by gctrace"), unit, Better::Lower);
        figure.conditions.set(MOMENTS, true);
        if !subject.is_empty() {
            figure.conditions.set(SUBJECT, subject.clone());
        }
        contradiction.iter().for_each(|why| figure.evidence.put(CONTRADICTION, why.clone()));
        figure.rounds = rows.map(|(seconds, value)| round(seconds, value, Evidence::default())).collect();
        figure
    };
    let mut pauses = all.iter().map(|own| (own.pause(), own.pause()));
    let mut figures = vec![
        of("pause", "time in which all stood still, of a collection", Unit::SECONDS, &mut pauses),
        of(
            "alive",
            "heap alive behind a collection",
            Unit::BYTES,
            &mut all.iter().map(|own| (0.0, own.heap[2] * MEBIBYTE)),
        ),
        of(
            "share",
            "CPU time that collections took, in whole percents",
            Unit::of("%"),
            &mut std::iter::once((last.at, last.share)),
        ),
    ];
    if last.at > first.at && last.count > first.count {
        let seconds = last.at - first.at;
        let rate = (last.count - first.count) / seconds;
        figures.push(of("rate", "collections a second", Unit::PER_S, &mut std::iter::once((seconds, rate))));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions() {
        let own = collection("gc 3 @0.5s 2%: 0.1+23+0.3 ms clock, 1.2+0.032/25/1.3+3.9 ms cpu, 32->33->32 MB, 63 MB goal, 40 P").unwrap();
        assert_eq!((own.count, own.at, own.share, own.processors), (3.0, 0.5, 2.0, 40.0));
        assert_eq!(own.heap, [32.0, 33.0, 32.0]);
        assert!((own.pause() - 0.0004).abs() < 1e-12 && own.against().is_none());
        let five = "gc 59 @5.182s 0%: 0.092+0+0+0+6.8 ms clock, 0.37+0+0+4.1/0.025/5.8+27 ms cpu, 79->79->79 MB, 79 MB goal, 32 P (forced)";
        assert_eq!(collection(five).map(|own| own.clock.len()), Some(5));
        let new = "gc 1 @3.003s 0%: 0.012+0.15+0.003 ms clock, 0.29+0/0.16/0+0.074 ms cpu, 4->4->4 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 24 P";
        assert_eq!(collection(new).map(|own| own.processors), Some(24.0));
        assert!(
            collection("gc # @#s #%: #+#+# ms clock, #+#/#/#+# ms cpu, #->#-># MB, # MB goal, # P").is_none()
        );
    }

    #[test]
    fn processes_that_print_by_turns_are_told_apart() {
        let line = |count: u32, at: f64| {
            format!(
                "gc {count} @{at:.3}s 1%: 0.1+1+0.1 ms clock, 0.1+0.1/0.1/0.1+0.1 ms cpu, 4->4->1 MB, 5 MB goal, 8 P"
            )
        };
        let of = |text: &[String]| {
            let lines: Vec<&str> = text.iter().map(String::as_str).collect();
            let all = processes(&lines);
            all.iter().map(|process| (process.line, process.collections.len())).collect::<Vec<_>>()
        };
        assert_eq!(of(&[line(1, 0.01), line(2, 0.02), line(1, 0.01), line(2, 0.03)]), [(0, 2), (2, 2)]);
        assert_eq!(
            of(&[line(1, 0.5), line(1, 0.01), line(2, 0.03), line(2, 0.6), line(3, 0.05)]),
            [(0, 2), (1, 3)]
        );
        // Lines of one that were lost are no other process, nor is a clock that went back.
        assert_eq!(of(&[line(1, 0.5), line(7, 0.9), line(8, 0.7)]), [(0, 3)]);
    }
}

//! Go's `GODEBUG=gctrace=1`: a line for each collection of garbage.

use figure::evidence::audit::{CONTRADICTION, MOMENTS, UNJUDGED};
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

/// Whether a process begins: the count does not go on.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(own) = rest.first().and_then(|line| collection(line)) else { return false };
    let last = before.iter().rev().find_map(|line| collection(line));
    last.is_none_or(|last| own.count <= last.count)
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let all: Vec<Collection> =
        run.lines.iter().take(MOST_LINES).filter_map(|line| collection(line)).collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return Err("has no line of a collection".to_owned());
    };
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
    figures[0]
        .evidence
        .put(UNJUDGED, "time of marking; goals of the heap; help by allocating tasks".to_owned());
    Ok(figures)
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
}

//! A number that a tool printed, other than of a load, as a figure: the laws that hold for all of them are applied here.

use figure::evidence::audit::{
    CONTRADICTION, CORES, DEVIATION, DIGITS, ERROR_OF_MEAN, LEAST_SECONDS, MEAN_OVER_BEST, MODES, OVERHEAD,
    RECOMPUTED, REPETITIONS, ROUNDING, SUBJECT,
};
use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, INSTRUMENT_ARRAY, KERNEL, THREADS, VERIFIED};
use figure::format::{number, plain_to};
use figure::{Better, Convention, Evidence, Figure, Unit};

use crate::known::Known;
use crate::statistics::{Statistics, shown};
use crate::text::{Printed, round};
use crate::{MAX_SUBJECT, SUITE};

/// Seconds below which no operation ends, however many a processor does at once: eight in a cycle of 6 GHz. What is printed as less was
/// not done: the compiler removed it.
const SHORTEST: f64 = 2e-11;
/// By what share more threads may seem busy than there are: the rate and the mean are over times that tools take at different places.
const ROUNDED: f64 = 0.05;
/// Seconds below which no loop goes round once: a taken branch takes a cycle, and the newest processors take two in one.
const SHORTEST_LOOP: f64 = 8e-11;
/// Seconds that a loop with nothing in it may take to go round once: a cycle of 2 GHz.
const EMPTY_LOOP: f64 = 5e-10;
/// Of repetitions at two values so large a share must lie at the rarer one: fewer are outliers.
const RARER: f64 = 0.1;
/// The most single repetitions that are looked at.
const MOST_SINGLE: usize = 10_000;

/// A number and all that the text shows about it. What it does not show is `None`.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// The tool's word in ids.
    pub tool: &'static str,
    /// The rest of the id: words of `a-z0-9-` with points in between.
    pub part: String,
    /// Its name for people; untrusted.
    pub name: String,
    /// What was measured, where that is more than the name says: a system, a file; untrusted.
    pub subject: String,
    /// The number, in `unit`.
    pub value: Printed,
    pub unit: Unit,
    pub better: Better,
    /// Seconds that it is of.
    pub seconds: Option<f64>,
    /// The same number from others of the same text, in `unit`.
    pub again: Option<Printed>,
    /// Its samples, in seconds: where the number is a time, which is their mean, or the quantile of `quantile`.
    pub samples: Statistics,
    /// Which quantile of the samples it is; `None` is the mean.
    pub quantile: Option<f64>,
    /// Seconds of one operation, where the number is such a time or follows from one.
    pub operation: Option<Printed>,
    /// Loops that went round at once, where a harness calls the operation once each time round.
    pub loops: Option<f64>,
    /// Why the number cannot be, by other numbers of the same text: `a, 3, is above b, 2`.
    pub contradiction: Option<String>,
    /// Repetitions that the tool made itself.
    pub repetitions: Option<f64>,
    /// The mean repetition's time over that of the best, which is printed.
    pub mean_over_best: Option<f64>,
    /// The error of the mean of its runs, as a share of it.
    pub error_of_mean: Option<f64>,
    /// Standard deviation of the repetitions, over their mean.
    pub deviation: Option<f64>,
    /// The repetitions, one by one, in any unit.
    pub single: Vec<f64>,
    /// Seconds that such a run must last: in a shorter one its start is a large part.
    pub least_seconds: Option<f64>,
    /// Threads that worked at once.
    pub threads: Option<f64>,
    /// Operations a second where a thread waits for the end of each: with their mean time (`samples.mean`) they keep no more threads busy than
    /// there are.
    pub in_turn: Option<Printed>,
    /// Where the number is of memory.
    pub memory: Option<Memory>,
}

/// What a bandwidth, or a latency of memory, is of.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// copy, scale, add, triad, read, write, mix, latency.
    pub kernel: &'static str,
    /// Bytes of the smallest array, of all threads together: what is compared with the caches. One block that all threads share counts once.
    pub array: Option<f64>,
    /// Bytes that are counted for an element, for a bandwidth; 0 for a latency.
    pub counted: f64,
    /// How they are counted.
    pub convention: Option<Convention>,
    /// Why the array is unknown, where it decides what the number is of: `the text does not show the block size`. Empty where it does not.
    pub missing: &'static str,
    /// Whether the tool found its results right; `None` where it does not check them.
    pub verified: Option<bool>,
}

impl Quantity {
    /// A number alone.
    pub fn of(
        tool: &'static str,
        part: String,
        name: String,
        value: Printed,
        unit: Unit,
        better: Better,
    ) -> Quantity {
        Quantity {
            tool,
            part,
            name,
            value,
            unit,
            better,
            subject: String::new(),
            seconds: None,
            again: None,
            samples: Statistics::default(),
            quantile: None,
            operation: None,
            loops: None,
            contradiction: None,
            repetitions: None,
            mean_over_best: None,
            error_of_mean: None,
            deviation: None,
            single: Vec::new(),
            least_seconds: None,
            threads: None,
            in_turn: None,
            memory: None,
        }
    }

    /// As a figure.
    pub fn figure(self, known: &Known) -> Figure {
        let id = format!("{SUITE}.{}.{}", self.tool, self.part);
        let name = plain_to(&figure::secrets::text(&self.name), MAX_SUBJECT);
        let mut figure = Figure::planned(id, SUITE, name, self.unit.clone(), self.better);
        let conditions = &mut figure.conditions;
        if !self.subject.is_empty() {
            conditions.set(SUBJECT, plain_to(&figure::secrets::text(&self.subject), MAX_SUBJECT));
        }
        self.threads.or(known.threads).into_iter().for_each(|threads| conditions.set(THREADS, threads));
        if let Some(memory) = &self.memory {
            conditions.set(KERNEL, memory.kernel.to_owned());
            known.cores.into_iter().for_each(|cores| conditions.set(CORES, cores));
            memory.array.into_iter().for_each(|array| conditions.set(ARRAY_BYTES, array));
            if memory.counted > 0.0 {
                conditions.set(COUNTED_BYTES, memory.counted);
            }
            figure.convention = memory.convention;
            memory.verified.into_iter().for_each(|verified| figure.evidence.put(VERIFIED, verified));
            known.caches(&mut figure.evidence);
            if memory.array.is_none() && !memory.missing.is_empty() {
                figure.evidence.put_unknown(INSTRUMENT_ARRAY, memory.missing);
            }
        }
        let own = &mut figure.evidence;
        self.least_seconds.into_iter().for_each(|least| own.put(LEAST_SECONDS, least));
        self.value.few_digits().into_iter().for_each(|share| own.put(DIGITS, share));
        self.repetitions.into_iter().for_each(|repetitions| own.put(REPETITIONS, repetitions));
        let against = self.against();
        if against.is_none() {
            self.mostly_loop().into_iter().for_each(|why| own.put(OVERHEAD, why));
        }
        against.into_iter().for_each(|why| own.put(CONTRADICTION, why));
        let mut evidence = Evidence::default();
        if let Some(again) = self.again {
            evidence.put(RECOMPUTED, again.value);
            evidence.put(ROUNDING, again.share() + self.value.share());
        }
        self.mean_over_best.into_iter().for_each(|ratio| evidence.put(MEAN_OVER_BEST, ratio.max(1.0)));
        self.error_of_mean.into_iter().for_each(|error| evidence.put(ERROR_OF_MEAN, error));
        self.deviation.into_iter().for_each(|deviation| evidence.put(DEVIATION, deviation));
        self.modes().into_iter().for_each(|modes| evidence.put(MODES, modes.to_vec()));
        figure.rounds.push(round(self.seconds.unwrap_or(0.0), self.value.value, evidence));
        figure
    }

    /// Why the number cannot be.
    fn against(&self) -> Option<String> {
        let shortest = |time: Printed| (time.value + time.off) < SHORTEST;
        let removed = self.operation.filter(|time| shortest(*time)).map(|time| {
            format!(
                "{} for an operation, which no processor does in less than 0.02 ns (the compiler removed it)",
                shown(time.value)
            )
        });
        let skipped = self.of_loop().filter(|time| time.value + time.off < SHORTEST_LOOP).map(|time| {
            format!("{} for a loop to go round, which takes a cycle (removed, or not repeated as often as counted)", shown(time.value))
        });
        let removed = removed.or(skipped);
        let of_samples = match self.quantile {
            Some(quantile) => self.samples.against_quantile(quantile),
            None => self.samples.against_mean(),
        };
        self.contradiction.clone().or(removed).or(of_samples).or_else(|| self.against_threads())
    }

    /// Why so many threads cannot do so many operations that last so long.
    fn against_threads(&self) -> Option<String> {
        let ((rate, mean), threads) = self.in_turn.zip(self.samples.mean).zip(self.threads)?;
        let busy = rate.value * mean.value;
        let off = busy * (rate.share() + mean.share());
        (mean.value > 0.0 && busy - off > threads * (1.0 + ROUNDED)).then(|| {
            format!(
                "{} operations/s of {} keep {} threads busy, and there are {threads}",
                number(rate.value),
                figure::format::seconds(mean.value),
                number(busy)
            )
        })
    }

    /// Seconds of a time round the harness's loop, with all that is in it.
    fn of_loop(&self) -> Option<Printed> {
        Some(self.operation?.times(self.loops?.max(1.0)))
    }

    /// Why the harness's loop may be most of the time.
    fn mostly_loop(&self) -> Option<String> {
        let time = self.of_loop().filter(|time| time.value == 0.0 || time.value + time.off < EMPTY_LOOP)?;
        Some(format!(
            "an operation takes {}, as long as the loop around it with nothing in it",
            shown(time.value)
        ))
    }

    /// Where the repetitions lie at two values: these, and the share at the lower.
    fn modes(&self) -> Option<[f64; 3]> {
        let modes = figure::stats::modes(&self.single[..self.single.len().min(MOST_SINGLE)])?;
        let is_rare = modes.low_share.min(1.0 - modes.low_share) < RARER;
        (!is_rare).then_some([modes.low, modes.high, modes.low_share])
    }
}

//! Another program: where it is, how it is asked what to measure, how its output is read. Pure.

use figure::{Convention, CpuList};
use lab::failure::Failure;

use crate::bandwidth::plan::Code;
use crate::inspect::{InspectError, Inspection};
use crate::kernels::{Kernel, Stores};
use crate::pages::Pages;
use crate::simd::Simd;
use loops::words;

#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    pub binaries: &'static [&'static str],
    pub convention: Convention,
    pub statistic: Statistic,
    pub pages: &'static [Pages],
    /// Whether it takes a size of array; else it has one, which truebench takes.
    pub takes_size: bool,
    /// Bytes of all its arrays together at most, where it takes a size.
    pub most_bytes: Option<u64>,
    /// Kernels that are compared when none is asked for.
    pub kernels: &'static [&'static str],
    /// How it is run; an error says why it cannot be run so.
    pub runs: fn(&RunRequest) -> Result<Vec<Run>, Failure>,
    /// Reads its output, which is untrusted; an error says what is wrong with it.
    pub read: fn(&Output) -> Result<ToolReport, Failure>,
}

words! {
    /// What a round's value is of its samples.
    pub enum Statistic {
        /// The best, as STREAM quotes.
        Best = "best",
        /// All bytes over all time, as likwid-bench and MLC quote.
        Mean = "mean",
    }
}

impl Statistic {
    /// Of samples of equally many bytes each; `None` without any.
    pub fn value(self, rates: &[f64]) -> Option<f64> {
        match self {
            Statistic::Best => rates.iter().copied().reduce(f64::max),
            Statistic::Mean if rates.is_empty() => None,
            Statistic::Mean => Some(rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>()),
        }
    }
}

#[derive(Debug)]
pub struct RunRequest<'a> {
    pub kernels: &'a [&'static Kernel],
    pub stores: Option<Stores>,
    pub simd: Simd,
    pub places: &'a [CpuList],
    /// Elements of each array, for a program that takes a size.
    pub elements: u64,
    pub pages: Pages,
    /// What its binary holds, or why that is not known.
    pub inspection: &'a Result<Inspection, InspectError>,
}

impl RunRequest<'_> {
    /// Whether figures with these stores are wanted. A kernel that stores nothing always is.
    pub fn wants(&self, stores: Stores) -> bool {
        self.stores.is_none_or(|only| only == stores || stores == Stores::None)
    }

    /// The first CPU of each place, for a program that puts one thread on one CPU.
    pub fn cpus(&self) -> Result<Vec<u32>, Failure> {
        let cpus: Vec<u32> = self.places.iter().filter_map(CpuList::first).collect();
        let distinct: CpuList = cpus.iter().copied().collect();
        if distinct.len() < self.places.len() {
            let shared = "it puts each thread on a CPU of its own, and here threads share CPUs";
            return Err(Failure::new(shared).advice("ask for fewer --threads, or for --places threads"));
        }
        Ok(cpus)
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub points: Vec<Point>,
}

/// A figure of it, and the code of truebench that is compared with it.
#[derive(Clone, Debug)]
pub struct Point {
    pub kernel: &'static Kernel,
    /// Its id's last part, where one kernel is run in several ways.
    pub way: Option<&'static str>,
    pub code: Code,
    /// How its kernel stores, in the words of `stores`, if that is known.
    pub stores: Option<&'static str>,
    /// How that is known, or why it is not.
    pub basis: String,
}

#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    pub text: &'a str,
    pub kernels: &'a [&'a str],
    /// Ticks a second of the time stamp counter, where it is our clock.
    pub counter_rate: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolReport {
    pub version: String,
    /// GB/s by kernel.
    pub rates: Vec<(String, f64)>,
    pub elements: Option<u64>,
    pub threads: Option<usize>,
    pub cpus: Option<Vec<u32>>,
    /// Repetitions of which it quotes the best.
    pub repetitions: Option<usize>,
    /// Its shortest timed repetition, in seconds.
    pub shortest: Option<f64>,
    /// What its clock resolves, in seconds.
    pub granularity: Option<f64>,
}

impl ToolReport {
    pub fn rate(&self, kernel: &str) -> Option<f64> {
        self.rates.iter().find(|(name, _)| name == kernel).map(|(_, rate)| *rate)
    }

    pub fn contradicts(&self, places: &[CpuList], elements: Option<u64>) -> Option<String> {
        if let Some(threads) = self.threads.filter(|threads| *threads != places.len()) {
            return Some(format!("it ran {threads} threads and not {}", places.len()));
        }
        if let Some(cpus) = &self.cpus {
            let inside = |cpu: &u32| places.iter().any(|place| place.contains(*cpu));
            if let Some(cpu) = cpus.iter().find(|cpu| !inside(cpu)) {
                return Some(format!("it ran on CPU {cpu}, which is none of those asked for"));
            }
        }
        let (wanted, reported) = elements.zip(self.elements)?;
        let off = (reported as f64 / wanted as f64 - 1.0).abs() > SIZE_TOLERANCE;
        off.then(|| format!("its arrays had {reported} elements and not {wanted}"))
    }
}

/// Programs round a size to whole loops on each thread.
const SIZE_TOLERANCE: f64 = 0.01;

/// A positive, finite number; what a program prints is untrusted.
pub(super) fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().and_then(sound)
}

/// A rate in GB/s of one that is printed in MB/s of 10^6 bytes.
pub(super) fn gigabytes(megabytes: &str) -> Option<f64> {
    positive(megabytes).and_then(|rate| sound(rate / 1e3))
}

/// What was computed, if it is positive and finite still: what is very small or large becomes 0 or infinite.
pub(super) fn sound(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

pub(super) fn behind<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_of_bytes_over_time() {
        assert_eq!(Statistic::Best.value(&[1.0, 3.0, 2.0]), Some(3.0));
        // Two passes of equal bytes at 2 and at 6 GB/s: 2 bytes in 1/2 + 1/6.
        assert!((Statistic::Mean.value(&[2.0, 6.0]).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(Statistic::Mean.value(&[]), None);
    }

    #[test]
    fn a_report_is_compared_with_what_was_asked() {
        let places: Vec<CpuList> = ["0,2", "1,3"].iter().map(|list| list.parse().unwrap()).collect();
        let report = ToolReport {
            threads: Some(2),
            cpus: Some(vec![0, 3]),
            elements: Some(1000),
            ..ToolReport::default()
        };
        assert_eq!(report.contradicts(&places, Some(1001)), None);
        let wrong = |report: ToolReport| report.contradicts(&places, Some(1000)).unwrap();
        assert!(wrong(ToolReport { threads: Some(4), ..report.clone() }).contains("4 threads and not 2"));
        assert!(wrong(ToolReport { cpus: Some(vec![0, 4]), ..report.clone() }).contains("CPU 4"));
        assert!(wrong(ToolReport { elements: Some(2000), ..report }).contains("2000 elements and not 1000"));
    }
}

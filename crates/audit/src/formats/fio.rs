//! fio: rates and latencies of each job, as text (2 and 3) and as JSON.

mod json;
mod text;

use figure::evidence::audit::{ASKED_SECONDS, CACHED, DEPTH, QUEUED};
use figure::evidence::http::SECONDS;
use figure::{Better, Unit};

use crate::command::{Command, Grammar, Setting, Style};
use crate::format::Format;
use crate::formats::micro::Rows;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::statistics::{Statistics, has_quantile};
use crate::text::{Printed, bytes, number};

pub(super) const FORMAT: Format = Format::lines(
    "fio",
    &["IOPS=", "(groupid=", " iops=", "READ: ", "WRITE: ", "3;fio-", "3;2."],
    text::starts,
    Some(&COMMAND),
    text::parse,
);
pub(super) const DOCUMENT: Format = Format::documents(
    "fio",
    &["\"fio version\"", "\"jobname\""],
    json::is_document,
    Some(&COMMAND),
    json::parse,
);

/// Of its options those that are looked at; all may be written with `=`.
const COMMAND: Grammar = Grammar {
    programs: &["fio"],
    style: Style::Getopt,
    values: &[
        "--name",
        "--filename",
        "--rw",
        "--bs",
        "--ioengine",
        "--iodepth",
        "--numjobs",
        "--direct",
        "--size",
        "--runtime",
    ],
    flags: &["--group_reporting", "--time_based"],
    hidden: &[],
    operand: |_| true,
    operands: 0..=9,
};

/// Engines that have one request in flight, whatever iodepth says (FIO_SYNCIO of engines/*.c).
const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "falloc", "ftruncate"];
/// Engines that reach no device, or memory by design.
const NO_DEVICE: &[&str] = &[
    "null",
    "mmap",
    "libpmem",
    "pmemblk",
    "dev-dax",
    "dax",
    "cpuio",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "fileoperations",
    "net",
    "netsplice",
    "exec",
];
/// Options that keep a queue from being full.
const LIMITS: &[&str] = &["rate", "rate_iops", "thinktime", "latency_target", "rate_process", "flow"];
/// Seconds that a job must run: caches of a device and the first requests are a large part of less.
const LEAST: f64 = 1.0;
/// Seconds that no device answers in: a round trip over PCIe alone takes one microsecond, and the fastest drives (Optane) take seven.
const FASTEST: f64 = 3e-6;
/// Requests in flight beyond what rounding explains: the latencies of a job's last requests count, its rate ends before them.
const BEYOND: f64 = 1.02;
/// Quantiles that become figures.
const QUANTILES: &[(f64, &str)] = &[(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];

/// What was asked for; `None` where it is unknown.
#[derive(Clone, Debug, Default)]
struct Asked {
    engine: Option<String>,
    depth: Option<f64>,
    /// Bytes of a request: of reads, writes, trims; where they are all alike.
    block: [Option<f64>; 3],
    direct: Option<bool>,
    /// Whether something keeps the queue from being full.
    is_limited: Option<bool>,
    /// Seconds that it was to run, whatever its size.
    seconds: Option<f64>,
}

impl Asked {
    /// With what the command says.
    fn with(mut self, command: Option<&Command>) -> Asked {
        let Some(command) = command else { return self };
        self.direct = self.direct.or(match command.setting(&["--direct"]) {
            Setting::Is(value) => Some(value == 1.0),
            _ => None,
        });
        let is_timed = command.has(&["--time_based"]);
        let runtime = command.values(&["--runtime"]).last().and_then(|text| duration(text));
        self.seconds = self.seconds.or(runtime.filter(|_| is_timed));
        let limits = LIMITS.iter().any(|limit| command.has(&[format!("--{limit}").as_str()]));
        self.is_limited = self.is_limited.or(limits.then_some(true));
        self
    }

    fn is_of(&self, engines: &[&str]) -> bool {
        self.engine.as_deref().is_some_and(|engine| engines.contains(&engine))
    }
}

/// A job, or a group of jobs that are reported together.
#[derive(Clone, Debug)]
struct Job {
    name: String,
    jobs: f64,
    asked: Asked,
    ways: Vec<Way>,
}

/// Reads, writes or trims.
#[derive(Clone, Debug, Default)]
struct Way {
    /// 0 is reads, 1 writes, 2 trims.
    kind: usize,
    /// Requests a second.
    rate: Option<Printed>,
    /// Bytes a second.
    bandwidth: Option<Printed>,
    /// Bytes, and requests, of all.
    bytes: Option<Printed>,
    requests: Option<f64>,
    seconds: Option<Printed>,
    /// Latencies in seconds, from the call to the end: `lat`; and from when the request was sent: `clat`.
    whole: Statistics,
    sent: Statistics,
    /// Whether the quantiles are those of `lat`.
    is_of_whole: bool,
}

const WAYS: [&str; 3] = ["read", "write", "trim"];

impl Job {
    fn figures(&self, rows: &mut Rows, known: &Known) {
        let depth = self.asked.depth.map(|depth| depth * self.jobs);
        let in_flight =
            self.in_flight().zip(depth.filter(|depth| *depth > 0.0)).map(|(busy, depth)| busy / depth);
        for way in &self.ways {
            let before = rows.len();
            way.figures(self, rows, known);
            for figure in rows.since(before) {
                depth.into_iter().for_each(|depth| figure.conditions.set(DEPTH, depth));
                let is_rate = figure.id.ends_with(".iops");
                let lasted = way.seconds.zip(self.asked.seconds);
                if let Some((round, (lasted, asked))) = figure.rounds.first_mut().zip(lasted) {
                    round.evidence.put(SECONDS, lasted.value);
                    round.evidence.put(ASKED_SECONDS, asked);
                }
                // One request at once is what any engine has; and a queue that was to be short is no loss.
                let is_full = depth.is_some_and(|depth| depth > 1.0) && self.asked.is_limited != Some(true);
                let judged = in_flight.filter(|busy| is_rate && (*busy > BEYOND || is_full));
                if let Some((round, busy)) = figure.rounds.first_mut().zip(judged) {
                    round.evidence.put(QUEUED, if busy > BEYOND { busy } else { busy.min(1.0) });
                }
            }
        }
    }

    /// Requests in flight, by Little's law: those of all ways together. Of all that rounding leaves possible the fewest.
    fn in_flight(&self) -> Option<f64> {
        let of = |way: &Way| {
            let (rate, mean) = (way.rate?, way.whole.mean.or(way.sent.mean)?);
            Some((rate.value - rate.off).max(0.0) * (mean.value - mean.off).max(0.0))
        };
        let all: Option<Vec<f64>> = self.ways.iter().map(of).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
    }
}

impl Way {
    fn figures(&self, job: &Job, rows: &mut Rows, known: &Known) {
        let way = WAYS[self.kind.min(2)];
        let block = job.asked.block[self.kind.min(2)];
        let cached = self.cached(&job.asked);
        let mut add =
            |what: &str, value: Option<Printed>, unit: Unit, better: Better, fill: &dyn Fn(&mut Quantity)| {
                let (Some(value), Some(id)) = (value, rows.id(&job.name)) else { return };
                let id = format!("{id}.{way}.{what}");
                let title = format!("{what} of {way} of {} by fio", job.name);
                let mut own = Quantity::of("fio", id, title, value, unit, better);
                own.seconds = self.seconds.map(|seconds| seconds.value);
                own.least_seconds = Some(LEAST);
                fill(&mut own);
                let mut figure = own.figure(known);
                cached.iter().for_each(|why| figure.evidence.put(CACHED, why.clone()));
                rows.push(figure);
            };
        let per_second = |count: Option<Printed>| over(count?, self.seconds?);
        let requests = self.requests.map(|value| Printed { value, off: 0.5 });
        let by_block = self.bytes.zip(block).map(|(bytes, block)| bytes.times(1.0 / block));
        add("iops", self.rate, Unit::PER_S, Better::Higher, &|own| {
            own.again = per_second(requests.or(by_block))
        });
        let megabytes = |bytes: Printed| bytes.times(1e-6);
        let by_rate = self.rate.zip(block).map(|(rate, block)| megabytes(rate.times(block)));
        add("bandwidth", self.bandwidth.map(megabytes), Unit::of("MB/s"), Better::Higher, &|own| {
            own.again = by_rate.or(per_second(self.bytes).map(megabytes));
        });
        let microseconds = |time: Printed| time.times(1e6);
        let latency = if self.whole.mean.is_some() { &self.whole } else { &self.sent };
        let falls = latency
            .mean
            .zip(self.sent.mean)
            .filter(|(whole, sent)| sent.value - sent.off > whole.value + whole.off);
        add("mean", latency.mean.map(microseconds), Unit::of("µs"), Better::Lower, &|own| {
            own.samples = Statistics { quantiles: Vec::new(), ..latency.clone() };
            own.contradiction = falls.map(|(whole, sent)| {
                let [whole, sent] = [whole, sent].map(|time| figure::format::seconds(time.value));
                format!("clat, {sent}, is above lat, {whole}, which holds it")
            });
        });
        let samples = if self.is_of_whole { &self.whole } else { &self.sent };
        let by_rate = self.rate.zip(self.seconds).map(|(rate, seconds)| rate.value * seconds.value);
        let count = self.requests.or(by_rate).map(f64::round).filter(|count| *count > 0.0);
        let mut of_few = Vec::new();
        for (quantile, word) in QUANTILES {
            let value = samples
                .quantiles
                .iter()
                .find(|(own, _)| own == quantile)
                .map(|(_, value)| microseconds(*value));
            if value.is_some() && count.is_some_and(|count| !has_quantile(count, *quantile)) {
                of_few.push(*word);
                continue;
            }
            add(word, value, Unit::of("µs"), Better::Lower, &|own| {
                (own.samples, own.quantile) = (samples.clone(), Some(*quantile));
            });
        }
        if let Some(count) = count.filter(|_| !of_few.is_empty()) {
            rows.note(&format!("{} of {count} {way}s", of_few.join(", ")));
        }
    }

    /// Why no device can have answered.
    fn cached(&self, asked: &Asked) -> Option<String> {
        let is_other = asked.direct == Some(true) || asked.is_of(NO_DEVICE) || self.kind > 1;
        let median =
            self.sent.quantiles.iter().find(|(quantile, _)| *quantile == 0.5).map(|(_, value)| *value);
        let typical = median.or(self.sent.mean).filter(|time| time.value > 0.0 && time.value < FASTEST)?;
        (!is_other).then(|| {
            format!(
                "a typical {} takes {}: no device answers so fast, the page cache does",
                WAYS[self.kind.min(2)],
                figure::format::seconds(typical.value)
            )
        })
    }
}

/// A count over a time.
fn over(count: Printed, seconds: Printed) -> Option<Printed> {
    let rate = count.value / seconds.value;
    (seconds.value > 0.0)
        .then(|| Printed { value: rate, off: rate * (count.share() + seconds.share()).min(1.0) })
}

/// `60`, `60s`, `2m`: seconds.
fn duration(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let factor = match &text[end..] {
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number(&text[..end])? * factor)
}

/// `4096B`, `4K`, `4k`, `1024KiB`, `1M`, `4096`: bytes.
fn block(text: &str) -> Option<f64> {
    bytes(text, 1024.0).map(|size| size.value)
}

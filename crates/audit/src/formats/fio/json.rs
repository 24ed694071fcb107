//! fio's JSON (--output-format=json, json+).

use figure::Figure;
use serde_json::Value;

use super::text::numbered;
use super::{Asked, Job, LIMITS, WAYS, Way, block, duration};
use crate::formats::micro::{Rows, exact};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) fn is_document(document: &Value) -> bool {
    let first = document.get("jobs").and_then(|jobs| jobs.get(0));
    document.get("fio version").is_some()
        || first.is_some_and(|job| job.get("jobname").is_some() && job.get("read").is_some())
}

pub(super) fn parse(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for document in documents {
        let all: Vec<&Value> =
            document.get("jobs").and_then(Value::as_array).into_iter().flatten().take(200).collect();
        let name = |job: &Value| job.get("jobname").and_then(Value::as_str).unwrap_or("job").to_owned();
        let jobs: Vec<Job> = all
            .iter()
            .map(|job| {
                let options = Options { own: job.get("job options"), all: document.get("global options") };
                let alike = all.iter().filter(|other| name(other) == name(job)).count();
                // Jobs that are reported one by one are one each.
                let jobs = if alike > 1 { 1.0 } else { options.number("numjobs").unwrap_or(1.0) };
                let ways =
                    WAYS.iter().enumerate().filter_map(|(kind, way)| of_way(kind, job.get(*way)?)).collect();
                let mut asked = options.asked().with(run.command);
                // What waits for the device is in no latency of the writes.
                let syncs = job.get("sync").and_then(|sync| exact(sync.get("total_ios")?));
                if syncs.is_some_and(|syncs| syncs.value > 0.0) {
                    asked.is_limited = Some(true);
                }
                Job { name: name(job), jobs: jobs.max(1.0), asked, ways }
            })
            .collect();
        numbered(jobs).iter().for_each(|job| job.figures(&mut rows, known));
    }
    rows.note("latencies by classes, CPU use, disk statistics");
    rows.figures("has no job that read or wrote")
}

/// Options of a job, and of all.
struct Options<'a> {
    own: Option<&'a Value>,
    all: Option<&'a Value>,
}

impl Options<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        [self.own, self.all].into_iter().flatten().find_map(|options| options.get(name)?.as_str())
    }

    fn number(&self, name: &str) -> Option<f64> {
        number(self.text(name)?)
    }

    fn asked(&self) -> Asked {
        let is_known = self.own.is_some() || self.all.is_some();
        let block = self.text("bs").or(self.text("blocksize")).or(is_known.then_some("4k")).and_then(block);
        let direct = self
            .text("direct")
            .or(self.text("buffered").map(|buffered| if buffered == "0" { "1" } else { "0" }));
        Asked {
            engine: self.text("ioengine").map(str::to_owned),
            // The default, where the options are there and this one is not.
            depth: self.number("iodepth").or(is_known.then_some(1.0)),
            block: [block; 3],
            direct: direct.map(|direct| direct != "0"),
            is_limited: is_known.then(|| LIMITS.iter().any(|limit| self.text(limit).is_some())),
            seconds: self.text("runtime").filter(|_| self.text("time_based").is_some()).and_then(duration),
        }
    }
}

/// Reads, writes or trims of a job; `None` where it did none.
fn of_way(kind: usize, way: &Value) -> Option<Way> {
    let of = |name: &str| way.get(name).and_then(exact);
    let requests = of("total_ios").map(|count| count.value);
    let rate = of("iops").filter(|rate| rate.value > 0.0)?;
    // Latencies are in microseconds before 2.99, and `bw`, which stands alone in old versions, is in KiB.
    let latency = |name: &str| match way.get(format!("{name}_ns")) {
        Some(own) => statistics(own, 1e-9),
        None => way.get(name).map_or(Statistics::default(), |own| statistics(own, 1e-6)),
    };
    let (whole, sent) = (latency("lat"), latency("clat"));
    Some(Way {
        kind,
        rate: Some(rate),
        bandwidth: of("bw_bytes").or(of("bw").map(|kib| kib.times(1024.0))),
        bytes: None,
        requests,
        seconds: of("runtime").map(|time| Printed { off: 0.5, ..time }.times(1e-3)),
        is_of_whole: sent.quantiles.is_empty(),
        whole,
        sent,
    })
}

/// Of a latency, in seconds.
fn statistics(own: &Value, factor: f64) -> Statistics {
    let of = |name: &str| own.get(name).and_then(exact).map(|time| time.times(factor));
    let all = own.get("percentile").and_then(Value::as_object);
    let quantiles = all.into_iter().flatten().filter_map(|(quantile, value)| {
        let value = exact(value)?;
        let quantile = number(quantile).filter(|quantile| *quantile > 0.0)?;
        // The middle of a bucket of 1/64.
        Some((
            (quantile * 1e4).round() / 1e6,
            Printed { value: value.value, off: value.value / 128.0 }.times(factor),
        ))
    });
    let mean = of("mean").filter(|mean| mean.value > 0.0);
    Statistics {
        least: of("min").filter(|_| mean.is_some()),
        mean,
        most: of("max").filter(|_| mean.is_some()),
        deviation: of("stddev").filter(|_| mean.is_some()),
        quantiles: if mean.is_some() { quantiles.collect() } else { Vec::new() },
    }
}

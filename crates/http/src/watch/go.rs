//! Metrics of a server's Go runtime: package runtime/metrics, published by expvar at `/debug/vars` of the
//! sidecar port. A metric that this Go version lacks is unknown.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use figure::{Reading, Unit};
use lab::failure::Failure;
use serde_json::Value;

use super::get::{Bounds, get};
use super::sample::{Kind, Sample, evaluate};
use crate::profile::pprof::{CpuProfile, MAX_BYTES, NotAProfile};

/// Bounds of a request for the metrics: about 10 KB within milliseconds, unless the server has no CPU left.
pub const VARIABLES: Bounds = Bounds { time: Duration::from_secs(5), body: 1 << 20 };
/// Time limit of a profile beyond its own time.
const AFTER: Duration = Duration::from_secs(30);
/// The variable that groups the metrics, if any.
const GROUP: &str = "runtime";
/// Most buckets of a histogram; Go's have about 200.
const MAX_BUCKETS: usize = 4096;

/// Name in runtime/metrics, and that of the sample.
const METRICS: &[(&str, &str, Unit, Kind)] = &[
    (GOROUTINES, "go.goroutines", Unit::ONE, Kind::Level),
    ("/sched/goroutines/runnable:goroutines", "go.goroutines.runnable", Unit::ONE, Kind::Level),
    ("/sched/goroutines/running:goroutines", "go.goroutines.running", Unit::ONE, Kind::Level),
    ("/sched/goroutines/waiting:goroutines", "go.goroutines.waiting", Unit::ONE, Kind::Level),
    ("/sched/goroutines/not-in-go:goroutines", "go.goroutines.not_in_go", Unit::ONE, Kind::Level),
    (GOROUTINES_CREATED, "go.goroutines.created", Unit::ONE, Kind::Counter),
    ("/sched/threads/total:threads", "go.threads", Unit::ONE, Kind::Level),
    ("/sched/gomaxprocs:threads", "go.maxprocs", Unit::ONE, Kind::Level),
    (GC_CYCLES, "go.gc.cycles", Unit::ONE, Kind::Counter),
    (GC_CPU, "go.gc.cpu", Unit::SECONDS, Kind::Counter),
    ("/cpu/classes/gc/mark/assist:cpu-seconds", "go.gc.assist", Unit::SECONDS, Kind::Counter),
    ("/cpu/classes/total:cpu-seconds", "go.cpu.available", Unit::SECONDS, Kind::Counter),
    (HEAP_ALLOCATED, "go.heap.allocated", Unit::BYTES, Kind::Counter),
    ("/gc/heap/allocs:objects", "go.heap.objects_allocated", Unit::ONE, Kind::Counter),
    ("/gc/heap/live:bytes", "go.heap.live", Unit::BYTES, Kind::Level),
    ("/gc/heap/goal:bytes", "go.heap.goal", Unit::BYTES, Kind::Level),
    ("/memory/classes/heap/objects:bytes", "go.heap.objects", Unit::BYTES, Kind::Level),
    ("/memory/classes/heap/stacks:bytes", "go.stacks", Unit::BYTES, Kind::Level),
    ("/memory/classes/total:bytes", "go.memory", Unit::BYTES, Kind::Level),
    ("/sync/mutex/wait/total:seconds", "go.mutex_wait", Unit::SECONDS, Kind::Counter),
];

pub const GOROUTINES: &str = "/sched/goroutines:goroutines";
pub const GOROUTINES_CREATED: &str = "/sched/goroutines-created:goroutines";
/// Bytes allocated on the heap so far.
pub const HEAP_ALLOCATED: &str = "/gc/heap/allocs:bytes";
/// CPU seconds of garbage collection, as estimated at the end of each.
pub const GC_CPU: &str = "/cpu/classes/gc/total:cpu-seconds";
pub const GC_CYCLES: &str = "/gc/cycles/total:gc-cycles";
/// Seconds that goroutines spent runnable: the queue of Go's scheduler.
pub const LATENCIES: &str = "/sched/latencies:seconds";
/// Stop-the-world pauses of garbage collection, in seconds.
pub const PAUSES: &str = "/sched/pauses/total/gc:seconds";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runtime {
    metrics: BTreeMap<String, Value>,
}

pub fn ask(address: SocketAddr) -> Reading<Runtime> {
    let body = get(address, "/debug/vars", VARIABLES);
    body.map_or_else(|failure| Reading::Unknown(failure.to_string()), |body| Runtime::parse(&body))
}

pub fn profile(address: SocketAddr, seconds: u32) -> Result<CpuProfile, ProfileError> {
    let time = Duration::from_secs(u64::from(seconds)) + AFTER;
    let path = format!("/debug/pprof/profile?seconds={seconds}");
    let bounds = Bounds { time, body: MAX_BYTES as usize };
    Ok(CpuProfile::read(&get(address, &path, bounds)?)?)
}

#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error(transparent)]
    Get(#[from] Failure),
    #[error(transparent)]
    NotAProfile(#[from] NotAProfile),
    #[error("the profile did not come in time")]
    Late,
}

impl Runtime {
    pub fn parse(body: &[u8]) -> Reading<Runtime> {
        let Ok(Value::Object(mut variables)) = serde_json::from_slice(body) else {
            return Reading::unknown("/debug/vars: not an object of JSON");
        };
        let metrics = match variables.remove(GROUP) {
            Some(Value::Object(group)) => group,
            _ => variables,
        };
        let metrics: BTreeMap<String, Value> =
            metrics.into_iter().filter(|(name, _)| name.starts_with('/')).collect();
        if metrics.is_empty() {
            return Reading::unknown("/debug/vars: no metrics of Go's runtime");
        }
        Reading::Value(Runtime { metrics })
    }

    pub fn number(&self, name: &str) -> Reading<f64> {
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
        self.metric(name, "number", number)
    }

    pub fn histogram(&self, name: &str) -> Reading<Histogram> {
        self.metric(name, "histogram", Histogram::from_json)
    }

    fn metric<T>(&self, name: &str, kind: &str, parse: impl Fn(&Value) -> Option<T>) -> Reading<T> {
        match self.metrics.get(name) {
            None => Reading::Unknown(format!("{name}: this Go, or the server, does not report it")),
            Some(value) => Reading::or_unknown(parse(value), &format!("{name}: not a {kind}")),
        }
    }
}

pub fn samples(runtime: &Reading<Runtime>) -> Vec<Sample> {
    let sample = |(metric, name, unit, kind): &(&str, &'static str, Unit, Kind)| {
        let value = evaluate(runtime, |runtime| runtime.number(metric));
        Sample { name: (*name).into(), unit: unit.clone(), kind: *kind, value }
    };
    METRICS.iter().map(sample).collect()
}

/// Counts of values in `[low, high)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Lower and upper bound, which may be infinite, and count; ascending.
    pub buckets: Vec<(f64, f64, u64)>,
}

impl Histogram {
    /// Parses `[{"low": …, "high": …, "count": …}, …]` with null for infinite bounds, or the form of
    /// runtime/metrics: `{"counts": […], "buckets": […]}` with one more bound than counts.
    fn from_json(value: &Value) -> Option<Histogram> {
        let buckets: Option<Vec<_>> = if let Some(list) = value.as_array() {
            let parse = |bucket: &Value| {
                let (low, high) = bounds(bucket.get("low"), bucket.get("high"))?;
                Some((low, high, bucket.get("count")?.as_u64()?))
            };
            list.iter().take(MAX_BUCKETS).map(parse).collect()
        } else {
            let (counts, edges) = (value.get("counts")?.as_array()?, value.get("buckets")?.as_array()?);
            if edges.len() != counts.len() + 1 {
                return None;
            }
            let parse = |(at, count): (usize, &Value)| {
                let (low, high) = bounds(edges.get(at), edges.get(at + 1))?;
                Some((low, high, count.as_u64()?))
            };
            counts.iter().take(MAX_BUCKETS).enumerate().map(parse).collect()
        };
        let buckets = buckets?;
        let ascending = buckets.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        // An empty range would share its lower bound with the next bucket, and the bound identifies a bucket.
        (ascending && buckets.iter().all(|(low, high, _)| low < high)).then_some(Histogram { buckets })
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, (_, _, count)| sum.saturating_add(*count))
    }

    /// Counts since an earlier histogram. Buckets are matched by lower bound: one may appear only once it is
    /// not empty. Unknown if a count decreased.
    pub fn since(&self, before: &Histogram) -> Reading<Histogram> {
        let count_before =
            |low: f64| before.buckets.iter().find(|bucket| bucket.0 == low).map_or(0, |bucket| bucket.2);
        let gone = before.buckets.iter().any(|(low, _, count)| {
            *count > 0 && !self.buckets.iter().any(|(now, _, more)| now == low && more >= count)
        });
        if gone {
            return Reading::unknown("the histogram went backwards: the server was restarted");
        }
        let growth = |(low, high, count): &(f64, f64, u64)| {
            Some((*low, *high, count.checked_sub(count_before(*low))?))
        };
        let buckets: Option<Vec<_>> = self.buckets.iter().map(growth).collect();
        let grown = buckets.map(|buckets| Histogram {
            buckets: buckets.into_iter().filter(|bucket| bucket.2 > 0).collect(),
        });
        Reading::or_unknown(grown, "the histogram has two buckets of one lower bound")
    }

    /// The bucket of a quantile (0 to 1); `None` if empty.
    pub fn quantile(&self, q: f64) -> Option<(f64, f64)> {
        let count = self.count();
        if count == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        let mut below = 0u64;
        let reached = |(_, _, count): &&(f64, f64, u64)| {
            below = below.saturating_add(*count);
            below >= rank
        };
        self.buckets.iter().find(reached).map(|(low, high, _)| (*low, *high))
    }
}

/// Missing or null bounds are infinite.
fn bounds(low: Option<&Value>, high: Option<&Value>) -> Option<(f64, f64)> {
    let bound = |value: Option<&Value>, infinite: f64| match value {
        None | Some(Value::Null) => Some(infinite),
        Some(Value::String(word)) => word.parse::<f64>().ok().filter(|bound| !bound.is_nan()),
        Some(value) => value.as_f64(),
    };
    Some((bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?))
}

#[cfg(test)]
mod unit {
    use super::super::sample::{changes, value};
    use super::*;

    const FIRST: &[u8] = include_bytes!("../../tests/data/vars-1.json");
    const SECOND: &[u8] = include_bytes!("../../tests/data/vars-2.json");

    fn runtime(body: &[u8]) -> Runtime {
        Runtime::parse(body).into_value().unwrap()
    }

    #[test]
    fn a_server_under_load_has_all_metrics() {
        let (before, after) = (runtime(FIRST), runtime(SECOND));
        let samples_of = |runtime: &Runtime| samples(&Reading::Value(runtime.clone()));
        let changed = changes(&samples_of(&before), &samples_of(&after));
        assert!(changed.iter().all(|sample| sample.value.value().is_some()), "{changed:?}");
        let change = |name: &str| value(&changed, name).into_value().unwrap();
        // 200 connections with a goroutine each, and a second one while a request is answered.
        assert!((200.0..=420.0).contains(&change("go.goroutines")), "{}", change("go.goroutines"));
        let states = ["runnable", "running", "waiting", "not_in_go"]
            .map(|state| change(&format!("go.goroutines.{state}")));
        assert!((states.iter().sum::<f64>() - change("go.goroutines")).abs() < 50.0, "{states:?}");
        // One goroutine per request: some 100 000 in 5 s.
        assert!(change("go.goroutines.created") > 100_000.0 && change("go.gc.cycles") > 10.0);
        assert_eq!(change("go.maxprocs"), 2.0);
        let waits = |runtime: &Runtime| runtime.histogram(LATENCIES).into_value().unwrap();
        let waited = waits(&after).since(&waits(&before)).into_value().unwrap();
        assert!(waited.count() > 1000);
        let (low, high) = waited.quantile(0.5).unwrap();
        assert!(0.0 <= low && low < high && high < 1.0, "{low} to {high} s");
    }

    #[test]
    fn a_missing_metric_does_not_affect_the_others() {
        let old = runtime(
            br#"{"cmdline": ["x"], "/sched/goroutines:goroutines": 7, "/gc/cycles/total:gc-cycles": "many"}"#,
        );
        assert_eq!(old.number("/sched/goroutines:goroutines"), Reading::Value(7.0));
        assert_eq!(
            old.number("/gc/cycles/total:gc-cycles").reason(),
            Some("/gc/cycles/total:gc-cycles: not a number")
        );
        let samples = samples(&Reading::Value(old.clone()));
        assert_eq!(value(&samples, "go.goroutines"), Reading::Value(7.0));
        assert!(
            value(&samples, "go.goroutines.running").reason().unwrap().contains("this Go, or the server")
        );
        assert!(old.histogram(LATENCIES).reason().is_some());
        for body in [&b""[..], b"[]", b"{}", br#"{"memstats": {}}"#, br#"{"runtime": 5}"#, &[b'['; 100_000]] {
            assert!(Runtime::parse(body).reason().is_some());
        }
    }

    #[test]
    fn both_forms_of_a_histogram_are_read() {
        let list: Value = serde_json::from_str(
            r#"[{"low": null, "high": 0, "count": 1}, {"low": 0, "high": 0.5, "count": 6}, {"low": 1, "high": null, "count": 3}]"#,
        )
        .unwrap();
        let arrays: Value =
            serde_json::from_str(r#"{"counts": [1, 6, 0, 3], "buckets": ["-Inf", 0, 0.5, 1, "+Inf"]}"#)
                .unwrap();
        let (list, arrays) = (Histogram::from_json(&list).unwrap(), Histogram::from_json(&arrays).unwrap());
        for histogram in [&list, &arrays] {
            assert_eq!(histogram.count(), 10);
            assert_eq!(histogram.quantile(0.0), Some((f64::NEG_INFINITY, 0.0)));
            assert_eq!(histogram.quantile(0.5), Some((0.0, 0.5)));
            assert_eq!(histogram.quantile(0.99), Some((1.0, f64::INFINITY)));
        }
        for damaged in [
            r#"{"counts": [1], "buckets": [0]}"#,
            r#"[{"low": 1, "high": 0, "count": 1}]"#,
            "[{}]",
            "5",
            r#"[{"count": -1}]"#,
            r#"{"counts": [2, 0], "buckets": [0, 0, 1]}"#,
        ] {
            assert_eq!(Histogram::from_json(&serde_json::from_str(damaged).unwrap()), None, "{damaged}");
        }
    }

    #[test]
    fn histograms_grow_and_a_restart_is_detected() {
        let histogram = |buckets: &[(f64, f64, u64)]| Histogram { buckets: buckets.to_vec() };
        let (before, after) = (histogram(&[(0.0, 1.0, 5)]), histogram(&[(0.0, 1.0, 7), (1.0, 2.0, 4)]));
        assert_eq!(after.since(&before), Reading::Value(histogram(&[(0.0, 1.0, 2), (1.0, 2.0, 4)])));
        assert!(before.since(&after).reason().is_some());
        let twice = |first, second| histogram(&[(0.0, 0.0, first), (0.0, 1.0, second)]);
        let growth = twice(5, 1).since(&twice(2, 0));
        assert_eq!(growth.reason(), Some("the histogram has two buckets of one lower bound"));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn a_closed_port_is_named_in_the_error() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let reason = ask(closed).reason().map(str::to_owned).unwrap();
        assert!(reason.starts_with(&format!("http://{closed}/debug/vars: ")), "{reason}");
        assert!(profile(closed, 1).unwrap_err().to_string().contains("/debug/pprof/profile?seconds=1"));
    }
}

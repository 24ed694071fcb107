//! The Go runtime of a server, as it tells of itself: package runtime/metrics, published through expvar at `/debug/vars` of the port
//! beside the server. What a version of Go does not know is unknown.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use figure::{Reading, Unit};
use serde_json::Value;

use super::get::{Bounds, get};
use super::sample::{Kind, Sample};
use crate::profile::pprof::{CpuProfile, MAX_BYTES};

/// Bounds of a look at the metrics: some 10 KB, in some milliseconds, unless the server has no CPU left for it.
pub const VARIABLES: Bounds = Bounds { time: Duration::from_secs(5), body: 1 << 20 };
/// What a profile may take beyond its own time.
const AFTER: Duration = Duration::from_secs(30);
/// The variable that holds the metrics, where they do not stand by themselves.
const GROUP: &str = "runtime";
/// The most buckets of a histogram; Go's have some 200.
const MOST_BUCKETS: usize = 4096;

/// A number of runtime/metrics that is sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Metric {
    /// Its name there.
    name: &'static str,
    /// Its name here.
    here: &'static str,
    unit: Unit,
    kind: Kind,
}

const fn level(name: &'static str, here: &'static str, unit: Unit) -> Metric {
    Metric { name, here, unit, kind: Kind::Level }
}

const fn counter(name: &'static str, here: &'static str, unit: Unit) -> Metric {
    Metric { name, here, unit, kind: Kind::Counter }
}

const METRICS: &[Metric] = &[
    level(GOROUTINES, "go.goroutines", Unit::ONE),
    level("/sched/goroutines/runnable:goroutines", "go.goroutines.runnable", Unit::ONE),
    level("/sched/goroutines/running:goroutines", "go.goroutines.running", Unit::ONE),
    level("/sched/goroutines/waiting:goroutines", "go.goroutines.waiting", Unit::ONE),
    level("/sched/goroutines/not-in-go:goroutines", "go.goroutines.not_in_go", Unit::ONE),
    counter(GOROUTINES_CREATED, "go.goroutines.created", Unit::ONE),
    level("/sched/threads/total:threads", "go.threads", Unit::ONE),
    level("/sched/gomaxprocs:threads", "go.maxprocs", Unit::ONE),
    counter(GC_CYCLES, "go.gc.cycles", Unit::ONE),
    counter(GC_CPU, "go.gc.cpu", Unit::SECONDS),
    counter("/cpu/classes/gc/mark/assist:cpu-seconds", "go.gc.assist", Unit::SECONDS),
    counter("/cpu/classes/total:cpu-seconds", "go.cpu.available", Unit::SECONDS),
    counter(HEAP_ALLOCATED, "go.heap.allocated", Unit::BYTES),
    counter("/gc/heap/allocs:objects", "go.heap.objects_allocated", Unit::ONE),
    level("/gc/heap/live:bytes", "go.heap.live", Unit::BYTES),
    level("/gc/heap/goal:bytes", "go.heap.goal", Unit::BYTES),
    level("/memory/classes/heap/objects:bytes", "go.heap.objects", Unit::BYTES),
    level("/memory/classes/heap/stacks:bytes", "go.stacks", Unit::BYTES),
    level("/memory/classes/total:bytes", "go.memory", Unit::BYTES),
    counter("/sync/mutex/wait/total:seconds", "go.mutex_wait", Unit::SECONDS),
];

/// Goroutines that there are.
pub const GOROUTINES: &str = "/sched/goroutines:goroutines";
/// Goroutines that were ever made.
pub const GOROUTINES_CREATED: &str = "/sched/goroutines-created:goroutines";
/// Bytes that were ever allocated on the heap.
pub const HEAP_ALLOCATED: &str = "/gc/heap/allocs:bytes";
/// CPU seconds of collections of the heap, as estimated at the end of each.
pub const GC_CPU: &str = "/cpu/classes/gc/total:cpu-seconds";
/// Collections of the heap.
pub const GC_CYCLES: &str = "/gc/cycles/total:gc-cycles";
/// Seconds that goroutines were ready to run and did not: the queue of Go's scheduler.
pub const LATENCIES: &str = "/sched/latencies:seconds";
/// Seconds for which garbage collection stopped the world.
pub const PAUSES: &str = "/sched/pauses/total/gc:seconds";

/// What a Go runtime told of itself at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runtime {
    metrics: BTreeMap<String, Value>,
}

/// Asks the port beside a server.
///
/// # Errors
/// Unknown if it does not answer, or if what it answers is none of expvar's.
pub fn ask(address: SocketAddr) -> Reading<Runtime> {
    match get(address, "/debug/vars", VARIABLES) {
        Ok(body) => Runtime::parse(&body),
        Err(error) => Reading::Unknown(error.to_string()),
    }
}

/// Has the server profile itself for some whole seconds; it answers when they are over.
///
/// # Errors
/// A sentence that says what went wrong.
pub fn profile(address: SocketAddr, seconds: u32) -> Result<CpuProfile, String> {
    let time = Duration::from_secs(u64::from(seconds)) + AFTER;
    let path = format!("/debug/pprof/profile?seconds={seconds}");
    let bounds = Bounds { time, body: MAX_BYTES as usize };
    let packed = get(address, &path, bounds).map_err(|error| error.to_string())?;
    CpuProfile::read(&packed).map_err(|error| error.to_string())
}

impl Runtime {
    /// Reads what `/debug/vars` answers.
    pub fn parse(body: &[u8]) -> Reading<Runtime> {
        let Ok(Value::Object(mut all)) = serde_json::from_slice(body) else {
            return Reading::unknown("/debug/vars: not an object of JSON");
        };
        let metrics = match all.remove(GROUP) {
            Some(Value::Object(group)) => group,
            _ => all,
        };
        let metrics: BTreeMap<String, Value> =
            metrics.into_iter().filter(|(name, _)| name.starts_with('/')).collect();
        if metrics.is_empty() {
            return Reading::unknown("/debug/vars: no metrics of Go's runtime");
        }
        Reading::Value(Runtime { metrics })
    }

    /// A metric that is one number.
    pub fn number(&self, name: &str) -> Reading<f64> {
        match self.metrics.get(name) {
            None => Reading::Unknown(format!("{name}: this Go, or the server, does not tell it")),
            Some(value) => {
                let number = value.as_f64().filter(|number| number.is_finite());
                Reading::or_unknown(number, &format!("{name}: not a number"))
            }
        }
    }

    /// A metric that is a histogram.
    pub fn histogram(&self, name: &str) -> Reading<Histogram> {
        match self.metrics.get(name) {
            None => Reading::Unknown(format!("{name}: this Go, or the server, does not tell it")),
            Some(value) => Reading::or_unknown(Histogram::of(value), &format!("{name}: not a histogram")),
        }
    }
}

/// All numbers of a look, or why each is not known.
pub fn samples(runtime: &Reading<Runtime>) -> Vec<Sample> {
    let of = |metric: &Metric| {
        let value = match runtime {
            Reading::Value(runtime) => runtime.number(metric.name),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        Sample { name: metric.here.into(), unit: metric.unit.clone(), kind: metric.kind, value }
    };
    METRICS.iter().map(of).collect()
}

/// Counts of what lay in `[low, high)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Lower and upper bound, which may be infinite, and count; ascending.
    pub buckets: Vec<(f64, f64, u64)>,
}

impl Histogram {
    /// Of `[{"low": …, "high": …, "count": …}, …]`, where a bound that is null is infinite; or as runtime/metrics has it,
    /// `{"counts": […], "buckets": […]}` with one bound more than counts.
    fn of(value: &Value) -> Option<Histogram> {
        let buckets: Option<Vec<_>> = if let Some(list) = value.as_array() {
            let one = |bucket: &Value| {
                let (low, high) = bounds(bucket.get("low"), bucket.get("high"))?;
                Some((low, high, bucket.get("count")?.as_u64()?))
            };
            list.iter().take(MOST_BUCKETS).map(one).collect()
        } else {
            let (counts, edges) = (value.get("counts")?.as_array()?, value.get("buckets")?.as_array()?);
            if edges.len() != counts.len() + 1 {
                return None;
            }
            let one = |(at, count): (usize, &Value)| {
                let (low, high) = bounds(edges.get(at), edges.get(at + 1))?;
                Some((low, high, count.as_u64()?))
            };
            counts.iter().take(MOST_BUCKETS).enumerate().map(one).collect()
        };
        let buckets = buckets?;
        let ascending = buckets.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        // One that could hold nothing shares its lower bound with the next, by which buckets are known.
        (ascending && buckets.iter().all(|(low, high, _)| low < high)).then_some(Histogram { buckets })
    }

    /// What was counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |all, (_, _, count)| all.saturating_add(*count))
    }

    /// What was counted since an earlier look: by lower bounds, as a bucket may be shown only once it holds something. Unknown if a
    /// count ran backwards.
    pub fn since(&self, before: &Histogram) -> Reading<Histogram> {
        let then =
            |low: f64| before.buckets.iter().find(|bucket| bucket.0 == low).map_or(0, |bucket| bucket.2);
        let gone = before.buckets.iter().any(|(low, _, count)| {
            *count > 0 && !self.buckets.iter().any(|(now, _, more)| now == low && more >= count)
        });
        if gone {
            return Reading::unknown("the histogram ran backwards: the server was started anew");
        }
        let grown =
            |(low, high, count): &(f64, f64, u64)| Some((*low, *high, count.checked_sub(then(*low))?));
        let buckets: Option<Vec<_>> = self.buckets.iter().map(grown).collect();
        let grown = buckets.map(|buckets| Histogram {
            buckets: buckets.into_iter().filter(|bucket| bucket.2 > 0).collect(),
        });
        Reading::or_unknown(grown, "the histogram has two buckets of one lower bound")
    }

    /// The bounds of the bucket that a quantile lies in, 0 to 1; `None` where nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<(f64, f64)> {
        let all = self.count();
        if all == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * all as f64).ceil() as u64).clamp(1, all);
        let mut below = 0u64;
        let reached = |(_, _, count): &&(f64, f64, u64)| {
            below = below.saturating_add(*count);
            below >= rank
        };
        self.buckets.iter().find(reached).map(|(low, high, _)| (*low, *high))
    }
}

/// The bounds of a bucket; one that is missing or null is infinite.
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
    fn a_server_under_load_tells_of_itself() {
        let (before, after) = (runtime(FIRST), runtime(SECOND));
        let look = |runtime: &Runtime| samples(&Reading::Value(runtime.clone()));
        let changed = changes(&look(&before), &look(&after));
        assert!(changed.iter().all(|sample| sample.value.value().is_some()), "{changed:?}");
        let of = |name: &str| value(&changed, name).into_value().unwrap();
        // 200 connections, each with its goroutine, and a second where a request is being answered.
        assert!((200.0..=420.0).contains(&of("go.goroutines")), "{}", of("go.goroutines"));
        let states = ["runnable", "running", "waiting", "not_in_go"]
            .map(|state| of(&format!("go.goroutines.{state}")));
        assert!((states.iter().sum::<f64>() - of("go.goroutines")).abs() < 50.0, "{states:?}");
        // One goroutine is created for each request: in 5 s some hundred thousand.
        assert!(of("go.goroutines.created") > 100_000.0 && of("go.gc.cycles") > 10.0);
        assert_eq!(of("go.maxprocs"), 2.0);
        let waits = |runtime: &Runtime| runtime.histogram(LATENCIES).into_value().unwrap();
        let waited = waits(&after).since(&waits(&before)).into_value().unwrap();
        assert!(waited.count() > 1000);
        let (low, high) = waited.quantile(0.5).unwrap();
        assert!(0.0 <= low && low < high && high < 1.0, "{low} to {high} s");
    }

    #[test]
    fn a_metric_that_lacks_is_unknown_and_the_others_are_known() {
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
        for none in [&b""[..], b"[]", b"{}", br#"{"memstats": {}}"#, br#"{"runtime": 5}"#, &[b'['; 100_000]] {
            assert!(Runtime::parse(none).reason().is_some());
        }
    }

    #[test]
    fn both_forms_of_a_histogram_are_read() {
        let one: Value = serde_json::from_str(
            r#"[{"low": null, "high": 0, "count": 1}, {"low": 0, "high": 0.5, "count": 6}, {"low": 1, "high": null, "count": 3}]"#,
        )
        .unwrap();
        let other: Value =
            serde_json::from_str(r#"{"counts": [1, 6, 0, 3], "buckets": ["-Inf", 0, 0.5, 1, "+Inf"]}"#)
                .unwrap();
        let (one, other) = (Histogram::of(&one).unwrap(), Histogram::of(&other).unwrap());
        for histogram in [&one, &other] {
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
            assert_eq!(Histogram::of(&serde_json::from_str(damaged).unwrap()), None, "{damaged}");
        }
    }

    #[test]
    fn histograms_grow_and_a_new_start_is_seen() {
        let of = |buckets: &[(f64, f64, u64)]| Histogram { buckets: buckets.to_vec() };
        let (before, after) = (of(&[(0.0, 1.0, 5)]), of(&[(0.0, 1.0, 7), (1.0, 2.0, 4)]));
        assert_eq!(after.since(&before), Reading::Value(of(&[(0.0, 1.0, 2), (1.0, 2.0, 4)])));
        assert!(before.since(&after).reason().is_some());
        let twice = |first, second| of(&[(0.0, 0.0, first), (0.0, 1.0, second)]);
        assert!(twice(5, 1).since(&twice(2, 0)).reason().is_some_and(|why| why.contains("one lower bound")));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn a_port_where_nobody_is_says_so() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let reason = ask(closed).reason().map(str::to_owned).unwrap();
        assert!(reason.starts_with(&format!("http://{closed}/debug/vars: ")), "{reason}");
        assert!(profile(closed, 1).unwrap_err().contains("/debug/pprof/profile?seconds=1"));
    }
}

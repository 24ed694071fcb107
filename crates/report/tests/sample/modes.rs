//! Records of the modes beyond bandwidth: curves, matrices, figures computed from them; with points of every
//! verdict and every status. Numbers are made up, shapes are those of real machines.

use figure::evidence::*;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{
    Better, Conditions, Convention, Evidence, Explanation, Figure, Limit, Outcome, Record, Severity, Status,
    Unit,
};

use super::{HOSTILE, check, disturb, empty, finding, judged, measured, name, number, on, planned, rejudge};

/// A figure of nine rounds around `value`, on a curve or not.
pub fn point(id: &str, name: &str, unit: Unit, value: f64) -> Figure {
    let better = if unit == Unit::NANOSECONDS { Better::Lower } else { Better::Higher };
    let convention = (unit == Unit::GB_PER_S).then_some(Convention::EstimatedTraffic);
    let mut figure = Figure { convention, ..planned(id, name, unit, better) };
    figure.conditions.set(SIMD, "avx512".into());
    let samples = |round: i32| vec![value * (1.0 + 0.003 * (f64::from(round) - 4.0))];
    let figure = measured(figure, (0..9).map(samples), &Evidence::default());
    judged(figure, vec![check("placement-held", Outcome::Pass, "on its CPU", None)])
}

fn bytes(value: f64) -> Coordinate {
    number(value, Some(Unit::BYTES))
}

fn suspect(figure: &mut Figure) {
    let (detail, fix) = ("3.1 % of the CPU time was stolen", "take a quieter host");
    rejudge(figure, vec![check("steal", Outcome::Warn, detail, Some(fix))]);
}

fn invalid(figure: &mut Figure, id: &str, detail: &str) {
    rejudge(figure, vec![check(id, Outcome::Fail, detail, None)]);
}

fn missing(figure: &mut Figure, reason: &str) {
    let mut without = planned(&figure.id, &figure.name, figure.unit.clone(), figure.better);
    (without.series, without.at) = (figure.series.take(), std::mem::take(&mut figure.at));
    (without.convention, without.limit) = (figure.convention, figure.limit.take());
    without.conditions = std::mem::take(&mut figure.conditions);
    *figure = without.not_available(reason);
}

/// A size as ids have it: `64K`.
fn short(bytes: f64) -> String {
    match bytes {
        b if b >= f64::from(1 << 30) => format!("{}G", b / f64::from(1 << 30)),
        b if b >= f64::from(1 << 20) => format!("{}M", b / f64::from(1 << 20)),
        b => format!("{}K", b / 1024.0),
    }
}

fn record(figures: Vec<Figure>) -> Record {
    Record { figures, ..empty() }
}

/// `memory mix`.
pub fn mix() -> Record {
    let mut figures: Vec<Figure> =
        [("1:0", 40.1), ("3:1", 37.2), ("2:1", 36.6), ("1:1", 33.9), ("0:1", 21.4), ("triad-like", 36.1)]
            .into_iter()
            .map(|(mix, rate)| {
                let title = format!("{mix} reads:writes");
                let figure = point(&format!("memory.mix.{mix}"), &title, Unit::GB_PER_S, rate);
                let mut figure = on(figure, "memory.mix", &[("mix", name(mix))]);
                figure.conditions.set(THREADS, 2.0);
                figure.limit = Some(Limit { value: 42.7, basis: "2 x DDR4-2666".into() });
                let share = rate / 0.401;
                let text = format!("{rate} GB/s are {share:.0} % of all reads.");
                figure.explanations = vec![Explanation::of(text)];
                figure
            })
            .collect();
    suspect(&mut figures[2]);
    record(figures)
}

/// `memory scaling` on four CPUs of two cores; more threads than that share them unequally.
pub fn scaling() -> Record {
    let mut figures = Vec::new();
    for (binding, rates) in [
        ("cores", [12.1, 21.9, 14.4, 22.0]),
        ("threads", [12.0, 21.8, 22.1, 22.3]),
        ("packed", [12.1, 12.9, 19.0, 22.2]),
        ("cores.dynamic", [12.0, 21.7, 21.9, 21.9]),
    ] {
        for (threads, rate) in (1..).zip(rates) {
            let id = format!("memory.scaling.{binding}.{threads}");
            let figure = point(&id, &format!("{threads} threads, {binding}"), Unit::GB_PER_S, rate);
            let at = [("threads", number(f64::from(threads), None))];
            let mut figure = on(figure, &format!("memory.scaling.{binding}"), &at);
            figure.conditions.set(THREADS, f64::from(threads));
            figure.conditions.set(ARRAY_BYTES, super::ARRAY);
            figure.limit = Some(Limit { value: 42.7, basis: "2 x DDR4-2666".into() });
            figures.push(figure);
        }
    }
    let detail = "two of 3 threads share a core and are slower; the third waits 24 %";
    invalid(&mut figures[2], "unequal-cores", detail);
    figures[2].explanations = vec![Explanation::of("3 threads on 2 cores: equal shares, unequal cores.")];
    missing(&mut figures[8], "no SMT: there are no siblings to pack");
    missing(&mut figures[9], "no SMT: there are no siblings to pack");
    let mut whole = point("memory.scaling.sockets", "triad, one socket after the other", Unit::GB_PER_S, 1.0);
    whole.series = Some("memory.scaling.sockets".into());
    missing(&mut whole, "one socket: the same as memory.scaling.cores");
    figures.push(whole);
    let mut knee = point("memory.scaling.cores.knee", "threads that reach 95 %, cores", Unit::ONE, 2.0);
    knee.derived_from = vec!["memory.scaling.cores.2".into()];
    knee.rounds.clear();
    knee.interval = None;
    figures.push(knee);
    record(figures)
}

/// `memory ladder`, three sizes for each doubling, with edges.
pub fn ladder() -> Record {
    let mut figures = Vec::new();
    for step in 0..=48 {
        let size = (16384.0 * 2f64.powf(f64::from(step) / 3.0) / 64.0).round() * 64.0;
        let rate = match size {
            s if s <= 48.0 * 1024.0 => 310.0,
            s if s <= 2.1e6 => 160.0,
            s if s <= 3.4e7 => 60.0,
            _ => 24.0,
        };
        let rate = rate * (1.0 - 0.004 * f64::from(step % 5));
        let id = format!("memory.ladder.{}", short(size));
        let mut figure =
            on(point(&id, "read", Unit::GB_PER_S, rate), "memory.ladder", &[("array", bytes(size))]);
        figure.convention = Some(Convention::StreamCounted);
        figure.conditions.set(THREADS, 2.0);
        let level = if rate > 100.0 { 1 } else { 2 };
        let text = format!("{rate:.1} GB/s: fits the L{level} cache.");
        figure.explanations = vec![Explanation::of(text)];
        figures.push(figure);
    }
    suspect(&mut figures[9]);
    invalid(&mut figures[30], "rounds-agree", "rounds differ by 41 %");
    figures[46..].iter_mut().for_each(|figure| missing(figure, "needs 1.1 GiB, 1.0 GiB are available"));
    for (level, size, advertised) in [("L1", 49152.0, 49152.0), ("L2", 2_031_616.0, 2_097_152.0)] {
        let id = format!("memory.ladder.edge.{level}");
        let mut edge = point(&id, &format!("edge of {level}"), Unit::BYTES, size);
        edge.better = Better::Neither;
        edge.derived_from = vec!["memory.ladder.64K".into()];
        edge.limit = Some(Limit { value: advertised, basis: format!("{level} by sysfs") });
        figures.push(edge);
    }
    let mut edge = planned("memory.ladder.edge.L3", "edge of L3", Unit::BYTES, Better::Neither);
    edge.derived_from = vec!["memory.ladder.1G".into()];
    let reason = "no step between 24 MiB and 1 GiB: the advertised L3 of 300 MiB belongs to the host";
    figures.push(edge.not_available(reason));
    record(figures)
}

/// `memory latency`: two orders, two sorts of pages.
pub fn latency() -> Record {
    let mut figures = Vec::new();
    for (series, factor) in [("random.huge", 1.0), ("random.small", 1.3), ("pages.huge", 0.8)] {
        for step in 0..16 {
            let size = 16384.0 * 2f64.powi(step);
            let latency = match step {
                0..2 => 1.6,
                2..7 => 4.9 + 0.1 * f64::from(step),
                7..11 => 22.0 * factor + f64::from(step),
                _ => 96.0 * factor + f64::from(step) / 3.0,
            };
            let id = format!("memory.latency.{series}.{}", short(size));
            let figure = point(&id, "load", Unit::NANOSECONDS, latency);
            let mut figure = on(figure, &format!("memory.latency.{series}"), &[("array", bytes(size))]);
            figure.conditions.set(THREADS, 1.0);
            figure.conditions.set(CPUS, vec![0.0]);
            figures.push(figure);
        }
    }
    suspect(&mut figures[4]);
    suspect(&mut figures[22]);
    disturb(&mut figures[5], "3 % stolen");
    invalid(&mut figures[47], "page-size", "31 % of the array in huge pages");
    for figure in &mut figures[30..32] {
        missing(figure, "needs 512 MiB in small pages, a limit leaves 400 MiB");
    }
    let mut cost = point("memory.latency.tlb", "TLB cost at 256 MiB, small pages", Unit::NANOSECONDS, 28.8);
    cost.derived_from = vec!["memory.latency.random.small.256M".into()];
    figures.push(cost);
    record(figures)
}

/// `memory loaded`: latency with the bandwidth at which it was measured, for two mixes.
pub fn loaded() -> Record {
    let mut figures = Vec::new();
    let delays = [0.0, 2.0, 8.0, 15.0, 50.0, 100.0, 200.0, 300.0, 500.0, 1000.0, 3500.0, 20000.0];
    for (mix, most) in [("1:0", 24.0f64), ("2:1", 19.5)] {
        for delay in delays {
            let rate = most * 30.0 / (30.0 + delay) + 0.2;
            let latency = 92.0 + 90.0 * (rate / most).powi(6);
            let at = [("delay", number(delay, None))];
            let id = format!("memory.loaded.{mix}.d{delay}");
            let series = format!("memory.loaded.{mix}");
            figures.push(on(point(&id, "loaded latency", Unit::NANOSECONDS, latency), &series, &at));
            let id = format!("{id}.bandwidth");
            let series = format!("{series}.bandwidth");
            figures.push(on(point(&id, "traffic beside it", Unit::GB_PER_S, rate), &series, &at));
        }
    }
    suspect(&mut figures[2]);
    invalid(&mut figures[26], "stragglers", "the slowest injector took 1.9 x the median");
    for figure in &mut figures[46..] {
        missing(figure, "stopped before its first round");
        figure.status = Status::Interrupted;
    }
    record(figures)
}

/// `memory alignment`: a matrix for each kernel and level.
pub fn alignment() -> Record {
    let mut figures = Vec::new();
    for (series, rate) in [("triad.L1", 190.0), ("triad.memory", 22.0)] {
        for offset in [0.0, 64.0, 1024.0, 2048.0, 4096.0, 8192.0] {
            for misalignment in [0.0, 8.0, 32.0] {
                let aliased = if offset % 4096.0 == 0.0 && misalignment > 0.0 { 0.7 } else { 1.0 };
                let split = if misalignment > 0.0 { 0.9 } else { 1.0 };
                let id = format!("memory.alignment.{series}.{offset}.{misalignment}");
                let at = [("offset", bytes(offset)), ("misalignment", bytes(misalignment))];
                let figure = point(&id, "triad", Unit::GB_PER_S, rate * aliased * split);
                figures.push(on(figure, &format!("memory.alignment.{series}"), &at));
            }
        }
    }
    suspect(&mut figures[7]);
    record(figures)
}

/// `memory c2c`: a value for each class of CPU pair.
pub fn c2c() -> Record {
    let mut figures = Vec::new();
    for (state, latencies) in [("hit", [21.3, 58.0, 131.0]), ("hitm", [23.1, 64.5, 142.0])] {
        for (class, latency) in ["same core", "same L3", "other socket"].into_iter().zip(latencies) {
            let id = format!("memory.c2c.{state}.{}", class.replace(' ', "-"));
            let figure = point(&id, "a line of another core", Unit::NANOSECONDS, latency);
            figures.push(on(figure, &format!("memory.c2c.{state}"), &[("pair", name(class))]));
        }
    }
    for figure in [0, 3, 2, 5] {
        let reason = if figure % 3 == 0 { "no SMT: each core has one CPU" } else { "one socket" };
        missing(&mut figures[figure], reason);
    }
    suspect(&mut figures[4]);
    record(figures)
}

/// `memory numa` on `nodes` nodes, the last of them without CPUs.
pub fn numa(nodes: u32) -> Record {
    let mut figures = Vec::new();
    for what in ["bandwidth", "latency"] {
        for cpu in 0..nodes - 1 {
            for memory in 0..nodes {
                let distance = f64::from(cpu.abs_diff(memory));
                let (unit, value) = match what {
                    "latency" => (Unit::NANOSECONDS, 92.0 + 48.0 * distance),
                    _ => (Unit::GB_PER_S, 110.0 / (1.0 + distance)),
                };
                let id = format!("memory.numa.{what}.{cpu}.{memory}");
                let places =
                    [("cpu", name(&format!("node {cpu}"))), ("memory", name(&format!("node {memory}")))];
                figures.push(on(point(&id, what, unit, value), &format!("memory.numa.{what}"), &places));
            }
        }
    }
    invalid(&mut figures[1], "numa-placement", "12 % of the pages lie on node 0");
    missing(&mut figures[2], "node 2 has 64 MiB free");
    record(figures)
}

/// `memory counters`: kernels, their stores, and the parts of their traffic.
pub fn counters() -> Record {
    let mut figures = Vec::new();
    for (kernel, stores, read, write) in
        [("copy", "regular", 90.6, 46.1), ("copy", "nt", 90.6, 93.2), ("triad", "nt", 131.0, 66.0)]
    {
        for (what, rate) in [("read", read), ("write", write), ("total", read + write)] {
            let id = format!("memory.counters.{kernel}.{stores}.{what}");
            let figure = point(&id, &format!("{kernel}, {what}"), Unit::GB_PER_S, rate);
            let axes = [("kernel", name(kernel)), ("stores", name(stores)), ("traffic", name(what))];
            let mut figure = on(figure, "memory.counters", &axes);
            figure.convention = Some(Convention::MeasuredTraffic);
            figure.conditions.set(KERNEL, kernel.into());
            figure.conditions.set(STORES, stores.into());
            figures.push(figure);
        }
    }
    suspect(&mut figures[4]);
    record(figures)
}

/// `memory cross-check`: each tool next to truebench.
pub fn cross() -> Record {
    let mut figures = Vec::new();
    for (tool, factor) in [("stream", 1.0), ("likwid-bench", 1.02)] {
        for (kernel, rate) in [("copy", 21.0), ("triad", 24.0)] {
            for (program, rate) in [(tool, rate * factor), ("truebench", rate)] {
                let id = format!("memory.cross.{tool}.{kernel}.{program}");
                let axes = [("against", name(tool)), ("kernel", name(kernel)), ("program", name(program))];
                figures.push(on(point(&id, kernel, Unit::GB_PER_S, rate), "memory.cross", &axes));
            }
        }
    }
    suspect(&mut figures[6]);
    record(figures)
}

/// A mode that is known, whose figures have no series.
pub fn without_series() -> Record {
    let mut record = counters();
    for figure in &mut record.figures {
        (figure.series, figure.at) = (None, At::new());
    }
    record
}

/// `memory counters` where there are none.
pub fn no_counters() -> Record {
    let mut record = counters();
    for figure in &mut record.figures {
        missing(figure, "no uncore PMU in /sys/bus/event_source/devices");
    }
    record
}

/// A mode that the report knows nothing of: three axes, a unit of its own.
pub fn unknown() -> Record {
    let mut figures = Vec::new();
    for (at, (one, two, three)) in
        [("a", 1.0, "x"), ("a", 2.0, "x"), ("b", 1.0, "y"), ("b", 1.0, "y")].into_iter().enumerate()
    {
        let places = [("colour", name(one)), ("size", number(two, None)), ("taste", name(three))];
        let figure = point(&format!("memory.novel.{at}"), "novel", Unit::of("furlong"), 5.0 + at as f64);
        figures.push(on(figure, "memory.novel.walk", &places));
    }
    for (at, speed) in [(1.0, 3.0), (2.0, 5.0), (2.0, 5.5), (4.0, 9.0)] {
        let figure = point(&format!("memory.other.{at}.{speed}"), "other", Unit::of("knots"), speed);
        figures.push(on(figure, "memory.other", &[("wind", number(at, Some(Unit::of("Bft"))))]));
    }
    record(figures)
}

/// All modes in one record, after bandwidth.
pub fn all() -> Record {
    let mut record = super::quiet();
    for mode in
        [mix(), scaling(), ladder(), latency(), loaded(), alignment(), c2c(), numa(3), no_counters(), cross()]
    {
        record.figures.extend(mode.figures);
    }
    record.findings.push(finding(
        Severity::Note,
        "The L3 of 300 MiB that is advertised belongs to the host: no step is seen before 1 GiB.",
    ));
    record
}

/// Hostile text in every place that only curves have.
pub fn hostile() -> Record {
    let bad = || format!("{HOSTILE}{}", "w".repeat(3000));
    let mut record = all();
    for (at, figure) in record.figures.iter_mut().enumerate() {
        let Some(series) = &mut figure.series else { continue };
        series.push_str(HOSTILE);
        figure.unit = Unit(bad().into());
        figure.name = bad();
        figure.explanations = vec![Explanation::of(bad())];
        figure.conditions = Conditions::default().with(PLACES, bad());
        figure.reason.iter_mut().for_each(|reason| *reason = bad());
        figure.limit.iter_mut().for_each(|limit| limit.basis = bad());
        if at % 3 == 0 {
            figure.at = figure.at.values().map(|place| (bad(), place.clone())).collect();
        }
        if at % 5 == 0 {
            figure.at.values_mut().for_each(|place| place.value = CoordinateValue::Name(bad()));
        }
        if at % 7 == 0 {
            figure.at.values_mut().for_each(|place| place.unit = Some(Unit(bad().into())));
        }
    }
    record
}

/// Numbers at the ends of what a float holds, on axes too.
pub fn extreme() -> Record {
    let mut record = all();
    let values = [f64::MAX, f64::MIN_POSITIVE, 0.0, -1e300, 1e15, 1e-9, f64::MIN];
    for (at, figure) in record.figures.iter_mut().enumerate().filter(|(_, figure)| figure.value.is_some()) {
        let value = values[at % values.len()];
        figure.value = Some(value);
        if let Some(interval) = &mut figure.interval {
            (interval.low, interval.high) = (-1e308, 1e308);
        }
        figure.limit = Some(Limit { value: values[(at + 1) % values.len()], basis: "none".into() });
        if at % 4 == 0 {
            let place = CoordinateValue::Number(values[(at / 4) % values.len()]);
            figure.at.values_mut().for_each(|at| at.value = place.clone());
        }
    }
    record
}

/// Noise of so many CPUs, of which number 77 loses most and 3 next to it.
pub fn noise(cpus: u32) -> Record {
    let mut record = empty();
    let mut add = |id: &str, place: Coordinate, lost: f64, longest: f64| {
        let place = [("logical_cpu", place)];
        let share = point(id, id, Unit::of("%"), lost);
        record.figures.push(on(share, "system.noise", &place));
        let longest = point(&format!("{id}.longest"), id, Unit::of("µs"), longest);
        record.figures.push(on(longest, "system.noise.longest", &place));
    };
    add("system.noise", name("all"), 0.31, 8140.0);
    for cpu in 0..cpus {
        let (lost, longest) = match cpu {
            77 => (48.9, 8140.0),
            3 => (6.2, 4012.0),
            cpu => (0.02 + 1e-4 * f64::from(cpu), 12.5),
        };
        add(&format!("system.noise.cpu{cpu}"), number(f64::from(cpu), None), lost, longest);
    }
    for figure in &mut record.figures {
        (figure.suite, figure.better) = ("system".to_owned(), Better::Lower);
    }
    record
}

/// `alloc try`: aspects of the same starts, each in its unit.
pub fn tried() -> Record {
    let aspects = [("cpu", Unit::SECONDS, 2.0), ("wall", Unit::SECONDS, 2.2), ("peak", Unit::BYTES, 100e6)];
    let mut figures = Vec::new();
    for (what, unit, value) in aspects.into_iter().chain([("faults", Unit::ONE, 12_345.0)]) {
        for (allocator, times) in [("glibc", 1.0), ("jemalloc", 0.9), ("a-name-of-some-length", 1.3)] {
            let id = format!("alloc.try.{what}.{allocator}");
            let figure = point(&id, allocator, unit.clone(), value * times);
            figures.push(on(figure, &format!("alloc.try.{what}"), &[("allocator", name(allocator))]));
        }
    }
    suspect(&mut figures[1]);
    missing(&mut figures[2], "exit code 1");
    record(figures)
}

//! Hand-built records: what each format is tested with. Numbers are made up, shapes are those of real runs.

#![allow(dead_code)] // Each test binary uses its own part.

use figure::evidence::*;
use figure::host::{LogicalCpu, Peak};
use figure::series::{Coordinate, CoordinateValue};
use figure::{
    Better, CheckResult, Conditions, Convention, CpuList, Explanation, Figure, Interval, Limit, Machine,
    Outcome, Reading, Record, Round, Severity, Status, Tool, Unit, Verdict,
};

pub mod alloc;
pub mod family;
pub mod loads;
pub mod modes;
pub mod series;
pub mod walk;
pub mod watched;

/// Bytes of each array.
pub const ARRAY: f64 = (480u64 << 20) as f64;

/// A record without figures, on a small guest.
pub fn empty() -> Record {
    let mut machine = Machine { hostname: Reading::Value("bench-7".into()), ..Machine::default() };
    machine.cpu.model = Reading::Value("AMD EPYC 9654 96-Core Processor".into());
    machine.topology.online = CpuList::from_iter([0, 1]);
    machine.topology.allowed = CpuList::from_iter([0, 1]);
    machine.topology.cpus =
        (0..2).map(|cpu| LogicalCpu { cpu, core: cpu, ..LogicalCpu::default() }).collect();
    machine.memory.total = Reading::Value(8 << 30);
    machine.virtualisation.hypervisor = Reading::Value("kvm".into());
    machine.kernel.release = Reading::Value("6.1.0-18-amd64".into());
    Record {
        tool: Tool {
            name: "truebench".into(),
            version: "0.1.0".into(),
            build: "release, rustc 1.90.0".into(),
            simd: "avx512".into(),
        },
        machine,
        started: "2026-03-01T10:20:30Z".into(),
        duration: 48.31,
        command: vec!["truebench".into(), "memory".into(), "--quick".into()],
        series: series::all(),
        ..Record::default()
    }
}

/// Every hand-built record.
pub fn all() -> Vec<Record> {
    vec![
        empty(),
        tests(),
        quiet(),
        full(),
        interrupted(),
        hostile(),
        extreme(),
        curve(),
        modes::all(),
        modes::counters(),
        modes::no_counters(),
        modes::without_series(),
        modes::unknown(),
        modes::numa(12),
        modes::noise(256),
        modes::tried(),
        modes::hostile(),
        modes::extreme(),
        alloc::answer(),
        loads::study(),
        loads::asked(),
        loads::searched(),
        watched::watched(),
        watched::with_blocks(),
        walked(),
        walked_extreme(),
    ]
}

/// A check's answer.
pub fn check(id: &str, outcome: Outcome, detail: &str, fix: Option<&str>) -> CheckResult {
    let fix = fix.map(str::to_owned);
    CheckResult { id: id.into(), outcome, detail: detail.into(), fix, ..Default::default() }
}

/// A figure of the suite that its id begins with, before its first round.
pub fn planned(id: &str, name: &str, unit: Unit, better: Better) -> Figure {
    Figure::planned(id, id.split('.').next().unwrap(), name, unit, better)
}

/// The figure with a round for each of these groups of samples, not judged.
pub fn measured(
    mut figure: Figure,
    rounds: impl IntoIterator<Item = Vec<f64>>,
    evidence: &Evidence,
) -> Figure {
    let round = |samples| Round::new("2026-03-01T10:20:30Z".to_owned(), 0.25, samples, evidence.clone());
    figure.rounds = rounds.into_iter().map(round).collect();
    figure.summarise();
    figure
}

/// A value without rounds, as audited reports have it, not judged.
pub fn value(id: &str, name: &str, unit: Unit, value: f64) -> Figure {
    let mut figure = planned(id, name, unit, Better::Higher);
    (figure.value, figure.status, figure.reason) = (Some(value), Status::Measured, None);
    figure
}

/// Adds facts of one type.
pub fn put<T: FactType, const N: usize>(evidence: &mut Evidence, facts: [(Key<T>, T); N]) {
    facts.into_iter().for_each(|(key, value)| evidence.put(key, value));
}

/// The figure as a point of a series.
pub fn on(mut figure: Figure, series: &str, at: &[(&str, Coordinate)]) -> Figure {
    figure.series = Some(series.into());
    figure.at = at.iter().map(|(axis, place)| ((*axis).to_owned(), place.clone())).collect();
    figure
}

/// A number on an axis.
pub fn number(value: f64, unit: Option<Unit>) -> Coordinate {
    Coordinate { value: CoordinateValue::Number(value), unit }
}

/// A name on an axis.
pub fn name(name: &str) -> Coordinate {
    Coordinate { value: CoordinateValue::Name(name.into()), unit: None }
}

/// A measured kernel figure of `rounds` rounds around `value`, and judged by the rule.
pub fn kernel(kernel: &str, stores: &str, value: f64, rounds: usize) -> Figure {
    let title =
        format!("{kernel}, {}", if stores == "nt" { "non-temporal stores" } else { "regular stores" });
    let mut figure = planned(&format!("memory.{kernel}.{stores}"), &title, Unit::GB_PER_S, Better::Higher);
    let (arrays, counted) = match kernel {
        "copy" | "scale" => (2.0, 16.0),
        "add" | "triad" => (3.0, 24.0),
        "update" => (1.0, 16.0),
        _ => (1.0, 8.0),
    };
    figure.convention = Some(Convention::StreamCounted);
    figure.conditions = Conditions::default()
        .with(THREADS, 2.0)
        .with(PLACES, "cores".into())
        .with(BIND, "close".into())
        .with(CPUS, vec![0.0, 1.0])
        .with(KERNEL, kernel.into())
        .with(STORES, stores.into())
        .with(SIMD, "avx512".into())
        .with(ARRAY_BYTES, ARRAY)
        .with(ARRAYS_USED, arrays)
        .with(ARRAYS_TOTAL_BYTES, 3.0 * ARRAY)
        .with(PAGES_ASKED, "thp".into())
        .with(COUNTED_BYTES, counted);
    figure.evidence.put(PAGES_HUGE_SHARE, 1.0);
    figure.evidence.put(VERIFIED, true);
    figure.evidence.put(VERIFIED_ERROR, 1.5e-15);
    let samples = |at: usize| {
        // Samples to either side of the value, a little wider each round; rounds whose medians differ, so that there is an interval.
        let spread = value * 0.001 * (at + 1) as f64;
        let factor = 1.0 + 0.002 * (at as f64 - rounds as f64 / 2.0) / rounds as f64;
        [value - spread, value, value + spread / 2.0].map(|sample| sample * factor).to_vec()
    };
    let mut figure = measured(figure, (0..rounds).map(samples), &Evidence::default());
    let (value, allocate) = match (kernel, stores) {
        ("copy" | "scale", "regular") => (204.8, "; write-allocate moves 1.50 x what is counted"),
        ("add" | "triad", "regular") => (230.4, "; write-allocate moves 1.33 x what is counted"),
        _ => (307.2, ""),
    };
    figure.limit = Some(Limit { value, basis: format!("8 x DDR5-4800 (--dimms){allocate}") });
    judged(figure, vec![check("placement", Outcome::Pass, "2 threads stayed on their CPUs", None)])
}

/// The figure with these answers and the verdict that follows.
pub fn judged(mut figure: Figure, mut checks: Vec<CheckResult>) -> Figure {
    let rounds = figure.used_rounds().count();
    if rounds < 6 && figure.value.is_some() {
        let fix = "give it more time: --rounds 6 or a larger --max-time";
        let detail = format!("{rounds} of the 6 rounds that an interval needs");
        checks.push(CheckResult { essential: true, ..check("rounds", Outcome::Unknown, &detail, Some(fix)) });
    }
    figure.verdict = figure.value.map(|_| Verdict::of(&checks));
    figure.checks = checks;
    figure
}

/// The same of a figure in place.
pub fn rejudge(figure: &mut Figure, checks: Vec<CheckResult>) {
    *figure = judged(figure.clone(), checks);
}

/// Makes the second kept round a disturbed one.
pub fn disturb(figure: &mut Figure, reason: &str) {
    if let Some(round) = figure.rounds.get_mut(1) {
        round.used = false;
        round.reason = Some(reason.into());
    }
    figure.summarise();
}

/// A run in which everything happened: four verdicts, a figure not available, disturbed rounds, baselines, a
/// control, findings.
pub fn full() -> Record {
    let steal = "take a quieter host, or repeat at another time";
    let mut record = empty();
    let mut figures = Vec::new();
    for (name, regular, nt) in [
        ("copy", 136.94, 183.04),
        ("scale", 135.23, 183.28),
        ("add", 151.36, 197.94),
        ("triad", 153.22, 196.96),
    ] {
        figures.extend([kernel(name, "regular", regular, 9), kernel(name, "nt", nt, 9)]);
    }
    figures.extend([
        kernel("read", "none", 223.7, 9),
        kernel("write", "regular", 58.2, 4),
        kernel("update", "regular", 133.1, 9),
    ]);
    let stolen = |share| {
        let detail = format!("{share} % of the CPU time was stolen (0.09 s in 2.25 s on 2 CPUs)");
        check("steal", Outcome::Warn, &detail, Some(steal))
    };
    let differing = check("round-agreement", Outcome::Warn, "rounds differ by 6 %", None);
    let too_small = "each array (480 MiB) is 1.3 x the last-level caches in use (372 MiB: 1 x 372 MiB L3); 4 x are needed";
    let too_small = check("array-size", Outcome::Fail, too_small, Some("--array-size 1560281088"));
    let thermal = check("thermal", Outcome::Unknown, "no thermal_throttle in this machine's /sys", None);
    rejudge(&mut figures[2], vec![stolen(4.1), differing]);
    rejudge(&mut figures[4], vec![stolen(3.2)]);
    rejudge(&mut figures[8], vec![too_small, thermal]);
    disturb(&mut figures[0], "a thread waited 12 ms on the run queue");
    disturb(&mut figures[1], "a thread waited 12 ms on the run queue");
    disturb(&mut figures[6], "4.0 % of the CPU time was stolen");
    for (at, text) in [
        (
            0,
            "2 x 68.5 GB/s of counted bytes are 205 GB/s of traffic, because a regular store first reads the line it \
             writes (write-allocate: x 3/2); that agrees with 183 GB/s by non-temporal stores to 12 %.",
        ),
        (7, "64 % of the modules' peak. Excluded: page size (100 % in huge pages), placement."),
        (6, "Regular stores read every line before they write it: 4/3 x 153.2 GB/s = 204.3 GB/s of traffic."),
    ] {
        figures[at].explanations = vec![Explanation::of(text)];
    }
    let mut libc = kernel("copy", "libc", 178.4, 9);
    libc.name = "Copy (c = a)".into();
    libc.conditions.set(ROLE, "baseline".into());
    libc.conditions.set(SIMD, "libc".into());
    let mut compiler = kernel("scale", "compiler", 135.0, 9);
    compiler.name = "Scale (b = s c)".into();
    compiler.conditions.set(ROLE, "baseline".into());
    let mut doubled = kernel("triad", "regular", 152.8, 6);
    doubled.id = "memory.triad.regular.doubled".into();
    doubled.name = "Triad (a = b + s c), arrays doubled".into();
    doubled.conditions.set(ROLE, "doubled".into());
    doubled.conditions.set(ARRAY_BYTES, 2.0 * ARRAY);
    figures.extend([libc, compiler, doubled]);
    for kernel in ["read", "update"] {
        let figure = planned(&format!("memory.{kernel}.nt"), kernel, Unit::GB_PER_S, Better::Higher);
        figures.push(figure.not_available("the kernel stores nothing, or to lines it has just read"));
    }
    record.figures = figures;
    record.machine.memory.peak = Reading::Value(Peak {
        channels: 8,
        mt_per_s: 4800,
        bytes_per_s: 307.2e9,
        basis: "8 x DDR5-4800 (--dimms)".into(),
    });
    record.findings = vec![
        finding(
            Severity::Error,
            "The read figure is too high to be memory: its array fits the caches more than a quarter.",
        ),
        finding(Severity::Warning, "The hypervisor took up to 4.1 % of the CPU time from two figures."),
        finding(
            Severity::Note,
            "Non-temporal stores give 1.29 to 1.36 times the rate of regular ones, as write-allocate predicts \
             (3/2 for copy and scale, 4/3 for add and triad).",
        ),
    ];
    record
}

/// A finding.
pub fn finding(severity: Severity, text: &str) -> Explanation {
    Explanation { severity, ..Explanation::of(text) }
}

/// A run on a quiet machine: everything valid.
pub fn quiet() -> Record {
    let mut record = empty();
    for (name, regular, nt) in
        [("copy", 21.31, 32.18), ("scale", 21.27, 32.2), ("add", 24.42, 33.08), ("triad", 24.45, 33.11)]
    {
        record.figures.extend([kernel(name, "regular", regular, 8), kernel(name, "nt", nt, 8)]);
    }
    record.figures.iter_mut().for_each(|figure| figure.limit = None);
    record
}

/// Stopped after two figures.
pub fn interrupted() -> Record {
    let mut record = quiet();
    record.interrupted = Some("interrupted by the user (SIGINT)".into());
    for figure in &mut record.figures[2..] {
        *figure = planned(&figure.id, &figure.name, Unit::GB_PER_S, Better::Higher);
    }
    record
}

/// Text that tries to steer the terminal, break tables and markup, and fill the screen.
pub const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\n=cmd|' /C calc'!A1 <script>x</script> [a](http://x) @root \u{202e}|\t`rm`\u{0}";

/// Hostile text in every place where text can be.
pub fn hostile() -> Record {
    let bad = || format!("{HOSTILE}{}", "w".repeat(3000));
    let mut record = full();
    record.tool.version = bad();
    record.tool.build = bad();
    record.started = bad();
    record.interrupted = Some(bad());
    record.machine.hostname = Reading::Value(bad());
    record.machine.cpu.model = Reading::Value(bad());
    record.machine.virtualisation.container = Some(bad());
    record.machine.kernel.release = Reading::Value(bad());
    for figure in &mut record.figures {
        figure.id.push_str(HOSTILE);
        figure.name = bad();
        figure.unit = Unit(bad().into());
        figure.explanations = vec![Explanation::of(bad())];
        figure.reason = figure.reason.as_ref().map(|_| bad());
        figure.conditions.set(KERNEL, bad());
        figure.conditions.set(PLACES, bad());
        figure.limit = Some(Limit { value: 1.0, basis: bad() });
        for check in &mut figure.checks {
            check.id = bad();
            check.detail = bad();
            check.fix = Some(bad());
        }
        for round in &mut figure.rounds {
            round.reason = Some(bad());
        }
    }
    record.findings.push(finding(Severity::Error, &bad()));
    record
}

/// Numbers at the ends of what a float holds.
pub fn extreme() -> Record {
    let mut record = quiet();
    let values = [f64::MAX, f64::MIN_POSITIVE, 0.0, -1e300, 1e15, 1e-9, 123_456_789.123, 1.0];
    for (figure, value) in record.figures.iter_mut().zip(values) {
        (figure.value, figure.best) = (Some(value), Some(value));
        let method = "order-statistics".into();
        figure.interval = Some(Interval { low: -1e308, high: 1e308, level: 0.95, method, rounds: 8 });
        figure.limit = Some(Limit { value: 1e-300, basis: "none".into() });
        figure.conditions.set(ARRAY_BYTES, 1e300);
    }
    record.duration = 1e12;
    record
}

/// A curve of many points, and figures of other units in one section.
pub fn curve() -> Record {
    let mut record = empty();
    for step in 0..60 {
        let bytes = 1024.0 * 1.2f64.powi(step);
        let mut figure = kernel("read", "none", 300.0 - 4.0 * f64::from(step), 6);
        figure.id = format!("memory.ladder.{step}");
        let place = number(bytes.round(), Some(Unit::BYTES));
        record.figures.push(on(figure, "memory.ladder", &[("array", place)]));
    }
    for (name, unit, value) in [("pipe", Unit::LPS, 812_345.0), ("latency", Unit::NANOSECONDS, 92.7)] {
        let mut figure = kernel("read", "none", value, 6);
        (figure.id, figure.suite, figure.name) = (format!("system.{name}"), "system".into(), name.into());
        (figure.unit, figure.convention, figure.limit) = (unit, None, None);
        figure.conditions = Conditions::default();
        record.figures.push(figure);
    }
    record
}

/// A walk through the heap.
pub fn walked() -> Record {
    let judged = |figure| judged(figure, vec![]);
    Record { figures: walk::figures().into_iter().map(judged).collect(), ..empty() }
}

/// The same with sizes and names that no walk has.
pub fn walked_extreme() -> Record {
    let mut record = walked();
    for (at, figure) in record.figures.iter_mut().enumerate() {
        let step = name(&format!("{at} \u{1b}[31m a step with a name that never ends"));
        figure.at.values_mut().for_each(|place| *place = step.clone());
        for round in &mut figure.rounds {
            round.evidence.put(WALK_BREAK, if at % 2 == 0 { 1e300 } else { 0.0 });
            let pages = if at % 3 == 0 { "" } else { "#" };
            let blocks = "a heap 1e299 1e300 0;b mapping 0 1e300 1e301;c mapping 0 0 0;d heap 1e308 1 1";
            put(&mut round.evidence, [(WALK_HEAP_PAGES, pages.to_owned()), (WALK_BLOCKS, blocks.to_owned())]);
        }
    }
    record
}

/// A test of UnixBench's with its baseline, score and index.
pub fn scored(name: &str, title: &str, copies: f64, unit: &'static str, of: [f64; 3]) -> Figure {
    let more = if copies > 1.0 { format!(", {copies} copies") } else { String::new() };
    let id = format!("system.{name}.x{copies}");
    let mut figure = value(&id, &format!("{title}{more}"), Unit::of(unit), 1.0);
    figure.verdict = Some(Verdict::Valid);
    figure.conditions = Conditions::default()
        .with(TEST, name.to_owned())
        .with(COPIES, copies)
        .with(BASELINE, of[0])
        .with(SCORE_KIND, "compatible".to_owned());
    let facts = [(SCORE, of[1]), (SCORE_SECONDS, 10.0), (SCORE_PASSES, 7.0), (INDEX, of[2])];
    put(&mut figure.evidence, facts);
    figure
}

/// Tests of UnixBench's for one and two copies, out of order; one of them disturbed.
pub fn tests() -> Record {
    let mut record = empty();
    let tests = [
        ("dhry2reg", "Dhrystone 2 using register variables", "lps", [116_700.0, 34_872_897.7, 2988.3]),
        ("fstime", "File Copy 1024 bufsize 2000 maxblocks", "KBps", [3960.0, 1_294_367.0, 3268.6]),
        ("context1", "Pipe-based Context Switching", "lps", [4000.0, 369_000.7, 922.5]),
    ];
    for copies in [1.0, 2.0] {
        for (name, title, unit, [baseline, score, index]) in tests {
            let mut figure = scored(name, title, copies, unit, [baseline, score * copies, index * copies]);
            figure.value = Some(score * copies);
            if name == "context1" {
                let check = check("rounds-agree", Outcome::Warn, "interval +-12 %", Some("more rounds"));
                (figure.verdict, figure.checks) = (Some(Verdict::Suspect), vec![check]);
            }
            record.figures.push(figure);
        }
    }
    record
}

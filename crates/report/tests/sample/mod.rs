//! Hand-built records: what each format is tested with. Numbers are made up, shapes are those of real runs.

#![allow(dead_code)] // Each test binary uses its own part.

use figure::evidence::*;
use figure::host::{LogicalCpu, Peak};
use figure::{
    Better, CheckResult, Convention, CpuList, Explanation, Figure, Limit, Machine, Outcome, Reading, Record,
    Round, Severity, Tool, Unit, Verdict,
};

pub mod alloc;
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
        schema: figure::record::SCHEMA,
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
        interrupted: None,
        observer: Default::default(),
        figures: Vec::new(),
        findings: Vec::new(),
        series: series::all(),
    }
}

/// A check's answer.
pub fn check(id: &str, outcome: Outcome, detail: &str, fix: Option<&str>) -> CheckResult {
    CheckResult {
        id: id.into(),
        outcome,
        detail: detail.into(),
        fix: fix.map(str::to_owned),
        essential: false,
        ..Default::default()
    }
}

/// A measured kernel figure of `rounds` rounds around `value`, and judged by the rule.
pub fn kernel(kernel: &str, stores: &str, value: f64, rounds: usize) -> Figure {
    let name = format!("{kernel}, {}", if stores == "nt" { "non-temporal stores" } else { "regular stores" });
    let mut figure =
        Figure::planned(format!("memory.{kernel}.{stores}"), "memory", name, Unit::GB_PER_S, Better::Higher);
    let (arrays, counted) = match kernel {
        "copy" | "scale" => (2.0, 16.0),
        "add" | "triad" => (3.0, 24.0),
        "update" => (1.0, 16.0),
        _ => (1.0, 8.0),
    };
    figure.convention = Some(Convention::StreamCounted);
    figure.conditions.set(THREADS, 2.0);
    figure.conditions.set(PLACES, "cores".into());
    figure.conditions.set(BIND, "close".into());
    figure.conditions.set(CPUS, vec![0.0, 1.0]);
    figure.conditions.set(KERNEL, kernel.into());
    figure.conditions.set(STORES, stores.into());
    figure.conditions.set(SIMD, "avx512".into());
    figure.conditions.set(ARRAY_BYTES, ARRAY);
    figure.conditions.set(ARRAYS_USED, arrays);
    figure.conditions.set(ARRAYS_TOTAL_BYTES, 3.0 * ARRAY);
    figure.conditions.set(PAGES_ASKED, "thp".into());
    figure.conditions.set(COUNTED_BYTES, counted);
    figure.evidence.put(PAGES_HUGE_SHARE, 1.0);
    figure.evidence.put(VERIFIED, true);
    figure.evidence.put(VERIFIED_ERROR, 1.5e-15);
    figure.rounds = (0..rounds)
        .map(|round| {
            // Two samples to either side of the value, a little wider each round.
            let spread = value * 0.001 * (round + 1) as f64;
            Round {
                started: format!("2026-03-01T10:20:{:02}Z", 30 + round),
                duration: 0.25,
                samples: vec![value - spread, value, value + spread / 2.0],
                evidence: Evidence::default(),
                kept: true,
                reason: None,
            }
        })
        .collect();
    // Rounds whose medians differ, so that there is an interval to print.
    for (at, round) in figure.rounds.iter_mut().enumerate() {
        let factor = 1.0 + 0.002 * (at as f64 - rounds as f64 / 2.0) / rounds as f64;
        round.samples.iter_mut().for_each(|sample| *sample *= factor);
    }
    figure.summarise();
    let peak = "8 x DDR5-4800 (--dimms)";
    figure.limit = Some(match (kernel, stores) {
        ("copy" | "scale", "regular") => {
            let basis = format!("{peak}; write-allocate moves 1.50 x what is counted");
            Limit { value: 204.8, basis }
        }
        ("add" | "triad", "regular") => {
            let basis = format!("{peak}; write-allocate moves 1.33 x what is counted");
            Limit { value: 230.4, basis }
        }
        _ => Limit { value: 307.2, basis: peak.into() },
    });
    judged(figure, vec![check("placement", Outcome::Pass, "2 threads stayed on their CPUs", None)])
}

/// The figure with these answers and the verdict that follows.
pub fn judged(mut figure: Figure, mut checks: Vec<CheckResult>) -> Figure {
    let found = figure.kept().count();
    if found < 6 && figure.value.is_some() {
        let fix = "give it more time: --rounds 6 or a larger --max-time";
        let detail = format!("{found} of the 6 rounds that an interval needs");
        checks.push(CheckResult { essential: true, ..check("rounds", Outcome::Unknown, &detail, Some(fix)) });
    }
    figure.verdict = figure.value.map(|_| Verdict::of(&checks));
    figure.checks = checks;
    figure
}

/// Makes the second kept round a disturbed one.
pub fn disturb(figure: &mut Figure, reason: &str) {
    if let Some(round) = figure.rounds.get_mut(1) {
        round.kept = false;
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
        ("copy", 136.94, Some(183.04)),
        ("scale", 135.23, Some(183.28)),
        ("add", 151.36, Some(197.94)),
        ("triad", 153.22, Some(196.96)),
    ] {
        figures.push(kernel(name, "regular", regular, 9));
        figures.extend(nt.map(|nt| kernel(name, "nt", nt, 9)));
    }
    figures.push(kernel("read", "none", 223.7, 9));
    figures.push(kernel("write", "regular", 58.2, 4));
    figures.push(kernel("update", "regular", 133.1, 9));
    let share = |share| format!("{share} % of the CPU time was stolen (0.09 s in 2.25 s on 2 CPUs)");
    figures[2] = judged(
        figures[2].clone(),
        vec![
            check("steal", Outcome::Warn, &share(4.1), Some(steal)),
            check("round-agreement", Outcome::Warn, "rounds differ by 6 %", None),
        ],
    );
    figures[4] = judged(figures[4].clone(), vec![check("steal", Outcome::Warn, &share(3.2), Some(steal))]);
    let too_small = "each array (480 MiB) is 1.3 x the last-level caches in use (372 MiB: 1 x 372 MiB L3); 4 x are needed";
    figures[8] = judged(
        figures[8].clone(),
        vec![
            check("array-size", Outcome::Fail, too_small, Some("--array-size 1560281088")),
            check("thermal", Outcome::Unknown, "no thermal_throttle in this machine's /sys", None),
        ],
    );
    disturb(&mut figures[0], "a thread waited 12 ms on the run queue");
    disturb(&mut figures[1], "a thread waited 12 ms on the run queue");
    disturb(&mut figures[6], "4.0 % of the CPU time was stolen");
    figures[0].explanations = vec![figure::Explanation::of(
        "2 x 68.5 GB/s of counted bytes are 205 GB/s of traffic, because a regular store first reads the line it \
         writes (write-allocate: x 3/2); that agrees with 183 GB/s by non-temporal stores to 12 %.",
    )];
    figures[7].explanations = vec![figure::Explanation::of(
        "64 % of the modules' peak. Excluded: page size (100 % in huge pages), placement.",
    )];
    figures[6].explanations = vec![figure::Explanation::of(
        "Regular stores read every line before they write it: 4/3 x 153.2 GB/s = 204.3 GB/s of traffic.",
    )];
    let mut libc = kernel("copy", "libc", 178.4, 9);
    libc.id = "memory.copy.libc".into();
    libc.name = "Copy (c = a)".into();
    libc.conditions.set(STORES, "libc".into());
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
        figures.push(
            Figure::planned(format!("memory.{kernel}.nt"), "memory", kernel, Unit::GB_PER_S, Better::Higher)
                .not_available("the kernel stores nothing, or to lines it has just read"),
        );
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
        record.figures.push(kernel(name, "regular", regular, 8));
        record.figures.push(kernel(name, "nt", nt, 8));
    }
    record.figures.iter_mut().for_each(|figure| figure.limit = None);
    record
}

/// Stopped after two figures.
pub fn interrupted() -> Record {
    let mut record = quiet();
    record.interrupted = Some("interrupted by the user (SIGINT)".into());
    for figure in &mut record.figures[2..] {
        *figure =
            Figure::planned(figure.id.clone(), "memory", figure.name.clone(), Unit::GB_PER_S, Better::Higher);
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
        figure.explanations = vec![figure::Explanation::of(bad())];
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
    for (figure, value) in record.figures.iter_mut().zip([
        f64::MAX,
        f64::MIN_POSITIVE,
        0.0,
        -1e300,
        1e15,
        1e-9,
        123_456_789.123,
        1.0,
    ]) {
        figure.value = Some(value);
        figure.best = Some(value);
        figure.interval = Some(figure::Interval {
            low: -1e308,
            high: 1e308,
            level: 0.95,
            method: "order-statistics".into(),
            rounds: 8,
        });
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
        figure.series = Some("memory.ladder".into());
        figure.at.insert(
            "array".into(),
            figure::series::Coordinate {
                value: figure::series::CoordinateValue::Number(bytes.round()),
                unit: Some(Unit::BYTES),
            },
        );
        record.figures.push(figure);
    }
    for (name, unit, value) in [("pipe", Unit::LPS, 812_345.0), ("latency", Unit::NANOSECONDS, 92.7)] {
        let mut figure = kernel("read", "none", value, 6);
        figure.id = format!("system.{name}");
        figure.suite = "system".into();
        figure.name = name.into();
        figure.unit = unit;
        figure.convention = None;
        figure.conditions = figure::Conditions::default();
        figure.limit = None;
        record.figures.push(figure);
    }
    record
}

/// A test of UnixBench's with its baseline, score and index.
pub fn scored(name: &str, title: &str, copies: f64, unit: &'static str, of: [f64; 3]) -> Figure {
    let more = if copies > 1.0 { format!(", {copies} copies") } else { String::new() };
    let mut figure = Figure::planned(
        format!("system.{name}.x{copies}"),
        "system",
        format!("{title}{more}"),
        Unit::of(unit),
        Better::Higher,
    );
    (figure.value, figure.status, figure.verdict) =
        (Some(1.0), figure::Status::Measured, Some(Verdict::Valid));
    figure.conditions.set(TEST, name.to_owned());
    figure.conditions.set(COPIES, copies);
    figure.conditions.set(BASELINE, of[0]);
    figure.conditions.set(SCORE_KIND, "compatible".to_owned());
    for (key, value) in [(SCORE, of[1]), (SCORE_SECONDS, 10.0), (SCORE_PASSES, 7.0), (INDEX, of[2])] {
        figure.evidence.put(key, value);
    }
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
                figure.verdict = Some(Verdict::Suspect);
                figure.checks.push(check(
                    "rounds-agree",
                    Outcome::Warn,
                    "interval +-12 %",
                    Some("more rounds"),
                ));
            }
            record.figures.push(figure);
        }
    }
    record
}

//! A program that was watched for its page faults.

use figure::series::{Coordinate, CoordinateValue, Part};
use figure::{CheckResult, Outcome, Severity, Status};

use super::*;

fn measured(id: &str, name: &str, unit: Unit, value: f64) -> Figure {
    let mut figure = Figure::planned(id, "faults", name, unit, Better::Neither);
    (figure.value, figure.status, figure.verdict) = (Some(value), Status::Measured, Some(Verdict::Valid));
    figure.conditions.set(WATCHED, "server".to_owned());
    figure
}

fn part(name: &str, value: f64) -> Part {
    Part { name: name.to_owned(), value, share: 0.5 }
}

/// Stacks, as flame graphs have them.
pub fn stacks() -> Figure {
    let mut figure = measured("faults.stacks", "faults whose stacks are kept", Unit::ONE, 1.0);
    figure.evidence.put(FAULT_SEEN, 40_000.0);
    figure.parts = vec![part("server;main;handle;memset", 0.75), part("server;main;parse", 0.25)];
    figure
}

/// All of it.
pub fn watched() -> Record {
    let mut record = empty();
    let mut minor = measured("faults.minor", "minor faults", Unit::PER_S, 10_010.0);
    for (key, value) in [
        (FAULT_TOTAL, 40_040.0),
        (FAULT_MAJORS, 2.0),
        (PROGRAM_SECONDS, 4.0),
        (PROGRAM_USER, 0.2),
        (PROGRAM_SYSTEM, 0.4),
        (PROGRAM_RESIDENT, 3e6),
    ] {
        minor.evidence.put(key, value);
    }
    minor.parts = vec![part("4711 server", 10_000.0), part("4712 helper\u{1b}[31m", 10.0)];
    let mut major = measured("faults.major", "major faults", Unit::PER_S, 0.5);
    major.parts = vec![part("4711 server", 0.5)];
    let mut coverage = measured("faults.coverage", "faults that samples stand for", Unit::ONE, 0.99);
    coverage.evidence.put(WATCH_CPU, 0.05);
    coverage.checks.push(CheckResult {
        id: "fault-coverage".to_owned(),
        outcome: Outcome::Pass,
        essential: true,
        detail: "2400 samples stand for 99 % of 40040 minor faults".to_owned(),
        ..CheckResult::default()
    });
    let mut churn = measured(
        "faults.mechanism.map-churn.glibc",
        "blocks mapped and unmapped for each use (glibc's malloc)",
        Unit::ONE,
        0.97,
    );
    churn.conditions.set(MECHANISM, "map-churn".to_owned());
    churn.conditions.set(MEMORY_KIND, "mapping".to_owned());
    churn.interval = figure::stats::share_interval(0.97, 2400);
    let mut site = measured("faults.site.1", "memset < handle < main", Unit::ONE, 0.75);
    site.series = Some("faults.sites".to_owned());
    site.at.insert("rank".to_owned(), Coordinate { value: CoordinateValue::Number(1.0), unit: None });
    site.conditions
        .set(SITE_CALLS, "__memset_avx512_unaligned_erms < handle_request < serve < main".to_owned());
    site.conditions.set(SITE_LINE, "server.c:42".to_owned());
    site.conditions.set(MEMORY_KIND, "mapping".to_owned());
    site.conditions.set(MECHANISM, "map-churn".to_owned());
    site.evidence.put(FAULT_BLOCK, 24576.0);
    let mut file = measured("faults.file.1", "/usr/bin/server", Unit::ONE, 0.02);
    file.series = Some("faults.files".to_owned());
    file.at.insert("rank".to_owned(), Coordinate { value: CoordinateValue::Number(1.0), unit: None });
    file.conditions.set(FAULT_FILE, "/usr/bin/server".to_owned());
    file.evidence.put(FAULT_MAJORS, 2.0);
    let calls = |id: &str, name: &str, count: f64| {
        let mut figure = measured(id, name, Unit::PER_S, count / 2.0);
        for (key, value) in
            [(CALL_COUNT, count), (CALL_SECONDS, 2.0), (CALL_BYTES, count * 1e6), (CALL_LOST, 0.0)]
        {
            figure.evidence.put(key, value);
        }
        figure
    };
    let all = calls("faults.calls", "calls for memory", 16_400.0);
    let (mapped, unmapped) =
        (calls("faults.calls.mmap", "mmap", 8400.0), calls("faults.calls.munmap", "munmap", 8000.0));
    let mut caller = measured("faults.caller.munmap.1", "handle_request < serve < main", Unit::ONE, 0.97);
    caller.series = Some("faults.callers.munmap".to_owned());
    caller.at = site.at.clone();
    caller.conditions.set(SITE_CALLS, "handle_request < serve\u{1b}[31m < main".to_owned());
    caller.conditions.set(CALL_VIA, "__munmap < munmap_chunk < __libc_free".to_owned());
    caller.conditions.set(SITE_LINE, "server.c:44".to_owned());
    caller.evidence.put(CALL_EACH, 2e6);
    let price = measured("faults.prices.minor.write", "first write", Unit::NANOSECONDS, 1500.0);
    record.figures =
        vec![minor, major, coverage, churn, all, mapped, unmapped, caller, site, file, stacks(), price];
    record.findings.push(Explanation {
        claim: "Page faults cost about 10 % of the program's CPU time: 40040 minor faults at 1.5 µs each, the price of one in a loop here, of 600 ms.".to_owned(),
        severity: Severity::Warning,
        figures: vec!["faults.minor".to_owned()],
        ..Explanation::default()
    });
    record
}

/// The same, with the large blocks that the faults are in.
pub fn with_blocks() -> Record {
    let mut record = watched();
    let mut whole = measured("faults.in_blocks", "faults in large blocks", Unit::ONE, 0.9);
    whole.conditions.set(BLOCKS_LEAST, 65_536.0);
    whole.conditions.set(BLOCKS_BESIDES, "it has an allocator of its own (mi_malloc)".to_owned());
    whole.evidence.put(BLOCKS_TOLD, 900.0);
    whole.evidence.put(BLOCKS_LOST, 100.0);
    let share = |name: &str, share: f64| Part { name: name.to_owned(), value: share, share };
    whole.parts = vec![share("in large blocks of malloc", 0.9), share("elsewhere: smaller blocks", 0.1)];
    let mut row = measured("faults.block.1", "answer < serve < main", Unit::ONE, 0.62);
    row.series = Some("faults.blocks".to_owned());
    row.conditions.set(BLOCK_CALLS, "operator new < Server::answer\u{1b}[31m < serve < main".to_owned());
    row.conditions.set(BLOCK_SITE, "Server::answer (server.cpp:41)".to_owned());
    row.conditions.set(SITE_CALLS, "memset < Server::answer < serve < main".to_owned());
    row.parts = vec![share("memset < Server::answer < serve < main", 0.93)];
    for (key, value) in [(BLOCK_LEAST, 2097152.0), (BLOCK_MOST, 3145728.0), (BLOCK_AGE, 0.0002)] {
        row.evidence.put(key, value);
    }
    let mut unknown = measured("faults.block.2", "not known", Unit::ONE, 0.2);
    unknown.series = Some("faults.blocks".to_owned());
    unknown.evidence.put(BLOCK_LEAST, 65_536.0);
    unknown.evidence.put(BLOCK_MOST, 65_536.0);
    record.figures.extend([whole, row, unknown]);
    record
}

/// The same, of a program into which nothing can be preloaded.
pub fn without_blocks() -> Record {
    let mut record = watched();
    let mut whole =
        Figure::planned("faults.in_blocks", "faults", "faults in large blocks", Unit::ONE, Better::Neither);
    whole.conditions.set(BLOCKS_LEAST, 65_536.0);
    record.figures.push(
        whole.not_available(
            "blocks of 64 KiB and more: server is linked statically: nothing can be preloaded",
        ),
    );
    record
}

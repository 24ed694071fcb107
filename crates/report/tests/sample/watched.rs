//! A program that was watched for its page faults.

use figure::evidence::*;
use figure::series::Part;
use figure::stats::share_interval;
use figure::{Better, CheckResult, Explanation, Figure, Outcome, Record, Severity, Unit, Verdict};

use super::{check, empty, finding, number, on, planned, put, value};

fn watched_figure(id: &str, name: &str, unit: Unit, count: f64) -> Figure {
    let mut figure = value(id, name, unit, count);
    (figure.better, figure.verdict) = (Better::Neither, Some(Verdict::Valid));
    figure.conditions.set(WATCHED, "server".to_owned());
    figure
}

/// The first of a ranking.
fn first(id: &str, name: &str, share: f64, series: &str) -> Figure {
    on(watched_figure(id, name, Unit::ONE, share), series, &[("rank", number(1.0, None))])
}

fn part(name: &str, value: f64) -> Part {
    Part { name: name.to_owned(), value, share: 0.5 }
}

/// Stacks, as flame graphs have them.
pub fn stacks() -> Figure {
    let mut figure = watched_figure("faults.stacks", "faults whose stacks are kept", Unit::ONE, 1.0);
    figure.evidence.put(FAULT_SEEN, 40_000.0);
    figure.parts = vec![part("server;main;handle;memset", 0.75), part("server;main;parse", 0.25)];
    figure
}

/// All of it.
pub fn watched() -> Record {
    let mut record = empty();
    let mut minor = watched_figure("faults.minor", "minor faults", Unit::PER_S, 10_010.0);
    let facts = [(FAULT_TOTAL, 40_040.0), (FAULT_MAJORS, 2.0), (PROGRAM_RESIDENT, 3e6)];
    put(&mut minor.evidence, facts);
    put(&mut minor.evidence, [(PROGRAM_SECONDS, 4.0), (PROGRAM_USER, 0.2), (PROGRAM_SYSTEM, 0.4)]);
    minor.parts = vec![part("4711 server", 10_000.0), part("4712 helper\u{1b}[31m", 10.0)];
    let mut major = watched_figure("faults.major", "major faults", Unit::PER_S, 0.5);
    major.parts = vec![part("4711 server", 0.5)];
    let mut coverage = watched_figure("faults.coverage", "faults that samples stand for", Unit::ONE, 0.99);
    coverage.evidence.put(WATCH_CPU, 0.05);
    let detail = "2400 samples stand for 99 % of 40040 minor faults";
    let check = check("fault-coverage", Outcome::Pass, detail, None);
    coverage.checks.push(CheckResult { essential: true, ..check });
    let title = "blocks mapped and unmapped for each use (glibc's malloc)";
    let mut churn = watched_figure("faults.mechanism.map-churn.glibc", title, Unit::ONE, 0.97);
    churn.conditions.set(MECHANISM, "map-churn".to_owned());
    churn.conditions.set(MEMORY_KIND, "mapping".to_owned());
    churn.interval = share_interval(0.97, 2400);
    let mut site = first("faults.site.1", "memset < handle < main", 0.75, "faults.sites");
    let calls = "__memset_avx512_unaligned_erms < handle_request < serve < main";
    site.conditions.set(SITE_CALLS, calls.to_owned());
    site.conditions.set(SITE_LINE, "server.c:42".to_owned());
    site.conditions.set(MEMORY_KIND, "mapping".to_owned());
    site.conditions.set(MECHANISM, "map-churn".to_owned());
    site.evidence.put(FAULT_BLOCK, 24576.0);
    let mut file = first("faults.file.1", "/usr/bin/server", 0.02, "faults.files");
    file.conditions.set(FAULT_FILE, "/usr/bin/server".to_owned());
    file.evidence.put(FAULT_MAJORS, 2.0);
    let calls = |id: &str, name: &str, count: f64| {
        let mut figure = watched_figure(id, name, Unit::PER_S, count / 2.0);
        let facts = [(CALL_COUNT, count), (CALL_SECONDS, 2.0), (CALL_BYTES, count * 1e6), (CALL_LOST, 0.0)];
        put(&mut figure.evidence, facts);
        figure
    };
    let all = calls("faults.calls", "calls for memory", 16_400.0);
    let (mapped, unmapped) =
        (calls("faults.calls.mmap", "mmap", 8400.0), calls("faults.calls.munmap", "munmap", 8000.0));
    let title = "handle_request < serve < main";
    let mut caller = first("faults.caller.munmap.1", title, 0.97, "faults.callers.munmap");
    caller.conditions.set(SITE_CALLS, "handle_request < serve\u{1b}[31m < main".to_owned());
    caller.conditions.set(CALL_VIA, "__munmap < munmap_chunk < __libc_free".to_owned());
    caller.conditions.set(SITE_LINE, "server.c:44".to_owned());
    caller.evidence.put(CALL_EACH, 2e6);
    let price = watched_figure("faults.prices.minor.write", "first write", Unit::NANOSECONDS, 1500.0);
    record.figures =
        vec![minor, major, coverage, churn, all, mapped, unmapped, caller, site, file, stacks(), price];
    let claim = "Page faults cost about 10 % of the program's CPU time: 40040 minor faults at 1.5 µs each, as in a loop \
                 here, of 600 ms.";
    let figures = vec!["faults.minor".to_owned()];
    record.findings.push(Explanation { figures, ..finding(Severity::Warning, claim) });
    record
}

/// The same, with the large blocks that the faults are in.
pub fn with_blocks() -> Record {
    let mut record = watched();
    let mut whole = watched_figure("faults.in_blocks", "faults in large blocks", Unit::ONE, 0.9);
    whole.conditions.set(BLOCKS_LEAST, 65_536.0);
    whole.conditions.set(BLOCKS_BESIDES, "it has an allocator of its own (mi_malloc)".to_owned());
    whole.evidence.put(BLOCKS_RECORDED, 900.0);
    whole.evidence.put(BLOCKS_LOST, 100.0);
    let share = |name: &str, share: f64| Part { name: name.to_owned(), value: share, share };
    whole.parts = vec![share("in large blocks of malloc", 0.9), share("elsewhere: smaller blocks", 0.1)];
    let mut row = watched_figure("faults.block.1", "answer < serve < main", Unit::ONE, 0.62);
    row.series = Some("faults.blocks".to_owned());
    row.conditions.set(BLOCK_CALLS, "operator new < Server::answer\u{1b}[31m < serve < main".to_owned());
    row.conditions.set(BLOCK_SITE, "Server::answer (server.cpp:41)".to_owned());
    row.conditions.set(SITE_CALLS, "memset < Server::answer < serve < main".to_owned());
    row.parts = vec![share("memset < Server::answer < serve < main", 0.93)];
    let facts = [(BLOCK_LEAST, 2097152.0), (BLOCK_MOST, 3145728.0), (BLOCK_AGE, 0.0002)];
    put(&mut row.evidence, facts);
    let mut unknown = watched_figure("faults.block.2", "not known", Unit::ONE, 0.2);
    unknown.series = Some("faults.blocks".to_owned());
    put(&mut unknown.evidence, [(BLOCK_LEAST, 65_536.0), (BLOCK_MOST, 65_536.0)]);
    record.figures.extend([whole, row, unknown]);
    record
}

/// The same, of a program into which nothing can be preloaded.
pub fn without_blocks() -> Record {
    let mut record = watched();
    let mut whole = planned("faults.in_blocks", "faults in large blocks", Unit::ONE, Better::Neither);
    whole.conditions.set(BLOCKS_LEAST, 65_536.0);
    let reason = "blocks of 64 KiB and more: server is linked statically: nothing can be preloaded";
    record.figures.push(whole.not_available(reason));
    record
}

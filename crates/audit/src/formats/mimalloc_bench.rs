//! mimalloc-bench: elapsed time of each test with each allocator, as its script prints it and writes it to benchres.csv.

use figure::evidence::ALLOCATOR;
use figure::evidence::audit::OVERRUN;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    "mimalloc-bench",
    &["page-faults page-reclaims", "cfrac ", "espresso "],
    starts,
    None,
    parse,
);

/// Lines between two of a run: a test has an empty one behind it.
const WITHIN: usize = 6;
/// Its tests, by what their names begin with: what is known where the head is lost.
const TESTS: &[&str] = &[
    "alloc-test",
    "barnes",
    "cfrac",
    "cscratch",
    "cache-scratch",
    "cthrash",
    "cache-thrash",
    "espresso",
    "glibc-simple",
    "glibc-thread",
    "gs",
    "larson",
    "lean",
    "linux",
    "lua",
    "malloc-large",
    "malloc-test",
    "mleak",
    "mstress",
    "rbstress",
    "redis",
    "rocksdb",
    "rptest",
    "security",
    "sh6bench",
    "sh8bench",
    "spec",
    "xmalloc-test",
    "z3",
];
/// Tests of one thread that only compute: their CPU time is their time.
const SINGLE: &[&str] = &["cfrac", "espresso", "barnes", "alloc-test1", "glibc-simple", "sh6bench1"];
/// Seconds below which a test measures the start of its process (microsoft/mimalloc#431).
const LEAST: f64 = 0.1;
/// Seconds that CPU time and elapsed time of a process may differ by: ticks, and its start.
const TICKS: f64 = 0.03;
/// By what share CPU time may be less than the time that passed.
const WAITED: f64 = 0.05;

struct Row<'a> {
    test: &'a str,
    allocator: &'a str,
    /// Seconds; of some tests a figure of their own in its place, with three decimals.
    elapsed: Printed,
    is_elapsed: bool,
    /// User and system seconds.
    cpu: Printed,
}

/// `cfrac       je    04.08 2896 4.07 0.00 0 374`: test, allocator, time, RSS in KB, user, system, faults, reclaims.
fn row(line: &str) -> Option<Row<'_>> {
    let tokens: Vec<&str> = line.split_whitespace().take(9).collect();
    let [test, allocator, elapsed, rss, user, system, faults, reclaims] = tokens.as_slice() else {
        return None;
    };
    let is_name =
        |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric()) && number(name).is_none();
    let is_count = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let counts = [rss, faults, reclaims].iter().all(|count| is_count(count));
    if !(is_name(test) && is_name(allocator) && counts && elapsed.contains('.') && user.contains('.')) {
        return None;
    }
    let (minutes, seconds) = elapsed.rsplit_once(':').unwrap_or(("", *elapsed));
    let minutes = if minutes.is_empty() {
        0.0
    } else {
        minutes.split(':').try_fold(0.0, |sum, part| Some(60.0 * sum + number(part)?))?
    };
    let seconds = Printed::of(seconds)?;
    let (user, system) = (Printed::of(user)?, Printed::of(system)?);
    let decimals = elapsed.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
    Some(Row {
        test,
        allocator,
        elapsed: Printed { value: 60.0 * minutes + seconds.value, off: seconds.off },
        is_elapsed: decimals == 2,
        cpu: Printed { value: user.value + system.value, off: user.off + system.off },
    })
}

fn is_head(line: &str) -> bool {
    line.contains(" page-faults page-reclaims")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if is_head(line) {
        return rest.iter().skip(1).take(WITHIN).any(|line| row(line).is_some());
    }
    let is_known = row(line).is_some_and(|row| TESTS.iter().any(|test| row.test.starts_with(test)));
    is_known && !continues(before, WITHIN, |line| is_head(line) || row(line).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for row in run.lines.iter().filter_map(|line| row(line)) {
        let Some(id) = rows.id(&format!("{} {}", row.test, row.allocator)) else { continue };
        let title = format!("{} with {} by mimalloc-bench", row.test, row.allocator);
        let mut own = Quantity::of("mimalloc-bench", id, title, row.elapsed, Unit::SECONDS, Better::Lower);
        own.seconds = Some(row.elapsed.value).filter(|_| row.is_elapsed);
        own.least_seconds = Some(LEAST);
        let is_single = row.is_elapsed && SINGLE.contains(&row.test);
        let slack = row.cpu.off + row.elapsed.off + TICKS;
        if is_single && row.cpu.value > row.elapsed.value * (1.0 + WAITED) + slack {
            let (cpu, elapsed) = (row.cpu.value, row.elapsed.value);
            own.contradiction = Some(format!("{cpu} s of CPU time in {elapsed} s of one thread"));
        }
        let waited = row.elapsed.value - slack > row.cpu.value * (1.0 + 2.0 * WAITED) && row.cpu.value > 0.0;
        let mut figure = own.figure(known);
        figure.conditions.set(ALLOCATOR, plain_to(row.allocator, 40));
        if let Some(round) = figure.rounds.first_mut().filter(|_| is_single && waited) {
            round.evidence.put(OVERRUN, row.elapsed.value / row.cpu.value - 1.0);
        }
        rows.push(figure);
    }
    rows.note("RSS, CPU time, faults");
    rows.figures("has no row of a test")
}

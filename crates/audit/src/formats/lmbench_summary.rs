//! lmbench's summary: tables with a line for each run of a host. Its columns are as wide as the dashes under their heads.

use figure::evidence::audit::{BARE_SWITCH, RANDOM_LATENCY, SUBJECT};
use figure::evidence::{COUNTED_BYTES, KERNEL, TEST_CLASS};
use figure::format::plain_to;
use figure::{Better, Convention, Evidence, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format =
    Format::lines("lmbench summary", &["L M B E N C H", "Context switching - times"], starts, None, parse);

const HEAD: &str = "L M B E N C H ";
/// Lines between a table's title and the dashes, and lines of a table.
const TITLE_LINES: usize = 8;
const MOST_ROWS: usize = 200;
/// Words of a line before its first number: host, system, and the system's version.
const NAMES: usize = 3;

/// What a column is: its place behind the names, the last part of its figure's id, the figure's name.
type Column = (usize, &'static str, &'static str);

/// A table: how its title begins, its unit, which way is better, its class, and the columns that become figures.
struct Table {
    title: &'static str,
    unit: Unit,
    better: Better,
    class: &'static str,
    columns: &'static [Column],
}

const TABLES: &[Table] = &[
    Table {
        title: "Processor, Processes - times in microseconds",
        unit: Unit::of("µs"),
        better: Better::Lower,
        class: "process",
        columns: &[
            (1, "null-call", "null system call"),
            (2, "null-io", "read and write of a byte"),
            (3, "stat", "stat"),
            (4, "open-close", "open and close"),
            (5, "select-tcp", "select of 100 TCP sockets"),
            (6, "signal-install", "installation of a signal handler"),
            (7, "signal", "handling of a signal"),
            (8, "fork", "fork, exit and wait"),
            (9, "exec", "fork, exec and wait"),
            (10, "sh", "sh -c"),
        ],
    },
    operations(
        "Basic integer operations",
        &[
            (0, "integer-bit", "bit operation of integers"),
            (1, "integer-add", "sum of integers"),
            (2, "integer-mul", "product of integers"),
            (3, "integer-div", "quotient of integers"),
            (4, "integer-mod", "remainder of integers"),
        ],
    ),
    operations(
        "Basic uint64 operations",
        &[
            (0, "int64-bit", "bit operation of 64-bit integers"),
            (1, "int64-add", "sum of 64-bit integers"),
            (2, "int64-mul", "product of 64-bit integers"),
            (3, "int64-div", "quotient of 64-bit integers"),
            (4, "int64-mod", "remainder of 64-bit integers"),
        ],
    ),
    operations(
        "Basic float operations",
        &[
            (0, "float-add", "sum of floats"),
            (1, "float-mul", "product of floats"),
            (2, "float-div", "quotient of floats"),
            (3, "float-bogomflops", "operations of floats"),
        ],
    ),
    operations(
        "Basic double operations",
        &[
            (0, "double-add", "sum of doubles"),
            (1, "double-mul", "product of doubles"),
            (2, "double-div", "quotient of doubles"),
            (3, "double-bogomflops", "operations of doubles"),
        ],
    ),
    Table {
        title: "Context switching - times in microseconds",
        unit: Unit::of("µs"),
        better: Better::Lower,
        class: "switching",
        columns: &[
            (0, BARE, "switch of 2 tasks"),
            (1, "2p-16k", "switch of 2 tasks with 16 KiB"),
            (2, "2p-64k", "switch of 2 tasks with 64 KiB"),
            (3, "8p-16k", "switch of 8 tasks with 16 KiB"),
            (4, "8p-64k", "switch of 8 tasks with 64 KiB"),
            (5, "16p-16k", "switch of 16 tasks with 16 KiB"),
            (6, "16p-64k", "switch of 16 tasks with 64 KiB"),
        ],
    },
    Table {
        title: "*Local* Communication latencies in microseconds",
        unit: Unit::of("µs"),
        better: Better::Lower,
        class: "switching",
        columns: &[
            (1, "pipe", "round trip through pipes"),
            (2, "unix", "round trip through Unix sockets"),
            (3, "udp", "round trip by UDP to this host"),
            (4, "rpc-udp", "remote call by UDP to this host"),
            (5, "tcp", "round trip by TCP to this host"),
            (6, "rpc-tcp", "remote call by TCP to this host"),
            (7, "tcp-connect", "connection by TCP to this host"),
        ],
    },
    Table {
        title: "*Remote* Communication latencies in microseconds",
        unit: Unit::of("µs"),
        better: Better::Lower,
        class: "",
        columns: &[
            (0, "udp-remote", "round trip by UDP to another host"),
            (1, "rpc-udp-remote", "remote call by UDP to another host"),
            (2, "tcp-remote", "round trip by TCP to another host"),
            (3, "rpc-tcp-remote", "remote call by TCP to another host"),
            (4, "tcp-connect-remote", "connection by TCP to another host"),
        ],
    },
    Table {
        title: "File & VM system latencies in microseconds",
        unit: Unit::of("µs"),
        better: Better::Lower,
        class: "files",
        columns: &[
            (0, "create-0k", "creation of an empty file"),
            (1, "delete-0k", "deletion of an empty file"),
            (2, "create-10k", "creation of a file of 10 KiB"),
            (3, "delete-10k", "deletion of a file of 10 KiB"),
            (4, "mappings", "mapping of a file"),
            (5, "protection-fault", "protection fault"),
            (6, "page-fault", "page fault on a file"),
            (7, "select", "select of 100 files"),
        ],
    },
    Table {
        title: "*Local* Communication bandwidths in MB/s",
        unit: Unit::GB_PER_S,
        better: Better::Higher,
        class: "",
        columns: &[
            (0, "pipe-bandwidth", "through a pipe"),
            (1, "unix-bandwidth", "through a Unix socket"),
            (2, "tcp-bandwidth", "TCP to this host"),
            (3, "file-read", "read of a file in the page cache"),
            (4, "mmap-read", "read of a mapped file"),
            (5, "bcopy-libc", "copy by memcpy"),
            (6, "bcopy-hand", "copy by a loop"),
            (7, "mem-read", "read"),
            (8, "mem-write", "write"),
        ],
    },
    Table {
        title: "Memory latencies in nanoseconds",
        unit: Unit::NANOSECONDS,
        better: Better::Lower,
        class: "",
        columns: &[
            (1, "l1", "latency of the first-level cache"),
            (2, "l2", "latency of the second-level cache"),
            (3, MAIN, "latency of memory"),
            (4, RANDOM, "latency of memory in random order"),
        ],
    },
];

/// A table of single operations.
const fn operations(title: &'static str, columns: &'static [Column]) -> Table {
    Table { title, unit: Unit::NANOSECONDS, better: Better::Lower, class: "compute", columns }
}

/// Columns of bandwidths of memory: the sizes are those of the largest blocks, which the tables do not show.
const MEMORY: &[&str] = &["bcopy-libc", "bcopy-hand", "mem-read", "mem-write"];
const BARE: &str = "2p-0k";
const MAIN: &str = "main";
const RANDOM: &str = "random";

fn begins(line: &str) -> bool {
    line.starts_with(HEAD) || TABLES.iter().any(|table| line.starts_with(table.title))
}

/// One run for all tables of a text: parts of one table describe another.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| begins(line)) && !before.iter().rev().any(|line| begins(line))
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for table in TABLES {
        let titles = run.lines.iter().enumerate().filter(|(_, line)| line.starts_with(table.title));
        for (at, _) in titles.take(MOST_ROWS) {
            for (host, cells) in rows(&run.lines[at + 1..]) {
                figures.extend(of_row(table, &host, &cells));
            }
        }
    }
    if figures.is_empty() { Err("has no table that is read".to_owned()) } else { Ok(figures) }
}

/// The lines of a table below its dashes: the host, and a number for each column that has one.
fn rows(lines: &[&str]) -> Vec<(String, Vec<Option<f64>>)> {
    let is_rule = |line: &&str| line.contains(" ---") && line.chars().all(|c| matches!(c, '-' | ' '));
    // The rule across the page has no gaps.
    let Some(at) = lines.iter().take(TITLE_LINES).position(is_rule) else { return Vec::new() };
    let ends = ends(lines[at]);
    let table = lines[at + 1..].iter().take(MOST_ROWS);
    table.map_while(|line| row(line, &ends)).collect()
}

/// Where the columns end, in characters, those of host and system left out.
fn ends(rule: &str) -> Vec<usize> {
    let chars: Vec<char> = rule.chars().collect();
    let ends = (0..chars.len()).filter(|at| chars[*at] == '-' && chars.get(at + 1) != Some(&'-'));
    ends.skip(NAMES - 1).collect()
}

/// A line: each number belongs to the first column that ends where it does, or later. Where there are as many numbers as columns, they are in
/// order. `None` where it is no line of the table, or two numbers stand in one column.
fn row(line: &str, ends: &[usize]) -> Option<(String, Vec<Option<f64>>)> {
    let words = spans(line);
    let (names, numbers) = words.split_at_checked(NAMES)?;
    let host = names.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ");
    let mut cells = vec![None; ends.len()];
    for (at, (end, word)) in numbers.iter().enumerate() {
        // A long name moves the line by a place.
        let stands = || ends.iter().position(|own| own + 1 >= *end);
        let column = if numbers.len() == ends.len() { Some(at) } else { stands() }?;
        if cells[column].is_some() {
            return None;
        }
        cells[column] = Some(value(word)?);
    }
    cells.iter().any(Option::is_some).then(|| (plain_to(&host, MAX_SUBJECT), cells))
}

/// The words of a line, each with the place of its last character.
fn spans(line: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (at, c) in line.chars().enumerate().filter(|(_, c)| !c.is_whitespace()) {
        match words.last_mut() {
            Some((end, word)) if *end + 1 == at => (*end, _) = (at, word.push(c)),
            _ => words.push((at, c.to_string())),
        }
    }
    words
}

/// `2.6000`, `400.`, `26.9K`.
fn value(word: &str) -> Option<f64> {
    match word.strip_suffix('K') {
        Some(digits) => number(digits).map(|value| value * 1e3),
        None => number(word),
    }
}

fn of_row(table: &Table, host: &str, cells: &[Option<f64>]) -> Vec<Figure> {
    let cell = |word: &str| {
        let (at, ..) = table.columns.iter().find(|(_, own, _)| *own == word)?;
        *cells.get(*at)?
    };
    let (bare, random) = (cell(BARE), cell(RANDOM));
    let figure = |(at, word, name): &Column| {
        let value = (*cells.get(*at)?)?;
        let mut figure = Figure::planned(
            format!("{SUITE}.lmbench.{word}"),
            SUITE,
            format!("{name} by lmbench"),
            table.unit.clone(),
            table.better,
        );
        figure.conditions.set(SUBJECT, host.to_owned());
        if !table.class.is_empty() {
            figure.conditions.set(TEST_CLASS, table.class.to_owned());
        }
        let mut evidence = Evidence::default();
        let is_bandwidth = table.unit == Unit::GB_PER_S;
        if MEMORY.contains(word) {
            let copies = word.starts_with("bcopy");
            figure.convention = Some(if copies { Convention::Copied } else { Convention::EstimatedTraffic });
            figure.conditions.set(COUNTED_BYTES, 8.0);
        }
        if *word == MAIN {
            figure.conditions.set(KERNEL, "latency".to_owned());
            random.into_iter().for_each(|random| evidence.put(RANDOM_LATENCY, random));
        }
        if *word != BARE && table.title.starts_with("Context") {
            bare.into_iter().for_each(|bare| evidence.put(BARE_SWITCH, bare));
        }
        figure.rounds.push(round(0.0, if is_bandwidth { value / 1e3 } else { value }, evidence));
        Some(figure)
    };
    table.columns.iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "--------- ------------- ------ ------ ------ ------ ------ ------- -------";

    #[test]
    fn numbers_belong_to_the_columns_that_they_stand_in() {
        let ends = ends(RULE);
        assert_eq!(ends.len(), 7);
        let (host, cells) =
            row("lucent.rd  Linux 2.4.20 1.7300 0.8800                 14.7 0.10000    24.9", &ends).unwrap();
        assert_eq!(host, "lucent.rd Linux 2.4.20");
        assert_eq!(cells, [Some(1.73), Some(0.88), None, None, Some(14.7), Some(0.1), Some(24.9)]);
        // A name that is too long moves all of them.
        let (_, cells) =
            row("example-vm Linux 3.10.0- 6.0200 6.1100 7.8400 7.4600 7.8000 7.23000 8.39000", &ends)
                .unwrap();
        assert_eq!(cells[6], Some(8.39));
        assert_eq!(row("                        ~~~~~~~~~~~~~~", &ends), None);
        assert_eq!([value("26.9K"), value("400."), value("-1")], [Some(26900.0), Some(400.0), None]);
    }
}

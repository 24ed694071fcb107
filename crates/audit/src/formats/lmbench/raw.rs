//! Other lines of lmbench's programs, as in a file of its results: times and bandwidths with a label, and tables of sizes.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, TEST_CLASS, THREADS, WORKING_SET};
use figure::format::{bytes, plain_to};
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Convention, Figure, Unit};

use crate::SUITE;
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, SWITCHING, number};

/// What stands in the first lines of such runs.
pub(super) const MARKS: [&str; 8] = [
    "Simple syscall:",
    "libc bcopy",
    "Memory bzero bandwidth",
    "Memory read bandwidth",
    "Socket bandwidth using",
    "fork+exit:",
    "Pipe latency:",
    "STREAM copy bandwidth",
];

/// A time that stands behind a label: the label, the part of the id, its name, and its class.
type Time = (&'static str, &'static str, &'static str, &'static str);
/// Of labels with the name of a host or a file behind them the first words (lat_udp.c, lat_pagefault.c). What two tasks do in turn is
/// switching: where they run decides.
const TIMES: &[Time] = &[
    ("Null syscall:", "null-call", "null system call", "syscall"),
    ("Simple syscall:", "null-call", "null system call", "syscall"),
    ("Simple read:", "read", "read of a byte", "syscall"),
    ("Simple write:", "write", "write of a byte", "syscall"),
    ("Simple stat:", "stat", "stat", "syscall"),
    ("Simple fstat:", "fstat", "fstat", "syscall"),
    ("Simple open/close:", "open-close", "open and close", "syscall"),
    ("Signal handler installation:", "signal-install", "installation of a signal handler", "syscall"),
    ("Signal handler overhead:", "signal", "handling of a signal", "process"),
    ("Protection fault:", "protection-fault", "protection fault", "process"),
    ("Procedure call:", "procedure-call", "call of a function", "compute"),
    ("Process fork+exit:", "fork", "fork, exit and wait", "process"),
    ("Process fork+execve:", "exec", "fork, exec and wait", "process"),
    ("Process fork+/bin/sh -c:", "sh", "sh -c", "process"),
    ("Static Process fork+exit:", "fork", "fork, exit and wait", "process"),
    ("Static Process fork+execve:", "exec", "fork, exec and wait", "process"),
    ("Static Process fork+/bin/sh -c:", "sh", "sh -c", "process"),
    ("Pagefaults on ", "page-fault", "page fault on a file", "files"),
    ("Pipe latency:", "pipe", "round trip through pipes", SWITCHING),
    ("Fifo latency:", "fifo", "round trip through named pipes", SWITCHING),
    ("Semaphore latency:", "semaphore", "round trip through semaphores", SWITCHING),
    ("Fcntl lock latency:", "fcntl", "round trip through locks of a file", SWITCHING),
    ("AF_UNIX sock stream latency:", "unix", "round trip through Unix sockets", SWITCHING),
    ("UNIX connection cost:", "unix-connect", "connection to a Unix socket", ""),
    ("UDP latency using localhost:", "udp", "round trip by UDP to this host", SWITCHING),
    ("TCP latency using localhost:", "tcp", "round trip by TCP to this host", SWITCHING),
    ("RPC/udp latency using localhost:", "rpc-udp", "remote call by UDP to this host", SWITCHING),
    ("RPC/tcp latency using localhost:", "rpc-tcp", "remote call by TCP to this host", SWITCHING),
    ("TCP/IP connection cost to localhost:", "tcp-connect", "connection by TCP to this host", ""),
    ("UDP latency using ", "udp-remote", "round trip by UDP to another host", ""),
    ("TCP latency using ", "tcp-remote", "round trip by TCP to another host", ""),
    ("RPC/udp latency using ", "rpc-udp-remote", "remote call by UDP to another host", ""),
    ("RPC/tcp latency using ", "rpc-tcp-remote", "remote call by TCP to another host", ""),
    ("TCP/IP connection cost to ", "tcp-connect-remote", "connection by TCP to another host", ""),
];
/// Kinds of numbers and operations of lat_ops: each line has one of each.
const NUMBERS: &[&str] = &["integer", "int64", "uint64", "float", "double"];
const OPERATIONS: &[&str] = &["bit", "add", "mul", "div", "mod", "bogomflops"];
/// Bandwidths that stand behind a label, likewise.
const BANDWIDTHS: &[(&str, &str, &str)] = &[
    ("Pipe bandwidth:", "pipe-bandwidth", "through a pipe"),
    ("AF_UNIX sock stream bandwidth:", "unix-bandwidth", "through a Unix socket"),
];
/// Kernels of its STREAM and STREAM2: the words before `bandwidth:`, our word, bytes that are counted for an element (stream.c),
/// and the kernel.
const STREAM: &[(&str, &str, f64, &str)] = &[
    ("STREAM copy", "stream-copy", 16.0, "copy"),
    ("STREAM scale", "stream-scale", 16.0, "scale"),
    ("STREAM add", "stream-add", 24.0, "add"),
    ("STREAM triad", "stream-triad", 24.0, "triad"),
    ("STREAM2 fill", "stream2-fill", 8.0, "write"),
    ("STREAM2 copy", "stream2-copy", 16.0, "copy"),
    ("STREAM2 daxpy", "stream2-daxpy", 24.0, "update"),
    ("STREAM2 sum", "stream2-sum", 8.0, "read"),
];
/// Units of time, in seconds.
const UNITS: &[(&str, f64)] = &[("nanoseconds", 1e-9), ("microseconds", 1e-6), ("milliseconds", 1e-3)];

/// A table of sizes in decimal megabytes and what goes with each: its title, the part of the id, the name, and what it is of.
struct Table {
    title: &'static str,
    part: &'static str,
    name: &'static str,
    of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    /// Bandwidth of memory by a kernel; of a copy the bytes that arrive are counted.
    Memory(&'static str, Convention),
    /// Bandwidth of files in the page cache, or of sockets.
    Other,
    /// Microseconds for a mapping.
    Mapping,
}

const TABLES: &[Table] = &[
    memory("libc bcopy unaligned", "bcopy", "copy by memcpy", "copy", Convention::Copied),
    memory("libc bcopy aligned", "bcopy-aligned", "copy by memcpy, aligned", "copy", Convention::Copied),
    memory("unrolled bcopy unaligned", "bcopy-unrolled", "copy by a loop", "copy", Convention::Copied),
    memory(
        "unrolled partial bcopy unaligned",
        "bcopy-partial",
        "copy of a part of each line",
        "copy",
        Convention::Copied,
    ),
    memory("Memory bzero bandwidth", "bzero", "write by memset", "write", Convention::EstimatedTraffic),
    memory("Memory read bandwidth", "read-bandwidth", "read", "read", Convention::EstimatedTraffic),
    memory(
        "Memory partial read bandwidth",
        "read-partial",
        "read of a part of each line",
        "read",
        Convention::EstimatedTraffic,
    ),
    memory("Memory write bandwidth", "write-bandwidth", "write", "write", Convention::EstimatedTraffic),
    memory(
        "Memory partial write bandwidth",
        "write-partial",
        "write of a part of each line",
        "write",
        Convention::EstimatedTraffic,
    ),
    memory(
        "Memory partial read/write bandwidth",
        "update-partial",
        "read and write of a part of each line",
        "update",
        Convention::EstimatedTraffic,
    ),
    Table {
        title: "read bandwidth",
        part: "file-read",
        name: "read of a file in the page cache",
        of: Of::Other,
    },
    Table {
        title: "read open2close bandwidth",
        part: "file-open-read",
        name: "open and read of a file in the page cache",
        of: Of::Other,
    },
    Table { title: "Mmap read bandwidth", part: "mmap-read", name: "read of a mapped file", of: Of::Other },
    Table {
        title: "Mmap read open2close bandwidth",
        part: "mmap-open-read",
        name: "mapping and read of a file",
        of: Of::Other,
    },
    Table {
        title: "Socket bandwidth using localhost",
        part: "tcp-bandwidth",
        name: "TCP to this host",
        of: Of::Other,
    },
    Table {
        title: "Socket bandwidth using ",
        part: "tcp-bandwidth-remote",
        name: "TCP to another host",
        of: Of::Other,
    },
    Table { title: "mappings", part: "mappings", name: "mapping of a file", of: Of::Mapping },
];

const fn memory(
    title: &'static str,
    part: &'static str,
    name: &'static str,
    kernel: &'static str,
    counts: Convention,
) -> Table {
    Table { title, part, name, of: Of::Memory(kernel, counts) }
}

const FILES: &str = "File system latency";
/// More rows than any table has.
const MOST_ROWS: usize = 200;
/// Lines before a table in which the number of processes may stand.
const HEAD: usize = 400;
/// Bytes of lmbench's MB, but in lat_mem_rd.
const MEGA: f64 = 1e6;
/// Bytes of an element: a word.
const WORD: f64 = 8.0;

/// A title without the quote before it.
fn bare(line: &str) -> &str {
    line.trim_start_matches('"').trim_end()
}

/// The table that this line is the title of.
fn table(line: &str) -> Option<&'static Table> {
    let title = bare(line);
    let is_own =
        |table: &&Table| title == table.title || table.title.ends_with(' ') && title.starts_with(table.title);
    TABLES.iter().find(is_own)
}

/// The time behind a label, in seconds.
fn time(line: &str) -> Option<(&str, Printed)> {
    let (label, rest) = line.rsplit_once(": ")?;
    let (digits, unit) = rest.trim().split_once(' ')?;
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some((label, Printed::of(digits)?.times(factor)))
}

/// A bandwidth in GB/s: `1234.56 MB/sec`, `8192 KB/sec`.
fn bandwidth(text: &str) -> Option<Printed> {
    let (digits, unit) = text.trim().split_once(' ')?;
    let factor = [("MB/sec", 1e-3), ("KB/sec", 1e-6)].into_iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(Printed::of(digits)?.times(factor))
}

/// What a line is by itself.
enum Single {
    Time(&'static Time, Printed),
    Operation(&'static str, &'static str, Printed),
    Bandwidth(&'static str, &'static str, Printed),
    Stream(usize, Printed),
    /// To a file, `File /tmp/XXX write bandwidth: 8192 KB/sec`.
    File(Printed),
}

fn single(line: &str) -> Option<Single> {
    if !line.contains(':') {
        return None;
    }
    if let Some((label, printed)) = time(line) {
        let of = |own: &&Time| line.starts_with(own.0);
        if let Some(own) = TIMES.iter().find(of) {
            return Some(Single::Time(own, printed));
        }
        if label.starts_with("Select on ") {
            return Some(Single::Time(select(label)?, printed));
        }
        let (kind, operation) = label.split_once(' ')?;
        let kind = NUMBERS.iter().find(|own| **own == kind)?;
        return Some(Single::Operation(kind, OPERATIONS.iter().find(|own| **own == operation)?, printed));
    }
    if let Some((part, name, rest)) =
        BANDWIDTHS.iter().find_map(|(label, part, name)| Some((*part, *name, line.strip_prefix(label)?)))
    {
        return Some(Single::Bandwidth(part, name, bandwidth(rest)?));
    }
    if let Some(rest) = line.strip_prefix("STREAM") {
        let at = STREAM
            .iter()
            .position(|own| line.strip_prefix(own.0).is_some_and(|rest| rest.starts_with(" bandwidth: ")))?;
        return Some(Single::Stream(at, bandwidth(rest.split_once(": ")?.1)?));
    }
    // The label is printed as it is in the command, with or without a space.
    let (file, rest) = line.strip_prefix("File ")?.split_once(" write bandwidth:")?;
    (!file.is_empty()).then_some(Single::File(bandwidth(rest)?))
}

/// `Select on 100 fd's`, `Select on 100 tcp fd's`.
fn select(label: &str) -> Option<&'static Time> {
    const SELECTS: &[Time] = &[
        ("10", "select-10", "select of 10 files", "syscall"),
        ("100", "select-100", "select of 100 files", "syscall"),
        ("250", "select-250", "select of 250 files", "syscall"),
        ("500", "select-500", "select of 500 files", "syscall"),
        ("10 tcp", "select-10-tcp", "select of 10 TCP sockets", "syscall"),
        ("100 tcp", "select-100-tcp", "select of 100 TCP sockets", "syscall"),
        ("250 tcp", "select-250-tcp", "select of 250 TCP sockets", "syscall"),
        ("500 tcp", "select-500-tcp", "select of 500 TCP sockets", "syscall"),
    ];
    let words = label.strip_prefix("Select on ")?.strip_suffix(" fd's")?;
    SELECTS.iter().find(|own| own.0 == words)
}

/// Two numbers, the second perhaps with its unit.
fn pair(line: &str) -> Option<(f64, Printed)> {
    let mut words = line.split_whitespace();
    let (size, value, unit) = (words.next()?, words.next()?, words.next());
    let is_whole = unit.is_none_or(|unit| unit == "MB/sec") && words.next().is_none();
    Some((number(size)?, Printed::of(value)?)).filter(|_| is_whole)
}

/// `0k 10 12345 23456`: a size, files, files that were made a second, and that were deleted.
fn files(line: &str) -> Option<(&str, f64, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [size, count, made, deleted] = words[..] else { return None };
    number(size.strip_suffix('k')?)?;
    number(count)?;
    Some((size, number(made)?, number(deleted)?))
}

pub(super) fn starts(rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let next = || rest.iter().skip(1).find(|line| !line.is_empty());
    let is_table = table(line).is_some() && next().is_some_and(|line| pair(line).is_some());
    let is_files = bare(line) == FILES && next().is_some_and(|line| files(line).is_some());
    is_table || is_files || single(line).is_some()
}

pub(super) fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let line = run.lines.first().copied().unwrap_or_default();
    if bare(line) == FILES {
        return of_files(run, known);
    }
    match (table(line), single(line)) {
        (Some(own), _) => of_table(run, own, known),
        (None, Some(own)) => Ok(vec![of_single(run, own, known)]),
        (None, None) => Err("has no number".to_owned()),
    }
}

fn quantity(part: String, name: &str, value: Printed, unit: Unit, better: Better) -> Quantity {
    Quantity::of("lmbench", part, format!("{name} by lmbench"), value, unit, better)
}

fn of_single(run: &Run, own: Single, known: &Known) -> Figure {
    let microseconds = |time: Printed| time.times(1e6);
    let mut class = "";
    let quantity = match own {
        Single::Time(&(label, part, name, own), time) => {
            class = own;
            let mut quantity =
                quantity(part.to_owned(), name, microseconds(time), Unit::of("µs"), Better::Lower);
            // Of a host, not of a file.
            if label.ends_with(" using ") || label.ends_with(" to ") {
                let line = run.lines.first().copied().unwrap_or_default();
                let rest =
                    line.strip_prefix(label).and_then(|rest| rest.split(':').next()).unwrap_or_default();
                quantity.subject = plain_to(rest, 60);
            }
            quantity.operation = Some(time);
            quantity
        }
        Single::Operation(kind, operation, time) => {
            let part = format!("{kind}-{operation}");
            let mut quantity = quantity(
                part,
                &format!("{operation} of {kind} numbers"),
                time.times(1e9),
                Unit::NANOSECONDS,
                Better::Lower,
            );
            quantity.operation = Some(time);
            quantity
        }
        Single::Bandwidth(part, name, rate) => {
            quantity(part.to_owned(), name, rate, Unit::GB_PER_S, Better::Higher)
        }
        Single::File(rate) => {
            quantity("file-write".to_owned(), "write of a file", rate, Unit::GB_PER_S, Better::Higher)
        }
        Single::Stream(at, rate) => stream(run, at, rate),
    };
    let mut figure = quantity.figure(known);
    if !class.is_empty() {
        figure.conditions.set(TEST_CLASS, class.to_owned());
    }
    figure
}

/// A kernel of STREAM. The line before has the time of an element.
fn stream(run: &Run, at: usize, rate: Printed) -> Quantity {
    let (words, part, counted, kernel) = STREAM[at.min(STREAM.len() - 1)];
    let mut quantity =
        quantity(part.to_owned(), &format!("{kernel} by its STREAM"), rate, Unit::GB_PER_S, Better::Higher);
    let before = run.before.iter().rev().find(|line| !line.is_empty());
    let element =
        before.and_then(|line| time(line)).filter(|(label, _)| label.strip_suffix(" latency") == Some(words));
    quantity.again = element.filter(|(_, time)| time.value > 0.0).map(|(_, time)| {
        let again = counted / time.value / 1e9;
        Printed { value: again, off: again * time.share() }
    });
    quantity.operation = element.map(|(_, time)| time);
    quantity.memory =
        Some(Memory { kernel, counted, convention: Some(Convention::StreamCounted), ..Memory::default() });
    quantity
}

/// Processes that worked at once, by the head of a file of results.
fn processes(run: &Run) -> f64 {
    let head = run.before.iter().rev().take(HEAD).find_map(|line| line.strip_prefix("[SYNC_MAX: "));
    head.and_then(|rest| number(rest.trim_end_matches(']'))).unwrap_or(1.0).max(1.0)
}

fn of_table(run: &Run, own: &Table, known: &Known) -> Result<Vec<Figure>, String> {
    let rows: Vec<(f64, Printed)> = run
        .lines
        .iter()
        .skip(1)
        .filter(|line| !line.is_empty())
        .take(MOST_ROWS)
        .map_while(|line| pair(line))
        .collect();
    let largest = rows.iter().map(|(size, _)| *size).fold(0.0, f64::max);
    if rows.is_empty() {
        return Err("has no line of a size and a number".to_owned());
    }
    let processes = processes(run);
    let of = |part: String, size: f64, value: Printed| {
        let name = format!("{} with {}", own.name, bytes(size * MEGA));
        let (value, unit, better) = match own.of {
            Of::Mapping => (value, Unit::of("µs"), Better::Lower),
            _ => (value.times(1e-3), Unit::GB_PER_S, Better::Higher),
        };
        let mut quantity = quantity(part, &name, value, unit, better);
        if let Of::Memory(kernel, convention) = own.of {
            // bw_mem does not check what it copied.
            quantity.memory = Some(Memory { kernel, convention: Some(convention), ..Memory::default() });
        }
        let mut figure = quantity.figure(known);
        if processes > 1.0 {
            figure.conditions.set(THREADS, processes);
        }
        figure
    };
    let mut figures = Vec::new();
    let mut sizes: Vec<u64> = Vec::new();
    for (size, value) in &rows {
        // Programs print small sizes with few digits.
        let size = (size * MEGA).round();
        if sizes.contains(&(size as u64)) {
            continue;
        }
        sizes.push(size as u64);
        let mut figure = of(format!("{}.{size}", own.part), size / MEGA, *value);
        figure.conditions.set(WORKING_SET, size);
        figure.series = Some(format!("{SUITE}.lmbench.{}", own.part));
        let at = Coordinate { value: CoordinateValue::Number(size), unit: Some(Unit::BYTES) };
        figure.at = At::from([("array".to_owned(), at)]);
        figures.push(figure);
    }
    // Of the largest block the curve is of memory, as far as the block is larger than the caches.
    if let Some((size, value)) = rows.iter().find(|(size, _)| *size == largest) {
        let mut figure = of(own.part.to_owned(), *size, *value);
        if matches!(own.of, Of::Memory(..)) {
            figure.conditions.set(ARRAY_BYTES, size * MEGA * processes);
            figure.conditions.set(COUNTED_BYTES, WORD);
        }
        figures.push(figure);
    }
    Ok(figures)
}

/// Files that were made and deleted, in a second.
fn of_files(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let rows = run
        .lines
        .iter()
        .skip(1)
        .filter(|line| !line.is_empty())
        .take(MOST_ROWS)
        .map_while(|line| files(line));
    let mut figures = Vec::new();
    for (size, made, deleted) in rows {
        for (word, name, rate) in [("create", "files made", made), ("delete", "files deleted", deleted)] {
            let part = format!("{word}-{}", plain_to(size, 8));
            let name = format!("{name}, {} each", plain_to(size, 8));
            let value = Printed { value: rate, off: 0.5 };
            let mut figure = quantity(part, &name, value, Unit::PER_S, Better::Higher).figure(known);
            figure.conditions.set(TEST_CLASS, "files".to_owned());
            figures.push(figure);
        }
    }
    match figures.first_mut() {
        Some(first) => {
            first.evidence.put(UNJUDGED, "the file system, which the text does not show".to_owned())
        }
        None => return Err("has no line of a size and two rates".to_owned()),
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_label() {
        let of = |line: &str| match single(line) {
            Some(Single::Time(own, time)) => format!("{} {:.4}", own.1, time.value * 1e6),
            Some(Single::Operation(kind, operation, time)) => {
                format!("{kind} {operation} {:.2}", time.value * 1e9)
            }
            Some(Single::Bandwidth(part, _, rate)) => format!("{part} {:.3}", rate.value),
            Some(Single::Stream(at, rate)) => format!("{} {:.3}", STREAM[at].1, rate.value),
            Some(Single::File(rate)) => format!("file {:.3}", rate.value),
            None => String::new(),
        };
        assert_eq!(of("Simple syscall: 0.0407 microseconds"), "null-call 0.0407");
        assert_eq!(of("Select on 100 tcp fd's: 4.2213 microseconds"), "select-100-tcp 4.2213");
        assert_eq!(of("integer mul: 0.06 nanoseconds"), "integer mul 0.06");
        assert_eq!(of("TCP/IP connection cost to localhost: 12.1 microseconds"), "tcp-connect 12.1000");
        assert_eq!(of("UDP latency using 192.0.2.1: 52.1 microseconds"), "udp-remote 52.1000");
        assert_eq!(of("Pipe bandwidth: 4321.10 MB/sec"), "pipe-bandwidth 4.321");
        assert_eq!(of("STREAM2 sum bandwidth: 8000.00 MB/sec"), "stream2-sum 8.000");
        assert_eq!(of("File /tmp/XXX write bandwidth: 8192 KB/sec"), "file 0.008");
        assert_eq!(of("File /var/tmp/XXX write bandwidth:1333 KB/sec"), "file 0.001");
        for line in [
            "mean: 12 microseconds",
            "STREAM copy latency: 1.50 nanoseconds",
            "Simple: yes",
            "integer bit parallelism: 2.96",
        ] {
            assert_eq!(of(line), "", "{line}");
        }
    }

    #[test]
    fn titles_with_and_without_their_quote() {
        for (line, part) in [
            ("\"libc bcopy aligned", "bcopy-aligned"),
            ("Memory bzero bandwidth", "bzero"),
            ("\"Mmap read bandwidth", "mmap-read"),
            ("\"read bandwidth", "file-read"),
            ("Socket bandwidth using localhost", "tcp-bandwidth"),
            ("Socket bandwidth using 192.0.2.1", "tcp-bandwidth-remote"),
        ] {
            assert_eq!(table(line).map(|own| own.part), Some(part));
        }
        assert_eq!(pair("0.000064 12.30 MB/sec").map(|(size, _)| size), Some(0.000064));
        assert_eq!((pair("1 2 3"), pair("x 2")), (None, None));
        assert_eq!(files("0k\t10\t12345\t23456"), Some(("0k", 12345.0, 23456.0)));
    }
}

//! What an observer saw, kept in a file: a case that somebody sends, to be judged again where neither the program nor its machine is.
//!
//! One JSON value a line, gzipped: a head, what the kernel told in the order in which it was put together, what was read of processes besides, and a
//! tail; a file without its tail is cut short. Times (microseconds) and addresses are differences to those of the entry before, which makes a
//! run of faults a few bytes each. Stacks, and the programs' files, are not in it; of files outside of the system's
//! directories the name alone.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::Totals;
use super::events::Set;
use super::looked::Looked;
use super::record::{Entry, Fault, Map, Regs, What};
use crate::allocator::AllocatorHints;

/// The format's number.
const FORMAT: u32 = 1;
/// Directories whose files are named in full: they are those of a distribution, and tell nothing of a person.
const SYSTEM: &[&str] =
    &["/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/dev/", "/SYSV", "/anon_hugepage", "/memfd:"];
/// Bytes of a file at most, unpacked: half an hour of as many faults as are ever sampled. A small file may unpack to anything.
const MOST_BYTES: u64 = 512 << 20;
/// Entries and mappings of a file at most. Some hundred bytes of memory each, and as few as twelve in the file; the longest of those that
/// are kept here (tests/data) has 48 000.
const MOST_ENTRIES: usize = 4 << 20;
/// Stands for any other directory.
const ELSEWHERE: &str = "/…/";

/// A line of the file.
#[derive(Serialize, Deserialize)]
enum Line {
    /// The first: the format's number, bytes of a page.
    #[serde(rename = "truebench-events")]
    Head { format: u32, page: u64 },
    /// Microseconds since the entry before; process, thread; address, instruction and stack pointer as differences, the
    /// stack pointer's to the address; weight; is major, of a burst, in the kernel.
    #[serde(rename = "f")]
    Fault(i64, u32, u32, i64, i64, Option<i64>, u64, [u8; 3]),
    #[serde(rename = "m")]
    Map(i64, Mapped),
    #[serde(rename = "k")]
    Fork(i64, u32, u32, u32),
    #[serde(rename = "n")]
    Name(i64, u32, u32, String, bool),
    #[serde(rename = "x")]
    Exit(i64, u32, u32),
    #[serde(rename = "l")]
    Lost(i64, String, u64, u64),
    #[serde(rename = "p")]
    Peak(i64, u32, u64),
    /// Whether mappings of data are told from now on.
    #[serde(rename = "t")]
    Mappings(i64, bool),
    /// What was read of a process.
    #[serde(rename = "r")]
    Looked { time: i64, process: u32, name: String, maps: Vec<Mapped> },
    /// The last.
    #[serde(rename = "end")]
    Tail(Tail),
}

impl Line {
    /// For how many of [`MOST_ENTRIES`] it counts.
    fn entries(&self) -> usize {
        match self {
            Line::Looked { maps, .. } => 1 + maps.len(),
            _ => 1,
        }
    }
}

/// A mapping: process, first byte, bytes, offset, protection, whether it is private, name.
#[derive(Serialize, Deserialize)]
struct Mapped(u32, u64, u64, u64, u32, bool, String);

/// What is known in the end alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// What the trace says of itself.
    #[serde(flatten)]
    pub totals: Totals,
    /// What each program's file told, by the program's name.
    pub programs: BTreeMap<String, AllocatorHints>,
}

/// All that a file holds.
#[derive(Debug, Default)]
pub struct Kept {
    /// Bytes of a page.
    pub page: u64,
    /// In their order.
    pub entries: Vec<Entry>,
    /// What was read of processes, in its order.
    pub looked: HashMap<u32, Vec<(u64, Looked)>>,
    /// The end.
    pub tail: Tail,
}

/// Writes one.
pub struct Writer {
    file: GzEncoder<BufWriter<File>>,
    /// Bytes that were written, before they were packed.
    bytes: u64,
    /// Entries and mappings that were written.
    entries: usize,
    last: Last,
    /// Why nothing more is written.
    trouble: Option<std::io::Error>,
}

/// What differences are taken to.
#[derive(Default)]
struct Last {
    time: u64,
    address: u64,
    ip: u64,
}

/// A difference, of numbers that may be anything.
fn minus(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b) as i64
}

fn plus(a: u64, difference: i64) -> u64 {
    a.wrapping_add(difference as u64)
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    /// What the system said.
    pub fn create(path: &Path, page: u64) -> std::io::Result<Writer> {
        let file = GzEncoder::new(BufWriter::new(File::create(path)?), Compression::best());
        let mut writer = Writer { file, bytes: 0, entries: 0, last: Last::default(), trouble: None };
        writer.line(&Line::Head { format: FORMAT, page });
        Ok(writer)
    }

    /// One more entry.
    pub fn entry(&mut self, entry: &Entry) {
        let micros = entry.time / 1000;
        let time = minus(micros, self.last.time);
        let line = match &entry.what {
            // What not everybody has is not kept: calls for memory, error codes, blocks.
            What::Call(_)
            | What::Counting(_)
            | What::Uncounted(_)
            | What::Shares(_)
            | What::Code { .. }
            | What::Block(_) => {
                return;
            }
            What::Fault(fault) => self.fault(time, fault),
            What::Map(map) => Line::Map(time, mapped(map)),
            What::Fork { process, parent, thread } => Line::Fork(time, *process, *parent, *thread),
            What::Name { process, thread, name, exec } => {
                Line::Name(time, *process, *thread, name.clone(), *exec)
            }
            What::Exit { process, thread } => Line::Exit(time, *process, *thread),
            What::Lost { set, records, events } => Line::Lost(time, format!("{set:?}"), *records, *events),
            What::Peak { process, bytes } => Line::Peak(time, *process, *bytes),
            What::Mappings(on) => Line::Mappings(time, *on),
        };
        self.last.time = micros;
        self.line(&line);
    }

    fn fault(&mut self, time: i64, fault: &Fault) -> Line {
        let line = Line::Fault(
            time,
            fault.process,
            fault.thread,
            minus(fault.address, self.last.address),
            minus(fault.ip, self.last.ip),
            fault.regs.map(|regs| minus(regs.sp, fault.address)),
            fault.weight,
            [fault.is_major, fault.is_burst, fault.in_kernel].map(u8::from),
        );
        (self.last.address, self.last.ip) = (fault.address, fault.ip);
        line
    }

    /// What was read of a process.
    pub fn looked(&mut self, time: u64, looked: &Looked) {
        let maps = looked.maps.iter().map(mapped).collect();
        let time = minus(time / 1000, self.last.time);
        self.line(&Line::Looked { time, process: looked.process, name: looked.name.clone(), maps });
    }

    /// Ends the file.
    ///
    /// # Errors
    /// What the system said, now or earlier.
    pub fn end(mut self, tail: Tail) -> std::io::Result<()> {
        self.line(&Line::Tail(tail));
        match self.trouble {
            Some(error) => Err(error),
            None => self.file.finish()?.into_inner()?.sync_data(),
        }
    }

    fn line(&mut self, line: &Line) {
        if self.trouble.is_none() {
            self.trouble = self.put(line).err();
        }
    }

    fn put(&mut self, line: &Line) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.bytes += text.len() as u64;
        self.entries += line.entries();
        if self.bytes > MOST_BYTES || self.entries > MOST_ENTRIES {
            return Err(std::io::Error::other(format!(
                "there was more than {} MiB to keep, or {MOST_ENTRIES} entries",
                MOST_BYTES >> 20
            )));
        }
        self.file.write_all(&text)
    }
}

/// A mapping as it is kept: without directories that may tell of a person.
fn mapped(map: &Map) -> Mapped {
    let Map { process, start, end, offset, protection, is_private, name } = map;
    Mapped(*process, *start, end.saturating_sub(*start), *offset, *protection, *is_private, shortened(name))
}

fn shortened(name: &str) -> String {
    let is_named = !name.starts_with('/') || name.starts_with("//");
    match name.rsplit_once('/') {
        Some((_, file)) if !is_named && !SYSTEM.iter().any(|known| name.starts_with(known)) => {
            format!("{ELSEWHERE}{file}")
        }
        _ => name.to_owned(),
    }
}

fn unmapped(Mapped(process, start, bytes, offset, protection, is_private, name): Mapped) -> Map {
    Map { process, start, end: start.saturating_add(bytes), offset, protection, is_private, name }
}

/// Reads a file.
///
/// # Errors
/// Why it is none, with the line.
pub fn read(path: &Path) -> Result<Kept, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| told(&error))?;
    Kept::of(BufReader::new(GzDecoder::new(file))).map_err(|error| told(&error))
}

impl Kept {
    /// Reads the lines of a file, once they are unpacked.
    ///
    /// # Errors
    /// Why it is none, with the line.
    pub fn of(lines: impl BufRead) -> Result<Kept, String> {
        Kept::within(lines, MOST_ENTRIES)
    }

    fn within(lines: impl BufRead, most: usize) -> Result<Kept, String> {
        let mut kept = Kept::default();
        let (mut last, mut is_whole) = (Last::default(), false);
        // Not the end of what is read: that of an error.
        let mut lines = lines.take(MOST_BYTES + 1);
        let (mut number, mut line, mut entries) = (0, Vec::new(), 0);
        loop {
            number += 1;
            let in_line = |error: &dyn std::fmt::Display| format!("line {number}: {error}");
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(|error| in_line(&error))? == 0 {
                break;
            }
            if lines.limit() == 0 {
                return Err(format!("unpacked it has more than {} MiB", MOST_BYTES >> 20));
            }
            let read: Line = serde_json::from_slice(&line).map_err(|error| in_line(&error))?;
            entries += read.entries();
            if entries > most {
                return Err(in_line(&format!("there are more than {most} entries and mappings")));
            }
            match read {
                Line::Head { format: FORMAT, page: 0 } => return Err(in_line(&"pages of no bytes")),
                Line::Head { format: FORMAT, page } => kept.page = page,
                Line::Head { format, .. } => {
                    return Err(in_line(&format!("format {format} is not known here")));
                }
                _ if kept.page == 0 => return Err(in_line(&"no head: these are no events of truebench")),
                Line::Tail(tail) => (kept.tail, is_whole) = (tail, true),
                Line::Looked { time, process, name, maps } => {
                    let maps = maps.into_iter().map(unmapped).collect();
                    let time = plus(last.time, time).saturating_mul(1000);
                    let looked = Looked { process, name, maps };
                    kept.looked.entry(process).or_default().push((time, looked));
                }
                line => kept.entries.extend(entry(line, &mut last)),
            }
        }
        if is_whole { Ok(kept) } else { Err("it is cut short: its end is missing".to_owned()) }
    }
}

fn entry(line: Line, last: &mut Last) -> Option<Entry> {
    let (time, what) = match line {
        Line::Fault(time, process, thread, address, ip, sp, weight, [major, burst, kernel]) => {
            (last.address, last.ip) = (plus(last.address, address), plus(last.ip, ip));
            let fault = Fault {
                process,
                thread,
                address: last.address,
                ip: last.ip,
                weight,
                is_major: major == 1,
                is_burst: burst == 1,
                in_kernel: kernel == 1,
                regs: sp.map(|sp| Regs { pc: last.ip, sp: plus(last.address, sp), ..Regs::default() }),
                ..Fault::default()
            };
            (time, What::Fault(Box::new(fault)))
        }
        Line::Map(time, map) => (time, What::Map(unmapped(map))),
        Line::Fork(time, process, parent, thread) => (time, What::Fork { process, parent, thread }),
        Line::Name(time, process, thread, name, exec) => (time, What::Name { process, thread, name, exec }),
        Line::Exit(time, process, thread) => (time, What::Exit { process, thread }),
        Line::Lost(time, set, records, events) => {
            let set = [Set::Rare, Set::Minor, Set::Burst, Set::Maps]
                .into_iter()
                .find(|known| format!("{known:?}") == set)?;
            (time, What::Lost { set, records, events })
        }
        Line::Peak(time, process, bytes) => (time, What::Peak { process, bytes }),
        Line::Mappings(time, on) => (time, What::Mappings(on)),
        Line::Head { .. } | Line::Looked { .. } | Line::Tail(_) => return None,
    };
    last.time = plus(last.time, time);
    Some(Entry { time: last.time.saturating_mul(1000), what })
}

#[cfg(test)]
mod unit {
    use super::*;

    fn map(name: &str) -> Map {
        let name = name.to_owned();
        Map {
            process: 7,
            start: 1 << 40,
            end: (1 << 40) + 8192,
            offset: 4096,
            protection: 3,
            is_private: true,
            name,
        }
    }

    fn entries() -> Vec<Entry> {
        let fault = Fault {
            process: 7,
            thread: 8,
            address: u64::MAX - 4095,
            ip: 5,
            weight: 11,
            is_burst: true,
            regs: Some(Regs { pc: 5, sp: 4096, ..Regs::default() }),
            ..Fault::default()
        };
        let all = [
            What::Map(map("//anon")),
            What::Fork { process: 9, parent: 7, thread: 9 },
            What::Fault(Box::new(fault)),
            What::Name { process: 9, thread: 9, name: "a \"b\"\n".to_owned(), exec: true },
            What::Lost { set: Set::Burst, records: 3, events: 3 },
            What::Peak { process: 7, bytes: 1 << 30 },
            What::Mappings(false),
            What::Exit { process: 9, thread: 9 },
        ];
        all.into_iter().zip(1..).map(|(what, time)| Entry { time: time * 5_000_000, what }).collect()
    }

    #[test]
    fn what_is_kept_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen.gz");
        let looked = Looked { process: 7, name: "seven".to_owned(), maps: vec![map("[heap]")] };
        let mut writer = Writer::create(&file, 4096).unwrap();
        entries().iter().for_each(|entry| writer.entry(entry));
        writer.looked(9_000_000, &looked);
        let totals = Totals { counted: 12, seconds: 0.1, ..Totals::default() };
        let tail = Tail { totals, ..Tail::default() };
        writer.end(tail.clone()).unwrap();
        let kept = read(&file).unwrap();
        assert_eq!(format!("{:?}", kept.entries), format!("{:?}", entries()));
        assert_eq!((kept.page, &kept.tail), (4096, &tail));
        assert_eq!(kept.looked[&7], [(9_000_000, looked)]);
    }

    #[test]
    fn what_is_no_whole_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen.gz");
        let mut writer = Writer::create(&file, 4096).unwrap();
        entries().iter().for_each(|entry| writer.entry(entry));
        drop(writer);
        assert!(read(&file).unwrap_err().contains("cut short"));
        std::fs::write(&file, "no gzip").unwrap();
        assert!(read(&file).unwrap_err().contains("line 1"));
        assert!(read(&directory.path().join("none")).is_err());
    }

    #[test]
    fn entries_and_mappings_are_counted() {
        let head = "{\"truebench-events\":{\"format\":1,\"page\":4096}}\n";
        let text = |lines: &str| format!("{head}{lines}{{\"end\":null}}\n");
        let exits = text(&"{\"x\":[0,0,0]}\n".repeat(5));
        let why = |text: &str, most| Kept::within(text.as_bytes(), most).unwrap_err();
        assert!(why(&exits, 5).contains("line 6: there are more than 5 entries"), "{}", why(&exits, 5));
        assert!(!why(&exits, 100).contains("more than"), "{}", why(&exits, 100));
        let maps = ["[1,0,0,0,0,true,\"\"]"; 8].join(",");
        let looked =
            text(&format!("{{\"r\":{{\"time\":0,\"process\":1,\"name\":\"\",\"maps\":[{maps}]}}}}\n"));
        assert!(why(&looked, 9).contains("line 2: there are more than 9 entries"));
    }

    #[test]
    fn directories_of_persons_are_left_out() {
        assert_eq!(shortened("/usr/lib/libc.so.6"), "/usr/lib/libc.so.6");
        assert_eq!(shortened("/home/somebody/secret/libx.so"), "/…/libx.so");
        assert_eq!((shortened("[heap]"), shortened("//anon")), ("[heap]".to_owned(), "//anon".to_owned()));
    }
}

//! A file of the events of a trace, so that a case can be sent and judged again on another machine.
//!
//! One JSON value a line, gzipped: a header, the kernel's events in the order in which they were collected,
//! snapshots of processes (/proc), and a trailer; a file without its trailer is cut short. Times
//! (microseconds) and addresses are differences to those of the entry before, so that a run of faults takes a
//! few bytes each. The file holds neither stacks nor the programs' files. Of files outside of the system's
//! directories it holds only the last part of the name.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lab::failure::{Attempt, Failure};
use serde::{Deserialize, Serialize};

use super::growth::Resident;
use super::memory_state::MemoryState;
use super::procfs::ProcessSnapshot;
use super::record::{Entry, EventKind, Fault, Map, Regs, Set};
use super::totals::Totals;
use crate::allocator::AllocatorHints;

const FORMAT: u32 = 1;
/// Directories of the distribution. Their files are named in full: they reveal nothing about a person.
const SYSTEM: &[&str] =
    &["/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/dev/", "/SYSV", "/anon_hugepage", "/memfd:"];
/// Unpacked bytes at most: half an hour at the highest rate. A small file may unpack to any length.
const MOST_BYTES: u64 = 512 << 20;
/// Entries and mappings of a file at most. Each takes some hundred bytes of memory, and as few as 12 in the
/// file. The longest file in tests/data has 48 000.
const MOST_ENTRIES: usize = 4 << 20;
const ELSEWHERE: &str = "/…/";

#[derive(Serialize, Deserialize)]
enum Line {
    /// The first: the format's number, bytes of a page.
    #[serde(rename = "truebench-events")]
    Header { format: u32, page: u64 },
    /// Microseconds since the entry before; process, thread; address, instruction and stack pointer as
    /// differences, the stack pointer's to the address; weight; is major, of a burst, in the kernel.
    #[serde(rename = "f")]
    Fault(i64, u32, u32, i64, i64, Option<i64>, u64, [u8; 3]),
    #[serde(rename = "m")]
    Map(i64, MapLine),
    #[serde(rename = "k")]
    Fork(i64, u32, u32, u32),
    #[serde(rename = "n")]
    Name(i64, u32, u32, String, bool),
    #[serde(rename = "x")]
    Exit(i64, u32, u32),
    #[serde(rename = "l")]
    Lost(i64, Set, u64, u64),
    #[serde(rename = "p")]
    Resident(i64, u32, u64, #[serde(default)] u64, #[serde(default)] u64, #[serde(default)] u64),
    /// Whether mappings of data are recorded from now on.
    #[serde(rename = "t")]
    Mappings(i64, bool),
    /// Whether minor faults are counted from now on, where they are in windows.
    #[serde(rename = "w")]
    Window(i64, bool),
    #[serde(rename = "r")]
    Snapshot { time: i64, process: u32, name: String, maps: Vec<MapLine> },
    /// The last.
    #[serde(rename = "end")]
    Trailer(Trailer),
}

impl Line {
    /// How many of [`MOST_ENTRIES`] it counts for.
    fn entries(&self) -> usize {
        match self {
            Line::Snapshot { maps, .. } => 1 + maps.len(),
            _ => 1,
        }
    }
}

/// A mapping: process, first byte, bytes, offset, protection, whether it is private, name, whether it is of a file without page cache.
#[derive(Serialize, Deserialize)]
struct MapLine(u32, u64, u64, u64, u32, bool, String, #[serde(default)] bool);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trailer {
    #[serde(flatten)]
    pub totals: Totals,
    /// What each program's file says about its allocator, by the program's name.
    pub programs: BTreeMap<String, AllocatorHints>,
    /// What /proc said about the memory of each program, by its name.
    #[serde(default)]
    pub memory: BTreeMap<String, MemoryState>,
}

#[derive(Debug, Default)]
pub struct EventLog {
    pub page: u64,
    pub entries: Vec<Entry>,
    /// Snapshots by process, each with its time in nanoseconds, in order.
    pub snapshots: HashMap<u32, Vec<(u64, ProcessSnapshot)>>,
    pub trailer: Trailer,
}

pub struct Writer {
    file: GzEncoder<BufWriter<File>>,
    bytes: u64,
    entries: usize,
    last: Previous,
    /// Why nothing more is written.
    trouble: Option<std::io::Error>,
}

/// The values that the next differences are to.
#[derive(Default)]
struct Previous {
    time: u64,
    address: u64,
    ip: u64,
}

fn minus(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b) as i64
}

fn plus(a: u64, difference: i64) -> u64 {
    a.wrapping_add(difference as u64)
}

impl Writer {
    pub fn create(path: &Path, page: u64) -> std::io::Result<Writer> {
        let file = GzEncoder::new(BufWriter::new(File::create(path)?), Compression::best());
        let mut writer = Writer { file, bytes: 0, entries: 0, last: Previous::default(), trouble: None };
        writer.line(&Line::Header { format: FORMAT, page });
        Ok(writer)
    }

    pub fn entry(&mut self, entry: &Entry) {
        let micros = entry.time / 1000;
        let time = minus(micros, self.last.time);
        let line = match &entry.kind {
            // Calls for memory, error codes and blocks need rights or a recorder: they are left out.
            EventKind::Call(_)
            | EventKind::Counting(_)
            | EventKind::Uncounted(_)
            | EventKind::Shares(_)
            | EventKind::Code { .. }
            | EventKind::Codes(_)
            | EventKind::LostCodes(_)
            | EventKind::Block(_) => {
                return;
            }
            // They would leave no room for the samples of a longer trace.
            EventKind::Fault(fault) if fault.is_burst && self.entries > MOST_ENTRIES / 4 => return,
            EventKind::Fault(fault) => self.fault(time, fault),
            EventKind::Map(map) => Line::Map(time, map_line(map)),
            EventKind::Fork { process, parent, thread } => Line::Fork(time, *process, *parent, *thread),
            EventKind::Name { process, thread, name, exec } => {
                Line::Name(time, *process, *thread, name.clone(), *exec)
            }
            EventKind::Exit { process, thread } => Line::Exit(time, *process, *thread),
            EventKind::Lost { set, records, events } => Line::Lost(time, *set, *records, *events),
            EventKind::Resident(process, memory) => {
                let Resident { most, anonymous, others, huge } = *memory;
                Line::Resident(time, *process, most, anonymous, huge, others)
            }
            EventKind::Mappings(on) => Line::Mappings(time, *on),
            EventKind::Window(on) => Line::Window(time, *on),
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

    pub fn snapshot(&mut self, time: u64, snapshot: &ProcessSnapshot) {
        let maps = snapshot.maps.iter().map(map_line).collect();
        let time = minus(time / 1000, self.last.time);
        self.line(&Line::Snapshot { time, process: snapshot.process, name: snapshot.name.clone(), maps });
    }

    /// Ends the file; reports the first error, of now or earlier.
    pub fn end(mut self, trailer: Trailer) -> std::io::Result<()> {
        self.line(&Line::Trailer(trailer));
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
                "there are more than {} MiB of events, or {MOST_ENTRIES} entries",
                MOST_BYTES >> 20
            )));
        }
        self.file.write_all(&text)
    }
}

/// A mapping for the file, without directories that may reveal a person.
fn map_line(map: &Map) -> MapLine {
    let Map { process, start, end, offset, protection, is_private, name, device: _, is_dax } = map;
    let bytes = end.saturating_sub(*start);
    MapLine(*process, *start, bytes, *offset, *protection, *is_private, shortened(name), *is_dax)
}

fn shortened(name: &str) -> String {
    let is_named = !name.starts_with('/') || name.starts_with("//");
    match name.rsplit_once('/') {
        Some((_, file)) if !is_named && !SYSTEM.iter().any(|directory| name.starts_with(directory)) => {
            format!("{ELSEWHERE}{file}")
        }
        _ => name.to_owned(),
    }
}

fn map_of(MapLine(process, start, bytes, offset, protection, is_private, name, is_dax): MapLine) -> Map {
    let end = start.saturating_add(bytes);
    Map { process, start, end, offset, protection, is_private, name, device: (0, 0), is_dax }
}

pub fn read(path: &Path) -> Result<EventLog, Failure> {
    let file = File::open(path).attempt_on("", path.display())?;
    EventLog::parse(BufReader::new(GzDecoder::new(file))).attempt_on("", path.display())
}

impl EventLog {
    pub fn parse(lines: impl BufRead) -> Result<EventLog, Failure> {
        EventLog::parse_up_to(lines, MOST_ENTRIES)
    }

    fn parse_up_to(lines: impl BufRead, most: usize) -> Result<EventLog, Failure> {
        let mut log = EventLog::default();
        let (mut last, mut is_whole) = (Previous::default(), false);
        // One byte more than may be read: to reach it is an error.
        let mut lines = lines.take(MOST_BYTES + 1);
        let (mut number, mut line, mut entries) = (0, Vec::new(), 0);
        loop {
            number += 1;
            let wrong = |answer: String| Failure::new("line").on(number).answer(answer);
            line.clear();
            if lines.read_until(b'\n', &mut line).attempt_on("line", number)? == 0 {
                break;
            }
            if lines.limit() == 0 {
                return Err(Failure::new(format!("unpacked it has more than {} MiB", MOST_BYTES >> 20)));
            }
            let read: Line = serde_json::from_slice(&line).attempt_on("line", number)?;
            entries += read.entries();
            if entries > most {
                return Err(wrong(format!("there are more than {most} entries and mappings")));
            }
            match read {
                Line::Header { format: FORMAT, page: 0 } => return Err(wrong("pages of 0 bytes".to_owned())),
                Line::Header { format: FORMAT, page } => log.page = page,
                Line::Header { format, .. } => return Err(wrong(format!("format {format} is unknown"))),
                _ if log.page == 0 => {
                    return Err(wrong("no header: these are no events of truebench".to_owned()));
                }
                Line::Trailer(trailer) => (log.trailer, is_whole) = (trailer, true),
                Line::Snapshot { time, process, name, maps } => {
                    let maps = maps.into_iter().map(map_of).collect();
                    let time = plus(last.time, time).saturating_mul(1000);
                    let snapshot = ProcessSnapshot { process, name, maps };
                    log.snapshots.entry(process).or_default().push((time, snapshot));
                }
                line => log.entries.extend(entry(line, &mut last)),
            }
        }
        let cut_short = || Failure::new("it is cut short").answer("its end is missing");
        is_whole.then_some(log).ok_or_else(cut_short)
    }
}

fn entry(line: Line, last: &mut Previous) -> Option<Entry> {
    let (time, kind) = match line {
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
            (time, EventKind::Fault(Box::new(fault)))
        }
        Line::Map(time, map) => (time, EventKind::Map(map_of(map))),
        Line::Fork(time, process, parent, thread) => (time, EventKind::Fork { process, parent, thread }),
        Line::Name(time, process, thread, name, exec) => {
            (time, EventKind::Name { process, thread, name, exec })
        }
        Line::Exit(time, process, thread) => (time, EventKind::Exit { process, thread }),
        Line::Lost(time, set, records, events) => (time, EventKind::Lost { set, records, events }),
        Line::Resident(time, process, most, anonymous, huge, others) => {
            (time, EventKind::Resident(process, Resident { most, anonymous, others, huge }))
        }
        Line::Mappings(time, on) => (time, EventKind::Mappings(on)),
        Line::Window(time, on) => (time, EventKind::Window(on)),
        Line::Header { .. } | Line::Snapshot { .. } | Line::Trailer(_) => return None,
    };
    last.time = plus(last.time, time);
    Some(Entry { time: last.time.saturating_mul(1000), kind })
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
            device: (0, 0),
            is_dax: true,
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
            EventKind::Map(map("//anon")),
            EventKind::Fork { process: 9, parent: 7, thread: 9 },
            EventKind::Fault(Box::new(fault)),
            EventKind::Name { process: 9, thread: 9, name: "a \"b\"\n".to_owned(), exec: true },
            EventKind::Lost { set: Set::Burst, records: 3, events: 3 },
            EventKind::Resident(
                7,
                Resident { most: 1 << 30, anonymous: 1 << 20, others: 1 << 19, huge: 1 << 21 },
            ),
            EventKind::Mappings(false),
            EventKind::Window(true),
            EventKind::Exit { process: 9, thread: 9 },
        ];
        all.into_iter().zip(1..).map(|(kind, time)| Entry { time: time * 5_000_000, kind }).collect()
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen.gz");
        let snapshot = ProcessSnapshot { process: 7, name: "seven".to_owned(), maps: vec![map("[heap]")] };
        let mut writer = Writer::create(&file, 4096).unwrap();
        entries().iter().for_each(|entry| writer.entry(entry));
        writer.snapshot(9_000_000, &snapshot);
        let totals = Totals { counted: 12, seconds: 0.1, ..Totals::default() };
        let trailer = Trailer { totals, ..Trailer::default() };
        writer.end(trailer.clone()).unwrap();
        let log = read(&file).unwrap();
        assert_eq!(format!("{:?}", log.entries), format!("{:?}", entries()));
        assert_eq!((log.page, &log.trailer), (4096, &trailer));
        assert_eq!(log.snapshots[&7], [(9_000_000, snapshot)]);
    }

    #[test]
    fn a_truncated_or_foreign_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen.gz");
        let mut writer = Writer::create(&file, 4096).unwrap();
        entries().iter().for_each(|entry| writer.entry(entry));
        drop(writer);
        assert!(read(&file).unwrap_err().to_string().contains("cut short"));
        std::fs::write(&file, "no gzip").unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("line 1"));
        assert!(read(&directory.path().join("none")).is_err());
    }

    #[test]
    fn entries_and_mappings_are_counted() {
        let head = "{\"truebench-events\":{\"format\":1,\"page\":4096}}\n";
        let text = |lines: &str| format!("{head}{lines}{{\"end\":null}}\n");
        let exits = text(&"{\"x\":[0,0,0]}\n".repeat(5));
        let why = |text: &str, most| EventLog::parse_up_to(text.as_bytes(), most).unwrap_err().to_string();
        assert!(why(&exits, 5).contains("line 6: there are more than 5 entries"), "{}", why(&exits, 5));
        assert!(!why(&exits, 100).contains("more than"), "{}", why(&exits, 100));
        let maps = ["[1,0,0,0,0,true,\"\"]"; 8].join(",");
        let snapshot =
            text(&format!("{{\"r\":{{\"time\":0,\"process\":1,\"name\":\"\",\"maps\":[{maps}]}}}}\n"));
        assert!(why(&snapshot, 9).contains("line 2: there are more than 9 entries"));
    }

    #[test]
    fn private_directories_are_left_out() {
        assert_eq!(shortened("/usr/lib/libc.so.6"), "/usr/lib/libc.so.6");
        assert_eq!(shortened("/home/somebody/secret/libx.so"), "/…/libx.so");
        assert_eq!((shortened("[heap]"), shortened("//anon")), ("[heap]".to_owned(), "//anon".to_owned()));
    }
}

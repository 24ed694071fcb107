//! Small texts: what users type, files of /proc that are read of one process, what programs print that are run for comparison.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use alloc::packages::Packages;
use alloc::profile::Profile;
use faults::trace::tracefs::Format;
use figure::{CpuList, Reading};
use http::watch::network::Settings;
use http::watch::process_set::ProcessSet;
use http::watch::sample::{Sample, changes};
use http::watch::{host, network, process, process_growth};
use lab::preload::bindings;
use machine::Tree;
use machine::dimms::Dimms;
use memory::cross::TOOLS;
use memory::cross::tool::Output;

use super::machine::directory;
use crate::draw::Draw;
use crate::inputs;
use crate::target::Target;

/// The first byte chooses the reader: one of [`READERS`], and from [`LATER_FROM`] on one of [`LATER`].
pub const TARGET: Target = Target { name: "texts", one, seeds, longest: 4 << 10 };

/// A reader, and a text that it knows.
struct Reader {
    read: fn(&str),
    known: &'static str,
}

const READERS: &[Reader] = &[
    Reader { read: list, known: "0-3,8-11:2/4,15" },
    Reader { read: parsed::<Dimms>, known: "12x2666" },
    Reader { read: parsed::<lab::placement::Places>, known: "{0:4}:8:4" },
    Reader { read: parsed::<lab::placement::Bind>, known: "spread" },
    Reader { read: parsed::<memory::mix::Mix>, known: "2:1" },
    Reader {
        read: histogram,
        known: "# of some server\nsize, rate, lifetime\n16,1000,0.1\n17-32,3000,0.5\n4096,10,60\n",
    },
    Reader {
        read: bound,
        known: "    77:\tbinding file /usr/bin/x [0] to /lib/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]\n",
    },
    Reader {
        read: tracepoint,
        known: "name: sys_enter_brk\nID: 726\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned long brk;\toffset:16;\tsize:8;\tsigned:0;\n",
    },
    Reader { read: version, known: "2.36" },
    Reader {
        read: cross::<0>,
        known: "Intel(R) Memory Latency Checker - v3.5\nInject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n==========================\n 00000\t130.31\t 135655.9\n",
    },
    Reader {
        read: cross::<1>,
        known: "Allocate: Process running on hwthread 0\nIterations:\t1024\nTime:\t\t0.5 sec\nMByte/s:\t\t12345.67\n",
    },
    Reader { read: cross::<2>, known: "" },
    Reader {
        read: packages,
        known: "Package: libjemalloc2\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.3.0-1\n",
    },
    Reader { read: file::<0>, known: "Tcp: RtoAlgorithm RtoMin ActiveOpens RetransSegs\nTcp: 1 200 5 7\n" },
    Reader { read: file::<1>, known: "TcpExt: ListenOverflows ListenDrops TW\nTcpExt: 1 2 3\n" },
    Reader { read: file::<2>, known: "sockets: used 5\nTCP: inuse 1 orphan 0 tw 7 alloc 9 mem 1\n" },
    Reader {
        read: file::<3>,
        known: "77 (a) b) S 1 77 77 0 -1 4194560 5 0 0 0 3 4 0 0 20 0 5 0 100 4096 200 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n",
    },
    Reader {
        read: file::<4>,
        known: "Name:\ta\nState:\tS\nVmRSS:\t 100 kB\nThreads:\t5\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8\n",
    },
    Reader { read: file::<5>, known: "1000 2000 30\n" },
    Reader {
        read: file::<6>,
        known: "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 55\nprocs_running 2\n",
    },
    Reader { read: file::<7>, known: "32768\t60999\n" },
    Reader { read: file::<8>, known: "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n" },
    Reader {
        read: file::<9>,
        known: "Inter-| Receive | Transmit\n face |bytes packets\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
    },
    Reader { read: file::<10>, known: "nr_free_pages 5\npgpgin 3\npgpgout 4\npswpin 0\npswpout 6\n" },
    Reader {
        read: file::<11>,
        known: "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull total=9\n",
    },
];

/// The first byte that chooses one of [`LATER`]: so older inputs keep their meaning.
const LATER_FROM: u8 = 225;

/// Readers that came later; more are appended.
const LATER: &[Reader] = &[
    Reader {
        read: file::<12>,
        known: "0021d1c3 00000005 0000000f 00000000 00000000\n0035f8af 00000010 00000001 00000000\n",
    },
    Reader { read: file::<13>, known: "188319\t251095\t376638\n" },
    Reader { read: file::<14>, known: "1120\t0\t9223372036854775807\n" },
    Reader { read: file::<15>, known: "4096\n" },
    Reader {
        read: file::<16>,
        known: "78 (a) R 1 77 77 0 -1 64 5 0 0 0 3 4 0 0 20 0 5 0 100 4096 200 9 1 1 0 0 0 0 0 0 0 0 0 0 17 2 0 0 0 0 0\n",
    },
    Reader {
        read: file::<17>,
        known: "Name:\ta\nCpus_allowed_list:\t0-5\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t18\n",
    },
    Reader { read: unixbench, known: "COUNT|900|0|KBps\nTIME|2.0\nCOUNT|120|60|lpm\nTIME|30.0\n" },
    Reader {
        read: printed_version,
        known: "sort (GNU coreutils) 9.1\nCopyright (C) 2022\nBusyBox v1.36.1 (2024)\n",
    },
    Reader {
        read: defect,
        known: "defect = 'a stranger'\nplanted = 'a busy loop'\nseconds = 1\nrun = 'memory --quick'\n\
            plant.script = '''\"$@\"'''\nexpect = { figure = 'memory.triad', verdict = 'invalid', cause = 'cpu' }\n",
    },
];

/// Files that are read of a process, the host and its network while a server is loaded.
const FILES: &[&str] = &[
    "proc/77/net/snmp",
    "proc/77/net/netstat",
    "proc/77/net/sockstat",
    "proc/77/stat",
    "proc/77/status",
    "proc/77/task/78/schedstat",
    "proc/stat",
    "proc/sys/net/ipv4/ip_local_port_range",
    "proc/diskstats",
    "proc/net/dev",
    "proc/vmstat",
    "proc/pressure/cpu",
    "proc/77/net/softnet_stat",
    "proc/sys/net/ipv4/tcp_mem",
    "proc/sys/fs/file-nr",
    "proc/sys/net/core/somaxconn",
    "proc/77/task/78/stat",
    "proc/77/task/78/status",
];

/// The contents of a tree before a file is written: without these the others are not read.
const BESIDE: &[(&str, &str)] = &[
    ("proc/77/stat", "77 (a) S 1 77 77 0 -1 0 5 0 0 0 2 3 0 0 20 0 5 0 100 4096 200\n"),
    ("proc/77/task/78/stat", "78 (a) S 1 77 77 0 -1 0 5 0 0 0 2 3 0 0 20 0 5 0 100 4096 200\n"),
    ("proc/77/task/78/status", "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n"),
    ("proc/77/task/78/schedstat", "10 20 3\n"),
];

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let choice = draw.byte();
    let reader = match choice.checked_sub(LATER_FROM) {
        Some(later) => &LATER[usize::from(later) % LATER.len()],
        None => &READERS[usize::from(choice) % READERS.len()],
    };
    (reader.read)(&String::from_utf8_lossy(draw.rest()));
}

fn parsed<T: FromStr>(text: &str) {
    let _ = text.parse::<T>();
}

/// A list that was read is written, and reads back equal.
fn list(text: &str) {
    if let Ok(list) = text.parse::<CpuList>() {
        assert!(list.len() <= 1 << 16);
        assert_eq!(list.to_string().parse::<CpuList>().as_ref(), Ok(&list));
    }
}

/// A load that was read can be made larger, smaller, and of several threads.
fn histogram(text: &str) {
    match Profile::of_histogram("fuzz", text) {
        Ok(profile) => {
            let smaller = profile.within(1e6);
            for profile in [&profile, &smaller, &profile.in_about(1e9)] {
                assert!(
                    profile.slots > 0 && profile.mean().is_finite() && profile.bytes().is_finite(),
                    "{profile:?}"
                );
                let _ = (profile.of_thread(1), profile.of_thread(64));
            }
        }
        Err(why) => assert!(why.to_string().len() < 20_000, "{why}"),
    }
}

fn bound(text: &str) {
    let bindings = bindings::read(text.as_bytes()).expect("memory is read");
    let asked = Path::new("/usr/lib/libjemalloc.so.2");
    let _ = (bindings::served(None, &bindings), bindings::served(Some(asked), &bindings));
}

fn tracepoint(text: &str) {
    if let Some(format) = Format::parse(text) {
        for name in ["common_type", "brk", "len", "flags"] {
            for length in [0, 8, 64] {
                let _ = format.read(name, &[0xff; 64][..length]);
            }
        }
    }
}

fn version(text: &str) {
    let _ = faults::allocator::number(text);
}

/// What another benchmark printed.
fn cross<const TOOL: usize>(text: &str) {
    for kernels in [&["read"][..], &["triad", "copy"], &["Copy", "Scale", "Add", "Triad"]] {
        if let Ok(results) = (TOOLS[TOOL].read)(&Output { text, kernels, counter_rate: Some(2.4e9) }) {
            assert!(results.rates.iter().all(|(_, rate)| rate.is_finite() && *rate > 0.0), "{results:?}");
            assert!(!results.version.chars().any(char::is_control), "{results:?}");
            let places: Vec<CpuList> = vec!["0".parse().expect("a list"), "1".parse().expect("a list")];
            let _ = results.contradicts(&places, Some(1000));
        }
    }
}

fn packages(text: &str) {
    let root = directory();
    let info = root.path().join("var/lib/dpkg/info");
    fs::create_dir_all(&info).expect("a directory");
    fs::write(info.join("libjemalloc2:amd64.list"), "/usr/lib/libjemalloc.so.2\n").expect("a file");
    fs::write(root.path().join("var/lib/dpkg/status"), text).expect("a file");
    let _ = Packages::read(root.path()).of(Path::new("/usr/lib/libjemalloc.so.2"));
}

/// What a program of UnixBench's printed.
fn unixbench(text: &str) {
    for elapsed in [0.0, 1e-9, 30.0] {
        if let Ok(rate) = system::cross::unixbench::read(text, elapsed) {
            assert!(rate.is_finite() && rate > 0.0, "{rate}");
        }
    }
}

/// A program's output on its version; an error message if it has no `--version`.
fn printed_version(text: &str) {
    use system::surroundings::tools::version;
    for printed in [version(text, ""), version("", text)].into_iter().flatten() {
        assert!(printed.len() < 1000 && !printed.chars().any(char::is_control), "{printed:?}");
    }
}

fn defect(text: &str) {
    match truth::defect::Defect::parse("memory/fuzz", text) {
        Ok(defect) => assert_eq!(
            (defect.id.as_str(), defect.run.iter().count() > 0),
            ("memory/fuzz", !defect.suite().is_empty())
        ),
        Err(why) => assert!(why.starts_with("memory/fuzz: ")),
    }
}

/// A file of a tree that has little else, read by whoever watches a load.
fn file<const FILE: usize>(text: &str) {
    for sample in read_tree(FILE, text).samples {
        assert!(sample.value.value().is_none_or(|value| value.is_finite()), "{sample:?}");
    }
}

/// All that is read of a tree.
#[derive(Debug, PartialEq)]
struct TreeReading {
    samples: Vec<Sample>,
    settings: Settings,
    ports: Reading<u64>,
    places: [Option<Reading<CpuList>>; 2],
}

/// Reads the tree before a file is written, and with it.
fn read_tree(file: usize, text: &str) -> TreeReading {
    let root = directory();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    };
    for (path, text) in BESIDE {
        write(path, text);
    }
    fs::create_dir_all(root.path().join("sys/block/sda")).expect("a directory");
    let tree = Tree::at(root.path());
    let set = ProcessSet::new(tree.clone(), &[77], None);
    let read = || {
        set.discover();
        ([network::read(&tree, Some(77)), host::read(&tree)].concat(), set.read())
    };
    let (before, process) = read();
    write(FILES[file], text);
    let (after, process_after) = read();
    let mut samples = changes(&before, &after);
    samples.extend(process_growth::samples("server", &process, &process_after));
    samples.extend(after);
    let settings = Settings::read(&tree);
    let ports = settings.port_count();
    let places = [process::Process::allowed, process::Process::last];
    TreeReading {
        samples,
        settings,
        ports,
        places: places.map(|of| process_after.value().and_then(|members| members.get(&77)).map(of)),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        READERS.iter().zip(0_u8..).map(|(reader, at)| [&[at], reader.known.as_bytes()].concat()).collect();
    let later = LATER.iter().zip(LATER_FROM..);
    seeds.extend(later.map(|(reader, at)| [&[at], reader.known.as_bytes()].concat()));
    // STREAM's table and likwid-bench's, as they are published.
    for (_, text) in inputs::files("crates/audit/tests/data", ".txt")
        .into_iter()
        .chain(inputs::files("studies", "stream-nt.txt"))
    {
        let at =
            if text.starts_with(b"-----") || text.windows(6).any(|six| six == b"STREAM") { 11 } else { 10 };
        seeds.push([&[at], &text[..text.len().min(3 << 10)]].concat());
    }
    seeds
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn every_file_that_is_written_is_read() {
        for (at, path) in FILES.iter().enumerate() {
            let file =
                |reader: &&Reader| reader.known.len() > 1 && read_tree(at, reader.known) != read_tree(at, "");
            assert!(READERS.iter().chain(LATER).any(|reader| file(&reader)), "{path}");
        }
    }

    #[test]
    fn what_is_known_is_known_to_its_reader() {
        assert!(truth::defect::Defect::parse("memory/one", LATER[8].known).is_ok());
        assert_eq!(system::cross::unixbench::read(LATER[6].known, 1.0), Ok(240.0));
    }
}

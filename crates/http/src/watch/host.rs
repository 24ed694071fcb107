//! Host counters, as dstat shows them: CPU time by class, disks, interfaces, paging, interrupts, context
//! switches, pressure.

use figure::{Reading, Unit};
use machine::Tree;
use rustix::param::clock_ticks_per_second;

use super::process_growth::total;
use super::sample::{Sample, evaluate};

/// Columns of the `cpu` line of /proc/stat, in order. The guest columns after them are already part of user
/// and nice.
const CLASSES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Counters of /proc/vmstat, their names after `host.`, and their scale: pages moved are counted in KiB.
const PAGING: [(&str, &str, f64, Unit); 4] = [
    ("pgpgin", "paged_in", 1024.0, Unit::BYTES),
    ("pgpgout", "paged_out", 1024.0, Unit::BYTES),
    ("pswpin", "swapped_in", 1.0, Unit::ONE),
    ("pswpout", "swapped_out", 1.0, Unit::ONE),
];

/// Most interfaces; a host of containers has thousands.
const MAX_INTERFACES: usize = 16;
/// Bytes of a sector in /proc/diskstats, whatever the disk's sector size
/// (Documentation/admin-guide/iostats.rst).
const SECTOR: f64 = 512.0;

pub fn read(tree: &Tree) -> Vec<Sample> {
    [times(tree), disks(tree).to_vec(), interfaces(tree), paging(tree), pressure(tree).to_vec()].concat()
}

/// Number `at` of a line `name number …`.
fn number(text: &Reading<String>, file: &str, name: &str, at: usize) -> Reading<f64> {
    evaluate(text, |text| {
        let mut lines = text.lines().map(str::split_ascii_whitespace);
        let words = lines.find_map(|mut words| (words.next()? == name).then_some(words));
        let number = words.and_then(|mut words| words.nth(at)?.parse::<u64>().ok());
        let reason = format!("{file}: no number {} of '{name}'", at + 1);
        Reading::or_unknown(number.map(|number| number as f64), &reason)
    })
}

fn times(tree: &Tree) -> Vec<Sample> {
    const FILE: &str = "/proc/stat";
    let text = tree.text(FILE);
    let tick = clock_ticks_per_second() as f64;
    let stat = |name, at| number(&text, FILE, name, at);
    let class = |(at, class): (usize, &&str)| {
        Sample::counter(format!("host.cpu.{class}"), Unit::SECONDS, stat("cpu", at).map(|ticks| ticks / tick))
    };
    let mut samples: Vec<Sample> = CLASSES.iter().enumerate().map(class).collect();
    samples.extend([
        Sample::counter("host.interrupts", Unit::ONE, stat("intr", 0)),
        Sample::counter("host.softirqs", Unit::ONE, stat("softirq", 0)),
        Sample::counter("host.switches", Unit::ONE, stat("ctxt", 0)),
        Sample::counter("host.forks", Unit::ONE, stat("processes", 0)),
        Sample::level("host.runnable", Unit::ONE, stat("procs_running", 0)),
        Sample::level("host.blocked", Unit::ONE, stat("procs_blocked", 0)),
    ]);
    samples
}

/// Bytes read and written by whole disks (/sys/block); partitions are part of their disk. Excludes disks on
/// top of others (dm, md, loop), which would count twice.
fn disks(tree: &Tree) -> [Sample; 2] {
    const FILE: &str = "/proc/diskstats";
    let mut whole = tree.names("/sys/block");
    whole.retain(|name| !["dm-", "md", "loop", "ram", "zram"].iter().any(|made| name.starts_with(made)));
    let sum = |column: usize| {
        tree.text(FILE).and_then(|text| {
            let lines = text.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
            let is_whole =
                |words: &Vec<&str>| words.get(2).is_some_and(|name| whole.iter().any(|disk| disk == name));
            let sectors = lines.filter(is_whole).map(|words| {
                let sectors = words.get(column).and_then(|word| word.parse::<u64>().ok());
                let reason = format!("{FILE}: no number {column} of {}", words[2]);
                Reading::or_unknown(sectors.map(|sectors| sectors as f64 * SECTOR), &reason)
            });
            let disks: Vec<Reading<f64>> = sectors.collect();
            if disks.is_empty() {
                return Reading::Unknown(format!("{FILE}: none of the disks of /sys/block"));
            }
            total(disks.into_iter())
        })
    };
    [
        Sample::counter("host.disk.read", Unit::BYTES, sum(5)),
        Sample::counter("host.disk.written", Unit::BYTES, sum(9)),
    ]
}

/// Bytes and packets of each interface that has moved any.
fn interfaces(tree: &Tree) -> Vec<Sample> {
    const FILE: &str = "/proc/net/dev";
    let text = match tree.text(FILE) {
        Reading::Value(text) => text,
        Reading::Unknown(reason) => {
            return vec![Sample::counter("host.net", Unit::BYTES, Reading::Unknown(reason))];
        }
    };
    // Two header lines.
    let lines = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    let numbers = |line: &str| -> Vec<Option<u64>> {
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
    };
    let moved = lines
        .map(|(name, line)| (figure::format::plain(name), numbers(line)))
        .filter(|(_, numbers)| numbers.iter().any(|number| *number != Some(0)));
    let samples = |(name, numbers): (String, Vec<Option<u64>>)| {
        [
            ("received", Unit::BYTES, 0),
            ("packets_in", Unit::ONE, 1),
            ("sent", Unit::BYTES, 8),
            ("packets_out", Unit::ONE, 9),
        ]
        .map(|(what, unit, column)| {
            let number = numbers.get(column).copied().flatten().map(|number| number as f64);
            let value = Reading::or_unknown(number, &format!("{FILE}: no number {} of {name}", column + 1));
            Sample::counter(format!("host.net.{name}.{what}"), unit, value)
        })
    };
    moved.take(MAX_INTERFACES).flat_map(samples).collect()
}

fn paging(tree: &Tree) -> Vec<Sample> {
    const FILE: &str = "/proc/vmstat";
    let text = tree.text(FILE);
    let sample = |(name, suffix, scale, unit): &(&str, &'static str, f64, Unit)| {
        let value = number(&text, FILE, name, 0).map(|number| number * scale);
        Sample::counter(format!("host.{suffix}"), unit.clone(), value)
    };
    PAGING.iter().map(sample).collect()
}

/// Seconds for which some task waited for CPU, memory or I/O.
fn pressure(tree: &Tree) -> [Sample; 3] {
    ["cpu", "memory", "io"].map(|what| {
        let file = format!("/proc/pressure/{what}");
        let value = tree.text(&file).and_then(|text| {
            let some = text.lines().find_map(|line| line.strip_prefix("some "));
            let mut words = some.unwrap_or_default().split_ascii_whitespace();
            let total = words.find_map(|word| word.strip_prefix("total=")?.parse::<u64>().ok());
            let reason = format!("{file}: no number 'some … total='");
            Reading::or_unknown(total.map(|us| us as f64 / 1e6), &reason)
        });
        Sample::counter(format!("host.pressure.{what}"), Unit::SECONDS, value)
    })
}

#[cfg(test)]
mod unit {
    use super::super::sample::{changes, value};
    use super::super::tests::tree;
    use super::*;

    const STAT: &str = "cpu  200 0 100 700 10 1 2 3 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\nintr 500 1 2\nctxt 900\n\
        btime 1\nprocesses 77\nprocs_running 3\nprocs_blocked 1\nsoftirq 60 1 2\n";
    const DISKS: &str = " 254 0 vda 10 0 100 0 5 0 40 0 0 0 0\n 254 1 vda1 10 0 100 0 5 0 40 0 0 0 0\n   7 0 loop0 1 0 8 0 0 0 0 0 0 0 0\n";
    const DEV: &str = "Inter-|   Receive  | Transmit\n face |bytes packets\n    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n  ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\neth0:5 1 0 0 0 0 0 0 7 2 0 0 0 0 0 0\n";

    #[test]
    fn everything_is_found() {
        let (_root, tree) = tree(&[
            ("proc/stat", STAT),
            ("proc/diskstats", DISKS),
            ("proc/net/dev", DEV),
            ("proc/vmstat", "nr_free_pages 5\npgpgin 3\npgpgout 4\npswpin 0\npswpout 6\n"),
            ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull total=9\n"),
            ("sys/block/vda/size", "1"),
            ("sys/block/loop0/size", "1"),
        ]);
        let samples = read(&tree);
        for (name, expected) in [
            ("host.cpu.user", 2.0),
            ("host.cpu.idle", 7.0),
            ("host.cpu.steal", 0.03),
            ("host.interrupts", 500.0),
            ("host.switches", 900.0),
            ("host.runnable", 3.0),
            ("host.disk.read", 51_200.0),
            ("host.disk.written", 20_480.0),
            ("host.net.lo.received", 1000.0),
            ("host.net.eth0.sent", 7.0),
            ("host.net.eth0.packets_out", 2.0),
            ("host.paged_in", 3072.0),
            ("host.swapped_out", 6.0),
            ("host.pressure.cpu", 2.5),
        ] {
            assert_eq!(value(&samples, name), Reading::Value(expected), "{name}");
        }
        assert!(!samples.iter().any(|sample| sample.name.contains("ifb0")), "it never moved a byte");
        assert!(value(&samples, "host.pressure.io").reason().unwrap().starts_with("/proc/pressure/io: "));
    }

    #[test]
    fn an_old_kernel_or_an_empty_tree_is_unknown_everywhere() {
        let (_root, tree) = tree(&[("proc/stat", "cpu  1 2 3 4\n")]);
        let samples = read(&tree);
        let missing = super::super::tests::tree(&[("proc/diskstats", DISKS), ("sys/block/sda/size", "1")]);
        let reason = value(&read(&missing.1), "host.disk.read");
        assert_eq!(reason.reason(), Some("/proc/diskstats: none of the disks of /sys/block"));
        assert_eq!(value(&samples, "host.cpu.steal").reason(), Some("/proc/stat: no number 8 of 'cpu'"));
        assert_eq!(
            value(&samples, "host.disk.read").reason(),
            Some("/proc/diskstats: no such file or directory")
        );
        let read = samples.iter().filter(|sample| sample.value.value().is_some()).count();
        assert_eq!(read, 4, "the four classes that are there");
    }

    #[test]
    fn an_interface_that_vanishes_is_unknown() {
        let read_dev = |dev: &str| {
            let (_root, tree) = tree(&[("proc/net/dev", dev)]);
            read(&tree)
        };
        let without = DEV.lines().take(3).collect::<Vec<_>>().join("\n");
        let changed = changes(&read_dev(DEV), &read_dev(&without));
        assert_eq!(value(&changed, "host.net.lo.received"), Reading::Value(0.0));
        assert_eq!(
            value(&changed, "host.net.eth0.sent").reason(),
            Some("host.net.eth0.sent is no longer there")
        );
    }

    #[test]
    fn this_host_is_read() {
        let live = |name: &str| value(&read(&Tree::live()), name).into_value();
        assert!(live("host.cpu.user").is_some_and(|seconds| seconds > 0.0));
        assert!(live("host.runnable").is_some_and(|tasks| tasks >= 1.0));
    }
}

//! TCP counters of the kernel: connections, retransmits, queue overflows, memory, dropped packets; and the
//! settings that bound connections.

use std::collections::BTreeMap;

use figure::{Reading, Unit};
use machine::Tree;

use super::sample::{Sample, evaluate};

/// Counters of /proc/net/snmp, group Tcp. Not every kernel has all of these and the next (net/ipv4/proc.c).
const SNMP_COUNTERS: &[&str] = &[
    "ActiveOpens",
    "PassiveOpens",
    "AttemptFails",
    "EstabResets",
    "InSegs",
    "OutSegs",
    "RetransSegs",
    "OutRsts",
];

/// Counters of /proc/net/netstat, group TcpExt.
const NETSTAT_COUNTERS: &[&str] = &[
    "ListenOverflows",
    "ListenDrops",
    "TCPReqQFullDrop",
    "TCPReqQFullDoCookies",
    "SyncookiesSent",
    "TCPBacklogDrop",
    "TCPSynRetrans",
    "TCPTimeouts",
    "DelayedACKs",
    "TW",
    "TCPTimeWaitOverflow",
    "TCPAbortOnMemory",
    "TCPMemoryPressures",
    "PruneCalled",
];

/// Words of /proc/net/sockstat, also the names after `sockets.`.
const LEVELS: &[(&str, &str, &str)] = &[
    ("inuse", "TCP", "sockets in use"),
    ("orphan", "TCP", "sockets without a process"),
    ("tw", "TCP", "sockets in TIME_WAIT"),
    ("alloc", "TCP", "sockets allocated"),
    ("mem", "TCP", "pages of buffers"),
];

/// Reads all counters and levels in the network namespace of a process (`None`: this one).
pub fn read(tree: &Tree, process: Option<u32>) -> Vec<Sample> {
    let directory = process.map_or_else(|| "/proc/net".to_owned(), |process| format!("/proc/{process}/net"));
    let counters = [("snmp", "Tcp", SNMP_COUNTERS), ("netstat", "TcpExt", NETSTAT_COUNTERS)].map(
        |(file, group, names)| {
            let file = format!("{directory}/{file}");
            let groups = groups(tree, &file);
            let counter = |name: &&str| {
                let value = evaluate(&groups, |groups| {
                    let value = groups.get(&(group.to_owned(), (*name).to_owned())).copied();
                    Reading::or_unknown(value, &format!("{file}: no counter {group} {name}"))
                });
                Sample::counter(format!("tcp.{name}"), Unit::ONE, value)
            };
            names.iter().map(counter).collect::<Vec<_>>()
        },
    );
    let sockstat = format!("{directory}/sockstat");
    let text = tree.text(&sockstat);
    let levels = LEVELS.iter().map(|(word, group, what)| {
        let reason = format!("{sockstat}: no number of {what}");
        let value = evaluate(&text, |text| Reading::or_unknown(level(text, group, word), &reason));
        Sample::level(format!("sockets.{word}"), Unit::ONE, value)
    });
    counters.concat().into_iter().chain(levels).chain(softnet(tree, &directory)).collect()
}

/// Columns of softnet_stat and their names after `net.softnet.` (softnet_seq_show, net/core/net-procfs.c):
/// packets dropped from a full per-CPU queue (net.core.netdev_max_backlog), and how often a CPU ran out of
/// budget (net.core.netdev_budget). The file covers the whole machine, not the namespace.
const SOFTNET: [(usize, &str); 2] = [(1, "dropped"), (2, "squeezed")];

/// Sums over the CPUs, one line each, in hexadecimal. Counters wrap at 2^32.
fn softnet(tree: &Tree, directory: &str) -> [Sample; 2] {
    let file = format!("{directory}/softnet_stat");
    let text = tree.text(&file);
    SOFTNET.map(|(column, name)| {
        let value = evaluate(&text, |text| {
            let number =
                |line: &str| u32::from_str_radix(line.split_ascii_whitespace().nth(column)?, 16).ok();
            let numbers: Option<Vec<u32>> = text.lines().map(number).collect();
            let numbers = numbers.filter(|numbers| !numbers.is_empty());
            let sum = numbers.map(|numbers| numbers.into_iter().map(f64::from).sum());
            Reading::or_unknown(sum, &format!("{file}: no sum of packets {name}"))
        });
        Sample::counter(format!("net.softnet.{name}"), Unit::ONE, value)
    })
}

/// Parses pairs of lines: names of a group, then their numbers. Negative numbers (MaxConn -1) are not
/// counters.
fn groups(tree: &Tree, file: &str) -> Reading<BTreeMap<(String, String), f64>> {
    let text = match tree.text(file) {
        Reading::Value(text) => text,
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    let mut counters = BTreeMap::new();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks(2) {
        let [names, numbers] = pair else {
            return Reading::Unknown(format!("{file}: names without numbers at its end"));
        };
        let (Some((group, names)), Some((same, numbers))) = (names.split_once(':'), numbers.split_once(':'))
        else {
            return Reading::Unknown(format!("{file}: a line without a group's name"));
        };
        let (names, numbers): (Vec<&str>, Vec<&str>) =
            (names.split_ascii_whitespace().collect(), numbers.split_ascii_whitespace().collect());
        if group != same || names.len() != numbers.len() {
            return Reading::Unknown(format!("{file}: the names and the numbers of a group do not fit"));
        }
        for (name, number) in names.into_iter().zip(numbers) {
            if let Ok(number) = number.parse::<u64>() {
                counters.insert((group.to_owned(), name.to_owned()), number as f64);
            }
        }
    }
    Reading::Value(counters)
}

/// `TCP: inuse 5 orphan 0 tw 2 alloc 8 mem 1`
fn level(text: &str, group: &str, word: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(group)?.strip_prefix(':'))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|other| *other == word)?;
    words.next()?.parse::<u64>().ok().map(|number| number as f64)
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// net.core.somaxconn: maximum of the accept queue.
    pub somaxconn: Reading<u64>,
    /// net.ipv4.ip_local_port_range: first and last port.
    pub ports: Reading<(u16, u16)>,
    /// net.ipv4.tcp_mem, in pages: low, pressure, high.
    pub memory: Reading<[u64; 3]>,
    /// fs.file-nr: open files and their maximum.
    pub files: Reading<(u64, u64)>,
}

impl Settings {
    pub fn read(tree: &Tree) -> Settings {
        Settings {
            somaxconn: tree.number("/proc/sys/net/core/somaxconn"),
            ports: numbers(tree, "/proc/sys/net/ipv4/ip_local_port_range")
                .map(|[first, last]: [u64; 2]| (first.min(65_535) as u16, last.min(65_535) as u16)),
            memory: numbers(tree, "/proc/sys/net/ipv4/tcp_mem"),
            files: numbers(tree, "/proc/sys/fs/file-nr").map(|[open, _, max]: [u64; 3]| (open, max)),
        }
    }

    /// Number of local ports for one source and one target address.
    pub fn port_count(&self) -> Reading<u64> {
        evaluate(&self.ports, |(first, last)| {
            let count = last.checked_sub(*first).map(|distance| u64::from(distance) + 1);
            Reading::or_unknown(count, &format!("ip_local_port_range: {first} to {last} is no range"))
        })
    }
}

fn numbers<const N: usize>(tree: &Tree, file: &str) -> Reading<[u64; N]> {
    tree.text(file).and_then(|text| {
        let numbers: Vec<u64> = text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        Reading::or_unknown(numbers.try_into().ok(), &format!("{file}: not {N} numbers"))
    })
}

#[cfg(test)]
mod unit {
    use super::super::sample::{changes, value};
    use super::super::tests::tree;
    use super::*;

    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 2 64\n\
        Tcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens RetransSegs\nTcp: 1 -1 631 602 7\n";
    const NETSTAT: &str = "TcpExt: SyncookiesSent TW ListenOverflows ListenDrops\nTcpExt: 0 22 3 4\nIpExt: InOctets\nIpExt: 9\n";
    const SOCKSTAT: &str =
        "sockets: used 11\nTCP: inuse 1 orphan 0 tw 16 alloc 5 mem 2\nUDP: inuse 9 mem 9\n";

    #[test]
    fn counters_are_read_by_name_and_missing_ones_are_unknown() {
        let (_root, tree) =
            tree(&[("proc/net/snmp", SNMP), ("proc/net/netstat", NETSTAT), ("proc/net/sockstat", SOCKSTAT)]);
        let samples = read(&tree, None);
        let sample = |name| value(&samples, name);
        assert_eq!(sample("tcp.ActiveOpens"), Reading::Value(631.0));
        assert_eq!(sample("tcp.RetransSegs"), Reading::Value(7.0));
        assert_eq!(sample("tcp.ListenOverflows"), Reading::Value(3.0));
        assert_eq!(sample("sockets.tw"), Reading::Value(16.0));
        assert_eq!(sample("sockets.mem"), Reading::Value(2.0), "TCP's, and not UDP's");
        assert_eq!(
            sample("tcp.TCPAbortOnMemory").reason(),
            Some("/proc/net/netstat: no counter TcpExt TCPAbortOnMemory")
        );
        assert_eq!(
            samples.len(),
            SNMP_COUNTERS.len() + NETSTAT_COUNTERS.len() + LEVELS.len() + SOFTNET.len()
        );
    }

    #[test]
    fn packets_dropped_and_squeezed_are_summed_over_cpus() {
        // From Linux 6.18, with other numbers in columns 2 and 3; older kernels have fewer columns.
        let lines = "002115d1 00000005 0000000f 00000000 00000000\n0035f8af 00000010 00000001 00000000\n";
        let (_root, tree) =
            tree(&[("proc/net/softnet_stat", lines), ("proc/7/net/softnet_stat", "0021 5\n")]);
        let sample = |process, name| value(&read(&tree, process), name);
        assert_eq!(sample(None, "net.softnet.dropped"), Reading::Value(21.0));
        assert_eq!(sample(None, "net.softnet.squeezed"), Reading::Value(16.0));
        let reason = sample(Some(7), "net.softnet.squeezed");
        assert_eq!(reason.reason(), Some("/proc/7/net/softnet_stat: no sum of packets squeezed"));
        assert_eq!(
            sample(Some(8), "net.softnet.dropped").reason(),
            Some("/proc/8/net/softnet_stat: no such file or directory")
        );
    }

    #[test]
    fn each_process_may_have_a_network_of_its_own() {
        let (_root, tree) = tree(&[("proc/net/snmp", SNMP), ("proc/77/net/snmp", &SNMP.replace("631", "5"))]);
        assert_eq!(value(&read(&tree, Some(77)), "tcp.ActiveOpens"), Reading::Value(5.0));
        let reason = value(&read(&tree, Some(78)), "tcp.ActiveOpens");
        assert_eq!(reason.reason(), Some("/proc/78/net/snmp: no such file or directory"));
    }

    #[test]
    fn overflows_are_counted_and_a_reset_is_unknown() {
        let read_netstat = |netstat: &str| {
            let (_root, tree) = tree(&[("proc/net/netstat", netstat)]);
            read(&tree, None)
        };
        let (before, after) = (read_netstat(NETSTAT), read_netstat(&NETSTAT.replace("0 22 3 4", "0 21 9 4")));
        let changed = changes(&before, &after);
        assert_eq!(value(&changed, "tcp.ListenOverflows"), Reading::Value(6.0));
        assert_eq!(value(&changed, "tcp.ListenDrops"), Reading::Value(0.0));
        assert_eq!(value(&changed, "tcp.TW").reason(), Some("tcp.TW went backwards: 22, then 21"));
    }

    #[test]
    fn damaged_files_are_unknown() {
        for (damaged, expected) in [
            ("Tcp: ActiveOpens\n", "names without numbers"),
            ("Tcp: ActiveOpens\nUdp: 5\n", "do not fit"),
            ("Tcp: ActiveOpens PassiveOpens\nTcp: 5\n", "do not fit"),
            ("Tcp\nTcp\n", "without a group's name"),
        ] {
            let (_root, tree) = tree(&[("proc/net/snmp", damaged)]);
            let counter = value(&read(&tree, None), "tcp.ActiveOpens");
            let reason = counter.reason().unwrap();
            assert!(reason.contains(expected), "{damaged}: {reason}");
        }
    }

    #[test]
    fn settings() {
        let (_root, tree) = tree(&[
            ("proc/sys/net/core/somaxconn", "4096\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/ipv4/tcp_mem", "188319\t251095\n"),
            ("proc/sys/fs/file-nr", "1120\t0\t9223372036854775807\n"),
        ]);
        let settings = Settings::read(&tree);
        assert_eq!(
            (settings.somaxconn.clone(), settings.port_count()),
            (Reading::Value(4096), Reading::Value(28_232))
        );
        assert_eq!(settings.memory.reason(), Some("/proc/sys/net/ipv4/tcp_mem: not 3 numbers"));
        assert_eq!(settings.files, Reading::Value((1120, i64::MAX as u64)));
    }

    #[test]
    fn this_machine_counts_a_connection() {
        let read_live = || read(&Tree::live(), None);
        let before = read_live();
        if value(&before, "tcp.ActiveOpens").value().is_none() {
            return;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let changed = changes(&before, &read_live());
        assert!(*value(&changed, "tcp.ActiveOpens").value().unwrap() >= 1.0);
        assert!(*value(&changed, "sockets.inuse").value().unwrap() >= 1.0);
    }
}

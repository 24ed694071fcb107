//! Synthetic machines at three widths; damaged ones at any.

use figure::host::{Cache, CacheKind, HostNote, HugePool, LogicalCpu, Node, Uncore, UncoreChannel};
use figure::{CpuList, Machine, Reading};
use machine::synthetic::{ALL, named};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use report::host::host;
use textwrap::core::display_width;

const GIB: u64 = 1 << 30;

fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

fn cache(level: u32, size: u64, cpus: CpuList) -> Cache {
    Cache { level, kind: CacheKind::Unified, size, line: Some(64), ways: Some(8), cpus }
}

fn note(about: &str, reason: &str, command: Option<&str>) -> HostNote {
    let command = command.map(str::to_owned);
    HostNote { about: about.to_owned(), reason: reason.to_owned(), command, blinds: Vec::new() }
}

/// Without styles.
fn shown(machine: &Machine, notes: &[HostNote], width: usize) -> String {
    anstream::adapter::strip_str(&host(machine, notes, width)).to_string()
}

/// The drawing of packages, caches and cores.
fn drawing(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("Packages, caches"));
    lines.skip(1).take_while(|line| !line.contains("numbers are CPUs")).collect()
}

/// The first line that is too wide; commands are never broken.
fn too_wide(text: &str, width: usize) -> Option<&str> {
    text.lines().find(|line| display_width(line) > width && !line.trim_start().starts_with('→'))
}

#[test]
fn reads_well_at_every_width() {
    let mut unequal = named("hybrid_laptop");
    unequal.topology.allowed = list("0-1,11");
    unequal.memory.hugetlb = vec![HugePool { page: 2 << 20, reserved: 0, free: 0 }];
    for cpu in &mut unequal.topology.cpus {
        cpu.max_mhz = Some(if cpu.cpu < 4 { 4700.0 } else { 3500.0 });
    }
    let notes = [
        note(
            "transparent huge pages",
            "only programs that ask get huge pages: pages of 4 KiB need more TLB entries than there are",
            Some("echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        note("battery", "on battery the firmware lowers clocks and power limits. Plug in", None),
    ];
    let machines = ALL.iter().map(|(name, _)| (*name, named(name))).chain([("unequal", unequal)]);
    for (name, machine) in machines {
        for width in [60, 80, 200] {
            let text = shown(&machine, &notes, width);
            assert_eq!(too_wide(&text, width), None, "{name} at {width}");
            let lines = drawing(&text).len();
            assert!((1..=40).contains(&lines), "no longer than a screen: {name} at {width}: {lines} lines");
            insta::assert_snapshot!(format!("{name}_{width}"), text);
        }
    }
}

#[test]
fn a_machine_cannot_steer_the_terminal() {
    let mut machine = named("microvm_2cpu");
    machine.cpu.model = Reading::Value("\u{1b}[2J\u{1b}]0;owned\u{7}Intel\n\n\u{202e}x".to_owned());
    let notes = [note("\u{1b}[31mred", "two\r\nlines", Some("echo \u{1b}[0m; true"))];
    let text = shown(&machine, &notes, 80);
    assert!(text.starts_with("Intel x: 2 cores"), "{text}");
    assert!(text.contains("! red: two lines\n    → echo ; true\n"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
}

#[test]
fn counters_of_memory_and_whether_they_are_open() {
    let channel = |n| UncoreChannel { name: format!("uncore_imc_{n}"), ..UncoreChannel::default() };
    let channels: Vec<UncoreChannel> = (0..6).map(channel).collect();
    let paranoid = "perf_event_paranoid is 3: sudo sysctl kernel.perf_event_paranoid=0";
    let none = "no uncore PMU (searched: amd_umc_*)";
    for (channels, refused, unknown, expected) in [
        (&channels[..], "", "", &["6 channels (uncore_imc_0 and its like), open to us"][..]),
        (&channels, paranoid, "", &["closed to us", "perf_event_paranoid is 3"]),
        (&[], "", none, &["memory counters", none]),
        // An older record has nothing about them.
        (&[], "", "", &[]),
    ] {
        let mut machine = named("microvm_2cpu");
        let [refused, unknown] =
            [refused, unknown].map(|text| Some(text.to_owned()).filter(|t| !t.is_empty()));
        machine.uncore = Uncore { channels: channels.to_vec(), refused, unknown };
        let text = shown(&machine, &[], 100);
        assert!(expected.iter().all(|words| text.contains(words)), "{expected:?}: {text}");
        assert_eq!(text.contains("memory counters"), !expected.is_empty(), "{text}");
    }
}

#[test]
fn long_lists_of_cpus_are_shortened() {
    let even: Vec<String> = (0..48).map(|n| (n * 2).to_string()).collect();
    for (cpus, expected) in [
        (even.join(",").as_str(), "0,2,…,94"),
        ("0-7,128-135", "0-7,128-135"),
        ("0,2,3,4,9", "0,2-4,9"),
        ("1,2,5,9,14,20,27,35,44,54,65,77,90", "13 CPUs from 1 to 90"),
    ] {
        let mut machine = named("microvm_2cpu");
        machine.topology.offline = list(cpus);
        let text = shown(&machine, &[], 80);
        assert!(text.contains(&format!("offline: {expected} (")), "{expected}: {text}");
    }
}

#[test]
fn sets_that_lie_across_others_are_left_out() {
    let mut machine = named("two_socket_smt_server");
    machine.caches.instances.push(cache(3, GIB, list("10-30")));
    machine.caches.instances.push(cache(4, 64 << 20, list("0-95")));
    let text = shown(&machine, &[], 82);
    let drawing = drawing(&text).join("\n");
    assert!(!drawing.contains("1 GiB"), "{drawing}");
    assert!(drawing.contains("┌ L4 64 MiB ─"), "{drawing}");
    assert!(drawing.contains("│ ┌ package 1 · node 1 · L3 33 MiB ─"), "{drawing}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// CPUs in any order of belonging, caches over any CPUs: what damaged trees make of a machine.
    #[test]
    fn no_machine_is_wider_than_the_sheet(
        cpus in vec((0..40u32, 0..5u32, 0..3u32, option::of(0..4u32)), 0..80),
        caches in vec((1..5u32, btree_set(0..90u32, 0..20)), 0..20),
        allowed in btree_set(0..90u32, 0..60),
        unknown in any::<bool>(),
        width in 40..220usize,
    ) {
        let mut machine = Machine::default();
        machine.topology.online = (0..cpus.len() as u32).collect();
        machine.topology.allowed = allowed.into_iter().collect();
        machine.topology.unknown = unknown.then(|| "damaged".to_owned());
        machine.topology.cpus = (0..).zip(cpus).map(|(cpu, (core, package, kind, die))| LogicalCpu {
            cpu,
            core,
            package,
            die,
            cluster: Some(core / 2),
            kind: (kind > 0).then(|| format!("kind {kind}")),
            max_mhz: Some(f64::from(core) * 100.0),
            ..LogicalCpu::default()
        }).collect();
        machine.caches.instances = caches.into_iter()
            .map(|(level, cpus)| cache(level, u64::from(level) << 60, cpus.into_iter().collect()))
            .collect();
        let node = |node| {
            Node { node, cpus: (node..node + 20).collect(), distances: vec![10, 20], ..Node::default() }
        };
        machine.numa.nodes = (0..12).map(node).collect();
        let text = shown(&machine, &[note("a", "b", None)], width);
        prop_assert_eq!(too_wide(&text, width), None);
    }
}

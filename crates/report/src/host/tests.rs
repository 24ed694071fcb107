//! Machines built by hand, drawn at three widths; damaged ones at any.

use figure::host::{CacheKind, HostNote, LogicalCpu, Uncore, UncoreChannel};
use figure::{CpuList, Machine};
use proptest::prelude::*;
use textwrap::core::display_width;

use super::drawing::{compact, drawing};
use super::host;
use machines::*;

mod machines;

const WIDTHS: [usize; 3] = [60, 80, 200];

type Case = (&'static str, fn() -> (Machine, Vec<HostNote>));

const CASES: [Case; 7] = [
    ("vm", vm),
    ("server", server),
    ("epyc", epyc),
    ("hybrid", hybrid),
    ("giant", giant),
    ("partly", partly),
    ("bare", bare),
];

/// Without ANSI escape sequences.
fn uncoloured(text: &str) -> String {
    text.lines().map(|line| without_escapes(line) + "\n").collect()
}

fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

/// The first line that is too wide; commands are never broken.
fn too_wide(text: &str, width: usize) -> Option<&str> {
    text.lines().find(|line| display_width(line) > width && !line.trim_start().starts_with('→'))
}

#[test]
fn reads_well_at_every_width() {
    for (name, case) in CASES {
        let (machine, notes) = case();
        for width in WIDTHS {
            let text = uncoloured(&host(&machine, &notes, width));
            assert_eq!(too_wide(&text, width), None, "{name} at {width}");
            insta::assert_snapshot!(format!("{name}_{width}"), text);
        }
    }
}

#[test]
fn no_drawing_is_longer_than_a_screen() {
    for (name, case) in CASES {
        for width in WIDTHS {
            let lines = drawing(&case().0, width).len();
            assert!((1..=40).contains(&lines), "{name} at {width}: {lines} lines");
        }
    }
}

#[test]
fn what_a_machine_says_of_itself_cannot_steer_the_terminal() {
    let (mut machine, _) = vm();
    machine.cpu.model = known("\u{1b}[2J\u{1b}]0;owned\u{7}Intel\n\n\u{202e}x".to_owned());
    let notes = [note("\u{1b}[31mred", "two\r\nlines", Some("echo \u{1b}[0m; true"))];
    let text = uncoloured(&host(&machine, &notes, 80));
    assert!(text.starts_with("Intel x: 2 cores"), "{text}");
    assert!(text.contains("! red: two lines\n    → echo ; true\n"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
}

#[test]
fn counters_of_memory_and_whether_they_are_open() {
    let entry = |change: fn(&mut Uncore)| {
        let (mut machine, _) = vm();
        change(&mut machine.uncore);
        uncoloured(&host(&machine, &[], 100))
    };
    let open = entry(|uncore| uncore.channels = six());
    assert!(open.contains("6 channels (uncore_imc_0 and its like), open to us"), "{open}");
    let closed = entry(|uncore| {
        uncore.channels = six();
        uncore.refused =
            Some("perf_event_paranoid is 3: sudo sysctl kernel.perf_event_paranoid=0".to_owned());
    });
    assert!(closed.contains("closed to us") && closed.contains("perf_event_paranoid is 3"), "{closed}");
    let none = entry(|uncore| uncore.unknown = Some("no uncore PMU (looked for amd_umc_*)".to_owned()));
    assert!(
        none.contains("memory counters") && none.contains("no uncore PMU (looked for amd_umc_*)"),
        "{none}"
    );
    assert!(!entry(|_| ()).contains("memory counters"), "a record of before says nothing of them");
}

fn six() -> Vec<UncoreChannel> {
    let channel = |n| UncoreChannel { name: format!("uncore_imc_{n}"), ..UncoreChannel::default() };
    (0..6).map(channel).collect()
}

#[test]
fn numbers_given_in_turn_are_shortened() {
    let even: CpuList = (0..48).map(|n| n * 2).collect();
    assert_eq!(compact(&even), "0,2,…,94");
    assert_eq!(compact(&list("0-7,128-135")), "0-7,128-135");
    assert_eq!(compact(&list("0,2,3,4,9")), "0,2-4,9");
    assert_eq!(compact(&list("1,2,5,9,14,20,27,35,44,54,65,77,90")), "13 CPUs from 1 to 90");
    assert_eq!(compact(&list("")), "");
}

#[test]
fn sets_that_lie_across_others_are_left_out() {
    let (mut machine, _) = server();
    machine.caches.instances.push(cache(3, CacheKind::Unified, GIB, list("10-30")));
    machine.caches.instances.push(cache(4, CacheKind::Unified, 64 * MIB, list("0-95")));
    let text = drawing(&machine, 80).join("\n");
    assert!(!text.contains("1 GiB"), "{text}");
    assert!(text.contains("┌ L4 64 MiB ─"), "{text}");
    assert!(text.contains("│ ┌ package 1 · node 1 · L3 33 MiB ─"), "{text}");
}

prop_compose! {
    /// CPUs in any order of belonging, caches over any CPUs: what damaged trees make of a machine.
    fn any_machine()(
        cpus in proptest::collection::vec((0..40u32, 0..5u32, 0..3u32, proptest::option::of(0..4u32)), 0..80),
        caches in proptest::collection::vec((1..5u32, proptest::collection::btree_set(0..90u32, 0..20)), 0..20),
        allowed in proptest::collection::btree_set(0..90u32, 0..60),
        unknown in any::<bool>(),
    ) -> Machine {
        let mut machine = Machine::default();
        machine.topology.online = (0..cpus.len() as u32).collect();
        machine.topology.allowed = allowed.into_iter().collect();
        machine.topology.unknown = unknown.then(|| "damaged".to_owned());
        machine.topology.cpus = (0..).zip(&cpus).map(|(cpu, &(core, package, kind, other))| LogicalCpu {
            cpu,
            core,
            package,
            die: other,
            cluster: Some(core / 2),
            kind: (kind > 0).then(|| format!("kind {kind}")),
            max_mhz: Some(f64::from(core) * 100.0),
            ..LogicalCpu::default()
        }).collect();
        machine.caches.instances = caches
            .into_iter()
            .map(|(level, cpus)| cache(level, CacheKind::Unified, u64::from(level) << 60, cpus.into_iter().collect()))
            .collect();
        machine.numa.nodes = (0..12).map(|n| node(n, &format!("{n}-{}", n + 20), GIB, &[10, 20])).collect();
        machine
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_machine_is_wider_than_the_sheet(machine in any_machine(), width in 40..220usize) {
        let text = host(&machine, &[note("a", "b", None)], width);
        prop_assert_eq!(too_wide(&text, width), None);
    }
}

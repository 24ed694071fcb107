//! Counters of memory controllers in trees of synthetic machines.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use figure::host::{Direction, Uncore};
use machine::synthetic::{self, Builder};
use machine::{Overrides, Tree, describe};

use crate::common;

const IMC: &[(&str, &str)] = &[("event", "config:0-7"), ("umask", "config:8-15")];

fn uncore(write: impl FnOnce(&Path) -> std::io::Result<()>) -> Uncore {
    let directory = common::directory();
    write(directory.path()).unwrap();
    describe(&Tree::at(directory.path()), &Overrides::default()).uncore
}

/// A tree with only these PMUs, all of one form.
fn pmus(names: &[&str], format: &[(&str, &str)], events: &[(&str, &str)], cpuinfo: &str) -> Uncore {
    uncore(|root| {
        let tree = Builder::new(root)
            .file("proc/cpuinfo", cpuinfo)
            .lines(&[("proc/sys/kernel/perf_event_paranoid", "-1")]);
        names.iter().fold(tree, |tree, name| tree.pmu(name, 12, "0", format, events)).finish()
    })
}

/// Name, direction, first word and bytes of each event of the first channel.
fn first(uncore: &Uncore) -> Vec<(&str, Direction, u64, f64)> {
    let events = uncore.channels[0].events.iter();
    events.map(|event| (event.name.as_str(), event.direction, event.config[0], event.bytes)).collect()
}

#[test]
fn two_sockets_of_six_boxes_are_twelve_channels() {
    let uncore = synthetic::described(synthetic::two_socket_smt_server).uncore;
    let labels: BTreeSet<String> = uncore.channels.iter().map(|channel| channel.label()).collect();
    assert_eq!((uncore.channels.len(), labels.len()), (12, 12));
    assert!(labels.contains("uncore_imc_5 (CPU 24)"), "{labels:?}");
    assert_eq!(
        first(&uncore),
        [
            ("cas_count_read", Direction::Read, 0x0304, 64.0),
            ("cas_count_write", Direction::Write, 0x0c04, 64.0)
        ]
    );
    assert_eq!(uncore.channels[11].pmu, 25);
    assert_eq!(uncore.unknown, None);
    assert!(uncore.has_directions());
    let refused = uncore.refused.unwrap();
    assert_eq!(refused, "perf_event_paranoid is 3: sudo sysctl kernel.perf_event_paranoid=0");
}

#[test]
fn of_two_families_that_count_the_same_only_one_is_taken() {
    let uncore = synthetic::described(synthetic::sub_numa_clusters).uncore;
    assert_eq!(uncore.channels.len(), 16);
    assert!(uncore.channels.iter().all(|channel| !channel.name.contains("free_running")));
}

#[test]
fn a_laptop_has_only_free_running_ones() {
    let uncore = synthetic::described(synthetic::hybrid_laptop).uncore;
    let names: Vec<&str> = uncore.channels.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(names, ["uncore_imc_free_running_0", "uncore_imc_free_running_1"]);
    assert_eq!(first(&uncore)[1], ("data_write", Direction::Write, 0x30ff, 64.0));
    assert!(uncore.unknown.unwrap().contains("uncore_imc_0: it has none of the events"));
}

#[test]
fn amd_has_encodings_of_its_own() {
    let uncore = synthetic::described(synthetic::huge_1536_cpus).uncore;
    assert_eq!(uncore.channels.len(), 96);
    assert_eq!(
        first(&uncore),
        [("umc_cas_cmd.rd", Direction::Read, 0x10a, 64.0), ("umc_cas_cmd.wr", Direction::Write, 0x20a, 64.0)]
    );
}

#[test]
fn amd_before_zen_4_counts_both_ways_together_and_later_not_at_all() {
    let format = &[("event", "config:0-7,32-35,59-60"), ("umask", "config:8-15")];
    let cpu = |family: u32, model: u32| format!("cpu family\t: {family}\nmodel\t\t: {model}\n");
    let rome = pmus(&["amd_df"], format, &[], &cpu(0x17, 0x31));
    assert_eq!(rome.channels.len(), 8, "each event is a channel");
    assert_eq!(first(&rome), [("dram_channel_data_controller_0", Direction::Both, 0x3807, 64.0)]);
    assert_eq!(rome.channels[7].events[0].config[0], 0x1_0000_38c7);
    assert_eq!(rome.channels[7].label(), "amd_df/dram_channel_data_controller_7 (CPU 0)");
    assert!(!rome.has_directions());
    assert_eq!(pmus(&["amd_df"], format, &[], &cpu(0x19, 0x01)).channels.len(), 8, "Milan");
    for (family, model) in [(0x19, 0x11), (0x1a, 0x02), (0x06, 0x55)] {
        let later = pmus(&["amd_df"], format, &[], &cpu(family, model));
        assert!(later.channels.is_empty());
        assert!(later.unknown.unwrap().contains("Linux 6.8"));
    }
}

#[test]
fn arm_servers_by_their_named_events() {
    let kunpeng = synthetic::described(synthetic::arm_server_with_clusters).uncore;
    assert_eq!(kunpeng.channels.len(), 16);
    assert_eq!(
        first(&kunpeng),
        [("flux_rd", Direction::Read, 1, 32.0), ("flux_wr", Direction::Write, 0, 32.0)]
    );
    let grace = pmus(
        &["nvidia_scf_pmu_0", "nvidia_scf_pmu_1", "nvidia_pcie_pmu_0"],
        &[("event", "config:0-31")],
        &[
            ("cycles", "event=0x100000000"),
            ("cmem_rd_data", "event=0x1a5"),
            ("cmem_wr_total_bytes", "event=0x1db"),
        ],
        "",
    );
    assert_eq!(grace.channels.len(), 2);
    assert_eq!(
        first(&grace),
        [
            ("cmem_rd_data", Direction::Read, 0x1a5, 32.0),
            ("cmem_wr_total_bytes", Direction::Write, 0x1db, 1.0)
        ]
    );
    let yitian = pmus(
        &["ali_drw_21000", "ali_drw_40021080"],
        &[("event", "config:0-5")],
        &[("hif_rd", "event=0x3"), ("hif_wr", "event=0x4"), ("hif_rmw", "event=0x5")],
        "",
    );
    assert_eq!(yitian.channels.len(), 2);
    let writes = first(&yitian).iter().filter(|event| event.1 == Direction::Write).count();
    assert_eq!(writes, 2, "a read-modify-write is a write");
    let altra = pmus(&["arm_dmc620_10008c000"], &[], &[("clkdiv2_rdwr", "event=0x12")], "");
    assert!(altra.channels.is_empty() && altra.unknown.unwrap().contains("how many bytes"));
}

#[test]
fn two_sub_channels_in_a_box_are_summed() {
    let read = "event=0x05,umask=0xcf";
    let uncore = pmus(
        &["uncore_imc_0"],
        IMC,
        &[
            ("cas_count_read_sch0", read),
            ("cas_count_read_sch1", "event=0x06,umask=0xcf"),
            ("cas_count_write_sch0", "event=0x05,umask=0xf0"),
            ("cas_count_write_sch1", "event=0x06,umask=0xf0"),
        ],
        "",
    );
    assert_eq!(first(&uncore).len(), 4);
    assert_eq!(first(&uncore)[1].2, 0xcf06);
    let spelled = pmus(&["uncore_imc_0"], IMC, &[("cas_count.rd", read), ("cas_count.wr", "event=4")], "");
    assert_eq!(first(&spelled)[0].0, "cas_count.rd");
}

#[test]
fn unknown_events_are_left_out_and_reported() {
    let events = &[("cas_count_read", "event=0x04,umask=0x03"), ("cas_count_write", "event=0x04,umask=0x0c")];
    let uncore = pmus(&["uncore_imc_0"], &[("event", "config:0-7")], events, "");
    assert!(uncore.channels.is_empty());
    assert_eq!(uncore.unknown.unwrap(), "uncore_imc_0: cas_count_read: there is no format for 'umask'");
    let scale = [events[0], events[1], ("cas_count_read.scale", "1"), ("cas_count_read.unit", "Joules")];
    let uncore = pmus(&["uncore_imc_0"], IMC, &scale, "");
    assert!(uncore.unknown.unwrap().contains("the scale of cas_count_read is not understood"));
}

#[test]
fn without_a_pmu_the_searched_patterns_are_reported() {
    let hidden = pmus(&[], &[], &[], "").unknown.unwrap();
    assert!(hidden.ends_with("shows no events at all: a kernel without them, or hidden here"), "{hidden}");
    let uncore = pmus(&["software"], &[], &[], "");
    assert!(uncore.channels.is_empty());
    let unknown = uncore.unknown.unwrap();
    assert!(unknown.starts_with("no uncore PMU (searched: uncore_imc*"), "{unknown}");
    for name in ["amd_umc_*", "amd_df", "nvidia_scf_pmu_*", "hisi_sccl*_ddrc*"] {
        assert!(unknown.contains(name), "{unknown}");
    }
}

#[test]
fn opening_needs_permission() {
    let refused = |level: &str, status: &str| {
        uncore(|root| {
            Builder::new(root)
                .lines(&[("proc/sys/kernel/perf_event_paranoid", level), ("proc/self/status", status)])
                .pmu("uncore_imc_0", 12, "0", IMC, &[])
                .finish()
        })
        .refused
    };
    let unprivileged = "CapEff:\t0000000000000000";
    assert!(refused("2", unprivileged).unwrap().starts_with("perf_event_paranoid is 2"));
    assert!(refused("2", "Name:\tx").is_some(), "missing capabilities are none");
    assert_eq!(refused("0", unprivileged), None);
    assert_eq!(refused("-1", unprivileged), None);
    assert_eq!(refused("3", "CapEff:\t0000004000000000"), None, "CAP_PERFMON");
    assert_eq!(refused("3", "CapEff:\t000001ffffffffff"), None, "root");
    assert!(refused("x", unprivileged).unwrap().contains("no performance events"));
}

#[test]
fn captured_with_the_machine_and_nothing_else_of_the_devices() {
    let directory = common::directory();
    let root = directory.path().join("tree");
    synthetic::two_socket_smt_server(&root).unwrap();
    let cpu = root.join("sys/bus/event_source/devices/cpu");
    fs::create_dir_all(cpu.join("events")).unwrap();
    fs::write(cpu.join("type"), "4\n").unwrap();
    fs::write(cpu.join("events/instructions"), "event=0xc0\n").unwrap();
    let (archive, again) = (directory.path().join("machine.tar.zst"), directory.path().join("again"));
    machine::capture::capture(&Tree::at(&root), &archive).unwrap();
    machine::capture::unpack(&archive, &again).unwrap();
    let devices = again.join("sys/bus/event_source/devices");
    assert!(devices.join("uncore_imc_5/events/cas_count_write.unit").exists());
    assert!(devices.join("cpu/type").exists() && !devices.join("cpu/events").exists());
    let describe = |root: &Path| describe(&Tree::at(root), &Overrides::default()).uncore;
    assert_eq!(describe(&again), describe(&root));
}

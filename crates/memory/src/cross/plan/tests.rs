//! Plans against synthetic machines and a PATH of empty programs.

use std::os::unix::fs::PermissionsExt;

use figure::Status;
use lab::schedule::Rules;

use super::*;
use crate::pages::Pages;
use crate::simd::Simd;

fn options() -> Options {
    Options {
        array_size: Some(640_000),
        simd: Some(Simd::Portable),
        ..Options::new(Rules { least: 6, most: 6, target: 0.01, max_time: 60.0, repeats: 0 })
    }
}

/// Two CPUs, 8 GiB.
fn machine() -> Machine {
    let mut machine = Machine::default();
    for cpu in 0..2 {
        machine.topology.cpus.push(figure::host::LogicalCpu { cpu, core: cpu, ..Default::default() });
        machine.topology.online.insert(cpu);
        machine.topology.allowed.insert(cpu);
    }
    machine.memory.available = figure::Reading::Value(8 << 30);
    machine
}

fn directory_with(names: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in names {
        let path = directory.path().join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

fn planned(names: &[&str], options: &Options) -> Planned<Setup> {
    let directory = directory_with(names);
    plan_with(&machine(), options, directory.path().as_os_str()).unwrap()
}

fn ids(planned: &Planned<Setup>) -> Vec<&str> {
    let available = planned.suite.figures.iter().filter(|figure| figure.status != Status::NotAvailable);
    available.map(|figure| figure.id.as_str()).collect()
}

fn reason(planned: &Planned<Setup>, id: &str) -> String {
    let figure = planned.suite.figures.iter().find(|figure| figure.id == id).expect(id);
    assert_eq!(figure.status, Status::NotAvailable);
    figure.reason.clone().unwrap()
}

#[test]
fn without_any_program_all_say_so() {
    let planned = planned(&[], &options());
    assert!(ids(&planned).is_empty());
    for tool in ["mlc", "likwid-bench", "stream"] {
        let reason = reason(&planned, &format!("memory.cross.{tool}.triad"));
        assert_eq!(reason, "none of mlc, likwid-bench, stream is on PATH");
    }
}

#[test]
fn every_figure_has_its_partner() {
    let planned = planned(&["stream"], &options());
    assert_eq!(
        ids(&planned),
        [
            "memory.cross.stream.copy",
            "memory.cross.stream.copy.ours",
            "memory.cross.stream.triad",
            "memory.cross.stream.triad.ours"
        ]
    );
    assert_eq!(reason(&planned, "memory.cross.mlc.triad"), "no mlc is on PATH");
    let [tool, own] = [2, 3].map(|at| &planned.suite.figures[at]);
    let figures = &planned.suite.figures;
    assert_eq!(figures.len(), 6, "two that are not there");
    for figure in [tool, own].into_iter().filter(|figure| figure.status != Status::NotAvailable) {
        assert!(figure.conditions.get(key::PAIR).is_some() && figure.at.contains_key("program"));
    }
    let setup = planned.suite.setup;
    assert_eq!(setup.programs.len(), 1, "one run gives both");
    assert_eq!(setup.programs[0].elements, None, "it has a size of its own");
}

#[test]
fn mlc_counts_traffic_and_so_does_its_partner() {
    let planned = planned(&["mlc"], &Options { stores: Some(Stores::Regular), ..options() });
    assert_eq!(ids(&planned), ["memory.cross.mlc.triad.regular", "memory.cross.mlc.triad.regular.ours"]);
    let own = planned.suite.figures.iter().find(|figure| figure.id.ends_with(".ours")).unwrap();
    assert_eq!(own.convention, Some(Convention::EstimatedTraffic));
    assert_eq!(own.conditions.get(key::COUNTED_BYTES), Some(32.0));
    let setup = planned.suite.setup;
    assert_eq!(setup.programs[0].pairs[0].factor, 32.0 / 24.0);
    assert_eq!(setup.programs[0].elements, Some(640_000));
}

#[test]
fn unsupported_options_are_reported() {
    let thp = planned(&["stream", "likwid-bench"], &Options { pages: Pages::Thp, ..options() });
    assert_eq!(reason(&thp, "memory.cross.stream.triad"), "stream cannot be asked for thp pages");
    let shared = planned(&["likwid-bench"], &Options { threads: Some(3), ..options() });
    assert!(reason(&shared, "memory.cross.likwid-bench.triad").contains("threads share CPUs"));
    let read = planned(&["stream"], &Options { kernels: vec!["read".into()], ..options() });
    assert!(reason(&read, "memory.cross.stream.triad").contains("copy, scale, add and triad"));
}

#[test]
fn each_side_has_half_of_the_memory() {
    let large = Options { array_size: Some(200_000_000), ..options() };
    let directory = directory_with(&["likwid-bench"]);
    let error = plan_with(&machine(), &large, directory.path().as_os_str()).unwrap_err().to_string();
    assert!(error.contains("--array-size 200000000") && error.contains("needs as much"), "{error}");
    assert_eq!(error.lines().count(), 1);
    let wrong = Options { kernels: vec!["fma".into()], ..options() };
    assert!(plan_with(&machine(), &wrong, OsStr::new("")).is_err());
}

#[test]
fn partners_get_the_size_that_the_program_reports() {
    let mut figures = planned(&["stream"], &options()).suite.figures;
    let own = figures.iter_mut().find(|figure| figure.id.ends_with("triad.ours")).unwrap();
    own.evidence.put(key::INSTRUMENT_ARRAY, 8e6);
    complete(&mut figures);
    let own = figures.iter().find(|figure| figure.id.ends_with("triad.ours")).unwrap();
    assert_eq!(own.conditions.get(key::ARRAY_BYTES), Some(8e6));
    assert_eq!(own.conditions.get(key::DATA_TOUCHED), Some(24e6));
}

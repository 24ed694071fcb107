//! Every figure that takes CPUs is of one kind of core, in every suite, on machines that have several.

use figure::evidence::{CPUS, http};
use figure::{CpuList, Figure, Machine, Status};
use lab::core_kind;
use machine::synthetic;

use crate::args::SUITES;
use crate::args::memory::Options as Memory;
use crate::args::modes::SharedArgs;
use crate::args::system::Options as System;
use crate::run::Work;
use crate::testing;

const HYBRID: [&str; 4] = ["alder_lake_desktop", "meteor_lake_laptop", "rk3588_board", "four_kinds_phone"];

/// A machine, of which this kind is used.
fn with_class(name: &str, class: Option<&str>) -> Machine {
    let mut machine = synthetic::named(name);
    core_kind::choose(&mut machine, class, &[]).unwrap();
    machine
}

/// A command line for each mode of each suite that can be planned for a machine that is not here.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // The tools to compare with are searched on PATH.
    lines.extend(
        Memory::names()
            .into_iter()
            .filter(|mode| *mode != "cross-check")
            .map(|mode| format!("memory {mode}")),
    );
    lines.extend(
        System::names()
            .into_iter()
            .filter(|mode| *mode != "cross-check")
            .map(|mode| format!("system {mode}")),
    );
    lines.extend(["alloc glibc", "faults prices", "http load --url=http://127.0.0.1:9/"].map(str::to_owned));
    assert!(SUITES.iter().all(|suite| lines.iter().any(|line| line.starts_with(suite))));
    lines
}

/// The figures that a command line would measure.
fn figures(line: &str, class: Option<&str>, machine: &Machine) -> Vec<Figure> {
    let line = class.map_or(line.to_owned(), |class| format!("{line} --class {class}"));
    let parts = testing::parts(testing::parsed(&line), machine).unwrap_or_else(|why| panic!("{line}: {why}"));
    let figures = |work| match work {
        Work::Rounds(suite) => suite.plan.figures,
        Work::Once(once) => vec![once.figure],
    };
    let figures = parts.into_iter().flat_map(|part| figures(part.work));
    figures.filter(|figure| figure.status != Status::NotAvailable).collect()
}

fn cpus(figure: &Figure) -> CpuList {
    let lists = [CPUS, http::CLIENT_CPUS, http::SERVER_CPUS].map(|key| figure.conditions.get(key));
    lists.into_iter().flatten().flatten().map(|cpu| cpu as u32).collect()
}

#[test]
fn every_figure_is_of_the_chosen_kind() {
    for name in HYBRID {
        for class in [None, Some("efficiency")] {
            let machine = with_class(name, class);
            let expected = machine.topology.cores.named(class.unwrap_or("performance")).unwrap().clone();
            for line in lines() {
                let mut figures = figures(&line, class, &machine);
                core_kind::write(&mut figures, &machine);
                for figure in figures {
                    let (id, used) = (&figure.id, cpus(&figure));
                    let kinds = machine.topology.cores.among(&used);
                    assert!(kinds.len() <= 1, "{name}, {line}: {id} is of CPUs {used}");
                    let condition = figure.conditions.get(figure::evidence::CORE_KIND).unwrap();
                    let own = kinds.first().map_or(&expected.name, |kind| &kind.name);
                    assert_eq!(&condition, own, "{name}, {line}: {id}");
                    // This mode goes from kind to kind, unless one is asked for.
                    let is_any = line.ends_with("scaling") && class.is_none();
                    assert!(
                        is_any || used.is_subset(&expected.cpus),
                        "{name}, {line}: {id} is of CPUs {used}"
                    );
                }
            }
        }
    }
}

#[test]
fn all_kinds_are_used_if_they_are_asked_for() {
    let machine = with_class("alder_lake_desktop", Some(core_kind::ALL));
    let used = |line: &str| -> CpuList {
        figures(line, Some(core_kind::ALL), &machine)
            .iter()
            .flat_map(|figure| cpus(figure).iter().collect::<Vec<_>>())
            .collect()
    };
    for line in ["memory bandwidth", "memory scaling", "system noise", "alloc glibc"] {
        let used = used(line);
        assert_eq!(machine.topology.cores.among(&used).len(), 2, "{line}: {used}");
    }
}

#[test]
fn a_machine_of_one_kind_has_neither_condition_nor_note() {
    let machine = with_class("two_socket_smt_server", None);
    for line in ["memory", "system noise", "alloc glibc"] {
        let mut figures = figures(line, None, &machine);
        core_kind::write(&mut figures, &machine);
        assert!(figures.iter().all(|figure| figure.conditions.get(figure::evidence::CORE_KIND).is_none()));
        let parts = testing::parts(testing::parsed(line), &machine).unwrap();
        assert!(parts.iter().all(|part| !part.description.lines().any(|line| line.starts_with("cores "))));
    }
}

#[test]
fn the_plan_says_what_is_used() {
    let machine = with_class("meteor_lake_laptop", Some("low-power"));
    let parts = testing::parts(testing::parsed("system noise --class low-power"), &machine).unwrap();
    let said = parts[0].description.lines().find(|line| line.starts_with("cores ")).unwrap();
    assert!(said.contains("low-power (CPUs 16-17); not performance (CPUs 0-1,10-15)"), "{said}");
}

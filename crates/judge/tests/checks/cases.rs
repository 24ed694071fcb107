//! What an answer is asserted by: its case, and the values that it rests on. The wording of all cases is within its limits.

use std::collections::BTreeMap;

use figure::evidence::*;
use figure::{Basis, CheckResult, Figure};

use crate::build::{Case, hand_over, hopping, quiet_vm, quota, server, setting};
use crate::copies::copies;
use crate::form;
use crate::records::{ANSWERS, Build, review};

/// The longest detail and the longest fix, in characters.
const MAX_DETAIL: usize = 200;
const MAX_FIX: usize = 122;
/// A ratio to a figure, which passes on the verdict of that.
fn computed(source: Case) -> Case {
    let mut ratio = Figure { rounds: Vec::new(), ..source.0.figures[0].clone() }.named("suite.ratio");
    ratio.computed_from(vec!["suite.triad.nt".into()]);
    let mut case = source.all_judged();
    case.0.figures.insert(0, ratio);
    case
}

/// Situations that are in no other list.
pub fn situations() -> Vec<Case> {
    let mut count = quiet_vm();
    count.figure().basis = Basis::Count;
    let mut bare = computed(quiet_vm());
    (bare.0.figures[1].verdict, bare.0.figures[1].checks) = (Some(figure::Verdict::Suspect), Vec::new());
    let process = |bytes: f64| {
        let case = copies("process", 1.0).with(CELL_BYTES, bytes).with(CELL_LIBRARIES, 1.0);
        case.with(CELL_LINKAGE, "dynamic".into())
    };
    let on_server = |cpus: Vec<f64>, places: &str| {
        server().with(THREADS, cpus.len() as f64).with(CPUS, cpus).with(PLACES, places.into())
    };
    vec![
        count,
        bare,
        computed(quiet_vm().of_cpu_time(CPU_STEAL, 0.05)),
        quiet_vm().values(&[20.0; 5]),
        quiet_vm().values(&[20.0, 31.0, 12.0, 28.0, 10.0]),
        quiet_vm().values(&[99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0]),
        hand_over(5.0),
        process(3e6),
        quiet_vm().machine(|machine| machine.kernel.settings = vec![setting("clocksource", "hpet")]),
        copies("shell", 1.0).machine(|machine| {
            let names = [("sched_ext", "enabled"), ("sched_ext_ops", "rusty")];
            machine.kernel.settings = names.map(|(name, value)| setting(name, value)).into();
        }),
        copies("switching", 1.0).machine(|machine| machine.topology.allowed = "0".parse().unwrap()),
        quiet_vm().with(SCHEDULE, "static".into()).with(THREADS, 4.0).with(CPUS, vec![0.0, 1.0, 0.0, 1.0]),
        quiet_vm().with(PLACE_READBACK, false),
        quiet_vm().machine(|machine| machine.cgroup = quota(2.0)),
        on_server(vec![0.0, 24.0], "sockets"),
        on_server(vec![0.0; 25], "sockets"),
        on_server(vec![0.0, 48.0, 1.0], "threads"),
        quiet_vm().with(ARRAY_BYTES, 1e8).with(CACHE_MEASURED, 2e7),
        hopping("free").without(HOP_TOGETHER),
        crate::hops::rounds(4e5),
    ]
}

/// The first answer of each case in all situations.
fn answers() -> BTreeMap<String, CheckResult> {
    let mut answers = BTreeMap::new();
    for case in form::situations() {
        for answer in judge::all().filter_map(|check| case.answer(check.id)) {
            let known = answers.entry(answer.case.clone()).or_insert_with(|| answer.clone());
            // What to do is there where something is wrong.
            if known.fix.is_none() && answer.fix.is_some() {
                *known = answer;
            }
        }
    }
    answers
}

#[test]
fn every_case_arises_and_is_worded_within_its_limits() {
    let (answers, mut wrong) = (answers(), Vec::new());
    let worded = |name: &str| {
        let CheckResult { id, detail, fix, .. } = answers.get(name)?.clone();
        let fix = fix.map(|fix| format!("$ {fix}")).unwrap_or_default();
        Some((id, vec![(detail, MAX_DETAIL), (fix, MAX_FIX)]))
    };
    for (suite, names) in judge::cases::names().into_iter().filter(|(suite, _)| ANSWERS.contains(suite)) {
        insta::assert_snapshot!(suite, review(names, worded, &mut wrong));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! What an answer is asserted by: its case, and the values that it rests on. The wording of all cases is within its limits.

use std::collections::BTreeMap;

use figure::evidence::*;
use figure::host::Setting;
use figure::{Basis, CheckResult, Reading};
use serde_json::Value;

use crate::build::{Case, hand_over, hopping, quiet_vm, quota, server};
use crate::copies::copies;
use crate::form;

impl Case {
    /// The answer of the check, which must be of this case; see [`is_case`].
    #[track_caller]
    pub fn case(&self, check: &str, name: &str, expected: Value) -> CheckResult {
        let answer = self.answer(check).unwrap_or_else(|| panic!("{check} does not apply"));
        is_case(&answer, name, expected);
        answer
    }
}

/// The answer is of this case, and the expected values are among its own; numbers agree to three digits.
#[track_caller]
pub fn is_case(answer: &CheckResult, name: &str, expected: Value) {
    assert_eq!(answer.case, name, "{answer:?}");
    let own = serde_json::to_value(&answer.values).unwrap();
    assert!(agree(&own, &expected), "{own} is not {expected}");
}

fn agree(own: &Value, expected: &Value) -> bool {
    match (own, expected) {
        (Value::Object(own), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| own.get(name).is_some_and(|own| agree(own, value)))
        }
        (Value::Array(own), Value::Array(expected)) => {
            own.len() == expected.len()
                && own.iter().zip(expected).all(|(own, expected)| agree(own, expected))
        }
        _ => match (own.as_f64(), expected.as_f64()) {
            (Some(own), Some(expected)) => (own - expected).abs() <= 0.005 * expected.abs(),
            _ => own == expected,
        },
    }
}

/// The longest detail and the longest fix, in characters.
const MAX_DETAIL: usize = 200;
const MAX_FIX: usize = 120;
/// Words that no sentence has (the project's rules for plain words).
const FORBIDDEN: &[&str] = &[
    "told", "tells", "said", "seen", "held", "whom", "whose", "ours", "nobody", "somebody", "besides", "us",
];

/// A ratio to a disturbed figure, whose verdict it passes on.
fn computed(source: Case) -> Case {
    let mut case = source;
    let mut ratio = case.0.figures[0].clone();
    ratio.id = "suite.ratio".into();
    ratio.rounds.clear();
    ratio.computed_from(vec!["suite.triad.nt".into()]);
    judge::judge(&mut case.0);
    case.0.figures.insert(0, ratio);
    case
}

/// Situations that are in no other list.
pub fn situations() -> Vec<Case> {
    let setting = |name: &str, value: &str| Setting {
        name: name.into(),
        value: Reading::Value(value.into()),
        source: String::new(),
    };
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
        computed(quiet_vm()),
        computed(quiet_vm().of_cpu_time(CPU_STEAL, 0.05)),
        quiet_vm().values(&[20.0; 5]),
        quiet_vm().values(&[20.0, 31.0, 12.0, 28.0, 10.0]),
        quiet_vm().values(&[99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0]),
        hand_over(5.0),
        process(3e6),
        quiet_vm().machine(|machine| machine.kernel.settings = vec![setting("clocksource", "hpet")]),
        copies("shell", 1.0).machine(|machine| {
            machine.kernel.settings =
                vec![setting("sched_ext", "enabled"), setting("sched_ext_ops", "rusty")];
        }),
        copies("switching", 1.0).machine(|machine| machine.topology.allowed = "0".parse().unwrap()),
        quiet_vm().with(SCHEDULE, "static".into()).with(THREADS, 4.0).with(CPUS, vec![0.0, 1.0, 0.0, 1.0]),
        quiet_vm().with(PLACE_READBACK, false),
        quiet_vm().machine(|machine| machine.cgroup = quota(2.0)),
        on_server(vec![0.0, 24.0], "sockets"),
        on_server(vec![0.0; 25], "sockets"),
        on_server(vec![0.0, 48.0, 1.0], "threads"),
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
    let is_answer = |suite: &str| ["cpus", "rounds", "arrays", "loads", "texts"].contains(&suite);
    for (suite, names) in judge::cases::names().into_iter().filter(|(suite, _)| is_answer(suite)) {
        let mut prose = String::new();
        for name in names {
            let Some(answer) = answers.get(*name) else {
                wrong.push(format!("{suite}: {name} arises in no situation"));
                continue;
            };
            let fix = answer.fix.as_deref().unwrap_or_default();
            prose.push_str(&format!("{}/{name}\n  {}\n", answer.id, answer.detail));
            if !fix.is_empty() {
                prose.push_str(&format!("  $ {fix}\n"));
            }
            for (text, most) in [(answer.detail.as_str(), MAX_DETAIL), (fix, MAX_FIX)] {
                let mut words = text.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
                if text.chars().count() > most || words.any(|word| FORBIDDEN.contains(&word.as_str())) {
                    wrong.push(format!("{name}: {}: {text}", text.chars().count()));
                }
            }
        }
        insta::assert_snapshot!(suite, prose);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

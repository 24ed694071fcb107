//! Records built from numbers: the common ground of all tests of this crate.
#![allow(dead_code)] // Each test file uses its part.

use std::borrow::BorrowMut;

use figure::check::{CheckResult, Outcome, Verdict};
use figure::evidence::*;
use figure::explanation::Values;
use figure::host::Peak;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Convention, Evidence, Explanation, Figure, Reading, Record, Round, Tool, Unit};
use judge::check::Subject;
use serde_json::Value;

/// A figure that is changed one thing at a time.
pub trait Build: Sized + BorrowMut<Figure> {
    /// Under another name.
    fn named(mut self, id: impl Into<String>) -> Self {
        self.borrow_mut().id = id.into();
        self
    }

    /// With a condition, a fact of the figure, or a fact of every round, as the key's scope says.
    fn with<T: FactType + Clone>(mut self, key: Key<T>, value: T) -> Self {
        let figure = self.borrow_mut();
        match key.scope {
            Scope::Condition => figure.conditions.set(key, value),
            Scope::Figure => figure.evidence.put(key, value),
            Scope::Round => figure.rounds.iter_mut().for_each(|round| round.evidence.put(key, value.clone())),
        }
        self
    }

    /// With a fact that could not be observed.
    fn unknown<T>(mut self, key: Key<T>, reason: &str) -> Self {
        let figure = self.borrow_mut();
        match key.scope {
            Scope::Condition => unreachable!("a condition is always known"),
            Scope::Figure => figure.evidence.put_unknown(key, reason),
            Scope::Round => {
                figure.rounds.iter_mut().for_each(|round| round.evidence.put_unknown(key, reason));
            }
        }
        self
    }

    /// With rounds of these values, each with the evidence of the first one.
    fn values(mut self, values: &[f64]) -> Self {
        let figure = self.borrow_mut();
        let first = figure.rounds.first().cloned().unwrap_or_else(|| round(0.0));
        figure.rounds = values.iter().map(|value| Round { samples: vec![*value], ..first.clone() }).collect();
        figure.summarise();
        self
    }

    /// As the point of a series at a place on this axis.
    fn at(mut self, series: &str, axis: &str, value: CoordinateValue, unit: Option<Unit>) -> Self {
        let figure = self.borrow_mut();
        figure.series = Some(series.to_owned());
        figure.at.insert(axis.to_owned(), Coordinate { value, unit });
        self
    }

    /// Measured, with this value alone.
    fn valued(mut self, value: f64) -> Self {
        let figure = self.borrow_mut();
        (figure.value, figure.status, figure.reason) = (Some(value), figure::Status::Measured, None);
        self
    }
}

impl Build for Figure {}

/// A record with figures that are changed one thing at a time.
pub trait Change: Sized + BorrowMut<Record> {
    /// A figure of the record.
    #[track_caller]
    fn of(&mut self, id: &str) -> &mut Figure {
        self.borrow_mut().figures.iter_mut().find(|figure| figure.id == id).expect(id)
    }

    /// With a change to a figure.
    fn change(mut self, id: &str, change: impl FnOnce(Figure) -> Figure) -> Self {
        let figure = self.of(id);
        *figure = change(figure.clone());
        self
    }

    /// With only the figures of these names.
    fn only(mut self, fits: impl Fn(&str) -> bool) -> Self {
        self.borrow_mut().figures.retain(|figure| fits(&figure.id));
        self
    }

    /// With this theoretical peak of memory.
    fn peak(mut self, bytes_per_s: f64, basis: &str) -> Self {
        let basis = basis.to_owned();
        self.borrow_mut().machine.memory.peak =
            Reading::Value(Peak { channels: 12, mt_per_s: 2666, bytes_per_s, basis });
        self
    }

    /// With verdicts, explanations and findings.
    fn judged(mut self) -> Self {
        judge::judge(self.borrow_mut());
        self
    }

    /// Puts six rounds around another value of a figure.
    fn set(&mut self, id: &str, value: f64) {
        let figure = self.of(id);
        *figure = figure.clone().values(&six(value));
    }

    /// With six rounds around another value of a figure.
    fn value(self, id: &str, value: f64) -> Self {
        self.change(id, |figure| figure.values(&six(value)))
    }

    /// With several such values.
    fn each(self, values: &[(&str, f64)]) -> Self {
        values.iter().fold(self, |record, (id, value)| record.value(id, *value))
    }

    /// With another fact of a figure.
    fn fact<T: FactType + Clone>(self, id: &str, key: Key<T>, value: T) -> Self {
        self.change(id, |figure| figure.with(key, value))
    }

    /// With a fact of a figure that could not be observed.
    fn unknown<T>(self, id: &str, key: Key<T>, reason: &str) -> Self {
        self.change(id, |figure| figure.unknown(key, reason))
    }

    /// With a figure that has this verdict for one reason: its detail, and what to do.
    fn verdict(self, id: &str, verdict: Verdict, check: &str, [detail, fix]: [&str; 2]) -> Self {
        let outcome = match verdict {
            Verdict::Valid => Outcome::Pass,
            Verdict::Unverified => Outcome::Unknown,
            Verdict::Suspect => Outcome::Warn,
            Verdict::Invalid => Outcome::Fail,
        };
        let fix = Some(fix.to_owned()).filter(|fix| !fix.is_empty());
        let [check, detail] = [check, detail].map(String::from);
        let check = CheckResult { id: check, outcome, detail, fix, essential: true, ..Default::default() };
        self.change(id, |figure| Figure { verdict: Some(verdict), checks: vec![check], ..figure })
    }
}

impl Change for Record {}

/// The array size of all figures that are not doubled.
pub const ARRAY: f64 = 640e6;

/// (counted, moved) bytes an element, as the memory suite declares them.
fn bytes(kernel: &str, stores: &str) -> (f64, f64) {
    match (kernel, stores) {
        ("copy" | "scale", "nt") => (16.0, 16.0),
        ("copy" | "scale", _) => (16.0, 24.0),
        ("add" | "triad", "nt") => (24.0, 24.0),
        ("add" | "triad", _) => (24.0, 32.0),
        ("write", "nt") => (8.0, 8.0),
        ("write", _) => (8.0, 16.0),
        ("read", _) => (8.0, 8.0),
        ("update", _) => (16.0, 16.0),
        other => panic!("no such kernel: {other:?}"),
    }
}

/// A figure of `kernel` with `stores` and rounds of these values, on 48 threads.
pub fn bandwidth(kernel: &str, stores: &str, rounds: &[f64]) -> Figure {
    let (counted, moved) = bytes(kernel, stores);
    let id = match (kernel, stores) {
        ("read", _) => "memory.read.regular".to_owned(),
        _ => format!("memory.{kernel}.{stores}"),
    };
    let mut figure = Figure::planned(id, "memory", kernel, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::StreamCounted);
    figure.verdict = Some(Verdict::Valid);
    let figure = figure
        .with(KERNEL, kernel.to_owned())
        .with(STORES, stores.to_owned())
        .with(SIMD, "avx2".to_owned())
        .with(THREADS, 48.0)
        .with(PLACES, "cores".to_owned())
        .with(BIND, "close".to_owned())
        .with(PAGES_ASKED, "thp".to_owned())
        .with(ARRAY_BYTES, ARRAY)
        .with(COUNTED_BYTES, counted)
        .with(TRAFFIC_BYTES, moved)
        .with(PAGES_HUGE_SHARE, 1.0)
        .values(rounds);
    match stores {
        "libc" | "compiler" => figure.with(ROLE, "baseline".to_owned()).with(SIMD, stores.to_owned()),
        _ => figure,
    }
}

/// Six rounds around `value` of what is no bandwidth, with no condition.
pub fn plain(id: &str, unit: Unit, better: Better, value: f64) -> Figure {
    let suite = id.split('.').next().unwrap_or_default();
    let mut figure = Figure::planned(id, suite, id, unit, better).values(&six(value));
    figure.verdict = Some(Verdict::Valid);
    figure
}

/// Seconds of a round.
pub const ROUND_SECONDS: f64 = 0.5;

/// A round of one sample.
pub fn round(value: f64) -> Round {
    Round::new("2026-01-01T00:00:00Z".into(), ROUND_SECONDS, vec![value], Evidence::default())
}

/// Six rounds around `value`, 0.4 % wide; `value` is their median.
pub fn six(value: f64) -> [f64; 6] {
    [0.999, 1.001, 1.002, 0.998, 1.0005, 0.9995].map(|factor| value * factor)
}

/// These figures in a judged record.
pub fn judged(figures: Vec<Figure>) -> Record {
    record(figures).judged()
}

/// Rounds that differ by more than any effect.
pub fn restless(figure: Figure) -> Figure {
    let times = [0.4, 1.9, 0.5, 1.8, 0.6, 1.7];
    let values: Vec<f64> =
        figure.kept_values().iter().zip(times).map(|(value, times)| value * times).collect();
    figure.values(&values)
}

/// The same figure in another role.
pub fn in_role(figure: Figure, role: &str) -> Figure {
    let id = format!("{}.{role}", figure.id);
    let figure = figure.named(id).with(ROLE, role.to_owned());
    if role == "doubled" { figure.with(ARRAY_BYTES, 2.0 * ARRAY) } else { figure }
}

/// A record of these figures on a machine that shows nothing of itself.
pub fn record(figures: Vec<Figure>) -> Record {
    let [name, version, build, simd] = ["truebench", "0", "release, rustc 1.90", "avx2"].map(String::from);
    Record {
        tool: Tool { name, version, build, simd },
        started: "2026-01-01T00:00:00Z".into(),
        duration: 60.0,
        command: vec!["truebench".into(), "memory".into()],
        figures,
        ..Record::default()
    }
}

/// The peak of study 1 in bytes a second: 12 x DDR4-2666.
pub const PEAK: f64 = 255.936e9;
pub const DIMMS: &str = "12 x 2666 (--dimms)";

/// Study 1, steps 5 and 7: one run of STREAM by gcc (regular stores) and by icc (non-temporal), GB/s.
pub fn study_1() -> Record {
    let regular = [("copy", 136.9429), ("scale", 135.2354), ("add", 151.3592), ("triad", 153.2195)];
    let nt = [("copy", 183.0387), ("scale", 183.2762), ("add", 197.9418), ("triad", 196.9638)];
    let figures = [("regular", regular), ("nt", nt)]
        .iter()
        .flat_map(|(stores, kernels)| kernels.map(|(kernel, value)| bandwidth(kernel, stores, &[value])))
        .collect();
    record(figures).peak(PEAK, DIMMS)
}

/// Applies a relation to a figure of the record; `None` if it does not apply.
pub fn apply(check: &str, record: &Record, id: &str) -> Option<CheckResult> {
    let figure = record.figure(id).expect(id);
    judge::find(check).expect(check).apply(&Subject { figure, record })
}

/// The outcome of a relation that must apply.
pub fn outcome(check: &str, record: &Record, id: &str) -> Outcome {
    apply(check, record, id).expect("the relation applies").outcome
}

/// The explanations of a figure.
pub fn explanations(record: &Record, id: &str) -> Vec<Explanation> {
    let figure = record.figure(id).expect(id);
    judge::explain::explanations(&Subject { figure, record })
}

/// The figure's explanation of this rule and case (`mix/below-by-mix`), which must be there, has these values.
#[track_caller]
pub fn case(record: &Record, id: &str, name: &str, expected: Value) {
    let all = explanations(record, id);
    let names: Vec<String> = all.iter().map(|own| format!("{}/{}", own.rule, own.case)).collect();
    let at = names.iter().position(|own| own == name);
    let at = at.unwrap_or_else(|| panic!("{id}: no {name} in {names:?}"));
    has_values(&all[at].values, &expected, id);
}

/// The answer is of this case, and has these values.
#[track_caller]
pub fn is_case(answer: &CheckResult, case: &str, expected: Value) {
    assert_eq!(answer.case, case, "{answer:?}");
    has_values(&answer.values, &expected, &answer.id);
}

/// Each of the expected values is among them.
#[track_caller]
pub fn has_values(values: &Values, expected: &Value, about: &str) {
    for (name, value) in expected.as_object().expect("an object") {
        let own = values.get(name).unwrap_or(&Value::Null);
        assert!(agree(own, value), "{about}: {name} is {own}, not {value}");
    }
}

/// Whether values are the same, numbers to three digits; of an object, whether it holds the expected fields.
pub fn agree(own: &Value, expected: &Value) -> bool {
    use Value::{Array, Object};
    match (own, expected) {
        (Object(own), Object(expected)) => {
            expected.iter().all(|(name, value)| own.get(name).is_some_and(|own| agree(own, value)))
        }
        (Array(own), Array(expected)) => {
            own.len() == expected.len()
                && own.iter().zip(expected).all(|(own, expected)| agree(own, expected))
        }
        _ => match (own.as_f64(), expected.as_f64()) {
            (Some(own), Some(expected)) => (own - expected).abs() <= 0.005 * expected.abs(),
            _ => own == expected,
        },
    }
}

/// This rule, which must exist, explains nothing of the figure.
#[track_caller]
pub fn no_case(record: &Record, id: &str, rule: &str) {
    let exists = judge::explain::RULES.iter().any(|(name, _)| *name == rule);
    assert!(exists || ["cause", "peak", "unexplained"].contains(&rule), "no rule {rule}");
    let found = explanations(record, id).into_iter().find(|own| own.rule == rule);
    assert_eq!(found, None, "{id}");
}

/// The finding of this case, if the judged record has one.
pub fn find<'a>(record: &'a Record, case: &str) -> Option<&'a Explanation> {
    record.findings.iter().find(|finding| finding.case == case)
}

/// The finding of this rule and case (`moves/moves-up-to`) and with these values, which the judged record must have.
#[track_caller]
pub fn finds<'a>(record: &'a Record, name: &str, expected: Value) -> &'a Explanation {
    let (rule, case) = name.split_once('/').expect("rule/case");
    let all = &record.findings;
    let named: Vec<&Explanation> =
        all.iter().filter(|one| (&*one.rule, &*one.case) == (rule, case)).collect();
    let values = |one: &Explanation| serde_json::to_value(&one.values).unwrap();
    let finding = named.iter().find(|finding| agree(&values(finding), &expected));
    finding.unwrap_or_else(|| panic!("no {name} of {expected:#} in {named:#?} of {all:#?}"))
}

/// The same of a record that is judged anew.
#[track_caller]
pub fn finding(record: &Record, name: &str, expected: Value) -> Explanation {
    finds(&record.clone().judged(), name, expected).clone()
}

/// No finding of the record, judged anew, is of this rule.
#[track_caller]
pub fn no_finding(record: &Record, rule: &str) {
    let judged = record.clone().judged();
    assert_eq!(judged.findings.iter().find(|finding| finding.rule == rule), None);
}

/// Suites of answers of checks; the others are of explanations and findings.
pub const ANSWERS: [&str; 5] = ["cpus", "rounds", "arrays", "loads", "texts"];

/// Words that no sentence has (the project's rules for plain words).
const FORBIDDEN: &str = "told tells said seen held whom whose ours nobody somebody besides us \
                         meanwhile whoever thereby lest";

/// The wording of these cases as one text: each by its rule and its lines, with the most characters that a line may have. What is
/// wrong is added.
pub fn review(
    names: &[&str],
    worded: impl Fn(&str) -> Option<(String, Vec<(String, usize)>)>,
    wrong: &mut Vec<String>,
) -> String {
    let mut text = String::new();
    for name in names {
        let Some((rule, lines)) = worded(name) else {
            wrong.push(format!("{name} arises in no record"));
            continue;
        };
        text.push_str(&format!("{rule}/{name}\n"));
        for (line, most) in lines.iter().filter(|(line, _)| !line.is_empty()) {
            text.push_str(&format!("  {line}\n"));
            let mut words = line.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
            let forbidden = words.any(|word| FORBIDDEN.split(' ').any(|other| other == word));
            if forbidden || line.chars().count() > *most {
                wrong.push(format!("{name}: {} characters: {line}", line.chars().count()));
            }
        }
    }
    text
}

//! Do the compared servers do the same work under the same conditions?

use figure::evidence::http::{
    ANSWER, ANSWER_BYTES, BUILD, CONFORMS, CONNECTIONS, GOAL, GOGC, GOMAXPROCS, HANDLER_COST, KEEPS_ALIVE,
    SERVER_CPUS, SUBJECT, WHAT,
};
use figure::evidence::{FactType, Key};
use figure::format::{number, plain_to};
use figure::{Figure, Outcome};

use crate::cases::{Loads, Unequal};
use crate::check::{Answer, Check, Levels, Subject, never, page};
use crate::load::{RATE, list, of_server};
use crate::values::List;

/// By how much the bytes of an answer may differ, as a share. Any difference is worth a word; with a tenth the servers do not send the same.
const LONGER: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.10 };

/// The subjects relation.
pub const CHECK: Check = Check {
    id: "subjects-equal",
    page: page!("subjects-equal"),
    applies: |subject| of_server(subject) && others(subject).next().is_some(),
    essential: never,
    rule,
};

/// Figures of other servers under the same load.
fn others<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Figure> {
    let (of, record) = (subject.figure, subject.record);
    record.figures.iter().filter(move |other| {
        let (ours, theirs) = (&of.conditions, &other.conditions);
        other.value.is_some()
            && of_server(&Subject { figure: other, record })
            && theirs.get(WHAT).as_deref() == Some(RATE)
            && theirs.get(SUBJECT) != ours.get(SUBJECT)
            && theirs.get(GOAL) == ours.get(GOAL)
            && theirs.get(CONNECTIONS) == ours.get(CONNECTIONS)
            && theirs.get(KEEPS_ALIVE) == ours.get(KEEPS_ALIVE)
            && theirs.get(HANDLER_COST) == ours.get(HANDLER_COST)
    })
}

fn rule(subject: &Subject) -> Answer {
    let (mut worst, mut unequal) = (Outcome::Pass, Vec::new());
    let mut unknown = None;
    for other in others(subject) {
        match differences(subject.figure, other) {
            Ok(found) => {
                for (outcome, difference) in found {
                    worst = worst.max(outcome);
                    unequal.push(difference);
                }
            }
            Err(reason) => unknown = unknown.or(Some(reason)),
        }
    }
    match unknown {
        _ if worst > Outcome::Pass => Answer::of(worst, Loads::SubjectsDiffer { differences: List(unequal) }),
        Some(reason) => Answer::unknown(reason),
        None => Answer::pass(Loads::SubjectsEqual),
    }
}

/// In what two figures differ, and how bad that is; the reason if the answers themselves cannot be compared.
fn differences(ours: &Figure, theirs: &Figure) -> Result<Vec<(Outcome, Unequal)>, String> {
    let numbers = |key: Key<f64>| -> Option<[f64; 2]> { fact(ours, theirs, key) };
    let mut found = Vec::new();
    let mut differ = |outcome, property, values: [String; 2]| {
        let [value, other] = values.map(|value| plain_to(&value, 40));
        found.push((outcome, Unequal { property, value, other, server: theirs.into() }));
    };
    if theirs.evidence.get(CONFORMS).into_value() == Some(false) {
        differ(Outcome::Fail, "conformance", ["passed".to_owned(), "failed".to_owned()]);
    }
    let bytes = numbers(ANSWER_BYTES).ok_or("how long the answers are is not recorded")?;
    let [mine, other] = bytes;
    let longer = (mine - other).abs() / mine.max(other).max(1.0);
    if LONGER.outcome(longer) > Outcome::Pass {
        differ(LONGER.outcome(longer), "bytes of an answer", bytes.map(number));
    }
    let [one, two] =
        fact(ours, theirs, ANSWER).ok_or("what the answers are is not recorded")?.map(|one| sorted(&one));
    if one != two {
        let only =
            |these: &[String], those: &[String]| these.iter().find(|line| !those.contains(line)).cloned();
        differ(Outcome::Warn, "answer", [only(&one, &two), only(&two, &one)].map(Option::unwrap_or_default));
    }
    let builds = fact(ours, theirs, BUILD).map(|builds| builds.map(|build| toolchain(&build)));
    if let Some(builds) = builds.filter(|[one, two]| one != two) {
        differ(Outcome::Warn, "toolchain", builds);
    }
    for (name, key, outcome) in [("GOMAXPROCS", GOMAXPROCS, Outcome::Fail), ("GOGC", GOGC, Outcome::Warn)] {
        if let Some(values) = numbers(key).filter(|[mine, other]| mine != other) {
            differ(outcome, name, values.map(|value| value.to_string()));
        }
    }
    let cpus = [ours, theirs].map(|side| side.conditions.get(SERVER_CPUS));
    if cpus[0] != cpus[1] {
        let list = |cpus: Option<Vec<f64>>| list(&cpus.unwrap_or_default()).to_string();
        differ(Outcome::Fail, "CPUs", cpus.map(list));
    }
    Ok(found)
}

fn fact<T: FactType>(ours: &Figure, theirs: &Figure, key: Key<T>) -> Option<[T; 2]> {
    Some([ours.evidence.get(key).into_value()?, theirs.evidence.get(key).into_value()?])
}

/// The lines of an answer: the order of headers says nothing, nor does the case of their names (RFC 9110, 5.1 and 5.3).
fn sorted(answer: &str) -> Vec<String> {
    let mut lines: Vec<String> = answer.lines().map(|line| line.trim().to_lowercase()).collect();
    lines.sort_unstable();
    lines
}

/// What of a build says who compiled it for what: the words of Go's version and of GOAMD64. The modules are the server's own.
fn toolchain(build: &str) -> String {
    let words = build.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
    let kept: Vec<&str> = words.filter(|word| is_go_version(word) || word.starts_with("GOAMD64")).collect();
    kept.join(" ")
}

fn is_go_version(word: &str) -> bool {
    word.strip_prefix("go").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

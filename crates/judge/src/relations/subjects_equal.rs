//! Do the compared servers do the same work under the same conditions?

use figure::evidence::http::{
    ANSWER, ANSWER_BYTES, BUILD, CONFORMS, GOAL, GOGC, GOMAXPROCS, HANDLER_COST, SERVER_CPUS, SUBJECT,
};
use figure::evidence::{FactType, Key};
use figure::format::{number, plain_to};

use crate::cases::Unequal;
use crate::load::{list, of_same_connections, of_server};
use crate::prelude::*;

/// By how much the bytes of an answer may differ, as a share. Any difference is worth a word; with a tenth the servers do not send the same.
const LONGER: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.10 };

pub const CHECK: Check = Check::new(
    page!("subjects-equal"),
    |subject| of_server(subject) && others(subject).next().is_some(),
    rule,
);

/// Figures of other servers under the same load.
fn others<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Figure> {
    let subject = *subject;
    let others = of_same_connections(subject).filter(move |other| {
        of_server(other)
            && !other.same(&subject, SUBJECT)
            && other.same(&subject, GOAL)
            && other.same(&subject, HANDLER_COST)
    });
    others.map(|other| other.figure)
}

fn rule(subject: &Subject) -> Answer {
    let compared = others(subject).map(|other| differences(subject.figure, other));
    let (known, unknown): (Vec<_>, Vec<_>) = compared.partition(Result::is_ok);
    let (outcomes, unequal): (Vec<Outcome>, Vec<Unequal>) = known.into_iter().flatten().flatten().unzip();
    match (outcomes.into_iter().max(), unknown.into_iter().find_map(Result::err)) {
        (Some(worst), _) => Answer::of(worst, Loads::SubjectsDiffer { differences: List(unequal) }),
        (None, Some(reason)) => Answer::unknown(reason),
        (None, None) => Answer::pass(Loads::SubjectsEqual),
    }
}

/// In what two figures differ, and how bad that is; the reason if the answers themselves cannot be compared.
fn differences(own: &Figure, other: &Figure) -> Result<Vec<(Outcome, Unequal)>, String> {
    let mut all = Vec::new();
    let mut compare = |outcome, property, values: Option<[String; 2]>| {
        let server = other.into();
        if let Some([value, other]) = values.filter(|[value, other]| value != other) {
            let (value, other) = (plain_to(&value, 40), plain_to(&other, 40));
            all.push((outcome, Unequal { property, value, other, server }));
        }
    };
    if other.evidence.get(CONFORMS).into_value() == Some(false) {
        compare(Outcome::Fail, "conformance", Some(["passed", "failed"].map(str::to_owned)));
    }
    let [mine, its] = fact(own, other, ANSWER_BYTES).ok_or("how long the answers are is not recorded")?;
    let longer = LONGER.outcome((mine - its).abs() / mine.max(its).max(1.0));
    compare(longer, "bytes of an answer", Some([mine, its].map(number)).filter(|_| longer > Outcome::Pass));
    let answers = fact(own, other, ANSWER).ok_or("what the answers are is not recorded")?;
    let [one, two] = answers.map(|answer| sorted(&answer));
    let only = |these: &[String], those: &[String]| {
        these.iter().find(|line| !those.contains(line)).cloned().unwrap_or_default()
    };
    compare(Outcome::Warn, "answer", Some([only(&one, &two), only(&two, &one)]));
    let builds = fact(own, other, BUILD);
    compare(Outcome::Warn, "toolchain", builds.map(|builds| builds.map(|build| toolchain(&build))));
    for (name, key, outcome) in [("GOMAXPROCS", GOMAXPROCS, Outcome::Fail), ("GOGC", GOGC, Outcome::Warn)] {
        let values = fact(own, other, key);
        compare(outcome, name, values.map(|values| values.map(|value| value.to_string())));
    }
    let cpus = [own, other].map(|side| list(&side.conditions.get(SERVER_CPUS).unwrap_or_default()));
    compare(Outcome::Fail, "CPUs", Some(cpus.map(|cpus| cpus.to_string())));
    Ok(all)
}

fn fact<T: FactType>(own: &Figure, other: &Figure, key: Key<T>) -> Option<[T; 2]> {
    Some([own.evidence.get(key).into_value()?, other.evidence.get(key).into_value()?])
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
    let parts: Vec<&str> = words.filter(|word| is_go_version(word) || word.starts_with("GOAMD64")).collect();
    parts.join(" ")
}

fn is_go_version(word: &str) -> bool {
    word.strip_prefix("go").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

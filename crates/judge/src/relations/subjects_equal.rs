//! Do the compared servers do the same work under the same conditions?

use figure::evidence::http::{
    ANSWER, ANSWER_BYTES, BUILD, CONFORMS, CONNECTIONS, GOAL, GOGC, GOMAXPROCS, HANDLER_COST, KEEPS_ALIVE,
    SERVER_CPUS, SUBJECT, WHAT,
};
use figure::evidence::{FactType, Key};
use figure::format::{number, plain_to};
use figure::{Figure, Outcome};

use crate::check::{Answer, Check, Levels, Subject, never, page};
use crate::load::{RATE, of_server};

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
    let (mut worst, mut said) = (Outcome::Pass, Vec::new());
    let mut blind = None;
    for other in others(subject) {
        match differences(subject.figure, other) {
            Ok(found) => {
                for (outcome, what) in found {
                    worst = worst.max(outcome);
                    said.push(format!("{what} ({})", other.id));
                }
            }
            Err(reason) => blind = blind.or(Some(reason)),
        }
    }
    if worst > Outcome::Pass {
        return Answer::of(
            worst,
            said.join("; "),
            "compare servers that answer the same bytes, built by one Go, with the same GOMAXPROCS, GOGC and CPUs",
        );
    }
    match blind {
        Some(reason) => Answer::unknown(reason),
        None => Answer::pass(
            "the same answer, Go, GOMAXPROCS, GOGC and CPUs as the other servers under this load",
        ),
    }
}

/// In what two figures differ, and how bad that is; the reason if the answers themselves cannot be compared.
fn differences(ours: &Figure, theirs: &Figure) -> Result<Vec<(Outcome, String)>, String> {
    let both = |key: Key<f64>| -> Option<[f64; 2]> { fact(ours, theirs, key) };
    let mut found = Vec::new();
    if theirs.evidence.get(CONFORMS).into_value() == Some(false) {
        found.push((Outcome::Fail, "the other one does not conform".to_owned()));
    }
    let [mine, other] = both(ANSWER_BYTES).ok_or("how long the answers are is not recorded")?;
    let longer = (mine - other).abs() / mine.max(other).max(1.0);
    if LONGER.outcome(longer) > Outcome::Pass {
        found.push((LONGER.outcome(longer), format!("answers of {} and {} B", number(mine), number(other))));
    }
    let [one, two] = fact(ours, theirs, ANSWER).ok_or("what the answers are is not recorded")?;
    if sorted(&one) != sorted(&two) {
        let what = first_difference(&one, &two);
        found.push((Outcome::Warn, format!("answers that differ: {}", plain_to(&what, 80))));
    }
    if let Some([one, two]) = fact(ours, theirs, BUILD).map(|builds| builds.map(|build| toolchain(&build)))
        && one != two
    {
        found.push((Outcome::Warn, format!("built by {} and {}", plain_to(&one, 40), plain_to(&two, 40))));
    }
    for (name, key, outcome) in [("GOMAXPROCS", GOMAXPROCS, Outcome::Fail), ("GOGC", GOGC, Outcome::Warn)] {
        if let Some([mine, other]) = both(key)
            && mine != other
        {
            found.push((outcome, format!("{name} {mine} and {other}")));
        }
    }
    if ours.conditions.get(SERVER_CPUS) != theirs.conditions.get(SERVER_CPUS) {
        found.push((Outcome::Fail, "other CPUs".to_owned()));
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

fn first_difference(one: &str, two: &str) -> String {
    let (one, two) = (sorted(one), sorted(two));
    let only = |these: &[String], those: &[String]| these.iter().find(|line| !those.contains(line)).cloned();
    only(&one, &two).or_else(|| only(&two, &one)).unwrap_or_default()
}

/// What of a build says who compiled it for what: the words of Go's version and of GOAMD64. The modules are the server's own.
fn toolchain(build: &str) -> String {
    let words = build.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
    let told: Vec<&str> = words.filter(|word| is_go_version(word) || word.starts_with("GOAMD64")).collect();
    told.join(" ")
}

fn is_go_version(word: &str) -> bool {
    word.strip_prefix("go").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

//! The truth table, on the machine that runs the tests: each defect that can be planted here is seen, and clean twins are not
//! accused of it. The rest of the machine may be busy with other tests, so that another true cause may be named first;
//! `truebench selftest` on a quiet machine asks for more.

use std::path::Path;
use std::process::Stdio;

use figure::{Outcome, Record};
use truth::answer::{self, Answer};
use truth::defect::Defect;
use truth::defects;
use truth::trial::{Site, Trial};

use crate::bench::truebench;
use crate::ending::{descendants, until};

/// Seconds of the trials that all runs of the tests can afford; the others are left to `make test-long`.
const QUICK: f64 = 1.5;
/// … of those whose clean twin is run as well.
const QUICKEST: f64 = 1.0;
/// What others' work on the machine makes checks say.
const OF_OTHERS: [&str; 6] =
    ["steal", "interrupts", "foreign-load", "run-queue-delay", "involuntary-switches", "client-saturated"];
/// What follows from it, and is no false alarm while it goes on.
const CONSEQUENCES: [&str; 20] = [
    "sources",
    "sibling-load",
    "frequency",
    "doubling",
    "copies-overlap",
    "threads-overlap",
    "stragglers",
    "rates-steady",
    "bimodal",
    "drift",
    "rounds-agree",
    "connections-served",
    "listen-overflow",
    "server-not-saturated",
    "rate-met",
    "coordinated-omission",
    "survivors",
    "littles-law",
    "trend",
    "advertised-cache",
];

/// Plants the defects of a suite whose trials take this long at most, and runs the clean twins of those that take less.
fn planted(suite: &str, most: f64, most_twin: f64) {
    let cpus: Vec<u32> = lab::affinity::get().expect("an affinity mask").iter().collect();
    let truebench = Path::new(env!("CARGO_BIN_EXE_truebench"));
    let site = Site { truebench, cpus: &cpus, is_interrupted: &|| false };
    let all = defects::all().expect("files that can be read");
    let mine = all.iter().filter(|defect| defect.suite() == suite && defect.only_with_all.is_none());
    let wrong: Vec<String> = mine
        .filter(|defect| defect.seconds <= most)
        .filter_map(|defect| wrong(&site, defect, defect.seconds <= most_twin))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with what truebench says of a defect, and of its twin.
fn wrong(site: &Site, defect: &Defect, with_twin: bool) -> Option<String> {
    let begun = std::time::Instant::now();
    let answer = match site.plant(defect) {
        Trial::Record(record) => answer::planted(defect, &record),
        Trial::NotHere(why) => {
            println!("{}: not planted here: {why}", defect.id);
            return None;
        }
        Trial::Broken(how) => Answer::Missed(how),
        Trial::Interrupted => unreachable!("nobody interrupts"),
    };
    println!("{}: {answer:?} in {:?}", defect.id, begun.elapsed());
    if let Answer::Missed(said) = answer {
        return Some(format!("{}: missed: {said}", defect.id));
    }
    match with_twin.then(|| site.clean(defect))? {
        Trial::Record(record) => {
            let said = answer::clean(defect, &record).filter(|_| !is_excused(defect, &record))?;
            Some(format!("{}: the clean twin is accused: {said}", defect.id))
        }
        Trial::NotHere(_) => None,
        Trial::Broken(how) => Some(format!("{}: the clean twin: {how}", defect.id)),
        Trial::Interrupted => unreachable!("nobody interrupts"),
    }
}

/// Whether others had the CPUs, which is true and may make the check say what it says.
fn is_excused(defect: &Defect, record: &Record) -> bool {
    let is_of = |list: &[&str], id: &str| list.contains(&id);
    let is_busy =
        record.figures.iter().flat_map(|figure| &figure.checks).any(|check| {
            matches!(check.outcome, Outcome::Warn | Outcome::Fail) && is_of(&OF_OTHERS, &check.id)
        });
    let cause = defect.expect.cause.as_deref().unwrap_or_default();
    is_busy && (is_of(&OF_OTHERS, cause) || is_of(&CONSEQUENCES, cause))
}

#[test]
fn defects_of_memory_are_caught() {
    planted(memory::SUITE, QUICK, QUICKEST);
}

#[test]
fn defects_of_system_are_caught() {
    planted(system::SUITE, QUICK, QUICKEST);
}

#[test]
fn defects_of_alloc_are_caught() {
    planted(alloc::SUITE, QUICK, QUICKEST);
}

#[test]
fn defects_of_faults_are_caught() {
    planted(faults::SUITE, QUICK, QUICKEST);
}

#[test]
fn defects_of_http_are_caught() {
    planted(http::SUITE, QUICK, QUICKEST);
}

#[test]
#[ignore = "minutes: make test-long"]
fn all_defects_are_caught_and_no_twin_is_accused() {
    for suite in [memory::SUITE, system::SUITE, alloc::SUITE, faults::SUITE, http::SUITE] {
        planted(suite, f64::INFINITY, f64::INFINITY);
    }
}

/// However selftest ends, what it planted ends with it.
#[test]
fn a_killed_selftest_leaves_nothing_behind() {
    let room = tempfile::tempdir().expect("a directory");
    let file = room.path().join("mine.toml");
    let text = r#"
        defect = "one that lasts"
        planted = "a sleeping process beside another"
        seconds = 600
        run = "memory"
        plant.script = 'sleep 600 & sleep 600; : "$@"'
        expect = { figure = "memory", verdict = "invalid", cause = "foreign-load" }
    "#;
    std::fs::write(&file, text).expect("a file");
    let arguments = ["selftest", file.to_str().expect("UTF-8"), "--all"];
    let mut selftest =
        truebench(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a start");
    let name = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let planted = || -> Vec<u32> {
        descendants(selftest.id()).into_iter().filter(|pid| name(pid).trim() == "sleep").collect()
    };
    until(|| planted().len() == 2);
    let planted = planted();
    selftest.kill().expect("a signal");
    selftest.wait().expect("its end");
    until(|| planted.iter().all(|pid| name(pid).trim() != "sleep"));
}

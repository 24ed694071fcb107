//! The truth table, on the machine that runs the tests: each defect that can be planted here is caught, and clean twins are not
//! accused of it. The rest of the machine may be busy with other tests, so that another true cause may be named first;
//! `truebench selftest` on a quiet machine asks for more.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use figure::{CheckResult, Outcome, Record};
use truth::answer::{self, Answer, Twin};
use truth::defect::Defect;
use truth::defects;
use truth::trial::{Site, Trial};

use crate::bench::truebench;
use crate::ending::{alive, cpu_ticks, descendants, signal, until};

/// Seconds of the trials that all runs of the tests can afford; the others are left to `make test-long`.
const QUICK: f64 = 1.0;
/// … of those with a run of the clean twin.
const QUICKEST: f64 = 0.5;
/// How often a twin is run at most: a false alarm comes again, while a disturbance may have been missed.
const TWINS: usize = 3;
/// What others' work on the machine makes checks say.
const OF_OTHERS: [&str; 6] =
    ["steal", "interrupts", "foreign-load", "run-queue-delay", "involuntary-switches", "client-saturated"];
/// What follows from it, and is no false alarm while it goes on.
const CONSEQUENCES: [&str; 20] = [
    "inputs",
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
    "survivorship-bias",
    "littles-law",
    "trend",
    "advertised-cache",
];

/// Plants the defects of a suite with trials of this length at most, each second of them where that is limited, and runs the clean
/// twins of shorter ones.
fn planted(suite: &str, most: f64, most_twin: f64) {
    let cpus: Vec<u32> = lab::affinity::get().expect("an affinity mask").iter().collect();
    let truebench = Path::new(env!("CARGO_BIN_EXE_truebench"));
    let site = Site { truebench, cpus: &cpus, is_interrupted: &|| false };
    let all = defects::all().expect("files that can be read");
    let mine = all.iter().filter(|defect| defect.suite() == suite && defect.only_with_all.is_none());
    let wrong: Vec<String> = mine
        .filter(|defect| defect.seconds <= most)
        .step_by(if most.is_finite() { 2 } else { 1 })
        .filter_map(|defect| wrong(&site, defect, defect.seconds <= most_twin))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with what truebench says of a defect, and of its twin.
fn wrong(site: &Site, defect: &Defect, with_twin: bool) -> Option<String> {
    let begun = Instant::now();
    let (answer, missing) = match site.plant(defect) {
        Trial::Record(record) => (answer::planted(defect, &record), answer::not_available(defect, &record)),
        Trial::NotHere(why) => {
            println!("{}: not planted here: {why}", defect.id);
            return None;
        }
        Trial::Refused(how) | Trial::Broken(how) => (Answer::Missed(how), None),
        Trial::Interrupted => unreachable!("no interrupt"),
    };
    println!("{}: {answer:?} in {:?}", defect.id, begun.elapsed());
    match (answer, missing) {
        (Answer::Missed(_), Some(why)) => {
            println!("{}: not measured here: {why}", defect.id);
            match site.clean(defect) {
                Trial::Record(record) if answer::not_available(defect, &record).is_some() => None,
                _ => Some(format!("{}: has no value, while the twin has: {why}", defect.id)),
            }
        }
        (Answer::Missed(answer), None) => Some(format!("{}: missed: {answer}", defect.id)),
        _ if with_twin => wrong_of_twin(site, defect),
        _ => None,
    }
}

/// A false accusation of the clean twin that appears in each of so many runs.
fn wrong_of_twin(site: &Site, defect: &Defect) -> Option<String> {
    let mut accusation = None;
    for _ in 0..TWINS {
        accusation = Some(accused(site, defect)?);
    }
    accusation
}

/// A false accusation of the clean twin, unless others had the CPUs.
fn accused(site: &Site, defect: &Defect) -> Option<String> {
    let before = Outside::now();
    let trial = site.clean(defect);
    let were_others = Outside::now().differs(&before);
    match trial {
        Trial::Record(record) => match answer::clean(defect, &record) {
            Twin::Quiet => None,
            Twin::Accused(_) if is_excused(defect, &record, were_others) => None,
            Twin::Accused(accusation) => {
                Some(format!("{}: the clean twin is accused: {accusation}", defect.id))
            }
            Twin::Mute(why) => Some(format!("{}: the clean twin gives no answer: {why}", defect.id)),
        },
        Trial::NotHere(_) => None,
        Trial::Refused(how) | Trial::Broken(how) => Some(format!("{}: the clean twin: {how}", defect.id)),
        Trial::Interrupted => unreachable!("no interrupt"),
    }
}

/// Whether others had the CPUs, which is true and may make the check say what it says: there were others, or another check says so.
fn is_excused(defect: &Defect, record: &Record, were_others: bool) -> bool {
    let cause = defect.expect.cause.as_deref().unwrap_or_default();
    let says_so = |check: &CheckResult| {
        matches!(check.outcome, Outcome::Warn | Outcome::Fail)
            && check.id != cause
            && OF_OTHERS.contains(&check.id.as_str())
    };
    let may_be = OF_OTHERS.contains(&cause) || CONSEQUENCES.contains(&cause);
    may_be && (were_others || record.figures.iter().flat_map(|figure| &figure.checks).any(says_so))
}

/// What is not of a trial, while none is made by this thread: processes of other tests with their CPU time, and what the hypervisor took.
struct Outside {
    at: Instant,
    others: Vec<(u32, u64)>,
    stolen: u64,
}

impl Outside {
    fn now() -> Outside {
        let others = descendants(std::process::id()).into_iter().map(|pid| (pid, cpu_ticks(pid)));
        let stat = std::fs::read_to_string("/proc/stat").expect("/proc/stat");
        let stolen = stat.split_whitespace().nth(8).expect("steal").parse().expect("ticks");
        Outside { at: Instant::now(), others: others.collect(), stolen }
    }

    /// Whether other tests were at work since then, or the hypervisor took a hundredth of a CPU.
    fn differs(&self, before: &Outside) -> bool {
        let stolen = self.stolen.saturating_sub(before.stolen) as f64 / 100.0;
        self.others != before.others || stolen >= 0.01 * (self.at - before.at).as_secs_f64()
    }
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
    // Each takes a moment of load at least.
    planted(http::SUITE, 1.5, QUICKEST);
}

#[test]
#[ignore = "minutes: make test-long"]
fn all_defects_are_caught_and_no_twin_is_accused() {
    for suite in [memory::SUITE, system::SUITE, alloc::SUITE, faults::SUITE, http::SUITE] {
        planted(suite, f64::INFINITY, f64::INFINITY);
    }
}

#[test]
fn clean_runs_that_were_not_made_are_reported() {
    for format in ["text", "markdown"] {
        let arguments =
            ["selftest", "faults", "--only-clean", "--clean-runs", "40", "--quiet", "--format", format];
        let selftest = truebench(&arguments).stdout(Stdio::piped()).spawn().expect("a start");
        until(|| !descendants(selftest.id()).is_empty());
        signal(selftest.id(), libc::SIGINT);
        let output = selftest.wait_with_output().expect("its end");
        assert_eq!(output.status.code(), Some(130));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("Interrupted: 40 of 40 runs were not made.\n"), "{text}");
    }
}

/// The command line of what is planted.
const SLEEP: &[u8] = b"sleep\x00600\x00";

/// However selftest ends, the planted processes end with it, and get SIGTERM to undo their changes.
#[test]
fn a_selftest_that_is_stopped_leaves_nothing_behind() {
    let ways: [&[i32]; 4] =
        [&[libc::SIGKILL], &[libc::SIGINT], &[libc::SIGTERM], &[libc::SIGINT, libc::SIGINT]];
    for how in ways {
        let room = tempfile::tempdir().expect("a directory");
        let [file, altered] = ["mine.toml", "altered"].map(|name| room.path().join(name));
        let text = format!(
            r#"
            defect = "one that lasts"
            planted = "a sleeping process beside another, and a file until SIGTERM"
            seconds = 600
            run = "memory"
            plant.script = """
            sh -c 'trap "trap : TERM; sleep 1; rm {altered}; exit" TERM; : >{altered}; while :; do sleep 0.1; done' </dev/null >/dev/null 2>&1 &
            sleep 600 & sleep 600; : "$@"
            """
            expect = {{ figure = "memory", verdict = "invalid", cause = "foreign-load" }}
            "#,
            altered = altered.display()
        );
        std::fs::write(&file, text).expect("a file");
        let arguments = ["selftest", file.to_str().expect("UTF-8")];
        let mut selftest = truebench(&arguments);
        selftest.env("TMPDIR", room.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut selftest = selftest.spawn().expect("a start");
        let command = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let planted = || -> Vec<u32> {
            let all = descendants(selftest.id()).into_iter();
            all.filter(|pid| command(pid) == SLEEP).collect()
        };
        until(|| planted().len() == 2 && altered.exists());
        let planted = planted();
        for how in how {
            signal(selftest.id(), *how);
            // A second one is for who does not want to wait for the first one's effect. At once it would be taken for the same.
            let begun = Instant::now();
            until(|| begun.elapsed().as_secs_f64() > 0.5);
        }
        selftest.wait().expect("its end");
        until(|| planted.iter().all(|pid| command(pid) != SLEEP) && !altered.exists());
        let left = || std::fs::read_dir(room.path()).expect("the directory").count();
        until(|| left() == 1);
    }
}

/// Who was stopped goes on, so that it can end.
#[test]
fn a_selftest_that_stops_processes_leaves_none_of_them() {
    let selftest =
        truebench(&["selftest", "memory/stopped"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut selftest = selftest.expect("a start");
    let is_stopped = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    let stopped = || -> Vec<u32> { descendants(selftest.id()).into_iter().filter(is_stopped).collect() };
    until(|| stopped().len() > 1);
    let all = descendants(selftest.id());
    signal(selftest.id(), libc::SIGTERM);
    selftest.wait().expect("its end");
    until(|| !all.iter().any(|pid| alive(*pid)));
}

/// What takes longer than it should here is ended when the time is over, and counts as not tried.
#[test]
fn a_selftest_ends_in_its_time() {
    let room = tempfile::tempdir().expect("a directory");
    let file = room.path().join("mine.toml");
    let text = r#"
        defect = "one that lasts"
        planted = "a sleeping process"
        seconds = 0.1
        run = "memory"
        plant.script = 'sleep 600; "$@"'
        expect = { figure = "memory", verdict = "invalid", cause = "foreign-load" }
    "#;
    std::fs::write(&file, text).expect("a file");
    let arguments = ["selftest", file.to_str().expect("UTF-8"), "--max-time", "1s"];
    let begun = Instant::now();
    let output = truebench(&arguments).output().expect("a run");
    assert!(begun.elapsed().as_secs() < 30);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("One more defect was not tried: there was no time for them"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

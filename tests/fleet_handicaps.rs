//! Figures that are measured, and not made: of nodes that are alike two have a handicap, and are named with its cause.
//!
//! All nodes are this machine, so one of them is at work at a time.

use std::process::Command;

use serde_json::Value;

use crate::bench::{DISTURBANCES, run, stderr, stdout, truebench};
use crate::fleet_run::{Nodes, SHORT, as_str};
use crate::fleet_slurm::Slurm;
use crate::fleet_ssh::Sshd;
use crate::group::{Group, Limit};

/// A node with a quota differs in its state from the others, which must be a group without it.
const NODES: u8 = 12;
/// A second for each node: enough to find what disturbs it, beside other tests.
const SECOND: &str = "system syscall -c 1 --rounds 8 --duration 100ms";
/// Enough for healthy nodes to be called healthy, on a quiet machine.
const WHOLE: &str = "system dhry2reg syscall pipe -c 1 --rounds 8 --duration 200ms";

#[derive(Debug)]
struct Answer {
    node: String,
    answer: String,
    why: String,
}

impl Answer {
    fn is_named_by(&self, causes: &[&str]) -> bool {
        ["disturbed", "slow"].contains(&self.answer.as_str())
            && causes.iter().any(|cause| self.why.contains(cause))
    }
}

/// Measures on each node: the third one computes beside it on every CPU, and the seventh has a fifth of a CPU. Every node must answer.
/// `None`, with the reason printed, where no control group can be made.
fn answers(
    engine: &str,
    names: &str,
    options: &[&str],
    measure: &str,
    started: impl Fn(&[String]) -> Command,
) -> Option<Vec<Answer>> {
    let Some(group) = Group::with(&[Limit::Cpus(0.2)]) else {
        eprintln!("skipped: no control group can be made here");
        return None;
    };
    let entries: Vec<String> = group.entries().map(|path| path.display().to_string()).collect();
    let nodes = Nodes::new(&format!(
        "*[n.]3) for cpu in $(seq 0 $(($(nproc) - 1))); do\n\
         taskset -c $cpu sh -c 'while :; do :; done' & hogs=\"$hogs $!\"\n\
         done\n\
         {} \"$@\"; code=$?; kill $hogs; exit $code ;;\n\
         *[n.]7) for entry in {}; do echo $$ >$entry; done ;;",
        env!("CARGO_BIN_EXE_truebench"),
        entries.join(" ")
    ));
    let words = nodes.words(engine, names, &[&["--window", "1"], options].concat()).into_iter();
    let words: Vec<String> =
        words.map(|word| if word == SHORT { measure.to_owned() } else { word }).collect();
    let output = started(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let check: Value =
        serde_json::from_slice(&run(&["fleet", "check", &nodes.directory(), "--format", "json"]).stdout)
            .unwrap();
    let text = |node: &Value, key: &str| node[key].as_str().unwrap().to_owned();
    let answers = check["nodes"].as_array().unwrap().iter().map(|node| Answer {
        node: text(node, "name"),
        answer: text(node, "answer"),
        why: text(node, "why"),
    });
    Some(answers.collect())
}

/// That the third and the seventh node are named with their cause, and the others have one of some answers.
fn assert_named(answers: &[Answer], others: &[&str]) {
    assert_eq!(answers.len(), usize::from(NODES), "{answers:#?}");
    let is_as_expected = |one: &Answer| match one.node.rsplit(['n', '.']).next().unwrap() {
        "3" => one.is_named_by(DISTURBANCES),
        "7" => one.is_named_by(&["quota", "throttled"]),
        _ => others.contains(&one.answer.as_str()),
    };
    let wrong: Vec<&Answer> = answers.iter().filter(|one| !is_as_expected(one)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `poll`: its squeue runs on this machine too, and is foreign load.
fn by_slurm(measure: &str, poll: &str) -> Option<Vec<Answer>> {
    let slurm = Slurm::of(NODES.into())?;
    let options = ["--poll", poll, "--partition", "p"];
    answers("slurm", "n[1-12]", &options, measure, |words| slurm.truebench(words))
}

fn by_ssh(measure: &str) -> Option<Vec<Answer>> {
    let sshd = Sshd::start(NODES)?;
    let options = sshd.options();
    answers("ssh", "127.0.0.[1-12]", &as_str(&options), measure, |words| truebench(&as_str(words)))
}

/// What an undisturbed node is called beside other tests, which disturb it: anything but slow.
const NOT_SLOW: &[&str] = &["healthy", "disturbed", "not_comparable"];

#[test]
fn a_quota_and_a_hog_are_named_under_slurm() {
    by_slurm(SECOND, "200ms").iter().for_each(|answers| assert_named(answers, NOT_SLOW));
}

#[test]
fn a_quota_and_a_hog_are_named_over_ssh() {
    by_ssh(SECOND).iter().for_each(|answers| assert_named(answers, NOT_SLOW));
}

/// That the nodes without a handicap are healthy, but for some that a machine's own neighbours disturb.
fn assert_healthy(answers: &[Answer]) {
    assert_named(answers, NOT_SLOW);
    let mut others = answers.iter().filter(|one| one.answer != "healthy");
    if others.clone().count() > usize::from(NODES) / 2 {
        let why = others.next().map(|one| &one.why);
        eprintln!("skipped: this machine disturbs most nodes: {why:?}");
        return;
    }
    assert!(others.all(|one| one.answer != "not_comparable"), "{answers:#?}");
}

#[test]
#[ignore = "measures for two minutes, and needs a quiet machine: make test-long"]
fn nodes_without_a_handicap_are_healthy_under_slurm() {
    by_slurm(WHOLE, "2s").iter().for_each(|answers| assert_healthy(answers));
}

#[test]
#[ignore = "measures for two minutes, and needs a quiet machine: make test-long"]
fn nodes_without_a_handicap_are_healthy_over_ssh() {
    by_ssh(WHOLE).iter().for_each(|answers| assert_healthy(answers));
}

//! Real measurements: two of twelve equal nodes have a handicap, and are named with its cause.
//!
//! All nodes are this machine, so one of them is at work at a time.

use std::process::Command;

use serde_json::Value;

use crate::bench::{DISTURBANCES, run, stderr, stdout, truebench};
use crate::fleet_run::{Nodes, as_str};
use crate::fleet_slurm::Slurm;
use crate::fleet_ssh::Sshd;
use crate::group::{Group, Limit};

/// A node with a quota differs in its state from the others, which are a group without it: of 8 nodes or more, 6 with figures to compare.
const ALL: &str = "[1-12]";
const NODES: u8 = 12;
/// Enough of them to see that they are disturbed, which needs no others.
const FEW: &str = "[2,3,7]";
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
    let words = nodes.words_of(measure, engine, names, &[&["--window", "1"], options].concat());
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

/// That the third and the seventh node are named with their cause. Returns the others.
fn handicapped(answers: Vec<Answer>) -> Vec<Answer> {
    let number = |one: &Answer| one.node.rsplit(['n', '.']).next().unwrap().to_owned();
    let (two, others): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|one| ["3", "7"].contains(&number(one).as_str()));
    assert_eq!(two.len(), 2, "{two:#?}");
    assert!(two[0].is_named_by(DISTURBANCES), "{two:#?}");
    assert!(two[1].is_named_by(&["quota", "throttled"]), "{two:#?}");
    others
}

/// `poll`: its squeue runs on this machine too, and is foreign load.
fn by_slurm(which: &str, measure: &str, poll: &str) -> Option<Vec<Answer>> {
    let slurm = Slurm::of(NODES.into())?;
    let options = ["--poll", poll, "--partition", "p"];
    answers("slurm", &format!("n{which}"), &options, measure, |words| slurm.truebench(words))
}

fn by_ssh(which: &str, measure: &str) -> Option<Vec<Answer>> {
    let sshd = Sshd::start(NODES)?;
    let options = sshd.options();
    answers("ssh", &format!("127.0.0.{which}"), &as_str(&options), measure, |words| truebench(&as_str(words)))
}

// Other tests disturb the others meanwhile.
#[test]
fn a_quota_and_a_hog_are_named_under_slurm() {
    by_slurm(FEW, SECOND, "200ms").map(handicapped);
}

#[test]
fn a_quota_and_a_hog_are_named_over_ssh() {
    by_ssh(FEW, SECOND).map(handicapped);
}

fn assert_healthy(others: &[Answer]) {
    assert!(others.len() == 10 && others.iter().all(|one| one.answer == "healthy"), "{others:#?}");
}

#[test]
#[ignore = "measures for a minute, and needs a quiet machine: make test-long"]
fn nodes_without_a_handicap_are_healthy_under_slurm() {
    by_slurm(ALL, WHOLE, "2s").map(handicapped).iter().for_each(|others| assert_healthy(others));
}

#[test]
#[ignore = "measures for a minute, and needs a quiet machine: make test-long"]
fn nodes_without_a_handicap_are_healthy_over_ssh() {
    by_ssh(ALL, WHOLE).map(handicapped).iter().for_each(|others| assert_healthy(others));
}

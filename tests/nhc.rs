//! contrib/nhc: the check as Node Health Check runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::Record;

use crate::bench::{run, stderr, stdout};
use crate::fleet::node;
use crate::fleet_run::SHORT;

/// What a check finds in NHC 1.4.3: the system's own PATH, no patterns of file names, and `die`, which ends all checks.
const AS_NHC: &str = r#"
set -f
PATH=/sbin:/usr/sbin:/bin:/usr/bin NAME=nhc HOSTNAME=node03.example HOSTNAME_S=node03
function die() { local RET=$1; shift; echo "ERROR:  $NAME:  Health check failed:  $*"; exit "$RET"; }
function load() { local IFS=''; . $1; }
load "$1"
eval $2
RET=$?
[[ $RET == 0 ]] || die $RET "Check $2 returned $RET"
"#;

/// In place of truebench: `fleet measure` gives the record of a test, or fails, or measures a little. What else there is it does.
const PROGRAM: &str = r#"#!/bin/sh
here=HERE
[ "$2" = measure ] || exec TRUEBENCH "$@"
# fleet measure --quiet --tier TIER --node NAME --into DIR
[ ! -e $here/fails ] || { echo starts; echo 'no memory' >&2; exit 1; }
[ ! -e $here/measures ] || exec TRUEBENCH fleet measure --quiet --measure 'SHORT' --node "$7" --into "$9"
mkdir -p "$9/nodes/00"
sed "s/node03/$7/" $here/record.json >"$9/nodes/00/$7.json.gz"
"#;

/// A node with a check.
struct Node {
    scratch: tempfile::TempDir,
    baseline: String,
}

impl Node {
    fn new() -> Node {
        let scratch = tempfile::tempdir().unwrap();
        let records = scratch.path().join("records");
        fs::create_dir(&records).unwrap();
        for number in 0..20 {
            let text = serde_json::to_vec(&node(number, 1.0)).unwrap();
            fs::write(records.join(format!("{number}.json")), text).unwrap();
        }
        let baseline = scratch.path().join("base.json").display().to_string();
        let output = run(&["fleet", "baseline", records.to_str().unwrap(), "-o", &baseline]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let program = scratch.path().join("truebench");
        let text = PROGRAM.replace("HERE", &scratch.path().display().to_string());
        let text = text.replace("TRUEBENCH", env!("CARGO_BIN_EXE_truebench")).replace("SHORT", SHORT);
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Node { scratch, baseline }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// What the node measures from now on.
    fn measures(&self, record: &Record) {
        fs::write(self.file("record.json"), serde_json::to_vec(record).unwrap()).unwrap();
    }

    /// Runs a check by each NHC that is here: its exit code, and what it prints.
    fn check(&self, check: &str, environment: &[(&str, &str)]) -> Vec<(Option<i32>, String)> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/nhc/truebench.nhc");
        let mut commands = vec![{
            let mut bash = Command::new("bash");
            bash.args(["-c", AS_NHC, "bash"]).arg(&script).arg(check);
            bash
        }];
        commands.extend(real().map(|nhc| {
            let scripts = self.file("scripts");
            let _ = fs::create_dir(&scripts);
            let copied = fs::read_dir(nhc.join("scripts")).unwrap().map(|entry| entry.unwrap().path());
            for path in copied.chain([script.clone()]) {
                fs::copy(&path, scripts.join(path.file_name().unwrap())).unwrap();
            }
            fs::write(self.file("nhc.conf"), format!("  * || {check}\n")).unwrap();
            let mut command = Command::new("bash");
            command.arg(nhc.join("nhc")).arg("-c").arg(self.file("nhc.conf")).args(["-t", "120"]);
            command.args(["LOGFILE=-", "MARK_OFFLINE=0", "NHC_RM=none", "FORCE_SETSID=0"]);
            command.arg(format!("INCDIR={}", scripts.display()));
            command
        }));
        let run = |mut command: Command| {
            command.env("TRUEBENCH", self.file("truebench")).env_remove("SLURMD_NODENAME");
            let output: Output = command.envs(environment.iter().copied()).output().expect("bash starts");
            (output.status.code(), stdout(&output) + &stderr(&output))
        };
        commands.into_iter().map(run).collect()
    }
}

/// NHC's own directory, with `nhc` and `scripts`, where TRUEBENCH_NHC names one.
fn real() -> Option<PathBuf> {
    let directory = std::env::var_os("TRUEBENCH_NHC").map(PathBuf::from);
    if directory.is_none() {
        eprintln!("TRUEBENCH_NHC is not set: the check is run as NHC runs it, and not by NHC itself");
    }
    directory
}

#[test]
fn the_check_fails_a_slow_node_alone() {
    let node_health = Node::new();
    let check = format!("check_truebench {}", node_health.baseline);
    let passes = |check: &str, environment: &[(&str, &str)]| {
        for (code, text) in node_health.check(check, environment) {
            assert_eq!(code, Some(0), "{text}");
        }
    };
    let fails = |check: &str, environment: &[(&str, &str)], why: &str| {
        for (code, text) in node_health.check(check, environment) {
            assert_eq!(code, Some(1), "{text}");
            let line = text.lines().find(|line| line.contains("Health check failed:  check_truebench: "));
            assert!(line.is_some_and(|line| line.contains(why)), "{text}");
        }
    };
    let slurm = [("SLURMD_NODENAME", "n7")];
    node_health.measures(&node(3, 1.0));
    passes(&check, &[]);
    node_health.measures(&node(3, 0.8));
    // Several slurmd on one host have names of their own.
    fails(&check, &slurm, "n7: CPU clock: ");
    // Its record is kept for a check of the fleet.
    let kept = node_health.file("kept");
    fails(&format!("{check} 60s {}", kept.display()), &slurm, "n7: CPU clock: ");
    assert!(kept.join("nodes/00/n7.json.gz").is_file());
    fails(&format!("check_truebench {}", kept.display()), &[], "--baseline");
    fails(&check, &[("TRUEBENCH", "/nonexistent/truebench")], "/nonexistent/truebench is not in ");
    fs::write(node_health.file("fails"), "").unwrap();
    fails(&check, &[], "truebench wrote no record: no memory");
    fs::remove_file(node_health.file("fails")).unwrap();
    // This machine is unlike all nodes of the baseline, which is no fault of it.
    fs::write(node_health.file("measures"), "").unwrap();
    passes(&check, &[]);
}

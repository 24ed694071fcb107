//! `truebench fleet run --engine slurm` on a real Slurm: a controller and eight nodes on this host.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::bench::{stderr, stdout, truebench};
use crate::fleet::node;
use crate::fleet_run::{Nodes, as_str, files, signal, until};

const NODES: u16 = 8;

/// A Slurm of its own, until it is dropped.
pub struct Slurm {
    root: tempfile::TempDir,
    _ports: TcpListener,
    controller: Option<Child>,
    daemons: Vec<Child>,
}

/// Where Debian has daemons, which is not always in PATH.
fn daemon(name: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/usr/local/sbin", "/sbin"]
        .iter()
        .map(|path| Path::new(path).join(name))
        .find(|path| path.exists())
}

/// The first of a row of free ports. Who holds the listener at its end has the row: Slurm listens some time later.
fn free_ports(count: u16) -> (TcpListener, u16) {
    const ROW: u16 = 50;
    let bound = |port: u16| TcpListener::bind(("127.0.0.1", port));
    let row = |first: u16| {
        let end = bound(first + ROW - 1).ok()?;
        (first..first + count).all(|port| bound(port).is_ok()).then_some((end, first))
    };
    (17_000..30_000).step_by(usize::from(ROW)).find_map(row).expect("free ports")
}

impl Slurm {
    /// With eight nodes. `None`, with the reason printed, where it cannot be had.
    fn start() -> Option<Slurm> {
        Slurm::of(NODES)
    }

    pub fn of(nodes: u16) -> Option<Slurm> {
        let lacks = ["munged", "slurmctld", "slurmd"].into_iter().find(|name| daemon(name).is_none());
        if let Some(name) = lacks {
            eprintln!("skipped: {name} is not installed");
            return None;
        }
        // SAFETY: reads a number of this process.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("skipped: slurmd starts jobs as their users, which only root may");
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).display().to_string();
        for name in ["state", "spool", "log", "pid"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let key: Vec<u8> = (0..1024u32).map(|at| (at * 37 + std::process::id()) as u8).collect();
        let mut file =
            fs::OpenOptions::new().create_new(true).write(true).mode(0o400).open(at("munge.key")).unwrap();
        file.write_all(&key).unwrap();
        let (held, ports) = free_ports(nodes + 2);
        let host = machine_name();
        let config = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             SlurmctldPort={ports}\nAuthType=auth/munge\nAuthInfo=socket={munge}\nCredType=cred/munge\n\
             StateSaveLocation={state}\nSlurmdSpoolDir={spool}/%n\nSlurmctldPidFile={pid}/slurmctld.pid\n\
             SlurmdPidFile={pid}/slurmd-%n.pid\nSlurmctldLogFile={log}/slurmctld.log\nSlurmdLogFile={log}/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerType=sched/backfill\nMpiDefault=none\nSwitchType=switch/none\nReturnToService=2\nSlurmdTimeout=10\n\
             SlurmctldTimeout=15\nInactiveLimit=0\nKillWait=2\nWaitTime=0\nMinJobAge=300\n\
             SchedulerParameters=batch_sched_delay=0,sched_min_interval=0\nSlurmdParameters=config_overrides\n\
             NodeName=n[1-{nodes}] NodeHostName={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 RealMemory=1000 State=UNKNOWN\n\
             PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO\n",
            munge = at("munge.sock"),
            state = at("state"),
            spool = at("spool"),
            pid = at("pid"),
            log = at("log"),
            first = ports + 1,
            last = ports + nodes,
        );
        fs::write(root.path().join("slurm.conf"), config).unwrap();
        fs::write(
            root.path().join("cgroup.conf"),
            "IgnoreSystemd=yes\nCgroupPlugin=cgroup/v1\nCgroupAutomount=no\n",
        )
        .unwrap();
        let mut slurm = Slurm { root, _ports: held, controller: None, daemons: Vec::new() };
        let munged = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--socket={}", slurm.path("munge.sock")),
            format!("--key-file={}", slurm.path("munge.key")),
            format!("--seed-file={}", slurm.path("munge.seed")),
            format!("--pid-file={}", slurm.path("munged.pid")),
            format!("--log-file={}", slurm.path("munged.log")),
        ];
        slurm.daemons.push(slurm.spawn("munged", &munged));
        until("munged listens", || Path::new(&slurm.path("munge.sock")).exists());
        slurm.start_controller();
        for node in 1..=nodes {
            let words = ["-D".to_owned(), "-N".to_owned(), format!("n{node}")];
            slurm.daemons.push(slurm.spawn("slurmd", &words));
        }
        until("all nodes are idle", || {
            let printed = slurm.command("sinfo", &["-h", "-N", "-o", "%T"]);
            stdout(&printed).lines().filter(|state| *state == "idle").count() == usize::from(nodes)
        });
        Some(slurm)
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).display().to_string()
    }

    fn spawn(&self, name: &str, words: &[String]) -> Child {
        let log = fs::File::create(self.path(&format!("log/{name}-{}.out", words.join("").len()))).unwrap();
        let mut command = Command::new(daemon(name).unwrap());
        command.args(words).env("SLURM_CONF", self.path("slurm.conf")).process_group(0);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    fn start_controller(&mut self) {
        self.controller = Some(self.spawn("slurmctld", &["-D".to_owned()]));
    }

    fn stop_controller(&mut self) {
        if let Some(mut controller) = self.controller.take() {
            let _ = controller.kill();
            let _ = controller.wait();
        }
    }

    fn command(&self, name: &str, words: &[&str]) -> Output {
        let mut command = Command::new(name);
        command.args(words).env("SLURM_CONF", self.path("slurm.conf")).output().unwrap()
    }

    pub fn truebench(&self, words: &[String]) -> Command {
        let mut command = truebench(&as_str(words));
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.command("scancel", &["--user", "root"]);
        self.stop_controller();
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn machine_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().split('.').next().unwrap().to_owned()
}

/// Each answer of the issue on one cluster: healthy nodes, one that fails, one that hangs, one that is down.
#[test]
fn a_job_for_each_node_whatever_becomes_of_the_others() {
    let Some(slurm) = Slurm::start() else { return };
    let nodes = Nodes::new("n2) echo no memory >&2; exit 1 ;;\nn3) sleep 600 ;;");
    let down = slurm.command("scontrol", &["update", "NodeName=n4", "State=DOWN", "Reason=bad fan"]);
    assert!(down.status.success(), "{}", stderr(&down));
    let options = ["--node-time", "20s", "--poll", "200ms", "--partition", "p"];
    let output = slurm.truebench(&nodes.words("slurm", "n[1-9]", &options)).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(nodes.in_state("answered"), ["n1", "n5", "n6", "n7", "n8"]);
    let why = |name: &str| nodes.states().into_iter().find(|one| one.0 == name).unwrap().2;
    assert!(why("n2").contains("FAILED") && why("n2").contains("no memory"), "{}", why("n2"));
    assert!(why("n3").contains("no answer within 20 s"), "{}", why("n3"));
    assert!(why("n4").contains("bad fan"), "{}", why("n4"));
    assert!(why("n9").contains("does not know it"), "{}", why("n9"));
    // What was stopped does not hold its node.
    until("no job is left", || stdout(&slurm.command("squeue", &["-h"])).is_empty());
    // Once more for those without a record: Slurm still lists their jobs of before, which have ended.
    nodes.now("");
    let retry = ["fleet", "run", "--resume", &nodes.directory(), "--retry", "--poll", "200ms"];
    let output = slurm.truebench(&retry.map(str::to_owned)).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    // n4 may have returned by itself (ReturnToService=2).
    let answered = nodes.in_state("answered");
    assert!(["n2", "n3"].iter().all(|name| answered.iter().any(|one| one == name)), "{:?}", nodes.states());
    assert!(nodes.in_state("missing").contains(&"n9".to_owned()), "{:?}", nodes.states());
}

#[test]
fn the_controller_and_this_process_may_end_in_the_middle() {
    let Some(mut slurm) = Slurm::start() else { return };
    let nodes = Nodes::new("n[2-4]) until [ -e $here/go ]; do sleep 0.05; done ;;");
    let words = nodes.words("slurm", "n[1-5]", &["--poll", "200ms", "--window", "3"]);
    let mut command = slurm.truebench(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("n1 answers and its place is taken", || {
        nodes.file("run/fleet.json").exists()
            && nodes.in_state("answered") == ["n1"]
            && nodes.in_state("outstanding") == ["n2", "n3", "n4"]
    });
    slurm.stop_controller();
    // Long enough for a look that fails, whenever it comes: its next line of stderr says so.
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    let resume = ["fleet", "run", "--resume", &nodes.directory(), "--poll", "200ms"].map(str::to_owned);
    let mut command = slurm.truebench(&resume);
    let second = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    slurm.start_controller();
    fs::write(nodes.file("go"), "").unwrap();
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(nodes.in_state("answered").len(), 5);
    // Jobs of the first process were found again; a controller that is killed may forget the last of them.
    let journal = fs::read_to_string(nodes.file("run/journal.jsonl")).unwrap();
    let starts = journal.lines().filter(|line| line.contains("started")).count();
    assert!((5..=8).contains(&starts), "{journal}");
}

#[test]
fn a_node_is_drained_and_returned_only_by_who_drained_it() {
    let Some(slurm) = Slurm::start() else { return };
    let nodes = Nodes::new("");
    let plan = nodes.words("slurm", "n[1-8]", &["--poll", "200ms"]);
    let output = slurm.truebench(&plan).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    // What was measured beside seven others is disturbed: records of nodes that are alike, but for a slow one, take its place.
    for path in files(&nodes.file("run/nodes")) {
        let name = path.file_name().unwrap().to_string_lossy();
        let number: usize = name.trim_start_matches('n').split('.').next().unwrap().parse().unwrap();
        let mut record = node(number, if number == 3 { 0.8 } else { 1.0 });
        record.machine.hostname = figure::Reading::Value(format!("n{number}"));
        fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let drain = |options: &[&str]| {
        let words = ["fleet", "drain", &nodes.directory()].map(str::to_owned).into_iter();
        let words: Vec<String> = words.chain(options.iter().map(|word| (*word).to_owned())).collect();
        let output = slurm.truebench(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    assert_eq!(drain(&["--dry-run"]), "", "n3 is not confirmed");
    let line = drain(&["--dry-run", "--unconfirmed"]);
    assert!(line.starts_with("scontrol update 'NodeName=n3' 'State=DRAIN' 'Reason=truebench: "), "{line}");
    let state = |node: &str| {
        stdout(&slurm.command("sinfo", &["-h", "-N", "-n", node, "-o", "%T|%E"])).trim().to_owned()
    };
    for (node, reason) in [("n1", "truebench: memory: 9 % slower"), ("n2", "a colleague's")] {
        let update =
            [&format!("NodeName={node}"), "State=DRAIN", &format!("Reason={reason}")].map(str::to_owned);
        let done = slurm.command("scontrol", &[&["update"][..], &as_str(&update)].concat());
        assert!(done.status.success(), "{}", stderr(&done));
    }
    drain(&["--unconfirmed"]);
    until("n3 is drained", || state("n3").starts_with("drained|truebench: "));
    // n3 is still slow, and n2 was drained by another.
    assert_eq!(drain(&["--undo"]).trim(), "scontrol update 'NodeName=n1' 'State=RESUME'");
    until("n1 is idle", || state("n1").starts_with("idle"));
    assert!(state("n2").starts_with("drained|a colleague"), "{}", state("n2"));
}

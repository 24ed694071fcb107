//! `truebench fleet run --engine ssh` with a real sshd on the loopback.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::bench::{stderr, stdout};
use crate::fleet_run::{ENDLESS, Nodes, begin, signal, until};

/// An sshd with its own keys, until it is dropped.
pub struct Sshd {
    root: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl Sshd {
    /// At so many addresses, from 127.0.0.1 on. `None`, with the reason printed, where it cannot be had.
    pub fn start(addresses: u8) -> Option<Sshd> {
        let path = Path::new("/usr/sbin/sshd");
        if !path.exists() || Command::new("ssh").arg("-V").output().is_err() {
            eprintln!("skipped: sshd or ssh is not installed");
            return None;
        }
        // SAFETY: reads a number of this process.
        if unsafe { libc::geteuid() } == 0 {
            // Where the unprivileged part of sshd lives.
            let _ = fs::create_dir_all("/run/sshd");
        }
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)])
                .output()
                .unwrap();
            assert!(made.status.success(), "{}", stderr(&made));
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let listen: String = (1..=addresses).map(|last| format!("ListenAddress 127.0.0.{last}\n")).collect();
        let config = format!(
            "Port {port}\n{listen}HostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             PermitRootLogin prohibit-password\n",
            at("host"),
            at("authorized")
        );
        fs::write(at("config"), config).unwrap();
        let log = fs::File::create(at("log")).unwrap();
        let mut command = Command::new(path);
        command.args(["-D", "-e", "-f", &at("config")]).stdin(Stdio::null()).stderr(log);
        let process = command.spawn().unwrap();
        let sshd = Sshd { root, port, process };
        until("sshd listens", || TcpStream::connect((format!("127.0.0.{addresses}"), sshd.port)).is_ok());
        Some(sshd)
    }

    /// Options of a run, with ssh's own.
    pub fn options(&self) -> Vec<String> {
        let key = self.root.path().join("user").display().to_string();
        let words = ["-p", &self.port.to_string(), "-i", &key, "-F", "none", "-oStrictHostKeyChecking=no"]
            .map(str::to_owned);
        let words = words
            .into_iter()
            .chain(["-oUserKnownHostsFile=/dev/null".to_owned(), "-oLogLevel=ERROR".to_owned()]);
        words.map(|word| format!("--with={word}")).collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn records_come_by_ssh_whole_or_not_at_all() {
    let Some(sshd) = Sshd::start(3) else { return };
    // One answers, one fails, one sends half of a record, one cannot be reached.
    let nodes = Nodes::new(&format!(
        "127.0.0.2) echo no memory >&2; exit 1 ;;\n127.0.0.3) {} \"$@\" | head -c 2000; exit 0 ;;",
        env!("CARGO_BIN_EXE_truebench")
    ));
    let options = sshd.options();
    let options: Vec<&str> = options.iter().map(String::as_str).chain(["--node-time", "60s"]).collect();
    let output = nodes.run("ssh", "127.0.0.[1-4]", &options);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(nodes.in_state("answered"), ["127.0.0.1"], "{:?}", nodes.states());
    let why = |name: &str| nodes.states().into_iter().find(|one| one.0 == name).unwrap().2;
    assert!(
        why("127.0.0.2").contains("no record came") && why("127.0.0.2").contains("no memory"),
        "{}",
        why("127.0.0.2")
    );
    assert!(why("127.0.0.3").contains("cut off"), "{}", why("127.0.0.3"));
    assert!(why("127.0.0.4").contains("exit status: 255"), "{}", why("127.0.0.4"));
}

#[test]
fn a_node_that_hangs_and_a_run_that_is_killed_cost_no_other() {
    let Some(sshd) = Sshd::start(3) else { return };
    // One is a script that does not heed its stdin: it ends with the file `hold`, and sends what is no record. One measures, and then hangs.
    let nodes = Nodes::new(&format!(
        "127.0.0.2) [ -e $here/again ] || {{\n\
             echo $$ >$here/script; while [ -e $here/hold ]; do sleep 0.05; done; echo half a record; exit 1; }} ;;\n\
         127.0.0.3) [ -e $here/again ] || {{\n\
             echo $$ >$here/pid; exec {} fleet measure --measure '{ENDLESS}' --into - --lifeline; }}\n\
             while [ -e $here/again ]; do sleep 0.05; done; exit 1 ;;",
        env!("CARGO_BIN_EXE_truebench")
    ));
    fs::write(nodes.file("hold"), "").unwrap();
    let options = sshd.options();
    let options: Vec<&str> = options.iter().map(String::as_str).chain(["--node-time", "30s"]).collect();
    let mut child = begin(&nodes.words("ssh", "127.0.0.[1-3]", &options));
    let (_, pid) = (nodes.pid("script"), nodes.pid("pid"));
    until("one answers and the others are at work", || {
        nodes.in_state("answered") == ["127.0.0.1"]
            && nodes.in_state("outstanding") == ["127.0.0.2", "127.0.0.3"]
    });
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    until("the measurement on the node ends", || !Path::new(&format!("/proc/{pid}")).exists());
    fs::write(nodes.file("again"), "").unwrap();
    let resume = ["fleet", "run", "--resume", &nodes.directory()].map(str::to_owned);
    let second = begin(&resume);
    until("the second run has started both", || {
        let journal = fs::read_to_string(nodes.file("run/journal.jsonl")).unwrap();
        journal.lines().filter(|line| line.contains("started")).count() == 5
    });
    fs::remove_file(nodes.file("hold")).unwrap();
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(nodes.in_state("answered"), ["127.0.0.1", "127.0.0.2"], "{:?}", nodes.states());
    let hangs = nodes.states().pop().unwrap();
    assert!(hangs.0 == "127.0.0.3" && hangs.2.contains("no answer within 30 s"), "{hangs:?}");
}

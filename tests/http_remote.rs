//! `truebench http serve` and `--remote`: servers on another machine, here in another process, and in another network namespace.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use figure::evidence::ROLE;
use figure::evidence::http as key;
use figure::{Record, Status};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{figure, record, run, stderr};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent, ended with the test.
pub struct Agent {
    process: Child,
    address: SocketAddr,
    /// What it says on the other machine is to be run.
    pub command: Vec<String>,
}

impl Agent {
    /// Starts one, within a network namespace if one is named.
    pub fn start(namespace: Option<&str>, options: &[&str]) -> Agent {
        let mut command = within(namespace);
        command.args(["http", "serve"]).args(options).env_remove("TRUEBENCH_TOKEN");
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let command = loop {
            let line = lines.next().expect("it prints the command").unwrap();
            if let Some(command) = line.trim().strip_prefix("truebench ") {
                break command.split(' ').map(str::to_owned).collect::<Vec<_>>();
            }
        };
        let address = command[2].parse().unwrap();
        Agent { process, address, command }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it runs servers, or none.
    fn has_servers(&self, wanted: bool) {
        let deadline = Instant::now() + PATIENCE;
        let below = || lab::process_tree::processes_below(self.process.id());
        while below().is_empty() == wanted {
            assert!(Instant::now() < deadline, "wanted servers: {wanted}; there are {:?}", below());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ctrl-C: its exit code, and its messages.
    fn end(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let mut errors = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.process.wait().unwrap().code(), errors)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The binary, within a network namespace if one is named.
fn within(namespace: Option<&str>) -> Command {
    let Some(namespace) = namespace else { return crate::bench::truebench(&[]) };
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, env!("CARGO_BIN_EXE_truebench")]);
    command
}

/// A study of the agent's server that takes a moment.
fn study(namespace: Option<&str>, agent: &Agent) -> Record {
    let mut command = within(namespace);
    command.args(&agent.command);
    command.args(["-c", "8", "-t", "1", "--rounds", "1", "--quick", "--format", "json", "--quiet"]);
    record(&command.output().unwrap())
}

/// What holds of every such study.
fn assert_both_sides(record: &Record, interface: &str) {
    let ids = ["http.saturation.nethttp.c8", "http.equal-rate.nethttp.c8", "http.saturation.null.c8"];
    for id in ids {
        let found = figure(record, id);
        assert_eq!(found.status, Status::Measured, "{id}: {:?}", found.reason);
        assert_eq!(found.conditions.get(key::INTERFACE).as_deref(), Some(interface), "{id}");
        assert!(found.conditions.get(key::AGENT).is_some(), "{id}");
        // The client has all CPUs here; the numbers of the server's CPUs are unknown.
        assert_eq!(found.conditions.get(key::SERVER_CPUS), Some(Vec::new()), "{id}");
        let machine = found.evidence.get(key::SERVER_MACHINE).into_value().unwrap();
        assert!(machine.contains("Linux"), "{machine}");
        // Both ends run under one kernel in these tests.
        assert_eq!(found.evidence.get(key::SERVER_APART).into_value(), Some(false), "{id}");
        let round = &found.rounds[0].evidence;
        assert!(round.get(key::ANSWERED).into_value().unwrap() > 0.0, "{id}");
        assert!(round.get(key::SERVER_USER).and(round.get(key::SERVER_SYSTEM)).value().is_some(), "{id}");
        assert!(round.get(key::HOST_STEAL).value().is_some(), "{id}");
        assert!(round.get(key::HOST_FOREIGN).value().is_some(), "{id}");
        assert!(round.get(key::CLIENT_CPU).into_value().unwrap() > 0.0, "{id}");
        let check = found.checks.iter().find(|check| check.id == "loopback").unwrap();
        assert!(check.detail.contains(&format!("over {interface}")), "{id}: {}", check.detail);
    }
    assert_eq!(figure(record, ids[2]).conditions.get(ROLE).as_deref(), Some("ceiling"));
    // The port beside the server was asked there, and its profile taken.
    let go = &figure(record, ids[0]).rounds[0].evidence;
    assert!(go.get(key::GOROUTINES_CREATED).value().is_some(), "{:?}", go.get(key::GOROUTINES_CREATED));
    assert!(go.get(key::PROFILE_SAMPLES).into_value().unwrap() > 0.0);
}

/// Waits until no process listens at an address.
fn gone(address: SocketAddr) {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < deadline, "a process still listens at {address}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_study_takes_its_servers_from_an_agent() {
    short();
}

/// One run for all that only look.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(with_agent)
}

fn with_agent() -> Record {
    let agent = Agent::start(None, &["nethttp", "--bind", "127.0.0.1", "--agent", "0"]);
    let bad = ["http", "--remote", &agent.address.to_string(), "--token", "wrong", "--dry-run"];
    let output = run(&bad);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("the agent wants another token"), "{}", stderr(&output));
    let record = study(None, &agent);
    assert_both_sides(&record, "lo");
    // Its client is gone, and so are the servers, before it gets SIGINT.
    agent.has_servers(false);
    let address = agent.address;
    let (code, errors) = agent.end();
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        errors.contains("wants another token") && errors.contains("is gone, and its servers with it"),
        "{errors}"
    );
    gone(address);
    record
}

#[test]
fn a_client_that_is_killed_takes_its_servers_with_it() {
    let agent = Agent::start(None, &["nethttp", "--bind", "127.0.0.1", "--agent", "0"]);
    let mut command = within(None);
    command.args(&agent.command).args(["-c", "8", "-t", "1", "--quick"]);
    let mut client = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    agent.has_servers(true);
    client.kill().unwrap();
    client.wait().unwrap();
    agent.has_servers(false);
    let (code, errors) = agent.end();
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn wrong_options_of_an_agent_are_reported() {
    for (options, error) in [
        (&["--bind", "127.0.0.1", "nothing"][..], "there is no server 'nothing'"),
        (&["nethttp"], "--bind"),
        (&["--bind", "192.0.2.1", "--agent", "0"], "--bind 192.0.2.1 --agent 0: "),
        (&["--bind", "127.0.0.1", "--token", "a b"], "no spaces"),
        (&["--bind", "127.0.0.1", "--token", "x"], "openssl rand -hex 16"),
    ] {
        let output = run(&[&["http", "serve"], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(error), "{options:?}: {}", stderr(&output));
    }
    let output = run(&["http", "--token", "x", "--dry-run"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--remote"), "{}", stderr(&output));
    let output = run(&["http", "--remote", "127.0.0.1:1", "--dry-run"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("truebench http serve --bind 127.0.0.1"), "{}", stderr(&output));
}

/// Two network namespaces joined by a pair of veth devices; they go with this value.
struct Pair {
    names: [String; 2],
}

impl Pair {
    /// Makes them, or says why that cannot be done here.
    fn make() -> Result<Pair, String> {
        let own = std::process::id();
        let pair = Pair { names: ["s", "c"].map(|side| format!("truebench-{own}-{side}")) };
        let [server, client] = &pair.names;
        let commands = [
            format!("netns add {server}"),
            format!("netns add {client}"),
            format!("-n {server} link add veth-s type veth peer name veth-c netns {client}"),
            format!("-n {server} addr add 10.213.7.1/30 dev veth-s"),
            format!("-n {client} addr add 10.213.7.2/30 dev veth-c"),
            format!("-n {server} link set veth-s up"),
            format!("-n {client} link set veth-c up"),
            format!("-n {server} link set lo up"),
            format!("-n {client} link set lo up"),
        ];
        for command in commands {
            let output = Command::new("ip").args(command.split(' ')).output();
            let output = output.map_err(|error| format!("ip (iproute2): {error}"))?;
            if !output.status.success() {
                return Err(format!("ip {command}: {}", stderr(&output).trim()));
            }
        }
        Ok(pair)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
        }
    }
}

#[test]
fn a_study_over_two_network_namespaces() {
    let pair = match Pair::make() {
        Ok(pair) => pair,
        Err(why) => {
            eprintln!("not run: two network namespaces cannot be had here: {why}");
            return;
        }
    };
    let [server, client] = pair.names.clone();
    let options = ["nethttp", "--bind", "10.213.7.1", "--agent", "0", "--no-token"];
    let agent = Agent::start(Some(&server), &options);
    assert!(!agent.command.iter().any(|word| word == "--token"), "{:?}", agent.command);
    assert_both_sides(&study(Some(&client), &agent), "veth-c");
    let (code, errors) = agent.end();
    assert_eq!(code, Some(0), "{errors}");
    drop(pair);
    let left = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(!left.contains(&server) && !left.contains(&client), "{left}");
}

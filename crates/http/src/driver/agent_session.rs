//! One client of an agent: executes its orders within the rules.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::evidence::http as key;
use figure::evidence::{CGROUP_THROTTLED, CPU_STEAL};
use figure::{Evidence, Reading};
use lab::failure::Failure;
use machine::counters::Snapshot;

use super::ServerDriver;
use super::agent_rules::AgentRules;
use super::local::{LocalServer, StartRequest};
use super::server_spec::ServerSpec;
use super::wire::{Answer, Order};

/// The study has some thirty.
const MAX_SERVERS: usize = 256;
const LENGTHS: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 3600);
/// Longest profile, in seconds.
const MAX_PROFILE: u32 = 60;
/// Flags of the Go servers that a client may set. Addresses and what a server exposes are up to the agent.
const FLAGS: [&str; 5] = ["-cost", "-cost-rounds", "-sleep", "-pool", "-concurrency"];
const VARIABLES: [&str; 4] = ["GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"];

/// Dropping it ends the servers.
pub struct AgentSession<'a> {
    rules: &'a AgentRules,
    address: IpAddr,
    servers: Vec<LocalServer>,
    before: Option<Snapshot>,
    /// Counters of this machine over the last window, and CPU seconds that its CPUs were busy.
    host: Option<(Evidence, Reading<f64>)>,
}

impl<'a> AgentSession<'a> {
    pub fn new(rules: &'a AgentRules, address: IpAddr) -> AgentSession<'a> {
        AgentSession { rules, address, servers: Vec::new(), before: None, host: None }
    }

    pub fn execute(&mut self, order: Order) -> Result<Answer, Failure> {
        match order {
            Order::Start(request) => {
                if self.servers.len() >= MAX_SERVERS {
                    return Err(Failure::new(format!("the agent runs {MAX_SERVERS} servers at most")));
                }
                let (server, info) = LocalServer::start(&self.allowed(*request)?)?;
                self.servers.push(server);
                return Ok(Answer::Started(Box::new(info)));
            }
            Order::Prepare(server) => self.server(server)?.prepare()?,
            Order::StartWindow { server, length, profile } => {
                if !LENGTHS.contains(&length) || profile.is_some_and(|seconds| seconds > MAX_PROFILE) {
                    let limits = "the agent watches windows of 1 ms to 24 h, and profiles of 60 s at most";
                    return Err(Failure::new(limits));
                }
                self.before = Some(self.rules.watch.snapshot());
                self.server(server)?.start_window(length, profile)?;
            }
            Order::FinishWindow(server) => {
                self.server(server)?.finish_window()?;
                let (watch, after) = (&self.rules.watch, self.rules.watch.snapshot());
                let before = self.before.take();
                self.host = before.map(|before| (watch.delta(&before, &after), watch.busy(&before, &after)));
            }
            Order::Collect { server, answered, share } => {
                let mut report = self.server(server)?.collect(answered, share)?;
                let (host, busy) =
                    self.host.take().ok_or_else(|| Failure::new("the window was not ended"))?;
                report.facts.put_reading(key::HOST_STEAL, host.get(CPU_STEAL));
                report.facts.put_reading(key::HOST_THROTTLED, host.get(CGROUP_THROTTLED));
                // CPU time of the window alone, as the machine's counters.
                let used = report.facts.get(key::SERVER_USER).and(report.facts.get(key::SERVER_SYSTEM));
                let used = used.into_value().map_or(0.0, |(user, system)| user + system);
                report.facts.put_reading(key::HOST_FOREIGN, busy.map(|busy| (busy - used).max(0.0)));
                return Ok(Answer::Report(Box::new(report)));
            }
        }
        Ok(Answer::Done)
    }

    fn server(&mut self, number: usize) -> Result<&mut LocalServer, Failure> {
        self.servers.get_mut(number).ok_or_else(|| Failure::new(format!("no server {number} was started")))
    }

    fn allowed(&self, request: StartRequest) -> Result<StartRequest, Failure> {
        let refuse = |reason: String| Err(Failure::new(reason));
        let address = SocketAddr::new(self.address, 0).to_string();
        let server = match request.server {
            ServerSpec::Go { name, mut flags, environment } => {
                let servers = &self.rules.host.servers;
                if !servers.contains(&name) {
                    return refuse(format!("the agent starts {}, and no {name:?}", servers.join(", ")));
                }
                let is_plain =
                    |value: &str| value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.');
                let is_flag = |pair: &[String]| matches!(pair, [flag, value] if FLAGS.contains(&flag.as_str()) && is_plain(value));
                if let Some(pair) = flags.chunks(2).find(|pair| !is_flag(pair)) {
                    let flags = FLAGS.join(", ");
                    return refuse(format!("the agent starts servers with {flags}, and not with {pair:?}"));
                }
                let mut names = environment.iter().map(|(name, _)| name.as_str());
                if let Some(name) = names.find(|name| !VARIABLES.contains(name)) {
                    return refuse(format!("the agent sets {}, and not {name:?}", VARIABLES.join(", ")));
                }
                flags.extend(["-addr".to_owned(), address]);
                ServerSpec::Go { name, flags, environment }
            }
            ServerSpec::Null(options) if options.is_empty() => {
                let watched = self.rules.watch.cpus();
                let cpus = request.cpus.as_ref().unwrap_or(watched);
                let threads = cpus.len().max(1).to_string();
                let options = ["--bind", &address, "--threads", &threads, "--cpus", &cpus.to_string()];
                ServerSpec::Null(options.map(str::to_owned).to_vec())
            }
            ServerSpec::Null(_) => {
                return refuse("the agent starts the null responder without options".to_owned());
            }
            ServerSpec::Command { .. } | ServerSpec::Running { .. } => {
                return refuse("the agent starts servers of its list, and no command".to_owned());
            }
        };
        // Processes of the client's machine do not exist here.
        Ok(StartRequest { server, other_processes: Vec::new(), ..request })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn outcome_of(server: ServerSpec) -> String {
        let machine = machine::describe(&machine::Tree::live(), &machine::Overrides { dimms: None });
        let rules = AgentRules::new(&machine, vec!["nethttp".to_owned()], None);
        let session = AgentSession::new(&rules, IpAddr::from([10, 1, 2, 3]));
        match session.allowed(StartRequest {
            server,
            cpus: None,
            conforms: false,
            other_processes: vec![("x".to_owned(), 1)],
        }) {
            Ok(request) => format!("{:?} {:?}", request.server, request.other_processes),
            Err(failure) => failure.to_string(),
        }
    }

    fn go(name: &str, flags: &[&str], environment: &[(&str, &str)]) -> ServerSpec {
        ServerSpec::Go {
            name: name.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn listed_servers_start_at_the_address_of_the_agent() {
        let started = outcome_of(go("nethttp", &["-cost", "20us", "-pool", "8"], &[("GOGC", "off")]));
        assert!(
            started.contains(r#""-pool", "8", "-addr", "10.1.2.3:0"]"#) && started.ends_with("[]"),
            "{started}"
        );
        let started = outcome_of(ServerSpec::Null(Vec::new()));
        assert!(started.starts_with(r#"Null(["--bind", "10.1.2.3:0", "--threads", ""#), "{started}");
    }

    #[test]
    fn other_servers_are_refused() {
        for (server, part) in [
            (go("fasthttp", &[], &[]), "and no \"fasthttp\""),
            (go("nethttp", &["-sidecar", "0.0.0.0:1"], &[]), "-sidecar"),
            (go("nethttp", &["-addr", "0.0.0.0:1"], &[]), "-addr"),
            (go("nethttp", &["-cost"], &[]), "-cost"),
            (go("nethttp", &["-cost", "-sidecar"], &[]), "-sidecar"),
            (go("nethttp", &["-cost=1", "2"], &[]), "-cost=1"),
            (go("nethttp", &[], &[("LD_PRELOAD", "/tmp/a.so")]), "and not \"LD_PRELOAD\""),
            (ServerSpec::Null(vec!["--endless".to_owned()]), "without options"),
        ] {
            let reason = outcome_of(server);
            assert!(reason.starts_with("the agent ") && reason.contains(part), "{reason}");
        }
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let command = ServerSpec::Command { command: "true".to_owned(), address, sidecar: None };
        for server in [command, ServerSpec::Running { address, pid: Some(1), sidecar: None }] {
            assert_eq!(outcome_of(server), "the agent starts servers of its list, and no command");
        }
    }
}

//! What an agent does for one client.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::evidence::http as key;
use figure::evidence::{CGROUP_THROTTLED, CPU_STEAL};
use figure::{Evidence, Reading};
use machine::counters::Snapshot;

use super::Side;
use super::agent::Rules;
use super::local::{Local, Wanted};
use super::subject::Subject;
use super::wire::{Answer, Order};

/// Servers of one client: the study has some thirty.
const MOST_SERVERS: usize = 256;
/// Windows that are watched.
const LENGTHS: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 3600);
/// Seconds of a profile at most.
const MOST_PROFILE: u32 = 60;
/// Flags of the Go servers that a client may give. Where they listen, and what they show to whom, is the agent's to say.
const FLAGS: [&str; 5] = ["-cost", "-cost-rounds", "-sleep", "-pool", "-concurrency"];
/// Variables of theirs: those of the Go runtime that move figures.
const VARIABLES: [&str; 4] = ["GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"];

/// A client's servers. They end with this value.
pub struct Served<'a> {
    rules: &'a Rules,
    /// Where they serve.
    address: IpAddr,
    servers: Vec<Local>,
    begun: Option<Snapshot>,
    /// What was seen of the machine in the last window, and how long its CPUs were busy in it.
    host: Option<(Evidence, Reading<f64>)>,
}

impl<'a> Served<'a> {
    /// No server yet.
    pub fn new(rules: &'a Rules, address: IpAddr) -> Served<'a> {
        Served { rules, address, servers: Vec::new(), begun: None, host: None }
    }

    /// Does what is ordered.
    ///
    /// # Errors
    /// Why not, in words for the user.
    pub fn carry_out(&mut self, order: Order) -> Result<Answer, String> {
        match order {
            Order::Start(wanted) => {
                if self.servers.len() >= MOST_SERVERS {
                    return Err(format!("the agent runs {MOST_SERVERS} servers at most"));
                }
                let (local, about) = Local::start(&self.allowed(*wanted)?)?;
                self.servers.push(local);
                return Ok(Answer::Started(Box::new(about)));
            }
            Order::Ready(server) => self.server(server)?.ready()?,
            Order::Begin { server, length, profile } => {
                if !LENGTHS.contains(&length) || profile.is_some_and(|seconds| seconds > MOST_PROFILE) {
                    return Err(
                        "the agent watches windows of 1 ms to 24 h, and profiles of 60 s at most".to_owned()
                    );
                }
                self.begun = Some(self.rules.watch.snapshot());
                self.server(server)?.begin(length, profile)?;
            }
            Order::End(server) => {
                self.server(server)?.end()?;
                let (watch, after) = (&self.rules.watch, self.rules.watch.snapshot());
                let begun = self.begun.take();
                self.host = begun.map(|begun| (watch.delta(&begun, &after), watch.busy(&begun, &after)));
            }
            Order::Seen { server, answered, share } => {
                let mut seen = self.server(server)?.seen(answered, share)?;
                let (host, busy) = self.host.take().ok_or("the window was not ended")?;
                seen.facts.put_reading(key::HOST_STEAL, host.get(CPU_STEAL));
                seen.facts.put_reading(key::HOST_THROTTLED, host.get(CGROUP_THROTTLED));
                // Of the window alone, as the counters are.
                let own = seen.facts.get(key::SERVER_USER).and(seen.facts.get(key::SERVER_SYSTEM));
                let own = own.into_value().map_or(0.0, |(user, system)| user + system);
                seen.facts.put_reading(key::HOST_FOREIGN, busy.map(|busy| (busy - own).max(0.0)));
                return Ok(Answer::Seen(Box::new(seen)));
            }
        }
        Ok(Answer::Done)
    }

    fn server(&mut self, number: usize) -> Result<&mut Local, String> {
        self.servers.get_mut(number).ok_or_else(|| format!("no server {number} was started"))
    }

    /// What is started of what is wanted: with nothing in it that the client could misuse.
    fn allowed(&self, wanted: Wanted) -> Result<Wanted, String> {
        let address = SocketAddr::new(self.address, 0).to_string();
        let subject = match wanted.subject {
            Subject::Go { name, mut flags, environment } => {
                let servers = &self.rules.host.servers;
                if !servers.contains(&name) {
                    return Err(format!("the agent starts {}, and no {name:?}", servers.join(", ")));
                }
                let is_plain =
                    |value: &str| value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.');
                let is_flag = |pair: &[String]| matches!(pair, [flag, value] if FLAGS.contains(&flag.as_str()) && is_plain(value));
                if let Some(pair) = flags.chunks(2).find(|pair| !is_flag(pair)) {
                    return Err(format!(
                        "the agent starts servers with {}, and not with {pair:?}",
                        FLAGS.join(", ")
                    ));
                }
                if let Some((name, _)) =
                    environment.iter().find(|(name, _)| !VARIABLES.contains(&name.as_str()))
                {
                    return Err(format!("the agent sets {}, and not {name:?}", VARIABLES.join(", ")));
                }
                flags.extend(["-addr".to_owned(), address]);
                Subject::Go { name, flags, environment }
            }
            Subject::Null(options) if options.is_empty() => {
                let watched = self.rules.watch.cpus();
                let cpus = wanted.cpus.as_ref().unwrap_or(watched);
                let threads = cpus.len().max(1).to_string();
                let options = ["--bind", &address, "--threads", &threads, "--cpus", &cpus.to_string()];
                Subject::Null(options.map(str::to_owned).to_vec())
            }
            Subject::Null(_) => return Err("the agent starts the null responder without options".to_owned()),
            Subject::Command { .. } | Subject::Running { .. } => {
                return Err("the agent starts servers of its list, and no command".to_owned());
            }
        };
        // Processes of the client's machine are not here.
        Ok(Wanted { subject, beside: Vec::new(), ..wanted })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn refused(subject: Subject) -> String {
        let machine = machine::describe(&machine::Tree::live(), &machine::Asked { dimms: None });
        let rules = Rules::new(&machine, vec!["nethttp".to_owned()], None);
        let served = Served::new(&rules, IpAddr::from([10, 1, 2, 3]));
        match served.allowed(Wanted {
            subject,
            cpus: None,
            conforms: false,
            beside: vec![("x".to_owned(), 1)],
        }) {
            Ok(wanted) => format!("{:?} {:?}", wanted.subject, wanted.beside),
            Err(why) => why,
        }
    }

    fn go(name: &str, flags: &[&str], environment: &[(&str, &str)]) -> Subject {
        Subject::Go {
            name: name.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn servers_of_the_list_are_started_where_the_agent_says() {
        let started = refused(go("nethttp", &["-cost", "20us", "-pool", "8"], &[("GOGC", "off")]));
        assert!(
            started.contains(r#""-pool", "8", "-addr", "10.1.2.3:0"]"#) && started.ends_with("[]"),
            "{started}"
        );
        let started = refused(Subject::Null(Vec::new()));
        assert!(started.starts_with(r#"Null(["--bind", "10.1.2.3:0", "--threads", ""#), "{started}");
    }

    #[test]
    fn nothing_else_is_started() {
        for (subject, told) in [
            (go("fasthttp", &[], &[]), "and no \"fasthttp\""),
            (go("nethttp", &["-sidecar", "0.0.0.0:1"], &[]), "-sidecar"),
            (go("nethttp", &["-addr", "0.0.0.0:1"], &[]), "-addr"),
            (go("nethttp", &["-cost"], &[]), "-cost"),
            (go("nethttp", &["-cost", "-sidecar"], &[]), "-sidecar"),
            (go("nethttp", &["-cost=1", "2"], &[]), "-cost=1"),
            (go("nethttp", &[], &[("LD_PRELOAD", "/tmp/a.so")]), "and not \"LD_PRELOAD\""),
            (Subject::Null(vec!["--endless".to_owned()]), "without options"),
        ] {
            let why = refused(subject);
            assert!(why.starts_with("the agent ") && why.contains(told), "{why}");
        }
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let command = Subject::Command { command: "true".to_owned(), address, sidecar: None };
        for subject in [command, Subject::Running { address, pid: Some(1), sidecar: None }] {
            assert_eq!(refused(subject), "the agent starts servers of its list, and no command");
        }
    }
}

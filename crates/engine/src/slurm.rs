//! Tasks as jobs of Slurm: one exclusive job for each node, with all tests inside.
//!
//! Slurm's exit codes are not trusted: a job can end with 0 although its node was lost. Only formats of `-o` are read; `--json` changes from
//! version to version.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use crate::engine::{Availability, Engine, Kind, Offer, Refusal, Settings, State, Task};
use crate::programs::{Printed, output};
use crate::ssh::line;

pub const KIND: Kind = Kind {
    name: "slurm",
    window: 100,
    poll: 10.0,
    outlives: true,
    program: None,
    open: |settings| Box::new(Slurm { settings: settings.clone() }),
};

/// A controller that is down lets its commands wait for a minute and more.
const DEADLINE: Duration = Duration::from_secs(30);
/// Handles of one scancel: a command line has an end.
const AT_ONCE: usize = 500;
/// What the reason of a node starts with that truebench drained.
const REASON: &str = "truebench: ";
/// The longest reason that Slurm's tools show whole.
const MOST_REASON: usize = 200;
/// Words of sbatch's refusals that time does not heal.
const NEVER: &[&str] = &[
    "invalid node name",
    "node configuration is not available",
    "invalid partition",
    "invalid account",
    "invalid qos",
    "access/permission denied",
    "user's group not permitted",
    "not in this partition",
    "unrecognized option",
    "invalid option",
    "is not installed",
];

struct Slurm {
    settings: Settings,
}

impl Slurm {
    /// What one of its commands prints.
    fn ask(&self, words: &[&str]) -> Result<String, String> {
        let printed = output(words, "", DEADLINE)?;
        if printed.is_success { Ok(printed.out) } else { Err(printed.complaint()) }
    }

    /// The jobs of this run: id, state, reason and node.
    fn jobs(&self) -> Result<Vec<Job>, String> {
        let text =
            self.ask(&["squeue", "-h", "-a", "-t", "all", "-n", &self.settings.run, "-o", "%A|%T|%r|%k"])?;
        Ok(text.lines().filter_map(Job::parse).collect())
    }

    fn script(&self, task: &Task) -> String {
        format!("#!/bin/sh\nexec {}\n", line(&task.into_directory()))
    }

    /// All nodes with their state and the reason of it: the names of many would not fit into a command line.
    fn states(&self) -> Result<Vec<[String; 3]>, String> {
        let mut words = vec!["sinfo", "-h", "-N", "-o", "%N|%T|%E"];
        if let Some(partition) = &self.settings.partition {
            words.extend(["-p", partition]);
        }
        Ok(nodes_of(&self.ask(&words)?))
    }
}

impl Engine for Slurm {
    fn nodes(&mut self, list: Option<&[String]>) -> Result<Vec<Offer>, String> {
        let states = self.states()?;
        let offer = |[node, state, reason]: &[String; 3]| Offer {
            node: node.clone(),
            availability: availability(state, reason),
        };
        let Some(list) = list else { return Ok(states.iter().map(offer).collect()) };
        let states: HashMap<&str, &[String; 3]> =
            states.iter().map(|state| (state[0].as_str(), state)).collect();
        let of_list = |node: &String| match states.get(node.as_str()) {
            Some(state) => offer(state),
            None => {
                let why = "Slurm does not know it, or not in this partition".to_owned();
                Offer { node: node.clone(), availability: Availability::Down(why) }
            }
        };
        Ok(list.iter().map(of_list).collect())
    }

    fn start(&mut self, task: &Task) -> Result<String, Refusal> {
        let made = task.log.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.map_err(|error| Refusal::Later(format!("{}: {error}", task.log.display())))?;
        let minutes = (task.seconds / 60.0).ceil().max(1.0).to_string();
        // In a name of a file Slurm replaces what follows a percent sign.
        let log = task.log.to_string_lossy().replace('%', "%%");
        let mut words = vec!["sbatch", "--parsable", "-N1", "-n1", "--exclusive", "--mem=0", "--no-requeue"];
        words.extend(["-J", &self.settings.run, "--comment", &task.node, "-w", &task.node]);
        words.extend(["-t", &minutes, "-o", &log]);
        if let Some(partition) = &self.settings.partition {
            words.extend(["-p", partition]);
        }
        words.extend(self.settings.options.iter().map(String::as_str));
        let printed = output(&words, &self.script(task), DEADLINE).map_err(refusal)?;
        if !printed.is_success {
            return Err(refusal(printed.complaint()));
        }
        job_id(&printed).ok_or_else(|| refusal(format!("sbatch printed no job: {}", printed.complaint())))
    }

    fn poll(&mut self, handles: &[String]) -> Result<Vec<State>, String> {
        let jobs = self.jobs()?;
        let jobs: HashMap<&str, &Job> = jobs.iter().map(|job| (job.id.as_str(), job)).collect();
        let state = |handle: &String| match jobs.get(handle.as_str()) {
            None => State::Unknown,
            Some(job) => job.state(),
        };
        Ok(handles.iter().map(state).collect())
    }

    fn stop(&mut self, handles: &[String]) {
        for some in handles.chunks(AT_ONCE) {
            let words: Vec<&str> = ["scancel"].into_iter().chain(some.iter().map(String::as_str)).collect();
            // A job that has ended cannot be cancelled; one that cannot be reached ends by its time limit.
            let _ = output(&words, "", DEADLINE);
        }
    }

    fn adopt(&mut self) -> Result<Vec<(String, String)>, String> {
        // One that has ended is an earlier attempt: its record counts without it.
        let is_open = |job: &Job| !matches!(job.state(), State::Ended(_));
        Ok(self.jobs()?.into_iter().filter(is_open).map(|job| (job.node, job.id)).collect())
    }

    fn drain(&self, nodes: &[(String, String)]) -> Result<Vec<Vec<String>>, String> {
        let command = |(node, why): &(String, String)| {
            let reason: String = format!("{REASON}{why}").chars().take(MOST_REASON).collect();
            update(node, "DRAIN", Some(&reason))
        };
        Ok(nodes.iter().map(command).collect())
    }

    fn resume(&self, nodes: &[String]) -> Result<Vec<Vec<String>>, String> {
        let states = self.states()?;
        let is_ours = |[node, state, reason]: &&[String; 3]| {
            state.starts_with("drain") && reason.starts_with(REASON) && nodes.contains(node)
        };
        Ok(states.iter().filter(is_ours).map(|[node, ..]| update(node, "RESUME", None)).collect())
    }
}

fn update(node: &str, state: &str, reason: Option<&str>) -> Vec<String> {
    let words = ["scontrol", "update"].map(str::to_owned).into_iter();
    let words = words.chain([format!("NodeName={node}"), format!("State={state}")]);
    words.chain(reason.map(|reason| format!("Reason={reason}"))).collect()
}

/// A job in squeue.
struct Job {
    id: String,
    state: String,
    reason: String,
    node: String,
}

impl Job {
    fn parse(line: &str) -> Option<Job> {
        let mut fields = line.trim().split('|').map(str::to_owned);
        let mut next = || fields.next();
        Some(Job { id: next()?, state: next()?, reason: next()?, node: next()? })
    }

    fn state(&self) -> State {
        match self.state.as_str() {
            "PENDING" | "CONFIGURING" | "REQUEUED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" | "REQUEUE_FED"
            | "REQUEUE_HOLD" => State::Waits,
            "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "RESIZING" | "STAGE_OUT" => {
                State::Runs
            }
            // Jobs stay in the list for some minutes after their end (MinJobAge).
            ended => {
                let mut why = format!("its job ended as {ended}");
                if !["None", ""].contains(&self.reason.as_str()) {
                    let _ = write!(why, " ({})", self.reason);
                }
                State::Ended(why)
            }
        }
    }
}

/// The id in what `sbatch --parsable` prints: `123` or `123;cluster`. Other lines are messages of the site.
fn job_id(printed: &Printed) -> Option<String> {
    let last = printed.out.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let id = last.split(';').next()?;
    id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.to_owned())
}

/// Nodes in what sinfo prints; it repeats a node for each of its partitions.
fn nodes_of(text: &str) -> Vec<[String; 3]> {
    let mut nodes: Vec<[String; 3]> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, '|').map(|field| field.trim().to_owned());
        let (Some(node), Some(state)) = (fields.next(), fields.next()) else { continue };
        if known.insert(node.clone()) {
            nodes.push([node, state.to_lowercase(), fields.next().unwrap_or_default()]);
        }
    }
    nodes
}

/// What a state of sinfo means. A sign behind it: `*` does not answer, `~` or `#` or `!` or `%` power is off or changes, `$` or `@` are
/// maintenance and reboots (sinfo(1), NODE STATE CODES).
fn availability(state: &str, reason: &str) -> Availability {
    let word = state.trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-', '+']);
    let does_answer = !state.contains('*');
    let reason = match reason {
        "none" | "" => String::new(),
        reason => format!(": {reason}"),
    };
    match word {
        "idle" if does_answer => Availability::Idle,
        // A controller that has just started has not heard of its nodes yet.
        "unknown" | "unk" | "mixed" | "mix" | "allocated" | "alloc" | "completing" | "comp" | "reserved"
        | "resv" | "planned" | "plnd" | "blocked"
            if does_answer =>
        {
            Availability::Busy
        }
        _ if does_answer => Availability::Down(format!("Slurm has it as {word}{reason}")),
        _ => Availability::Down(format!("Slurm has it as {word}, and it does not answer{reason}")),
    }
}

fn refusal(why: String) -> Refusal {
    let lower = why.to_lowercase();
    let why = why.trim_start_matches("sbatch: error: ").to_owned();
    if NEVER.iter().any(|never| lower.contains(never)) { Refusal::Never(why) } else { Refusal::Later(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_several_partitions_are_nodes_once() {
        let text =
            "n1|idle|none\nn1|idle|none\nn2|MIXED|none\nn3|down*|Not responding\nn4|drained|bad DIMM|A1\n\n";
        let offers: Vec<(String, Availability)> = nodes_of(text)
            .iter()
            .map(|[node, state, reason]| (node.clone(), availability(state, reason)))
            .collect();
        let down = |why: &str| Availability::Down(why.to_owned());
        let expected = [
            ("n1", Availability::Idle),
            ("n2", Availability::Busy),
            ("n3", down("Slurm has it as down, and it does not answer: Not responding")),
            ("n4", down("Slurm has it as drained: bad DIMM|A1")),
        ];
        assert_eq!(offers, expected.map(|(node, availability)| (node.to_owned(), availability)));
    }

    #[test]
    fn states_with_signs() {
        assert_eq!(availability("idle", "none"), Availability::Idle);
        for state in ["idle*", "idle~", "idle#", "maint", "drng", "fail", "down*", "future"] {
            let is_down = matches!(availability(state, "none"), Availability::Down(_));
            assert_eq!(is_down, !["idle~", "idle#"].contains(&state), "{state}");
        }
        assert_eq!(availability("alloc", ""), Availability::Busy);
        assert_eq!(availability("unknown", ""), Availability::Busy);
    }

    #[test]
    fn refusals_that_time_heals() {
        let later = [
            "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
            "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
            "sbatch did not answer within 30 s",
        ];
        for text in later {
            assert!(matches!(refusal(text.to_owned()), Refusal::Later(_)), "{text}");
        }
        for text in [
            "sbatch: error: Batch job submission failed: Requested node configuration is not available",
            "sbatch: error: invalid partition specified: nope",
            "sbatch: error: Batch job submission failed: Invalid node name specified",
            "sbatch is not installed here",
        ] {
            let Refusal::Never(why) = refusal(text.to_owned()) else { panic!("{text}") };
            assert!(!why.starts_with("sbatch: error"), "{why}");
        }
    }

    #[test]
    fn jobs_as_squeue_has_them() {
        let job = |line| Job::parse(line).unwrap().state();
        assert_eq!(job("12|PENDING|Resources|n1"), State::Waits);
        assert_eq!(job("12|RUNNING|None|n1"), State::Runs);
        assert_eq!(job("12|NODE_FAIL|None|n1"), State::Ended("its job ended as NODE_FAIL".into()));
        assert_eq!(
            job("12|FAILED|NonZeroExitCode|n1"),
            State::Ended("its job ended as FAILED (NonZeroExitCode)".into())
        );
        assert!(Job::parse("slurm_load_jobs error").is_none());
        let printed = |out: &str| Printed { out: out.into(), err: String::new(), is_success: true };
        assert_eq!(job_id(&printed("Welcome\n123;main\n")), Some("123".into()));
        assert_eq!(job_id(&printed("queued\n")), None);
    }

    #[test]
    fn a_reason_says_who_drained() {
        let slurm = Slurm { settings: Settings::default() };
        let commands = slurm.drain(&[("n1".into(), "memory channel: 8 % below the others".into())]).unwrap();
        assert_eq!(
            commands[0],
            [
                "scontrol",
                "update",
                "NodeName=n1",
                "State=DRAIN",
                "Reason=truebench: memory channel: 8 % below the others"
            ]
        );
    }
}

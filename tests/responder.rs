//! The null responder as a process of its own, and loads of it or of any server.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use figure::evidence::{FactType, Key};
use figure::{Figure, Outcome, Record};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{record, run, stderr, truebench};

/// A responder, ended with the test.
pub struct Responder {
    process: Child,
    /// Where it serves.
    pub address: SocketAddr,
}

impl Responder {
    /// With these options of `truebench http null`.
    pub fn start(options: &[&str]) -> Responder {
        let mut command = truebench(&["http", "null"]);
        let mut process =
            command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse();
        Responder { process, address: address.unwrap_or_else(|error| panic!("{error}: {line}")) }
    }

    /// What it is loaded by.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// A load of it, which knows its process.
    pub fn load(&self, options: &[&str]) -> Record {
        let pid = self.pid().to_string();
        load(&self.url(), &[&["--server-pid", &pid], options].concat())
    }

    /// Ctrl-C: its exit code, and what it says.
    pub fn end(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let mut errors = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.process.wait().unwrap().code(), errors)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Options with their values, but for those that are given otherwise.
pub fn over<'a>(usual: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    let is_given = |option: &str| options.contains(&option) || option == "-d" && options.contains(&"-n");
    let defaults = usual.chunks(2).filter(|pair| !is_given(pair[0]));
    defaults.flatten().chain(options).copied().collect()
}

/// A load of a server, without a ceiling: it was measured, whatever is thought of it.
pub fn load(url: &str, options: &[&str]) -> Record {
    measured(&[&["load", "--url", url, "--no-ceiling"], options].concat())
}

/// `truebench http` with these words: the mode first, if not the study.
pub fn measured(options: &[&str]) -> Record {
    let output = run(&[&["http"], options, &["--format", "json"]].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{options:?}: {}", stderr(&output));
    record(&output)
}

/// The first figure that has rounds: the load itself.
pub fn head(record: &Record) -> &Figure {
    let head = record.figures.iter().find(|figure| !figure.rounds.is_empty());
    head.unwrap_or_else(|| panic!("{:?}", record.figures.first().and_then(|figure| figure.reason.as_ref())))
}

/// A fact of each of its rounds.
pub fn over_rounds<T: FactType>(figure: &Figure, key: Key<T>) -> Vec<T> {
    let rounds = figure.over_rounds(key);
    rounds.value().unwrap_or_else(|| panic!("{}: {:?}", key.name, rounds.reason()));
    rounds.into_value().expect("just checked")
}

/// The outcome of one check of a figure, and what it says.
pub fn answer(figure: &Figure, check: &str) -> (Outcome, String) {
    let found = figure.checks.iter().find(|result| result.id == check);
    let found = found.unwrap_or_else(|| panic!("{}: {check} was not asked", figure.id));
    (found.outcome, found.detail.clone())
}

/// A port of 127.0.0.1 that was free a moment ago, and that no other test gets: the kernel assigns those from 32768 on (ip_local_port_range).
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    let mut ports = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

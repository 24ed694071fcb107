//! Running truebench, and reading what it says.

use std::process::{Child, Command, Output};
use std::sync::{Mutex, Once, PoisonError};

use figure::{Figure, Record};

/// Options that keep a run under two seconds: arrays far too small, which is judged and is not what is tested.
pub const SMALL: &[&str] = &["memory", "--array-size", "200000", "--rounds", "6"];

/// The same with one round, for tests that check no figure.
pub const ONCE: &[&str] = &["memory", "--array-size", "200000", "--rounds", "1"];

/// The command, with colours off and no terminal.
pub fn truebench(arguments: &[&str]) -> Command {
    // A shell that runs the tests in the background has them ignore SIGINT and SIGQUIT, nohup SIGHUP, and all that they start inherits it.
    static HEEDED: Once = Once::new();
    HEEDED.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: sets what is the default, and runs nothing.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_truebench"));
    command.args(arguments).env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

/// Runs of `memory` keep the same CPUs busy, and two of them repeat each other's disturbed rounds: one at a time.
static MEMORY: Mutex<()> = Mutex::new(());

/// Runs to the end.
pub fn run(arguments: &[&str]) -> Output {
    let is_memory = arguments.first() == Some(&"memory");
    let _turn = is_memory.then(|| MEMORY.lock().unwrap_or_else(PoisonError::into_inner));
    truebench(arguments).output().expect("truebench starts")
}

/// The turn of a test that measures memory without [`run`].
pub fn turn() -> impl Drop {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// The record on standard output.
pub fn record(output: &Output) -> Record {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no record: {error}\n{}\n{}", stdout(output), stderr(output)))
}

/// The record behind what was streamed: the last line.
pub fn streamed(text: &str) -> Record {
    Record::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A figure that must be there.
pub fn figure<'a>(record: &'a Record, id: &str) -> &'a Figure {
    record.figure(id).unwrap_or_else(|| panic!("no figure {id}"))
}

/// Ids of the checks of a figure that are not a pass, in the order of the record.
pub fn reasons(record: &Record, id: &str) -> Vec<String> {
    judge::reasons(figure(record, id)).map(|check| check.id.clone()).collect()
}

/// Checks that show that others used the machine.
pub const DISTURBANCES: &[&str] = &[
    "steal",
    "foreign-load",
    "interrupts",
    "throttled",
    "frequency",
    "clock-jump",
    "placement-held",
    "unequal-cores",
];

/// A process that keeps a CPU busy until it is dropped.
pub struct Hog(Child);

impl Hog {
    /// Keeps this CPU busy.
    pub fn on(cpu: u32) -> Hog {
        let mut hog = Command::new("taskset");
        hog.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Hog(hog.spawn().expect("taskset (util-linux) starts"))
    }

    /// Keeps every CPU busy that we may use.
    pub fn on_all() -> Vec<Hog> {
        let machine = machine::describe(&machine::Tree::live(), &machine::Overrides { dimms: None });
        machine.topology.usable().iter().map(Hog::on).collect()
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

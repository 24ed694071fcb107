//! Starts one command on each of many nodes, through the scheduler that is there, and waits for files.
//!
//! [`Directory`] is the state: what is to be done, what was started, and the records of nodes that answered. [`Run`] keeps a window of
//! tasks outstanding. An [`Engine`] starts, looks after and stops them; a new one is a file and a line in [`ENGINES`].

mod children;
mod directory;
mod engine;
mod engines;
mod kubernetes;
mod local;
mod nodes;
mod programs;
mod run;
mod slurm;
mod ssh;

pub use directory::{Directory, Outcome, Plan, Problem};
pub use engine::{Availability, Engine, Kind, Manifest, Offer, Refusal, Settings, State, Task};
pub use engines::{ENGINES, engine};
pub use nodes::{NodeListError, expand};
pub use run::{Change, Limits, Run};
pub use ssh::line;

//! The datum of truebench: a [`Figure`] with its evidence, checks and verdict, the [`Record`] that holds
//! figures, the [`Machine`](host::Machine) they were measured on, the [`Event`]s of a running measurement,
//! and the statistics that turn rounds into a value with an interval.
//!
//! Everything here is plain data or a pure function: this crate reads no file, no clock and no hardware.
//! All other crates meet in these types.

mod basis;
pub mod causes;
pub mod check;
pub mod conditions;
pub mod cpulist;
pub mod event;
pub mod evidence;
pub mod explanation;
mod figure;
pub mod format;
pub mod host;
mod interval;
pub mod reading;
pub mod record;
pub mod room;
pub mod secrets;
pub mod series;
pub mod stats;
pub mod unit;

pub use basis::Basis;
pub use check::{CheckResult, Outcome, Verdict};
pub use conditions::Conditions;
pub use cpulist::CpuList;
pub use event::Event;
pub use evidence::Evidence;
pub use explanation::{Explanation, Severity};
pub use figure::{Better, Figure, Limit, Round, Status};
pub use host::Machine;
pub use interval::Interval;
pub use reading::Reading;
pub use record::{Record, Tool};
pub use unit::{Convention, Unit};

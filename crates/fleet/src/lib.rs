//! Many nodes: which is slow, which part of it, and was it the node? Pure: texts of records in, a [`Check`] out.
//!
//! [`Gathering`] gathers records and keeps little of each. [`check`](check()) forms groups of equal nodes, takes a robust reference of each
//! figure, tests each node against it, and names the part that its low figures share. docs/methods/fleet.md has the rules and their
//! sources.

mod accuse;
mod answer;
mod attribute;
mod baseline;
mod check;
mod duplicates;
mod fingerprint;
mod gather;
mod gathered;
mod group;
mod intake;
mod learn;
mod null;
mod parsed;
mod part;
mod peers;
mod place;
mod projection;
mod robust;
mod rules;
mod second;
pub mod simulate;
mod split;
mod summary;
pub mod table;
mod usual;
mod verdict;

pub use answer::{Answer, Comparison, Figure, Finding, Group, Intake, Low, Missing, Node, cause};
pub use baseline::{Baseline, BaselineGroup, Measured};
pub use check::{Check, check, schema};
pub use fingerprint::{Difference, Fact, Fingerprint};
pub use gather::Gathering;
pub use null::NullDistribution;
pub use parsed::{Parsed, parse};
pub use part::{Domain, Part, domain};
pub use projection::projected;
pub use rules::{MIN_GROUP, Rules};
pub use second::second_stage;
pub use table::{Table, Unused};

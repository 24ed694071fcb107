//! Cases of `truebench audit`: text that another tool printed.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Count, Number, Seconds};

/// Cases of `truebench audit`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Audit {
    #[display(
        "{tool} counts {counted} B per element; {moved} B move: {traffic} of traffic\n\
         The kernel's stores are regular, by its name: each reads its line first."
    )]
    RegularStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[display(
        "{tool} counts {counted} B per element; regular stores move {moved} B: {traffic}\n\
         Non-temporal stores move what is counted. The text does not say which the compiler made.\n\
         $ truebench memory inspect BINARY"
    )]
    UnknownStores { tool: String, counted: Count, moved: Count, traffic: Amount },
    #[display("A round trip takes {trip}, of which two switches take {switches}")]
    Switching { trip: Seconds, switches: Seconds },
    #[display("perf divides by CPU time: {count} in {elapsed} of elapsed time are {rate} a second")]
    RateByCpuTime { count: Number, elapsed: Seconds, rate: Number },
    #[display("No page was read from a disk")]
    NoDiskRead,
    #[display("A major fault waits for a disk: a mapped file, or swap")]
    MajorFaults,
    #[display(
        "A minor fault needs no disk: it maps memory, mostly fresh\n\
         Measure its price, and see which calls cause it.\n\
         $ truebench faults prices"
    )]
    MinorFaults,
    #[display("These functions call one another: the share is the largest, not a sum\n{functions}.")]
    NestedFunctions { functions: String },
}

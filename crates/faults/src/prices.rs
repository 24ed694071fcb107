//! What page faults, and the calls around them, cost on this machine: the prices by which a program's faults are held against its CPU time.
//!
//! - [`catalogue`] lists the prices; [`anonymous`], [`files`] and [`calls`] are their laps, [`together`] those of several threads.
//! - [`here`] looks what can be had; [`ground`] holds sizes and files; [`child`] is what shares pages after a fork.
//! - [`plan`] makes figures of the prices; [`bench`] is the worker; [`complete`] adds what follows.

pub mod anonymous;
pub mod bench;
pub mod calls;
pub mod catalogue;
pub mod child;
pub mod complete;
pub mod files;
pub mod ground;
pub mod here;
pub mod lap;
pub mod plan;
pub mod together;
pub mod watching;

/// What the user asked for, and what was found here.
#[derive(Clone, Debug)]
pub struct Options {
    /// What there is.
    pub here: here::Here,
    /// Words of the prices that are asked for, or of kinds of them; none: all.
    pub words: Vec<String>,
    /// When there are enough rounds.
    pub rules: lab::schedule::Rules,
}

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Nothing can run.
    #[error("no CPU that may be used is online")]
    NoCpu,
    /// A word that is no price's.
    #[error("there is no price '{0}'; there are {all}", all = catalogue::words().join(", "))]
    NoPrice(String),
}

/// The mode.
pub const MODE: lab::mode::Mode<Options, PlanError> = lab::mode::Mode {
    name: "prices",
    title: "what page faults cost",
    seconds: 90.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

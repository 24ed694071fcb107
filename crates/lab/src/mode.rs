//! A mode of a suite: one way of measuring, with its own plan and worker.

use figure::series::SeriesText;
use figure::{Figure, Machine};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::session::SuitePlan;
use crate::worker::{Body, Json, PrepareFn};

/// One way of measuring. `O`: the options of its suite. `E`: errors in them. `S`: what it gives its worker.
#[derive(Debug)]
pub struct Mode<O: 'static, E: 'static, S: 'static> {
    /// Its word on the command line. Its worker is `SUITE.NAME`.
    pub name: &'static str,
    pub title: &'static str,
    /// What its series of figures are called.
    pub series: &'static [SeriesText],
    /// Seconds that it may take by default. `--thorough` distributes its time in proportion.
    pub seconds: f64,
    pub plan: fn(&Machine, &O) -> Result<Planned<S>, E>,
    pub prepare: PrepareFn<S>,
    /// Adds limits and derived figures to the measured ones. Pure.
    pub complete: Complete,
}

pub type Complete = fn(&mut Vec<Figure>, &Machine);

/// A mode's plan. Without a type, the setup is what is sent to the worker.
#[derive(Clone, Debug)]
pub struct Planned<S = Json> {
    pub suite: SuitePlan<S>,
    /// Resolved options for `--dry-run`: names and values.
    pub notes: Vec<(&'static str, String)>,
}

/// A mode whatever the type of its setup, as a suite lists it.
pub trait AnyMode<O, E>: Sync {
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    fn series(&self) -> &'static [SeriesText];
    fn seconds(&self) -> f64;
    fn plan(&self, machine: &Machine, options: &O) -> Result<Planned, E>;
    fn body(&self) -> &dyn Body;
    fn complete(&self) -> Complete;
}

impl<O, E: From<serde_json::Error>, S: Serialize + DeserializeOwned> AnyMode<O, E> for Mode<O, E, S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn series(&self) -> &'static [SeriesText] {
        self.series
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn plan(&self, machine: &Machine, options: &O) -> Result<Planned, E> {
        let Planned { suite, notes } = (self.plan)(machine, options)?;
        Ok(Planned { suite: suite.for_worker()?, notes })
    }

    fn body(&self) -> &dyn Body {
        &self.prepare
    }

    fn complete(&self) -> Complete {
        self.complete
    }
}

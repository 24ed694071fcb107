//! Records as they are gathered, before all are there.

use jiff::Timestamp;

use crate::parsed::Setup;
use crate::table::{Cell, Row};

/// The most setups of a figure that count as different: where each node chooses its CPUs, there are many.
pub(crate) const MAX_SETUPS: usize = 4096;

/// A record as it is gathered.
pub(crate) struct Gathered {
    pub row: Row,
    pub started: Option<Timestamp>,
    pub duration: f64,
    /// Column, setup of the column, cell.
    pub cells: Vec<(u32, u32, Cell)>,
}

/// A column to be: a figure, and all the ways in which nodes measured it.
pub(crate) struct Heading {
    pub id: String,
    pub is_derived: bool,
    pub setups: Vec<Setup>,
}

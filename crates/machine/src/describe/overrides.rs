//! Facts from the user.

use crate::dimms::Dimms;

/// What the user states about the machine because its files do not.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub dimms: Option<Dimms>,
}

//! What a fleet had when it was in order: centre and spread of each figure, by kind of node.

use figure::Better;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::null::NullDistribution;
use crate::robust::{Reference, Tail};

/// The version of the file's form.
pub const SCHEMA: u32 = 1;

/// A baseline, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Version of this format.
    pub schema: u32,
    /// What it is: `truebench fleet baseline`.
    pub kind: String,
    /// How many nodes it was made of.
    pub nodes: usize,
    /// The kinds of node.
    pub groups: Vec<BaselineGroup>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineGroup {
    /// What they are made of.
    pub fingerprint: Fingerprint,
    /// How many there are.
    pub nodes: usize,
    /// Their figures, by id.
    pub figures: Vec<Measured>,
    /// How far their figures lie below the medians, all figures together.
    #[serde(default)]
    pub null: NullDistribution,
    /// Ids of figures that are left out because they have two values on these nodes: their median is that of neither.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub two_values: Vec<String>,
}

/// A figure of the nodes of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Its id.
    pub id: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The median.
    pub centre: f64,
    /// The spread between nodes, as a share.
    pub spread: f64,
    /// How many nodes.
    pub nodes: usize,
    /// Degrees of freedom of the spread.
    pub freedom: f64,
    /// Of a lower tail that is longer than normal: the distance of the lower decile, and the mean excess beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<[f64; 2]>,
}

impl Measured {
    pub(crate) fn new(id: &str, unit: &str, better: Better, reference: &Reference) -> Measured {
        let centre = reference.centre;
        Measured {
            id: id.to_owned(),
            unit: unit.to_owned(),
            better,
            centre: if better == Better::Lower { (-centre).exp() } else { centre.exp() },
            spread: reference.spread,
            nodes: reference.count,
            freedom: reference.freedom,
            tail: match reference.tail {
                Tail::Normal => None,
                Tail::Long { decile, mean } => Some([decile, mean]),
            },
        }
    }

    pub(crate) fn reference(&self) -> Reference {
        let centre = self.centre.ln();
        Reference {
            centre: if self.better == Better::Lower { -centre } else { centre },
            spread: self.spread,
            count: self.nodes,
            freedom: self.freedom.max(1.0),
            tail: self.tail.map_or(Tail::Normal, |[decile, mean]| Tail::Long { decile, mean }),
        }
    }
}

/// What the file of a baseline is called in itself.
pub(crate) const KIND: &str = "truebench fleet baseline";

impl Baseline {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Why it is no baseline, in words that follow its name.
    pub fn read(text: &[u8]) -> Result<Baseline, String> {
        let baseline: Baseline = serde_json::from_slice(text).map_err(|error| {
            format!("is no baseline of truebench fleet: {}", figure::format::plain(&error.to_string()))
        })?;
        if baseline.kind != KIND {
            return Err("is no baseline of truebench fleet".to_owned());
        }
        if baseline.schema > SCHEMA {
            return Err(format!(
                "has baseline format {}, this truebench knows {SCHEMA}; use a newer truebench",
                baseline.schema
            ));
        }
        let is_sound = |one: &Measured| one.centre > 0.0 && one.centre.is_finite() && one.spread >= 0.0;
        if baseline.groups.iter().flat_map(|group| &group.figures).all(is_sound) {
            return Ok(baseline);
        }
        Err("holds a figure without a centre above 0".to_owned())
    }

    /// The group for nodes of this kind: equal hardware and program, and the fewest differences of state.
    pub(crate) fn of_kind<'a>(&'a self, fingerprint: &Fingerprint) -> Option<&'a BaselineGroup> {
        let alike = self.groups.iter().filter(|group| group.fingerprint.kind == fingerprint.kind);
        alike.min_by_key(|group| fingerprint.differs(&group.fingerprint).len())
    }
}

impl BaselineGroup {
    /// The figure of this id, in this unit.
    pub(crate) fn figure(&self, id: &str, unit: &str) -> Option<&Measured> {
        let at = self.figures.binary_search_by(|one| one.id.as_str().cmp(id)).ok()?;
        Some(&self.figures[at]).filter(|one| one.unit == unit)
    }
}

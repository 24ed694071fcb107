//! The numbers that decide, each with its reason. docs/methods/fleet.md explains them.

/// What the user decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The smallest deficit that accuses a node, as a share of the group's centre.
    pub delta: f64,
    /// The share of healthy nodes among all that are called slow, on average (Benjamini and Hochberg).
    pub false_discoveries: f64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { delta: 0.03, false_discoveries: 0.01 }
    }
}

/// A group of fewer nodes has no reference of its own: a robust scale of 7 values is off by half.
pub const MIN_GROUP: usize = 8;

/// So many nodes of a group must have a figure that can be used: on a quiet machine a fifth of all figures may be suspect.
pub const MIN_VALUES: usize = 6;

/// The smallest scale of a figure, as a share: with nodes that agree better than this a harmless 1 % would be many deviations.
pub const SCALE_FLOOR: f64 = 0.005;

/// Each of two clusters holds at least this share of the nodes; fewer are outliers. At least [`MIN_GROUP`] nodes too.
pub const MIN_CLUSTER: f64 = 0.10;

/// A fact separates two clusters if it predicts the cluster of at least this share of the nodes.
pub const SEPARATES: f64 = 0.95;

/// Nodes that differ from a large group in facts of their state alone, and are at most this share of it, may be faulty nodes of that group
/// and are compared with it. More of them are a group of their own. Two are always few enough.
pub const ODD_SHARE: f64 = 0.01;

/// A node is disturbed if this share of its figures is, and not measured if this share of the usual ones is missing: with fewer enough is
/// left to judge it by.
pub const LOST_SHARE: f64 = 0.10;

/// A part of a node cannot be judged if half of its figures are suspect or invalid, and chance, at the rate of the group, would leave as
/// few with at most this probability.
pub const LOST_BY_CHANCE: f64 = 1e-6;

/// A figure finds deficits of delta if its own standard error is at most this share of delta: five standard errors are what three
/// million tests need.
pub const ERROR_OF_DELTA: f64 = 0.2;

/// Seconds by which a node's clock may be ahead of the file's time before it is reported.
pub const CLOCK_AHEAD: f64 = 60.0;

/// Checks that show that the node was disturbed while it measured, not that the figure was taken wrongly. A memory that corrects errors
/// disturbs itself.
pub const DISTURBANCES: &[&str] = &[
    "clock-jump",
    "foreign-load",
    "frequency",
    "interrupts",
    "involuntary-switches",
    "memory-errors",
    "memory-limit",
    "off-cpu",
    "placement-held",
    "quota",
    "run-queue-delay",
    "server-host",
    "shared-cpus",
    "sibling-load",
    "steal",
    "swap",
    "thermal",
    "throttled",
    "traffic-background",
    "unequal-cores",
    "uneven-cores",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Each check has a page.
    #[test]
    fn disturbances_are_checks() {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks");
        for id in DISTURBANCES {
            assert!(pages.join(format!("{id}.md")).exists(), "{id}");
        }
        assert!(DISTURBANCES.is_sorted());
    }
}

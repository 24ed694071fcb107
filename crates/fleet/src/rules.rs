//! The numbers that decide, each with its reason. docs/methods/fleet.md explains them.

/// What the user decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The smallest deficit that accuses a node, as a share of the group's centre.
    pub delta: f64,
    /// The share of false ones among all accusations of a run, on average (Benjamini and Hochberg).
    pub false_discoveries: f64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { delta: 0.03, false_discoveries: 0.01 }
    }
}

/// A group of fewer nodes has no reference of its own: the median absolute deviation of 7 values is off by half.
pub const MIN_GROUP: usize = 8;

/// The smallest scale of a figure, as a share: nodes of one kind that agree better than this do so by chance, and then a harmless 1 %
/// would be many deviations.
pub const SCALE_FLOOR: f64 = 0.005;

/// Each of two clusters holds at least this share of the nodes; fewer are outliers. At least [`MIN_GROUP`] nodes too.
pub const MIN_CLUSTER: f64 = 0.10;

/// A fact separates two clusters if it predicts the cluster of at least this share of the nodes.
pub const SEPARATES: f64 = 0.95;

/// Nodes that differ from a large group in facts of software or memory, and are at most this share of it, are taken for faulty nodes
/// of that group and compared with it. More of them are a variant. Two always are few enough.
pub const ODD_SHARE: f64 = 0.01;

/// A node is disturbed if this share of its figures is: fewer leave enough to judge it by.
pub const DISTURBED_SHARE: f64 = 0.10;

/// A figure finds deficits of delta if its own standard error is at most this share of delta: five standard errors are what three
/// million tests need.
pub const ERROR_OF_DELTA: f64 = 0.2;

/// Seconds by which a node's clock may be ahead of the file's time before it is reported.
pub const CLOCK_AHEAD: f64 = 60.0;

/// Checks that show that the node was disturbed while it measured, not that the figure was taken wrongly.
pub const DISTURBANCES: &[&str] = &[
    "clock-jump",
    "foreign-load",
    "frequency",
    "interrupts",
    "involuntary-switches",
    "memory-limit",
    "placement-held",
    "quota",
    "run-queue-delay",
    "shared-cpus",
    "sibling-load",
    "steal",
    "swap",
    "thermal",
    "throttled",
    "unequal-cores",
    "uneven-cores",
];

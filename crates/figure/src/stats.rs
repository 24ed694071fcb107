//! Statistics over rounds. Pure functions; each names its source.

mod apart;
mod clusters;
mod drift;
mod interval;
mod modes;
mod order;
mod paired;
mod random;
mod share;

pub use apart::{LogRatio, holm, log_ratio, log_ratio_of_intervals};
pub use clusters::ClusterRatio;
pub use drift::{Drift, drift};
pub use interval::median_interval;
pub use modes::{Modes, modes};
pub use order::{mad, median, quantile, range};
pub use paired::{Ratio, differences, paired_ratio};
pub use random::Random;
pub use share::{count_interval, share_interval};

//! Levels that several checks share.

use crate::check::Levels;

/// Levels for lost time as a share of the figure's time. The usual target for the 95 % interval is a
/// half-width of 2 %: less than that is lost in it. At 10 % the figure is the disturbance's as much as the
/// machine's: the differences that people buy machines by are of that size. All causes and the waiting that
/// they cause share these levels, so that a cause fails whenever its consequence does.
pub const LOST_TIME: Levels = Levels { warn: 0.02, fail: 0.10 };

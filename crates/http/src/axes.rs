//! The axes of http's series.

use figure::series::AxisText;

/// Rows before columns.
pub(crate) const AXES: &[AxisText] =
    &[AxisText::of("connections", "connections"), AxisText::of("server", "server")];

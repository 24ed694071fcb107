//! The axes of alloc's series.

use figure::series::AxisText;

/// Rows before columns.
pub(crate) const AXES: &[AxisText] =
    &[AxisText::of("threads", "threads"), AxisText::of("allocator", "allocator")];

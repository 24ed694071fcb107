//! The axes of system's series.

use figure::series::AxisText;

/// Rows before columns.
pub(crate) const AXES: &[AxisText] = &[
    AxisText::of("test", "test"),
    AxisText { name: "copies", head: "copies", title: "copies at the same time" },
    AxisText::of("against", "tool"),
    AxisText { name: "program", head: "by", title: "measured by" },
    AxisText { name: "placement", head: "tasks on", title: "placement of the two tasks" },
    AxisText::of("way", "way"),
    AxisText::of("cpu_a", "CPU"),
    AxisText::of("cpu_b", "other CPU"),
    AxisText { name: "busy", head: "waker busy", title: "time that the waker stays busy" },
    AxisText::of("logical_cpu", "CPU"),
];

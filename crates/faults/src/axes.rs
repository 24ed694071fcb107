//! The axes of faults' series.

use figure::series::AxisText;

/// Rows before columns.
pub(crate) const AXES: &[AxisText] = &[
    AxisText::of("anonymous", "anonymous memory"),
    AxisText { name: "file", head: "mapped file, cached", title: "mapped file in the page cache" },
    AxisText { name: "call", head: "given back, asked for", title: "system call" },
    AxisText { name: "whole", head: "in one piece", title: "what is done in one piece" },
    AxisText::of("disk", "mapped file"),
    AxisText::of("others", "other threads running"),
    AxisText {
        name: "faulting",
        head: "first write, by threads at once",
        title: "threads that fault at once",
    },
    AxisText::of("step", "step"),
    AxisText::of("setting", "setting"),
    AxisText { name: "rank", head: "site", title: "site, the most faults first" },
];

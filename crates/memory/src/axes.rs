//! The axes of memory's series.

use figure::series::AxisText;

/// Rows before columns.
pub(crate) const AXES: &[AxisText] = &[
    AxisText { name: "array", head: "array", title: "array size" },
    AxisText::of("threads", "threads"),
    AxisText { name: "delay", head: "delay", title: "delay between the requests of a thread" },
    AxisText::of("load", "load"),
    AxisText::of("mix", "reads:writes"),
    AxisText { name: "pair", head: "CPUs", title: "pair of CPUs" },
    AxisText::of("cpu", "threads on"),
    AxisText::of("memory", "memory on"),
    AxisText { name: "offset", head: "offset", title: "offset between arrays" },
    AxisText { name: "misalignment", head: "misaligned by", title: "misalignment of vectors" },
    AxisText::of("against", "tool"),
    AxisText::of("kernel", "kernel"),
    AxisText::of("stores", "stores"),
    AxisText::of("traffic", "traffic"),
    AxisText { name: "program", head: "by", title: "measured by" },
];

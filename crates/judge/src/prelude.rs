//! What the file of a check imports: `use crate::prelude::*`.

pub(crate) use figure::{Figure, Outcome, Reading, Unit, stats};

pub(crate) use crate::cases::{Arrays, Cpus, Loads, Rounds, Texts};
pub(crate) use crate::check::{Answer, Check, Levels, observed, page};
pub(crate) use crate::subject::{
    SWITCHING, Subject, always, counts_hops, has_its_cpus, hops, is_audited, is_difference, is_load,
    measured, of_copies, of_counters, of_noise, of_work, on_arrays, pinned, prints, several_tasks,
    wants_its_cpus,
};
pub(crate) use crate::values::{
    Amount, Bytes, Count, Counted, CpuCount, CpuSet, List, Name, Number, RatioTo, Seconds, Share, Times,
};

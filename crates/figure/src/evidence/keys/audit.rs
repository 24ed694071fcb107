//! The keys of what other tools printed.

use std::marker::PhantomData;

use super::keys;
use crate::evidence::{Key, KeyInfo, Scope};

keys! {
    TOOL: String = "audit.tool", "", Condition, "The tool that printed the figure; absent where truebench measured it.";
    SUBJECT: String = "audit.subject", "", Condition, "What the text says that was measured: a URL, a system; with several files, the file; untrusted.";
    CORES: f64 = "audit.cores", "1", Condition, "Cores of the machine, as the user or a record of it says.";
    RECOMPUTED: f64 = "audit.recomputed", "", Round, "The figure again, from other numbers of the same text, in its unit.";
    ROUNDING: f64 = "audit.rounding", "1", Round, "By what share of itself the recomputed figure may be off, since numbers are printed with few digits.";
    ASKED_SECONDS: f64 = "audit.asked_seconds", "s", Round, "How long the run was to last.";
    MEAN_OVER_BEST: f64 = "audit.mean_over_best", "1", Round, "Mean time of the repetitions in a run over that of the best, which is the one that is quoted.";
    THREAD_SPREAD: f64 = "audit.thread_spread", "1", Round, "Standard deviation of what the threads did, over its mean.";
    LEFT_OUT: f64 = "audit.timeouts", "1", Round, "Requests that timed out and are in no latency of the tool.";
    OTHER_LENGTH: f64 = "audit.other_length", "1", Round, "Answers whose length was not that of the first.";
    SUBTRACTED: f64 = "audit.subtracted", "1", Round, "What was taken off as the harness's own time, as a share of all that was timed.";
    RESULTS: String = "audit.results", "", Figure, "What the tool does with its single results, by its source.";
}

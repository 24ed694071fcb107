//! The keys of what other tools printed.

use std::marker::PhantomData;

use crate::evidence::key::{Key, KeyInfo, Scope, keys};

keys! {
    TOOL: String = "audit.tool", "", Condition, "The tool that printed the figure; absent where truebench measured it.";
    SUBJECT: String = "audit.subject", "", Condition, "The subject of the measurement: a URL, a system; with several files, the file; untrusted.";
    MOMENTS: bool = "audit.moments", "", Condition, "Whether the rounds are moments of what was watched, which need not agree.";
    CORES: f64 = "audit.cores", "1", Condition, "Cores of the machine, from the user or from a record of it.";
    CPUS_SHOWN: f64 = "audit.cpus", "1", Condition, "CPUs that the run could use: by the text, a mask in its command, or --host.";
    RECOMPUTED: f64 = "audit.recomputed", "", Round, "The figure again, from other numbers of the same text, in its unit.";
    ROUNDING: f64 = "audit.rounding", "1", Round, "By what share of itself the recomputed figure may be off, since numbers are printed with few digits.";
    ASKED_SECONDS: f64 = "audit.asked_seconds", "s", Round, "How long the run was to last.";
    MEAN_OVER_BEST: f64 = "audit.mean_over_best", "1", Round, "Mean time of the repetitions in a run over that of the best, which is the one that is quoted.";
    THREAD_SPREAD: f64 = "audit.thread_spread", "1", Round, "Standard deviation of what the threads did, over its mean.";
    LEFT_OUT: f64 = "audit.timeouts", "1", Round, "Requests that timed out and are in no latency of the tool.";
    OTHER_LENGTH: f64 = "audit.other_length", "1", Round, "Answers with another length than the first.";
    SUBTRACTED: f64 = "audit.subtracted", "1", Round, "What was taken off as the harness's own time, as a share of all that was timed.";
    RESULTS: String = "audit.results", "", Figure, "What the tool does with its single results, by its source.";
    ERROR_OF_MEAN: f64 = "audit.error_of_mean", "1", Round, "What the tool prints as the error of the mean of its runs, as a share of it.";
    COUNT: f64 = "audit.count", "1", Round, "Events that were counted, scaled up by the tool where they were not counted all the time.";
    COUNTED_SHARE: f64 = "audit.counted_share", "1", Round, "Share of the time in which the events were counted; the rest is scaled up.";
    SAMPLES: f64 = "audit.samples", "1", Round, "Samples that a profile is of: its time over the profiler's period.";
    BUSY_CPUS: f64 = "audit.busy_cpus", "1", Round, "CPUs that were busy on average while a profile was taken.";
    OLD_PROFILER: bool = "audit.old_profiler", "", Figure, "Whether the profile may be of a Go before 1.18, by the names of its runtime.";
    NESTED: String = "audit.nested", "", Figure, "Functions that hold one another, each with its cumulative share; untrusted.";
    BARE_SWITCH: f64 = "audit.bare_switch", "µs", Round, "What a switch between two tasks without data takes in the same run.";
    RANDOM_LATENCY: f64 = "audit.random_latency", "ns", Round, "What a random walk through memory takes for a load in the same run.";
    UNDER_MORE_LOAD: f64 = "audit.under_more_load", "ns", Round, "The lowest latency of memory under more load in the same run.";
    UNLOADED: f64 = "audit.unloaded", "ns", Round, "The latency of memory without load in the same run.";
    DISTURBED: f64 = "audit.disturbed", "1", Round, "Share of the latencies under load of the same run that are above one under more load, where these are many.";
    GROWTH: f64 = "audit.growth", "1", Round, "The latency in the largest array over that in one of half the size.";
    CHANNELS_LOST: f64 = "audit.channels_lost", "1", Round, "Memory channels that are shown with a count below zero: they could not be read.";
    CHANNELS_SHOWN: f64 = "audit.channels_shown", "1", Figure, "Memory channels that are shown.";
    CHANNELS_FOUND: f64 = "audit.channels_found", "1", Figure, "Memory channels that the tool reports.";
    LIFETIME: bool = "audit.lifetime", "", Round, "Whether the count is of the whole life of a process, so that it is no rate.";
    COMMAND: String = "audit.command", "", Condition, "What stands before the run, where it differs between runs: a label, settings, the launcher of the program, and its options; untrusted.";
    DEPTH: f64 = "audit.depth", "1", Condition, "Requests that are sent on a connection before the first of them is answered (pipelining, streams).";
    CONNECTIONS_FROM: String = "audit.connections_from", "", Figure, "The line or the option that the number of connections is from; untrusted.";
    ADDED_SAMPLES: bool = "audit.added_samples", "", Figure, "Whether the tool adds latencies of requests that it thinks were not sent in time.";
    CONTRADICTION: String = "audit.contradiction", "", Figure, "Which printed statistics no set of samples can have together, rounding granted.";
    OVERRUN: f64 = "audit.overrun", "1", Round, "By what share of its fixed time a test lasted longer; from half on, that of the worst test of the run.";
    UNJUDGED: String = "audit.unjudged", "", Figure, "What else the tool printed in this run and truebench does not judge, and runs that could not be read; untrusted.";
    END_LOST: f64 = "audit.end_lost", "1", Round, "By what share connections seem idle since requests were under way, or sent out, at the end of a load.";
    LEAST_SECONDS: f64 = "audit.least_seconds", "s", Figure, "What a run of this kind must last: in a shorter one its start (connections, first touch, boost, clock ticks) is a large part.";
    DIGITS: f64 = "audit.digits", "1", Figure, "By what share of itself the figure may be off, since it is printed with few digits.";
    REPETITIONS: f64 = "audit.repetitions", "1", Figure, "Repetitions that the tool made itself, and summarised.";
    DEVIATION: f64 = "audit.deviation", "1", Round, "Standard deviation of the repetitions that the tool made itself, over their mean.";
    MODES: Vec<f64> = "audit.modes", "", Round, "Of repetitions that lie at two values: the lower, the higher, and the share of them at the lower.";
    OVERHEAD: String = "audit.overhead", "", Figure, "Why the harness may have taken most of the time that is printed, by the same text.";
    TOOL_BUILD: String = "audit.tool_build", "", Figure, "How the tool's own library was built, as it prints it: `debug` or `release`; untrusted.";
    SCALED: bool = "audit.frequency_scaled", "", Figure, "Whether the tool found that the clock frequency changes with the load.";
    SIDES: String = "audit.sides", "", Figure, "Of a ratio of two sets of runs: `same` where both have the name of the same code, else `other`.";
    QUEUED: f64 = "audit.queued", "1", Round, "Rate times mean latency over the requests that were to be in flight at once.";
    CACHED: String = "audit.cached", "", Figure, "Why the data did not come from the device that was to be measured, by the same text.";
}

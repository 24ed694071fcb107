//! Cases of the checks on figures that other tools printed.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Count, Counted, Number, Seconds, Share, Times, optional};

/// Cases of the checks on figures that other tools printed.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Texts {
    #[display(
        "a test of this run took {share} more than its fixed time: the CPU was withheld\n\
         $ run truebench system next to it (steal, cpu.max); on a shared host repeat at another time"
    )]
    Withheld { share: Share },
    #[display("a run of {asked} took {lasted} by its own clock\n$ run longer, with fewer threads than CPUs")]
    Lasted { asked: Seconds, lasted: Seconds },
    #[display("{reason}: no samples have both\n$ {WHOLE}")]
    Contradiction { reason: String },
    #[display(
        "{printed} is printed; its counts and times give {again}, {share} apart beyond rounding\n$ {WHOLE}"
    )]
    Recomputed { printed: Amount, again: Amount, share: Share },
    #[display("{threads} ran on {cpus}\n$ give each thread a CPU of its own")]
    ThreadsTookTurns { threads: Counted, cpus: Counted },
    #[display(
        "{threads}{}{}\n$ pin the threads, one a core, or a multiple of the cores; see what else ran",
        optional(" on ", cores, ""),
        optional("; their work differs by ", spread, " of its mean")
    )]
    Threads { threads: Counted, cores: Option<Counted>, spread: Option<Share> },
    #[display("{share} of the answers differ in length from the first\n$ compare two: curl -i URL; or ab -l")]
    OtherLengths { share: Share },
    #[display(
        "{recorded} latencies of {answers}: {share} are missing{}\n\
         $ ask for fewer requests than the tool keeps, or use a tool that keeps all: truebench http load",
        optional(" (", cause, ")")
    )]
    Recorded { recorded: Count, answers: Counted, share: Share, cause: Option<String> },
    #[display(
        "{requests} timed out, {share} of all, and are in no latency{}\n\
         $ allow more time (--timeout), or use a tool that counts timeouts at their full age: truebench http load",
        optional(" (", cause, ")")
    )]
    TimedOut { requests: Counted, share: Share, cause: Option<String> },
    #[display("{count} more in {seconds}")]
    CountBetween { count: Count, seconds: Seconds },
    #[display("counted {share} of the time\n$ count fewer events, or in groups; stop other counter users")]
    CountedShare { share: Share },
    #[display(
        "{}{}\n$ {}",
        samples.map_or("all samples together".into(), |samples| format!("{samples}: a share errs by {error}")),
        optional("; Go before 1.19: before 1.18 samples of ", busy, " busy CPUs were lost (golang/go#35057)"),
        match busy {
            Some(_) => "build the program with a current Go, and profile it again",
            None => "profile for longer, or under more load",
        }
    )]
    Samples { samples: Option<Counted>, error: Share, busy: Option<Number> },
    #[display("{lost} below zero: not read, not in the sum\n$ stop other users of counters; run pcm as root")]
    ChannelsLost { lost: Counted },
    #[display("{shown} shown{}, none below zero", optional(" of ", found, ""))]
    ChannelsShown { shown: Counted, found: Option<Count> },
    #[display("{latency}, and {random} in random order\n$ {RANDOM}")]
    RandomOrder { latency: Amount, random: Amount },
    #[display("{latency} in an array of {times} the caches: memory takes {least} or more\n$ {RANDOM}")]
    Prefetched { latency: Amount, times: Times, least: Amount },
    #[display("an array of half the size has {share} less: the curve still rises\n$ {RANDOM}")]
    Rising { share: Share },
    #[display("{latency} in an array of {times} the caches; an array of half the size has {share} less")]
    Plateau { latency: Amount, times: Times, share: Share },
    #[display("a switch with data takes {with_data}, one without {bare}\n$ run lat_ctx with a larger -N")]
    SwitchSizes { with_data: Seconds, bare: Seconds },
    #[display("all tasks are bound: {place}")]
    TasksBound { place: String },
    #[display(
        "of a round trip of {trip} two passes through a pipe take {passes}, and the two switches {switch} each: {share}\n$ {BIND}"
    )]
    RoundTrip { trip: Seconds, passes: Seconds, switch: Seconds, share: Share },
    #[display(
        "the text does not say whether the two tasks shared a CPU, which changes the figure up to 5x\n$ {BIND}"
    )]
    PlacementUnknown,
    #[display("the harness took {share} of the time, which is subtracted\n$ run both more often, in turn")]
    Subtracted { share: Share },
    #[display(
        "{}\n$ pin the threads, use larger arrays, and repeat whole runs until the median is stable",
        repetitions(within, error, runs)
    )]
    Repeats { within: Option<Share>, error: Option<Share>, runs: Option<Runs> },
}

const WHOLE: &str =
    "use the tool's own text, whole and of one run; if it is, one of these numbers is of something else";
const RANDOM: &str = "walk in random order through four times the caches or more, on huge pages without page walks: lat_mem_rd -t";
const BIND: &str =
    "bind the tasks to one CPU, then to two: truebench system switch, or taskset -c 0 and -c 0,1";

fn repetitions(within: &Option<Share>, error: &Option<Share>, runs: &Option<Runs>) -> String {
    let mut known = vec![
        optional("the mean repetition takes ", within, " more than the best"),
        optional("error of the mean ±", error, ""),
        optional("", runs, ""),
    ];
    known.retain(|known| !known.is_empty());
    known.join("; ")
}

/// Runs of the same in one text.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{runs} from {low} to {high}, {share} apart")]
pub struct Runs {
    pub runs: Counted,
    pub low: Number,
    pub high: Amount,
    pub share: Share,
}

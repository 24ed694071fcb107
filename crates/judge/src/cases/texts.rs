//! Cases of the checks on figures that other tools printed.

use super::case::*;

#[derive(Wording)]
pub enum Texts {
    #[claim("a test of this run took {share} more than its fixed time: the CPU was withheld")]
    #[fix("run truebench system next to it (steal, cpu.max); on a shared host repeat at another time")]
    Withheld { share: Share },
    #[claim("a run of {asked} took {lasted} by its own clock")]
    #[fix("run longer, with fewer threads than CPUs")]
    Lasted { asked: Seconds, lasted: Seconds },
    #[claim(
        "the run lasted {lasted}; {least} or more keep its start (connections, first touch, boost) out of the figure"
    )]
    #[fix("run longer")]
    Brief { lasted: Seconds, least: Seconds },
    #[claim("its end took {share} of the connections' time: it lasted {times} the mean latency")]
    #[fix("run for 20 times the mean latency or more")]
    End { share: Share, times: Times },
    #[claim("printed with so few digits that it may be {share} off")]
    #[fix("have the tool print more digits (JSON, CSV), or a smaller unit")]
    Digits { share: Share },
    #[claim("{reason}")]
    #[fix("{WHOLE}")]
    Contradiction { reason: String },
    #[claim("{printed} is printed; its counts and times give {again}, {share} apart beyond rounding")]
    #[fix("{WHOLE}")]
    Recomputed { printed: Amount, again: Amount, share: Share },
    #[claim("{threads} ran on {cpus}")]
    #[fix("give each thread a CPU of its own")]
    ThreadsTookTurns { threads: Counted, cpus: Counted },
    #[claim("{threads}")]
    #[claim(cores => " on {cores}")]
    #[claim(cpus => ", by turns on {cpus}")]
    #[claim(spread => "; their work differs by {spread} of its mean")]
    #[fix("pin the threads, one a core, or a multiple of the cores; see what else ran")]
    Threads { threads: Counted, cores: Option<Counted>, cpus: Option<Counted>, spread: Option<Share> },
    #[claim("{copies} copies do {gain} as much as one{}", optional(" on ", cpus, ""))]
    #[claim(beyond => ": more than there are CPUs for")]
    #[fix("see cpu.max and taskset -p, and run both again in turn")]
    Gain { gain: Times, copies: Count, cpus: Option<Counted>, beyond: bool },
    #[claim("{share} of the answers differ in length from the first")]
    #[fix("compare two: curl -i URL; or ab -l")]
    OtherLengths { share: Share },
    #[claim("{recorded} latencies of {answers}: {share} are missing{}", optional(" (", cause, ")"))]
    #[fix("ask for fewer requests than the tool keeps, or use a tool that keeps all: truebench http load")]
    Recorded { recorded: Count, answers: Counted, share: Share, cause: Option<String> },
    #[claim("{requests} timed out, {share} of all, and are in no latency{}", optional(" (", cause, ")"))]
    #[fix(
        "allow more time (--timeout), or use a tool that counts timeouts at their full age: truebench http \
         load"
    )]
    TimedOut { requests: Counted, share: Share, cause: Option<String> },
    #[claim("{count} more in {seconds}")]
    CountBetween { count: Count, seconds: Seconds },
    #[claim("counted {share} of the time")]
    #[fix("count fewer events, or in groups; stop other counter users")]
    CountedShare { share: Share },
    #[claim(samples => "{samples}: a share errs by {error}")]
    #[claim(!samples => "all samples together")]
    #[claim(busy => "; Go before 1.19: before 1.18 samples of {busy} busy CPUs were lost (golang/go#35057)")]
    #[fix(busy => "build the program with a current Go, and profile it again")]
    #[fix(!busy => "profile for longer, or under more load")]
    Samples { samples: Option<Counted>, error: Share, busy: Option<Number> },
    #[claim("{lost} below zero: not read, not in the sum")]
    #[fix("stop other users of counters; run pcm as root")]
    ChannelsLost { lost: Counted },
    #[claim("{shown} shown{}, none below zero", optional(" of ", found, ""))]
    ChannelsShown { shown: Counted, found: Option<Count> },
    #[claim("{latency}, and {random} in random order")]
    #[fix("{RANDOM}")]
    RandomOrder { latency: Amount, random: Amount },
    #[claim("{latency} in an array of {times} the caches: memory takes {least} or more")]
    #[fix("{RANDOM}")]
    Prefetched { latency: Amount, times: Times, least: Amount },
    #[claim("an array of half the size has {share} less: the curve still rises")]
    #[fix("{RANDOM}")]
    Rising { share: Share },
    #[claim("{latency} in an array of {times} the caches; an array of half the size has {share} less")]
    Plateau { latency: Amount, times: Times, share: Share },
    #[claim("{latency}, and {other} under more load")]
    #[fix("{IDLE}")]
    UnderMoreLoad { latency: Amount, other: Amount },
    #[claim("{latency} under load, and {idle} without")]
    #[fix("{IDLE}")]
    Unloaded { latency: Amount, idle: Amount },
    #[claim("{share} of the latencies of this run are above one under more load: it was disturbed")]
    #[fix("{IDLE}")]
    DisturbedRun { share: Share },
    #[claim("a switch with data takes {with_data}, one without {bare}")]
    #[fix("run lat_ctx with a larger -N")]
    SwitchSizes { with_data: Seconds, bare: Seconds },
    #[claim("all tasks are bound: {place}")]
    TasksBound { place: String },
    #[claim(
        "of a round trip of {trip} two passes through a pipe take {passes}, and the two switches {switch} \
         each: {share}"
    )]
    #[fix("{BIND}")]
    RoundTrip { trip: Seconds, passes: Seconds, switch: Seconds, share: Share },
    #[claim("the text does not say whether the two tasks shared a CPU, which changes the figure up to 5x")]
    #[fix("{BIND}")]
    PlacementUnknown,
    #[claim("the harness took {share} of the time, which is subtracted")]
    #[fix("run both more often, in turn")]
    Subtracted { share: Share },
    #[claim("{reason}")]
    #[fix("do more in each operation, and keep its result in use (black_box, DoNotOptimize); hyperfine -N")]
    Harness { reason: String },
    #[claim("{}", repetitions(within, deviation, error, runs))]
    #[fix("repeat whole runs until the median is stable; pin the threads, and for memory use larger arrays")]
    Repeats { within: Option<Share>, deviation: Option<Share>, error: Option<Share>, runs: Option<Runs> },
    #[claim("the tool's own library is a {build} build")]
    #[fix("build it for release: CMAKE_BUILD_TYPE=Release, or the package of the distribution")]
    LibraryBuild { build: String },
    #[claim("the tool found {}", if *scaled { "a clock that is scaled with the load" } else { "no clock that is scaled with the load" })]
    #[fix("cpupower frequency-set -g performance (as root), and repeat")]
    Scaled { scaled: bool },
    #[claim("by their names both sides are the same code, and differ by {change}: that much is drift")]
    #[fix("run both in turn, and compare pairs: go test -c, then A B A B …; truebench compare")]
    SameCode { change: Share },
    #[claim("a difference of {change} is more than drift between two sets of runs")]
    FarApart { change: Share },
    #[claim("rate times mean latency is {busy} of{}", optional(" ", depth, " that were to be in flight"))]
    #[fix(
        "use asynchronous, direct I/O (ioengine=io_uring, direct=1), or read it as of the depth that there was"
    )]
    Queue { busy: Share, depth: Option<Counted> },
    #[claim("{reason}")]
    #[fix("direct=1 and a file of several times the memory: then the device answers")]
    Cached { reason: String },
}

const WHOLE: &str =
    "use the tool's own text, whole and of one run; if it is, one of these numbers is of something else";
const RANDOM: &str = "walk in random order through four times the caches or more, on huge pages without page walks: lat_mem_rd -t";
const IDLE: &str = "repeat it on an idle machine with a fixed clock, until the latency falls with the load";
const BIND: &str =
    "bind the tasks to one CPU, then to two: truebench system switch, or taskset -c 0 and -c 0,1";

fn repetitions(
    within: &Option<Share>,
    deviation: &Option<Share>,
    error: &Option<Share>,
    runs: &Option<Runs>,
) -> String {
    let mut parts = vec![
        optional("the mean repetition takes ", within, " more than the best"),
        optional("standard deviation of the repetitions ", deviation, ""),
        optional("error of the mean ±", error, ""),
        optional("", runs, ""),
    ];
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
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

//! Two worked examples of each command. Help and manual pages print them, `docs/commands.md` lists them,
//! and a test parses each.

/// A command line, and what it is for.
#[derive(Clone, Debug)]
pub struct Example {
    /// What is typed.
    pub line: String,
    /// What it answers or does.
    pub purpose: &'static str,
}

/// The examples of the command at a path such as `memory mix`; none of an unknown one.
pub fn of(path: &str) -> Vec<Example> {
    let entry = EXAMPLES.iter().find(|(known, _)| *known == path);
    let examples = entry.into_iter().flat_map(|(_, examples)| examples);
    examples
        .map(|&(arguments, purpose)| {
            let words = ["truebench", path, arguments].into_iter().filter(|word| !word.is_empty());
            Example { line: words.collect::<Vec<_>>().join(" "), purpose }
        })
        .collect()
}

/// Arguments and purpose of two examples, by path, in the order of the commands. The empty path is truebench
/// itself.
pub const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "",
        [
            ("host", "This machine, and what may mislead a benchmark on it"),
            ("run --quick", "All suites in four minutes: one record, one report"),
        ],
    ),
    (
        "run",
        [
            ("memory system -o before", "Two suites; record and report go to the directory before"),
            ("--resume before", "Go on with a run that ended early"),
        ],
    ),
    (
        "host",
        [
            ("--dimms 12x2666", "With the peak of memory modules that the machine does not show"),
            ("--capture machine.tar.zst", "Save what describes the machine, for a bug report"),
        ],
    ),
    (
        "memory",
        [
            ("--quick", "Bandwidth of all kernels in a minute"),
            ("--kernel triad --stores nt --rounds 12", "One kernel, one kind of stores, exactly 12 rounds"),
        ],
    ),
    (
        "memory bandwidth",
        [
            ("--threads 1 --places 2", "What one thread on CPU 2 gets"),
            ("--format stream", "STREAM's own table, for a parser that knows it"),
        ],
    ),
    (
        "memory mix",
        [("", "All mixes"), ("--nodes 1 --mix 2:1,1:1", "Two of them, in the memory of NUMA node 1 alone")],
    ),
    (
        "memory scaling",
        [
            ("", "From how many threads on bandwidth grows no more"),
            ("--schedule static -o scaling.svg", "The curves, with equal shares for all threads"),
        ],
    ),
    (
        "memory ladder",
        [
            ("", "Read bandwidth by size on all cores, and where caches end"),
            ("--sizes 16K..64M --threads 1", "The caches that one thread uses"),
        ],
    ),
    (
        "memory latency",
        [
            ("", "Latency of each cache and of memory"),
            ("--sizes 1G..1G --pages thp", "One size, on huge pages"),
        ],
    ),
    (
        "memory loaded",
        [
            ("", "How latency grows with bandwidth"),
            ("--mix all -o curves.html", "The curves of all mixes, drawn, and where each saturates"),
        ],
    ),
    (
        "memory alignment",
        [
            ("", "What misaligned arrays cost, in L1 and in memory"),
            ("--kernel copy --stores nt", "One kernel alone"),
        ],
    ),
    (
        "memory c2c",
        [
            ("", "What it costs to read a line from another core's cache"),
            ("--places 0-3", "Among the first four CPUs"),
        ],
    ),
    (
        "memory numa",
        [
            ("", "Bandwidth and latency between all nodes"),
            ("--nodes 0-1 --format markdown", "Two nodes, as a table for a page"),
        ],
    ),
    (
        "memory counters",
        [
            ("", "Whether copy and triad move what they should"),
            ("--kernel copy --stores nt", "The traffic of one kernel"),
        ],
    ),
    (
        "memory cross-check",
        [
            ("", "Every tool that is on PATH, in turn with truebench"),
            ("--kernel triad --threads 2", "One kernel on two threads"),
        ],
    ),
    (
        "memory all",
        [
            ("--quick", "Every mode, in short rounds"),
            ("--only latency,c2c -o latency.json", "Two modes in one record"),
        ],
    ),
    (
        "memory inspect",
        [
            ("./stream", "Which stores a compiler made, and what that means for the figures"),
            ("./stream --format json", "The same for a program"),
        ],
    ),
    (
        "system",
        [
            ("--quick", "UnixBench's twelve tests in two minutes"),
            ("pipe syscall -c 1", "Two tests, one copy of each"),
        ],
    ),
    (
        "system index",
        [
            ("--unixbench", "UnixBench's own durations, passes and score"),
            ("fs --dir .", "The file copies, on the file system of this directory"),
        ],
    ),
    (
        "system switch",
        [
            ("", "What a context switch costs on one CPU, on two, and free to move"),
            ("--duration 500ms --rounds 12", "Longer passes, exactly 12 rounds"),
        ],
    ),
    (
        "system cores",
        [("", "Whether the advertised topology is the real one"), ("-o cores.svg", "The matrix, drawn")],
    ),
    (
        "system noise",
        [
            ("", "How much time other tasks, interrupts and the hypervisor take"),
            ("--duration 10s --strict", "Longer samples; exit code 3 unless all is valid"),
        ],
    ),
    ("system copies", [("", "How all tests scale"), ("syscall pipe --quick", "How two of them scale")]),
    (
        "system cross-check",
        [
            ("--with ~/UnixBench", "The ratio of each test to UnixBench's own program"),
            ("pipe --with ~/UnixBench", "Of one test"),
        ],
    ),
    (
        "system all",
        [
            ("--quick", "Every mode, in short rounds"),
            ("--only switch,noise -o quiet.json", "Two modes in one record"),
        ],
    ),
    (
        "alloc",
        [
            ("--quick", "All that are installed, in 90 seconds"),
            ("glibc jemalloc -t 1 -t 4", "Two allocators, with one thread and with four"),
        ],
    ),
    (
        "alloc load",
        [
            ("mine=/path/lib.so glibc", "An allocator of yours against the C library's"),
            ("--profile app.alloc.csv", "Under a load that alloc record made"),
        ],
    ),
    (
        "alloc list",
        [("", "What is installed, and where to get the rest"), ("| grep jemalloc", "One of them")],
    ),
    (
        "alloc try",
        [
            ("-- ./app --once", "Your program under every allocator that is installed"),
            ("glibc mimalloc --rounds 12 -- ./app", "Under two of them, 12 times each"),
        ],
    ),
    (
        "alloc record",
        [
            ("-- ./app", "Its profile, in app.alloc.csv"),
            ("-q -o app.csv -- ./app", "In a file that you name, without a word"),
        ],
    ),
    (
        "faults",
        [
            ("-- ./app", "What its page faults cost, and where they come from"),
            ("--prove -- ./app", "Which setting against them helps, proved"),
        ],
    ),
    (
        "faults watch",
        [
            ("-p 1234 -d 30s", "A process that runs, for half a minute"),
            ("--export pprof -- ./app", "The stacks too, for go tool pprof"),
        ],
    ),
    (
        "faults demo",
        [
            ("", "A server that faults more than 10 000 times a second"),
            ("--list", "All programs, and what each does"),
        ],
    ),
    ("faults prices", [("", "All prices"), ("minor huge", "Those of two kinds")]),
    (
        "faults walk",
        [
            ("", "When malloc takes memory, and when it gives it back"),
            ("--format markdown", "As a table for a page"),
        ],
    ),
    (
        "http",
        [
            ("--quick", "Three servers at three numbers of connections, in three minutes"),
            ("--servers nethttp,fasthttp -c 200", "Two of them at 200 connections"),
        ],
    ),
    (
        "http study",
        [
            ("--slo 'p99<5ms'", "The largest rate that holds a latency"),
            ("--remote 10.0.0.2:7411", "Servers on another machine, where http serve runs"),
        ],
    ),
    (
        "http load",
        [
            ("--url http://127.0.0.1:8080/ -c 200 -d 30s", "How much your server serves, saturated"),
            ("--url http://127.0.0.1:8080/ -R 2000", "Its latency at 2000 requests a second"),
        ],
    ),
    ("http list", [("", "The servers, and their modules"), ("| grep fast", "One of them")]),
    (
        "http null",
        [
            ("--bind 127.0.0.1:8080", "A server that is never the limit of a client"),
            ("--stall 100ms/1s", "One that stands still for 100 ms of every second"),
        ],
    ),
    (
        "http serve",
        [
            ("--bind 10.0.0.2", "An agent; it prints the command for the other machine"),
            ("fasthttp --bind 10.0.0.2", "An agent for one server"),
        ],
    ),
    (
        "selftest",
        [
            ("", "As many defects as three minutes allow"),
            ("memory/hog --repeat 3", "One defect, three times"),
        ],
    ),
    (
        "compare",
        [
            ("before.json after.json", "What is faster, slower or the same"),
            ("--baseline main.json pr.json", "For CI: exit code 3 if anything is slower"),
        ],
    ),
    (
        "fleet",
        [
            ("run --engine slurm -o results", "Measure every node, one exclusive job for each"),
            ("check results", "Which nodes are slow, of the records below a directory"),
        ],
    ),
    (
        "fleet run",
        [
            (
                "--engine slurm --partition compute --tier 60s --budget 20nh -o results",
                "Idle nodes first; a run that ends early goes on with --resume results",
            ),
            (
                "--engine ssh --nodes rack[01-04]n[1-16] --tier 15s -o results",
                "By your own ssh, 64 at a time",
            ),
        ],
    ),
    (
        "fleet status",
        [("results", "Counts and reasons"), ("results --format json", "The state of every node")],
    ),
    (
        "fleet confirm",
        [
            ("results", "Is it the node? With as many controls, before one is drained"),
            ("results --window 8", "Eight nodes at a time"),
        ],
    ),
    (
        "fleet drain",
        [
            ("results --dry-run", "The scontrol or kubectl lines for the confirmed slow nodes"),
            ("results --undo", "Return nodes that are healthy again and that truebench took out"),
        ],
    ),
    (
        "fleet measure",
        [
            ("--tier 15s --into /shared/epilog", "For an epilog or a health check of any scheduler"),
            ("--tier 4m --dry-run", "What the weekly screen measures here"),
        ],
    ),
    (
        "fleet check",
        [
            ("results --baseline base.json -o fleet.html", "Against a baseline; one page with a heat map"),
            ("results --table rows.csv.zst", "With a row for each node and figure, for DuckDB or polars"),
        ],
    ),
    (
        "fleet baseline",
        [
            ("results -o base.json", "From the records of healthy nodes"),
            ("results/rack1 results/rack2 -o base.json", "From some of them"),
        ],
    ),
    (
        "fleet simulate",
        [
            ("record.json --nodes 10000", "Slow parts in 1 % of the nodes, by 5 % at 1 % noise"),
            (
                "record.json --bad 60% --disturbed 10%",
                "More bad nodes than good ones, with and without a baseline",
            ),
        ],
    ),
    (
        "audit",
        [
            ("stream.txt --llc 33M", "What STREAM printed, judged"),
            ("--host host.json wrk.txt", "What wrk printed on a machine that you have a record of"),
        ],
    ),
    (
        "report",
        [
            ("record.json -o report.html", "One page with charts and every sample"),
            ("record.json --redact --format markdown", "A table to send, without names and addresses"),
        ],
    ),
    (
        "explain",
        [("steal", "What a check asks, and how it decides"), ("write-allocate", "What a term means")],
    ),
    ("schema", [("", "The JSON Schema of a record"), ("comparison", "That of what compare writes")]),
    (
        "completions",
        [
            ("bash", "The script for bash; source it, or put it where bash-completion looks"),
            ("fish", "The script for fish"),
        ],
    ),
    (
        "man",
        [
            ("memory mix", "The page of one mode, as troff: pipe it into man -l -"),
            ("-o man1", "All pages, into a directory"),
        ],
    ),
];

//! Two worked examples of each command. Help and manual pages print them, `docs/commands.md` lists them, and a test parses each.

/// A command line, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What is typed.
    pub line: &'static str,
    /// What it answers or does.
    pub purpose: &'static str,
}

/// The examples of the command at a path such as `memory mix`; none of an unknown one.
pub fn of(path: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(of, _)| *of == path).map_or(&[], |(_, examples)| examples)
}

const fn example(line: &'static str, purpose: &'static str) -> Example {
    Example { line, purpose }
}

/// By path, in the order of the commands. The empty path is truebench itself.
pub const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "",
        [
            example("truebench host", "This machine, and what may mislead a benchmark on it"),
            example("truebench run --quick", "All suites in four minutes: one record, one report"),
        ],
    ),
    (
        "run",
        [
            example("truebench run memory system -o before", "Two suites; record and report go to the directory before"),
            example("truebench run --resume before", "Go on with a run that ended early"),
        ],
    ),
    (
        "host",
        [
            example("truebench host --dimms 12x2666", "With the peak of memory modules that the machine does not show"),
            example("truebench host --capture machine.tar.zst", "Save what describes the machine, for a bug report"),
        ],
    ),
    (
        "memory",
        [
            example("truebench memory --quick", "Bandwidth of all kernels in a minute"),
            example("truebench memory --kernel triad --stores nt --rounds 12", "One kernel, one kind of stores, exactly 12 rounds"),
        ],
    ),
    (
        "memory bandwidth",
        [
            example("truebench memory bandwidth --threads 1 --places 2", "What one thread on CPU 2 gets"),
            example("truebench memory bandwidth --format stream", "STREAM's own table, for a parser that knows it"),
        ],
    ),
    (
        "memory mix",
        [
            example("truebench memory mix", "All mixes"),
            example("truebench memory mix --mix 2:1,1:1 --format csv", "Two of them, as CSV"),
        ],
    ),
    (
        "memory scaling",
        [
            example("truebench memory scaling", "From how many threads on bandwidth grows no more"),
            example("truebench memory scaling --schedule static -o scaling.svg", "The curves, with equal shares for all threads"),
        ],
    ),
    (
        "memory ladder",
        [
            example("truebench memory ladder", "Read bandwidth by size on all cores, and where caches end"),
            example("truebench memory ladder --sizes 16K..64M --threads 1", "The caches that one thread uses"),
        ],
    ),
    (
        "memory latency",
        [
            example("truebench memory latency", "Latency of each cache and of memory"),
            example("truebench memory latency --sizes 1G..1G --pages thp", "One size, on huge pages"),
        ],
    ),
    (
        "memory loaded",
        [
            example("truebench memory loaded", "How latency grows with bandwidth"),
            example("truebench memory loaded --mix 2:1 --format svg", "The curve under reads and writes"),
        ],
    ),
    (
        "memory alignment",
        [
            example("truebench memory alignment", "What misaligned arrays cost, in L1 and in memory"),
            example("truebench memory alignment --kernel copy --stores nt", "One kernel alone"),
        ],
    ),
    (
        "memory c2c",
        [
            example("truebench memory c2c", "What it costs to read a line from another core's cache"),
            example("truebench memory c2c --places 0-3", "Among the first four CPUs"),
        ],
    ),
    (
        "memory numa",
        [
            example("truebench memory numa", "Bandwidth and latency between all nodes"),
            example("truebench memory numa --nodes 0-1 --format markdown", "Two nodes, as a table for a page"),
        ],
    ),
    (
        "memory counters",
        [
            example("truebench memory counters", "Whether copy and triad move what they should"),
            example("truebench memory counters --kernel copy --stores nt", "The traffic of one kernel"),
        ],
    ),
    (
        "memory cross-check",
        [
            example("truebench memory cross-check", "Every tool that is on PATH, in turn with truebench"),
            example("truebench memory cross-check --kernel triad --threads 2", "One kernel on two threads"),
        ],
    ),
    (
        "memory all",
        [
            example("truebench memory all --quick", "Every mode, in short rounds"),
            example("truebench memory all --only latency,c2c -o latency.json", "Two modes in one record"),
        ],
    ),
    (
        "memory inspect",
        [
            example("truebench memory inspect ./stream", "Which stores a compiler made, and what that means for the figures"),
            example("truebench memory inspect ./stream --format json", "The same for a program"),
        ],
    ),
    (
        "system",
        [
            example("truebench system --quick", "UnixBench's twelve tests in two minutes"),
            example("truebench system pipe syscall -c 1", "Two tests, one copy of each"),
        ],
    ),
    (
        "system index",
        [
            example("truebench system index --unixbench", "UnixBench's own durations, passes and score"),
            example("truebench system index fs --dir .", "The file copies, on the file system of this directory"),
        ],
    ),
    (
        "system switch",
        [
            example("truebench system switch", "What a context switch costs on one CPU, on two, and free to move"),
            example("truebench system switch --duration 500ms --rounds 12", "Longer passes, exactly 12 rounds"),
        ],
    ),
    (
        "system cores",
        [
            example("truebench system cores", "Whether the advertised topology is the real one"),
            example("truebench system cores -o cores.svg", "The matrix, drawn"),
        ],
    ),
    (
        "system noise",
        [
            example("truebench system noise", "How much time other tasks, interrupts and the hypervisor take"),
            example("truebench system noise --duration 10s --strict", "Longer looks; exit code 3 unless all is valid"),
        ],
    ),
    (
        "system copies",
        [
            example("truebench system copies", "How all tests scale"),
            example("truebench system copies syscall pipe --quick", "How two of them scale"),
        ],
    ),
    (
        "system cross-check",
        [
            example("truebench system cross-check --with ~/UnixBench", "The ratio of each test to UnixBench's own program"),
            example("truebench system cross-check pipe --with ~/UnixBench", "Of one test"),
        ],
    ),
    (
        "system all",
        [
            example("truebench system all --quick", "Every mode, in short rounds"),
            example("truebench system all --only switch,noise -o quiet.json", "Two modes in one record"),
        ],
    ),
    (
        "alloc",
        [
            example("truebench alloc --quick", "All that are installed, in 90 seconds"),
            example("truebench alloc glibc jemalloc -t 1 -t 4", "Two allocators, with one thread and with four"),
        ],
    ),
    (
        "alloc load",
        [
            example("truebench alloc load mine=/path/lib.so glibc", "An allocator of yours against the C library's"),
            example("truebench alloc load --profile app.alloc.csv", "Under a load that alloc record made"),
        ],
    ),
    (
        "alloc list",
        [
            example("truebench alloc list", "What is installed, and where to get the rest"),
            example("truebench alloc list | grep jemalloc", "One of them"),
        ],
    ),
    (
        "alloc try",
        [
            example("truebench alloc try -- ./app --once", "Your program under every allocator that is installed"),
            example("truebench alloc try glibc mimalloc --rounds 12 -- ./app", "Under two of them, 12 times each"),
        ],
    ),
    (
        "alloc record",
        [
            example("truebench alloc record -- ./app", "Its profile, in app.alloc.csv"),
            example("truebench alloc record -q -o app.csv -- ./app", "In a file that you name, without a word"),
        ],
    ),
    (
        "faults",
        [
            example("truebench faults -- ./app", "What its page faults cost, and where they come from"),
            example("truebench faults --prove -- ./app", "Which lever against them helps, proved"),
        ],
    ),
    (
        "faults watch",
        [
            example("truebench faults watch -p 1234 -d 30s", "A process that runs, for half a minute"),
            example("truebench faults watch --export pprof -- ./app", "The stacks too, for go tool pprof"),
        ],
    ),
    (
        "faults demo",
        [
            example("truebench faults demo", "A server that faults more than 10 000 times a second"),
            example("truebench faults demo --list", "All programs, and what each does"),
        ],
    ),
    (
        "faults prices",
        [
            example("truebench faults prices", "All prices"),
            example("truebench faults prices minor huge", "Those of two kinds"),
        ],
    ),
    (
        "faults walk",
        [
            example("truebench faults walk", "When malloc takes memory, and when it gives it back"),
            example("truebench faults walk --format markdown", "As a table for a page"),
        ],
    ),
    (
        "http",
        [
            example("truebench http --quick", "Three servers at three numbers of connections, in three minutes"),
            example("truebench http --servers nethttp,fasthttp -c 200", "Two of them at 200 connections"),
        ],
    ),
    (
        "http study",
        [
            example("truebench http study --slo 'p99<5ms'", "The largest rate that holds a latency"),
            example("truebench http study --remote 10.0.0.2:7411", "Servers on another machine, where http serve runs"),
        ],
    ),
    (
        "http load",
        [
            example("truebench http load --url http://127.0.0.1:8080/ -c 200 -d 30s", "How much your server serves, saturated"),
            example("truebench http load --url http://127.0.0.1:8080/ -R 2000", "Its latency at 2000 requests a second"),
        ],
    ),
    (
        "http list",
        [
            example("truebench http list", "The servers, and what they are made of"),
            example("truebench http list | grep fast", "One of them"),
        ],
    ),
    (
        "http null",
        [
            example("truebench http null --bind 127.0.0.1:8080", "A server that is never the limit of a client"),
            example("truebench http null --stall 100ms/1s", "One that stands still for 100 ms of every second"),
        ],
    ),
    (
        "http serve",
        [
            example("truebench http serve --bind 10.0.0.2", "An agent; it prints the command for the other machine"),
            example("truebench http serve fasthttp --bind 10.0.0.2", "An agent for one server"),
        ],
    ),
    (
        "selftest",
        [
            example("truebench selftest", "As many defects as three minutes allow"),
            example("truebench selftest memory/hog --repeat 3", "One defect, three times"),
        ],
    ),
    (
        "compare",
        [
            example("truebench compare before.json after.json", "What is faster, slower or the same"),
            example("truebench compare --baseline main.json pr.json", "For CI: exit code 3 if anything is slower"),
        ],
    ),
    (
        "audit",
        [
            example("truebench audit stream.txt --llc 33M", "What STREAM printed, judged"),
            example("truebench audit --host host.json wrk.txt", "What wrk printed on a machine whose record you have"),
        ],
    ),
    (
        "report",
        [
            example("truebench report record.json -o report.html", "One page with charts and every sample"),
            example("truebench report record.json --redact --format markdown", "A table to send, without names and addresses"),
        ],
    ),
    (
        "explain",
        [
            example("truebench explain steal", "What a check asks, and how it decides"),
            example("truebench explain write-allocate", "What a term means"),
        ],
    ),
    (
        "schema",
        [
            example("truebench schema", "The JSON Schema of a record"),
            example("truebench schema comparison", "That of what compare writes"),
        ],
    ),
    (
        "completions",
        [
            example("truebench completions bash", "The script for bash; source it, or put it where bash-completion looks"),
            example("truebench completions fish", "The script for fish"),
        ],
    ),
    (
        "man",
        [
            example("truebench man memory mix", "The page of one mode, as troff: pipe it into man -l -"),
            example("truebench man -o man1", "All pages, into a directory"),
        ],
    ),
];

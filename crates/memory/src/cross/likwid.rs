//! likwid-bench (RRZE-HPC/likwid, bench/likwid-bench.c): kernels in assembly, one mean over its repetitions.
//!
//! `-W N:SIZE:THREADS` lets each thread touch its part first; likwid sees the CPUs of its affinity mask only,
//! so that domain N is the CPUs in use. SIZE is of all streams together, in decimal units. It counts bytes as
//! STREAM does: what a kernel's source names (maintainer in likwid #262).

use figure::Convention;

use super::tool::{
    Output, Point, Run, RunRequest, Statistic, Tool, ToolReport, behind, gigabytes, positive, sound,
};
use crate::bandwidth::plan::Code;
use crate::kernels::{ELEMENT, Kernel, Stores};
use crate::pages::Pages;
use crate::simd::Simd;
use lab::failure::Failure;

pub(super) static TOOL: Tool = Tool {
    name: "likwid-bench",
    binaries: &["likwid-bench"],
    convention: Convention::StreamCounted,
    statistic: Statistic::Mean,
    pages: &[Pages::Default, Pages::Small],
    takes_size: true,
    // 5.2 refuses 2^31 B and takes 2^32 B more or less for the same.
    most_bytes: Some(i32::MAX as u64),
    kernels: &["triad"],
    runs,
    read,
};

/// Seconds that a run lasts at least (`-s`), and at least ten repetitions: enough for ticks of 10 ms.
const SECONDS: u64 = 1;

/// likwid's tests that match kernels of truebench: its name without the instruction set, and that of the
/// version with non-temporal stores. Its `triad` has four arrays; `stream` is STREAM's Triad.
const TESTS: &[(&str, &str, Option<&str>)] = &[
    ("copy", "copy", Some("copy_mem")),
    ("triad", "stream", Some("stream_mem")),
    ("read", "load", None),
    ("write", "store", Some("store_mem")),
    ("update", "update", None),
];

fn runs(request: &RunRequest) -> Result<Vec<Run>, Failure> {
    let cpus = request.cpus()?;
    // On Arm its plain tests are scalar or NEON without a suffix, and none has non-temporal stores.
    let (suffix, has_nt) = match request.simd {
        Simd::Avx512 => ("_avx512", true),
        Simd::Avx2 => ("_avx", true),
        Simd::Sse2 => ("_sse", true),
        Simd::Neon | Simd::Portable => ("", false),
    };
    let mut runs = Vec::new();
    for kernel in request.kernels {
        let Some((_, plain, past)) = TESTS.iter().find(|(name, ..)| *name == kernel.name) else { continue };
        for &stores in kernel.ways {
            let test = match stores {
                Stores::Nt => past.filter(|_| has_nt),
                Stores::Regular | Stores::None => Some(*plain),
            };
            let Some(test) = test
                .filter(|_| request.wants(stores) && request.simd.kernel(kernel.operation, stores).is_some())
            else {
                continue;
            };
            let test = format!("{test}{suffix}");
            let bytes = kernel.arrays_used() * request.elements * ELEMENT;
            let group = format!("N:{bytes}B:{}", cpus.len());
            let arguments =
                ["-t", &test, "-W", &group, "-s", &SECONDS.to_string()].map(str::to_owned).to_vec();
            let point = Point {
                kernel,
                way: (stores != Stores::None).then(|| stores.word()),
                code: Code::Kernel(stores),
                stores: Some(stores.word()),
                basis: format!("by its test {test}"),
            };
            runs.push(Run { arguments, environment: Vec::new(), points: vec![point] });
        }
    }
    if runs.is_empty() {
        return Err(Failure::new(format!(
            "it has no test like these kernels and stores for {}",
            request.simd.word()
        )));
    }
    Ok(runs)
}

fn read(output: &Output) -> Result<ToolReport, Failure> {
    let text = output.text;
    let test = behind(text, "Test:").ok_or_else(|| Failure::new("its output has no line 'Test:'"))?;
    let field = |label: &str| behind(text, label).and_then(|text| text.split_whitespace().next());
    let printed = field("MByte/s:").and_then(gigabytes);
    let rate = match printed {
        Some(rate) => rate,
        // In guests that hide the clock (CPUID leaf 15h and 16h) its own is 0, and with it the rate; the
        // cycles that it prints are those of the time stamp counter, which has a known rate.
        None => {
            let cycles = field("Cycles:").and_then(positive);
            let volume = field("Data volume (Byte):").and_then(positive);
            match (volume, cycles, output.counter_rate) {
                (Some(volume), Some(cycles), Some(ticks)) => sound(volume / (cycles / ticks) / 1e9)
                    .ok_or_else(|| Failure::new("its 'Data volume (Byte):' and 'Cycles:' give no rate"))?,
                (_, _, None) => {
                    return Err(Failure::new("it gives no rate, and the time stamp counter is not known"));
                }
                _ => return Err(Failure::new("its output has no rate 'MByte/s:'")),
            }
        }
    };
    let kernel = output.kernels.first().copied().unwrap_or_default();
    let arrays = Kernel::named(kernel).map_or(1, Kernel::arrays_used);
    let bytes = field("Size (Byte):").and_then(|text| text.parse::<u64>().ok());
    let cpus: Vec<u32> = text
        .lines()
        .filter(|line| line.starts_with("Group:"))
        .filter_map(|line| line.split_once("running on hwthread ")?.1.split_whitespace().next()?.parse().ok())
        .collect();
    let threads =
        text.lines().find(|line| line.starts_with("Using ") && line.trim_end().ends_with("threads"));
    let threads = threads.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(ToolReport {
        version: format!("likwid-bench, test {}", figure::format::plain_to(test, 40)),
        rates: vec![(kernel.to_owned(), rate)],
        elements: bytes.map(|bytes| bytes / arrays / ELEMENT),
        threads,
        cpus: (!cpus.is_empty()).then_some(cpus),
        ..ToolReport::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What likwid-bench 5.5 prints; `CLOCK`, `RATE` to be filled in.
    const OUTPUT: &str = "\
Allocate: Process running on hwthread 0 (Domain N) - Vector length 4000000/32000000 Offset 0 Alignment 512
Initialization: Each thread in domain initializes its own stream chunks
--------------------------------------------------------------------------------
LIKWID MICRO BENCHMARK
Test: stream_mem_avx512
--------------------------------------------------------------------------------
Using 1 work groups
Using 2 threads
--------------------------------------------------------------------------------
Group: 0 Thread 0 Global Thread 0 running on hwthread 0 - Vector length 2000000 Offset 0
Group: 0 Thread 1 Global Thread 1 running on hwthread 1 - Vector length 2000000 Offset 2000000
--------------------------------------------------------------------------------
Cycles:\t\t\t54432842
CPU Clock:\t\tCLOCK
Cycle Clock:\t\tCLOCK
Time:\t\t\t2.016031e-02 sec
Iterations:\t\t20
Iterations per thread:\t10
Inner loop executions:\t62500
Size (Byte):\t\t96000000
Size per thread:\t48000000
Number of Flops:\t80000000
MFlops/s:\t\t3968.19
Data volume (Byte):\t960000000
MByte/s:\t\tRATE
Cycles per update:\t1.360821
--------------------------------------------------------------------------------
";

    fn parse(clock: &str, rate: &str, counter_rate: Option<f64>) -> Result<ToolReport, String> {
        let text = OUTPUT.replace("CLOCK", clock).replace("RATE", rate);
        read(&Output { text: &text, kernels: &["triad"], counter_rate })
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn its_mean_its_threads_and_its_size_are_read() {
        let report = parse("2700000000", "47618.32", None).unwrap();
        assert_eq!(report.rate("triad"), Some(47.61832));
        assert_eq!(
            (report.threads, report.cpus, report.elements),
            (Some(2), Some(vec![0, 1]), Some(4_000_000))
        );
        assert_eq!(report.version, "likwid-bench, test stream_mem_avx512");
    }

    #[test]
    fn where_its_clock_is_zero_its_cycles_count() {
        let by_cycles = parse("0", "0.00", Some(2.7e9)).unwrap().rate("triad").unwrap();
        assert!((by_cycles - 0.96 / (54_432_842.0 / 2.7e9)).abs() < 1e-9, "{by_cycles}");
        assert!(parse("0", "0.00", None).unwrap_err().contains("gives no rate"));
        assert!(parse("0", "inf", None).unwrap_err().contains("gives no rate"));
        assert!(read(&Output { text: "", kernels: &["triad"], counter_rate: None }).is_err());
        assert!(parse("0", "1e-323", None).unwrap_err().contains("gives no rate"));
        let text = "Test: a\nCycles: 1e-300\nData volume (Byte): 1e308\n";
        let output = Output { text, kernels: &["triad"], counter_rate: Some(2.7e9) };
        assert!(read(&output).unwrap_err().to_string().contains("give no rate"));
    }

    #[test]
    fn tests_follow_kernel_stores_and_instruction_set() {
        let places: Vec<figure::CpuList> = ["0,4", "1,5"].iter().map(|list| list.parse().unwrap()).collect();
        let unknown = Err(crate::inspect::InspectError::Empty);
        let kernels =
            [Kernel::named("triad").unwrap(), Kernel::named("read").unwrap(), Kernel::named("add").unwrap()];
        let request = RunRequest {
            kernels: &kernels,
            stores: None,
            simd: Simd::Portable,
            places: &places,
            elements: 1000,
            pages: Pages::Default,
            inspection: &unknown,
        };
        let lines = |request: &RunRequest| {
            runs(request).unwrap().iter().map(|run| run.arguments.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(lines(&request), ["-t stream -W N:24000B:2 -s 1", "-t load -W N:8000B:2 -s 1"]);
        #[cfg(target_arch = "x86_64")]
        {
            let request = RunRequest { simd: Simd::Avx2, stores: Some(Stores::Nt), ..request };
            assert_eq!(
                lines(&request),
                ["-t stream_mem_avx -W N:24000B:2 -s 1", "-t load_avx -W N:8000B:2 -s 1"]
            );
        }
        let shared: Vec<figure::CpuList> = ["0", "0"].iter().map(|list| list.parse().unwrap()).collect();
        assert!(
            runs(&RunRequest { places: &shared, ..request })
                .unwrap_err()
                .to_string()
                .contains("threads share CPUs")
        );
    }
}

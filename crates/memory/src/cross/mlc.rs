//! Intel Memory Latency Checker (`mlc`; closed, its licence forbids bundling it).
//!
//! `--loaded_latency -T -d0` runs load threads only, without delay, and gives their mean bandwidth. It counts
//! traffic: a regular store as a read and a write (its readme: "an estimation"), so that its figures are compared
//! against our traffic and not against what STREAM counts. `-e` keeps it from writing the prefetchers' MSRs:
//! truebench changes nothing on the machine.

use figure::Convention;

use super::tool::{Output, Point, Run, RunRequest, Statistic, Tool, ToolReport, gigabytes};
use crate::bandwidth::plan::Code;
use crate::kernels::{ELEMENT, Stores};
use crate::pages::Pages;
use crate::simd::Simd;
use lab::failure::Failure;

pub(super) static TOOL: Tool = Tool {
    name: "mlc",
    binaries: &["mlc", "mlc_avx512"],
    convention: Convention::EstimatedTraffic,
    statistic: Statistic::Mean,
    pages: &[Pages::Default, Pages::Small, Pages::Huge2m],
    takes_size: true,
    most_bytes: None,
    kernels: &["triad"],
    runs,
    read,
};

/// Seconds of a run (`-t`), its default.
const SECONDS: u64 = 2;

/// Its traffic types that match kernels of truebench, in the words of its usage text. Those of `-W5` are "1:1
/// read-write": it writes the line that it has read, as update does.
const TYPES: &[(&str, Stores, &str, &str)] = &[
    ("read", Stores::None, "-R", "reads only"),
    ("triad", Stores::Regular, "-W11", "3:1 read-write, stream triad-like with RFO"),
    ("triad", Stores::Nt, "-W10", "2:1 read-non-temporal write, stream triad-like"),
    ("copy", Stores::Nt, "-W8", "1:1 read-non-temporal write"),
    ("write", Stores::Nt, "-W6", "0:1 read-non-temporal write"),
    ("update", Stores::Regular, "-W5", "1:1 read-write"),
];

fn runs(request: &RunRequest) -> Result<Vec<Run>, Failure> {
    let cpus = request.cpus()?;
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    // Of each array, for each thread.
    let kib = (request.elements * ELEMENT / cpus.len() as u64 / 1024).max(1);
    let mut runs = Vec::new();
    for kernel in request.kernels {
        for (_, stores, option, what) in TYPES.iter().filter(|(name, ..)| *name == kernel.name) {
            if !request.wants(*stores) || request.simd.kernel(kernel.operation, *stores).is_none() {
                continue;
            }
            let fixed = ["--loaded_latency", "-T", "-d0", "-e"].map(str::to_owned);
            let set = [
                format!("-t{SECONDS}"),
                format!("-b{kib}"),
                format!("-k{}", list.join(",")),
                (*option).to_owned(),
            ];
            let wide = match request.simd {
                Simd::Avx512 => Some("-Z"),
                Simd::Avx2 => Some("-Y"),
                Simd::Sse2 | Simd::Neon | Simd::Portable => None,
            };
            let pages = (request.pages == Pages::Huge2m).then_some("-L");
            let more = wide.into_iter().chain(pages).map(str::to_owned);
            let point = Point {
                kernel,
                way: (*stores != Stores::None).then(|| stores.word()),
                code: Code::Kernel(*stores),
                stores: Some(stores.word()),
                basis: format!("by its traffic type {option}: {what}"),
            };
            let arguments = fixed.into_iter().chain(set).chain(more).collect();
            runs.push(Run { arguments, environment: Vec::new(), points: vec![point] });
        }
    }
    if runs.is_empty() {
        return Err(Failure::new("it has no traffic type like these kernels and stores"));
    }
    Ok(runs)
}

fn read(output: &Output) -> Result<ToolReport, Failure> {
    let text = output.text;
    // The table: delay, latency, bandwidth in MB/s of 10^6 bytes. The delay is padded with zeros; without a
    // latency thread its column may be missing or 0.
    let row = text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_delay =
            fields.first().is_some_and(|delay| delay.len() >= 4 && delay.bytes().all(|byte| byte == b'0'));
        (is_delay && fields.len() >= 2).then(|| fields[fields.len() - 1])
    });
    let Some(row) = row else {
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("nothing");
        let last = figure::format::plain_to(last, 120);
        return Err(Failure::new("its output has no line of delay 00000; it ends with").answer(last));
    };
    let rate = gigabytes(row).ok_or_else(|| Failure::new("its bandwidth is no rate"))?;
    let version = text.lines().find(|line| line.contains("Memory Latency Checker")).unwrap_or("mlc");
    let kernel = output.kernels.first().copied().unwrap_or_default();
    Ok(ToolReport {
        version: figure::format::plain_to(version.trim(), 60),
        rates: vec![(kernel.to_owned(), rate)],
        ..ToolReport::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Kernel;

    /// By the table of MLC v3.5 (community.intel.com, "Intel Memory Latency Checker v3.5 test"; the same in
    /// cncf/cnf-testbed #129).
    const OUTPUT: &str = "\
Intel(R) Memory Latency Checker - v3.5
Command line parameters: --loaded_latency -T -d0 -e -t2 -b100000 -k0-15 -R

Using buffer size of 100.000MB/thread for reads and an additional 100.000MB/thread for writes

Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t130.31\t 135655.9
";

    fn parse(text: &str) -> Result<ToolReport, String> {
        read(&Output { text, kernels: &["read"], counter_rate: None }).map_err(|failure| failure.to_string())
    }

    #[test]
    fn its_row_is_read_with_and_without_a_latency() {
        let with = parse(OUTPUT).unwrap();
        assert_eq!(with.rate("read"), Some(135.6559));
        assert_eq!(with.version, "Intel(R) Memory Latency Checker - v3.5");
        let without = parse(&OUTPUT.replace("130.31\t", "")).unwrap();
        assert_eq!(without.rate("read"), Some(135.6559));
    }

    #[test]
    fn its_error_message_is_reported() {
        let refusal = "Intel(R) Memory Latency Checker - v3.13\nHugepages need to be allocated\n";
        assert!(parse(refusal).unwrap_err().contains("it ends with: Hugepages need to be allocated"));
        assert!(parse("").unwrap_err().contains("nothing"));
        assert!(parse(&OUTPUT.replace("135655.9", "nan")).unwrap_err().contains("no rate"));
    }

    #[test]
    fn it_leaves_the_prefetchers_alone_and_gets_our_cpus() {
        let places: Vec<figure::CpuList> = ["0,4", "2,6"].iter().map(|list| list.parse().unwrap()).collect();
        let unknown = Err(crate::inspect::InspectError::Empty);
        let kernels = [Kernel::named("read").unwrap()];
        let request = RunRequest {
            kernels: &kernels,
            stores: None,
            simd: Simd::Portable,
            places: &places,
            elements: 25_600_000,
            pages: Pages::Huge2m,
            inspection: &unknown,
        };
        let run = &runs(&request).unwrap()[0];
        assert_eq!(run.arguments.join(" "), "--loaded_latency -T -d0 -e -t2 -b100000 -k0,2 -R -L");
    }
}

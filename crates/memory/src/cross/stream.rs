//! STREAM, as the user compiled it (stream.c 5.9 and 5.10, jeffhammond/STREAM).
//!
//! Its array size is compiled in, and truebench takes it. Which stores its kernels have is the compiler's choice:
//! the binary shows (see [`inspect`](crate::inspect)), and truebench's are compared with the same.

use figure::{Convention, CpuList};

use super::tool::{
    Output, Point, Run, RunRequest, Statistic, Tool, ToolReport, behind, gigabytes, positive, sound,
};
use crate::bandwidth::plan::Code;
use crate::inspect::{InspectError, Inspection, Way};
use crate::kernels::{Kernel, Stores};
use crate::pages::Pages;
use lab::failure::Failure;
use loops::baseline::Origin;

pub(super) static TOOL: Tool = Tool {
    name: "stream",
    binaries: &["stream", "stream_c.exe", "stream.exe", "stream_c", "stream_omp", "stream5", "stream-openmp"],
    convention: Convention::StreamCounted,
    statistic: Statistic::Best,
    // Its arrays are static: huge pages cannot be requested for them.
    pages: &[Pages::Default, Pages::Small],
    takes_size: false,
    most_bytes: None,
    kernels: &["copy", "triad"],
    runs,
    read,
};

const KERNELS: &[&str] = &["copy", "scale", "add", "triad"];
/// Bytes of an element of truebench.
const DOUBLE: u64 = 8;

fn runs(request: &RunRequest) -> Result<Vec<Run>, Failure> {
    let kernels = request.kernels.iter().filter(|kernel| KERNELS.contains(&kernel.name));
    let points: Vec<Point> = kernels.map(|kernel| point(kernel, request.inspection)).collect();
    let wanted = |point: &Point| match point.code {
        Code::Kernel(stores) => request.wants(stores),
        Code::Baseline(_) => request.stores.is_none(),
    };
    let points: Vec<Point> = points.into_iter().filter(wanted).collect();
    if points.is_empty() {
        return Err(Failure::new(
            "it has copy, scale, add and triad, with the stores that it was compiled with",
        ));
    }
    let places: Vec<String> = request.places.iter().map(place).collect();
    let variable = |name: &str, value: String| (name.to_owned(), value);
    let environment = vec![
        variable("OMP_NUM_THREADS", request.places.len().to_string()),
        variable("OMP_PLACES", places.join(",")),
        variable("OMP_PROC_BIND", "close".to_owned()),
        variable("OMP_DYNAMIC", "false".to_owned()),
    ];
    Ok(vec![Run { arguments: Vec::new(), environment, points }])
}

fn place(cpus: &CpuList) -> String {
    let cpus: Vec<String> = cpus.iter().map(|cpu| cpu.to_string()).collect();
    format!("{{{}}}", cpus.join(","))
}

/// The code of truebench that is like its kernel.
fn point(kernel: &'static Kernel, inspection: &Result<Inspection, InspectError>) -> Point {
    let (way, basis) = match inspection {
        Err(reason) => (None, format!("not known: its binary {reason}")),
        Ok(inspection) => way(kernel, inspection),
    };
    let (code, stores) = match way {
        Some(Way::Memcpy) => (Code::Baseline(Origin::Libc), Some(Origin::Libc.word())),
        Some(Way::Nontemporal) => (Code::Kernel(Stores::Nt), Some(Stores::Nt.word())),
        Some(Way::Regular) => (Code::Kernel(Stores::Regular), Some(Stores::Regular.word())),
        None => (Code::Kernel(Stores::Regular), None),
    };
    // There is no libc of scale, add or triad.
    let code = if kernel.name == "copy" || !matches!(code, Code::Baseline(_)) {
        code
    } else {
        Code::Kernel(Stores::Regular)
    };
    Point { kernel, way: None, code, stores, basis }
}

/// How the binary's kernel stores, and how that is known.
fn way(kernel: &Kernel, inspection: &Inspection) -> (Option<Way>, String) {
    if let Some(way) = inspection.way(kernel.title) {
        let what = match way {
            Way::Memcpy => "calls memcpy",
            Way::Nontemporal => "holds non-temporal stores",
            Way::Regular => "holds none but regular stores",
        };
        return (Some(way), format!("the function of its {} {what}", kernel.title));
    }
    match (inspection.nontemporal_count(), inspection.calls_memcpy(), kernel.name) {
        (0, true, "copy") => (
            Some(Way::Memcpy),
            "its binary calls memcpy, which STREAM's source does not: a compiler's Copy".to_owned(),
        ),
        (0, ..) => (Some(Way::Regular), "its binary holds no non-temporal stores".to_owned()),
        (count, ..) => (
            None,
            format!(
                "not known: its binary holds {count} non-temporal stores, not in functions of known kernels"
            ),
        ),
    }
}

fn read(output: &Output) -> Result<ToolReport, Failure> {
    let text = output.text;
    if let Some(failed) = text.lines().find(|line| line.contains("Failed Validation")) {
        let line = figure::format::plain_to(failed.trim(), 100);
        return Err(Failure::new("its results are wrong").answer(line));
    }
    if !text.contains("Solution Validates") {
        return Err(Failure::new("its output does not say that its solution validates"));
    }
    let number = |label: &str| {
        let text = behind(text, label)?;
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok().filter(|number| *number > 0)
    };
    if let Some(bytes) = number("This system uses ").filter(|bytes| *bytes != DOUBLE) {
        return Err(Failure::new(format!("its elements have {bytes} bytes, and truebench's {DOUBLE}"))
            .advice("compile it with STREAM_TYPE=double"));
    }
    let elements =
        number("Array size = ").ok_or_else(|| Failure::new("its output does not say 'Array size = '"))?;
    let mut rates = Vec::new();
    let mut shortest: Option<f64> = None;
    for kernel in output.kernels {
        let title = Kernel::named(kernel).map_or("", |kernel| kernel.title);
        let line = behind(text, &format!("{title}:"))
            .ok_or_else(|| Failure::new(format!("its table has no line '{title}:'")))?;
        let mut fields = line.split_whitespace();
        let rate = fields
            .next()
            .and_then(gigabytes)
            .ok_or_else(|| Failure::new(format!("its {title} is no rate")))?;
        rates.push(((*kernel).to_owned(), rate));
        if let Some(least) = fields.nth(1).and_then(positive) {
            shortest = Some(shortest.map_or(least, |other| other.min(least)));
        }
    }
    let granularity = behind(text, "Your clock granularity/precision appears to be ")
        .and_then(|text| text.split_whitespace().next().and_then(positive));
    Ok(ToolReport {
        version: behind(text, "STREAM version").map_or_else(String::new, |version| {
            let number = version.trim_matches(|c: char| !c.is_ascii_digit());
            format!("STREAM {}", figure::format::plain_to(number, 40))
        }),
        rates,
        elements: Some(elements),
        // Without OpenMP it prints no number.
        threads: Some(number("Number of Threads counted = ").map_or(1, |threads| threads as usize)),
        cpus: None,
        // "The best time for each kernel (excluding the first iteration)".
        repetitions: number("Each kernel will be executed ")
            .map(|times| times.saturating_sub(1).max(1) as usize),
        shortest,
        granularity: granularity.and_then(|microseconds| sound(microseconds * 1e-6)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the formats of stream.c 5.10, with the numbers of study 1, step 1.
    pub(crate) const OUTPUT: &str = "\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
-------------------------------------------------------------
Array size = 10000000 (elements), Offset = 0 (elements)
Memory per array = 76.3 MiB (= 0.1 GiB).
Total memory required = 228.9 MiB (= 0.2 GiB).
Each kernel will be executed 10 times.
 The *best* time for each kernel (excluding the first iteration)
 will be used to compute the reported bandwidth.
-------------------------------------------------------------
Number of Threads requested = 48
Number of Threads counted = 48
-------------------------------------------------------------
Your clock granularity/precision appears to be 1 microseconds.
Each test below will take on the order of 1800 microseconds.
   (= 1800 clock ticks)
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:          148668.3     0.001181     0.001076     0.001292
Scale:         139143.4     0.001243     0.001150     0.001415
Add:           137631.0     0.001823     0.001744     0.001926
Triad:         149618.5     0.001694     0.001604     0.001813
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
";

    fn parse(text: &str) -> Result<ToolReport, String> {
        read(&Output { text, kernels: &["copy", "triad"], counter_rate: None })
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn streams_table_is_read() {
        let report = parse(OUTPUT).unwrap();
        assert_eq!(report.version, "STREAM 5.10");
        assert_eq!(
            (report.rate("copy"), report.rate("triad"), report.rate("add")),
            (Some(148.6683), Some(149.6185), None)
        );
        assert_eq!(
            (report.elements, report.threads, report.repetitions),
            (Some(10_000_000), Some(48), Some(9))
        );
        assert_eq!((report.shortest, report.granularity), (Some(0.001076), Some(1e-6)));
    }

    #[test]
    fn one_without_openmp_has_one_thread() {
        let text: Vec<&str> = OUTPUT.lines().filter(|line| !line.starts_with("Number of Threads")).collect();
        assert_eq!(parse(&text.join("\n")).unwrap().threads, Some(1));
    }

    #[test]
    fn what_cannot_be_trusted_is_an_error() {
        let error = |text: &str| parse(text).unwrap_err();
        let failed =
            OUTPUT.replace("Solution Validates", "Failed Validation on array a[], AvgRelAbsErr > epsilon");
        assert!(error(&failed).contains("results are wrong: Failed Validation on array a[]"));
        assert!(error("").contains("does not say that its solution validates"));
        assert!(error(&OUTPUT.replace("uses 8 bytes", "uses 4 bytes")).contains("4 bytes"));
        assert!(error(&OUTPUT.replace("149618.5", "nan")).contains("its Triad is no rate"));
        assert!(error(&OUTPUT.replace("149618.5", "-1")).contains("no rate"));
        assert!(error(&OUTPUT.replace("Triad:", "Trial:")).contains("'Triad:'"));
        assert!(error(&OUTPUT.replace("Array size = 1", "Array size = x")).contains("Array size"));
    }

    #[test]
    fn threads_are_bound_in_openmps_words() {
        let places: Vec<CpuList> = ["0,4", "1,5"].iter().map(|list| list.parse().unwrap()).collect();
        let unknown = Err(InspectError::NotElf("a script"));
        let kernels = [Kernel::named("copy").unwrap(), Kernel::named("read").unwrap()];
        let request = RunRequest {
            kernels: &kernels,
            stores: None,
            simd: crate::simd::Simd::Portable,
            places: &places,
            elements: 0,
            pages: Pages::Default,
            inspection: &unknown,
        };
        let run = &runs(&request).unwrap()[0];
        let get = |name: &str| {
            run.environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_str())
        };
        assert_eq!((get("OMP_NUM_THREADS"), get("OMP_PLACES")), (Some("2"), Some("{0,4},{1,5}")));
        assert_eq!(run.points.len(), 1, "STREAM has no read");
        assert_eq!((run.points[0].code, run.points[0].stores), (Code::Kernel(Stores::Regular), None));
        assert!(run.points[0].basis.contains("is no ELF file"));
    }
}

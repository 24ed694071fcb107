//! BabelStream (before 3.0 GPU-STREAM), 2.0 to 5.0: best rates of its kernels as text or CSV, on processors and on devices.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::{THREADS, TRAFFIC_BYTES, VERIFIED};
use figure::{Better, Convention, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::memory::MIB;
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, number};

pub(super) const FORMAT: Format = Format::lines(
    "BabelStream",
    &["BabelStream", "Running kernels ", "Running triad ", "MBytes/sec", "MiBytes/sec", "function,num_times"],
    starts,
    Some(&COMMAND),
    parse,
);

/// src/main.cpp.
const COMMAND: Grammar = Grammar {
    programs: &[
        "omp-stream",
        "serial-stream",
        "std-data-stream",
        "std-indices-stream",
        "std-ranges-stream",
        "tbb-stream",
        "kokkos-stream",
        "raja-stream",
        "acc-stream",
        "ocl-stream",
        "sycl-stream",
        "cuda-stream",
        "hip-stream",
        "thrust-stream",
        "rust-stream",
        "babelstream",
    ],
    style: Style::Getopt,
    values: &["--device", "--arraysize", "-s", "--numtimes", "-n", "--only", "-o", "--order"],
    flags: &["--float", "--triad-only", "--nstream-only", "--csv", "--mibibytes", "--list"],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// A kernel: its label, our word, the arrays that it counts, and whether it stores to an array that it does not read.
struct Kernel {
    label: &'static str,
    word: &'static str,
    arrays: f64,
    reads_first: bool,
}

const KERNELS: &[Kernel] = &[
    Kernel { label: "Copy", word: "copy", arrays: 2.0, reads_first: true },
    Kernel { label: "Mul", word: "mul", arrays: 2.0, reads_first: true },
    Kernel { label: "Add", word: "add", arrays: 3.0, reads_first: true },
    Kernel { label: "Triad", word: "triad", arrays: 3.0, reads_first: true },
    Kernel { label: "Dot", word: "dot", arrays: 2.0, reads_first: false },
    Kernel { label: "Nstream", word: "nstream", arrays: 4.0, reads_first: false },
];
/// Models that run on a device with memory of its own, and words of lines that name such a device.
const OF_DEVICES: &[&str] = &["CUDA", "HIP", "HC", "Thrust", "OpenCL", "SYCL", "OpenACC", "Metal", "oneAPI"];
/// Lines of a head, with what a device prints.
const HEAD_LINES: usize = 40;
/// Words of a row of the table, and fields of one of the CSV.
const WORDS: usize = 5;
const FIELDS: usize = 8;
const CSV: &str = "function,num_times,n_elements,sizeof";

fn is_table(line: &str) -> bool {
    line.starts_with("Function")
        && (line.contains("MBytes/sec") || line.contains("MiBytes/sec"))
        && line.contains("Min (sec)")
}

/// A row of the text: `Copy        421983.400  0.00127     0.00160     0.00132`. Its times have five decimals.
fn is_row(line: &str, label: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(WORDS + 1).collect();
    let is_time = |word: &&str| word.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 5);
    words.len() == WORDS && words[0] == label && number(words[1]).is_some() && words[2..].iter().all(is_time)
}

/// A row of the CSV.
fn is_fields(line: &str, label: &str) -> bool {
    line.strip_prefix(label).is_some_and(|rest| {
        rest.starts_with(',')
            && rest.matches(',').count() >= 5
            && rest[1..].split(',').all(|field| number(field).is_some())
    })
}

fn is_result(line: &str) -> bool {
    is_table(line)
        || line.starts_with(CSV)
        || line.starts_with("Bandwidth (G")
        || KERNELS.iter().any(|kernel| is_row(line, kernel.label) || is_fields(line, kernel.label))
}

const KINDS: &[fn(&str) -> bool] = &[
    |line| line == "BabelStream" || line == "GPU-STREAM",
    |line| line.starts_with("Implementation: "),
    |line| line.starts_with("Running kernels ") || line.starts_with("Running triad "),
    |line| line.starts_with("Array size: ") && line.contains("(="),
    |line| line.starts_with("phase,n_elements,"),
    |line| is_table(line) || line.starts_with(CSV) || line.starts_with("Runtime (seconds):"),
    |line| is_row(line, "Copy") || is_fields(line, "Copy"),
    |line| is_row(line, "Mul") || is_fields(line, "Mul"),
    |line| is_row(line, "Add") || is_fields(line, "Add"),
    |line| is_row(line, "Triad") || is_fields(line, "Triad"),
    |line| is_row(line, "Dot") || is_fields(line, "Dot"),
    |line| is_row(line, "Nstream") || is_fields(line, "Nstream"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(KINDS, before, rest)
        && (rest.first() == Some(&"BabelStream") || rest.iter().take(HEAD_LINES).any(|line| is_result(line)))
}

/// A row of either form: bytes a second, and seconds of best, mean and worst.
struct Row {
    rate: Printed,
    best: Option<Printed>,
    worst: Option<Printed>,
    mean: Option<Printed>,
    /// Elements, and bytes of each, where the row has them.
    elements: Option<(f64, f64)>,
    times: Option<f64>,
}

fn row(run: &Run, kernel: &Kernel, element: Option<f64>, is_mebi: Option<bool>) -> Option<Row> {
    let line = run.lines.iter().find(|line| is_row(line, kernel.label) || is_fields(line, kernel.label))?;
    let fields: Vec<&str> = if line.contains(',') {
        line.split(',').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    };
    let of = |at: usize| Printed::of(fields.get(at)?);
    if !line.contains(',') {
        let unit = if is_mebi? { MIB } else { 1e6 };
        return Some(Row {
            rate: of(1)?.times(unit),
            best: of(2),
            worst: of(3),
            mean: of(4),
            elements: None,
            times: None,
        });
    }
    let elements = of(2)?.value;
    let bytes = of(3).map(|size| size.value).or(element)?;
    let is_timed = fields.len() >= FIELDS;
    // Of Triad alone it prints GB/s, and the time of all repetitions.
    let (rate, times) = (of(4)?, of(1).map(|times| times.value));
    if !is_timed {
        let unit = if is_mebi? { MIB * 1024.0 } else { 1e9 };
        let each = times.filter(|times| *times > 0.0).zip(of(5)).map(|(times, all)| all.times(1.0 / times));
        return Some(Row {
            rate: rate.times(unit),
            best: each,
            worst: None,
            mean: None,
            elements: Some((elements, bytes)),
            times,
        });
    }
    let best = of(5)?;
    let again = elements * bytes * kernel.arrays / best.value.max(f64::MIN_POSITIVE);
    let is_mebi = is_mebi.unwrap_or((rate.value * MIB - again).abs() < (rate.value * 1e6 - again).abs());
    let unit = if is_mebi { MIB } else { 1e6 };
    Some(Row {
        rate: rate.times(unit),
        best: Some(best),
        worst: of(6),
        mean: of(7),
        elements: Some((elements, bytes)),
        times,
    })
}

/// What ran the kernels: `Implementation: OpenMP`, spelt `Implmentation` by rust-stream 0.5.
fn implementation(line: &str) -> Option<&str> {
    line.strip_prefix("Implementation: ").or(line.strip_prefix("Implmentation: ")).map(str::trim)
}

/// Whether the kernels ran on a device; `None` where the text does not show it. CSV has no line of the implementation, but devices name
/// themselves there too.
fn is_on_device(run: &Run) -> Option<bool> {
    // Where the first lines are lost, what is left of the head stands before the run.
    let head = || {
        run.before
            .iter()
            .rev()
            .take(HEAD_LINES)
            .take_while(|line| !is_result(line))
            .chain(run.lines.iter().take(HEAD_LINES))
    };
    let names = |line: &str| {
        line.starts_with("Using ")
            && line.contains("device")
            && OF_DEVICES.iter().any(|device| line.contains(device))
    };
    if head().any(|line| names(line)) {
        return Some(true);
    }
    let implementation = head()
        .find_map(|line| line.strip_prefix("Implementation: ").or(line.strip_prefix("Implmentation: ")));
    let is_csv = || run.lines.iter().any(|line| KERNELS.iter().any(|kernel| is_fields(line, kernel.label)));
    match implementation {
        Some(implementation) => Some(OF_DEVICES.iter().any(|device| implementation.contains(device))),
        None => is_csv().then_some(false),
    }
}

/// What the figure is of: the memory of a device is not this machine's.
fn of_host(run: &Run, memory: Memory) -> Option<Memory> {
    match is_on_device(run) {
        Some(true) => None,
        Some(false) => Some(memory),
        None => Some(Memory {
            array: None,
            counted: 0.0,
            missing: "the text does not show BabelStream's implementation, and so whose memory it is",
            ..memory
        }),
    }
}

/// Threads: `Running on 36 Threads`, by rust-stream before the head, or of the command.
fn threads(run: &Run) -> Option<f64> {
    let before = run.before.iter().rev().take(2).copied();
    let printed = before
        .chain(run.lines.iter().copied().take(HEAD_LINES))
        .find_map(|line| number(line.strip_prefix("Running on ")?.strip_suffix(" Threads")?));
    printed.or_else(|| run.command?.variable("OMP_NUM_THREADS"))
}

/// `Array size: 268.4 MB (=0.3 GB)`, in bytes.
fn array(run: &Run) -> Option<Printed> {
    let mut words = run.after("Array size: ")?.split_whitespace();
    let size = Printed::of(words.next()?)?;
    let unit = match words.next()? {
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => MIB,
        "GiB" => 1024.0 * MIB,
        _ => return None,
    };
    Some(size.times(unit)).filter(|size| size.value > 0.0)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let has = |words: &str| run.lines.iter().any(|line| line.contains(words));
    let is_mebi = match (
        has("MiBytes/sec") || has("mibytes_per_sec") || has("gibytes_per_sec"),
        has("MBytes/sec") || has("mbytes_per_sec") || has("gbytes_per_sec"),
    ) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => run
            .lines
            .iter()
            .any(|line| KERNELS.iter().any(|kernel| is_row(line, kernel.label)))
            .then_some(false),
    };
    let element =
        run.after("Precision: ").map(|precision| if precision.starts_with("float") { 4.0 } else { 8.0 });
    let mut figures: Vec<Figure> = KERNELS
        .iter()
        .filter_map(|kernel| Some(figure(run, kernel, &row(run, kernel, element, is_mebi)?, element, known)))
        .collect();
    figures.extend(triad_alone(run, element, known));
    let Some(first) = figures.first_mut() else {
        return Err("has no table of its kernels".to_owned());
    };
    let mut others: Vec<&str> = Vec::new();
    if has("Init: ") || has("Init,") {
        others.push("the times of Init and Read");
    }
    if has("Add4 ") {
        others.push("Add4");
    }
    if has("GEOMEAN ") {
        others.push("GEOMEAN");
    }
    if has("Validation failed on sum") && element == Some(4.0) {
        others.push("the check of the sum, which fails in single precision (BabelStream #20)");
    }
    if !others.is_empty() {
        first.evidence.put(UNJUDGED, others.join("; "));
    }
    Ok(figures)
}

fn figure(run: &Run, kernel: &Kernel, row: &Row, element: Option<f64>, known: &Known) -> Figure {
    let own = row.elements.map(|(elements, bytes)| Printed { value: elements * bytes, off: 0.0 });
    let element = row.elements.map(|(_, bytes)| bytes).or(element);
    let moved = row.best.filter(|best| best.value > best.off).map(|best| {
        let value = row.rate.value * best.value / kernel.arrays;
        Printed { value, off: value * (best.share() + row.rate.share()) }
    });
    let array = own.or(array(run));
    let again = array.zip(row.best.filter(|best| best.value > best.off)).map(|(array, best)| {
        let value = array.value * kernel.arrays / best.value / 1e9;
        Printed { value, off: value * (array.share() + best.share()) }
    });
    // Two of the three are known to their digits.
    let array = array.or(moved).map(|array| array.value);
    let mean_over_best = row.mean.zip(row.best).filter(|(_, best)| best.value > best.off);
    let convention = Some(Convention::StreamCounted);
    let counted = kernel.arrays * element.unwrap_or(8.0);
    let memory = Memory {
        kernel: kernel.word,
        array,
        counted,
        convention,
        verified: verified(run, kernel, element),
        missing: "the text does not show the array size",
    };
    let name = format!("{} by BabelStream", kernel.word);
    let mut figure = Quantity {
        again,
        samples: Statistics { least: row.best, mean: row.mean, most: row.worst, ..Statistics::default() },
        mean_over_best: mean_over_best.map(|(mean, best)| (mean.value - mean.off) / (best.value + best.off)),
        repetitions: row.times.or(run.number("Running kernels ")),
        subject: run.lines.iter().find_map(|line| implementation(line)).unwrap_or_default().to_owned(),
        memory: of_host(run, memory),
        ..Quantity::of(
            "babelstream",
            kernel.word.to_owned(),
            name,
            row.rate.times(1e-9),
            Unit::GB_PER_S,
            Better::Higher,
        )
    }
    .figure(known);
    let is_on_device = is_on_device(run);
    if is_on_device == Some(true) && verified(run, kernel, element) == Some(false) {
        figure.evidence.put(VERIFIED, false);
    }
    if is_on_device == Some(false) {
        threads(run).into_iter().for_each(|threads| figure.conditions.set(THREADS, threads));
        // What a store reads first is of the same size as a double in our count only.
        if !kernel.reads_first || element == Some(4.0) {
            figure.conditions.set(TRAFFIC_BYTES, counted);
        }
    }
    figure
}

/// With --triad-only: a bandwidth in GB/s over all repetitions.
fn triad_alone(run: &Run, element: Option<f64>, known: &Known) -> Option<Figure> {
    let line = run.lines.iter().find(|line| line.starts_with("Bandwidth (G") && line.contains("B/s):"))?;
    let unit = if line.contains("GiB/s") { 1024.0 * MIB / 1e9 } else { 1.0 };
    let rate = Printed::of(line.split_once("):")?.1.trim())?.times(unit);
    let times = run.number("Running triad ");
    let all = run.printed("Runtime (seconds):").filter(|all| all.value > all.off);
    let own = run
        .number("Number of elements: ")
        .zip(element)
        .map(|(elements, bytes)| elements * bytes)
        .or(array(run).map(|array| array.value));
    let again = own.zip(times).zip(all).map(|((array, times), all)| {
        let value = array * 3.0 * times / all.value / 1e9;
        Printed { value, off: value * all.share() }
    });
    let kernel = KERNELS.iter().find(|kernel| kernel.word == "triad")?;
    let memory = Memory {
        kernel: "triad",
        array: own,
        counted: 3.0 * element.unwrap_or(8.0),
        convention: Some(Convention::StreamCounted),
        verified: verified(run, kernel, element),
        missing: "the text does not show the array size",
    };
    let quantity = Quantity {
        again,
        seconds: all.map(|all| all.value),
        repetitions: times,
        memory: of_host(run, memory),
        ..Quantity::of(
            "babelstream",
            "triad".to_owned(),
            "triad by BabelStream".to_owned(),
            rate,
            Unit::GB_PER_S,
            Better::Higher,
        )
    };
    Some(quantity.figure(known))
}

/// BabelStream prints where its results are wrong, and nothing where they are right. Its check of the sum fails in single precision for sound
/// results (UoB-HPC/BabelStream #20), and concerns Dot alone.
fn verified(run: &Run, kernel: &Kernel, element: Option<f64>) -> Option<bool> {
    let failed = |array: &str| {
        run.lines.iter().any(|line| {
            line.strip_prefix("Validation failed on ").is_some_and(|rest| rest.starts_with(array))
        })
    };
    let is_wrong = ["a[]", "b[]", "c[]"].iter().any(|array| failed(array));
    let is_sum_wrong = kernel.word == "dot" && element == Some(8.0) && failed("sum");
    (is_wrong || is_sum_wrong).then_some(false)
}

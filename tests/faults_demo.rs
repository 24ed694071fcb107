//! Programs that fault (`faults::demo`), plain and with each setting of the GNU C library: the table of shapes and settings, by
//! counts of faults. They are counted and not timed, and so the same each time; but for one, where the time is the point.

use std::process::Command;

use faults::demo::{Amount, Shape, command, find, shapes};
use workload::fault_demo::Work;
use workload::fault_demo::blocks::Touch;

/// Enough iterations that the first few, in which thresholds adapt, do not count.
const ITERATIONS: u64 = 20;

/// What an iteration took, by the line that the program prints.
#[derive(Debug)]
struct Each {
    minor: f64,
    major: f64,
    /// Of all iterations, in milliseconds.
    cpu: f64,
}

/// Runs a shape with these variables and no other that malloc reads; or why it says that it cannot.
fn run(shape: &Shape, amount: Amount, settings: &[(&str, &str)]) -> Result<Each, String> {
    let (file, arguments) = command(shape, amount).expect("truebench-workload");
    let mut command = Command::new(file);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("MALLOC_") || ["GLIBC_TUNABLES", "LD_PRELOAD"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    let output = command.args(&arguments[1..]).envs(settings.iter().copied()).output().expect("it starts");
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1), "{}", shape.name);
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    let line = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = line
        .strip_prefix(&format!("{}: ", shape.name))
        .unwrap_or_else(|| panic!("{line}"))
        .split([' ', ',', ';'])
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[_, minor, major, user, system] = numbers.as_slice() else { panic!("{line}") };
    Ok(Each { minor, major, cpu: user + system })
}

fn page() -> f64 {
    // SAFETY: a constant of the system.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as f64
}

/// Pages that an iteration touches.
fn touched(shape: &Shape) -> f64 {
    match shape.work {
        Work::Blocks(blocks) => {
            let pages = blocks.size as f64 / page();
            blocks.live as f64
                * match blocks.touch {
                    Touch::All => pages,
                    Touch::OneOf(step) => pages / step as f64,
                    Touch::Few(count) => count as f64,
                }
        }
        Work::Mapping(bytes, ..)
        | Work::Fork(bytes)
        | Work::File(bytes, _)
        | Work::FileCopy(bytes)
        | Work::Swap(bytes)
        | Work::Merge(bytes)
        | Work::Balance(bytes)
        | Work::Userfault(bytes)
        | Work::Share(bytes) => bytes as f64 / page(),
        // Of these pages each is read, then written.
        Work::ReadFirst(bytes) => 2.0 * bytes as f64 / page(),
        // Others than this process fault.
        Work::Start => f64::INFINITY,
        Work::Stacks => workload::fault_demo::pages::STACK as f64 / page(),
        Work::Small(_) => workload::fault_demo::trim::WHOLE as f64 / page(),
    }
}

/// Faults of an iteration for each page that it touches.
fn share(name: &str, settings: &[(&str, &str)]) -> f64 {
    let shape = find(name).unwrap();
    let each =
        run(&shape, Amount::Iterations(ITERATIONS), settings).unwrap_or_else(|why| panic!("{name}: {why}"));
    each.minor / touched(&shape)
}

const MMAP_MAX: (&str, &str) = ("MALLOC_MMAP_MAX_", "0");
const TRIM: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "-1");
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=-1");
const MMAP_THRESHOLD: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "67108864");
const TRIM_BOUNDED: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "134217728");
const TOP_PAD: (&str, &str) = ("MALLOC_TOP_PAD_", "67108864");

/// The settings: none, each alone, and what works.
const SETTINGS: [&[(&str, &str)]; 8] = [
    &[],
    &[MMAP_MAX],
    &[TRIM],
    &[MMAP_THRESHOLD],
    &[MMAP_MAX, TRIM],
    &[TUNABLES],
    &[MMAP_THRESHOLD, TRIM_BOUNDED],
    &[TOP_PAD],
];

/// All pages, or nearly; about two thirds; none, but for the first times.
const ALL: (f64, f64) = (0.85, 1.1);
const SOME: (f64, f64) = (0.5, 0.8);
const NONE: (f64, f64) = (0.0, 0.2);

/// Each shape's faults for each page, by setting.
const TABLE: &[(&str, [(f64, f64); 8])] = &[
    // No setting stops malloc_trim.
    ("malloc-trim", [ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL]),
    ("small-blocks", [NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE]),
    ("one-block", [NONE, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("two-blocks", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("three-blocks", [SOME, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("eight-blocks", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("below-32m", [NONE, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("at-32m", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("huge-block", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    ("thread-arena", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, NONE]),
    // More than an arena of a thread holds.
    ("thread-huge", [ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL]),
    // The program's own mallopt(M_TOP_PAD) comes after the variable.
    ("frozen-threshold", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, ALL]),
    ("server", [ALL, ALL, ALL, ALL, NONE, NONE, NONE, ALL]),
];

/// Whether malloc is that of a GNU C library with the thresholds of the table.
fn is_known() -> bool {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: a string that lives as long as the process.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        let minor = version.to_str().ok().and_then(|text| text.strip_prefix("2.")?.parse::<u32>().ok());
        // Tunables came with 2.25, and an arena's end is given back by these rules since.
        let is_known = minor.is_some_and(|minor| minor >= 26) && page() <= 65536.0;
        if !is_known {
            eprintln!("skipped: glibc {version:?} with pages of {} bytes is not known", page());
        }
        is_known
    }
    #[cfg(not(target_env = "gnu"))]
    {
        eprintln!("skipped: the C library is not glibc, and has other settings or none");
        false
    }
}

#[test]
fn each_setting_does_to_each_shape_what_the_table_says() {
    if !is_known() {
        return;
    }
    for (name, expected) in TABLE {
        for (settings, (low, high)) in SETTINGS.iter().zip(expected) {
            let share = share(name, settings);
            assert!((*low..*high).contains(&share), "{name} with {settings:?}: {share:.3} of its pages");
        }
    }
}

#[test]
fn fewer_faults_of_a_sparse_calloc_cost_more_time() {
    if !is_known() {
        return;
    }
    let shape = find("calloc").unwrap();
    let (mut plain, mut set) = (0.0, 0.0);
    for _ in 0..5 {
        let one = |settings| run(&shape, Amount::Iterations(100), settings).unwrap();
        let (without, with) = (one(&[]), one(&[MMAP_MAX, TRIM]));
        plain += without.cpu;
        set += with.cpu;
        assert!(without.minor / touched(&shape) > 0.85, "{without:?}");
        // The 40 MiB once, over a hundred iterations.
        assert!(with.minor * 100.0 < 1.1 * 40.0 * 1048576.0 / page(), "{with:?}");
    }
    assert!(set > 1.5 * plain, "{set} ms with the setting, {plain} ms without");
}

#[test]
fn what_faults_otherwise_does_not_mind_the_settings_of_malloc() {
    for name in ["growth", "fork", "purge", "map-churn", "stacks", "file-copy", "zero-page"] {
        for settings in [&[][..], &[MMAP_MAX, TRIM]] {
            let share = share(name, settings);
            assert!((0.85..1.2).contains(&share), "{name} with {settings:?}: {share:.3} of its pages");
        }
    }
}

#[test]
fn pages_of_a_file_come_from_the_cache_or_from_the_disk() {
    let cached = find("file").unwrap();
    let each = run(&cached, Amount::Iterations(10), &[]).expect("a temporary file");
    // A fault maps the pages around it too: 64 KiB, unless a page is larger.
    let most = touched(&cached);
    assert!((most / 64.0..most * 1.1).contains(&each.minor) && each.major < 1.0, "{each:?}");
    let dropped = find("file-dropped").unwrap();
    match run(&dropped, Amount::Iterations(5), &[]) {
        Ok(each) => assert!(each.major >= touched(&dropped) / 64.0, "{each:?}"),
        Err(why) => {
            assert!(why.contains("in memory"), "{why}");
            eprintln!("skipped: {why}");
        }
    }
}

#[test]
fn a_huge_page_is_one_fault() {
    let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let shape = find("thp").unwrap();
    let each = run(&shape, Amount::Iterations(5), &[]);
    if enabled.is_empty() || enabled.contains("[never]") {
        eprintln!("skipped: no transparent huge pages here ({each:?})");
        return;
    }
    let each = each.unwrap();
    assert!(each.minor < touched(&shape) / 2.0, "{each:?}");
}

fn is_on(setting: &str) -> bool {
    std::fs::read_to_string(setting).is_ok_and(|value| value.trim() != "0")
}

#[test]
fn a_shape_that_needs_what_the_machine_lacks_says_so() {
    let numa =
        if is_on("/proc/sys/kernel/numa_balancing") { "two NUMA nodes" } else { "NUMA balancing is off" };
    let all =
        [("swap", "no swap"), ("ksm", "KSM"), ("numa", numa), ("userfaultfd", "userfaultfd is refused")];
    for (name, words) in all {
        let shape = find(name).unwrap();
        match run(&shape, Amount::Iterations(2), &[]) {
            Ok(each) => assert!(each.minor + each.major > touched(&shape) / 4.0, "{name}: {each:?}"),
            Err(why) => assert!(why.contains(words), "{name}: {why}"),
        }
    }
    // The children fault, and not this process.
    for name in ["shared-memory", "start-up"] {
        let each = run(&find(name).unwrap(), Amount::Iterations(20), &[]).unwrap();
        assert!(each.minor < 200.0, "{name}: {each:?}");
    }
}

#[test]
fn a_server_keeps_its_pace() {
    if !is_known() {
        return;
    }
    let begun = std::time::Instant::now();
    let each = run(&find("server").unwrap(), Amount::Rate(400, 1), &[]).unwrap_or_else(|why| panic!("{why}"));
    // The last request begins a four-hundredth before the end of the second.
    assert!(begun.elapsed().as_secs_f64() >= 399.0 / 400.0);
    assert!((5.5..6.5).contains(&each.minor), "{each:?}");
}

#[test]
fn every_shape_is_in_a_test() {
    let elsewhere =
        ["calloc", "growth", "fork", "purge", "map-churn", "stacks", "file", "file-dropped", "thp"];
    let kernels =
        ["file-copy", "zero-page", "swap", "ksm", "numa", "userfaultfd", "shared-memory", "start-up"];
    for shape in shapes() {
        let is_tested = TABLE
            .iter()
            .map(|(name, _)| *name)
            .chain(elsewhere)
            .chain(kernels)
            .any(|name| name == shape.name);
        assert!(is_tested, "{}", shape.name);
    }
}

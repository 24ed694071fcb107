//! Counters of the memory controllers of these machines, as their drivers show them.

use super::builder::Builder;

const IMC_FORMAT: &[(&str, &str)] =
    &[("event", "config:0-7"), ("umask", "config:8-15"), ("edge", "config:18"), ("thresh", "config:24-31")];
/// On Skylake-SP.
const IMC_EVENTS: &[(&str, &str)] = &[
    ("clockticks", "event=0x00,umask=0x00"),
    ("cas_count_read", "event=0x04,umask=0x03"),
    ("cas_count_read.scale", "6.103515625e-5"),
    ("cas_count_read.unit", "MiB"),
    ("cas_count_write", "event=0x04,umask=0x0c"),
    ("cas_count_write.scale", "6.103515625e-5"),
    ("cas_count_write.unit", "MiB"),
];
const FREE_RUNNING_EVENTS: &[(&str, &str)] = &[
    ("data_total", "event=0xff,umask=0x10"),
    ("data_total.scale", "6.103515625e-5"),
    ("data_total.unit", "MiB"),
    ("data_read", "event=0xff,umask=0x20"),
    ("data_read.scale", "6.103515625e-5"),
    ("data_read.unit", "MiB"),
    ("data_write", "event=0xff,umask=0x30"),
    ("data_write.scale", "6.103515625e-5"),
    ("data_write.unit", "MiB"),
];

/// The same PMU `count` times, numbered from 0: name and CPUs by number.
fn pmus(
    tree: Builder,
    count: u32,
    name: impl Fn(u32) -> String,
    cpus: impl Fn(u32) -> String,
    format: &[(&str, &str)],
    events: &[(&str, &str)],
) -> Builder {
    (0..count).fold(tree, |tree, n| tree.pmu(&name(n), 20 + n, &cpus(n), format, events))
}

fn imc(tree: Builder, count: u32, cpus: &str, events: &[(&str, &str)]) -> Builder {
    pmus(tree, count, |n| format!("uncore_imc_{n}"), |_| cpus.to_owned(), IMC_FORMAT, events)
}

fn free_running(tree: Builder, count: u32, cpus: &str) -> Builder {
    let name = |n| format!("uncore_imc_free_running_{n}");
    pmus(tree, count, name, |_| cpus.to_owned(), IMC_FORMAT, FREE_RUNNING_EVENTS)
}

/// Six boxes in each package; `cpus` has one CPU of each.
pub fn skylake(tree: Builder, cpus: &str) -> Builder {
    imc(tree, 6, cpus, IMC_EVENTS)
}

/// Eight boxes in each package, and free-running counters of the same controllers.
pub fn ice_lake(tree: Builder, cpus: &str) -> Builder {
    free_running(imc(tree, 8, cpus, IMC_EVENTS), 4, cpus)
}

/// Two controllers with programmable counters without named traffic events, and free-running ones that do.
pub fn laptop(tree: Builder) -> Builder {
    free_running(imc(tree, 2, "0", &[("clockticks", "event=0x01")]), 2, "0")
}

/// Dies 1, 3, 5 and 7 of 16 cores have four controllers each, opened on a die's first CPU.
pub fn kunpeng(tree: Builder) -> Builder {
    pmus(
        tree,
        16,
        |n| format!("hisi_sccl{}_ddrc{}", 1 + n / 4 * 2, n % 4),
        |n| (n / 4 * 16).to_string(),
        &[("event", "config:0-4")],
        &[
            ("flux_wr", "config=0x0"),
            ("flux_rd", "config=0x1"),
            ("flux_wcmd", "config=0x2"),
            ("flux_rcmd", "config=0x3"),
            ("rnk_chg", "config=0x6"),
        ],
    )
}

/// Twelve channels in each of eight packages of 96 cores; the driver shows formats and no events.
pub fn epyc(tree: Builder) -> Builder {
    let format = &[("event", "config:0-7"), ("rdwrmask", "config:8-9")];
    pmus(tree, 96, |n| format!("amd_umc_{n}"), |n| (n / 12 * 96).to_string(), format, &[])
}

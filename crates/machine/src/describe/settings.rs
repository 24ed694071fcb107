//! Kernel settings that affect figures, as the kernel names them.

use std::collections::BTreeSet;

use figure::Reading;
use figure::host::{Numa, Setting};

use crate::Tree;
use crate::tree::printable;

const CPU: &str = "/sys/devices/system/cpu";
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const SUPPLIES: &str = "/sys/class/power_supply";
/// Whether reclaim moves cold pages to a lower tier (Linux 5.15; ABI/testing/sysfs-kernel-mm-numa).
const DEMOTION: &str = "/sys/kernel/mm/numa/demotion_enabled";
/// Pages that MPOL_WEIGHTED_INTERLEAVE takes from each node in turn (Linux 6.9), and whether the kernel sets them by
/// the bandwidth of the nodes (`auto`, 6.16; ABI/testing/sysfs-kernel-mm-mempolicy-weighted-interleave).
const WEIGHTS: &str = "/sys/kernel/mm/mempolicy/weighted_interleave";

type Form = fn(&str) -> String;

/// Settings with one file each: name, file, form.
const FILES: [(&str, &str, Form); 17] = [
    ("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", chosen),
    ("transparent_hugepage_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", chosen),
    ("numa_balancing", "/proc/sys/kernel/numa_balancing", as_is),
    ("smt", "/sys/devices/system/cpu/smt/control", as_is),
    ("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource", as_is),
    ("clocksource_available", "/sys/devices/system/clocksource/clocksource0/available_clocksource", as_is),
    ("aslr", "/proc/sys/kernel/randomize_va_space", as_is),
    ("overcommit", "/proc/sys/vm/overcommit_memory", as_is),
    ("swappiness", "/proc/sys/vm/swappiness", as_is),
    ("zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", as_is),
    ("ksm", "/sys/kernel/mm/ksm/run", as_is),
    ("isolated", "/sys/devices/system/cpu/isolated", or_none),
    ("nohz_full", "/sys/devices/system/cpu/nohz_full", or_none),
    ("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", as_is),
    ("sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", as_is),
    ("sched_ext", "/sys/kernel/sched_ext/state", as_is),
    ("sched_ext_ops", "/sys/kernel/sched_ext/root/ops", as_is),
];

/// Settings with one file in each cpufreq policy: name, file.
const POLICY_FILES: [(&str, &str); 3] = [
    ("governor", "scaling_governor"),
    ("scaling_driver", "scaling_driver"),
    ("energy_preference", "energy_performance_preference"),
];

/// All settings, in a fixed order: those with one file, then those from several.
pub fn describe(tree: &Tree, numa: &Numa) -> Vec<Setting> {
    let from_file = |(name, file, form): &(&str, &str, Form)| {
        setting(name, tree.text(file).map(|text| form(&text)), file)
    };
    let from_policies = |(name, file): &(&str, &str)| {
        setting(name, policies(tree, file), &format!("{POLICIES}/policy*/{file}"))
    };
    let mut settings: Vec<Setting> =
        FILES.iter().map(from_file).chain(POLICY_FILES.iter().map(from_policies)).collect();
    settings.push(boost(tree));
    settings.push(setting("mitigations", mitigations(tree), &format!("{CPU}/vulnerabilities")));
    settings.push(setting("power", power(tree), SUPPLIES));
    settings.extend(of_nodes(tree, numa));
    settings
}

/// Where memory goes among several nodes. Only files that exist: most machines have one node, or an older kernel.
fn of_nodes(tree: &Tree, numa: &Numa) -> Vec<Setting> {
    let nodes: Vec<u32> =
        numa.nodes.iter().filter(|node| node.memory != Some(0)).map(|node| node.node).collect();
    if nodes.len() < 2 {
        return Vec::new();
    }
    let demotion = tree.text(DEMOTION).into_value().map(|text| (DEMOTION, "numa_demotion", as_is(&text)));
    let weight = |node: &u32| {
        let weight: u8 = tree.number(format!("{WEIGHTS}/node{node}")).into_value()?;
        Some(format!("node{node}={weight}"))
    };
    let mut weights: Vec<String> = nodes.iter().filter_map(weight).collect();
    if tree.text(format!("{WEIGHTS}/auto")).value().is_some_and(|auto| matches!(auto.as_str(), "true" | "Y"))
    {
        weights.push("(auto)".to_owned());
    }
    let weights = (!weights.is_empty()).then(|| (WEIGHTS, "weighted_interleave", weights.join(" ")));
    let known = demotion.into_iter().chain(weights);
    known.map(|(source, name, value)| setting(name, Reading::Value(value), source)).collect()
}

fn setting(name: &str, value: Reading<String>, source: &str) -> Setting {
    let value = value.map(|value| printable(&value, MAX_VALUE));
    Setting { name: name.to_owned(), value, source: source.to_owned() }
}

/// Characters of a value at most. The longest real value (mitigations) has about 300.
const MAX_VALUE: usize = 1000;

fn as_is(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn or_none(text: &str) -> String {
    // nohz_full prints "(null)" if it has no CPU.
    if text.is_empty() || text == "(null)" { "none".to_owned() } else { as_is(text) }
}

/// The word in brackets of `always [madvise] never`.
fn chosen(text: &str) -> String {
    let word = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    word.map_or_else(|| as_is(text), str::to_owned)
}

/// The distinct values of all cpufreq policies. Before Linux 4.3 each CPU had its own directory.
fn policies(tree: &Tree, file: &str) -> Reading<String> {
    let policies = tree.numbered(POLICIES, "policy");
    let by_policy = policies.iter().map(|policy| format!("{POLICIES}/policy{policy}/{file}"));
    let mut values: BTreeSet<String> = by_policy.filter_map(|path| tree.line(path).into_value()).collect();
    if values.is_empty() {
        let by_cpu =
            tree.numbered(CPU, "cpu").into_iter().map(|cpu| format!("{CPU}/cpu{cpu}/cpufreq/{file}"));
        values = by_cpu.filter_map(|path| tree.line(path).into_value()).collect();
    }
    match (values.is_empty(), policies.is_empty()) {
        (false, _) => Reading::Value(values.into_iter().collect::<Vec<_>>().join(", ")),
        (true, false) => Reading::Unknown(format!("no policy in {POLICIES} has {file}")),
        (true, true) => {
            Reading::Unknown(format!("{POLICIES} shows no policy: the clock is not set by this kernel"))
        }
    }
}

/// `on` or `off`. The file of intel_pstate has the opposite meaning (no_turbo).
fn boost(tree: &Tree) -> Setting {
    let files = [(format!("{CPU}/intel_pstate/no_turbo"), "0"), (format!("{POLICIES}/boost"), "1")];
    for (file, on) in &files {
        if let Reading::Value(text) = tree.text(file)
            && matches!(text.as_str(), "0" | "1")
        {
            let value = if text == *on { "on" } else { "off" };
            return setting("boost", Reading::Value(value.to_owned()), file);
        }
    }
    let reason = format!("neither {} nor {} exists", files[0].0, files[1].0);
    setting("boost", Reading::Unknown(reason), &files[1].0)
}

/// `mitigated: retbleed, spectre_v2; vulnerable: mds`, after `off by boot parameter` if so.
fn mitigations(tree: &Tree) -> Reading<String> {
    let directory = format!("{CPU}/vulnerabilities");
    let (mut mitigated, mut vulnerable, mut count) = (Vec::new(), Vec::new(), 0);
    for name in tree.names(&directory) {
        let Reading::Value(state) = tree.text(format!("{directory}/{name}")) else { continue };
        count += 1;
        // "Mitigation: …", "KVM: Mitigation: …", "Vulnerable…", "Processor vulnerable", "Not affected", "Unknown: …"
        if state.contains("Mitigation:") {
            mitigated.push(name);
        } else if state.to_ascii_lowercase().contains("vulnerable") {
            vulnerable.push(name);
        }
    }
    let off =
        command_line(tree).value().is_some_and(|line| line.split(' ').any(|word| word == "mitigations=off"));
    if count == 0 && !off {
        return Reading::Unknown(format!("{directory} is not there"));
    }
    let list =
        |what: &str, names: Vec<String>| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
    let parts = [
        off.then(|| "off by boot parameter".to_owned()),
        list("mitigated", mitigated),
        list("vulnerable", vulnerable),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Reading::Value(if parts.is_empty() { "none needed".to_owned() } else { parts.join("; ") })
}

/// `mains`, or `battery` if no mains supply is online.
fn power(tree: &Tree) -> Reading<String> {
    let (mut mains, mut battery) = (false, false);
    for name in tree.names(SUPPLIES) {
        let field =
            |file: &str| tree.text(format!("{SUPPLIES}/{name}/{file}")).into_value().unwrap_or_default();
        match field("type").as_str() {
            "Mains" | "USB" => mains |= field("online") == "1",
            // The battery of a wireless mouse has the scope "Device".
            "Battery" if field("scope") != "Device" => battery = true,
            _ => {}
        }
    }
    match (mains, battery) {
        (true, _) => Reading::Value("mains".to_owned()),
        (false, true) => Reading::Value("battery".to_owned()),
        (false, false) => Reading::Unknown(format!("{SUPPLIES} shows neither mains nor battery")),
    }
}

pub fn release(tree: &Tree) -> Reading<String> {
    let release = tree.line("/proc/sys/kernel/osrelease");
    let Reading::Unknown(reason) = &release else { return release };
    let version = tree.line("/proc/version").into_value();
    Reading::or_unknown(version.and_then(|text| Some(text.split(' ').nth(2)?.to_owned())), reason)
}

/// Only [`RECORDED_PARAMETERS`]: others may contain names, addresses and secrets, and records are published.
pub fn command_line(tree: &Tree) -> Reading<String> {
    tree.text("/proc/cmdline").map(|line| printable(&recorded_parameters(&line), MAX_COMMAND_LINE))
}

/// Characters of a command line at most (COMMAND_LINE_SIZE).
const MAX_COMMAND_LINE: usize = 4096;

/// Boot parameters that affect figures, sorted (Documentation/admin-guide/kernel-parameters.txt).
const RECORDED_PARAMETERS: [&str; 62] = [
    "acpi_cppc",
    "amd_prefcore",
    "amd_pstate",
    "clocksource",
    "cpufreq.default_governor",
    "cpuidle.off",
    "default_hugepagesz",
    "hpet",
    "hugepages",
    "hugepagesz",
    "hugetlb_cma",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "iommu.passthrough",
    "irqaffinity",
    "isolcpus",
    "kfence.sample_interval",
    "kthread_cpus",
    "l1tf",
    "maxcpus",
    "mce",
    "mds",
    "mem",
    "memmap",
    "mitigations",
    "movable_node",
    "no-kvmclock",
    "no-steal-acc",
    "nohz",
    "nohz_full",
    "nopti",
    "noretpoline",
    "nosmt",
    "nospectre_v1",
    "nospectre_v2",
    "nowatchdog",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "page_alloc.shuffle",
    "page_poison",
    "possible_cpus",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "rcu_nocbs",
    "retbleed",
    "skew_tick",
    "slub_debug",
    "spec_store_bypass_disable",
    "spectre_v2",
    "swapaccount",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
];

/// The recorded parameters of a command line, up to `--`, after which those of the init program follow.
pub fn recorded_parameters(line: &str) -> String {
    let is_recorded = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word);
        RECORDED_PARAMETERS.binary_search(&name).is_ok()
    };
    line.split_whitespace().take_while(|word| *word != "--").filter(is_recorded).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_boot_parameters_are_recorded() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 isolcpus=2-3 ks.password=secret mitigations=off nosmt -- --token=x mem=1G";
        assert_eq!(recorded_parameters(line), "isolcpus=2-3 mitigations=off nosmt");
        assert_eq!(recorded_parameters(&recorded_parameters(line)), recorded_parameters(line));
    }

    #[test]
    fn every_parameter_of_the_list_is_found() {
        for name in RECORDED_PARAMETERS {
            assert_eq!(recorded_parameters(name), name, "the list is not sorted");
        }
    }

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("odd"), "odd");
        assert_eq!(or_none("(null)"), "none");
    }
}

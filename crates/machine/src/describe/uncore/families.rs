//! The table of PMU families that count memory traffic. Terms and scales come from sysfs. What sysfs does not
//! have is here, with its source.

use figure::host::Direction::{self, Both, Read, Write};

use crate::Tree;

pub struct Family {
    /// Names of the PMUs; `*` is a number.
    pub devices: &'static [&'static str],
    /// Sets of events; the sum over a set is the traffic. The first set that exists completely is used.
    pub layouts: &'static [&'static [Event]],
    /// Whether each event is a channel, instead of each PMU.
    pub channel_per_event: bool,
    /// Whether the encodings apply to this machine's processor.
    pub holds: fn(&Tree) -> bool,
}

pub struct Event {
    /// The file in `events/`, or the name in the manual.
    pub name: &'static str,
    pub direction: Direction,
    /// Its terms, if sysfs has none.
    pub terms: Option<&'static str>,
    /// Bytes per count, if sysfs has no scale.
    pub bytes: Option<f64>,
}

/// An event with its terms and scale in sysfs.
const fn scaled(name: &'static str, direction: Direction) -> Event {
    Event { name, direction, terms: None, bytes: None }
}

/// An event with its terms in sysfs, and a default for its scale.
const fn named(name: &'static str, direction: Direction, bytes: f64) -> Event {
    Event { name, direction, terms: None, bytes: Some(bytes) }
}

/// An event that is not in sysfs.
const fn encoded(name: &'static str, direction: Direction, terms: &'static str, bytes: f64) -> Event {
    Event { name, direction, terms: Some(terms), bytes: Some(bytes) }
}

const DEFAULTS: Family = Family { devices: &[], layouts: &[], channel_per_event: false, holds: |_| true };

/// Bytes of a cache line, and of half of one.
const LINE: f64 = 64.0;
const BEAT: f64 = 32.0;

/// The families, nearest to memory first.
pub static FAMILIES: &[Family] = &[
    // Linux, arch/x86/events/intel/uncore_snbep.c: cas_count_read and cas_count_write with scale and unit
    // since Linux 3.17; two sub-channels in each box from Granite Rapids on. The Uncore Performance
    // Monitoring manuals write CAS_COUNT.RD and CAS_COUNT.WR.
    Family {
        devices: &["uncore_imc_*"],
        layouts: &[
            &[named("cas_count_read", Read, LINE), named("cas_count_write", Write, LINE)],
            &[
                named("cas_count_read_sch0", Read, LINE),
                named("cas_count_read_sch1", Read, LINE),
                named("cas_count_write_sch0", Write, LINE),
                named("cas_count_write_sch1", Write, LINE),
            ],
            &[named("cas_count.rd", Read, LINE), named("cas_count.wr", Write, LINE)],
        ],
        ..DEFAULTS
    },
    // uncore_snbep.c (read, write) and uncore_snb.c (data_read, data_write): counters that cannot be stopped.
    Family {
        devices: &["uncore_imc_free_running_*"],
        layouts: &[
            &[scaled("data_read", Read), scaled("data_write", Write)],
            &[scaled("read", Read), scaled("write", Write)],
        ],
        ..DEFAULTS
    },
    // uncore_snb.c: processors of laptops and desktops up to Tiger Lake.
    Family {
        devices: &["uncore_imc"],
        layouts: &[&[scaled("data_reads", Read), scaled("data_writes", Write)]],
        ..DEFAULTS
    },
    // Linux, arch/x86/events/amd/uncore.c has formats only. Encodings: tools/perf/pmu-events/arch/x86/amdzen4
    // and amdzen5, memory-controller.json; 64 B: umc_mem_read_bandwidth in recommended.json.
    Family {
        devices: &["amd_umc_*"],
        layouts: &[&[
            encoded("umc_cas_cmd.rd", Read, "event=0x0a,rdwrmask=0x1", LINE),
            encoded("umc_cas_cmd.wr", Write, "event=0x0a,rdwrmask=0x2", LINE),
        ]],
        ..DEFAULTS
    },
    // Zen to Zen 3: tools/perf/pmu-events/arch/x86/amdzen1 to amdzen3, data-fabric.json: requests with data
    // (64 B) of each DRAM channel, reads and writes together.
    Family {
        devices: &["amd_df"],
        layouts: &[&[
            encoded("dram_channel_data_controller_0", Both, "event=0x07,umask=0x38", LINE),
            encoded("dram_channel_data_controller_1", Both, "event=0x47,umask=0x38", LINE),
            encoded("dram_channel_data_controller_2", Both, "event=0x87,umask=0x38", LINE),
            encoded("dram_channel_data_controller_3", Both, "event=0xc7,umask=0x38", LINE),
            encoded("dram_channel_data_controller_4", Both, "event=0x107,umask=0x38", LINE),
            encoded("dram_channel_data_controller_5", Both, "event=0x147,umask=0x38", LINE),
            encoded("dram_channel_data_controller_6", Both, "event=0x187,umask=0x38", LINE),
            encoded("dram_channel_data_controller_7", Both, "event=0x1c7,umask=0x38", LINE),
        ]],
        channel_per_event: true,
        holds: zen_to_zen3,
    },
    // Linux, drivers/perf/arm_cspmu/nvidia_cspmu.c (Grace). A read counts beats of 32 B, a write bytes: the
    // bandwidth formulas of Arm's telemetry solution for this PMU.
    Family {
        devices: &["nvidia_scf_pmu_*"],
        layouts: &[&[named("cmem_rd_data", Read, BEAT), named("cmem_wr_total_bytes", Write, 1.0)]],
        ..DEFAULTS
    },
    // Linux, Documentation/admin-guide/perf/nvidia-tegra410-pmu.rst: bytes to local or remote memory.
    Family {
        devices: &["nvidia_ucf_pmu_*"],
        layouts: &[&[named("mem_bytes_rd", Read, 1.0), named("mem_bytes_wr", Write, 1.0)]],
        ..DEFAULTS
    },
    // Linux, drivers/perf/hisilicon/hisi_uncore_ddrc_pmu.c (Kunpeng). 32 B: ddrc_bw_read of openEuler's
    // tools/perf/pmu-events/arch/arm64/hisilicon/hip09, and A-Tune's monitor for Kunpeng 920.
    Family {
        devices: &["hisi_sccl*_ddrc*"],
        layouts: &[&[named("flux_rd", Read, BEAT), named("flux_wr", Write, BEAT)]],
        ..DEFAULTS
    },
    // Linux, Documentation/admin-guide/perf/alibaba_pmu.rst (Yitian 710): DDRC_WIDTH is 64 bytes, and a
    // read-modify-write counts as a write.
    Family {
        devices: &["ali_drw_*"],
        layouts: &[&[
            named("hif_rd", Read, LINE),
            named("hif_wr", Write, LINE),
            named("hif_rmw", Write, LINE),
        ]],
        ..DEFAULTS
    },
];

/// PMUs near memory that cannot be used, and why.
pub static UNUSED: &[(&str, &str)] = &[
    ("arm_dmc620_*", "no public document states how many bytes its clkdiv2_rdwr counts"),
    ("arm_cmn_*", "it counts requests in the mesh, and not what memory moves"),
    ("uncore_dmc_*", "it counts one channel and guesses the others (thunderx2-pmu.rst)"),
    ("amd_df", "its events for this processor are not in sysfs; Linux 6.8 and later have amd_umc_* for it"),
];

/// AMD families 17h and 19h up to Zen 3 (tools/perf/pmu-events/arch/x86/mapfile.csv). Later processors use
/// the same codes for other events.
fn zen_to_zen3(tree: &Tree) -> bool {
    let text = tree.text("/proc/cpuinfo").into_value().unwrap_or_default();
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name)?.1.trim().parse::<u32>().ok()
    };
    match (field("cpu family"), field("model")) {
        (Some(0x17), Some(_)) => true,
        (Some(0x19), Some(model)) => matches!(model >> 4, 0x0 | 0x2 | 0x4 | 0x5),
        _ => false,
    }
}

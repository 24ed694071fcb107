//! What /proc says about the memory of a process that no record of the kernel tells: whether it has pages in swap,
//! pages that KSM merged, huge pages, and memory that is registered with userfaultfd.

use serde::{Deserialize, Serialize};

use super::address_space::USERFAULT;
use super::record::Map;

/// Descriptors of a process that are searched for a userfaultfd at most.
const MOST_DESCRIPTORS: usize = 128;

/// The most that was read of any process of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryState {
    /// Bytes in swap (VmSwap).
    pub swapped: u64,
    /// Pages that KSM merged with others, or looks at to merge them (ksm_stat; Linux 6.0): merged ones may be copied again
    /// before they are read here.
    pub merged: u64,
    /// Bytes in transparent huge pages (AnonHugePages).
    pub huge: u64,
}

impl MemoryState {
    /// Of a process, whose `status` has been read.
    pub fn read(process: u32, status: &str) -> MemoryState {
        let ksm_stat = lab::proc::text(format!("/proc/{process}/ksm_stat")).unwrap_or_default();
        MemoryState {
            swapped: lab::proc::memory(status, "VmSwap").unwrap_or(0),
            merged: merged(&ksm_stat),
            huge: 0,
        }
    }

    /// Adds its huge pages. The kernel walks its page tables for them.
    pub fn read_huge(self, process: u32) -> MemoryState {
        let text = lab::proc::text(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        MemoryState { huge: lab::proc::memory(&text, "AnonHugePages").unwrap_or(0), ..self }
    }

    pub fn add(&mut self, other: &MemoryState) {
        self.swapped = self.swapped.max(other.swapped);
        self.merged = self.merged.max(other.merged);
        self.huge = self.huge.max(other.huge);
    }
}

/// Pages of zeros that KSM mapped instead (use_zero_pages) count, too.
fn merged(ksm_stat: &str) -> u64 {
    let numbers = ksm_stat.lines().filter_map(|line| line.split_once(' '));
    let merged =
        numbers.filter(|(name, _)| ["ksm_rmap_items", "ksm_merging_pages", "ksm_zero_pages"].contains(name));
    merged.filter_map(|(_, number)| number.trim().parse::<u64>().ok()).fold(0, u64::saturating_add)
}

/// The memory of a process that is registered with userfaultfd. A process without such a descriptor is not searched, as the
/// kernel walks the page tables of all of its memory to write smaps.
pub fn userfaults(process: u32) -> Vec<Map> {
    let entries = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let is_userfault = |path: std::path::PathBuf| {
        std::fs::read_link(path).is_ok_and(|target| target.as_os_str() == "anon_inode:[userfaultfd]")
    };
    if !entries.take(MOST_DESCRIPTORS).any(|entry| is_userfault(entry.path())) {
        return Vec::new();
    }
    registered(process, &lab::proc::text(format!("/proc/{process}/smaps")).unwrap_or_default())
}

/// The mappings of smaps with one of the flags of userfaultfd (missing, write-protected, minor; fs/proc/task_mmu.c).
fn registered(process: u32, smaps: &str) -> Vec<Map> {
    let mut all = Vec::new();
    let mut range = None;
    for line in smaps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let is_registered = flags.split_whitespace().any(|flag| ["um", "uw", "ui"].contains(&flag));
            all.extend(range.take().filter(|_| is_registered));
        } else if let Some((start, end)) = line.split(' ').next().and_then(|word| word.split_once('-'))
            && let (Ok(start), Ok(end)) = (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16))
        {
            range = Some((start, end));
        }
    }
    let name = USERFAULT.to_owned();
    let map = |(start, end)| Map {
        process,
        start,
        end,
        protection: 3,
        is_private: true,
        name: name.clone(),
        ..Map::default()
    };
    all.into_iter().map(map).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Of Linux 6.18.
    const SMAPS: &str = "\
7f0000000000-7f0001000000 rw-p 00000000 00:00 0 \n\
Size:              16384 kB\n\
Anonymous:         16384 kB\n\
VmFlags: rd wr mr mw me um ac \n\
7f0001000000-7f0002000000 rw-s 00000000 00:01 1027                       /dev/zero (deleted)\n\
VmFlags: rd wr mr mw me ui ac \n\
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n\
VmFlags: rd wr mr mw me gd ac \n";

    #[test]
    fn memory_of_userfaultfd_is_found() {
        let all = registered(7, SMAPS);
        let ranges: Vec<(u64, u64)> = all.iter().map(|map| (map.start, map.end)).collect();
        assert_eq!(ranges, [(0x7f00_0000_0000, 0x7f00_0100_0000), (0x7f00_0100_0000, 0x7f00_0200_0000)]);
        assert!(all.iter().all(|map| map.process == 7 && map.name == USERFAULT));
        assert!(registered(7, "").is_empty());
        assert!(userfaults(std::process::id()).is_empty(), "this process has none");
    }

    #[test]
    fn merged_pages_are_counted() {
        let stat = "ksm_rmap_items 4096\nksm_zero_pages 2\nksm_merging_pages 4096\nksm_process_profit 16515072\nksm_merge_any: no\n";
        assert_eq!(merged(stat), 8194);
        assert_eq!(merged(""), 0);
        let mut state = MemoryState { swapped: 8, merged: 1, huge: 0 };
        state.add(&MemoryState { swapped: 4, merged: 5, huge: 7 });
        assert_eq!(state, MemoryState { swapped: 8, merged: 5, huge: 7 });
    }
}

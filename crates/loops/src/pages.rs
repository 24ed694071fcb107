//! Which pages to ask for, and which were obtained: size by smaps, place by move_pages.

use crate::words;
use figure::{Machine, Reading};
use procfs_core::process::MemoryMaps;

words! {
    #[derive(Default)]
    pub enum Pages {
        /// Whatever the kernel's policy gives (transparent_hugepage/enabled).
        #[default]
        Default = "default",
        /// The base page, 4 KiB on most machines, by madvise(MADV_NOHUGEPAGE).
        Small = "small",
        /// Transparent huge pages, by madvise(MADV_HUGEPAGE).
        Thp = "thp",
        /// 2 MiB pages of the reserved pool (MAP_HUGETLB).
        Huge2m = "huge2m",
        Huge1g = "huge1g",
    }
}

impl Pages {
    /// Bytes of a reserved huge page, where one is asked for.
    pub fn reserved_size(self) -> Option<u64> {
        match self {
            Pages::Default | Pages::Small | Pages::Thp => None,
            Pages::Huge2m => Some(2 << 20),
            Pages::Huge1g => Some(1 << 30),
        }
    }

    /// Transparent huge pages where the kernel gives them for the asking, unless other pages are asked for.
    pub fn or_huge(self, machine: &Machine) -> Pages {
        let policy = machine.kernel.setting("transparent_hugepage").and_then(|setting| setting.value.value());
        match self {
            Pages::Default if policy.is_some_and(|policy| policy != "never") => Pages::Thp,
            other => other,
        }
    }
}

const SMALLEST_PAGE: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backing {
    pub resident: u64,
    /// Bytes on huge pages, transparent or reserved.
    pub huge: u64,
    pub page: u64,
}

impl Backing {
    /// All together: bytes are added, the page size is that of the last.
    pub fn sum(parts: impl IntoIterator<Item = Reading<Backing>>) -> Reading<Backing> {
        let mut sum = Reading::unknown("no memory was mapped");
        for part in parts {
            sum = match (sum, part) {
                (_, Reading::Unknown(reason)) => return Reading::Unknown(reason),
                (Reading::Unknown(_), first) => first,
                (Reading::Value(sum), Reading::Value(part)) => Reading::Value(Backing {
                    resident: sum.resident + part.resident,
                    huge: sum.huge + part.huge,
                    page: part.page,
                }),
            };
        }
        sum
    }
}

/// What backs the addresses from `start` to `end`, by /proc/self/smaps.
pub fn backing(start: usize, end: usize) -> Reading<Backing> {
    match lab::maps::read("/proc/self/smaps") {
        Ok(maps) => backing_in(&maps, start as u64, end as u64),
        Err(failure) => Reading::Unknown(failure.to_string()),
    }
}

fn backing_in(maps: &MemoryMaps, start: u64, end: u64) -> Reading<Backing> {
    let mut sum = Backing::default();
    for map in maps.iter().filter(|map| map.address.0 < end && map.address.1 > start) {
        let field = |name: &str| map.extension.map.get(name).copied().unwrap_or(0);
        let reserved = field("Private_Hugetlb") + field("Shared_Hugetlb");
        sum.resident += field("Rss") + reserved;
        sum.huge += field("AnonHugePages") + reserved;
        sum.page = field("KernelPageSize");
    }
    if sum.page == 0 {
        Reading::unknown("/proc/self/smaps does not show the arrays")
    } else {
        Reading::Value(sum)
    }
}

pub fn base_page() -> usize {
    // SAFETY: asks for a constant.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096)
}

pub fn unavailable(machine: &Machine, pages: Pages, bytes: u64) -> Option<String> {
    if pages == Pages::Thp {
        return match machine.kernel.setting("transparent_hugepage").map(|setting| &setting.value) {
            Some(Reading::Unknown(reason)) => {
                Some(format!("transparent huge pages are not in this kernel, or hidden here ({reason})"))
            }
            Some(Reading::Value(value)) if value == "never" => Some(
                "transparent huge pages are switched off: echo madvise > \
                 /sys/kernel/mm/transparent_hugepage/enabled (as root)"
                    .to_owned(),
            ),
            _ => None,
        };
    }
    let page = pages.reserved_size()?;
    let needed = bytes.div_ceil(page) + 1;
    let pool = machine.memory.hugetlb.iter().find(|pool| pool.page == page);
    let free = pool.map_or(0, |pool| pool.free);
    let directory = format!("/sys/kernel/mm/hugepages/hugepages-{}kB", page >> 10);
    let size = figure::format::bytes(page as f64);
    (free < needed).then(|| match pool {
        Some(_) => format!(
            "{needed} reserved pages of {size} are needed, {free} are free: echo {needed} > \
             {directory}/nr_hugepages (as root)"
        ),
        None => format!("this kernel has no pool of {size} pages"),
    })
}

pub type SampledNodes = Reading<Vec<Option<u32>>>;

/// The NUMA node of up to `samples` pages of each range (its address and its bytes): one somewhere in each of as many parts.
/// At even distances they could all be pages of one node, where pages are interleaved.
pub fn nodes_in(ranges: impl IntoIterator<Item = (usize, usize)>, samples: usize) -> SampledNodes {
    let sampled = |(start, bytes): (usize, usize)| {
        let step = (bytes / samples.max(1)).max(SMALLEST_PAGE);
        let parts = (0..bytes).step_by(step).take(samples).enumerate();
        parts.map(move |(part, from)| start + (from + scattered(part) % step).min(bytes - 1))
    };
    nodes_of(&ranges.into_iter().flat_map(sampled).collect::<Vec<_>>())
}

/// A number without a rhythm: Knuth's multiplicative hash.
fn scattered(number: usize) -> usize {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32) as usize & 0xffff_ffff
}

/// The node of each page, by move_pages(2) without nodes, which moves nothing; `None` for an absent page.
pub fn nodes_of(addresses: &[usize]) -> SampledNodes {
    let mut status = vec![0i32; addresses.len()];
    // SAFETY: addresses are only queried; `status` has a place for each.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            addresses.len(),
            addresses.as_ptr(),
            std::ptr::null::<i32>(),
            status.as_mut_ptr(),
            0,
        )
    };
    if result < 0 {
        return Reading::Unknown(format!("move_pages: {}", std::io::Error::last_os_error()));
    }
    Reading::Value(status.into_iter().map(|node| u32::try_from(node).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n\
        Size:               4096 kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n\
        Rss:                4096 kB\nAnonHugePages:      2048 kB\nVmFlags: rd wr mr mw me ac\n\
        7f0001000000-7f0001200000 rw-p 00000000 00:00 0 \n\
        Size:               2048 kB\nKernelPageSize:     2048 kB\nRss:                   0 kB\n\
        AnonHugePages:         0 kB\nPrivate_Hugetlb:    2048 kB\nVmFlags: rd wr\n";

    #[test]
    fn recorded_smaps() {
        let maps = lab::maps::parse(SMAPS.as_bytes()).unwrap();
        let pages = |start, end| backing_in(&maps, start, end).into_value();
        let half = Backing { resident: 4 << 20, huge: 2 << 20, page: 4096 };
        assert_eq!(pages(0x7f00_0000_0000, 0x7f00_0040_0000), Some(half));
        let reserved = Backing { resident: 2 << 20, huge: 2 << 20, page: 2 << 20 };
        assert_eq!(pages(0x7f00_0100_0000, 0x7f00_0120_0000), Some(reserved));
        assert_eq!(pages(0x1000, 0x2000), None);
    }

    #[test]
    fn sampled_pages_have_no_rhythm() {
        const PAGE: usize = 2 << 20;
        for period in 2..8 {
            // Parts of four pages each, as an array of 1.5 GiB on huge pages has.
            let page = |part: usize| (part * 4 * PAGE + scattered(part) % (4 * PAGE)) / PAGE;
            let first = (0..192).filter(|part| page(*part) % period == 0).count();
            let expected = 192.0 / period as f64;
            assert!(
                (first as f64 - expected).abs() < 4.0 * expected.sqrt(),
                "{period}: {first} of {expected}"
            );
        }
    }

    #[test]
    fn backings_add_up_and_one_unknown_makes_all_unknown() {
        let part = |resident, huge| Reading::Value(Backing { resident, huge, page: 4096 });
        let sum = Backing::sum([part(3, 2), part(4, 0)]).into_value();
        assert_eq!(sum, Some(Backing { resident: 7, huge: 2, page: 4096 }));
        let unknown = Backing::sum([part(3, 2), Reading::unknown("hidden"), part(1, 1)]);
        assert_eq!(unknown.reason(), Some("hidden"));
        assert!(Backing::sum([]).reason().is_some());
    }
}

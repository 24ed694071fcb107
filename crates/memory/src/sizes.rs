//! How large the arrays must be, and how large they can be. Pure.

use std::collections::BTreeSet;

use figure::evidence::{CACHE_MEASURED, LLC_BASIS, LLC_BYTES, MEMORY_AVAILABLE, MEMORY_LIMITED_BY};
use figure::host::MeasuredCache;
use figure::{CpuList, Evidence, Figure, Machine, Reading, format};

use crate::kernels::ELEMENT;
use crate::simd::BLOCK;

/// STREAM's rule: each array at least 4 times the sum of the last-level caches.
pub const CACHE_FACTOR: u64 = 4;
/// Where no cache is shown: 4 times the largest L3 that one socket had when this was written fits in few
/// memories, so a large but affordable size, and the doubling figure decides.
pub const UNKNOWN_CACHE_ARRAY: u64 = 512 << 20;
/// Bytes of an array where the rule asks for less, and memory is no shorter: what neighbours leave of a cache changes from run to run, and
/// the size should not.
pub const USUAL_ARRAY: u64 = 256 << 20;
/// Share of the available memory that arrays may take: page tables, this program and others need the rest.
pub const USABLE_SHARE: f64 = 0.85;
pub const ARRAYS: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastLevel {
    /// Sum of bytes over distinct instances.
    pub bytes: u64,
    pub basis: String,
}

/// The sum of the last-level caches of these CPUs, each instance once, and of their L2 where that is not the
/// last level: a non-inclusive L3 holds other lines than L2 does (study 1, step 3).
pub fn last_level(machine: &Machine, cpus: &CpuList) -> Reading<LastLevel> {
    let mut levels: BTreeSet<(u32, u64, CpuList)> = BTreeSet::new();
    for cpu in cpus.iter() {
        let Some(last) = machine.last_level_of(cpu) else {
            let reason = machine.caches.unknown.as_deref().unwrap_or("no data cache is shown");
            return Reading::Unknown(format!("CPU {cpu}: {reason}"));
        };
        let caches_at = |level: u32| {
            machine.caches.instances.iter().filter(move |cache| {
                cache.level == level
                    && cache.kind != figure::host::CacheKind::Instruction
                    && cache.cpus.contains(cpu)
            })
        };
        let levels_of_cpu = if last.level > 2 { vec![2, last.level] } else { vec![last.level] };
        for cache in levels_of_cpu.into_iter().flat_map(caches_at) {
            levels.insert((cache.level, cache.size, cache.cpus.clone()));
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for level in [4, 3, 2, 1] {
        let sizes: Vec<u64> = levels.iter().filter(|(l, ..)| *l == level).map(|(_, size, _)| *size).collect();
        if let Some(&first) = sizes.first() {
            let equal = sizes.iter().all(|size| *size == first);
            let shown = if equal { first } else { sizes.iter().sum() };
            let times = if equal { sizes.len() } else { 1 };
            parts.push(format!("{times} x L{level} of {}", format::bytes(shown as f64)));
        }
    }
    Reading::Value(LastLevel {
        bytes: levels.iter().map(|(_, size, _)| size).sum(),
        basis: parts.join(" + "),
    })
}

/// What arrays must exceed: the caches that are shown, if the measurement allows that size, else the cache as measured. It allows from the
/// least part of its bound up to twice the bound: neighbours may use half of a shared cache.
pub fn in_use(machine: &Machine, cpus: &CpuList) -> Reading<LastLevel> {
    let shown = last_level(machine, cpus);
    let Some(bytes) = measured(machine, cpus) else { return shown };
    match shown {
        Reading::Value(shown) if (bytes / MeasuredCache::PARTS..=2 * bytes).contains(&shown.bytes) => {
            Reading::Value(shown)
        }
        Reading::Value(shown) => {
            let basis = format!("measured; {} are shown", format::bytes(shown.bytes as f64));
            Reading::Value(LastLevel { bytes, basis })
        }
        Reading::Unknown(_) => {
            Reading::Value(LastLevel { bytes, basis: "measured; none is shown".to_owned() })
        }
    }
}

/// The cache of these CPUs by measurement. That of more CPUs is a bound, as fewer fill no more: it says something where it is less than what
/// is shown.
fn measured(machine: &Machine, cpus: &CpuList) -> Option<u64> {
    let is_bound = |cache: &MeasuredCache| {
        let is_less =
            |bytes: &u64| last_level(machine, cpus).value().is_none_or(|shown| *bytes <= shown.bytes);
        cpus.difference(&cache.cpus).is_empty() && cache.bytes.value().is_some_and(is_less)
    };
    let says = |cache: &&MeasuredCache| cache.cpus == *cpus || is_bound(cache);
    machine.caches.measured.iter().filter(says).filter_map(|cache| cache.bytes.value().copied()).min()
}

/// For people: `67 MiB (2 x L3 of 33 MiB + 1 x L2 of 1 MiB)`.
pub fn describe(cache: &Reading<LastLevel>) -> String {
    match cache {
        Reading::Value(cache) => format!("{} ({})", format::bytes(cache.bytes as f64), cache.basis),
        Reading::Unknown(reason) => format!("unknown: {reason}"),
    }
}

pub fn cache_evidence(machine: &Machine, cpus: &CpuList) -> Evidence {
    let mut evidence = Evidence::default();
    let caches = last_level(machine, cpus);
    evidence.put_reading(LLC_BYTES, caches.clone().map(|caches| caches.bytes as f64));
    evidence.put_reading(LLC_BASIS, caches.map(|caches| caches.basis));
    match measured(machine, cpus) {
        Some(bytes) => evidence.put(CACHE_MEASURED, bytes as f64),
        None => {
            evidence.put_unknown(CACHE_MEASURED, "not measured for these CPUs: guests do that before a run")
        }
    }
    evidence
}

pub use figure::room::{Room, now, room};

/// Bytes a second of first touch in a guest: a hypervisor that backs pages then reached 0.3 to 0.6 GB/s.
const GUEST_TOUCH: f64 = 0.3e9;
/// The same of each thread on bare metal, where the kernel clears the page, and of how many at once.
const THREAD_TOUCH: f64 = 1e9;
const TOUCHING: usize = 8;

/// Share of a mode's time that first touch may take.
const TOUCH_SHARE: f64 = 0.4;

/// Seconds that first touch of so many bytes takes at most, by a cautious estimate.
pub fn touch_seconds(machine: &Machine, threads: usize, bytes: f64) -> f64 {
    bytes / touch_rate(machine, threads)
}

fn touch_rate(machine: &Machine, threads: usize) -> f64 {
    let is_bare = machine.virtualisation.hypervisor.value().is_some_and(|name| name == "none");
    if is_bare { THREAD_TOUCH * threads.clamp(1, TOUCHING) as f64 } else { GUEST_TOUCH }
}

/// Memory that arrays of a size of our choice may take: what there is room for, and what can be touched in the time.
pub fn room_in_time(machine: &Machine, threads: usize, max_time: f64) -> Reading<Room> {
    let touched = touch_rate(machine, threads) * TOUCH_SHARE * max_time;
    let in_time = || Room {
        bytes: (touched / USABLE_SHARE) as u64,
        bound: format!(
            "first touch of more may take over {} of {}",
            format::percent(TOUCH_SHARE),
            format::seconds(max_time)
        ),
        is_momentary: false,
    };
    match room(machine) {
        Reading::Value(room) if (room.bytes as f64 * USABLE_SHARE) <= touched => Reading::Value(room),
        Reading::Unknown(reason) if max_time == f64::MAX => Reading::Unknown(reason),
        _ => Reading::Value(in_time()),
    }
}

/// Writes what bounds a figure's memory: what made it smaller than the rule, or nothing; and the room.
pub fn write_bounds(figure: &mut Figure, limited_by: &str, room: &Reading<Room>) {
    figure.evidence.put(MEMORY_LIMITED_BY, limited_by.to_owned());
    figure.evidence.put_reading(MEMORY_AVAILABLE, room.clone().map(|room| room.bytes as f64));
}

/// Bytes of that room which arrays may take, and what bounds them.
pub fn usable(room: &Reading<Room>) -> (u64, String) {
    match room {
        Reading::Value(room) => ((room.bytes as f64 * USABLE_SHARE) as u64, room.bound.clone()),
        // Unknown limits cannot be observed; sizes without known caches are modest.
        Reading::Unknown(reason) => {
            (ARRAYS * UNKNOWN_CACHE_ARRAY, format!("available memory is not known: {reason}"))
        }
    }
}

/// What a pool of reserved huge pages of this size offers; `None` if nothing in it is free.
pub fn pool_room(machine: &Machine, page: u64) -> Option<Room> {
    let pool = machine.memory.hugetlb.iter().find(|pool| pool.page == page && pool.free > 0)?;
    let bound = format!("{} reserved pages of {} are free", pool.free, format::bytes(page as f64));
    Some(Room { bytes: pool.free * page, bound, is_momentary: true })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements of each array: a multiple of [`BLOCK`].
    pub elements: u64,
    /// Elements for the doubled figure, where memory allows one.
    pub doubled: Option<u64>,
    /// The limit that made the arrays smaller, or excluded the doubled figure; empty if none did.
    pub limited_by: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    #[error(
        "--array-size {elements}: {threads} threads need at least {least} elements ({} each); give more",
        BLOCK
    )]
    TooSmall { elements: u64, threads: u64, least: u64 },
    #[error(
        "--array-size {elements}: {ARRAYS} arrays need {needed}, but {bound}; give at most {most} elements"
    )]
    TooLarge { elements: u64, needed: String, bound: String, most: u64 },
    #[error("not enough memory for any array: {0}")]
    NoRoom(String),
}

impl Sizes {
    /// What made the arrays smaller than 4 x the caches, or than the default where these are unknown; empty if
    /// nothing did. Ignores doubled arrays.
    pub fn shortened_by(&self, asked: Option<u64>, cache: &Reading<LastLevel>) -> String {
        let is_default = cache.value().is_some() || self.elements * ELEMENT >= UNKNOWN_CACHE_ARRAY;
        let is_shortened = asked.is_none() && (is_short(self.elements, cache) || !is_default);
        if is_shortened { self.limited_by.clone() } else { String::new() }
    }

    /// Half of sizes that are smaller than the rule, so that doubled arrays can prove what the rule does not.
    pub fn with_proof(self, asked: Option<u64>, threads: usize, cache: &Reading<LastLevel>) -> Sizes {
        let is_without = asked.is_none() && self.doubled.is_none();
        let half = self.elements / 2 / BLOCK as u64 * BLOCK as u64;
        let is_ruled = cache.value().is_some() && !is_short(self.elements, cache);
        if !is_without || is_ruled || half < (threads * BLOCK) as u64 {
            return self;
        }
        Sizes { elements: half, doubled: Some(2 * half), ..self }
    }
}

/// Whether arrays of so many elements are smaller than the rule of 4 x the caches.
pub fn is_short(elements: u64, cache: &Reading<LastLevel>) -> bool {
    cache.value().is_some_and(|cache| elements * ELEMENT < CACHE_FACTOR * cache.bytes)
}

/// Decides the sizes: `asked` elements, else by the rule of 4 x the caches, as far as there is room.
pub fn choose(
    asked: Option<u64>,
    threads: usize,
    cache: &Reading<LastLevel>,
    room: &Reading<Room>,
) -> Result<Sizes, SizeError> {
    let block = BLOCK as u64;
    let least = threads as u64 * block;
    let (usable, bound) = usable(room);
    let most = (usable / ARRAYS / ELEMENT) / block * block;
    if most < least {
        return Err(SizeError::NoRoom(bound));
    }
    let mut limited_by = String::new();
    let elements = match asked {
        Some(elements) if elements < least => {
            return Err(SizeError::TooSmall { elements, threads: threads as u64, least });
        }
        Some(elements) if elements.div_ceil(block).saturating_mul(block) > most => {
            let needed = format::bytes(elements as f64 * (ARRAYS * ELEMENT) as f64);
            return Err(SizeError::TooLarge { elements, needed, bound, most });
        }
        Some(elements) => elements.div_ceil(block) * block,
        None => {
            let needed = cache.value().map_or(UNKNOWN_CACHE_ARRAY, |cache| CACHE_FACTOR * cache.bytes);
            // Where memory is short, doubled arrays prove more than usual ones.
            let bytes = needed.max(USUAL_ARRAY.min(most * ELEMENT / 2));
            let wanted = (bytes / ELEMENT).div_ceil(block).max(threads as u64) * block;
            if wanted > most {
                limited_by = format!(
                    "{ARRAYS} arrays of {} do not fit: {bound}",
                    format::bytes((wanted * ELEMENT) as f64)
                );
            }
            wanted.min(most)
        }
    };
    let doubled = (2 * elements <= most).then_some(2 * elements);
    if doubled.is_none() && limited_by.is_empty() {
        limited_by = format!(
            "{ARRAYS} doubled arrays of {} do not fit: {bound}",
            format::bytes((2 * elements * ELEMENT) as f64)
        );
    }
    Ok(Sizes { elements, doubled, limited_by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::{Cache, CacheKind};
    use proptest::prelude::*;

    fn cache(level: u32, size: u64, cpus: &str) -> Cache {
        Cache {
            level,
            kind: if level == 1 { CacheKind::Data } else { CacheKind::Unified },
            size,
            line: Some(64),
            ways: None,
            cpus: cpus.parse().unwrap(),
        }
    }

    fn two_sockets() -> Machine {
        let mut machine = Machine::default();
        for cpu in 0..4 {
            machine.caches.instances.push(cache(2, 1 << 20, &cpu.to_string()));
        }
        machine.caches.instances.push(cache(3, 33 << 20, "0-1"));
        machine.caches.instances.push(cache(3, 33 << 20, "2-3"));
        machine
    }

    fn known(bytes: u64) -> Reading<LastLevel> {
        Reading::Value(LastLevel { bytes, basis: String::new() })
    }

    fn room_of(bytes: u64) -> Reading<Room> {
        Reading::Value(Room { bytes, bound: "little is left".to_owned(), is_momentary: true })
    }

    #[test]
    fn the_caches_in_use_are_summed_once_each() {
        let sum = |cpus: &str| last_level(&two_sockets(), &cpus.parse().unwrap()).into_value().unwrap();
        assert_eq!(sum("0-3").bytes, (2 * 33 + 4) << 20);
        assert_eq!(sum("0-3").basis, "2 x L3 of 33 MiB + 4 x L2 of 1 MiB");
        assert_eq!(sum("0").bytes, 34 << 20);
    }

    #[test]
    fn a_machine_without_l3_goes_by_l2_and_one_without_caches_is_unknown() {
        let mut machine = Machine::default();
        machine.caches.instances.push(cache(2, 4 << 20, "0-3"));
        let cpus = "0-3".parse().unwrap();
        assert_eq!(last_level(&machine, &cpus).into_value().unwrap().basis, "1 x L2 of 4 MiB");
        assert!(last_level(&Machine::default(), &cpus).reason().is_some());
    }

    #[test]
    fn the_studys_machine_needs_80_million_elements() {
        // 2 x 33 MiB L3 + 48 x 1 MiB L2: 456 MiB, 59.8 M elements; the study found 80 M well above.
        let sizes = choose(None, 48, &known((66 + 48) << 20), &room_of(200 << 30)).unwrap();
        assert_eq!(sizes.elements * 8, 456 << 20);
        assert_eq!(sizes.doubled, Some(2 * sizes.elements));
        assert_eq!(sizes.limited_by, "");
    }

    #[test]
    fn a_measurement_overrules_what_is_shown_where_they_differ() {
        let with = |mib: u64| {
            let mut machine = two_sockets();
            let bytes = Reading::Value(mib << 20);
            machine.caches.measured.push(MeasuredCache { cpus: "0-3".parse().unwrap(), bytes });
            machine
        };
        let used = |machine: &Machine, cpus: &str| {
            in_use(machine, &cpus.parse().unwrap()).into_value().unwrap().bytes >> 20
        };
        // 70 MiB are shown.
        assert_eq!([16, 32, 64, 128, 256, 512].map(|mib| used(&with(mib), "0-3")), [16, 32, 70, 70, 70, 512]);
        assert_eq!((used(&with(8), "1-2"), used(&with(512), "1-2")), (8, 68), "fewer CPUs fill no more");
        let mut hidden = with(32);
        hidden.caches.instances.clear();
        assert_eq!(used(&hidden, "0-3"), 32);
        hidden.caches.measured[0].bytes = Reading::unknown("too large");
        assert!(in_use(&hidden, &"0-3".parse().unwrap()).reason().is_some());
    }

    #[test]
    fn first_touch_takes_a_part_of_the_time() {
        let mut machine = Machine::default();
        machine.memory.available = Reading::Value(64 << 30);
        let bytes = |machine: &Machine, time| {
            room_in_time(machine, 2, time).into_value().map(|room| room.bytes as f64)
        };
        assert!(touch_seconds(&machine, 2, bytes(&machine, 15.0).unwrap() * USABLE_SHARE) <= 6.01);
        assert_eq!(bytes(&machine, f64::MAX), Some((64u64 << 30) as f64));
        assert_eq!(bytes(&Machine::default(), f64::MAX), None);
    }

    #[test]
    fn short_memory_is_used_and_named() {
        let sizes = choose(None, 2, &known(480 << 20), &room_of(1 << 30)).unwrap();
        assert!(sizes.elements * 24 <= (1 << 30) * 85 / 100);
        assert!(sizes.limited_by.contains("little is left") && sizes.doubled.is_none());
        let tight = choose(None, 2, &known(20 << 20), &room_of(300 << 20)).unwrap();
        assert!(tight.doubled.is_none() && tight.limited_by.contains("doubled"));
        assert!(sizes.shortened_by(None, &known(480 << 20)).contains("little is left"));
        assert_eq!(tight.shortened_by(None, &known(20 << 20)), "", "only the doubled arrays are missing");
        let small = choose(None, 2, &known(4 << 20), &room_of(300 << 20)).unwrap();
        assert!(small.doubled.is_some() && small.limited_by.is_empty(), "usual arrays are no need");
        let usual = choose(None, 2, &known(4 << 20), &room_of(8 << 30)).unwrap();
        assert_eq!(usual.elements * ELEMENT, USUAL_ARRAY);
        let unknown = Reading::unknown("no caches");
        let tight = choose(None, 2, &unknown, &room_of(300 << 20)).unwrap();
        assert!(tight.shortened_by(None, &unknown).contains("do not fit"));
        let wide = choose(None, 2, &unknown, &room_of(200 << 30)).unwrap();
        assert_eq!(wide.shortened_by(None, &unknown), "");
    }

    #[test]
    fn arrays_that_the_rule_does_not_prove_are_doubled() {
        let sizes = |room: u64, cache: &Reading<LastLevel>, asked: Option<u64>| {
            choose(asked, 2, cache, &room_of(room)).unwrap().with_proof(asked, 2, cache)
        };
        let large = known(480 << 20);
        let short = sizes(3 << 30, &large, None);
        assert_eq!(short.doubled, Some(2 * short.elements));
        assert!(
            short.elements * ELEMENT * ARRAYS * 2 <= (3 << 30) * 85 / 100
                && short.limited_by.contains("little is left")
        );
        let whole = sizes(8 << 30, &large, None);
        assert_eq!((whole.elements * ELEMENT, whole.doubled), (CACHE_FACTOR * (480 << 20), None));
        assert!(sizes(1 << 30, &Reading::unknown("hidden"), None).doubled.is_some());
        assert_eq!(sizes(1 << 30, &large, Some(30 << 20)).elements, 30 << 20);
    }

    #[test]
    fn the_tightest_bound_decides_and_is_named() {
        let mut machine = Machine::default();
        machine.memory.available = Reading::Value(8 << 30);
        assert_eq!(room(&machine).into_value().unwrap().bytes, 8 << 30);
        let bound = |bytes, by: &str| figure::host::MemoryBound { bytes, by: by.to_owned() };
        machine.memory.bounds = vec![bound(9 << 30, "x"), bound(2 << 30, "vm.overcommit_memory=2")];
        let tight = room(&machine).into_value().unwrap();
        assert_eq!(tight.bytes, 2 << 30);
        assert_eq!(tight.bound, "2 GiB may be mapped under vm.overcommit_memory=2");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let choose = |asked| choose(Some(asked), 2, &known(1 << 20), &room_of(1 << 30));
        let small = choose(1).unwrap_err().to_string();
        assert_eq!(small, "--array-size 1: 2 threads need at least 128 elements (64 each); give more");
        let large = choose(1 << 40).unwrap_err().to_string();
        assert!(large.contains("24 TiB") && large.contains("little is left"), "{large}");
        assert_eq!(choose(10_000_000).unwrap().elements, 10_000_000);
        assert_eq!(choose(1000).unwrap().elements, 1024);
    }

    proptest! {
        #[test]
        fn memory_is_never_exceeded(
            cache in proptest::option::of(0..1u64 << 40), bytes in 0..1u64 << 44, threads in 1..512usize,
        ) {
            let cache = cache.map_or(Reading::unknown("x"), known);
            if let Ok(sizes) = choose(None, threads, &cache, &room_of(bytes)) {
                let largest = sizes.doubled.unwrap_or(sizes.elements);
                prop_assert!(largest * 24 <= bytes);
                prop_assert!(sizes.elements % BLOCK as u64 == 0 && sizes.elements >= (threads * BLOCK) as u64);
            }
        }
    }
}

//! Whose memory it is: the allocator, the runtime, or the program.

use suites::faults::{Manager, Memory};

use super::evidence::{Facts, Owners};

/// The least share of mapped bytes in mappings of the sizes that a runtime maps.
const UNITS: f64 = 0.5;
/// The least share of the pages of mappings of glibc's malloc with the first fault at a block's size field.
const HEADERS: f64 = 0.3;

/// The runtime with settings that limit the growth, if any.
pub fn growth_owner(facts: &Facts) -> Option<Manager> {
    let is_heap = match facts.memory {
        Memory::Shared => shared_owner(facts) == Manager::Jvm,
        memory => matches!(memory, Memory::Mapping | Memory::Arena | Memory::ThreadStack),
    };
    let takes_all = facts.manager.filter(|manager| matches!(manager, Manager::Go | Manager::Jvm));
    takes_all.or(unit_owner(facts)).filter(|_| is_heap)
}

/// The runtime, if most mapped bytes are in mappings of the sizes that it maps.
fn unit_owner(facts: &Facts) -> Option<Manager> {
    facts.managers.runtime.filter(|_| facts.units >= UNITS)
}

/// No allocator shares its memory, but for ZGC, whose heap is a memfd (zPhysicalMemoryBacking_linux.cpp).
pub fn shared_owner(facts: &Facts) -> Manager {
    facts.manager.filter(|manager| *manager == Manager::Jvm).unwrap_or(Manager::Program)
}

/// The owner of the heap that brk moves: whoever moved it, else malloc.
pub fn heap_owner(facts: &Facts) -> Option<Manager> {
    let caller = facts.calls.cut.and_then(|owners| owners.most(facts.managers));
    caller.or(facts.managers.malloc).or(facts.manager)
}

/// The owner of mappings that come and go: who unmaps nearly all. glibc writes a block's size before the program touches the
/// block: where several unmap, that decides whether malloc is meant. With too few such observations, the mappings count as
/// the allocator's.
pub fn mapping_owner(facts: &Facts) -> Option<Manager> {
    if facts.memory == Memory::Shared {
        return Some(shared_owner(facts));
    }
    let is_of_malloc = facts.headers.map(|share| share >= HEADERS);
    let caller = facts.calls.unmapped.and_then(|owners| {
        let others = Owners { malloc: 0.0, ..owners };
        let rest = || if is_of_malloc == Some(false) { others.largest(0.0, facts.managers) } else { None };
        owners.most(facts.managers).or_else(rest)
    });
    match (facts.manager, is_of_malloc) {
        // HotSpot gives its heap back by mmap: of what is unmapped beside it, nearly all may be malloc's.
        (Some(Manager::Jvm), None | Some(false)) if caller == facts.managers.malloc => facts.manager,
        _ if caller.is_some() => caller,
        (Some(Manager::Glibc | Manager::Musl) | None, None | Some(false)) if unit_owner(facts).is_some() => {
            unit_owner(facts)
        }
        (Some(Manager::Glibc) | None, Some(true)) | (Some(Manager::Glibc), None) => Some(Manager::Glibc),
        (Some(Manager::Glibc) | None, _) => {
            // Scripts map nothing by themselves.
            let script = facts.managers.runtime.filter(|runtime| *runtime == Manager::V8);
            script.or(Some(Manager::Program))
        }
        (manager, _) => manager,
    }
}

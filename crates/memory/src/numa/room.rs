//! How much of each node's memory is used: an array to read and a chain of pointers to follow, each four
//! times the caches of the CPUs that use it, as far as the node and the machine have room. Pure.

use figure::host::Node;
use figure::room::{self, Room};
use figure::{Machine, Reading, format};

use crate::chase::{LINE, UNROLL};
use crate::kernels::ELEMENT;
use crate::mode::PlanError;
use crate::pages::Pages;
use crate::simd::BLOCK;
use crate::sizes::{CACHE_FACTOR, LastLevel, SizeError, UNKNOWN_CACHE_ARRAY, USABLE_SHARE};
use lab::failure::Failure;

/// Sizes are multiples of this: whole blocks for the kernels, and laps of whole turns of the walking loop.
pub const GRAIN: u64 = LINE as u64 * UNROLL;
/// STREAM's default of 10 M elements: with small caches there is no reason to go below.
const LEAST_DEFAULT: u64 = 80_000_000;
/// Bytes for each byte of size: array, chain, and while it is made the order of the chain (4 B a line).
const COST: f64 = 2.0 + 4.0 / LINE as f64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub bytes: u64,
    /// Bytes that the node had to spare, if that is known.
    pub available: Option<u64>,
    /// What made it smaller than it should be; empty if nothing did.
    pub limited_by: String,
}

#[derive(Clone, Debug)]
pub struct SizeRequest<'a> {
    pub asked: Option<u64>,
    /// The caches of the row that has most.
    pub cache: &'a Reading<LastLevel>,
    /// Threads of the row that has most.
    pub threads: usize,
    pub pages: Pages,
}

pub fn wanted_bytes(request: &SizeRequest) -> Result<u64, PlanError> {
    let least = least(request.threads);
    let bytes = match (request.asked, request.cache) {
        (Some(elements), _) if elements.saturating_mul(ELEMENT) < least => {
            let (threads, least) = (request.threads as u64, least / ELEMENT);
            return Err(SizeError::TooSmall { elements, threads, least }.into());
        }
        (Some(elements), _) => elements.saturating_mul(ELEMENT),
        (None, Reading::Value(cache)) => (CACHE_FACTOR * cache.bytes).max(LEAST_DEFAULT),
        (None, Reading::Unknown(_)) => UNKNOWN_CACHE_ARRAY,
    };
    Ok(bytes.max(least).div_ceil(GRAIN).saturating_mul(GRAIN))
}

/// The least that works: a block for each thread.
fn least(threads: usize) -> u64 {
    (threads as u64 * BLOCK as u64 * ELEMENT).next_multiple_of(GRAIN)
}

/// What is used of `node`, one of `nodes` that share the machine's memory; or why nothing is.
pub fn share(
    machine: &Machine,
    node: &Node,
    nodes: usize,
    request: &SizeRequest,
    bytes: u64,
) -> Result<Share, Failure> {
    let (most, bound) = match request.pages.reserved_size() {
        Some(page) => reserved(node, page, bytes)?,
        None => free(machine, node, nodes, request.asked.is_some()),
    };
    if bytes > most && (request.asked.is_some() || most < least(request.threads)) {
        let both = format!("an array and a chain of {} each do not fit on", format::bytes(bytes as f64));
        return Err(Failure::new(both).on(format!("node {}", node.node)).answer(bound));
    }
    let limited_by = if bytes > most {
        format!("an array and a chain of {} each do not fit: {bound}", format::bytes(bytes as f64))
    } else {
        String::new()
    };
    Ok(Share { bytes: bytes.min(most), available: node.available, limited_by })
}

/// The most bytes of size that the node's pool of reserved pages holds.
fn reserved(node: &Node, page: u64, bytes: u64) -> Result<(u64, String), Failure> {
    let free = node.free_pages(page);
    let name = format::bytes(page as f64);
    if free < 2 {
        let needed = 2 * bytes.div_ceil(page);
        return Err(Failure::new(format!(
            "{needed} reserved pages of {name} are needed on node {n}, {free} are free: echo {needed} > \
             /sys/devices/system/node/node{n}/hugepages/hugepages-{}kB/nr_hugepages (as root)",
            page >> 10,
            n = node.node,
        )));
    }
    Ok((free / 2 * page, format!("{free} reserved pages of {name} are free on node {}", node.node)))
}

/// The rooms that bound what a plan takes of a node: those of the node itself, and its part of what all have, of `nodes` that are measured.
pub fn rooms(
    machine: &Machine,
    node: Option<&Node>,
    nodes: usize,
    is_asked: bool,
) -> (Vec<Room>, Reading<Room>) {
    let all = if is_asked { room::everywhere_now(machine) } else { room::everywhere(machine) };
    let among = if nodes > 1 { format!(", for {nodes} nodes") } else { String::new() };
    let part = all.map(|room| Room {
        bytes: room.bytes / nodes.max(1) as u64,
        bound: format!("{}{among}", room.bound),
        ..room
    });
    let Some(node) = node else { return (Vec::new(), part) };
    let available = node.available.map(|bytes| Room {
        bytes,
        bound: format!("{} are available on node {}", format::bytes(bytes as f64), node.node),
        is_momentary: true,
    });
    let whole = node.memory.filter(|_| !is_asked).map(|bytes| Room {
        bytes: (bytes as f64 * room::SHARE) as u64,
        bound: format!("{} of the memory of node {}", format::percent(room::SHARE), node.node),
        is_momentary: false,
    });
    (available.into_iter().chain(whole).collect(), part)
}

/// The most bytes of size that are free, and what bounds them: the node, the machine or a control group.
fn free(machine: &Machine, node: &Node, nodes: usize, is_asked: bool) -> (u64, String) {
    let usable = |bytes: u64| (bytes as f64 * USABLE_SHARE / COST) as u64 / GRAIN * GRAIN;
    let (own, part) = rooms(machine, Some(node), nodes, is_asked);
    let part = match part {
        Reading::Value(room) => (usable(room.bytes), room.bound),
        // An unknown limit cannot be observed; this is modest.
        Reading::Unknown(reason) => (UNKNOWN_CACHE_ARRAY, format!("available memory is not known: {reason}")),
    };
    let own = own.into_iter().map(|room| (usable(room.bytes), room.bound));
    own.chain([part]).min_by_key(|(most, _)| *most).unwrap_or_default()
}

//! Memory that is used from the CPUs of two NUMA nodes in turn, while the kernel takes its pages away to see who uses them (NUMA
//! balancing).

use core::ffi::c_uint;

use super::failure::Failure;
use super::kernel::{faults, file, mapped};
use super::pace::Pace;
use crate::sys::{self, touch};

const OFF: Failure =
    c"truebench-workload: NUMA balancing is off: as root, echo 1 > /proc/sys/kernel/numa_balancing\n";
const ONE: Failure = c"truebench-workload: needs CPUs of two NUMA nodes (lscpu)\n";
const NONE: Failure = c"truebench-workload: NUMA balancing took too few pages away in 120 s\n";
/// Nanoseconds. The kernel scans a task at most each second, and once a minute where most of its faults are local (sched/fair.c).
const PATIENCE: u64 = 120_000_000_000;
/// Nanoseconds after which the other node is tried: pages that did not move are local here.
const STAY: u64 = 4_000_000_000;

/// Goes to the other node and touches all pages there until most have faulted.
pub fn balance(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let mut text = [0u8; 8];
    if !matches!(file(c"/proc/sys/kernel/numa_balancing", &mut text).first(), Some(b'1' | b'3')) {
        return Err(OFF);
    }
    let mut cpus = two_nodes().ok_or(ONE)?.into_iter().cycle();
    let mut go = || cpus.next().filter(|cpu| sys::pin(*cpu)).ok_or(ONE);
    let base = mapped(bytes, libc::MADV_NOHUGEPAGE)?;
    // SAFETY: mapped, with no other reference.
    let touch_all = || unsafe { touch(base, bytes, 1) };
    touch_all();
    let least = (bytes - bytes / 8).checked_div(sys::page()).unwrap_or(0) as u64;
    pace.each(|| {
        go()?;
        let (begun, before) = (sys::now(), faults());
        let mut gone = begun;
        while faults().wrapping_sub(before) < least {
            touch_all();
            let now = sys::now();
            if now.saturating_sub(begun) > PATIENCE {
                return Err(NONE);
            }
            if now.saturating_sub(gone) > STAY {
                go()?;
                gone = now;
            }
        }
        Ok(())
    })
}

/// The first CPU of the cpuset, and one of another node, on which this thread is then.
fn two_nodes() -> Option<[usize; 2]> {
    // SAFETY: asks for a number.
    let all = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }).unwrap_or(0);
    let mut nodes = (0..all).filter(|cpu| sys::pin(*cpu)).map(|cpu| (cpu, node()));
    let (first, home) = nodes.next()?;
    nodes.find(|(_, node)| *node != home).map(|(other, _)| [first, other])
}

/// The node of the CPU that this thread is on.
fn node() -> c_uint {
    let (mut cpu, mut node): (c_uint, c_uint) = (0, 0);
    // SAFETY: writes to local variables (getcpu(2)).
    unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, 0usize) };
    node
}

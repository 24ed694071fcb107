//! How often a program and all that it starts ask the kernel for memory, or give it back.
//!
//! By seccomp(2) with SECCOMP_RET_USER_NOTIF: the kernel tells each such call to this process, which counts it and lets it go on.
//! That needs no rights, no file system of tracepoints, and no ptrace; children inherit it. It makes these calls slower, and lets no
//! set-user-ID program have its rights, so that it is for a start of its own, which nobody times.

use core::ffi::{c_int, c_long, c_uint, c_ulong, c_ushort};
use core::mem::size_of;
use core::sync::atomic::{AtomicU64, Ordering};

use super::note;
use crate::shared::Slot;
use crate::sys;

/// The architecture as seccomp calls it (linux/audit.h): calls of programs of another are not counted.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Those that are counted.
const CALLS: [c_long; 6] = [
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mprotect,
];
/// Instructions of the filter: architecture, number, one for each call, two answers.
const LENGTH: usize = CALLS.len() + 5;

/// How long is waited for a call before it is looked whether the program still lives, in milliseconds.
const LOOK: c_int = 20;
/// Calls after which that is looked for anyway: what the program left behind may call on and on.
const MANY: u32 = 256;

fn statement(code: c_uint, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as c_ushort, jt: 0, jf: 0, k }
}

fn jump_if_equal(k: u32, jt: usize, jf: usize) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as c_ushort;
    libc::sock_filter { code, jt: jt as u8, jf: jf as u8, k }
}

/// From here on this process and its children tell their calls to whoever holds the descriptor.
///
/// # Errors
/// errno.
pub fn tell() -> Result<c_int, c_int> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut filter = [statement(answer, libc::SECCOMP_RET_ALLOW); LENGTH];
    // The architecture stands behind the number in seccomp_data.
    let head = [
        statement(load, 4),
        // To the one before last.
        jump_if_equal(ARCHITECTURE, 0, CALLS.len().wrapping_add(1)),
        statement(load, 0),
    ];
    for (to, from) in filter.iter_mut().zip(head) {
        *to = from;
    }
    for (index, (to, call)) in filter.iter_mut().skip(3).zip(CALLS).enumerate() {
        *to = jump_if_equal(call as u32, CALLS.len().wrapping_sub(index), 0);
    }
    if let Some(last) = filter.last_mut() {
        *last = statement(answer, libc::SECCOMP_RET_USER_NOTIF);
    }
    let program = libc::sock_fprog { len: LENGTH as c_ushort, filter: filter.as_mut_ptr() };
    let (set, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: numbers; a program that lives as long as the call.
    let descriptor = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) != 0
        {
            return Err(sys::errno());
        }
        libc::syscall(libc::SYS_seccomp, set, flags, &raw const program)
    };
    if descriptor < 0 { Err(sys::errno()) } else { Ok(descriptor as c_int) }
}

/// Counts what is told until the child has ended; its status. `None`: waiting for it failed.
pub fn count(slot: &Slot, listener: c_int, child: c_int) -> Option<c_int> {
    let mut since = 0u32;
    loop {
        let mut source = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives.
        let ready = unsafe { libc::poll(&raw mut source, 1, LOOK) };
        if ready > 0 && source.revents & libc::POLLIN != 0 {
            one(slot, listener);
            since = since.wrapping_add(1);
            if since < MANY {
                continue;
            }
        }
        since = 0;
        let hung_up = ready > 0 && source.revents & libc::POLLIN == 0;
        let mut status: c_int = 0;
        // SAFETY: ours to write.
        match unsafe { libc::waitpid(child, &raw mut status, if hung_up { 0 } else { libc::WNOHANG }) } {
            0 => {}
            ended if ended == child => return Some(status),
            _ if sys::errno() == libc::EINTR => {}
            _ => return None,
        }
    }
}

/// Takes one call, and lets it go on.
fn one(slot: &Slot, listener: c_int) {
    // SAFETY: all zero is valid, and what the kernel demands.
    let mut told: libc::seccomp_notif = unsafe { core::mem::zeroed() };
    const { assert!(size_of::<libc::seccomp_notif>() == 80) };
    // SAFETY: ours to write.
    if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told) } != 0 {
        // It was interrupted, or whoever called is no more.
        return;
    }
    let argument = |index: usize| told.data.args.get(index).copied().unwrap_or(0);
    let which = match c_long::from(told.data.nr) {
        libc::SYS_mmap if argument(3) & libc::MAP_ANONYMOUS as u64 != 0 => Some(note::MAPPED),
        libc::SYS_munmap => Some(note::UNMAPPED),
        libc::SYS_mremap => Some(note::REMAPPED),
        libc::SYS_brk => Some(note::MOVED_BREAK),
        libc::SYS_madvise => match argument(2) as c_int {
            libc::MADV_DONTNEED | libc::MADV_FREE => Some(note::GIVEN_BACK),
            libc::MADV_HUGEPAGE => Some(note::MADE_HUGE),
            _ => None,
        },
        libc::SYS_mprotect => Some(note::PROTECTED),
        // Of a file.
        _ => None,
    };
    if let Some(word) = which.and_then(|which| slot.note(which)) {
        add(word);
    }
    let answer = libc::seccomp_notif_resp {
        id: told.id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    // SAFETY: ours, and it lives.
    unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
}

fn add(word: &AtomicU64) {
    word.fetch_add(1, Ordering::Relaxed);
}

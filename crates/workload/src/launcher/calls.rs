//! Counts the memory system calls of a program and of all processes that it starts.
//!
//! With seccomp(2) and SECCOMP_RET_USER_NOTIF the kernel reports each such call to this process, which counts
//! it and lets it continue. That needs no privileges, no tracefs and no ptrace, and children inherit it. It
//! slows these calls down and takes the privileges of set-user-ID programs, so a separate start, which is not
//! timed, counts calls.

use core::ffi::{c_int, c_long, c_uint, c_ulong, c_ushort};
use core::mem::size_of;

use super::fields;
use crate::shared::Slot;
use crate::sys;

/// AUDIT_ARCH of linux/audit.h. Calls of programs of another architecture are not counted.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

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

/// Milliseconds to wait for a call before checking whether the program has ended.
const POLL_TIMEOUT: c_int = 20;
/// Calls after which the end of the program is checked anyway: processes that it left behind may call without
/// a pause.
const MOST_CALLS: u32 = 256;

fn statement(code: c_uint, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as c_ushort, jt: 0, jf: 0, k }
}

fn jump_if_equal(k: u32, jt: usize, jf: usize) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as c_ushort;
    libc::sock_filter { code, jt: jt as u8, jf: jf as u8, k }
}

/// From now on the kernel reports calls of this process and its children to the descriptor that is returned.
/// The error is errno.
pub fn report() -> Result<c_int, c_int> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut filter = [statement(answer, libc::SECCOMP_RET_ALLOW); LENGTH];
    // In seccomp_data the number is at offset 0, the architecture at 4.
    let head = [
        statement(load, 4),
        // Jumps to the last but one instruction, which allows the call.
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

/// Counts reported calls until the child has ended. Returns its status; `None` if waiting for it failed.
pub fn count(slot: &Slot, listener: c_int, child: c_int) -> Option<c_int> {
    let mut calls = 0u32;
    loop {
        let mut source = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives.
        let ready = unsafe { libc::poll(&raw mut source, 1, POLL_TIMEOUT) };
        if ready > 0 && source.revents & libc::POLLIN != 0 {
            count_call(slot, listener);
            calls = calls.wrapping_add(1);
            if calls < MOST_CALLS {
                continue;
            }
        }
        calls = 0;
        let is_hung_up = ready > 0 && source.revents & libc::POLLIN == 0;
        let mut status: c_int = 0;
        // SAFETY: writes to a local variable.
        match unsafe { libc::waitpid(child, &raw mut status, if is_hung_up { 0 } else { libc::WNOHANG }) } {
            0 => {}
            ended if ended == child => return Some(status),
            _ if sys::errno() == libc::EINTR => {}
            _ => return None,
        }
    }
}

fn count_call(slot: &Slot, listener: c_int) {
    // SAFETY: all zero is valid, and required by the kernel.
    let mut call: libc::seccomp_notif = unsafe { core::mem::zeroed() };
    const { assert!(size_of::<libc::seccomp_notif>() == 80) };
    // SAFETY: writes to a local variable.
    if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) } != 0 {
        // Interrupted, or the caller was killed.
        return;
    }
    let argument = |index: usize| call.data.args.get(index).copied().unwrap_or(0);
    let field = match c_long::from(call.data.nr) {
        libc::SYS_mmap if argument(3) & libc::MAP_ANONYMOUS as u64 != 0 => Some(fields::MAPPED),
        libc::SYS_munmap => Some(fields::UNMAPPED),
        libc::SYS_mremap => Some(fields::REMAPPED),
        libc::SYS_brk => Some(fields::MOVED_BREAK),
        libc::SYS_madvise => match argument(2) as c_int {
            libc::MADV_DONTNEED | libc::MADV_FREE => Some(fields::GIVEN_BACK),
            libc::MADV_HUGEPAGE => Some(fields::MADE_HUGE),
            _ => None,
        },
        libc::SYS_mprotect => Some(fields::PROTECTED),
        // mmap of a file.
        _ => None,
    };
    if let Some(field) = field {
        slot.increment(field);
    }
    let answer = libc::seccomp_notif_resp {
        id: call.id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    // SAFETY: a local value that lives.
    unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
}

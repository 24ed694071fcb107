//! Pages that a thread of the program provides (userfaultfd(2)).

use core::ffi::{c_int, c_ulong, c_void};

use super::failure::Failure;
use super::pace::Pace;
use crate::libc_parts;
use crate::sys::{self, touch};

const REFUSED: Failure =
    c"truebench-workload: userfaultfd is refused: needs root, or sysctl vm.unprivileged_userfaultfd=1 (userfaultfd(2))\n";

/// Of linux/userfaultfd.h. The libc crate does not have them.
const UFFD_API: u64 = 0xaa;
const UFFDIO_API: c_ulong = 0xc018_aa3f;
const UFFDIO_REGISTER: c_ulong = 0xc020_aa00;
const UFFDIO_COPY: c_ulong = 0xc028_aa03;
const MODE_MISSING: u64 = 1;
const EVENT_PAGEFAULT: u8 = 0x12;

#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Register {
    start: u64,
    bytes: u64,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct Copy {
    to: u64,
    from: u64,
    bytes: u64,
    mode: u64,
    copied: i64,
}

/// struct uffd_msg: the event, and of a page fault its flags and address.
#[repr(C)]
struct Message {
    event: u8,
    reserved: [u8; 7],
    flags: u64,
    address: u64,
    thread: u64,
}

/// Touches memory whose pages another thread provides, and gives them back.
pub fn run(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let base = sys::fresh(bytes).ok_or(c"truebench-workload: no memory could be mapped\n")?;
    // SAFETY: touches no memory.
    let descriptor = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC) } as c_int;
    let mut api = Api { api: UFFD_API, features: 0, ioctls: 0 };
    let mut register = Register { start: base as u64, bytes: bytes as u64, mode: MODE_MISSING, ioctls: 0 };
    // SAFETY: the mapping has no pages of a larger size; structures as the calls take them.
    let is_refused = unsafe {
        libc::madvise(base.cast(), bytes, libc::MADV_NOHUGEPAGE);
        descriptor < 0
            || libc::ioctl(descriptor, UFFDIO_API as _, &raw mut api) != 0
            || libc::ioctl(descriptor, UFFDIO_REGISTER as _, &raw mut register) != 0
    };
    if is_refused {
        return Err(REFUSED);
    }
    let mut thread = core::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the descriptor stays open; the thread ends with the process.
    let failed = unsafe {
        libc_parts::pthread_create(thread.as_mut_ptr(), provide, descriptor as usize as *mut c_void)
    };
    if failed != 0 {
        return Err(c"truebench-workload: no thread could be started\n");
    }
    pace.each(|| {
        // SAFETY: mapped, with no other reference; the contents are not needed.
        unsafe {
            touch(base, bytes, 1);
            match libc::madvise(base.cast(), bytes, libc::MADV_DONTNEED) {
                0 => Ok(()),
                _ => Err(c"truebench-workload: madvise(MADV_DONTNEED) was refused\n"),
            }
        }
    })
}

/// Copies a page of zeros to where each fault is.
extern "C" fn provide(descriptor: *mut c_void) -> *mut c_void {
    let descriptor = descriptor as usize as c_int;
    let page = sys::page() as u64;
    let Some(zeros) = sys::fresh(page as usize) else { return core::ptr::null_mut() };
    let mut message = Message { event: 0, reserved: [0; 7], flags: 0, address: 0, thread: 0 };
    let size = size_of::<Message>();
    // SAFETY: writes to a local variable of this size.
    while unsafe { libc::read(descriptor, (&raw mut message).cast(), size) } == size as isize {
        if message.event != EVENT_PAGEFAULT {
            continue;
        }
        let to = message.address & !page.wrapping_sub(1);
        let mut copy = Copy { to, from: zeros as u64, bytes: page, mode: 0, copied: 0 };
        // SAFETY: a structure as the call takes it; the kernel checks the addresses.
        unsafe { libc::ioctl(descriptor, UFFDIO_COPY as _, &raw mut copy) };
    }
    core::ptr::null_mut()
}

#[cfg(test)]
mod unit {
    use super::*;

    /// The requests hold the sizes of their structures (asm-generic/ioctl.h).
    #[test]
    fn structures_have_the_sizes_that_the_requests_say() {
        let size = |request: c_ulong| (request as usize >> 16) & 0x3fff;
        assert_eq!(size(UFFDIO_API), size_of::<Api>());
        assert_eq!(size(UFFDIO_REGISTER), size_of::<Register>());
        assert_eq!(size(UFFDIO_COPY), size_of::<Copy>());
        assert_eq!(size_of::<Message>(), 32);
    }
}

//! Threads, and the calls of the dynamic linker: parts of libc that glibc has in libraries of their own before 2.34.
//!
//! Linked, these two libraries would be loaded at every exec that is measured. So the references are weak, and the linker names no
//! library for them. glibc 2.34 and later has the functions in libc itself; with an older one, [`load`] starts this program again
//! with the libraries preloaded.

use core::ffi::{CStr, c_char, c_int, c_void};

use libc::{Dl_info, pthread_attr_t, pthread_t};

use crate::sys::Text;

core::arch::global_asm!(
    ".weak dlopen, dlsym, dladdr, pthread_create, pthread_join",
    ".pushsection .data.rel.ro.truebench_libc_parts, \"aw\"",
    ".balign 8",
    ".globl truebench_libc_parts",
    ".hidden truebench_libc_parts",
    "truebench_libc_parts: .quad dlopen, dlsym, dladdr, pthread_create, pthread_join",
    ".popsection",
);

/// What the assembly lays out. A reference that nothing resolves is zero.
#[repr(C)]
struct Parts {
    open: Option<unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void>,
    symbol: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void>,
    address: Option<unsafe extern "C" fn(*const c_void, *mut Dl_info) -> c_int>,
    create: Option<unsafe extern "C" fn(*mut pthread_t, *const pthread_attr_t, Body, *mut c_void) -> c_int>,
    join: Option<unsafe extern "C" fn(pthread_t, *mut *mut c_void) -> c_int>,
}

unsafe extern "C" {
    #[link_name = "truebench_libc_parts"]
    static PARTS: Parts;
}

/// The body of a thread.
pub type Body = extern "C" fn(*mut c_void) -> *mut c_void;

fn parts() -> &'static Parts {
    // SAFETY: addresses of functions of these types, or zero; the dynamic linker wrote them before this program began.
    unsafe { &PARTS }
}

/// dlopen(3); null without it.
///
/// # Safety
/// As that.
pub unsafe fn dlopen(file: &CStr, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's.
    parts().open.map_or(core::ptr::null_mut(), |open| unsafe { open(file.as_ptr(), flags) })
}

/// dlsym(3); null without it.
///
/// # Safety
/// As that.
pub unsafe fn dlsym(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the caller's.
    parts().symbol.map_or(core::ptr::null_mut(), |symbol| unsafe { symbol(library, name.as_ptr()) })
}

/// The address of a function or variable of a loaded library; null if there is none of this name.
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a string that lives.
    unsafe { dlsym(libc::RTLD_DEFAULT, name) }
}

/// Where the library is loaded that holds an address: dladdr(3). `None` without it.
pub fn library(address: *const c_void) -> Option<*mut c_void> {
    // SAFETY: all zero is a valid value; writes to a local variable.
    unsafe {
        let mut info: Dl_info = core::mem::zeroed();
        (parts().address?(address, &raw mut info) != 0).then_some(info.dli_fbase)
    }
}

/// pthread_create(3) with default attributes; ENOSYS without it.
///
/// # Safety
/// As that.
pub unsafe fn pthread_create(thread: *mut pthread_t, body: Body, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    parts().create.map_or(libc::ENOSYS, |create| unsafe { create(thread, core::ptr::null(), body, argument) })
}

/// pthread_join(3); ENOSYS without it.
///
/// # Safety
/// As that.
pub unsafe fn pthread_join(thread: pthread_t) -> c_int {
    // SAFETY: the caller's.
    parts().join.map_or(libc::ENOSYS, |join| unsafe { join(thread, core::ptr::null_mut()) })
}

/// Names that the dynamic linker finds (ld.so(8)).
const LIBRARIES: &[u8] = b"libpthread.so.0:libdl.so.2";
const MAX_VARIABLE: usize = 8192;

/// Starts this program again with the libraries, if they are missing. Returns if they are there, or cannot be loaded.
///
/// # Safety
/// The program's arguments, and a process of one thread.
pub unsafe fn load(argv: *const *const c_char) {
    if parts().open.is_some() && parts().create.is_some() {
        return;
    }
    // SAFETY: no other thread changes the environment.
    let old = unsafe { libc::getenv(c"LD_PRELOAD".as_ptr()) };
    // SAFETY: a string of the environment.
    let old = if old.is_null() { c"" } else { unsafe { CStr::from_ptr(old) } }.to_bytes();
    let variable = || {
        let variable = Text::<MAX_VARIABLE>::new().and(b"LD_PRELOAD=")?.and(old)?;
        if old.is_empty() { Some(variable) } else { variable.and(b":") }?.and(LIBRARIES)
    };
    if let Some(variable) = variable().filter(|_| !old.ends_with(LIBRARIES)) {
        // SAFETY: the string lives until the program is replaced, or to the end of this block if it is not.
        unsafe {
            libc::putenv(variable.as_ptr().cast_mut());
            libc::execv(c"/proc/self/exe".as_ptr(), argv);
            libc::unsetenv(c"LD_PRELOAD".as_ptr());
        }
    }
}

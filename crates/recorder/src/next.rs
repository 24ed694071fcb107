//! The functions that the program would call without the recorder: those of the next library in link order
//! (RTLD_NEXT), which is another preloaded allocator or the C library.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

pub type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
pub type Pair = unsafe extern "C" fn(usize, usize) -> *mut c_void;
pub type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
pub type Free = unsafe extern "C" fn(*mut c_void);
pub type Posix = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;

static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = 0;
const RESOLVING: u32 = 1;
const KNOWN: u32 = 2;

macro_rules! functions {
    ($($name:ident $at:ident $symbol:literal $kind:ty;)*) => {
        $(
            static $at: AtomicUsize = AtomicUsize::new(0);

            #[doc = concat!("The next `", stringify!($name), "`; `None` while it is being resolved, or if there is none.")]
            pub fn $name() -> Option<$kind> {
                let mut at = $at.load(Ordering::Relaxed);
                if at == 0 {
                    resolve();
                    at = $at.load(Ordering::Relaxed);
                }
                // SAFETY: null, which is `None`, or the address of a C function of this type.
                unsafe { core::mem::transmute::<usize, Option<$kind>>(at) }
            }
        )*

        /// Resolves all functions, once. Calls in the meantime see those that are resolved so far.
        #[cold]
        fn resolve() {
            if STATE.compare_exchange(UNKNOWN, RESOLVING, Ordering::Acquire, Ordering::Relaxed).is_err() {
                return;
            }
            $($at.store(address($symbol), Ordering::Relaxed);)*
            STATE.store(KNOWN, Ordering::Release);
        }
    };
}

// dlsym(3) may call the first ones.
functions! {
    malloc MALLOC c"malloc" Malloc;
    free FREE c"free" Free;
    calloc CALLOC c"calloc" Pair;
    realloc REALLOC c"realloc" Realloc;
    posix_memalign POSIX_MEMALIGN c"posix_memalign" Posix;
    aligned_alloc ALIGNED_ALLOC c"aligned_alloc" Pair;
    memalign MEMALIGN c"memalign" Pair;
    valloc VALLOC c"valloc" Malloc;
    pvalloc PVALLOC c"pvalloc" Malloc;
}

pub fn are_known() -> bool {
    STATE.load(Ordering::Acquire) == KNOWN
}

fn address(symbol: &CStr) -> usize {
    // SAFETY: a string that ends with zero.
    unsafe { libc::dlsym(libc::RTLD_NEXT, symbol.as_ptr()) as usize }
}

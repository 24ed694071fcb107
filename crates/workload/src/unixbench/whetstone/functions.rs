//! The mathematical library, loaded at run time: linked, it would be loaded at every exec that is measured.

use core::ffi::{CStr, c_void};

use crate::libc_parts;
use crate::shared::{Cause, step};

type Function = unsafe extern "C" fn(f64) -> f64;
type SinCos = unsafe extern "C" fn(f64, *mut f64, *mut f64);

pub struct Functions {
    sincos: SinCos,
    cos: Function,
    atan: Function,
    exp: Function,
    log: Function,
}

macro_rules! functions {
    ($($name:ident)*) => {$(
        pub fn $name(&self, x: f64) -> f64 {
            // SAFETY: takes any number.
            unsafe { (self.$name)(x) }
        }
    )*};
}

impl Functions {
    pub fn load() -> Result<Functions, Cause> {
        let failed = Cause { step: step::LIBRARY, errno: libc::ENOENT, detail: 0 };
        // SAFETY: the library has no constructors.
        let library = unsafe { libc_parts::dlopen(c"libm.so.6", libc::RTLD_NOW) };
        if library.is_null() {
            return Err(failed);
        }
        let find = |name: &CStr| {
            // SAFETY: a library that was loaded.
            let address = unsafe { libc_parts::dlsym(library, name) };
            if address.is_null() { Err(failed) } else { Ok(address) }
        };
        // SAFETY: functions of these names have this type (C17 7.12; sincos: a GNU extension).
        unsafe {
            let function =
                |name| find(name).map(|address| core::mem::transmute::<*mut c_void, Function>(address));
            Ok(Functions {
                sincos: core::mem::transmute::<*mut c_void, SinCos>(find(c"sincos")?),
                cos: function(c"cos")?,
                atan: function(c"atan")?,
                exp: function(c"exp")?,
                log: function(c"log")?,
            })
        }
    }

    functions!(cos atan exp log);

    pub fn sin_times_cos(&self, x: f64) -> f64 {
        let (mut sin, mut cos) = (0.0, 0.0);
        // SAFETY: two places.
        unsafe { (self.sincos)(x, &mut sin, &mut cos) };
        sin * cos
    }
}

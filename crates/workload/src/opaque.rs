//! Values and memory that the compiler must not reason about, without an instruction.
//!
//! [`core::hint::black_box`] goes through memory: a store and a load, four or five cycles, more than some
//! measured loops take. Here a value stays in its register.

use core::arch::asm;

/// The same number, unknown to the compiler.
#[inline(always)]
#[allow(asm_sub_register, reason = "no instruction names the register")]
pub fn int(mut value: i32) -> i32 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags, pure)) };
    value
}

/// The same number, unknown to the compiler. It moves from a floating-point to an integer register and back.
#[inline(always)]
pub fn float(value: f64) -> f64 {
    let mut bits = value.to_bits();
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) bits, options(nomem, nostack, preserves_flags, pure)) };
    let value = f64::from_bits(bits);
    #[cfg(target_arch = "x86_64")]
    let value = {
        let mut value = value;
        // SAFETY: no instruction.
        unsafe { asm!("/* {0} */", inout(xmm_reg) value, options(nomem, nostack, preserves_flags, pure)) };
        value
    };
    #[cfg(target_arch = "aarch64")]
    let value = {
        let mut value = value;
        // SAFETY: no instruction.
        unsafe { asm!("/* {0:d} */", inout(vreg) value, options(nomem, nostack, preserves_flags, pure)) };
        value
    };
    value
}

/// The compiler assumes that memory with an escaped address is read and written here, as by an external
/// function.
#[inline(always)]
pub fn memory() {
    // SAFETY: no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

#[inline(always)]
pub fn address<T>(pointer: *mut T) -> *mut T {
    let mut pointer = pointer;
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}

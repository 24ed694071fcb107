//! What carries a number from one task to the other.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use super::board::Board;
use crate::Outcome;
use crate::shared::{Cause, step};
use crate::sys;

/// Bytes of a number.
const BYTES: usize = size_of::<u64>();

/// Carriers.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Two pipes, as UnixBench's context1.
    Pipes,
    /// A pair of connected Unix sockets, SOCK_STREAM.
    Sockets,
    /// Two event descriptors (eventfd(2)): a number is added to a counter of 0, and read as a whole.
    Events,
    /// Two words in shared memory, each waited for by futex(2): nothing goes through a file.
    Futexes,
}

/// One end of the link.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// Numbers are written to the one and read from the other descriptor.
    Files {
        /// Where to write.
        to: c_int,
        /// Where to read.
        from: c_int,
    },
    /// Numbers are stored in the one and awaited in the other word.
    Words {
        /// Where to store.
        to: &'static AtomicU32,
        /// What to wait for.
        from: &'static AtomicU32,
    },
}

impl Way {
    /// Both ends.
    ///
    /// # Errors
    /// What the system answered.
    pub fn open(self, board: &'static Board) -> Result<(End, End), Cause> {
        let (mut one, mut two): ([c_int; 2], [c_int; 2]) = ([-1; 2], [-1; 2]);
        match self {
            Way::Pipes => {
                // SAFETY: room for two descriptors each.
                if unsafe { libc::pipe(one.as_mut_ptr()) != 0 || libc::pipe(two.as_mut_ptr()) != 0 } {
                    return Err(Cause::now(step::PIPE));
                }
                let ([out_from, out_to], [back_from, back_to]) = (one, two);
                Ok((End::Files { to: out_to, from: back_from }, End::Files { to: back_to, from: out_from }))
            }
            Way::Sockets => {
                // SAFETY: room for two descriptors.
                let made = unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, one.as_mut_ptr()) };
                if made != 0 {
                    return Err(Cause::now(step::SOCKET));
                }
                let [here, there] = one;
                Ok((End::Files { to: here, from: here }, End::Files { to: there, from: there }))
            }
            Way::Events => {
                // SAFETY: no memory is touched.
                let (out, back) = unsafe { (libc::eventfd(0, 0), libc::eventfd(0, 0)) };
                if out < 0 || back < 0 {
                    return Err(Cause::now(step::EVENT));
                }
                Ok((End::Files { to: out, from: back }, End::Files { to: back, from: out }))
            }
            Way::Futexes => {
                let (out, back) = (&board.out.0, &board.back.0);
                Ok((End::Words { to: out, from: back }, End::Words { to: back, from: out }))
            }
        }
    }
}

impl End {
    /// Sends a number, never 0, and wakes who waits for it.
    ///
    /// # Errors
    /// [`step::WRITE`].
    #[inline(always)]
    pub fn send(self, number: u64) -> Outcome {
        match self {
            End::Files { to, .. } => {
                // SAFETY: eight bytes.
                let wrote = unsafe { libc::write(to, (&raw const number).cast(), BYTES) };
                if wrote == BYTES as isize { Ok(()) } else { Err(Cause::now(step::WRITE)) }
            }
            End::Words { to, .. } => {
                to.store(number as u32, Ordering::Release);
                sys::wake_all(to);
                Ok(())
            }
        }
    }

    /// Waits for a number: the one after `last`, if all is right.
    ///
    /// # Errors
    /// [`step::READ`], also if nobody can send any more.
    #[inline(always)]
    pub fn receive(self, last: u64) -> Result<u64, Cause> {
        match self {
            End::Files { from, .. } => {
                let mut number: u64 = 0;
                // SAFETY: eight bytes.
                let read = unsafe { libc::read(from, (&raw mut number).cast(), BYTES) };
                match read {
                    0 => Err(Cause::wrong(step::READ, last)),
                    read if read == BYTES as isize => Ok(number),
                    _ => Err(Cause::now(step::READ)),
                }
            }
            End::Words { from, .. } => {
                sys::wait_while(from, last as u32);
                Ok(u64::from(from.load(Ordering::Acquire)))
            }
        }
    }
}

//! The link that carries a number from one task to the other.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use super::shared_state::SharedState;
use crate::Outcome;
use crate::shared::{Cause, step};
use crate::sys;

const BYTES: usize = size_of::<u64>();

#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// Two pipes, as UnixBench's context1.
    Pipes,
    /// A pair of connected Unix sockets, SOCK_STREAM.
    Sockets,
    /// Two event descriptors (eventfd(2)): write adds the number to a counter of 0, read takes the whole
    /// counter.
    Events,
    /// Two words in shared memory, each with futex(2): no descriptor.
    Futexes,
}

#[derive(Clone, Copy, Debug)]
pub enum End {
    Descriptors { to: c_int, from: c_int },
    Words { to: &'static AtomicU32, from: &'static AtomicU32 },
}

impl Transport {
    /// Opens the link: the ends of the ping and of the echo task.
    pub fn open(self, state: &'static SharedState) -> Result<(End, End), Cause> {
        let (mut out, mut back): ([c_int; 2], [c_int; 2]) = ([-1; 2], [-1; 2]);
        match self {
            Transport::Pipes => {
                // SAFETY: room for two descriptors each.
                if unsafe { libc::pipe(out.as_mut_ptr()) != 0 || libc::pipe(back.as_mut_ptr()) != 0 } {
                    return Err(Cause::now(step::PIPE));
                }
                let ([out_from, out_to], [back_from, back_to]) = (out, back);
                Ok((
                    End::Descriptors { to: out_to, from: back_from },
                    End::Descriptors { to: back_to, from: out_from },
                ))
            }
            Transport::Sockets => {
                let mut sockets: [c_int; 2] = [-1; 2];
                // SAFETY: room for two descriptors.
                let status =
                    unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, sockets.as_mut_ptr()) };
                if status != 0 {
                    return Err(Cause::now(step::SOCKET));
                }
                let [ping, echo] = sockets;
                Ok((End::Descriptors { to: ping, from: ping }, End::Descriptors { to: echo, from: echo }))
            }
            Transport::Events => {
                // SAFETY: no memory is touched.
                let (out, back) = unsafe { (libc::eventfd(0, 0), libc::eventfd(0, 0)) };
                if out < 0 || back < 0 {
                    return Err(Cause::now(step::EVENT));
                }
                Ok((End::Descriptors { to: out, from: back }, End::Descriptors { to: back, from: out }))
            }
            Transport::Futexes => {
                let (out, back) = (&state.out.0, &state.back.0);
                Ok((End::Words { to: out, from: back }, End::Words { to: back, from: out }))
            }
        }
    }
}

impl End {
    /// Sends a number, never 0, and wakes the other task.
    #[inline(always)]
    pub fn send(self, number: u64) -> Outcome {
        match self {
            End::Descriptors { to, .. } => {
                // SAFETY: eight bytes.
                let written = unsafe { libc::write(to, (&raw const number).cast(), BYTES) };
                if written == BYTES as isize { Ok(()) } else { Err(Cause::now(step::WRITE)) }
            }
            End::Words { to, .. } => {
                to.store(number as u32, Ordering::Release);
                sys::wake_all(to);
                Ok(())
            }
        }
    }

    /// Waits for a number that is not `last`.
    #[inline(always)]
    pub fn receive(self, last: u64) -> Result<u64, Cause> {
        match self {
            End::Descriptors { from, .. } => {
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

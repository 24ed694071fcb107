//! Events of the kernel and the rings that they write into, whatever they count.

use std::io;
use std::os::fd::AsRawFd;

use perf_event::data::Visitor;
use perf_event::data::endian::Native;
use perf_event::data::parse::{ParseConfig, Parser};
use perf_event::{Builder, Counter, SampleFlag, Sampler};
use perf_event_open_sys::bindings::perf_event_header;
use perf_event_open_sys::ioctls;

use super::record::{Entry, registers};

/// Bytes of stack that are copied with a sample: perf's default.
const STACK: u32 = 8 << 10;

/// Adds to each sample what unwinding needs.
pub fn sample_stacks(builder: &mut Builder) {
    builder.sample(SampleFlag::CALLCHAIN | SampleFlag::STACK_USER);
    builder.exclude_callchain_kernel(true).sample_stack_user(STACK);
    sample_registers(builder);
}

/// Adds to each sample the registers: the stack pointer shows whether a fault is at a stack. All events ask for the same ones: of two that record
/// the same fault, the kernel works out the size of the registers once, and damages the record of the second (perf_prepare_sample, Linux 6.18).
pub fn sample_registers(builder: &mut Builder) {
    builder.sample(SampleFlag::REGS_USER).sample_regs_user(registers::MASK);
}

/// Sets the period of an event that no task inherits.
pub fn set_period(counter: &Counter, period: u64) -> io::Result<()> {
    // SAFETY: an open event; the kernel reads the number at this address (it is passed on as it is).
    let done = unsafe { ioctls::PERIOD(counter.as_raw_fd(), (&raw const period).addr() as u64) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets an event write into the ring of another one.
pub fn join(counter: &Counter, ring: &Sampler) -> io::Result<()> {
    // SAFETY: two open events; no memory is passed.
    let done = unsafe { ioctls::SET_OUTPUT(counter.as_raw_fd(), ring.as_raw_fd()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The entry of a record without its header; `None` if the reader ignores it, or it is damaged.
pub fn entry<R>(kind: u32, misc: u16, bytes: &[u8], config: ParseConfig<Native>, reader: R) -> Option<Entry>
where
    R: for<'r> Visitor<'r, Output = Option<Entry>>,
{
    let size = bytes.len() + size_of::<perf_event_header>();
    let header = perf_event_header { type_: kind, misc, size: size as u16 };
    Parser::new(bytes, config).parse_record_with_header(reader, header).ok().flatten()
}

/// Reads a ring: each record that the reader makes an entry of. Returns the bytes read, which are no more than `most` and a record:
/// others may write as fast as they are read.
pub fn drain<R>(ring: &mut Sampler, most: usize, reader: R, entries: &mut Vec<Entry>) -> usize
where
    R: for<'r> Visitor<'r, Output = Option<Entry>> + Copy,
{
    let config = ring.as_counter().config().clone();
    let mut all = 0;
    while all < most
        && let Some(record) = ring.next_record()
    {
        let bytes = record.to_contiguous();
        all += bytes.len() + size_of::<perf_event_header>();
        entries.extend(entry(record.ty(), record.misc(), bytes.as_ref(), config.clone(), reader));
    }
    all
}

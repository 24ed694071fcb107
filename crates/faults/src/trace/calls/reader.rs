//! Reads the records of calls for memory, and of the error codes of faults.

use perf_event::data::{Lost, LostSamples, RecordMetadata, Sample, Visitor};

use super::super::record::{Call, CallArguments, Entry, EventKind, Fault, addresses, regs};
use super::super::tracefs::Format;

/// Where each call is traced: at its beginning, with its bytes; brk at its end, with the end of the heap.
pub const TRACED: [&str; 5] =
    ["sys_enter_mmap", "sys_enter_munmap", "sys_enter_mremap", "sys_exit_brk", "sys_enter_madvise"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// One call in so many, with its stack.
    Stacks,
    /// Every call.
    Counts,
    Codes,
    /// New processes that share their parent's address space.
    Forks,
}

#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub set: Set,
    /// Tracepoints, in the order of [`TRACED`].
    pub formats: &'a [Format],
    /// One in so many is recorded, by call.
    pub periods: &'a [u64],
}

impl Reader<'_> {
    fn arguments(&self, raw: &[u8]) -> Option<CallArguments> {
        let id = self.formats.first()?.read("common_type", raw)?;
        let call = self.formats.iter().position(|format| format.id == id)?;
        let field = |name: &str| self.formats[call].read(name, raw);
        arguments(TRACED[call], field)
    }
}

fn arguments(tracepoint: &str, field: impl Fn(&str) -> Option<u64>) -> Option<CallArguments> {
    Some(match tracepoint {
        "sys_enter_mmap" => CallArguments::Map {
            bytes: if field("prot")? == libc::PROT_NONE as u64 { 0 } else { field("len")? },
            is_file: field("flags")? & libc::MAP_ANONYMOUS as u64 == 0,
        },
        "sys_enter_munmap" => CallArguments::Unmap { start: field("addr")?, bytes: field("len")? },
        "sys_enter_mremap" => CallArguments::Remap { bytes: field("new_len")? },
        // brk returns the end of the heap, also if it did not move; an error only after a signal.
        "sys_exit_brk" => CallArguments::Break { end: field("ret").filter(|end| *end <= i64::MAX as u64)? },
        // Older kernels call the length `len`.
        "sys_enter_madvise" => CallArguments::Advise {
            start: field("start")?,
            bytes: field("len_in").or_else(|| field("len"))?,
            advice: field("behavior")? as i32,
        },
        _ => return None,
    })
}

impl<'r> Visitor<'r> for Reader<'_> {
    type Output = Option<Entry>;

    fn visit_unimplemented(self, _: RecordMetadata) -> Option<Entry> {
        None
    }

    fn visit_sample(self, sample: Sample<'r>, _: RecordMetadata) -> Option<Entry> {
        let (process, thread, raw) = (sample.pid()?, sample.tid()?, sample.raw()?);
        let kind = if self.set == Set::Codes {
            let format = self.formats.first()?;
            let (address, code) = (format.read("address", raw)?, format.read("error_code", raw)?);
            let sp = sample.regs_user().and_then(regs).map(|regs| regs.sp);
            EventKind::Code { process, address, sp, code }
        } else if self.set == Set::Forks {
            let flags = self.formats.first()?.read("clone_flags", raw)?;
            let shares = flags & (libc::CLONE_VM | libc::CLONE_THREAD) as u64 == libc::CLONE_VM as u64;
            shares.then_some(EventKind::Shares(process))?
        } else {
            let arguments = self.arguments(raw)?;
            let chain = sample.callchain().unwrap_or_default();
            let by = Fault {
                process,
                thread,
                ip: sample.ip()?,
                weight: self.periods[arguments.place()],
                chain: addresses(chain),
                regs: sample.regs_user().and_then(regs),
                stack: sample.stack_user().unwrap_or_default().to_vec(),
                ..Fault::default()
            };
            EventKind::Call(Box::new(Call { by, arguments, has_stack: self.set == Set::Stacks }))
        };
        Some(Entry { time: sample.time()?, kind })
    }

    fn visit_lost(self, lost: Lost, metadata: RecordMetadata) -> Option<Entry> {
        self.lost(lost.lost, &metadata)
    }

    fn visit_lost_samples(self, lost: LostSamples, metadata: RecordMetadata) -> Option<Entry> {
        self.lost(lost.lost, &metadata)
    }
}

impl Reader<'_> {
    /// Lost records. Stacks are samples: they may be lost.
    fn lost(self, records: u64, metadata: &RecordMetadata) -> Option<Entry> {
        let time = metadata.sample_id().time()?;
        let kind = match self.set {
            Set::Counts => EventKind::Uncounted(records),
            Set::Forks => EventKind::Uncounted(0),
            Set::Codes => EventKind::LostCodes(records),
            Set::Stacks => return None,
        };
        Some(Entry { time, kind })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn arguments_are_read_by_tracepoint() {
        let read = |call: &str, fields: &[(&str, u64)]| {
            arguments(call, |name| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value))
        };
        let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
        assert_eq!(
            read("sys_enter_mmap", &[("len", 4096), ("prot", 3), ("flags", anonymous)]),
            Some(CallArguments::Map { bytes: 4096, is_file: false })
        );
        let reserved = Some(CallArguments::Map { bytes: 0, is_file: false });
        assert_eq!(read("sys_enter_mmap", &[("len", 4096), ("prot", 0), ("flags", anonymous)]), reserved);
        assert_eq!(
            read("sys_enter_mmap", &[("len", 1), ("prot", 3), ("flags", 2)]),
            Some(CallArguments::Map { bytes: 1, is_file: true })
        );
        assert_eq!(read("sys_exit_brk", &[("ret", 7)]), Some(CallArguments::Break { end: 7 }));
        let interrupted = -i64::from(libc::EINTR) as u64;
        assert_eq!(read("sys_exit_brk", &[("ret", interrupted)]), None);
        let advice = Some(CallArguments::Advise { start: 8, bytes: 5, advice: libc::MADV_DONTNEED });
        assert_eq!(read("sys_enter_madvise", &[("start", 8), ("len_in", 5), ("behavior", 4)]), advice);
        assert_eq!(read("sys_enter_madvise", &[("start", 8), ("len", 5), ("behavior", 4)]), advice);
        assert_eq!((read("sys_enter_munmap", &[]), read("sys_enter_read", &[])), (None, None));
    }
}

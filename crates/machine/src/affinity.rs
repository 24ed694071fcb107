//! The affinity mask of the calling thread, for any number of CPUs.
//!
//! libc's `cpu_set_t` ends at 1024 CPUs; the system calls take a mask of any length (sched_setaffinity(2),
//! "Handling systems with more than 1024 CPUs"), so they are called directly.

use std::io;

use figure::CpuList;

const WORD_BITS: u32 = usize::BITS;
/// The kernel refuses (EINVAL) a mask shorter than its own. The mask here grows up to this many CPUs, well
/// above the largest NR_CPUS (8192 on x86-64).
const MOST_CPUS: u32 = 65_536;

pub fn get() -> io::Result<CpuList> {
    let mut cpus = 1024;
    loop {
        let mut mask = vec![0usize; (cpus / WORD_BITS) as usize];
        // SAFETY: the mask is writable and as long as stated; pid 0 is the calling thread.
        let written = unsafe {
            libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(mask.as_slice()), mask.as_mut_ptr())
        };
        if written >= 0 {
            return Ok(from_words(&mask));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || cpus >= MOST_CPUS {
            return Err(error);
        }
        cpus *= 2;
    }
}

/// Allows the calling thread exactly these CPUs. The kernel drops those it does not have; EINVAL if none is
/// left.
pub fn set(cpus: &CpuList) -> io::Result<()> {
    let mask = to_words(cpus);
    // SAFETY: the mask is readable and as long as stated; pid 0 is the calling thread.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(mask.as_slice()), mask.as_ptr()) };
    if done == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // The kernel lets every process set the affinity of its own threads.
    Err(match error.kind() {
        io::ErrorKind::PermissionDenied if crate::perf::is_filtered(&crate::Tree::live()) => {
            io::Error::new(error.kind(), format!("{error}: {FILTERED}"))
        }
        _ => error,
    })
}

const FILTERED: &str = "a filter of system calls (seccomp) forbids sched_setaffinity; run truebench outside of it, or let that call \
     through (SystemCallFilter=@resources of a service, --security-opt seccomp=unconfined of a container)";

pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

fn from_words(words: &[usize]) -> CpuList {
    (0..words.len() as u32 * WORD_BITS)
        .filter(|cpu| words[(cpu / WORD_BITS) as usize] >> (cpu % WORD_BITS) & 1 == 1)
        .collect()
}

fn to_words(cpus: &CpuList) -> Vec<usize> {
    let length = cpus.iter().next_back().map_or(1, |last| last / WORD_BITS + 1);
    let mut words = vec![0usize; length as usize];
    for cpu in cpus.iter() {
        words[(cpu / WORD_BITS) as usize] |= 1 << (cpu % WORD_BITS);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_beyond_1024_cpus() {
        let list: CpuList = "0,63-64,1023-1025,4000".parse().unwrap();
        assert_eq!(from_words(&to_words(&list)), list);
    }

    #[test]
    fn the_mask_that_was_set_is_read_back() {
        std::thread::spawn(|| {
            let allowed = get().unwrap();
            let one: CpuList = allowed.iter().take(1).collect();
            set(&one).unwrap();
            assert_eq!(get().unwrap(), one);
            assert_eq!(Some(current_cpu()), one.first());
            assert!(set(&CpuList::from_iter([65_000])).is_err());
        })
        .join()
        .unwrap();
    }
}

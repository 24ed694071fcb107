//! The kernel's tracepoints (tracefs): the number of each, and the offset of each field in its records.
//!
//! If tracefs is not mounted, a privileged process gets a directory of it from the kernel that only this
//! process has (fsmount(2)): nothing is mounted, and nothing of the machine changes.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use lab::failure::Failure;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Where it is mounted, if it is.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const AS_ROOT: &str = "run truebench as root";

#[derive(Debug)]
pub struct Tracefs(OwnedFd);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its number (perf_event_open(2)).
    pub id: u64,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    offset: usize,
    size: usize,
}

impl Tracefs {
    /// Opens it where it is mounted, or without mounting it.
    pub fn open() -> Result<Tracefs, Failure> {
        let mut forbidden = None;
        for place in PLACES {
            let events = openat(CWD, format!("{place}/events"), DIRECTORY, Mode::empty());
            match events.and_then(|_| openat(CWD, place, DIRECTORY, Mode::empty())) {
                Ok(directory) => return Ok(Tracefs(directory)),
                Err(error @ (Errno::ACCESS | Errno::PERM)) => forbidden = forbidden.or(Some((place, error))),
                Err(_) => {}
            }
        }
        match (unmounted(), forbidden) {
            (Ok(directory), _) => Ok(Tracefs(directory)),
            (Err(_), Some((place, error))) => Err(Failure::new("").on(place).answer(error).advice(AS_ROOT)),
            (Err(Errno::PERM | Errno::ACCESS), None) => {
                Err(Failure::new("tracefs is not mounted, and only root can mount it").advice(AS_ROOT))
            }
            (Err(Errno::NODEV), None) => Err(Failure::new("this kernel has no tracefs")),
            (Err(error), None) => Err(Failure::new("tracefs is not mounted")
                .answer(error)
                .advice("mount -t tracefs tracefs /sys/kernel/tracing, as root")),
        }
    }

    /// The tracepoint of this name, such as `syscalls/sys_enter_brk`.
    pub fn format(&self, name: &str) -> Result<Format, Failure> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut text = String::new();
        let read = openat(&self.0, format!("events/{name}/format"), flags, Mode::empty())
            .map_err(std::io::Error::from)
            .and_then(|file| File::from(file).read_to_string(&mut text));
        let unreadable = || Failure::new("cannot read tracepoint").on(name);
        match read {
            Ok(_) => Format::parse(&text).ok_or_else(|| unreadable().answer("its format is unknown")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Failure::new("this kernel has no tracepoint").on(name))
            }
            Err(error) => Err(unreadable().answer(error).advice(AS_ROOT)),
        }
    }
}

/// Tracefs, mounted nowhere (Linux 5.2 and later).
fn unmounted() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

impl Format {
    pub fn parse(text: &str) -> Option<Format> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let fields = text.lines().filter_map(|line| field(line.trim_start().strip_prefix("field:")?));
        Some(Format { id, fields: fields.collect() })
    }

    /// A field of a record, as a number without its sign; `None` if it has no such field.
    pub fn read(&self, name: &str, record: &[u8]) -> Option<u64> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        let bytes = record.get(field.offset..field.offset.checked_add(field.size)?)?;
        Some(match field.size {
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
            4 => u64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

/// `unsigned long addr; offset:16; size:8; signed:0;`, with tabs between.
fn field(line: &str) -> Option<Field> {
    let mut parts = line.split(';').map(str::trim);
    let name = parts.next()?.rsplit(' ').next()?.to_owned();
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
    Some(Field { name, offset: number("offset:")?, size: number("size:")? })
}

#[cfg(test)]
mod unit {
    use super::*;

    /// As Linux 6.18 has it on x86-64.
    const MADVISE: &str = "\
name: sys_enter_madvise
ID: 726
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:unsigned long start;	offset:16;	size:8;	signed:0;
	field:size_t len_in;	offset:24;	size:8;	signed:0;
	field:int behavior;	offset:32;	size:8;	signed:0;

print fmt: \"start: 0x%08lx\", ((unsigned long)(REC->start))
";

    #[test]
    fn fields_are_read_at_their_offsets() {
        let format = Format::parse(MADVISE).unwrap();
        let mut record = vec![0; 40];
        record[..2].copy_from_slice(&726u16.to_ne_bytes());
        record[16..24].copy_from_slice(&0x7000_0000u64.to_ne_bytes());
        record[32..40].copy_from_slice(&8u64.to_ne_bytes());
        assert_eq!((format.id, format.read("common_type", &record)), (726, Some(726)));
        assert_eq!(format.read("start", &record), Some(0x7000_0000));
        assert_eq!(format.read("behavior", &record), Some(8));
        assert_eq!((format.read("none", &record), format.read("behavior", &record[..36])), (None, None));
        assert_eq!((Format::parse("name: x"), Format::parse("ID: x\n")), (None, None));
    }

    #[test]
    fn it_opens_or_says_why_not() {
        let before = std::fs::read_to_string("/proc/self/mounts").unwrap();
        match Tracefs::open() {
            Ok(tracefs) => {
                let none = tracefs.format("syscalls/none").unwrap_err().to_string();
                assert!(none.contains("no tracepoint syscalls/none"), "{none}");
                match tracefs.format("syscalls/sys_enter_munmap") {
                    Ok(format) => assert!(format.id > 0 && format.fields.len() > 5, "{format:?}"),
                    Err(failure) => assert!(failure.to_string().contains("no tracepoint"), "{failure}"),
                }
                let after = std::fs::read_to_string("/proc/self/mounts").unwrap();
                assert_eq!(before, after, "nothing is mounted");
            }
            Err(failure) => {
                let reason = failure.to_string();
                assert!(reason.contains("tracefs") || reason.contains("tracing"), "{reason}");
            }
        }
    }
}

//! Rooms with less in them than truebench would like: what a container, a jail or an administrator takes away, taken away for real.
//!
//! All is done in the child between fork and exec, by system calls alone: what is asked of the heap there may wait for a thread that is not.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::group::{Group, Limit};

/// One thing that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Root's rights: the user is nobody, which owns nothing here.
    Root,
    /// perf_event_open(2), which a filter refuses.
    Perf,
    /// /sys, which is empty.
    Sys,
    /// CPU time and memory, by a control group.
    Quota,
    /// Any file system that can be written, the work directory included.
    Writing,
    /// Any place to write but the work directory: a container with a read-only root.
    Elsewhere,
    /// What Docker takes: capabilities, system calls, parts of /proc and /sys.
    Container,
    /// What a hardened service of systemd may not: @resources and @debug of its SystemCallFilter.
    Resources,
}

/// CPUs that [`Lack::Quota`] leaves.
pub const CPUS: f64 = 0.8;
/// Bytes that it leaves.
pub const MEMORY: u64 = 600 << 20;

/// The user nobody, and its group: on every Linux (nfs, user namespaces).
const NOBODY: u32 = 65534;

/// System calls that Docker's profile refuses to who has no more than its default capabilities (moby, profiles/seccomp/default.json), as far as
/// a benchmark could want them; and those that older ones refused, or others do: ptrace and its like.
const REFUSED: &[i64] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_fanotify_init,
    libc::SYS_fsopen,
    libc::SYS_get_mempolicy,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_mbind,
    libc::SYS_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// @resources and, so far as a benchmark could want it, @debug (systemd, src/shared/seccomp-util.c).
const RESOURCES: &[i64] = &[
    libc::SYS_ioprio_set,
    libc::SYS_mbind,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_set_mempolicy,
    libc::SYS_setpriority,
    libc::SYS_setrlimit,
];

/// System calls that a profile older than they are does not know. Docker answers that there are none such, for glibc to do without.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_close_range,
    libc::SYS_faccessat2,
    libc::SYS_openat2,
    libc::SYS_epoll_pwait2,
];

/// Capabilities that Docker leaves to root, by their numbers in linux/capability.h: chown, dac_override, fowner, fsetid, kill, setgid, setuid,
/// setpcap, net_bind_service, net_raw, sys_chroot, mknod, audit_write, setfcap.
const LEFT: &[i32] = &[0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31];
/// Capabilities that the kernel may know.
const CAPABILITIES: std::ops::Range<i32> = 0..64;

/// What Docker masks (moby, oci/defaults.go), so far as there is such a thing: directories, and files.
const MASKED: [&[&str]; 2] = [
    &["/proc/acpi", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"],
    &["/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"],
];
/// What it shows read-only.
const SHOWN: &[&str] = &["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/sys"];

/// A step between fork and exec.
enum Step {
    /// A mount namespace of our own.
    Apart,
    /// An empty directory over this one.
    Empty(CString),
    /// One file or directory over another.
    Over(CString, CString),
    /// This mount and all below it read-only.
    ReadOnly(CString),
    /// This mount alone as it was before.
    Writable(CString),
    /// These bounding capabilities and no others.
    Capabilities,
    /// Into the group, by its files of processes.
    Into(Vec<CString>),
    /// The ids of user nobody.
    Nobody,
    /// A filter of system calls.
    Filter(BpfProgram),
}

/// What runs in it has less.
pub struct Room {
    /// What it lacks.
    pub lacks: Vec<Lack>,
    /// The directory of the programs and their files, which user nobody can reach too.
    directory: tempfile::TempDir,
    group: Option<Group>,
}

impl Room {
    /// A room without these.
    ///
    /// # Errors
    /// Why it cannot be made here.
    pub fn without(lacks: &[Lack]) -> Result<Room, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(directory.path(), open).map_err(|error| error.to_string())?;
        for name in ["bin", "work"] {
            std::fs::create_dir(directory.path().join(name)).map_err(|error| error.to_string())?;
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(directory.path().join("work"), open).map_err(|error| error.to_string())?;
        let limits = [Limit::Cpus(CPUS), Limit::Memory(MEMORY)];
        let group = match lacks.contains(&Lack::Quota) {
            true => Some(Group::with(&limits).ok_or("no control groups with such limits can be made here")?),
            false => None,
        };
        let room = Room { lacks: lacks.to_vec(), directory, group };
        // It is tried on a program that needs nothing.
        let mut probe = Command::new("true");
        room.enter(&mut probe);
        match probe.status() {
            Ok(status) if status.success() => Ok(room),
            Ok(status) => Err(format!("true(1) in it: {status}")),
            Err(error) => Err(format!("it cannot be made here: {error}")),
        }
    }

    /// Whether this is missing in it.
    pub fn lacks(&self, lack: Lack) -> bool {
        self.lacks.contains(&lack)
    }

    /// Where it is, and what runs in it puts its files.
    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// truebench in it, which is ended when it takes longer than anything here should, on a machine that does much else.
    pub fn truebench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "150"]).arg(self.program()).args(arguments);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TMPDIR", self.work()).env("HOME", "/nonexistent").current_dir(self.work());
        self.enter(&mut command);
        command
    }

    /// truebench, where who is in the room can reach it.
    pub fn program(&self) -> PathBuf {
        let built = Path::new(env!("CARGO_BIN_EXE_truebench"));
        if self.is_apart() { self.directory.path().join("bin/truebench") } else { built.to_owned() }
    }

    /// Whether it has mounts of its own, which all but a filter and a group need; user nobody needs them to reach the programs.
    fn is_apart(&self) -> bool {
        self.lacks.iter().any(|lack| !matches!(lack, Lack::Perf | Lack::Quota | Lack::Resources))
    }

    fn enter(&self, command: &mut Command) {
        let steps = self.steps();
        // SAFETY: `Step::take` makes system calls on what was allocated before the fork, and nothing else.
        unsafe { command.pre_exec(move || steps.iter().try_for_each(Step::take)) };
    }

    /// In the order in which each can still be taken.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(group) = &self.group {
            steps.push(Step::Into(group.entries().map(|file| c_string(&file)).collect()));
        }
        if self.is_apart() {
            let built = Path::new(env!("CARGO_BIN_EXE_truebench")).parent().unwrap_or(Path::new("/"));
            steps.push(Step::Apart);
            steps.push(Step::Over(c_string(built), c_string(&self.directory.path().join("bin"))));
        }
        if self.lacks(Lack::Container) {
            for path in there(SHOWN) {
                steps.extend([Step::Over(path.clone(), path.clone()), Step::ReadOnly(path)]);
            }
            let [directories, files] = MASKED;
            steps.extend(there(directories).map(Step::Empty));
            steps.extend(there(files).map(|path| Step::Over(c"/dev/null".into(), path)));
        }
        if self.lacks(Lack::Sys) {
            steps.push(Step::Empty(c"/sys".into()));
        }
        if self.lacks(Lack::Elsewhere) {
            let work = c_string(&self.work());
            steps.extend([
                Step::Over(work.clone(), work.clone()),
                Step::ReadOnly(c"/".into()),
                Step::Writable(work),
            ]);
        }
        if self.lacks(Lack::Writing) {
            steps.push(Step::ReadOnly(c"/".into()));
        }
        if self.lacks(Lack::Container) {
            steps.push(Step::Capabilities);
        }
        if self.lacks(Lack::Root) {
            steps.push(Step::Nobody);
        }
        if self.lacks(Lack::Perf) {
            steps.push(filter(&[libc::SYS_perf_event_open], libc::EPERM));
        }
        if self.lacks(Lack::Resources) {
            steps.push(filter(RESOURCES, libc::EPERM));
        }
        if self.lacks(Lack::Container) {
            steps.push(filter(REFUSED, libc::EPERM));
            steps.push(filter(UNKNOWN, libc::ENOSYS));
        }
        steps
    }
}

/// Those of these paths that are here.
fn there(paths: &'static [&str]) -> impl Iterator<Item = CString> {
    paths.iter().map(Path::new).filter(|path| path.exists()).map(c_string)
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path")
}

/// A filter that answers these system calls with an error, and lets all others through.
fn filter(calls: &[i64], errno: i32) -> Step {
    let refused: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let architecture = std::env::consts::ARCH.try_into().expect("an architecture that filters are known for");
    let filter =
        SeccompFilter::new(refused, SeccompAction::Allow, SeccompAction::Errno(errno as u32), architecture);
    Step::Filter(filter.and_then(BpfProgram::try_from).expect("a filter"))
}

/// What a system call answered.
fn done(answer: impl Into<i64>) -> io::Result<()> {
    if answer.into() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// mount(2) without data.
fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    // SAFETY: three strings that end; no data.
    done(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) })
}

impl Step {
    fn take(&self) -> io::Result<()> {
        match self {
            Step::Apart => {
                // SAFETY: of this process alone.
                done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
                mount(c"none", c"/", c"", libc::MS_REC | libc::MS_PRIVATE)
            }
            Step::Empty(path) => mount(c"none", path, c"tmpfs", libc::MS_RDONLY),
            Step::Over(what, path) => mount(what, path, c"", libc::MS_BIND | libc::MS_REC),
            Step::ReadOnly(path) => set_mounts(path, libc::AT_RECURSIVE, libc::MOUNT_ATTR_RDONLY, 0),
            Step::Writable(path) => set_mounts(path, 0, 0, libc::MOUNT_ATTR_RDONLY),
            Step::Capabilities => capabilities(),
            Step::Into(files) => files.iter().try_for_each(|file| enter(file)),
            Step::Nobody => {
                // SAFETY: ids of this process, which has one thread after the fork.
                done(unsafe { libc::setgroups(0, std::ptr::null()) })?;
                done(unsafe { libc::setresgid(NOBODY, NOBODY, NOBODY) })?;
                done(unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) })
            }
            Step::Filter(program) => {
                seccompiler::apply_filter(program).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
            }
        }
    }
}

/// mount_setattr(2), of Linux 5.12, because it reaches all that is mounted below.
fn set_mounts(path: &CStr, flags: libc::c_int, set: u64, clear: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let flags = flags as libc::c_uint;
    let size = size_of_val(&attributes);
    // SAFETY: a string that ends, and a structure of this size.
    done(unsafe {
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), flags, &attributes, size)
    })
}

/// Takes all bounding capabilities but [`LEFT`]: execve(2) then gives root no others.
fn capabilities() -> io::Result<()> {
    for capability in CAPABILITIES.filter(|capability| !LEFT.contains(capability)) {
        // SAFETY: takes numbers alone.
        let answer = done(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) });
        // Those that the kernel does not know are none that it could give.
        match answer {
            Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Writes 0, which stands for who writes it.
fn enter(file: &CStr) -> io::Result<()> {
    // SAFETY: a string that ends, one byte, and the descriptor that was opened.
    unsafe {
        let opened = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        done(opened)?;
        let written = done(libc::write(opened, c"0".as_ptr().cast(), 1) as i64);
        libc::close(opened);
        written
    }
}

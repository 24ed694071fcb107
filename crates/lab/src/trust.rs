//! Decides which files truebench runs, preloads or reads back: those that only root and the user can change.
//!
//! A user can change a path by changing the file or any directory on the way to it. These are the owner, and
//! everyone with write permission by the mode. In a sticky directory (`/tmp`) only the owner of an entry can
//! replace it. The check walks from `/` through symbolic links. Only trusted users can change checked parts,
//! so the file that is opened later is the checked one.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::failure::Failure;

/// Symbolic links that the kernel follows (MAXSYMLINKS, include/linux/namei.h).
const MAX_LINKS: usize = 40;
/// The uid that the kernel reports for owners outside of this user namespace (/proc/sys/kernel/overflowuid).
const OVERFLOW_UID: u32 = 65534;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    User(u32),
    /// A group with members, by gid.
    Group(u32),
    Others,
}

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Writer::User(uid) => write!(f, "user {uid}"),
            Writer::Group(gid) => write!(f, "group {gid}"),
            Writer::Others => f.write_str("every user"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    #[error("{} is not used: {writer} can change {}", path.display(), at.display())]
    Writable {
        path: PathBuf,
        writer: Writer,
        /// The part of the path that this writer can change.
        at: PathBuf,
    },
    #[error("{} is not used: it is no regular file", .0.display())]
    Irregular(PathBuf),
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
}

impl From<Untrusted> for Failure {
    fn from(error: Untrusted) -> Failure {
        Failure::new(error.to_string())
    }
}

/// A writer of the file or of a directory on the way to it.
struct Step {
    writer: Writer,
    at: PathBuf,
}

/// Checks that only root and the effective user can change a file.
pub fn file(path: &Path) -> Result<(), Untrusted> {
    check_regular(path)?;
    check(path, is_owner)
}

pub fn directory(path: &Path) -> Result<(), Untrusted> {
    check(path, is_owner)
}

/// As [`file`], and trusts users who can change truebench's own binary: they gain nothing by it.
pub fn installed_file(path: &Path) -> Result<(), Untrusted> {
    check_regular(path)?;
    let mut trusted = Vec::new();
    // /proc/self/exe leads to the running binary, even if its path has been replaced.
    if let (Ok(binary), Ok(metadata)) = (std::env::current_exe(), std::fs::metadata("/proc/self/exe")) {
        let mut steps = writers(binary.parent().unwrap_or(&binary)).unwrap_or_default();
        add(&mut steps, &binary, &metadata, false);
        trusted.extend(steps.into_iter().map(|step| step.writer));
    }
    let is_trusted =
        |writer| is_owner(writer) || trusted.contains(&writer) || trusted.contains(&Writer::Others);
    check(path, is_trusted)
}

/// Opens a file that truebench wrote. It must belong to root or the effective user, and must not be
/// world-writable. Its directory may belong to others: they cannot create a file of this owner.
pub fn open_saved(path: &Path) -> Result<File, Untrusted> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file =
        File::options().read(true).custom_flags(flags).open(path).map_err(|error| system(path, error))?;
    let metadata = file.metadata().map_err(|error| system(path, error))?;
    if !metadata.is_file() {
        return Err(Untrusted::Irregular(path.to_owned()));
    }
    let writable = |writer| Untrusted::Writable { path: path.to_owned(), writer, at: path.to_owned() };
    match Writer::User(metadata.uid()) {
        owner if !is_owner(owner) => Err(writable(owner)),
        _ if metadata.mode() & 0o002 != 0 => Err(writable(Writer::Others)),
        _ => Ok(file),
    }
}

/// Creates a directory and its missing parents for the effective user. An existing one must pass
/// [`directory`].
pub fn make_directory(path: &Path) -> Result<(), Untrusted> {
    let existing = path.ancestors().find(|parent| parent.symlink_metadata().is_ok()).unwrap_or(path);
    directory(existing)?;
    let result = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    result.map_err(|error| system(path, error))?;
    directory(path)
}

#[derive(Debug, Default)]
pub struct OnPath {
    /// The first trusted file.
    pub file: Option<PathBuf>,
    /// Untrusted files before it, and why.
    pub skipped: Vec<Untrusted>,
}

impl OnPath {
    /// Why files were skipped, to follow "not on PATH"; empty if none was.
    pub fn reason(&self) -> String {
        self.skipped.iter().map(|why| format!("; {why}")).collect()
    }
}

/// The first executable file with one of these names in the directories of `path`. All names are tried in one
/// directory before the next. Relative directories are skipped. PATH is the user's choice, so only
/// world-writable paths are refused; for root, all that [`file`] refuses.
pub fn on_path(names: &[&str], path: &OsStr) -> OnPath {
    let mut result = OnPath::default();
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    for file in directories.flat_map(|directory| names.iter().map(move |name| directory.join(name))) {
        let is_program =
            |metadata: &Metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
        if !std::fs::metadata(&file).is_ok_and(|metadata| is_program(&metadata)) {
            continue;
        }
        match check_regular(&file).and_then(|()| check_user_path(&file)) {
            Ok(()) => {
                result.file = Some(file);
                break;
            }
            Err(why) => result.skipped.push(why),
        }
    }
    result
}

/// PATH without the directories that [`on_path`] refuses, for truebench's own scripts.
pub fn search_path(path: &OsStr) -> OsString {
    let trusted = std::env::split_paths(path)
        .filter(|directory| directory.is_absolute() && check_user_path(directory).is_ok());
    // Cannot fail: no part contains the separator at which it was split.
    std::env::join_paths(trusted).unwrap_or_default()
}

/// Checks a path from the user's environment.
fn check_user_path(path: &Path) -> Result<(), Untrusted> {
    match geteuid().is_root() {
        true => directory(path),
        false => check(path, |writer| writer != Writer::Others),
    }
}

/// Whether this process has the rights of another user or group than its caller (set-user-ID, set-group-ID).
pub fn is_set_id() -> bool {
    use rustix::process::{getegid, getgid, getuid};
    getuid() != geteuid() || getgid() != getegid()
}

fn is_owner(writer: Writer) -> bool {
    [0, geteuid().as_raw()].map(Writer::User).contains(&writer)
}

fn check_regular(path: &Path) -> Result<(), Untrusted> {
    match std::fs::metadata(path).map_err(|error| system(path, error))?.is_file() {
        true => Ok(()),
        false => Err(Untrusted::Irregular(path.to_owned())),
    }
}

fn check(path: &Path, is_trusted: impl Fn(Writer) -> bool) -> Result<(), Untrusted> {
    let steps = writers(path).map_err(|error| system(path, error))?;
    let untrusted = steps.into_iter().find(|step| !is_trusted(step.writer));
    untrusted
        .map_or(Ok(()), |Step { writer, at }| Err(Untrusted::Writable { path: path.to_owned(), writer, at }))
}

fn system(path: &Path, error: io::Error) -> Untrusted {
    Untrusted::System(path.to_owned(), error)
}

/// All users who can change the file that a path leads to.
fn writers(path: &Path) -> io::Result<Vec<Step>> {
    let mut left: VecDeque<OsString> = components(&std::path::absolute(path)?);
    let (mut at, mut links, mut steps) = (PathBuf::from("/"), 0, Vec::new());
    let mut parent = std::fs::metadata(&at)?;
    add(&mut steps, &at, &parent, false);
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            parent = std::fs::metadata(&at)?;
            continue;
        }
        let next = at.join(&name);
        let metadata = std::fs::symlink_metadata(&next)?;
        add(&mut steps, &next, &metadata, is_sticky(&parent));
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            let target = std::fs::read_link(&next)?;
            if target.is_absolute() {
                at = PathBuf::from("/");
                parent = std::fs::metadata(&at)?;
            }
            left = components(&target).into_iter().chain(left).collect();
            continue;
        }
        (at, parent) = (next, metadata);
    }
    Ok(steps)
}

fn components(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

fn is_sticky(metadata: &Metadata) -> bool {
    metadata.is_dir() && metadata.mode() & 0o1000 != 0
}

fn add(steps: &mut Vec<Step>, at: &Path, metadata: &Metadata, is_in_sticky: bool) {
    let mut put = |writer| steps.push(Step { writer, at: at.to_owned() });
    // In a user namespace both the machine's root and any other unmapped user appear as OVERFLOW_UID. In a
    // sticky directory the owner may be any user.
    if metadata.uid() != OVERFLOW_UID || is_in_sticky || is_mapped(OVERFLOW_UID) {
        put(Writer::User(metadata.uid()));
    }
    if metadata.is_symlink() || is_sticky(metadata) {
        return;
    }
    if metadata.mode() & 0o020 != 0 && (has_members(metadata.gid()) || has_acl(at)) {
        put(Writer::Group(metadata.gid()));
    }
    if metadata.mode() & 0o002 != 0 {
        put(Writer::Others);
    }
}

/// Whether a uid is mapped in this user namespace (user_namespaces(7)).
fn is_mapped(uid: u32) -> bool {
    let Ok(map) = std::fs::read_to_string("/proc/self/uid_map") else { return true };
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().filter_map(|field| field.parse::<u64>().ok());
        let (first, count) = (fields.next(), fields.nth(1));
        first.zip(count).is_some_and(|(first, count)| (first..first + count).contains(&u64::from(uid)))
    })
}

/// Whether a group has an untrusted member. Many systems give every user a private group and umask 002.
fn has_members(gid: u32) -> bool {
    let read = |path| std::fs::read_to_string(path).ok();
    match (read("/etc/passwd"), read("/etc/group")) {
        (Some(users), Some(groups)) => is_shared(gid, geteuid().as_raw(), &users, &groups),
        _ => true,
    }
}

/// Whether users other than root and `uid` are in a group (passwd(5), group(5)). An unlisted one counts as
/// shared.
fn is_shared(gid: u32, uid: u32, users: &str, groups: &str) -> bool {
    let is_trusted = |number: &str| number == "0" || number == uid.to_string();
    let users: Vec<Vec<&str>> = users.lines().map(|line| line.split(':').collect()).collect();
    let user = |name: &str| users.iter().find(|user| user.first() == Some(&name));
    let gid = gid.to_string();
    let primary = users.iter().any(|user| {
        user.get(3) == Some(&gid.as_str()) && !user.get(2).is_some_and(|number| is_trusted(number))
    });
    let group = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut group = group.filter(|group| group.get(2) == Some(&gid.as_str())).peekable();
    let is_listed = group.peek().is_some();
    let member = group.flat_map(|group| group.get(3).copied().unwrap_or_default().split(',')).any(|name| {
        !name.is_empty() && !user(name).and_then(|user| user.get(2)).is_some_and(|number| is_trusted(number))
    });
    !is_listed || primary || member
}

/// Whether the path has an access control list (acl(5)), which may permit more than the mode shows.
fn has_acl(path: &Path) -> bool {
    use rustix::io::Errno;
    let acl = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0u8; 0][..]);
    !matches!(acl, Err(Errno::NODATA | Errno::NOTSUP))
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod unit;

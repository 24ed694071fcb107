//! Which files truebench runs, preloads or takes up: those that nobody but root and the user can change.
//!
//! Who can change a path can change the file, or any directory on the way to it: its owner, and whoever its mode lets write. In a
//! directory with the sticky bit (`/tmp`) only the owner of an entry can replace it. The way is walked from `/` on, through symbolic links:
//! what was checked is only changed by the trusted, so that the file which is opened afterwards is the one that was checked.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// As the kernel follows (MAXSYMLINKS, include/linux/namei.h).
const MAX_LINKS: usize = 40;
/// The owner that the kernel shows for one without a number in this user namespace (/proc/sys/kernel/overflowuid).
const OVERFLOW: u32 = 65534;

/// Who can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A user, by number.
    User(u32),
    /// A group that has members, by number.
    Group(u32),
    /// All users.
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

/// Why a path is not used.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    /// Another user can change it.
    #[error("{} is not used: {writer} can change {}", path.display(), at.display())]
    Writable {
        /// The path.
        path: PathBuf,
        /// Who can change it.
        writer: Writer,
        /// The part of the way that this writer can change.
        at: PathBuf,
    },
    /// It is no regular file.
    #[error("{} is not used: it is no regular file", .0.display())]
    Irregular(PathBuf),
    /// It cannot be looked at.
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
}

/// A directory on the way, or the file: who can write it.
struct Step {
    writer: Writer,
    at: PathBuf,
}

/// Whether only root and the effective user can change a file.
///
/// # Errors
/// Who else can, and where.
pub fn file(path: &Path) -> Result<(), Untrusted> {
    regular(path)?;
    check(path, &owners())
}

/// The same of a directory.
///
/// # Errors
/// Who else can, and where.
pub fn directory(path: &Path) -> Result<(), Untrusted> {
    check(path, &owners())
}

/// Whether only root, the effective user, and those who can change truebench's own binary can change a file: the last gain nothing by it.
///
/// # Errors
/// Who else can, and where.
pub fn own_file(path: &Path) -> Result<(), Untrusted> {
    regular(path)?;
    let mut trusted = owners();
    // The link of /proc leads to the binary that runs, also where another has taken its place.
    if let (Ok(binary), Ok(metadata)) = (std::env::current_exe(), std::fs::metadata("/proc/self/exe")) {
        let mut steps = writers(binary.parent().unwrap_or(&binary)).unwrap_or_default();
        add(&mut steps, &binary, &metadata, false);
        trusted.extend(steps.into_iter().map(|step| step.writer));
    }
    check(path, &trusted)
}

/// Opens a file that truebench wrote, to take it up again: it belongs to root or the effective user, and not every user can write it. It may lie
/// in a directory of other users, who can put another file there, but none of this owner.
///
/// # Errors
/// It is no such file, or cannot be opened.
pub fn open_saved(path: &Path) -> Result<File, Untrusted> {
    let system = |error| Untrusted::System(path.to_owned(), error);
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(system)?;
    let metadata = file.metadata().map_err(system)?;
    if !metadata.is_file() {
        return Err(Untrusted::Irregular(path.to_owned()));
    }
    let writable = |writer| Untrusted::Writable { path: path.to_owned(), writer, at: path.to_owned() };
    match Writer::User(metadata.uid()) {
        owner if !owners().contains(&owner) => Err(writable(owner)),
        _ if metadata.mode() & 0o002 != 0 => Err(writable(Writer::Others)),
        _ => Ok(file),
    }
}

/// Makes a directory that only the effective user can use, with those above it that are missing, unless there is one that [`directory`]
/// accepts.
///
/// # Errors
/// It cannot be made, or another user can change it.
pub fn make_directory(path: &Path) -> Result<(), Untrusted> {
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(path);
    directory(there)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Untrusted::System(path.to_owned(), error))?;
    directory(path)
}

/// A program on PATH.
#[derive(Debug, Default)]
pub struct OnPath {
    /// The first that can be used.
    pub file: Option<PathBuf>,
    /// Those before it that cannot, and why.
    pub skipped: Vec<Untrusted>,
}

impl OnPath {
    /// Why there is none, after "not on PATH", where one was skipped; else empty.
    pub fn reason(&self) -> String {
        self.skipped.iter().map(|why| format!("; {why}")).collect()
    }
}

/// The first of these names that is an executable file in a directory of `path`, as a shell looks for it: all names in one directory
/// before the next. Directories that are not absolute are left out. PATH is the user's own choice, but for what every user can change; root runs
/// nothing that [`file`] refuses.
pub fn on_path(names: &[&str], path: &OsStr) -> OnPath {
    let mut found = OnPath::default();
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    for file in directories.flat_map(|directory| names.iter().map(move |name| directory.join(name))) {
        let is_program =
            |metadata: &Metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
        if !std::fs::metadata(&file).is_ok_and(|metadata| is_program(&metadata)) {
            continue;
        }
        match regular(&file).and_then(|()| by_user(&file)) {
            Ok(()) => {
                found.file = Some(file);
                break;
            }
            Err(why) => found.skipped.push(why),
        }
    }
    found
}

/// PATH without the directories in which [`on_path`] takes no file, for scripts of truebench's own.
pub fn search_path(path: &OsStr) -> OsString {
    let kept =
        std::env::split_paths(path).filter(|directory| directory.is_absolute() && by_user(directory).is_ok());
    // They were split at the sign that joins them.
    std::env::join_paths(kept).unwrap_or_default()
}

/// Whether a path that the user's environment names is used.
fn by_user(path: &Path) -> Result<(), Untrusted> {
    match directory(path) {
        Err(Untrusted::Writable { writer: Writer::User(_) | Writer::Group(_), .. })
            if !geteuid().is_root() =>
        {
            let steps = writers(path).map_err(|error| Untrusted::System(path.to_owned(), error))?;
            match steps.into_iter().find(|step| step.writer == Writer::Others) {
                Some(Step { writer, at }) => Err(Untrusted::Writable { path: path.to_owned(), writer, at }),
                None => Ok(()),
            }
        }
        other => other,
    }
}

/// Whether this program has the rights of another user or group than the one who started it (set-user-ID, set-group-ID).
pub fn runs_for_another() -> bool {
    use rustix::process::{getegid, getgid, getuid};
    getuid() != geteuid() || getgid() != getegid()
}

fn owners() -> Vec<Writer> {
    vec![Writer::User(0), Writer::User(geteuid().as_raw())]
}

fn regular(path: &Path) -> Result<(), Untrusted> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(Untrusted::Irregular(path.to_owned())),
        Err(error) => Err(Untrusted::System(path.to_owned(), error)),
    }
}

fn check(path: &Path, trusted: &[Writer]) -> Result<(), Untrusted> {
    let steps = writers(path).map_err(|error| Untrusted::System(path.to_owned(), error))?;
    let is_trusted = |step: &Step| trusted.contains(&step.writer) || trusted.contains(&Writer::Others);
    match steps.into_iter().find(|step| !is_trusted(step)) {
        Some(Step { writer, at }) => Err(Untrusted::Writable { path: path.to_owned(), writer, at }),
        None => Ok(()),
    }
}

/// All who can change what a path leads to.
fn writers(path: &Path) -> io::Result<Vec<Step>> {
    let mut left: VecDeque<OsString> = names(&std::path::absolute(path)?);
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
            left = names(&target).into_iter().chain(left).collect();
            continue;
        }
        (at, parent) = (next, metadata);
    }
    Ok(steps)
}

fn names(path: &Path) -> VecDeque<OsString> {
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
    // Root of the machine has no number in a user namespace, and neither has any other user: where all can make files it may be any.
    if metadata.uid() != OVERFLOW || is_in_sticky || is_mapped(OVERFLOW) {
        put(Writer::User(metadata.uid()));
    }
    if metadata.is_symlink() || is_sticky(metadata) {
        return;
    }
    if metadata.mode() & 0o020 != 0 && (has_members(metadata.gid()) || has_list(at)) {
        put(Writer::Group(metadata.gid()));
    }
    if metadata.mode() & 0o002 != 0 {
        put(Writer::Others);
    }
}

/// Whether a user has a number in this user namespace (user_namespaces(7)).
fn is_mapped(uid: u32) -> bool {
    let Ok(map) = std::fs::read_to_string("/proc/self/uid_map") else { return true };
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().filter_map(|field| field.parse::<u64>().ok());
        let (first, count) = (fields.next(), fields.nth(1));
        first.zip(count).is_some_and(|(first, count)| (first..first + count).contains(&u64::from(uid)))
    })
}

/// Whether a group has a member who is not trusted anyway. Many systems give every user a group of its own, and umask 002.
fn has_members(gid: u32) -> bool {
    let read = |path| std::fs::read_to_string(path).ok();
    match (read("/etc/passwd"), read("/etc/group")) {
        (Some(users), Some(groups)) => is_shared(gid, geteuid().as_raw(), &users, &groups),
        _ => true,
    }
}

/// Whether users besides root and `uid` are of a group, by passwd(5) and group(5). A group that is not listed is shared.
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

/// Whether a list (acl(5)) may let others write than the mode shows.
fn has_list(path: &Path) -> bool {
    use rustix::io::Errno;
    let list = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0u8; 0][..]);
    !matches!(list, Err(Errno::NODATA | Errno::NOTSUP))
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod unit;

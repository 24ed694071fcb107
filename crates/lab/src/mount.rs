//! The mount that holds a directory (/proc/self/mountinfo).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use figure::Evidence;
use figure::evidence::{FS_DEVICE, FS_OPTIONS, FS_TYPE};
use figure::format::plain_to;
use procfs_core::FromRead;
use procfs_core::process::{MountInfo, MountInfos};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::failure::{Attempt, Failure};

const MOUNTS: &str = "/proc/self/mountinfo";
/// Of the first process: a chroot shows no mount that is above its root.
const MOUNTS_OF_ALL: &str = "/proc/1/mountinfo";
/// Characters of the options that are recorded: an overlay's list of layers has thousands.
const MOST_OPTIONS: usize = 300;
const MOST_DEVICE: usize = 100;

/// One mounted file system, with untrusted names made plain and short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// File system type, such as `ext4`.
    pub kind: String,
    /// Mount options, then the file system's own.
    pub options: String,
    /// Device numbers and source: `254:0 /dev/vda`.
    pub device: String,
}

pub fn evidence(directory: &Path) -> Evidence {
    let mut evidence = Evidence::default();
    match find(directory) {
        Ok(mount) => {
            evidence.put(FS_TYPE, mount.kind);
            evidence.put(FS_OPTIONS, mount.options);
            evidence.put(FS_DEVICE, mount.device);
        }
        Err(reason) => {
            for key in [FS_TYPE, FS_OPTIONS, FS_DEVICE] {
                evidence.put_unknown(key, reason.to_string());
            }
        }
    }
    evidence
}

pub fn find(directory: &Path) -> Result<Mount, Failure> {
    let real = directory.canonicalize().attempt_on("", directory.display())?;
    let mounts = mounts(MOUNTS)?;
    // Since Linux 5.8. Older kernels: by path, which may find a mount that another one covers.
    let id = statx(CWD, &real, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|status| status.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|status| status.stx_mnt_id);
    let by_id = |mounts: &[MountInfo]| {
        let is_it = |mount: &&MountInfo| id.is_some_and(|id| u64::try_from(mount.mnt_id) == Ok(id));
        mounts.iter().find(is_it).map(describe)
    };
    by_id(&mounts)
        .or_else(|| by_id(&self::mounts(MOUNTS_OF_ALL).ok()?))
        .or_else(|| longest_prefix(&mounts, &real).map(describe))
        .ok_or("no mount is above it")
        .attempt_on("", directory.display())
}

/// All that a file such as /proc/self/mountinfo lists.
///
/// # Errors
/// It cannot be read.
pub fn mounts(file: &str) -> Result<Vec<MountInfo>, Failure> {
    let text = crate::proc::text(file).attempt_on("", file)?;
    Ok(MountInfos::from_read(text.as_bytes()).attempt_on("", file)?.0)
}

/// The mount with the mount point that is the longest prefix of a path. The last of several covers the others.
fn longest_prefix<'a>(mounts: &'a [MountInfo], path: &Path) -> Option<&'a MountInfo> {
    let prefixes = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    prefixes.max_by_key(|mount| mount.mount_point.as_os_str().len())
}

fn describe(mount: &MountInfo) -> Mount {
    let mut options = sorted(&mount.mount_options);
    let mut super_options = sorted(&mount.super_options);
    // A mount may be read-only although its file system is not.
    super_options
        .retain(|option| !mount.mount_options.contains_key(option) && option != "ro" && option != "rw");
    options.extend(super_options);
    let source = mount.mount_source.as_deref().unwrap_or("none");
    Mount {
        kind: plain_to(&mount.fs_type, MOST_DEVICE),
        options: plain_to(&options.join(","), MOST_OPTIONS),
        device: plain_to(&format!("{} {source}", mount.majmin), MOST_DEVICE),
    }
}

/// The options by name, so that two records compare equal.
fn sorted(options: &HashMap<String, Option<String>>) -> Vec<String> {
    let ordered: BTreeMap<_, _> = options.iter().collect();
    let assignment = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    };
    ordered.into_iter().map(assignment).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,data=ordered
30 27 0:27 / /tmp rw,nosuid,noexec - tmpfs tmpfs rw,size=8192k
31 27 0:28 / /tmp ro,relatime shared:3 - overlay overlay rw,lowerdir=/a:/b
32 27 0:29 / /tmpfs rw - xfs /dev/a\\040b rw
";

    fn on(path: &str) -> Mount {
        let mounts = MountInfos::from_read(TABLE.as_bytes()).unwrap();
        describe(longest_prefix(&mounts.0, Path::new(path)).unwrap())
    }

    #[test]
    fn the_last_of_the_longest_and_its_options() {
        let root = Mount {
            kind: "ext4".to_owned(),
            options: "relatime,rw,data=ordered,discard".to_owned(),
            device: "254:0 /dev/vda".to_owned(),
        };
        assert_eq!(on("/home/a"), root);
        let covering = on("/tmp/x");
        assert_eq!(
            (covering.kind.as_str(), covering.options.as_str()),
            ("overlay", "relatime,ro,lowerdir=/a:/b")
        );
        assert_eq!(on("/tmpfs").kind, "xfs", "not /tmp, which is a prefix of its name only");
    }
}

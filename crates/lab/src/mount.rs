//! The mount on which a directory lies (/proc/self/mountinfo).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use figure::Evidence;
use figure::evidence::{FS_DEVICE, FS_OPTIONS, FS_TYPE};
use figure::format::plain_to;
use procfs_core::FromRead;
use procfs_core::process::{MountInfo, MountInfos};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

const MOUNTS: &str = "/proc/self/mountinfo";
/// Characters that are kept of the options: an overlay's list of layers has thousands.
const MOST_OPTIONS: usize = 300;
/// The same of a device's name.
const MOST_DEVICE: usize = 100;

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Type of the file system.
    pub kind: String,
    /// Options.
    pub options: String,
    /// `254:0 /dev/vda`.
    pub device: String,
}

/// The file system on which a directory is, as evidence.
pub fn evidence(directory: &Path) -> Evidence {
    let mut evidence = Evidence::default();
    match of(directory) {
        Ok(mount) => {
            evidence.put(FS_TYPE, mount.kind);
            evidence.put(FS_OPTIONS, mount.options);
            evidence.put(FS_DEVICE, mount.device);
        }
        Err(reason) => {
            for key in [FS_TYPE, FS_OPTIONS, FS_DEVICE] {
                evidence.put_unknown(key, &reason);
            }
        }
    }
    evidence
}

/// Of the directory.
///
/// # Errors
/// Why it is not known.
pub fn of(directory: &Path) -> Result<Mount, String> {
    let told = |what: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", what.display());
    let real = directory.canonicalize().map_err(|error| told(directory, &error))?;
    let told_of_mounts = |error: &dyn std::fmt::Display| told(Path::new(MOUNTS), error);
    let text = crate::proc::text(MOUNTS).map_err(|error| told_of_mounts(&error))?;
    let mounts = MountInfos::from_read(text.as_bytes()).map_err(|error| told_of_mounts(&error))?;
    // Told since Linux 5.8; before, a mount that another one covers may be taken for it.
    let id = statx(CWD, &real, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|status| status.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|status| status.stx_mnt_id);
    let found = id.and_then(|id| mounts.0.iter().find(|mount| u64::try_from(mount.mnt_id) == Ok(id)));
    let mount =
        found.or_else(|| above(&mounts.0, &real)).ok_or_else(|| told(directory, &"no mount is above it"))?;
    Ok(describe(mount))
}

/// The mount whose point is the longest above a path; of several the last, which covers the others.
fn above<'a>(mounts: &'a [MountInfo], path: &Path) -> Option<&'a MountInfo> {
    let over = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    over.max_by_key(|mount| mount.mount_point.as_os_str().len())
}

fn describe(mount: &MountInfo) -> Mount {
    let mut options = listed(&mount.mount_options);
    options.extend(listed(&mount.super_options).into_iter().filter(|option| !mount_wide(mount, option)));
    let source = mount.mount_source.as_deref().unwrap_or("none");
    Mount {
        kind: plain_to(&mount.fs_type, MOST_DEVICE),
        options: plain_to(&options.join(","), MOST_OPTIONS),
        device: plain_to(&format!("{} {source}", mount.majmin), MOST_DEVICE),
    }
}

/// Whether the mount has that option itself; it may be read-only where the file system is not.
fn mount_wide(mount: &MountInfo, option: &str) -> bool {
    mount.mount_options.contains_key(option) || matches!(option, "ro" | "rw")
}

/// In a fixed order.
fn listed(options: &HashMap<String, Option<String>>) -> Vec<String> {
    let ordered: BTreeMap<_, _> = options.iter().collect();
    let shown = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    };
    ordered.into_iter().map(shown).collect()
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
        describe(above(&mounts.0, Path::new(path)).unwrap())
    }

    #[test]
    fn the_last_of_the_longest_and_its_options() {
        let root = Mount {
            kind: "ext4".to_owned(),
            options: "relatime,rw,data=ordered,discard".to_owned(),
            device: "254:0 /dev/vda".to_owned(),
        };
        assert_eq!(on("/home/a"), root);
        let over = on("/tmp/x");
        assert_eq!((over.kind.as_str(), over.options.as_str()), ("overlay", "relatime,ro,lowerdir=/a:/b"));
        assert_eq!(on("/tmpfs").kind, "xfs", "not /tmp, of which it has the first letters");
    }
}

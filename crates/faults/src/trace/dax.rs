//! File systems that are mapped without the page cache (DAX): of persistent memory, and of virtual machines (virtiofs).

use std::collections::HashMap;

use procfs_core::process::MountInfo;

use super::record::Device;

/// That of a mapping of no file.
const NONE: Device = (0, 0);

#[derive(Debug, Default)]
pub struct DaxMounts {
    /// Of each device that was met: whether it is mounted with DAX.
    known: HashMap<Device, bool>,
}

impl DaxMounts {
    /// Whether files of this device are mapped without the page cache. The process maps one of them: its mounts are read. With dax=inode, which
    /// is a choice for each file, all count as files of the page cache.
    pub fn have(&mut self, process: u32, device: Device) -> bool {
        if device == NONE {
            return false;
        }
        if let Some(is_dax) = self.known.get(&device) {
            return *is_dax;
        }
        // Its namespace may hide the mount below an overlay; it may have ended, too.
        for file in ["/proc/self/mountinfo".to_owned(), format!("/proc/{process}/mountinfo")] {
            self.known.extend(devices(&lab::mount::mounts(&file).unwrap_or_default()));
        }
        *self.known.entry(device).or_insert(false)
    }
}

fn devices(mounts: &[MountInfo]) -> Vec<(Device, bool)> {
    mounts.iter().filter_map(|mount| Some((device(&mount.majmin)?, is_dax(mount)))).collect()
}

fn device(text: &str) -> Option<Device> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `dax` and `dax=always` (ext4, xfs, virtiofs).
fn is_dax(mount: &MountInfo) -> bool {
    matches!(mount.super_options.get("dax").map(Option::as_deref), Some(None | Some("always")))
}

#[cfg(test)]
mod unit {
    use procfs_core::FromRead;
    use procfs_core::process::MountInfos;

    use super::*;

    #[test]
    fn the_mount_options_decide() {
        let mount = |device: &str, options: &str| {
            format!("36 31 {device} / /mnt rw,relatime shared:1 - ext4 /dev/pmem0 {options}\n")
        };
        let mounts = [
            mount("259:0", "rw,dax"),
            mount("259:1", "rw,dax=always"),
            mount("259:2", "rw,dax=inode"),
            mount("259:3", "rw,dax=never"),
            mount("8:1", "rw"),
        ];
        let all = devices(&MountInfos::from_read(mounts.concat().as_bytes()).unwrap().0);
        let dax: Vec<Device> = all.iter().filter(|(_, is_dax)| *is_dax).map(|(device, _)| *device).collect();
        assert_eq!((all.len(), dax), (5, vec![(259, 0), (259, 1)]));
        assert!(devices(&[]).is_empty());
        let mut mounts = DaxMounts { known: all.into_iter().collect() };
        // No process has this number.
        let mut have = |device| mounts.have(0, device);
        // The last two: no file; a device that no mount of this process is of.
        assert_eq!([(259, 1), (8, 1), NONE, (u32::MAX, 0)].map(&mut have), [true, false, false, false]);
    }
}

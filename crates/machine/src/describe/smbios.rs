//! Memory devices in the SMBIOS table (DMTF DSP0134, type 17).
//!
//! This parser exists because the table may be damaged. The crate dmidecode panics if the table is shorter
//! than the entry point states, requires an entry point, and drops a device with an invalid string. The tests
//! use it as an independent parser.

use figure::host::Module;

use super::channels::Slot;
use crate::Tree;
use crate::tree::{MAX_LINE, printable};

/// The kernel's copy of the table. Readable for root only, because it contains serial numbers.
pub const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
/// The same structures, each in `17-N/raw` (module dmi-sysfs; Documentation/ABI/testing/sysfs-firmware-dmi-entries).
const ENTRIES: &str = "/sys/firmware/dmi/entries";
/// Slots that are read. 16 sockets with 24 slots have 384.
const MAX_SLOTS: usize = 1024;

const MEMORY_DEVICE: u8 = 17;
const END_OF_TABLE: u8 = 127;
/// Offsets of strings that identify the owner: serial number and asset tag.
const IDENTITIES: [usize; 2] = [0x18, 0x19];

/// A structure: the formatted area with its header, and the strings after it.
#[derive(Clone, Copy)]
struct Structure<'a> {
    area: &'a [u8],
    strings: &'a [u8],
}

/// The structures up to the end of the table, or to the first that does not fit into it.
fn structures(table: &[u8]) -> impl Iterator<Item = Structure<'_>> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let length = usize::from(*rest.get(1)?);
        // The header has 4 bytes. A shorter structure would repeat without end.
        if length < 4 || rest[0] == END_OF_TABLE {
            return None;
        }
        let area = rest.get(..length)?;
        // An empty string ends the list. Without strings there are two zeros.
        let tail = &rest[length..];
        let end = tail.windows(2).position(|pair| pair == [0, 0])? + 2;
        rest = &tail[end..];
        Some(Structure { area, strings: &tail[..end] })
    })
}

impl<'a> Structure<'a> {
    fn byte(self, offset: usize) -> Option<u8> {
        self.area.get(offset).copied()
    }

    fn word(self, offset: usize) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte(offset)?, self.byte(offset + 1)?]))
    }

    fn double(self, offset: usize) -> Option<u32> {
        Some(u32::from(self.word(offset)?) | u32::from(self.word(offset + 2)?) << 16)
    }

    /// The string with the number at `offset`; empty if there is none.
    fn string(self, offset: usize) -> String {
        let number = usize::from(self.byte(offset).unwrap_or(0));
        let strings = self.strings.split(|byte| *byte == 0);
        let string = number.checked_sub(1).and_then(|index| strings.clone().nth(index)).unwrap_or_default();
        printable(&String::from_utf8_lossy(string), MAX_LINE)
    }
}

/// All memory devices, with and without a module. Empty if the table is damaged at its start.
pub fn slots(table: &[u8]) -> Vec<Slot> {
    memory_devices(table).map(slot).collect()
}

/// All memory devices that the kernel shows one by one.
pub fn entries(tree: &Tree) -> Vec<Slot> {
    let numbers = tree.numbered(ENTRIES, "17-").into_iter().take(MAX_SLOTS);
    let raw = numbers.filter_map(|number| tree.bytes(format!("{ENTRIES}/17-{number}/raw")).into_value());
    raw.flat_map(|structure| slots(&structure).into_iter().take(1)).collect()
}

fn memory_devices(table: &[u8]) -> impl Iterator<Item = Structure<'_>> {
    structures(table).filter(|structure| structure.area[0] == MEMORY_DEVICE).take(MAX_SLOTS)
}

fn slot(device: Structure<'_>) -> Slot {
    let (locator, bank) = (device.string(0x10), device.string(0x11));
    let module = size(device).map(|size| Module {
        locator: locator.clone(),
        bank: bank.clone(),
        size,
        kind: kind(device.byte(0x12).unwrap_or(0)),
        speed: speed(device, 0x15, 0x54),
        configured: speed(device, 0x20, 0x58),
        width: device.word(0x0a).filter(|width| !matches!(width, 0 | 0xffff)),
    });
    Slot { locator, bank, module }
}

/// Bytes; `None` for an empty slot or an unknown size.
fn size(device: Structure<'_>) -> Option<u64> {
    match device.word(0x0c)? {
        0 | 0xffff => None,
        // 32 GiB - 1 MiB and more: the extended size, in MiB, bit 31 reserved.
        0x7fff => Some(u64::from(device.double(0x1c)? & 0x7fff_ffff) << 20).filter(|size| *size > 0),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10).filter(|size| *size > 0),
        mib => Some(u64::from(mib) << 20),
    }
}

/// MT/s: a word, or the double word that replaces it when it is 0xffff (SMBIOS 3.3).
fn speed(device: Structure<'_>, short: usize, extended: usize) -> Option<u32> {
    match device.word(short)? {
        0 => None,
        0xffff => device.double(extended).map(|speed| speed & 0x7fff_ffff).filter(|speed| *speed > 0),
        speed => Some(speed.into()),
    }
}

/// Table 79 of DSP0134 3.7, "Memory Device: Type".
fn kind(code: u8) -> String {
    let name = match code {
        0x03 => "DRAM",
        0x07 => "RAM",
        0x08 => "ROM",
        0x09 => "flash",
        0x0f => "SDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x14 => "DDR2 FB-DIMM",
        0x18 => "DDR3",
        0x19 => "FBD2",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x1f => "persistent memory",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        code => return format!("type {code:#04x}"),
    };
    name.to_owned()
}

/// The table reduced to its memory devices, without serial numbers and asset tags, for capture.
pub fn reduced(table: &[u8]) -> Vec<u8> {
    let mut reduced = Vec::new();
    for device in memory_devices(table) {
        let hidden: Vec<usize> =
            IDENTITIES.iter().filter_map(|at| device.byte(*at).map(usize::from)).collect();
        reduced.extend(device.area);
        for (index, string) in device.strings.split(|byte| *byte == 0).enumerate() {
            // Two empty strings end the list.
            let hide = hidden.contains(&(index + 1));
            reduced.extend(string.iter().map(|byte| if hide { b'x' } else { *byte }));
            reduced.push(0);
        }
        // The split yields one more piece than there are zeros.
        reduced.pop();
    }
    reduced.extend([END_OF_TABLE, 4, 0xff, 0xfe, 0, 0]);
    reduced
}

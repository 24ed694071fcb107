//! Memory modules in udev's database, which all users can read: dmi_memory_id of systemd 248 and later copies
//! them from SMBIOS, as properties such as `E:MEMORY_DEVICE_0_SIZE=34359738368`.

use std::collections::BTreeMap;

use figure::host::Module;

use super::channels::Slot;
use crate::tree::{MAX_LINE, printable};

/// The database entry of the device "dmi/id".
pub const DATABASE: &str = "/run/udev/data/+dmi:id";
/// Slots that are read, as for the SMBIOS table.
const MAX_SLOTS: usize = 1024;

const PREFIX: &str = "E:MEMORY_DEVICE_";
/// Properties that are read. None identifies the owner.
const PROPERTIES: [&str; 8] =
    ["LOCATOR", "BANK_LOCATOR", "SIZE", "TYPE", "SPEED_MTS", "CONFIGURED_SPEED_MTS", "DATA_WIDTH", "PRESENT"];

/// The device number, property and value of a line.
fn property(line: &str) -> Option<(u32, &str, &str)> {
    let (name, value) = line.strip_prefix(PREFIX)?.split_once('=')?;
    let (number, property) = name.split_once('_')?;
    let number = number.parse().ok().filter(|number| (*number as usize) < MAX_SLOTS)?;
    PROPERTIES.contains(&property).then_some((number, property, value))
}

pub fn slots(database: &str) -> Vec<Slot> {
    let mut devices: BTreeMap<u32, BTreeMap<&str, &str>> = BTreeMap::new();
    for (number, property, value) in database.lines().filter_map(property) {
        devices.entry(number).or_default().insert(property, value);
    }
    devices.values().map(slot).collect()
}

fn slot(device: &BTreeMap<&str, &str>) -> Slot {
    let text = |name: &str| printable(device.get(name).copied().unwrap_or_default(), MAX_LINE);
    let number = |name: &str| device.get(name).and_then(|value| value.parse::<u32>().ok()).filter(|n| *n > 0);
    let (locator, bank) = (text("LOCATOR"), text("BANK_LOCATOR"));
    let size = device.get("SIZE").and_then(|value| value.parse::<u64>().ok()).filter(|size| *size > 0);
    let present = device.get("PRESENT").is_none_or(|present| *present != "0");
    let module = size.filter(|_| present).map(|size| Module {
        locator: locator.clone(),
        bank: bank.clone(),
        size,
        kind: text("TYPE"),
        speed: number("SPEED_MTS"),
        configured: number("CONFIGURED_SPEED_MTS"),
        width: number("DATA_WIDTH").and_then(|width| width.try_into().ok()),
    });
    Slot { locator, bank, module }
}

/// The database reduced to the lines that are read here, for capture.
pub fn reduced(database: &str) -> String {
    let lines = database.lines().filter(|line| property(line).is_some());
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: &str = "I:1234\nE:MEMORY_ARRAY_NUM_DEVICES=2\n\
        E:MEMORY_DEVICE_0_LOCATOR=DIMM_A1\nE:MEMORY_DEVICE_0_BANK_LOCATOR=BANK 0\nE:MEMORY_DEVICE_0_SIZE=17179869184\n\
        E:MEMORY_DEVICE_0_TYPE=DDR4\nE:MEMORY_DEVICE_0_SPEED_MTS=3200\nE:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2933\n\
        E:MEMORY_DEVICE_0_DATA_WIDTH=64\nE:MEMORY_DEVICE_0_SERIAL_NUMBER=8F3A\n\
        E:MEMORY_DEVICE_1_PRESENT=0\nE:MEMORY_DEVICE_1_LOCATOR=DIMM_B1\nG:systemd\n";

    #[test]
    fn properties_make_slots() {
        let slots = slots(DATABASE);
        assert_eq!(slots.len(), 2);
        let module = slots[0].module.as_ref().unwrap();
        assert_eq!((module.size, module.configured, module.width), (16 << 30, Some(2933), Some(64)));
        assert_eq!((slots[1].locator.as_str(), &slots[1].module), ("DIMM_B1", &None));
    }

    #[test]
    fn reduction_keeps_the_slots_and_drops_serial_numbers() {
        let reduced = reduced(DATABASE);
        assert!(!reduced.contains("8F3A"));
        assert_eq!(slots(&reduced), slots(DATABASE));
    }
}

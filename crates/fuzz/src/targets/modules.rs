//! Tables of memory modules: SMBIOS, and what udev made of it.

use machine::{channels, smbios, udev};

use crate::draw::Draw;
use crate::target::Target;

/// The first byte: a table of SMBIOS, or udev's text.
pub const TARGET: Target = Target { name: "modules", one, seeds, longest: 4 << 10 };

/// Slots of a table at most, as the parsers have it.
const MOST: usize = 1024;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (is_udev, bytes) = (draw.flag(), draw.rest());
    let (slots, again) = if is_udev {
        let text = String::from_utf8_lossy(bytes);
        (udev::slots(&text), udev::slots(&udev::reduced(&text)))
    } else {
        let reduced = smbios::reduced(bytes);
        assert!(reduced.len() <= bytes.len() + 6 && smbios::reduced(&reduced) == reduced);
        (smbios::slots(bytes), smbios::slots(&reduced))
    };
    assert!(slots.len() <= MOST && slots.len() == again.len());
    for slot in &slots {
        assert!(!slot.locator.chars().chain(slot.bank.chars()).any(char::is_control), "{slot:?}");
    }
    if let Some(peak) = channels::peak(&slots, "fuzz").value() {
        assert!(peak.bytes_per_s.is_finite() && peak.bytes_per_s > 0.0, "{peak:?}");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let device = |number: usize| machine::synthetic::Device {
        locator: format!("DIMM_{}{number}", char::from(b'A' + number as u8)),
        bank: format!("P0 CHANNEL {number}"),
        mib: [0, 16 << 10, 0x7fff, 64 << 10][number % 4],
        kind: [0x1a, 0x22, 0x18, 0x1f][number % 4],
        speed: [3200, 0xffff, 0, 4800][number % 4],
        configured: [2933, 4800, 0xffff, 0][number % 4],
    };
    let table = |count: usize| machine::synthetic::table(&(0..count).map(device).collect::<Vec<_>>());
    let udev = "E:MEMORY_ARRAY_NUM_DEVICES=2\nE:MEMORY_DEVICE_0_LOCATOR=DIMM_A1\nE:MEMORY_DEVICE_0_BANK_LOCATOR=BANK 0\n\
        E:MEMORY_DEVICE_0_SIZE=17179869184\nE:MEMORY_DEVICE_0_TYPE=DDR4\nE:MEMORY_DEVICE_0_SPEED_MTS=3200\n\
        E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2933\nE:MEMORY_DEVICE_0_DATA_WIDTH=64\nE:MEMORY_DEVICE_1_PRESENT=0\n";
    let tables = [1, 4, 8].map(|count| [&[0], table(count).as_slice()].concat());
    tables.into_iter().chain([[b"\x01", udev.as_bytes()].concat()]).collect()
}

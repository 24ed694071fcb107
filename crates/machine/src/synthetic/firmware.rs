//! An SMBIOS table, byte by byte (DMTF DSP0134 3.3), with serial numbers, as a real one has them.

/// A memory device (type 17).
#[derive(Clone, Debug)]
pub struct Device {
    pub locator: String,
    pub bank: String,
    /// Size in MiB; 0 for an empty slot.
    pub mib: u32,
    /// Type code: 0x1a DDR4, 0x22 DDR5.
    pub kind: u8,
    /// MT/s it could run at.
    pub speed: u16,
    /// MT/s it runs at.
    pub configured: u16,
}

/// Offset of the first byte of a structure behind its header.
const HEADER: usize = 4;
/// Length of a memory device's formatted area in SMBIOS 3.3.
const DEVICE_LENGTH: usize = 0x5c;

pub fn table(devices: &[Device]) -> Vec<u8> {
    let mut table = Vec::new();
    // System information with serial number: what must never leave the machine.
    let mut system = vec![1, 2, 3, 4];
    system.extend([0xaa; 16]);
    system.extend([6, 0, 0]);
    structure(&mut table, 1, 0x0100, &system, &["Vendor", "Server", "1.0", "SERIAL-OF-SYSTEM"]);
    // A structure without strings.
    structure(&mut table, 32, 0x2000, &[0; 7], &[]);
    for (number, device) in devices.iter().enumerate() {
        let serial = format!("SERIAL-{number}");
        structure(
            &mut table,
            17,
            0x1100 + number as u16,
            &area(device),
            &[&device.locator, &device.bank, "Maker", &serial, "ASSET-TAG", "PART-NUMBER"],
        );
    }
    structure(&mut table, 127, 0xfeff, &[], &[]);
    table
}

/// The structure of one memory device, as in /sys/firmware/dmi/entries/17-N/raw.
pub fn entry(device: &Device) -> Vec<u8> {
    let mut raw = Vec::new();
    let strings = [&device.locator, &device.bank, "Maker", "SERIAL-17", "ASSET-TAG", "PART-NUMBER"];
    structure(&mut raw, 17, 0x1100, &area(device), &strings);
    raw
}

/// The formatted area of a memory device behind its header. Strings are numbered as [`table`] lists them.
fn area(device: &Device) -> Vec<u8> {
    let mut area = vec![0; DEVICE_LENGTH - HEADER];
    let mut put = |offset: usize, bytes: &[u8]| {
        area[offset - HEADER..offset - HEADER + bytes.len()].copy_from_slice(bytes)
    };
    let populated = device.mib > 0;
    put(0x04, &0x1000u16.to_le_bytes());
    put(0x06, &0xfffeu16.to_le_bytes());
    put(0x08, &(if populated { 72u16 } else { 0xffff }).to_le_bytes());
    put(0x0a, &(if populated { 64u16 } else { 0xffff }).to_le_bytes());
    if device.mib < 0x7fff {
        put(0x0c, &(device.mib as u16).to_le_bytes());
    } else {
        put(0x0c, &0x7fffu16.to_le_bytes());
        put(0x1c, &device.mib.to_le_bytes());
    }
    put(0x0e, &[0x09]);
    put(0x10, &[1, 2, device.kind]);
    put(0x13, &0x80u16.to_le_bytes());
    put(0x15, &(if populated { device.speed } else { 0 }).to_le_bytes());
    put(0x17, &[3, 4, 5, 6]);
    put(0x20, &(if populated { device.configured } else { 0 }).to_le_bytes());
    put(0x28, &[0x03]);
    area
}

fn structure(table: &mut Vec<u8>, kind: u8, handle: u16, area: &[u8], strings: &[&str]) {
    table.extend([kind, (HEADER + area.len()) as u8]);
    table.extend(handle.to_le_bytes());
    table.extend(area);
    for string in strings {
        table.extend(string.bytes());
        table.push(0);
    }
    // An empty string ends the list; a structure without strings has two zeros.
    table.push(0);
    if strings.is_empty() {
        table.push(0);
    }
}

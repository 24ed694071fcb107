//! Reads the synthetic SMBIOS tables with an independent parser: writer and reader of this crate could share
//! an error.

use dmidecode::{EntryPoint, Structure};
use machine::synthetic::{Device, table};

/// A 64-bit entry point (SMBIOS 3.0, 5.2.2) for a table of this length.
fn entry_point(length: usize) -> Vec<u8> {
    let mut bytes = b"_SM3_\0\x18\x03\x03\0\x01\0".to_vec();
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend([0; 8]);
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    bytes[5] = 0u8.wrapping_sub(sum);
    bytes
}

#[test]
fn another_parser_reads_the_same_devices() {
    let device = |mib| Device {
        locator: "P1-DIMMA1".into(),
        bank: "P0_Node0_Channel0_Dimm0".into(),
        mib,
        kind: 0x1a,
        speed: 2933,
        configured: 2666,
    };
    let table = table(&[device(32 << 10), device(16 << 10), device(0)]);
    let entry = EntryPoint::search(&entry_point(table.len())).unwrap();
    let devices: Vec<_> = entry
        .structures(&table)
        .map(|structure| structure.unwrap())
        .filter_map(|structure| match structure {
            Structure::MemoryDevice(device) => Some(device),
            _ => None,
        })
        .collect();
    assert_eq!(devices.len(), 3);
    assert_eq!(
        (devices[0].device_locator, devices[0].bank_locator),
        ("P1-DIMMA1", "P0_Node0_Channel0_Dimm0")
    );
    assert_eq!((devices[0].size, devices[0].extended_size), (Some(0x7fff), 32 << 10));
    assert_eq!((devices[1].size, devices[1].data_width), (Some(16 << 10), Some(64)));
    assert_eq!((devices[0].speed, devices[0].configured_memory_speed), (Some(2933), Some(2666)));
    assert_eq!((devices[0].serial, devices[0].asset_tag), ("SERIAL-0", "ASSET-TAG"));
}

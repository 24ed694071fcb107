//! The theoretical peak of memory modules, from the number of channels that they populate.
//!
//! SMBIOS names slots, not channels, and every vendor names them differently. The peak is a limit that no
//! figure may exceed, so it must not be too low: if the names do not show the channel, each module counts as
//! one, and the basis says so. Names are used only if every slot, also the empty ones, matches the pattern.

use std::collections::{BTreeMap, BTreeSet};

use figure::Reading;
use figure::host::{Module, Peak};

use crate::dimms::peak as peak_of;

#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// `DIMM_A1` and the like.
    pub locator: String,
    /// `BANK 0` and the like.
    pub bank: String,
    pub module: Option<Module>,
}

/// Slots per channel at most, since DDR3.
const MAX_SLOTS_PER_CHANNEL: usize = 3;
/// Eight packages with 16 channels each. Today's packages have up to 12 (EPYC 9004, Xeon 6900P).
const MAX_CHANNELS: u32 = 128;
/// Bits of a channel. A DDR5 module has two subchannels of 32 bits.
const CHANNEL_BITS: u32 = 64;

/// The theoretical peak of these slots; `source` names where they are described.
pub fn peak(slots: &[Slot], source: &str) -> Reading<Peak> {
    let slots = beside_hbm(slots);
    let slots = slots.as_slice();
    let modules: Vec<&Module> = slots.iter().filter_map(dram).collect();
    let Some(first) = modules.first() else {
        return Reading::Unknown(format!(
            "{source} shows no DRAM module; state them with --dimms, such as 12x2666"
        ));
    };
    // All channels of a machine run at the same speed. If the table differs, the highest is safe for a limit.
    let fastest = |speed: fn(&Module) -> Option<u32>| modules.iter().filter_map(|module| speed(module)).max();
    let configured = fastest(|module| module.configured);
    let Some(speed) = configured.or_else(|| fastest(|module| module.speed)) else {
        return Reading::Unknown(format!(
            "{source} gives no speed for the modules; state them with --dimms, such as 12x2666"
        ));
    };

    let mut doubts = Vec::new();
    if configured.is_none() {
        doubts.push("the configured speed is not shown, this is the modules' highest");
    }
    let names = channel_names(slots);
    let bits = match &names {
        Some(names) => {
            let mut widths: BTreeMap<&str, u32> = BTreeMap::new();
            for (slot, name) in slots.iter().zip(names) {
                if let Some(module) = dram(slot) {
                    let width = widths.entry(name).or_default();
                    *width = (*width).max(self::bits(module));
                }
            }
            widths.values().sum::<u32>()
        }
        None => {
            if modules.len() > 1 {
                doubts.push("at most: the slots do not name their channel, each module is taken as one");
            }
            modules.iter().map(|module| self::bits(module)).sum()
        }
    };
    let channels = bits.div_ceil(CHANNEL_BITS);
    if channels > MAX_CHANNELS {
        return Reading::Unknown(format!(
            "{source} shows {} modules without their channels; state these with --dimms, such as 12x2666",
            modules.len()
        ));
    }
    let doubts: String = doubts.iter().map(|doubt| format!("; {doubt}")).collect();
    let basis = format!("{channels} x {}-{speed} ({source}{doubts})", first.kind);
    Reading::Value(peak_of(channels, speed, basis))
}

/// The slots without HBM, where there are other modules: as memory of its own HBM is on other NUMA nodes, with other channels
/// at another speed, and as a cache in front of the modules it is no limit of theirs.
fn beside_hbm(slots: &[Slot]) -> Vec<Slot> {
    let is_hbm = |slot: &&Slot| slot.module.as_ref().is_some_and(|module| module.kind.starts_with("HBM"));
    let has_others = slots.iter().any(|slot| !is_hbm(&slot) && dram(slot).is_some());
    slots.iter().filter(|slot| !(has_others && is_hbm(slot))).cloned().collect()
}

/// The module, if it adds a channel. Persistent memory shares channels with DRAM; flash contains firmware.
fn dram(slot: &Slot) -> Option<&Module> {
    let module = slot.module.as_ref()?;
    let families = ["DDR", "LPDDR", "HBM", "SDRAM", "FBD"];
    families.iter().any(|family| module.kind.starts_with(family)).then_some(module)
}

/// Width of a module in bits. Soldered LPDDR and HBM have other widths than DIMMs.
fn bits(module: &Module) -> u32 {
    match module.width {
        Some(width) if !module.kind.starts_with("DDR") => u32::from(width).clamp(16, 1024),
        _ => CHANNEL_BITS,
    }
}

/// The channel of every slot, if all names match the same pattern and no channel has too many slots.
fn channel_names(slots: &[Slot]) -> Option<Vec<String>> {
    let patterns: [fn(&Slot) -> Option<String>; 3] = [
        // AMI and Insyde: `P0_Node0_Channel0_Dimm0`, `P0 CHANNEL A`.
        |slot| after_channel(&slot.bank),
        // Intel client: `Controller0-ChannelA-DIMM0`.
        |slot| after_channel(&slot.locator),
        // Supermicro, Asus, Gigabyte: `P1-DIMMA1`, `DIMM_A2`, `DIMM_P0_A0`: a letter for the channel, a digit
        // for the slot. On Dell, `A1` to `A12` are package and slot; twelve slots are too many for a channel.
        |slot| letter_before_slot(&slot.locator),
    ];
    let is_plausible = |names: &Vec<String>| {
        let mut slots_by_channel: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for (slot, name) in slots.iter().zip(names) {
            slots_by_channel.entry(name).or_default().insert((&slot.locator, &slot.bank));
        }
        // Slots with equal names are on different packages, which the names do not distinguish.
        let distinct: usize = slots_by_channel.values().map(BTreeSet::len).sum();
        distinct == slots.len() && slots_by_channel.values().all(|slots| slots.len() <= MAX_SLOTS_PER_CHANNEL)
    };
    patterns
        .iter()
        .find_map(|pattern| slots.iter().map(pattern).collect::<Option<Vec<_>>>().filter(is_plausible))
}

/// The text up to and including the name that follows the word "channel".
fn after_channel(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let (_, rest) = text.split_once("CHANNEL")?;
    let name = rest.trim_start_matches([' ', '_', '-', ':']);
    let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    // One letter or up to two digits; more is another word.
    (1..=2).contains(&length).then(|| text[..text.len() - name.len() + length].to_owned())
}

/// A locator with "DIMM" that ends with a single letter and a digit, without the digit.
fn letter_before_slot(locator: &str) -> Option<String> {
    let text = locator.to_ascii_uppercase();
    let channel = text.strip_suffix(|last: char| last.is_ascii_digit())?;
    let before = channel.strip_suffix(|letter: char| letter.is_ascii_uppercase())?;
    let is_single_letter = before.ends_with("DIMM") || before.ends_with(['_', '-', ' ']);
    (is_single_letter && before.contains("DIMM")).then(|| channel.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(locator: &str, bank: &str, speed: Option<u32>) -> Slot {
        let (locator, bank) = (locator.to_owned(), bank.to_owned());
        let module = speed.map(|speed| Module {
            locator: locator.clone(),
            bank: bank.clone(),
            size: 16 << 30,
            kind: "DDR4".into(),
            speed: Some(3200),
            configured: Some(speed),
            width: Some(64),
        });
        Slot { locator, bank, module }
    }

    fn channels(slots: &[Slot]) -> (u32, String) {
        let peak = peak(slots, "SMBIOS").into_value().unwrap();
        (peak.channels, peak.basis)
    }

    #[test]
    fn two_modules_on_a_channel_are_one_channel() {
        let asus = ["DIMM_A1", "DIMM_A2", "DIMM_B1", "DIMM_B2"].map(|name| slot(name, "BANK 0", Some(3200)));
        assert_eq!(channels(&asus), (2, "2 x DDR4-3200 (SMBIOS)".into()));
        let client =
            ["ChannelA-DIMM0", "ChannelB-DIMM0", "ChannelB-DIMM1"].map(|name| slot(name, "", Some(2667)));
        assert_eq!(channels(&client).0, 2);
        let amd = ["A", "B", "C"].map(|name| slot("DIMM 0", &format!("P0 CHANNEL {name}"), Some(3200)));
        assert_eq!(channels(&amd).0, 3);
        let super_micro: Vec<Slot> = ["P1-DIMMA1", "P1-DIMMB1", "P2-DIMMA1", "P2-DIMMA2"]
            .iter()
            .enumerate()
            .map(|(n, name)| slot(name, &format!("P0_Node0_Channel{n}"), (n < 3).then_some(2933)))
            .collect();
        assert_eq!(channels(&super_micro).0, 3);
    }

    #[test]
    fn dells_letter_is_a_package_not_a_channel() {
        let dell: Vec<Slot> =
            (1..=12).map(|n| slot(&format!("DIMM_A{n}"), "", (n <= 4).then_some(2666))).collect();
        let (channels, basis) = channels(&dell);
        assert_eq!(channels, 4);
        assert!(basis.contains("at most"), "{basis}");
        let short: Vec<Slot> = (1..=4).map(|n| slot(&format!("A{n}"), "", Some(2666))).collect();
        assert_eq!(self::channels(&short).0, 4);
    }

    #[test]
    fn equal_names_on_two_packages_are_not_merged() {
        let twice = [slot("DIMM_A1", "", Some(2666)), slot("DIMM_A1", "", Some(2666))];
        assert_eq!(channels(&twice).0, 2);
    }

    #[test]
    fn soldered_memory_counts_by_its_width() {
        let mut chips: Vec<Slot> = (0..4).map(|n| slot(&format!("U{n}"), "", Some(6400))).collect();
        for chip in &mut chips {
            let module = chip.module.as_mut().unwrap();
            (module.kind, module.width) = ("LPDDR5".into(), Some(32));
        }
        assert_eq!(channels(&chips).0, 2);
    }

    #[test]
    fn other_memory_adds_no_channel_and_without_speed_there_is_no_peak() {
        let mut slots = vec![slot("DIMM_A1", "", Some(2666)), slot("DIMM_A2", "", Some(2666))];
        slots[1].module.as_mut().unwrap().kind = "persistent memory".into();
        assert_eq!(channels(&slots).0, 1);
        let module = slots[0].module.as_mut().unwrap();
        (module.configured, module.speed) = (None, None);
        assert!(peak(&slots, "SMBIOS").reason().unwrap().contains("no speed"));
        assert!(peak(&[], "SMBIOS").reason().unwrap().contains("no DRAM module"));
    }
}

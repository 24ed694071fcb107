//! From memory modules to the theoretical peak: how many channels do they populate?
//!
//! SMBIOS names slots, not channels, and every maker in its own way. A peak serves as a limit that no figure
//! may pass, so an error must go upwards: where the names do not tell, each module counts as a channel of its
//! own, and the basis says so. Names are believed only if every slot of the machine, the empty ones too, fits
//! the reading.

use std::collections::{BTreeMap, BTreeSet};

use figure::Reading;
use figure::host::{Module, Peak};

use crate::dimms::peak as peak_of;

/// A slot for a memory module.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// `DIMM_A1` and the like.
    pub locator: String,
    /// `BANK 0` and the like.
    pub bank: String,
    /// What is in it.
    pub module: Option<Module>,
}

/// Slots of one channel: three at most, since DDR3 (the bus carries no more).
const MAX_SLOTS_PER_CHANNEL: usize = 3;
/// Channels of one package: 12 today (EPYC 9004, Xeon 6900P), 16 announced. With eight packages this is the
/// most that can be believed where slots do not tell their channel.
const MAX_CHANNELS: u32 = 128;
/// Bits of a channel of DIMMs. DDR5 has two subchannels of 32 bits on each module: 64 again.
const CHANNEL_BITS: u32 = 64;

/// The theoretical peak of these slots; `source` names where they are described.
pub fn peak(slots: &[Slot], source: &str) -> Reading<Peak> {
    let modules: Vec<&Slot> = slots.iter().filter(|slot| slot.module.as_ref().is_some_and(is_dram)).collect();
    let Some(first) = modules.first().and_then(|slot| slot.module.as_ref()) else {
        return Reading::Unknown(format!(
            "{source} shows no DRAM module; state them with --dimms, such as 12x2666"
        ));
    };
    // All channels of one machine run at one speed; should the table say otherwise, the highest is the safe
    // direction for a limit.
    let fastest = |speed: fn(&Module) -> Option<u32>| {
        modules.iter().filter_map(|slot| speed(slot.module.as_ref()?)).max()
    };
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
    let named = channel_names(slots);
    let bits = match &named {
        Some(names) => {
            let mut widths: BTreeMap<&str, u32> = BTreeMap::new();
            for (slot, name) in slots.iter().zip(names) {
                if let Some(module) = slot.module.as_ref().filter(|module| is_dram(module)) {
                    let width = widths.entry(name).or_default();
                    *width = (*width).max(self::bits(module));
                }
            }
            widths.values().sum::<u32>()
        }
        None => {
            if modules.len() > 1 {
                doubts.push("at most: the slots do not tell their channel, each module is taken as one");
            }
            modules.iter().filter_map(|slot| slot.module.as_ref()).map(self::bits).sum()
        }
    };
    let channels = bits.div_ceil(CHANNEL_BITS);
    if channels > MAX_CHANNELS {
        return Reading::Unknown(format!(
            "{source} shows {} modules without telling their channels; state these with --dimms, such as 12x2666",
            modules.len()
        ));
    }
    let doubts: String = doubts.iter().map(|doubt| format!("; {doubt}")).collect();
    Reading::Value(peak_of(
        channels,
        speed,
        format!("{channels} x {}-{speed} ({source}{doubts})", first.kind),
    ))
}

/// Persistent memory shares channels with DRAM, and flash holds firmware: neither adds a channel.
fn is_dram(module: &Module) -> bool {
    ["DDR", "LPDDR", "HBM", "SDRAM", "FBD"].iter().any(|family| module.kind.starts_with(family))
}

/// Bits that a module adds. Soldered LPDDR and HBM come in other widths than DIMMs.
fn bits(module: &Module) -> u32 {
    match module.width {
        Some(width) if !module.kind.starts_with("DDR") => u32::from(width).clamp(16, 1024),
        _ => CHANNEL_BITS,
    }
}

/// The channel of every slot, if all names follow one of the patterns below and no channel has more slots than
/// can be.
fn channel_names(slots: &[Slot]) -> Option<Vec<String>> {
    let patterns: [fn(&Slot) -> Option<String>; 3] = [
        // AMI and Insyde: `P0_Node0_Channel0_Dimm0`, `P0 CHANNEL A`.
        |slot| after_channel(&slot.bank),
        // Intel client: `Controller0-ChannelA-DIMM0`.
        |slot| after_channel(&slot.locator),
        // Supermicro, Asus, Gigabyte: `P1-DIMMA1`, `DIMM_A2`, `DIMM_P0_A0`: a letter for the channel, a digit for
        // the slot. Dell's `A1` to `A12` means a package and a slot: with its twelve slots it is refused.
        |slot| letter_before_slot(&slot.locator),
    ];
    let plausible = |names: &Vec<String>| {
        let mut slots_of: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        let mut all = 0;
        for (slot, name) in slots.iter().zip(names) {
            slots_of.entry(name).or_default().insert((&slot.locator, &slot.bank));
            all += 1;
        }
        // Two slots of the same names are two slots of different packages that the names do not tell apart.
        let distinct: usize = slots_of.values().map(BTreeSet::len).sum();
        distinct == all && slots_of.values().all(|slots| slots.len() <= MAX_SLOTS_PER_CHANNEL)
    };
    patterns
        .iter()
        .find_map(|pattern| slots.iter().map(pattern).collect::<Option<Vec<_>>>().filter(plausible))
}

/// Everything up to and with the name that follows the word "channel".
fn after_channel(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let end_of_word = text.find("CHANNEL")? + "CHANNEL".len();
    let rest = &text[end_of_word..];
    let name = rest.trim_start_matches([' ', '_', '-', ':']);
    let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    // One letter or a number of two digits; more is another word.
    (1..=2).contains(&length).then(|| text[..text.len() - name.len() + length].to_owned())
}

/// A locator with "DIMM" that ends with a lone letter and a digit: all but the digit.
fn letter_before_slot(locator: &str) -> Option<String> {
    let text = locator.to_ascii_uppercase();
    let channel = text.strip_suffix(|last: char| last.is_ascii_digit())?;
    let before = channel.strip_suffix(|letter: char| letter.is_ascii_uppercase())?;
    let lone = before.ends_with("DIMM") || before.ends_with(['_', '-', ' ']);
    (lone && before.contains("DIMM")).then(|| channel.to_owned())
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
    fn dells_letter_is_a_package_and_is_not_taken_for_a_channel() {
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
    fn what_is_no_dram_adds_nothing_and_no_speed_means_no_peak() {
        let mut slots = vec![slot("DIMM_A1", "", Some(2666)), slot("DIMM_A2", "", Some(2666))];
        slots[1].module.as_mut().unwrap().kind = "persistent memory".into();
        assert_eq!(channels(&slots).0, 1);
        let module = slots[0].module.as_mut().unwrap();
        (module.configured, module.speed) = (None, None);
        assert!(peak(&slots, "SMBIOS").reason().unwrap().contains("no speed"));
        assert!(peak(&[], "SMBIOS").reason().unwrap().contains("no DRAM module"));
    }
}

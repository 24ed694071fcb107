//! A64 instructions, by the bits that the Arm Architecture Reference Manual (DDI 0487, chapter C4) fixes.
//!
//! All of them have 32 bits, and what matters here are a dozen patterns: less than any disassembler would
//! bring along. The tests hold the patterns against what the GNU assembler made.

use std::collections::BTreeMap;

use super::elf::{Code, Image};
use super::tally::{Fact, Tally, Width};

/// An instruction is of a class if `bits & mask == value`.
struct Class {
    mask: u32,
    value: u32,
    fact: Fact,
}

const CLASSES: &[Class] = &[
    // STNP, any register: "store pair, with non-temporal hint".
    Class { mask: 0x3bc0_0000, value: 0x2800_0000, fact: Fact::Nontemporal("stnp") },
    // SVE's contiguous non-temporal stores, scalar plus immediate and scalar plus scalar.
    Class { mask: 0xfe70_e000, value: 0xe410_e000, fact: Fact::Nontemporal("stnt1") },
    Class { mask: 0xfe60_e000, value: 0xe400_6000, fact: Fact::Nontemporal("stnt1") },
    // FMUL: vector, by element, scalar double.
    Class { mask: 0xbfa0_fc00, value: 0x2e20_dc00, fact: Fact::Multiply },
    Class { mask: 0xbf80_f400, value: 0x0f80_9000, fact: Fact::Multiply },
    Class { mask: 0xffe0_fc00, value: 0x1e60_0800, fact: Fact::Multiply },
    // FADD: vector, scalar double.
    Class { mask: 0xbfa0_fc00, value: 0x0e20_d400, fact: Fact::Add },
    Class { mask: 0xffe0_fc00, value: 0x1e60_2800, fact: Fact::Add },
    // FMLA: vector, by element; FMADD double.
    Class { mask: 0xbfa0_fc00, value: 0x0e20_cc00, fact: Fact::Fused },
    Class { mask: 0xbf80_f400, value: 0x0f80_1000, fact: Fact::Fused },
    Class { mask: 0xffe0_8000, value: 0x1f40_0000, fact: Fact::Fused },
];
/// Register 31 as a base is the stack pointer.
const STACK: u32 = 31;

/// Reads all code. Data between functions may be taken for instructions; few bit patterns are any of these.
pub(super) fn read(image: &Image, tally: &mut Tally) {
    let stubs = stubs(image);
    for code in image.code.iter().filter(|code| !code.stubs || image.code.len() == 1) {
        for (address, word) in words(code) {
            for fact in facts(word) {
                tally.take(address, fact);
            }
            let callee = branch(address, word)
                .and_then(|target| stubs.get(&target).or_else(|| image.entries.get(&target)));
            if let Some(callee) = callee {
                tally.take(address, Fact::Call(callee));
            }
        }
    }
}

fn words<'a>(code: &Code<'a>) -> impl Iterator<Item = (u64, u32)> + use<'a> {
    let address = code.address;
    let words = code.bytes.chunks_exact(4).enumerate();
    // Instructions are little-endian on every Linux.
    words.map(move |(at, word)| {
        (address.wrapping_add(4 * at as u64), u32::from_le_bytes(word.try_into().unwrap_or_default()))
    })
}

/// Entries of the procedure linkage table: `adrp x16, page; ldr x17, [x16, offset]; add; br x17`.
fn stubs(image: &Image) -> BTreeMap<u64, &'static str> {
    let mut stubs = BTreeMap::new();
    for code in image.code.iter().filter(|code| code.stubs) {
        let mut page: Option<(u64, u64)> = None;
        for (address, word) in words(code) {
            if word & 0x9f00_0000 == 0x9000_0000 {
                let offset = (u64::from(word >> 29 & 3) | u64::from(word >> 5 & 0x7_ffff) << 2) << 12;
                let signed = (offset << 31) as i64 >> 31;
                page = Some((address, (address & !0xfff).wrapping_add_signed(signed)));
            } else if word & 0xffc0_0000 == 0xf940_0000
                && let Some((start, page)) = page.take()
            {
                let slot = page.wrapping_add(u64::from(word >> 10 & 0xfff) * 8);
                if let Some(function) = image.slots.get(&slot) {
                    stubs.insert(start, *function);
                    // A `bti c` may stand before it.
                    stubs.insert(start.wrapping_sub(4), *function);
                }
            }
        }
    }
    stubs
}

fn branch(address: u64, word: u32) -> Option<u64> {
    let is_branch = word & 0x7c00_0000 == 0x1400_0000;
    let offset = (u64::from(word & 0x03ff_ffff) << 38) as i64 >> 36;
    is_branch.then(|| address.wrapping_add_signed(offset))
}

fn facts(word: u32) -> impl Iterator<Item = Fact> {
    let classes =
        CLASSES.iter().filter(move |class| word & class.mask == class.value).map(|class| class.fact);
    classes.chain(access(word))
}

fn access(word: u32) -> Option<Fact> {
    if word >> 5 & 31 == STACK {
        return None;
    }
    // Pairs: opc 101 V=1 0xx L. One register: size 111 V=1.
    let is_pair = word & 0x3e00_0000 == 0x2c00_0000;
    let is_single = word & 0x3e00_0000 == 0x3c00_0000;
    let (width, is_load) = if is_pair {
        let width = match word >> 30 {
            1 => 8,
            2 => 16,
            _ => return None,
        };
        (width, word >> 22 & 1 == 1)
    } else if is_single {
        match (word >> 30, word >> 22 & 3) {
            (3, opc @ (0 | 1)) => (8, opc == 1),
            (0, opc @ (2 | 3)) => (16, opc == 3),
            _ => return None,
        }
    } else {
        return None;
    };
    Some(if is_load { Fact::Load } else { Fact::Store(Width(width)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(word: u32) -> Vec<Fact> {
        facts(word).collect()
    }

    #[test]
    fn patterns_are_those_that_the_assembler_makes() {
        let q = Fact::Store(Width(16));
        let cases: &[(u32, &str, &[Fact])] = &[
            (0xac00_0400, "stnp q0, q1, [x0]", &[Fact::Nontemporal("stnp"), q]),
            (0x6c01_0400, "stnp d0, d1, [x0, #16]", &[Fact::Nontemporal("stnp"), Fact::Store(Width(8))]),
            (0xa800_0440, "stnp x0, x1, [x2]", &[Fact::Nontemporal("stnp")]),
            (0xe590_e000, "stnt1d {z0.d}, p0, [x0]", &[Fact::Nontemporal("stnt1")]),
            (0xe581_6000, "stnt1d {z0.d}, p0, [x0, x1, lsl #3]", &[Fact::Nontemporal("stnt1")]),
            (0xe5e1_4000, "st1d {z0.d}, p0, [x0, x1, lsl #3]", &[]),
            (0xe5e0_e000, "st1d {z0.d}, p0, [x0]", &[]),
            (0xad00_0400, "stp q0, q1, [x0]", &[q]),
            (0xac81_0400, "stp q0, q1, [x0], #32", &[q]),
            (0x3d80_0020, "str q0, [x1]", &[q]),
            (0x3c81_0420, "str q0, [x1], #16", &[q]),
            (0x3ca2_6820, "str q0, [x1, x2]", &[q]),
            (0x3c9f_0020, "stur q0, [x1, #-16]", &[q]),
            (0x3d80_07e0, "str q0, [sp, #16]", &[]),
            (0x3ce2_6820, "ldr q0, [x1, x2]", &[Fact::Load]),
            (0xfd40_0020, "ldr d0, [x1]", &[Fact::Load]),
            (0xad40_0460, "ldp q0, q1, [x3]", &[Fact::Load]),
            (0xac40_0460, "ldnp q0, q1, [x3]", &[Fact::Load]),
            (0xf900_0020, "str x0, [x1]", &[]),
            (0x6e62_dc20, "fmul v0.2d, v1.2d, v2.2d", &[Fact::Multiply]),
            (0x4fc2_9020, "fmul v0.2d, v1.2d, v2.d[0]", &[Fact::Multiply]),
            (0x1e62_0820, "fmul d0, d1, d2", &[Fact::Multiply]),
            (0x4e62_d420, "fadd v0.2d, v1.2d, v2.2d", &[Fact::Add]),
            (0x1e62_2820, "fadd d0, d1, d2", &[Fact::Add]),
            (0x4e62_cc20, "fmla v0.2d, v1.2d, v2.2d", &[Fact::Fused]),
            (0x4fc2_1820, "fmla v0.2d, v1.2d, v2.d[1]", &[Fact::Fused]),
            (0x1f42_0c20, "fmadd d0, d1, d2, d3", &[Fact::Fused]),
            (0xd503_201f, "nop", &[]),
        ];
        for (word, text, expected) in cases {
            assert_eq!(all(*word), *expected, "{text}");
        }
    }

    #[test]
    fn branches_lead_forwards_and_backwards() {
        assert_eq!(branch(0x50, 0x9400_0002), Some(0x58), "bl");
        assert_eq!(branch(0x54, 0x1400_0002), Some(0x5c), "b");
        assert_eq!(branch(0x1000, 0x17ff_ffff), Some(0xffc), "b .-4");
        assert_eq!(branch(0x1000, 0x5400_0040), None, "b.eq");
    }
}

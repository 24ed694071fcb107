//! x86-64 instructions, by iced-x86.

use std::collections::BTreeMap;

use iced_x86::{
    Code as Encoding, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::elf::{Code, Image};
use super::tally::{Fact, Tally, Width};

const ENDBR: u64 = 4;
/// Bytes of a double: smaller pieces of a vector are no numbers of STREAM's.
const DOUBLE: usize = 8;

/// Reads all code, once from end to end: compilers put no data between functions on x86-64, and a
/// desynchronised decoder is back in step after some instructions.
pub(super) fn read(image: &Image, tally: &mut Tally) {
    let stubs = stubs(image);
    for code in image.code.iter().filter(|code| !code.stubs || image.code.len() == 1) {
        for instruction in decoder(code) {
            facts(&instruction, |fact| tally.take(instruction.ip(), fact));
            if let Some(callee) = callee(&instruction, image, &stubs) {
                tally.take(instruction.ip(), Fact::Call(callee));
            }
        }
    }
}

fn decoder<'a>(code: &Code<'a>) -> Decoder<'a> {
    Decoder::with_ip(64, code.bytes, code.address, DecoderOptions::NONE)
}

fn stubs(image: &Image) -> BTreeMap<u64, &'static str> {
    let mut stubs = BTreeMap::new();
    if image.slots.is_empty() {
        return stubs;
    }
    for code in image.code.iter().filter(|code| code.stubs) {
        let mut before = None;
        for instruction in decoder(code) {
            if instruction.flow_control() == FlowControl::IndirectBranch
                && let Some(function) = slot(&instruction, image)
            {
                stubs.insert(instruction.ip(), function);
                // Addresses are the file's own, and may go around.
                if before == Some(Encoding::Endbr64)
                    && let Some(start) = instruction.ip().checked_sub(ENDBR)
                {
                    stubs.insert(start, function);
                }
            }
            before = Some(instruction.code());
        }
    }
    stubs
}

fn slot(instruction: &Instruction, image: &Image) -> Option<&'static str> {
    let address = if instruction.is_ip_rel_memory_operand() {
        instruction.ip_rel_memory_address()
    } else if instruction.memory_base() == Register::None && instruction.memory_index() == Register::None {
        instruction.memory_displacement64()
    } else {
        return None;
    };
    image.slots.get(&address).copied()
}

/// The memory function that an instruction calls, or jumps to as the last thing that its function does.
fn callee(
    instruction: &Instruction,
    image: &Image,
    stubs: &BTreeMap<u64, &'static str>,
) -> Option<&'static str> {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            let target = instruction.near_branch_target();
            stubs.get(&target).or_else(|| image.entries.get(&target)).copied()
        }
        FlowControl::IndirectCall | FlowControl::IndirectBranch => slot(instruction, image),
        _ => None,
    }
}

fn facts(instruction: &Instruction, mut take: impl FnMut(Fact)) {
    if let Some(mnemonic) = nontemporal(instruction.mnemonic()) {
        take(Fact::Nontemporal(mnemonic));
    }
    if let Some(arithmetic) = arithmetic(instruction.mnemonic()) {
        take(arithmetic);
    }
    let size = instruction.memory_size().size();
    // Constants lie beside the code, spilled registers on the stack: neither is an array.
    let on_stack = matches!(instruction.memory_base(), Register::RSP | Register::ESP);
    if size < DOUBLE || on_stack || instruction.is_ip_rel_memory_operand() {
        return;
    }
    let operands = instruction.op_count();
    let is_vector =
        |at| instruction.op_kind(at) == OpKind::Register && instruction.op_register(at).is_vector_register();
    if operands >= 2 && instruction.op0_kind() == OpKind::Memory {
        if is_vector(1) {
            take(Fact::Store(Width(u16::try_from(size).unwrap_or(u16::MAX))));
        }
    } else if operands >= 2
        && is_vector(0)
        && (1..operands).any(|at| instruction.op_kind(at) == OpKind::Memory)
    {
        take(Fact::Load);
    }
}

/// Stores that bypass the cache (Intel SDM 1, section 10.4.6.2); `movntdqa` is a load and not among them.
fn nontemporal(mnemonic: Mnemonic) -> Option<&'static str> {
    Some(match mnemonic {
        Mnemonic::Movntpd => "movntpd",
        Mnemonic::Movntps => "movntps",
        Mnemonic::Movntdq => "movntdq",
        Mnemonic::Movnti => "movnti",
        Mnemonic::Movntq => "movntq",
        Mnemonic::Movntsd => "movntsd",
        Mnemonic::Movntss => "movntss",
        Mnemonic::Vmovntpd => "vmovntpd",
        Mnemonic::Vmovntps => "vmovntps",
        Mnemonic::Vmovntdq => "vmovntdq",
        Mnemonic::Movdir64b => "movdir64b",
        Mnemonic::Movdiri => "movdiri",
        _ => return None,
    })
}

fn arithmetic(mnemonic: Mnemonic) -> Option<Fact> {
    Some(match mnemonic {
        Mnemonic::Mulpd | Mnemonic::Mulsd | Mnemonic::Vmulpd | Mnemonic::Vmulsd => Fact::Multiply,
        Mnemonic::Addpd | Mnemonic::Addsd | Mnemonic::Vaddpd | Mnemonic::Vaddsd => Fact::Add,
        Mnemonic::Vfmadd132pd
        | Mnemonic::Vfmadd213pd
        | Mnemonic::Vfmadd231pd
        | Mnemonic::Vfmadd132sd
        | Mnemonic::Vfmadd213sd
        | Mnemonic::Vfmadd231sd
        | Mnemonic::Vfmaddpd
        | Mnemonic::Vfmaddsd => Fact::Fused,
        _ => return None,
    })
}

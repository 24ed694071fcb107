//! What an ELF file says of itself: code, functions, imports, arrays.

use std::collections::BTreeMap;

use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{
    Endianness, FileKind, Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable,
    RelocationTarget, SectionFlags, SegmentFlags, SymbolKind,
};

use serde::Serialize;

use super::error::InspectError;
use loops::words;

/// Functions that copy or fill memory, under the names that libraries give them, and what they are.
const MEMORY_FUNCTIONS: &[(&str, &str)] = &[
    ("memcpy", "memcpy"),
    ("__memcpy_chk", "memcpy"),
    ("_intel_fast_memcpy", "memcpy"),
    ("__intel_avx_rep_memcpy", "memcpy"),
    ("__c_mcopy8", "memcpy"),
    ("memmove", "memmove"),
    ("__memmove_chk", "memmove"),
    ("_intel_fast_memmove", "memmove"),
    ("memset", "memset"),
    ("__memset_chk", "memset"),
    ("_intel_fast_memset", "memset"),
    ("__intel_avx_rep_memset", "memset"),
    ("__c_mset8", "memset"),
];
/// Starts of the names of OpenMP's run-time libraries.
const OPENMP: &[&str] = &["libgomp", "libomp", "libiomp", "libkmp", "libpgomp", "libnvomp", "libcraymp"];
/// Functions of those libraries that compilers call for a parallel region, where the library is linked in.
const OPENMP_INSIDE: &[(&str, &str)] =
    &[("GOMP_parallel", "libgomp, linked in"), ("__kmpc_fork_call", "libomp or libiomp5, linked in")];
/// Data below this size is no array of a memory benchmark.
const SMALLEST_ARRAY: u64 = 64 << 10;
/// The most arrays and names that are stored: files are untrusted.
const MOST_ARRAYS: usize = 64;

words! {
    pub enum Architecture {
        X86 = "x86-64",
        Arm = "aarch64",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    pub name: String,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Code<'a> {
    pub address: u64,
    pub bytes: &'a [u8],
    /// Whether it may hold stubs that jump to other libraries' functions.
    pub stubs: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Span {
    pub start: u64,
    /// Behind the last byte; `start` where the size is not known.
    pub end: u64,
    pub name: String,
}

#[derive(Debug)]
pub(super) struct Image<'a> {
    pub architecture: Architecture,
    pub code: Vec<Code<'a>>,
    pub functions: Vec<Span>,
    /// Addresses of pointers that the dynamic linker sets to a memory function.
    pub slots: BTreeMap<u64, &'static str>,
    pub entries: BTreeMap<u64, &'static str>,
    /// No symbols but those that the dynamic linker needs.
    pub is_stripped: bool,
    pub is_static: bool,
    pub openmp: Vec<String>,
    pub arrays: Vec<Array>,
}

type Elf<'a> = ElfFile64<'a, Endianness>;

impl<'a> Image<'a> {
    pub fn of(bytes: &'a [u8]) -> Result<Image<'a>, InspectError> {
        check_kind(bytes)?;
        let damaged = |error: object::Error| InspectError::Damaged(error.to_string());
        let file = Elf::parse(bytes).map_err(damaged)?;
        let header: &FileHeader64<Endianness> = file.elf_header();
        let architecture = architecture(header.e_machine(file.endian()).0)?;
        match header.e_type(file.endian()) {
            elf::ET_EXEC | elf::ET_DYN => {}
            elf::ET_REL => return Err(InspectError::NotExecutable("an object file: link it first")),
            elf::ET_CORE => return Err(InspectError::NotExecutable("a core dump")),
            _ => return Err(InspectError::NotExecutable("something else")),
        }
        let (functions, entries, arrays) = symbols(&file);
        let code = code(&file);
        if code.is_empty() {
            return Err(InspectError::Damaged("no part of it is code".to_owned()));
        }
        let slots = slots(&file, &entries);
        let needed = needed(&file);
        let is_static = needed.is_empty();
        let loaded = needed.into_iter().filter(|name| OPENMP.iter().any(|start| name.starts_with(start)));
        let inside =
            OPENMP_INSIDE.iter().filter(|(function, _)| functions.iter().any(|span| span.name == *function));
        let openmp = loaded.chain(inside.map(|(_, library)| (*library).to_owned())).collect();
        let is_stripped = file.symbols().next().is_none();
        Ok(Image { architecture, code, functions, slots, entries, is_stripped, is_static, openmp, arrays })
    }
}

fn check_kind(bytes: &[u8]) -> Result<(), InspectError> {
    if bytes.is_empty() {
        return Err(InspectError::Empty);
    }
    if bytes.starts_with(b"#!") {
        return Err(InspectError::NotElf("a script"));
    }
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(InspectError::NotElf("another kind of file"));
    }
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => Ok(()),
        Ok(FileKind::Elf32) => Err(InspectError::OtherArchitecture("a 32-bit processor".to_owned())),
        _ => Err(InspectError::Damaged("its header is cut off or unknown".to_owned())),
    }
}

fn architecture(machine: u16) -> Result<Architecture, InspectError> {
    match elf::Machine(machine) {
        elf::EM_X86_64 => Ok(Architecture::X86),
        elf::EM_AARCH64 => Ok(Architecture::Arm),
        elf::EM_RISCV => Err(InspectError::OtherArchitecture("RISC-V".to_owned())),
        elf::EM_PPC64 => Err(InspectError::OtherArchitecture("POWER".to_owned())),
        elf::EM_S390 => Err(InspectError::OtherArchitecture("s390x".to_owned())),
        elf::Machine(other) => {
            Err(InspectError::OtherArchitecture(format!("the processor of ELF's number {other}")))
        }
    }
}

fn memory_function(name: &str) -> Option<&'static str> {
    let name = name.split('@').next().unwrap_or(name);
    MEMORY_FUNCTIONS.iter().find(|(function, _)| *function == name).map(|(_, plain)| *plain)
}

fn symbols(file: &Elf) -> (Vec<Span>, BTreeMap<u64, &'static str>, Vec<Array>) {
    let (mut functions, mut entries, mut arrays) = (Vec::new(), BTreeMap::new(), Vec::new());
    for symbol in file.symbols().chain(file.dynamic_symbols()).filter(|symbol| !symbol.is_undefined()) {
        let Ok(name) = symbol.name() else { continue };
        let (start, size) = (symbol.address(), symbol.size());
        match symbol.kind() {
            SymbolKind::Text => {
                if let Some(plain) = memory_function(name) {
                    entries.insert(start, plain);
                }
                functions.push(Span { start, end: start.saturating_add(size), name: name.to_owned() });
            }
            SymbolKind::Data if size >= SMALLEST_ARRAY => {
                arrays.push((start, Array { name: name.to_owned(), bytes: size }));
            }
            _ => {}
        }
    }
    functions.sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
    functions.dedup_by_key(|function| function.start);
    arrays.sort_by_key(|(start, _)| *start);
    arrays.dedup_by_key(|(start, _)| *start);
    (functions, entries, arrays.into_iter().map(|(_, array)| array).take(MOST_ARRAYS).collect())
}

fn code<'a>(file: &Elf<'a>) -> Vec<Code<'a>> {
    let executable = |flags: SectionFlags| match flags {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & elf::SHF_EXECINSTR.0 != 0,
        _ => false,
    };
    let whole = file.data().len();
    let sections = file
        .sections()
        .filter(|section| executable(section.flags()))
        .filter_map(|section| {
            let stubs = section.name().is_ok_and(|name| name.starts_with(".plt") || name == ".iplt");
            Some(Code { address: section.address(), bytes: section.data().ok()?, stubs })
        })
        .filter(|code| !code.bytes.is_empty());
    let mut code: Vec<Code> = no_longer_than_the_file(whole, sections).collect();
    if code.is_empty() {
        let executable = |flags: SegmentFlags| match flags {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0 & elf::PF_X.0 != 0,
            _ => false,
        };
        let segments = file
            .segments()
            .filter(|segment| executable(segment.flags()))
            .filter_map(|segment| {
                Some(Code { address: segment.address(), bytes: segment.data().ok()?, stubs: true })
            })
            .filter(|code| !code.bytes.is_empty());
        code = no_longer_than_the_file(whole, segments).collect();
    }
    code.sort_by_key(|code| code.address);
    code
}

/// Of stretches those that together are no longer than the file: in a sound one none lies in another, and
/// thousands of headers for the same bytes would have them read thousands of times.
fn no_longer_than_the_file<'a>(
    whole: usize,
    stretches: impl Iterator<Item = Code<'a>>,
) -> impl Iterator<Item = Code<'a>> {
    stretches.scan(whole, |left, code| {
        *left = left.checked_sub(code.bytes.len())?;
        Some(code)
    })
}

/// Pointers to memory functions: by name, or in a static binary by the function that chooses (IRELATIVE).
fn slots(file: &Elf, entries: &BTreeMap<u64, &'static str>) -> BTreeMap<u64, &'static str> {
    let (endian, data) = (file.endian(), file.data());
    let is_mips64el = false;
    let chooser = match file.elf_header().e_machine(endian) {
        elf::EM_X86_64 => elf::R_X86_64_IRELATIVE.0,
        _ => elf::R_AARCH64_IRELATIVE.0,
    };
    let mut slots = BTreeMap::new();
    // As with code: tables that lie in one another are read as often as the file could hold them.
    let mut left = data.len() / size_of::<elf::Rela64<Endianness>>();
    for section in file.elf_section_table().iter() {
        let Ok(Some((relocations, _))) = section.rela(endian, data) else { continue };
        let Some(rest) = left.checked_sub(relocations.len()) else { break };
        left = rest;
        for relocation in relocations.iter().filter(|one| one.r_type(endian, is_mips64el).0 == chooser) {
            if let Some(function) = entries.get(&(relocation.r_addend.get(endian) as u64)) {
                slots.insert(relocation.r_offset.get(endian), *function);
            }
        }
    }
    let Some(names) = file.dynamic_symbol_table() else { return slots };
    // None is shorter than a byte.
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten().take(data.len()) {
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let name = names.symbol_by_index(index).and_then(|symbol| symbol.name());
        if let Some(function) = name.ok().and_then(memory_function) {
            slots.insert(address, function);
        }
    }
    slots
}

fn needed(file: &Elf) -> Vec<String> {
    let Ok(table) = file.elf_dynamic_table() else { return Vec::new() };
    table
        .iter()
        .filter(|entry| entry.tag == elf::DT_NEEDED)
        .filter_map(|entry| table.string(entry).ok())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .take(MOST_ARRAYS)
        .collect()
}

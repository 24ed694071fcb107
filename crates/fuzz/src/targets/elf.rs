//! Programs and libraries: what they say of themselves, how their stacks are unwound, and what their functions are called.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use faults::observe::observation;
use faults::trace::collect::Collector;
use faults::trace::record::{Entry, EventKind, Fault, Map, Regs};
use faults::trace::{Totals, Traced};
use figure::Machine;
use lab::failure::Failure;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::draw::Draw;
use crate::looks;
use crate::target::Target;

/// The first byte: whether stacks are unwound by it too. The bytes are the file.
pub const TARGET: Target = Target { name: "elf", one, seeds, longest: 24 << 10 };

/// A process that is not there (PID_MAX_LIMIT is 2^22).
const PROCESS: u32 = 1 << 30;
/// Where the file is mapped, and where the stack is.
const LOADED: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7fff_0000_0000;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (is_unwound, bytes) = (draw.flag(), draw.rest());
    match memory::inspect::inspect(bytes) {
        Ok(inspection) => {
            assert!(inspection.functions.len() <= bytes.len() && inspection.arrays.len() <= bytes.len());
            serde_json::to_string(&inspection).expect("it is written");
        }
        Err(why) => assert!(why.to_string().len() < 1000, "{why}"),
    }
    let image = lab::image::parse(bytes);
    assert!(image.is_err() || image.is_ok_and(|image| image.libraries.len() <= bytes.len()));
    let _ = alloc::version::inside(bytes);
    if is_unwound {
        unwound(bytes);
    }
}

/// Faults of a program that has the file mapped: their stacks, and names for what is on them.
fn unwound(bytes: &[u8]) {
    let mut file = File::from(memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("memory"));
    file.write_all(bytes).expect("memory");
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut collector = Collector::new(4096);
    let end = LOADED + (bytes.len() as u64).next_multiple_of(4096) + 0x1000;
    let map =
        Map { process: PROCESS, start: LOADED, end, protection: 5, is_private: true, name, ..Map::default() };
    let mut take = |time, kind| collector.take(Entry { time, kind });
    take(1, EventKind::Name { process: PROCESS, thread: PROCESS, name: "fuzz".into(), exec: true });
    take(2, EventKind::Map(map));
    for place in [0, 0x40, bytes.len() as u64 / 2, bytes.len() as u64] {
        let ip = LOADED + place;
        let stack: Vec<u8> =
            (0..64_u64).flat_map(|at| (LOADED + at * 64 + place % 64).to_ne_bytes()).collect();
        let regs = Some(Regs { pc: ip, sp: STACK, fp: STACK + 64, lr: 0 });
        let fault = Fault {
            process: PROCESS,
            thread: PROCESS,
            address: STACK,
            ip,
            weight: 1,
            regs,
            stack,
            ..Fault::default()
        };
        take(3 + place, EventKind::Fault(Box::new(fault)));
    }
    let totals = Totals { counted: 4, period: 1, seconds: 1.0, ..Totals::default() };
    let calls = Err(Failure::new("not counted"));
    let found = observation(Traced { collector, totals, unseen: Default::default(), calls });
    looks::judged(found.figures, Machine::default());
}

/// The smallest program that has code, a function, a library and unwind tables, as a linker would lay it out.
fn seeds() -> Vec<Vec<u8>> {
    let program = program();
    let version = b"GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n\0";
    let hash = b"5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c\0";
    vec![
        [&[0], &program[..]].concat(),
        [&[1], &program[..]].concat(),
        [b"\0#!/bin/sh\n", &version[..], hash].concat(),
    ]
}

/// A section of that program.
struct Section<'a> {
    body: &'a [u8],
    /// Where its name is among the names of sections.
    name: u32,
    /// Its type, and that of the part that loads it (0: none does).
    kind: u32,
    part: u64,
    address: u64,
    link: u64,
    /// Bytes of an entry.
    entry: u64,
}

/// Written by hand: headers (ELF-64 Object File Format, version 1.5), and each section behind the one before.
fn program() -> Vec<u8> {
    const HEADERS: usize = 64 + 3 * 56;
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let code = [0x55, 0x48, 0x89, 0xe5, 0x66, 0x0f, 0x2b, 0x07, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3, 0x90];
    // A CIE of version 1 with "zR", an FDE of 16 bytes of code, and the end (Linux Standard Base, 10.6).
    let cie = b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0";
    let fde = b"\x14\0\0\0\x1c\0\0\0\0\xf0\xff\xff\x10\0\0\0\0\0\0\0\0\0\0\0";
    let frames = [&cie[..], fde, &[0; 4]].concat();
    // Name, what it is and its section; address; size: a function, an array, and a function of elsewhere.
    let symbols = words(&[
        0,
        0,
        0,
        1 | 0x12 << 32 | 1 << 48,
        0x1000,
        16,
        6 | 0x11 << 32 | 1 << 48,
        0x20_0000,
        1 << 20,
        22 | 0x12 << 32,
        0,
        0,
    ]);
    let dynamic = words(&[1, 8, 5, 0x3000, 0, 0]);
    let of = |body, name, kind, part, address, link, entry| Section {
        body,
        name,
        kind,
        part,
        address,
        link,
        entry,
    };
    let sections = [
        of(&code, 1, 1, 1, 0x1000, 0, 0),
        of(&frames, 7, 1, 1, 0x2000, 0, 0),
        of(&symbols, 17, 2, 0, 0, 4, 24),
        of(b"\0main\0a\0libgomp.so.1\0memcpy\0", 25, 3, 0, 0x3000, 0, 0),
        of(&dynamic, 33, 6, 2, 0x4000, 4, 16),
        of(b"\0.text\0.eh_frame\0.symtab\0.strtab\0.dynamic\0.shstrtab\0", 42, 3, 0, 0, 0, 0),
    ];
    let (mut bodies, mut headers, mut parts) = (Vec::new(), vec![0; 64], Vec::new());
    for Section { body, name, kind, part, address, link, entry } in sections {
        let (offset, size) = ((HEADERS + bodies.len()) as u64, body.len() as u64);
        let flags = if name == 1 { 6 } else { 2 };
        let (first, links) = (u64::from(name) | u64::from(kind) << 32, link | 1 << 32);
        headers.extend(words(&[first, flags, address, offset, size, links, 8, entry]));
        if part > 0 {
            parts.extend(words(&[part | 5 << 32, offset, address, address, size, size, 8]));
        }
        bodies.extend(body);
        bodies.resize(bodies.len().next_multiple_of(8), 0);
    }
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
    file.extend(words(&[0x1000, 64, (HEADERS + bodies.len()) as u64]));
    for half in [0, 0, 64, 56, 3, 64, 7, 6_u16] {
        file.extend(half.to_le_bytes());
    }
    [file, parts, bodies, headers].concat()
}

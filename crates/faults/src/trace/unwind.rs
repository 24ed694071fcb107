//! Return addresses from registers and a copy of the stack, by the unwind tables of the mapped files
//! (framehop): no frame pointers are needed. Files without tables, and code made at run time, are unwound by
//! frame pointers.

use std::collections::HashMap;
use std::fs::File;
use std::ops::{Deref, Range};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};
use memmap2::Mmap;
use object::elf::SHF_COMPRESSED;
use object::{Object, ObjectSection, ObjectSegment, SectionFlags};

use super::address_space::AddressSpace;
use super::record::{Fault, Regs};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64, UnwinderAarch64 as Unwinder};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as Unwinder};

const MOST_FRAMES: usize = 127;
const MOST_FILES: usize = 1024;
/// The highest compression ratio of zlib: 258 bytes from a match of two bits (zlib_tech.html, "maximum
/// compression factor"). zstd can do more, but not with debug information, and the symbolizer has no zstd.
const BEST_RATIO: u64 = 1032;
/// Bytes of all unpacked parts of a file at most: more debug information than the largest programs have.
const MOST_UNPACKED: u64 = 4 << 30;

/// Part of a file, mapped.
#[derive(Clone)]
pub struct Part {
    file: Arc<Mmap>,
    range: Range<usize>,
}

impl Deref for Part {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

pub struct Image {
    /// A path that leads to it as long as this process lives, even if the file is renamed or removed.
    pub path: PathBuf,
    /// Whether the symbolizer may read it: its compressed parts can have the sizes that they state.
    pub is_sound: bool,
    /// Keeps the path alive.
    _file: File,
    sections: ExplicitModuleSectionInfo<Part>,
    /// Parts that are loaded: offset in the file, length, address.
    segments: Vec<(u64, u64, u64)>,
}

impl Image {
    fn open(path: &Path) -> Option<Image> {
        let file = lab::image::open(path).ok()?;
        // SAFETY: only read. A truncated file ends this process by SIGBUS: a worker, at its own figures'
        // cost.
        let mapped = Arc::new(unsafe { Mmap::map(&file) }.ok()?);
        let object = object::File::parse(&mapped[..]).ok()?;
        let range = |name: &str| {
            object
                .section_by_name(name)
                .map(|part| part.address()..part.address().saturating_add(part.size()))
        };
        let data = |name: &str| {
            let (offset, size) = object.section_by_name(name)?.file_range()?;
            let range = usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(size)?).ok()?;
            (range.end <= mapped.len()).then(|| Part { file: mapped.clone(), range })
        };
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: range(".text"),
            text: data(".text"),
            got_svma: range(".got"),
            eh_frame_svma: range(".eh_frame"),
            eh_frame: data(".eh_frame"),
            eh_frame_hdr_svma: range(".eh_frame_hdr"),
            eh_frame_hdr: data(".eh_frame_hdr"),
            debug_frame: data(".debug_frame"),
            stubs_svma: None,
            stub_helper_svma: None,
            unwind_info: None,
            text_segment_svma: None,
            text_segment: None,
        };
        let segments = object
            .segments()
            .map(|part| {
                let (offset, size) = part.file_range();
                (offset, size, part.address())
            })
            .collect();
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let is_sound = unpacks(&object);
        drop(object);
        Some(Image { path, is_sound, _file: file, sections, segments })
    }

    /// The file's address of the byte at an offset in it.
    pub fn stated(&self, offset: u64) -> Option<u64> {
        let holds =
            |(start, size, _): &&(u64, u64, u64)| (*start..start.saturating_add(*size)).contains(&offset);
        self.segments.iter().find(holds).map(|(start, _, address)| (offset - start).wrapping_add(*address))
    }
}

/// Whether the compressed parts of a file can have the sizes that they state. The symbolizer reserves that
/// much before it unpacks anything, and aborts the process if it cannot. It also takes every file for one of
/// this machine's byte order.
fn unpacks(object: &object::File) -> bool {
    let mut all = 0_u64;
    let mut can_be = |section: object::Section| {
        if !matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(SHF_COMPRESSED))
        {
            return true;
        }
        let Ok(packed) = section.compressed_file_range() else { return false };
        all = all.saturating_add(packed.uncompressed_size);
        packed.uncompressed_size <= packed.compressed_size.saturating_mul(BEST_RATIO) && all <= MOST_UNPACKED
    };
    object.is_little_endian() == cfg!(target_endian = "little") && object.sections().all(&mut can_be)
}

/// The load bias of a mapping of this range of a file that begins at `start`, by the part with most of the
/// range: the first page may also hold the end of the part before.
fn base(segments: &[(u64, u64, u64)], start: u64, range: Range<u64>) -> Option<u64> {
    let common = |(from, size, _): &&(u64, u64, u64)| {
        from.saturating_add(*size).min(range.end).saturating_sub(*from.max(&range.start))
    };
    let (from, _, stated) = segments.iter().max_by_key(common).filter(|part| common(part) > 0)?;
    Some(start.wrapping_add(*from).wrapping_sub(range.start).wrapping_sub(*stated))
}

/// Files by their names in a process: opened once, while the process lives.
#[derive(Default)]
pub struct Images {
    by_name: HashMap<Box<str>, Option<Arc<Image>>>,
    /// Whether the files are on another machine.
    is_none: bool,
}

impl Images {
    pub fn none() -> Images {
        Images { is_none: true, ..Images::default() }
    }

    /// The file of this name in the process's root. `None` if it cannot be read, or is no program.
    pub fn get(&mut self, process: u32, name: &str) -> Option<Arc<Image>> {
        if self.is_none {
            return None;
        }
        if let Some(image) = self.by_name.get(name) {
            return image.clone();
        }
        // If the process has ended, or its root may not be read: the file of this name here.
        let in_root = PathBuf::from(format!("/proc/{process}/root{name}"));
        let image = Image::open(&in_root).or_else(|| Image::open(Path::new(name))).map(Arc::new);
        if self.by_name.len() < MOST_FILES {
            self.by_name.insert(name.into(), image.clone());
        }
        image
    }
}

#[derive(Default)]
pub struct Stacks {
    unwinder: Option<Unwinder<Part>>,
}

/// The cache that unwinders share.
#[derive(Default)]
pub struct Rules(Cache);

impl Stacks {
    /// Addresses of the calls that led to a fault, the innermost first.
    pub fn unwind(
        &mut self,
        fault: &Fault,
        space: &AddressSpace,
        images: &mut Images,
        rules: &mut Rules,
    ) -> Vec<u64> {
        let by_tables = fault.regs.map(|regs| {
            let unwinder = self.unwinder.get_or_insert_with(|| build(fault.process, space, images));
            frames(unwinder, rules, regs, &fault.stack)
        });
        match by_tables {
            // The kernel's chain is by frame pointers: it is longer for code made at run time.
            Some(frames) if frames.len() + 1 >= fault.chain.len() => frames,
            _ if !fault.chain.is_empty() => calls(&fault.chain),
            Some(frames) => frames,
            None => vec![fault.ip],
        }
    }
}

fn build(process: u32, space: &AddressSpace, images: &mut Images) -> Unwinder<Part> {
    let mut unwinder = Unwinder::new();
    for (start, area) in space.areas().filter(|(_, area)| area.is_code) {
        let Some(image) = area.file().and_then(|name| images.get(process, name)) else { continue };
        let range = area.offset..area.offset.saturating_add(area.end - start);
        let Some(base) = base(&image.segments, start, range) else { continue };
        let module = Module::new(area.name.to_string(), start..area.end, base, image.sections.clone());
        unwinder.add_module(module);
    }
    unwinder
}

fn frames(unwinder: &Unwinder<Part>, rules: &mut Rules, regs: Regs, stack: &[u8]) -> Vec<u64> {
    let mut read = |address: u64| {
        let offset = address.checked_sub(regs.sp).and_then(|offset| usize::try_from(offset).ok()).ok_or(())?;
        let bytes = stack.get(offset..offset.checked_add(8).ok_or(())?).ok_or(())?;
        bytes.try_into().map(u64::from_ne_bytes).map_err(|_| ())
    };
    #[cfg(target_arch = "x86_64")]
    let first = UnwindRegsX86_64::new(regs.pc, regs.sp, regs.fp);
    #[cfg(target_arch = "aarch64")]
    let first = UnwindRegsAarch64::new(regs.lr, regs.sp, regs.fp);
    let mut all = Vec::with_capacity(32);
    let mut iterator = unwinder.iter_frames(regs.pc, first, &mut rules.0, &mut read);
    while all.len() < MOST_FRAMES
        && let Ok(Some(frame)) = iterator.next()
    {
        // A return address may belong to the next function: the call is before it.
        all.push(match frame {
            FrameAddress::InstructionPointer(address) => address,
            FrameAddress::ReturnAddress(address) => address.get() - 1,
        });
    }
    all
}

/// The calls of a chain: its first address is the instruction, all others are return addresses.
fn calls(chain: &[u64]) -> Vec<u64> {
    chain.iter().enumerate().map(|(index, address)| address.saturating_sub(u64::from(index > 0))).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    /// A library with nothing but debug information of 8 compressed bytes, which states this size.
    fn packed(stated: u64) -> Vec<u8> {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let names = b"\0.debug_info\0.names\0\0\0\0";
        // ELF header (64 bytes), compressed data behind its own header (Elf64_Chdr, ELFCOMPRESS_ZLIB), names.
        let chunk = words(&[1, stated, 1, 0x0003_9c78]);
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
        file.extend(words(&[0, 0, (64 + chunk.len() + names.len()) as u64]));
        for half in [0, 0, 64, 56, 0, 64, 3, 2_u16] {
            file.extend(half.to_le_bytes());
        }
        let at = file.len() as u64;
        file.extend(&chunk);
        file.extend(names);
        file.extend([0; 64]);
        // SHT_PROGBITS with SHF_COMPRESSED; SHT_STRTAB.
        file.extend(words(&[1 | 1 << 32, 0x800, 0, at, chunk.len() as u64, 0, 1, 0]));
        file.extend(words(&[13 | 3 << 32, 0, 0, at + chunk.len() as u64, names.len() as u64, 0, 1, 0]));
        file
    }

    #[test]
    fn a_part_with_an_impossible_size_is_not_unpacked() {
        let is_sound = |stated| unpacks(&object::File::parse(&packed(stated)[..]).unwrap());
        assert!(is_sound(0) && is_sound(8 * BEST_RATIO));
        assert!(!is_sound(8 * BEST_RATIO + 1) && !is_sound(u64::MAX));
        let mut foreign = packed(0);
        foreign[5] = 2;
        assert!(
            object::File::parse(&foreign[..]).is_err()
                || !unpacks(&object::File::parse(&foreign[..]).unwrap())
        );
    }

    #[test]
    fn code_that_shares_a_page_with_what_comes_before() {
        // As lld links: the code begins within the page where the part before ends, and is stated a page
        // later.
        let parts = [(0, 0x12db0, 0), (0x12db0, 0x3c4d0, 0x13db0), (0x4f280, 0x23b0, 0x51280)];
        let load = 0x7f00_0000_0000;
        assert_eq!(base(&parts, load + 0x13000, 0x12000..0x50000), Some(load));
        assert_eq!(base(&parts, load, 0..0x13000), Some(load));
        // As GNU ld does: each part has pages of its own.
        let parts = [(0, 0x628, 0x40_0000), (0x1000, 0x5f1, 0x40_1000)];
        assert_eq!(base(&parts, 0x40_1000, 0x1000..0x2000), Some(0));
        assert_eq!(base(&parts, 0x40_5000, 0x9000..0xa000), None);
    }
}

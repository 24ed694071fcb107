//! What a program's file says of its memory: whether anything can be preloaded, and whether it has an allocator of its own.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{ElfFile, FileHeader};
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSymbol, ReadCache};

/// What allocators call their functions when they are built into a program beside the C library's.
const BUILT_IN: &[&str] =
    &["_rjem_malloc", "je_malloc", "mi_malloc", "tc_malloc", "rpmalloc", "sn_malloc", "scudo_malloc"];
/// The section that every Go program has.
const GO: &str = ".go.buildinfo";
/// Bytes in which the first line of a script is looked for, as the kernel does (BINPRM_BUF_SIZE).
const LINE: u64 = 256;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Whether it asks for a dynamic linker.
    pub is_dynamic: bool,
    /// Whether it runs with another user's or group's rights: nothing is preloaded then (ld.so(8), secure execution).
    pub is_privileged: bool,
    /// Whether it is a Go program.
    pub is_go: bool,
    /// A function of an allocator that is built in.
    pub built_in: Option<&'static str>,
}

impl Image {
    /// Of the program that runs when this file is executed: of a script, its interpreter's. `None` if it cannot be read.
    pub fn of(path: &Path) -> Option<Image> {
        let path = interpreter(path).unwrap_or_else(|| path.to_owned());
        let file = File::open(path).ok()?;
        let mode = file.metadata().ok()?.permissions().mode();
        let data = ReadCache::new(file);
        let image = match FileKind::parse(&data).ok()? {
            FileKind::Elf32 => parse::<FileHeader32<Endianness>>(&data),
            _ => parse::<FileHeader64<Endianness>>(&data),
        };
        image.map(|image| Image { is_privileged: mode & 0o6000 != 0, ..image }).ok()
    }

    /// Why nothing can be preloaded, if so.
    pub fn refuses(&self) -> Option<&'static str> {
        match self {
            Image { is_dynamic: false, is_go: true, .. } => Some(
                "a Go program that is linked statically: it has an allocator of its own, and nothing can be preloaded",
            ),
            Image { is_dynamic: false, .. } => Some("linked statically: nothing can be preloaded"),
            Image { is_privileged: true, .. } => {
                Some("set-user-ID or set-group-ID: the dynamic linker preloads nothing into it")
            }
            _ => None,
        }
    }

    /// The allocator that it has besides, if so.
    pub fn own(&self) -> Option<String> {
        match self.built_in {
            _ if self.is_go => Some("a Go program has an allocator of its own".to_owned()),
            Some(function) => Some(format!("it has an allocator of its own ({function})")),
            None => None,
        }
    }
}

fn parse<E: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> object::Result<Image> {
    let file = ElfFile::<E, _>::parse(data)?;
    let is_dynamic = lab::image::is_dynamic(&file);
    let is_go = file.sections().any(|section| section.name().is_ok_and(|name| name == GO));
    let defined = file.symbols().chain(file.dynamic_symbols()).filter(ObjectSymbol::is_definition);
    let mut names = defined.filter_map(|symbol| symbol.name().ok());
    let built_in = names.find_map(|name| BUILT_IN.iter().copied().find(|known| *known == name));
    Ok(Image { is_dynamic, is_privileged: false, is_go, built_in })
}

/// The interpreter of a script: `/bin/sh` of `#!/bin/sh -e`.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let mut first = Vec::new();
    File::open(path).ok()?.take(LINE).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(word)))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn this_program_a_script_and_what_is_none() {
        let own = std::env::current_exe().unwrap();
        let image = Image::of(&own).unwrap();
        assert_eq!(image, Image { is_dynamic: !cfg!(target_feature = "crt-static"), ..Image::default() });
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        std::fs::write(&script, format!("#! {} -x\necho\n", own.display())).unwrap();
        assert_eq!(Image::of(&script), Some(image));
        std::fs::write(&script, "echo\n").unwrap();
        assert_eq!(Image::of(&script), None);
        assert_eq!(Image::of(Path::new("/nonexistent")), None);
    }

    #[test]
    fn what_refuses_is_told() {
        let dynamic = Image { is_dynamic: true, ..Image::default() };
        assert_eq!((dynamic.refuses(), dynamic.own()), (None, None));
        assert!(Image::default().refuses().unwrap().starts_with("linked statically"));
        assert!(Image { is_privileged: true, ..dynamic.clone() }.refuses().unwrap().contains("set-user-ID"));
        assert!(Image { is_go: true, ..dynamic.clone() }.own().unwrap().contains("Go"));
        let rust = Image { built_in: Some("_rjem_malloc"), ..dynamic };
        assert!(rust.own().unwrap().contains("_rjem_malloc"));
    }
}

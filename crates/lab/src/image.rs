//! The ELF image of a program: size, linkage, whether a library can be preloaded, built-in allocator.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};

use crate::failure::{Attempt, Failure};

/// Names of malloc in allocators that are linked into a program in addition to the C library's.
const BUILT_IN: &[&str] =
    &["_rjem_malloc", "je_malloc", "mi_malloc", "tc_malloc", "rpmalloc", "sn_malloc", "scudo_malloc"];
const GO: &str = ".go.buildinfo";
/// Bytes that the kernel searches for the first line of a script (BINPRM_BUF_SIZE).
const LINE: u64 = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    pub bytes: u64,
    pub is_dynamic: bool,
    /// Libraries that it needs (DT_NEEDED).
    pub libraries: Vec<String>,
    /// Set-user-ID or set-group-ID: then nothing is preloaded (ld.so(8), secure-execution mode).
    pub is_privileged: bool,
    pub is_go: bool,
    pub built_in: Option<&'static str>,
}

/// Reads this file itself; a script is not resolved.
pub fn read(path: &Path) -> Result<Image, Failure> {
    let mut file = File::open(path).attempt_on("", path.display())?;
    let mode = file.metadata().attempt_on("", path.display())?.permissions().mode();
    let bytes = file.seek(std::io::SeekFrom::End(0)).attempt_on("", path.display())?;
    let image = parse(&ReadCache::new(file)).attempt_on("", path.display())?;
    Ok(Image { bytes, is_privileged: mode & 0o6000 != 0, ..image })
}

/// The program that runs when this file is executed: the interpreter of a script, else the file.
pub fn program(path: &Path) -> PathBuf {
    interpreter(path).unwrap_or_else(|| path.to_owned())
}

impl Image {
    /// The image of the program that runs when this file is executed. `None` if it cannot be read.
    pub fn of_program(path: &Path) -> Option<Image> {
        read(&program(path)).ok()
    }

    /// Why nothing can be preloaded into it, if so.
    pub fn preload_obstacle(&self) -> Option<&'static str> {
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

    pub fn built_in_allocator(&self) -> Option<String> {
        match self.built_in {
            _ if self.is_go => Some("a Go program has an allocator of its own".to_owned()),
            Some(function) => Some(format!("it has an allocator of its own ({function})")),
            None => None,
        }
    }
}

/// Parses the bytes of a file. Size and rights are not set.
pub fn parse<'data>(data: impl ReadRef<'data>) -> object::Result<Image> {
    match FileKind::parse(data)? {
        FileKind::Elf32 => parse_elf::<FileHeader32<Endianness>, _>(data),
        _ => parse_elf::<FileHeader64<Endianness>, _>(data),
    }
}

fn parse_elf<'data, E, R>(data: R) -> object::Result<Image>
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let file = ElfFile::<E, R>::parse(data)?;
    let is_dynamic = file.elf_program_headers().iter().any(|part| part.p_type(file.endian()) == PT_INTERP);
    let table = file.elf_dynamic_table();
    let libraries = table.map_or(Vec::new(), |table| {
        let needed = table.iter().filter(|entry| entry.tag == DT_NEEDED);
        let names = needed.map(|entry| table.string(entry).unwrap_or_default());
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    });
    let is_go = file.sections().any(|section| section.name().is_ok_and(|name| name == GO));
    let defined = file.symbols().chain(file.dynamic_symbols()).filter(ObjectSymbol::is_definition);
    let mut names = defined.filter_map(|symbol| symbol.name().ok());
    let built_in = names.find_map(|name| BUILT_IN.iter().copied().find(|function| *function == name));
    Ok(Image { bytes: 0, is_dynamic, libraries, is_privileged: false, is_go, built_in })
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
    fn this_program_a_script_and_other_files() {
        let program = std::env::current_exe().unwrap();
        let image = read(&program).unwrap();
        assert_eq!(image.is_dynamic, !cfg!(target_feature = "crt-static"));
        assert_eq!(
            image.libraries.iter().any(|name| name.starts_with("libc.so")),
            image.is_dynamic,
            "{image:?}"
        );
        assert_eq!(image.bytes, std::fs::metadata(&program).unwrap().len());
        assert_eq!((image.is_privileged, image.is_go, image.built_in), (false, false, None));
        assert!(
            parse(&b"#!/bin/sh\n"[..]).is_err()
                && parse(&b""[..]).is_err()
                && parse(&b"\x7fELF\x02\x01\x01"[..]).is_err()
        );
        assert!(read(Path::new("/nonexistent")).unwrap_err().to_string().contains("/nonexistent"));

        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        std::fs::write(&script, format!("#! {} -x\necho\n", program.display())).unwrap();
        assert_eq!(Image::of_program(&script), Some(image));
        std::fs::write(&script, "echo\n").unwrap();
        assert_eq!(Image::of_program(&script), None);
        assert_eq!(Image::of_program(Path::new("/nonexistent")), None);
    }

    #[test]
    fn reasons_against_preloading_are_given() {
        let dynamic = Image { is_dynamic: true, ..Image::default() };
        assert_eq!((dynamic.preload_obstacle(), dynamic.built_in_allocator()), (None, None));
        assert!(Image::default().preload_obstacle().unwrap().starts_with("linked statically"));
        assert!(
            Image { is_privileged: true, ..dynamic.clone() }
                .preload_obstacle()
                .unwrap()
                .contains("set-user-ID")
        );
        assert!(Image { is_go: true, ..dynamic.clone() }.built_in_allocator().unwrap().contains("Go"));
        let rust = Image { built_in: Some("_rjem_malloc"), ..dynamic };
        assert!(rust.built_in_allocator().unwrap().contains("_rjem_malloc"));
    }
}

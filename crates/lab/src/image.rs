//! The ELF image of a program: size, linkage, whether a library can be preloaded, built-in allocator.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionTable};
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};
use rustix::fs::OFlags;

use crate::failure::{Attempt, Failure};

/// Names of malloc in allocators that are linked into a program in addition to the C library's.
///
/// Several of one allocator where a linker may drop some (`--gc-sections`): Rust's crates call `mi_malloc_aligned`,
/// `sn_rust_alloc` and `_rjem_mallocx`. `mallctl` without a prefix is jemalloc in place of malloc.
const BUILT_IN: &[&str] = &[
    "_rjem_malloc",
    "_rjem_mallocx",
    "je_malloc",
    "mallctl",
    "mi_malloc",
    "mi_malloc_aligned",
    "tc_malloc",
    "TCMallocInternalMalloc",
    "rpmalloc",
    "sn_malloc",
    "sn_rust_alloc",
    "scudo_malloc",
    "__scudo_print_stats",
    "scalable_malloc",
    "__malloc_alloc_meta",
    "__expand_heap",
];
/// Functions that a language's runtime exports to its extensions, also from a stripped program.
const RUNTIMES: &[&str] = &["PyObject_Malloc", "napi_create_object", "zend_parse_parameters", "ruby_xmalloc"];
const GO: &str = ".go.buildinfo";
/// Bytes that the kernel searches for the first line of a script (BINPRM_BUF_SIZE).
const LINE: u64 = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    pub bytes: u64,
    pub is_dynamic: bool,
    /// Libraries that it needs (DT_NEEDED).
    pub libraries: Vec<String>,
    /// The newest version of glibc's symbols that it needs: `(2, 17)` for GLIBC_2.17. It was linked against this glibc or a later one.
    pub glibc: Option<(u32, u32)>,
    /// Set-user-ID or set-group-ID: then nothing is preloaded (ld.so(8), secure-execution mode).
    pub is_privileged: bool,
    pub is_go: bool,
    pub built_in: Option<&'static str>,
    /// A function of the language's runtime that it is.
    pub runtime: Option<&'static str>,
    /// The dynamic linker that loads it.
    pub loader: Option<PathBuf>,
    /// Whether it has no names of functions but those that it exports.
    pub is_stripped: bool,
}

/// Opens a regular file. Another program may have named it, so that it can be anything: a FIFO would never open.
///
/// # Errors
/// Those of open(2), and that it is no regular file.
pub fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("no regular file")),
    }
}

/// Reads this file itself; a script is not resolved.
pub fn read(path: &Path) -> Result<Image, Failure> {
    let mut file = open(path).attempt_on("", path.display())?;
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

    /// The C library that its dynamic linker brings: both lie in one directory.
    pub fn c_library(&self) -> Option<PathBuf> {
        let loader = std::fs::canonicalize(self.loader.as_deref()?).ok()?;
        Some(loader.with_file_name("libc.so.6")).filter(|path| path.is_file())
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
    let endian = file.endian();
    let loader = file.elf_program_headers().iter().find(|part| part.p_type(endian) == PT_INTERP);
    let is_dynamic = loader.is_some();
    let loader = loader.and_then(|part| part.data(endian, data).ok()?.split(|byte| *byte == 0).next());
    let loader = loader.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)));
    let table = file.elf_dynamic_table();
    let libraries = table.map_or(Vec::new(), |table| {
        let needed = table.iter().filter(|entry| entry.tag == DT_NEEDED);
        let names = needed.map(|entry| table.string(entry).unwrap_or_default());
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    });
    let is_go = file.sections().any(|section| section.name().is_ok_and(|name| name == GO));
    let defined = file.symbols().chain(file.dynamic_symbols()).filter(ObjectSymbol::is_definition);
    let (mut built_in, mut runtime) = (None, None);
    for name in defined.filter_map(|symbol| symbol.name().ok()) {
        let among = |all: &[&'static str]| all.iter().copied().find(|function| *function == name);
        built_in = built_in.or_else(|| among(BUILT_IN));
        runtime = runtime.or_else(|| among(RUNTIMES));
    }
    let is_stripped = file.symbol_table().is_none();
    let glibc = newest_glibc(endian, data, file.elf_section_table())?;
    Ok(Image {
        libraries,
        glibc,
        is_dynamic,
        is_go,
        built_in,
        runtime,
        loader,
        is_stripped,
        ..Image::default()
    })
}

/// Of the versions of symbols that the file needs (.gnu.version_r; Linux Standard Base, "Symbol Versioning").
fn newest_glibc<'data, E, R>(
    endian: Endianness,
    data: R,
    sections: &SectionTable<'data, E, R>,
) -> object::Result<Option<(u32, u32)>>
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let Some((mut files, link)) = sections.gnu_verneed(endian, data)? else {
        return Ok(None);
    };
    let strings = sections.strings(endian, data, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = files.next()? {
        while let Some(version) = versions.next()? {
            newest = newest.max(glibc_version(version.name(endian, strings)?));
        }
    }
    Ok(newest)
}

/// `(2, 2)` of `GLIBC_2.2.5`.
fn glibc_version(name: &[u8]) -> Option<(u32, u32)> {
    let numbers = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
    let mut numbers = numbers.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The interpreter of a script: `/bin/sh` of `#!/bin/sh -e`.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let mut first = Vec::new();
    open(path).ok()?.take(LINE).read_to_end(&mut first).ok()?;
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
        assert_eq!(image.runtime, None);
        let is_gnu = cfg!(all(target_env = "gnu", not(target_feature = "crt-static")));
        assert_eq!(image.c_library().is_some(), is_gnu, "{:?}", image.loader);
        assert_eq!(image.glibc.is_some_and(|newest| newest >= (2, 2)), is_gnu, "{:?}", image.glibc);
        assert!(
            parse(&b"#!/bin/sh\n"[..]).is_err()
                && parse(&b""[..]).is_err()
                && parse(&b"\x7fELF\x02\x01\x01"[..]).is_err()
        );
        assert!(read(Path::new("/nonexistent")).unwrap_err().to_string().contains("/nonexistent"));

        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(open(&fifo).is_err() && open(directory.path()).is_err());
        let script = directory.path().join("script");
        std::fs::write(&script, format!("#! {} -x\necho\n", program.display())).unwrap();
        assert_eq!(Image::of_program(&script), Some(image));
        std::fs::write(&script, "echo\n").unwrap();
        assert_eq!(Image::of_program(&script), None);
        assert_eq!(Image::of_program(Path::new("/nonexistent")), None);
    }

    #[test]
    fn versions_of_symbols_are_those_of_glibc() {
        let versions =
            ["GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GCC_3.0", "GLIBC_2"];
        let read = versions.map(|name| glibc_version(name.as_bytes()));
        assert_eq!(read, [Some((2, 2)), Some((2, 34)), None, None, None, None]);
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

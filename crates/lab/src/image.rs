//! A program's size and linkage, from its ELF headers.

use std::path::Path;

use object::elf::{DT_NEEDED, FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadRef};

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Bytes of the file.
    pub bytes: usize,
    /// Whether a dynamic linker is asked for.
    pub is_dynamic: bool,
    /// Libraries that are needed.
    pub libraries: usize,
}

/// Reads it.
///
/// # Errors
/// Why it could not be read, or is no program.
pub fn read(path: &Path) -> Result<Image, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let data = std::fs::read(path).map_err(|error| told(&error))?;
    parse(&data).map_err(|error| told(&error))
}

/// Whether a program asks for a dynamic linker.
pub fn is_dynamic<'data, E, R>(file: &ElfFile<'data, E, R>) -> bool
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    file.elf_program_headers().iter().any(|part| part.p_type(file.endian()) == PT_INTERP)
}

fn parse(data: &[u8]) -> object::Result<Image> {
    match FileKind::parse(data)? {
        FileKind::Elf32 => of::<FileHeader32<Endianness>>(data),
        _ => of::<FileHeader64<Endianness>>(data),
    }
}

fn of<E: FileHeader<Endian = Endianness>>(data: &[u8]) -> object::Result<Image> {
    let file = ElfFile::<E>::parse(data)?;
    let is_dynamic = is_dynamic(&file);
    let table = file.elf_dynamic_table();
    let libraries = table.map_or(0, |table| table.iter().filter(|entry| entry.tag == DT_NEEDED).count());
    Ok(Image { bytes: data.len(), is_dynamic, libraries })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn this_program_and_what_is_none() {
        let image = read(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(image.is_dynamic, !cfg!(target_feature = "crt-static"));
        assert_eq!(image.libraries > 0, image.is_dynamic, "{image:?}");
        assert!(
            parse(b"#!/bin/sh\n").is_err() && parse(b"").is_err() && parse(b"\x7fELF\x02\x01\x01").is_err()
        );
        assert!(read(Path::new("/nonexistent")).unwrap_err().contains("/nonexistent"));
    }
}
